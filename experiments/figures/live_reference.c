/* live_reference.c - reads live runs from a CSV. Ours. */
#include "experiments/figures/live_reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/config/units.h"

#define COLUMNS 10

static bool take_row(void *context, char **columns, struct diagnostic *diagnostic)
{
    struct live_reference *reference = context;
    if (reference->count == LIVE_REFERENCE_ROWS_MAX) {
        diagnostic_set(diagnostic, "more than %d rows", LIVE_REFERENCE_ROWS_MAX);
        return false;
    }
    struct live_reference_row *row = &reference->rows[reference->count++];
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

bool live_reference_read(const char *path, struct live_reference *reference,
                         struct diagnostic *diagnostic)
{
    struct reference_file file = {
        .columns = LIVE_REFERENCE_COLUMNS,
        .column_count = COLUMNS,
        .row = take_row,
        .context = reference,
    };
    *reference = (struct live_reference){0};
    bool valid = reference_file_read(path, &file, diagnostic);
    snprintf(reference->notes, sizeof(reference->notes), "%s", file.notes);
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
