/* live_reference.c - reads live runs from a CSV. Ours. */
#include "experiments/figures/live_reference.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/config/units.h"

#define LINE_MAX_BYTES 512
#define COLUMNS 10

/* Cuts the text at its next comma. NULL if there was none. */
static char *cut(char *text)
{
    char *comma = strchr(text, ',');
    if (comma == NULL)
        return NULL;
    *comma = '\0';
    return comma + 1;
}

static bool parse(char *line, struct live_reference_row *row, struct diagnostic *diagnostic)
{
    char *columns[COLUMNS] = {line};
    for (size_t i = 1; i < COLUMNS; i++)
        if ((columns[i] = cut(columns[i - 1])) == NULL) {
            diagnostic_set(diagnostic, "%zu columns instead of %d", i, COLUMNS);
            return false;
        }
    *row = (struct live_reference_row){0};
    snprintf(row->arm, sizeof(row->arm), "%s", columns[0]);
    return unit_parse_count(columns[1], &row->seed, diagnostic) &&
           unit_parse_number(columns[2], &row->success, diagnostic) &&
           unit_parse_number(columns[3], &row->committed_mb_s, diagnostic) &&
           unit_parse_number(columns[4], &row->attempts, diagnostic) &&
           unit_parse_rate(columns[5], &row->rate, diagnostic) &&
           unit_parse_bytes(columns[6], &row->tgb_bytes, diagnostic) &&
           unit_parse_number(columns[7], &row->duration_s, diagnostic);
}

static void add_note(struct live_reference *reference, const char *line)
{
    size_t used = strlen(reference->notes);
    snprintf(reference->notes + used, sizeof(reference->notes) - used, "%s\n",
             line + 1 + (line[1] == ' '));
}

static bool take_line(char *line, bool *named, struct live_reference *reference,
                      struct diagnostic *diagnostic)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (*line == '#') {
        add_note(reference, line);
        return true;
    }
    if (!*named) {
        *named = strcmp(line, LIVE_REFERENCE_COLUMNS) == 0;
        diagnostic_set(diagnostic, "the columns are not " LIVE_REFERENCE_COLUMNS);
        return *named;
    }
    if (reference->count == LIVE_REFERENCE_ROWS_MAX) {
        diagnostic_set(diagnostic, "more than %d rows", LIVE_REFERENCE_ROWS_MAX);
        return false;
    }
    return parse(line, &reference->rows[reference->count++], diagnostic);
}

bool live_reference_read(const char *path, struct live_reference *reference,
                         struct diagnostic *diagnostic)
{
    char line[LINE_MAX_BYTES];
    struct diagnostic reason;
    bool named = false;
    bool valid = true;
    int number = 0;
    *reference = (struct live_reference){0};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        diagnostic_set(diagnostic, "%s: %s", path, strerror(errno));
        return false;
    }
    while (valid && fgets(line, sizeof(line), file) != NULL) {
        number++;
        valid = take_line(line, &named, reference, &reason);
    }
    fclose(file);
    if (!valid)
        diagnostic_set(diagnostic, "%s:%d: %.500s", path, number, reason.text);
    return valid;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

bool live_reference_matches(const struct live_reference_row *row, const char *arm,
                            const struct config *config)
{
    return strcmp(row->arm, arm) == 0 && close_to(row->rate, config->workload.rate) &&
           row->tgb_bytes == config->workload.tgb_bytes &&
           close_to(row->duration_s, (double)config->run.duration_ns / 1e9);
}
