/* validate_run.h - simulates every row of the measurement under a model, and says what holds. */
#ifndef EXPERIMENTS_VALIDATE_RUN_H
#define EXPERIMENTS_VALIDATE_RUN_H

#include "experiments/results/statistics.h"
#include "experiments/validate/validate_model.h"

#define VALIDATE_SEEDS_MAX 64

enum validate_verdict {
    VALIDATE_WITHIN,     /* the whole 95 % interval of each deviation */
    VALIDATE_ON_AVERAGE, /* the means only */
    VALIDATE_OUTSIDE,
    VALIDATE_OPEN, /* nothing was promised */
};

struct validate_cell {
    struct statistics_mean value;     /* simulated, in the column's unit, over seeds */
    struct statistics_mean deviation; /* measured_deviation of each seed */
    double limit;                     /* INFINITY: none */
    enum validate_verdict verdict;
};

struct validate_row {
    struct measured_row measured;
    enum validate_model model;
    struct validate_cell cells[MEASURED_COLUMN_COUNT];
    struct statistics_mean request_median_ms; /* of the conditional request alone */
    enum validate_verdict verdict;            /* of the cells, the worst that is not open */
};

/* The row's values in the units of the measurement. */
void validate_values_of(const struct contention_result *result,
                        double values[MEASURED_COLUMN_COUNT]);

/* Simulates the row with seeds first .. first + seeds - 1. Blocks. False: the config cannot be run;
 * the diagnostic says why. */
MUST_USE bool validate_row_run(const struct config *config, uint64_t first, size_t seeds,
                               struct validate_row *row, struct diagnostic *diagnostic);

#endif
