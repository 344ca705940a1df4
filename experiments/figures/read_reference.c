/* read_reference.c - see read_reference.h. Ours. */
#include "experiments/figures/read_reference.h"

#include <stdio.h>
#include <string.h>

#include "experiments/config/units.h"

#define COLUMNS 9

static bool check_row(const struct read_reference_row *row, struct diagnostic *diagnostic)
{
    if (row->ranks > 0 && row->given > 0 && row->slice_requests >= row->given &&
        row->needed_bytes > 0 && row->slice_bytes >= row->needed_bytes &&
        row->wire_bytes >= row->slice_bytes + row->chain_bytes)
        return true;
    diagnostic_set(diagnostic, "its numbers contradict each other");
    return false;
}

static bool take_row(void *context, char **columns, struct diagnostic *diagnostic)
{
    struct read_reference *reference = context;
    if (reference->count == READ_REFERENCE_ROWS_MAX) {
        diagnostic_set(diagnostic, "more than %d rows", READ_REFERENCE_ROWS_MAX);
        return false;
    }
    struct read_reference_row *row = &reference->rows[reference->count++];
    *row = (struct read_reference_row){0};
    snprintf(row->server, sizeof(row->server), "%s", columns[0]);
    uint64_t *const fields[COLUMNS - 1] = {
        &row->ranks,       &row->given,       &row->needed_bytes, &row->slice_requests,
        &row->slice_bytes, &row->chain_bytes, &row->requests,     &row->wire_bytes};
    for (size_t i = 0; i + 1 < COLUMNS; i++)
        if (!unit_parse_count(columns[i + 1], fields[i], diagnostic))
            return false;
    return check_row(row, diagnostic);
}

bool read_reference_read(const char *path, struct read_reference *reference,
                         struct diagnostic *diagnostic)
{
    struct reference_file file = {
        .columns = READ_REFERENCE_COLUMNS,
        .column_count = COLUMNS,
        .row = take_row,
        .context = reference,
    };
    *reference = (struct read_reference){0};
    bool valid = reference_file_read(path, &file, diagnostic);
    snprintf(reference->notes, sizeof(reference->notes), "%s", file.notes);
    return valid;
}

double read_reference_heads(const struct read_reference_row *row)
{
    return (double)(row->wire_bytes - row->slice_bytes - row->chain_bytes) /
           (double)row->slice_requests;
}
