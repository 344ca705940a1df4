/* producer_config.h - from a config to what one producer machine is asked for: the same for sim and
 * live. */
#ifndef EXPERIMENTS_PRODUCER_CONFIG_H
#define EXPERIMENTS_PRODUCER_CONFIG_H

#include "core/producer.h"
#include "experiments/config/config.h"

/* Fills everything but the incarnation and batches_max, which stay zero. Producers are numbered
 * from 0; the random stream is made from (seed, producer). The policy's kind is borrowed from
 * core's table. */
void producer_options_of(const struct config *config, uint32_t producer, uint64_t seed,
                         struct producer_options *options);

#endif
