/* actor_loop.h - one process's view of a virtual loop: it can be paused, killed, and its clock can
 * be wrong.
 *
 * A pause is that of a stopped process: no timer fires until it goes on; then those that are due
 * fire in their order, late. The clock never runs backwards within a life (core/base.h): a jump
 * forward makes timers due early; a jump backwards makes the clock stand still until it is over.
 * The loop it borrows must outlive it. */
#ifndef SIM_ACTOR_LOOP_H
#define SIM_ACTOR_LOOP_H

#include <stdbool.h>

#include "core/loop.h"

#define ACTOR_TIMERS_MAX 256

struct actor_loop {
    struct loop loop; /* must be first */
    struct loop *inner;
    struct timer wake; /* on the inner loop, for the first timer */
    int64_t offset_ns; /* the actor's clock minus the inner one's */
    int64_t latest_ns; /* the clock never shows less */
    uint64_t next_order;
    uint32_t count;
    bool paused;
    bool killed;
    struct timer *timers[ACTOR_TIMERS_MAX];
};

void actor_loop_init(struct actor_loop *actor, struct loop *inner, int64_t offset_ns);
/* Forgets the timers that are set. */
void actor_loop_deinit(struct actor_loop *actor);

void actor_loop_pause(struct actor_loop *actor);
void actor_loop_resume(struct actor_loop *actor);
/* The process has died: its timers are forgotten, and none can be set any more. */
void actor_loop_kill(struct actor_loop *actor);
/* The clock jumps by `step_ns`, which may be negative. */
void actor_loop_jump(struct actor_loop *actor, int64_t step_ns);

#endif
