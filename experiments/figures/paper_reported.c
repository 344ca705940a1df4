/* paper_reported.c - reads configs/reported.tsv: five columns, separated by tabs. */
#include "experiments/figures/paper_reported.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/config/text_line.h"
#include "experiments/config/units.h"

#define LINE_MAX_BYTES 512

/* Cuts the text at its next tab. NULL if there was none. */
static char *cut(char *text)
{
    char *tab = strchr(text, '\t');
    if (tab == NULL)
        return NULL;
    *tab = '\0';
    return tab + 1;
}

static bool parse(char *line, struct reported_row *row)
{
    char *columns[5] = {line};
    for (size_t i = 1; i < 5; i++)
        if ((columns[i] = cut(columns[i - 1])) == NULL)
            return false;
    *row = (struct reported_row){0};
    struct {
        char *into;
        size_t size;
    } fields[5] = {
        {row->id, sizeof(row->id)},       {row->name, sizeof(row->name)},
        {row->value, sizeof(row->value)}, {row->unit, sizeof(row->unit)},
        {row->text, sizeof(row->text)},
    };
    for (size_t i = 0; i < 5; i++) {
        size_t length = strlen(columns[i]);
        if (length == 0 || length >= fields[i].size)
            return false;
        memcpy(fields[i].into, columns[i], length + 1);
    }
    return true;
}

bool reported_read(const char *path, struct reported *reported, struct diagnostic *diagnostic)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "re");
    *reported = (struct reported){0};
    if (file == NULL) {
        diagnostic_set(diagnostic, "%s: cannot be read: %s; it belongs to the project's configs",
                       path, strerror(errno));
        return false;
    }
    bool valid = true;
    enum text_line got;
    for (unsigned number = 1;
         valid && (got = text_line_read(file, line, sizeof(line))) != TEXT_LINE_END; number++) {
        bool bad = text_line_bad(got);
        if (!bad && (line[0] == '#' || line[0] == '\0'))
            continue;
        valid =
            !bad && reported->count < REPORTED_MAX && parse(line, &reported->rows[reported->count]);
        if (valid)
            reported->count++;
        else
            diagnostic_set(diagnostic,
                           "%s:%u: expected id, quantity, value, unit and text, separated by "
                           "tabs, none empty or too long (at most %d rows)",
                           path, number, REPORTED_MAX);
    }
    fclose(file);
    return valid;
}

const struct reported_row *reported_find(const struct reported *reported, const char *id,
                                         const char *name)
{
    for (size_t i = 0; i < reported->count; i++) {
        const struct reported_row *row = &reported->rows[i];
        if (strcmp(row->id, id) == 0 && (name == NULL || strcmp(row->name, name) == 0))
            return row;
    }
    return NULL;
}

double reported_number(const struct reported *reported, const char *id, const char *name)
{
    struct diagnostic unused;
    double number = NAN;
    const struct reported_row *row = reported_find(reported, id, name);
    if (row == NULL || !unit_parse_number(row->value, &number, &unused))
        return NAN;
    return number;
}
