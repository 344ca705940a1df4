/* calibrate_model.h - what the simulator says that a cell yields, by the loop that measures it. */
#ifndef EXPERIMENTS_CALIBRATE_MODEL_H
#define EXPERIMENTS_CALIBRATE_MODEL_H

#include "experiments/calibrate/calibrate_cell.h"
#include "experiments/config/config.h"

/* Simulates the cell on a store with this config; a function of its arguments. Blocks. The result
 * is sorted, and empty before. The config must be one that the simulator can run. */
void calibrate_model_run(const struct config *config, const struct calibrate_cell *cell,
                         uint64_t seed, struct calibrate_result *result);

#endif
