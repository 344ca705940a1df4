/* calibrate_fit.h - from measured cells to a profile: the store.* keys of a config. */
#ifndef EXPERIMENTS_CALIBRATE_FIT_H
#define EXPERIMENTS_CALIBRATE_FIT_H

#include "experiments/calibrate/calibrate_plan.h"
#include "experiments/config/config.h"

/* How well a lognormal describes a verb alone. */
struct calibrate_shape {
    uint64_t samples;
    double p95_off; /* measured p95 over that of the lognormal, less 1; the same for p99 */
    double p99_off;
    bool table; /* a table of quantiles was written because it is bad */
};

struct calibrate_fit {
    struct calibrate_shape shapes[STORE_VERB_COUNT];
    bool saturated;    /* more clients did not get more: store.cores was fitted */
    double most_per_s; /* requests a second of the busiest cell, of each kind */
    double most_get_per_s;
    uint64_t throttled; /* answers that a limit of requests explains */
    struct calibrate_result predicted[CALIBRATE_CELLS_MAX]; /* owned: by the fitted profile */
};

/* Method: bases and slopes by weighted least squares on the medians of each verb alone; the spread
 * from the factors of all of its samples; the work of each verb, and how many processors share it,
 * so that the throughput of clients side by side is that of the simulator; what contending creates
 * do to each other by Nelder and Mead's simplex on the simulator (GSL). Blocks for some seconds.
 * Every simulation has one seed: the result is a function of the measurement. The config's other
 * keys are left alone. */
void calibrate_fit_run(const struct calibrate_plan *plan,
                       const struct calibrate_result measured[CALIBRATE_CELLS_MAX],
                       struct config *config, struct calibrate_fit *fit);
void calibrate_fit_deinit(struct calibrate_fit *fit);

#endif
