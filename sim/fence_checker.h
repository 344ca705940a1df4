/* fence_checker.h - see checkers.h: epochs rise, and each belongs to one incarnation. */
#ifndef SIM_FENCE_CHECKER_H
#define SIM_FENCE_CHECKER_H

#include "sim/chain_checker.h"

struct fence {
    uint32_t epoch; /* the highest committed; 0: none */
    struct incarnation incarnation;
};

struct fence_checker {
    struct fence *fences; /* by producer */
    uint32_t count;
};

void fence_checker_deinit(struct fence_checker *fence);
void fence_checker_version(struct fence_checker *fence, const struct checked_version *checked,
                           struct violations *violations);

#endif
