/* run_results.h - what one run found, in memory: named metrics and series, each with its unit.
 *
 * Names and units are copied. A value that is not finite is a programmer's error: what was not
 * measured has no metric and no point, never a made-up 0. Allocation failure aborts. */
#ifndef EXPERIMENTS_RUN_RESULTS_H
#define EXPERIMENTS_RUN_RESULTS_H

#include "core/base.h"

#define RESULT_NAME_MAX 48 /* bytes, with the final NUL */
#define RESULT_UNIT_MAX 16

struct result_metric {
    char name[RESULT_NAME_MAX];
    char unit[RESULT_UNIT_MAX];
    double value;
};

struct result_point {
    double t_s; /* start of the bin, in seconds since the run's start */
    double value;
};

struct result_series {
    char name[RESULT_NAME_MAX];
    char unit[RESULT_UNIT_MAX];
    size_t point_count;
    size_t point_capacity;
    struct result_point *points;
};

/* Zero-initialised is empty. Owns all that it points to. */
struct run_results {
    uint64_t digest;     /* event hash of a simulated run; 0: none */
    uint64_t violations; /* what the checkers found; 0 is right */
    double wall_s;       /* filled by the runner if left 0 */
    size_t metric_count;
    size_t metric_capacity;
    struct result_metric *metrics;
    size_t series_count;
    size_t series_capacity;
    struct result_series *series;
};

/* Each name once a run. */
void run_results_add_metric(struct run_results *results, const char *name, const char *unit,
                            double value);
/* Makes the series at its first point. Points of one series come in ascending t. */
void run_results_add_point(struct run_results *results, const char *name, const char *unit,
                           struct result_point point);
/* NULL if there is none. */
const struct result_metric *run_results_metric(const struct run_results *results, const char *name);
const struct result_series *run_results_series(const struct run_results *results, const char *name);
/* Empties it and frees its memory. */
void run_results_deinit(struct run_results *results);

#endif
