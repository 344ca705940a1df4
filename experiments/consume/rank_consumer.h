/* rank_consumer.h - a rank's consumer (core/consumer.h) as a job asks for it. */
#ifndef EXPERIMENTS_RANK_CONSUMER_H
#define EXPERIMENTS_RANK_CONSUMER_H

#include "core/consumer.h"
#include "experiments/consume/consume_rank.h"

/* All but the checkpoints. False: the system gave no random bytes; errno says why. */
MUST_USE bool rank_consumer_fill(const struct consume_rank_options *rank,
                                 struct consumer_options *consumer);

/* Tells the heap of this process that the budget is the rank's to hold. Given back whenever the
 * window runs empty and taken anew page by page, it costs more than all else that the process does
 * for a slice. */
void rank_consumer_keep_window(uint64_t prefetch_bytes);

#endif
