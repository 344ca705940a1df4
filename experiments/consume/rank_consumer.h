/* rank_consumer.h - a rank's consumer (core/consumer.h) as a job asks for it. */
#ifndef EXPERIMENTS_RANK_CONSUMER_H
#define EXPERIMENTS_RANK_CONSUMER_H

#include "core/consumer.h"
#include "experiments/consume/consume_rank.h"

/* All but the checkpoints. False: the system gave no random bytes; errno says why. */
MUST_USE bool rank_consumer_fill(const struct consume_rank_options *rank,
                                 struct consumer_options *consumer);

#endif
