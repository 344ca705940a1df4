/* calibrate_shared.h - how many processors all requests share, and what each takes of them. */
#ifndef EXPERIMENTS_CALIBRATE_SHARED_H
#define EXPERIMENTS_CALIBRATE_SHARED_H

#include "experiments/calibrate/calibrate_plan.h"
#include "experiments/config/config.h"

/* Sets store.cores and store.<verb>.work*; latencies and links must be fitted already. False:
 * clients side by side got all that they would get alone, and nothing was set. */
bool calibrate_shared_fit(const struct calibrate_plan *plan,
                          const struct calibrate_result *measured, struct config *config);

#endif
