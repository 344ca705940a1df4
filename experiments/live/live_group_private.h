/* live_group_private.h - what is taken from the messages of a group, which come from the store. */
#ifndef EXPERIMENTS_LIVE_GROUP_PRIVATE_H
#define EXPERIMENTS_LIVE_GROUP_PRIVATE_H

#include "experiments/live/live_visit.h"

/* That another rank stands ready, heard at now_ns of this clock. False: visit->text says how that
 * rank failed, or what is wrong with what it said. */
MUST_USE bool live_group_take_ready(const struct live_visit *visit, uint32_t rank,
                                    const json_t *message, int64_t now_ns);
/* What rank 0 says of the start. FAILED: visit->text says why there is none. */
MUST_USE enum live_group_end live_group_take_start(struct live_visit *visit, const json_t *message,
                                                   int64_t *start_ns);

/* Of all ranks, as far as they were heard. */
struct live_group_sum {
    struct live_group_result *result;
    double skew_s;  /* the largest estimated difference of a clock from rank 0's */
    double error_s; /* of those estimates, the largest error either way */
};

/* Another rank's result: JSON, followed by a recorder or nothing. False: visit->text says what is
 * wrong with it, or how that rank failed. */
MUST_USE bool live_group_add_result(const struct live_visit *visit, uint32_t rank,
                                    const struct store_op *op, struct live_group_sum *sum);

#endif
