/* validate_run.c - one row of the measurement, simulated with several seeds. */
#include "experiments/validate/validate_run.h"

#include <math.h>

#define MS(ns) ((double)(ns) / (double)NS_PER_MS)

void validate_values_of(const struct contention_result *result,
                        double values[MEASURED_COLUMN_COUNT])
{
    values[MEASURED_SUCCESSES] = result->successes_per_s;
    values[MEASURED_FAILED] = 100.0 * result->failed_share;
    values[MEASURED_MEDIAN] = MS(result->update.median_ns);
    values[MEASURED_P99] = MS(result->update.p99_ns);
}

static enum validate_verdict judge(const struct validate_cell *cell)
{
    double off = fabs(cell->deviation.mean);
    if (isinf(cell->limit))
        return VALIDATE_OPEN;
    if (off > cell->limit)
        return VALIDATE_OUTSIDE;
    return off + cell->deviation.half_width <= cell->limit ? VALIDATE_WITHIN : VALIDATE_ON_AVERAGE;
}

static void summarise(struct validate_row *row, size_t seeds,
                      double values[MEASURED_COLUMN_COUNT][VALIDATE_SEEDS_MAX])
{
    double deviations[VALIDATE_SEEDS_MAX];
    row->verdict = VALIDATE_OPEN;
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++) {
        struct validate_cell *cell = &row->cells[column];
        for (size_t i = 0; i < seeds; i++)
            deviations[i] =
                measured_deviation(column, values[column][i], row->measured.values[column]);
        cell->value = statistics_mean(values[column], seeds);
        cell->deviation = statistics_mean(deviations, seeds);
        cell->limit = validate_limit(row->model, &row->measured, column);
        cell->verdict = judge(cell);
        if (cell->verdict != VALIDATE_OPEN &&
            (row->verdict == VALIDATE_OPEN || cell->verdict > row->verdict))
            row->verdict = cell->verdict;
    }
}

bool validate_row_run(const struct config *config, uint64_t first, size_t seeds,
                      struct validate_row *row, struct diagnostic *diagnostic)
{
    double values[MEASURED_COLUMN_COUNT][VALIDATE_SEEDS_MAX];
    double requests[VALIDATE_SEEDS_MAX];
    assert(seeds >= 1 && seeds <= VALIDATE_SEEDS_MAX);
    for (size_t i = 0; i < seeds; i++) {
        struct contention_options options;
        struct contention_result result;
        double column[MEASURED_COLUMN_COUNT];
        validate_contention_of(config, row->measured.clients, first + i, &options);
        const char *wrong = contention_options_check(&options);
        if (wrong != NULL) {
            diagnostic_set(diagnostic, "%s, model %s: %s", row->measured.store,
                           validate_model_name(row->model), wrong);
            return false;
        }
        contention_run(&options, &result);
        validate_values_of(&result, column);
        for (size_t c = 0; c < MEASURED_COLUMN_COUNT; c++)
            values[c][i] = column[c];
        requests[i] = MS(result.request.median_ns);
    }
    row->request_median_ms = statistics_mean(requests, seeds);
    summarise(row, seeds, values);
    return true;
}
