/* measured.h - the public measurement of contention on one key, and how a simulated value deviates
 * from it. */
#ifndef EXPERIMENTS_MEASURED_H
#define EXPERIMENTS_MEASURED_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define MEASURED_ROWS_MAX 64
#define MEASURED_STORE_MAX 32 /* bytes with the NUL */

/* column, name in the file and in JSON, heading */
#define MEASURED_COLUMNS(X)                                                                        \
    X(MEASURED_SUCCESSES, "successes_per_s", "successes/s")                                        \
    X(MEASURED_FAILED, "failed_percent", "failed %")                                               \
    X(MEASURED_MEDIAN, "success_median_ms", "median ms")                                           \
    X(MEASURED_P99, "success_p99_ms", "p99 ms")

enum measured_column {
#define X(code, name, heading) code,
    MEASURED_COLUMNS(X)
#undef X
    MEASURED_COLUMN_COUNT
};

struct measured_row {
    char store[MEASURED_STORE_MAX];
    uint32_t clients;
    double values[MEASURED_COLUMN_COUNT];
};

struct measured {
    size_t count;
    struct measured_row rows[MEASURED_ROWS_MAX];
};

const char *measured_column_name(enum measured_column column);
const char *measured_column_heading(enum measured_column column);

/* Blocks on reading the CSV, whose first line names the columns. False: the diagnostic says file,
 * line and what is wrong. */
MUST_USE bool measured_read(const char *path, struct measured *measured,
                            struct diagnostic *diagnostic);

/* What a value deviates by: points of percent for MEASURED_FAILED, per cent for the others. */
double measured_deviation(enum measured_column column, double value, double measured);

#endif
