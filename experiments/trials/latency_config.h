/* latency_config.h - from a config to the latency of one verb, the same in the simulator and where
 * a live store is made as slow as a profile. */
#ifndef EXPERIMENTS_LATENCY_CONFIG_H
#define EXPERIMENTS_LATENCY_CONFIG_H

#include "experiments/config/config.h"
#include "sim/latency.h"

void latency_options_of(const struct latency_config *config, struct latency_options *options);

#endif
