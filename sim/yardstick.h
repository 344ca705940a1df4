/* yardstick.h - what an event costs at the least on this machine: a bare 4-ary heap, a lognormal
 * and a digest per event, and nothing else. Simulator figures are read beside it. */
#ifndef SIM_YARDSTICK_H
#define SIM_YARDSTICK_H

#include "core/base.h"

struct yardstick_options {
    uint32_t timers; /* set at any time: the heap's size */
    uint64_t events; /* to handle */
    uint64_t seed;
};

struct yardstick_result {
    double ns_per_event; /* by the clock that was given */
    uint64_t handled;
    uint64_t digest;
};

/* The clock is the caller's, as the simulator has none: it returns nanoseconds, in any epoch. */
void yardstick_run(const struct yardstick_options *options, int64_t (*clock_ns)(void),
                   struct yardstick_result *result);

#endif
