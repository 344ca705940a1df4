/* measured.c - reads the measurement's CSV, strictly. */
#include "experiments/validate/measured.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "experiments/config/text_line.h"
#include "experiments/config/units.h"

#define LINE_BYTES_MAX 256
#define FIELDS (2 + MEASURED_COLUMN_COUNT)

static const char *const names[] = {
#define X(code, name, heading) name,
    MEASURED_COLUMNS(X)
#undef X
};

static const char *const headings[] = {
#define X(code, name, heading) heading,
    MEASURED_COLUMNS(X)
#undef X
};

const char *measured_column_name(enum measured_column column)
{
    assert(column < MEASURED_COLUMN_COUNT);
    return names[column];
}

const char *measured_column_heading(enum measured_column column)
{
    assert(column < MEASURED_COLUMN_COUNT);
    return headings[column];
}

double measured_deviation(enum measured_column column, double value, double measured)
{
    return column == MEASURED_FAILED ? value - measured : 100.0 * (value / measured - 1.0);
}

/* Cuts the line at its commas. False: there are more or fewer fields than expected. */
static bool split(char *line, char *fields[FIELDS])
{
    size_t count = 0;
    for (char *next = line; next != NULL; count++) {
        char *field = next;
        next = strchr(field, ',');
        if (next != NULL)
            *next++ = '\0';
        if (count < FIELDS)
            fields[count] = field;
    }
    return count == FIELDS;
}

static bool is_head(char *const fields[FIELDS])
{
    bool same = strcmp(fields[0], "store") == 0 && strcmp(fields[1], "clients") == 0;
    for (size_t i = 0; i < MEASURED_COLUMN_COUNT; i++)
        same = same && strcmp(fields[2 + i], names[i]) == 0;
    return same;
}

static bool read_row(char *const fields[FIELDS], struct measured_row *row,
                     struct diagnostic *diagnostic)
{
    uint64_t clients;
    if (strlen(fields[0]) == 0 || strlen(fields[0]) >= sizeof(row->store)) {
        diagnostic_set(diagnostic, "the store's name is empty or too long");
        return false;
    }
    snprintf(row->store, sizeof(row->store), "%s", fields[0]);
    if (!unit_parse_count(fields[1], &clients, diagnostic))
        return false;
    if (clients < 1 || clients > 1024) {
        diagnostic_set(diagnostic, "'%s' clients: expected 1 to 1024", fields[1]);
        return false;
    }
    row->clients = (uint32_t)clients;
    for (size_t i = 0; i < MEASURED_COLUMN_COUNT; i++)
        if (!unit_parse_number(fields[2 + i], &row->values[i], diagnostic))
            return false;
    for (size_t i = 0; i < MEASURED_COLUMN_COUNT; i++)
        if (!(row->values[i] > 0.0) && i != MEASURED_FAILED) {
            diagnostic_set(diagnostic, "%s must be above 0", names[i]);
            return false;
        }
    if (!(row->values[MEASURED_FAILED] >= 0.0 && row->values[MEASURED_FAILED] <= 100.0)) {
        diagnostic_set(diagnostic, "%s must be from 0 to 100", names[MEASURED_FAILED]);
        return false;
    }
    return true;
}

/* `number`: 1 is the first. */
static bool take_line(char *line, size_t number, struct measured *measured,
                      struct diagnostic *diagnostic)
{
    char *fields[FIELDS];
    if (!split(line, fields)) {
        diagnostic_set(diagnostic, "expected %d fields", (int)FIELDS);
        return false;
    }
    if (number == 1) {
        if (!is_head(fields))
            diagnostic_set(diagnostic, "the head must name store, clients and the columns");
        return is_head(fields);
    }
    if (measured->count == MEASURED_ROWS_MAX) {
        diagnostic_set(diagnostic, "more than %d rows", MEASURED_ROWS_MAX);
        return false;
    }
    return read_row(fields, &measured->rows[measured->count++], diagnostic);
}

static bool read_line(FILE *file, char line[LINE_BYTES_MAX], bool *bad)
{
    enum text_line got = text_line_read(file, line, LINE_BYTES_MAX);
    size_t bytes = strlen(line);
    *bad = text_line_bad(got);
    if (bytes > 0 && line[bytes - 1] == '\r')
        line[bytes - 1] = '\0';
    return got != TEXT_LINE_END;
}

bool measured_read(const char *path, struct measured *measured, struct diagnostic *diagnostic)
{
    char line[LINE_BYTES_MAX];
    struct diagnostic inner;
    *measured = (struct measured){0};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        diagnostic_set(diagnostic, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    bool ok = true;
    bool bad;
    for (size_t number = 1; ok && read_line(file, line, &bad); number++) {
        diagnostic_set(&inner, "the line is too long, or holds a NUL");
        ok = !bad && take_line(line, number, measured, &inner);
        if (!ok)
            diagnostic_set(diagnostic, "%s:%zu: %s", path, number, inner.text);
    }
    fclose(file);
    if (ok && measured->count == 0) {
        diagnostic_set(diagnostic, "%s: holds no rows", path);
        return false;
    }
    return ok;
}
