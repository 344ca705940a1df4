/* loop.h - the second seam: time. Filled by sim/ (virtual time) and backend/ (real time).
 *
 * Timers are embedded in and owned by their user; the loop only links them. A timer fires once,
 * from inside loop_run, never from inside timer_set. Timers that are due at the same instant fire
 * in the order in which they were set. Nothing here fails or blocks, except that loop_run blocks
 * until the loop stops. */
#ifndef CORE_LOOP_H
#define CORE_LOOP_H

#include "core/base.h"

struct timer {
    int64_t at_ns;
    uint64_t order; /* insertion number: breaks ties */
    uint32_t slot;  /* 1 + index in the loop's queue; 0: not set */
    void (*fire)(struct timer *timer, void *context);
    void *context;
};

struct loop;

struct loop_ops {
    int64_t (*now)(struct loop *loop);
    void (*timer_set)(struct loop *loop, struct timer *timer, int64_t at_ns);
    void (*timer_cancel)(struct loop *loop, struct timer *timer);
    void (*run)(struct loop *loop, int64_t until_ns);
};

struct loop {
    const struct loop_ops *ops;
};

static inline int64_t loop_now(struct loop *loop)
{
    return loop->ops->now(loop);
}

/* Sets or moves the timer. A time in the past counts as now. */
static inline void loop_timer_set(struct loop *loop, struct timer *timer, int64_t at_ns)
{
    loop->ops->timer_set(loop, timer, at_ns);
}

/* Allowed on a timer that is not set. */
static inline void loop_timer_cancel(struct loop *loop, struct timer *timer)
{
    if (timer->slot != 0)
        loop->ops->timer_cancel(loop, timer);
}

/* Runs until `until_ns`, or until nothing is left that could happen, whichever is first. */
static inline void loop_run(struct loop *loop, int64_t until_ns)
{
    loop->ops->run(loop, until_ns);
}

static inline void timer_init(struct timer *timer, void (*fire)(struct timer *, void *),
                              void *context)
{
    *timer = (struct timer){.fire = fire, .context = context};
}

#endif
