/* calibrate_contended.h - what creates that want the same names do to each other. */
#ifndef EXPERIMENTS_CALIBRATE_CONTENDED_H
#define EXPERIMENTS_CALIBRATE_CONTENDED_H

#include "experiments/calibrate/calibrate_plan.h"
#include "experiments/config/config.h"

/* Sets store.apply_fraction and store.create.wait, .collision, .collision_time and .refused_early;
 * all else must be fitted already. Returns the cost: the mean over values of the square of
 * deviation / 8 % (commits a second), 2 points (lost share), 10 % (median), 30 % (p99). */
double calibrate_contended_fit(const struct calibrate_plan *plan,
                               const struct calibrate_result *measured, struct config *config);

#endif
