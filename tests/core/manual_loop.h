/* manual_loop.h - a loop for tests: a sorted list of timers and a clock that jumps to the first. */
#ifndef TESTS_CORE_MANUAL_LOOP_H
#define TESTS_CORE_MANUAL_LOOP_H

#include <stdbool.h>

#include "core/loop.h"

#define MANUAL_TIMERS_MAX 4096

struct manual_loop {
    struct loop loop;
    int64_t now_ns;
    uint64_t order;
    uint32_t count;
    struct timer *heap[MANUAL_TIMERS_MAX]; /* the first is due first */
};

void manual_loop_init(struct manual_loop *loop);
/* Fires the first timer; false if there is none. */
bool manual_loop_step(struct manual_loop *loop);

#endif
