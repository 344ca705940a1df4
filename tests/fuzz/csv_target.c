/* csv_target.c - tables of measurements that the project keeps: the first byte chooses which. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/figures/live_reference.h"
#include "experiments/figures/read_reference.h"
#include "experiments/validate/measured.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

void fuzz_csv(const uint8_t *data, size_t size);

static void check_read(const struct read_reference *reference)
{
    assert(reference->count <= READ_REFERENCE_ROWS_MAX);
    assert(memchr(reference->notes, '\0', sizeof(reference->notes)) != NULL);
    for (size_t i = 0; i < reference->count; i++) {
        double heads = read_reference_heads(&reference->rows[i]);
        assert(isfinite(heads) && heads >= 0);
    }
}

static void check_live(const struct live_reference *reference)
{
    assert(reference->count <= LIVE_REFERENCE_ROWS_MAX);
    assert(memchr(reference->notes, '\0', sizeof(reference->notes)) != NULL);
    for (size_t i = 0; i < reference->count; i++) {
        const struct live_reference_row *row = &reference->rows[i];
        assert(memchr(row->arm, '\0', sizeof(row->arm)) != NULL);
        assert(isfinite(row->success) && isfinite(row->committed_mb_s));
        assert(isfinite(row->attempts) && isfinite(row->rate) && isfinite(row->duration_s));
    }
}

/* Written with all digits it is read as the same. */
static void check_measured(const struct measured *measured)
{
    static char text[MEASURED_ROWS_MAX * 256];
    static struct measured again;
    struct diagnostic diagnostic = {0};
    char path[SCRATCH_PATH_MAX];
    assert(measured->count > 0 && measured->count <= MEASURED_ROWS_MAX);
    int used = snprintf(text, sizeof(text), "store,clients,%s,%s,%s,%s\n", measured_column_name(0),
                        measured_column_name(1), measured_column_name(2), measured_column_name(3));
    for (size_t i = 0; i < measured->count; i++) {
        const struct measured_row *row = &measured->rows[i];
        const double *values = row->values;
        assert(row->clients >= 1 && row->clients <= 1024 && row->store[0] != '\0');
        for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++)
            assert(isfinite(values[column]) && isfinite(measured_deviation(column, 1, 1)));
        assert(values[MEASURED_FAILED] >= 0 && values[MEASURED_FAILED] <= 100);
        used +=
            snprintf(text + used, sizeof(text) - (size_t)used, "%s,%u,%.17g,%.17g,%.17g,%.17g\n",
                     row->store, row->clients, values[0], values[1], values[2], values[3]);
    }
    int file = scratch_open((const uint8_t *)text, (size_t)used, path);
    bool read = measured_read(path, &again, &diagnostic);
    assert(read && again.count == measured->count);
    assert(memcmp(again.rows, measured->rows, again.count * sizeof(*again.rows)) == 0);
    scratch_close(file);
}

void fuzz_csv(const uint8_t *data, size_t size)
{
    static struct live_reference live;
    static struct read_reference reads;
    static struct measured measured;
    char path[SCRATCH_PATH_MAX];
    struct diagnostic diagnostic = {0};
    bool valid;
    if (size == 0)
        return;
    int file = scratch_open(data + 1, size - 1, path);
    if (data[0] % 3 == 0) {
        valid = live_reference_read(path, &live, &diagnostic);
        check_live(&live);
    } else if (data[0] % 3 == 1) {
        valid = read_reference_read(path, &reads, &diagnostic);
        if (valid)
            check_read(&reads);
    } else {
        valid = measured_read(path, &measured, &diagnostic);
        if (valid)
            check_measured(&measured);
    }
    assert(memchr(diagnostic.text, '\0', sizeof(diagnostic.text)) != NULL);
    assert(valid || diagnostic.text[0] != '\0');
    scratch_close(file);
}
