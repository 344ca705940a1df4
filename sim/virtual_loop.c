/* virtual_loop.c - discrete-event loop: take the first event, set the clock to it, fire. Ours. */
#include "sim/virtual_loop.h"

static int64_t virtual_now(struct loop *base)
{
    return ((struct virtual_loop *)base)->now_ns;
}

static void virtual_timer_set(struct loop *base, struct timer *timer, int64_t at_ns)
{
    struct virtual_loop *loop = (struct virtual_loop *)base;
    event_queue_set(&loop->queue, timer, at_ns > loop->now_ns ? at_ns : loop->now_ns);
}

static void virtual_timer_cancel(struct loop *base, struct timer *timer)
{
    event_queue_cancel(&((struct virtual_loop *)base)->queue, timer);
}

static void virtual_run(struct loop *base, int64_t until_ns)
{
    struct virtual_loop *loop = (struct virtual_loop *)base;
    assert(until_ns >= loop->now_ns);
    struct timer *timer;
    while ((timer = event_queue_pop(&loop->queue, until_ns)) != NULL) {
        assert(timer->at_ns >= loop->now_ns);
        loop->now_ns = timer->at_ns;
        loop->handled++;
        virtual_loop_mix(loop, (uint64_t)timer->at_ns);
        timer->fire(timer, timer->context);
    }
    if (event_queue_count(&loop->queue) > 0)
        loop->now_ns = until_ns;
}

static const struct loop_ops virtual_ops = {
    .now = virtual_now,
    .timer_set = virtual_timer_set,
    .timer_cancel = virtual_timer_cancel,
    .run = virtual_run,
};

void virtual_loop_init(struct virtual_loop *loop, enum event_queue_kind kind)
{
    *loop = (struct virtual_loop){.loop = {&virtual_ops}};
    event_queue_init(&loop->queue, kind);
}

void virtual_loop_deinit(struct virtual_loop *loop)
{
    event_queue_deinit(&loop->queue);
}
