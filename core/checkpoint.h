/* checkpoint.h - what a consumer can go back to: places in the global order, and the number of the
 * consumer that each was written under (design: docs/data_plane.md). */
#ifndef CORE_CHECKPOINT_H
#define CORE_CHECKPOINT_H

#include "core/base.h"

#define CHECKPOINTS_MAX 16

struct checkpoint {
    uint64_t step;   /* the first step that is delivered after going back to it; at least 1 */
    uint64_t number; /* of the consumer when it was written, or last stamped */
    uint64_t digest; /* of the steps before it, as digest_chain.h has it */
};

/* The checkpoints that are kept: by rising step. What is made durable is always the whole set, at
 * once: a reader finds the old one or the new one. */
struct checkpoint_set {
    uint32_t count;
    struct checkpoint items[CHECKPOINTS_MAX];
};

/* At most `kept` remain, the newest; one at the step of the last replaces it. Steps do not fall. */
void checkpoint_add(struct checkpoint_set *set, const struct checkpoint *checkpoint, uint32_t kept);
/* How many are at or below the step; they are the first. */
uint32_t checkpoint_count_upto(const struct checkpoint_set *set, uint64_t step);
/* Of the numbers stamped in them; 0: there are none. A set whose highest is below that of the set
 * that is durable must not replace it. */
uint64_t checkpoint_lowest_number(const struct checkpoint_set *set);
uint64_t checkpoint_highest_number(const struct checkpoint_set *set);

#endif
