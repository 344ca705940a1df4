/* manual_loop.c - a binary heap by (time, insertion number). Ours. */
#include "tests/core/manual_loop.h"

static bool before(const struct timer *a, const struct timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct manual_loop *loop, uint32_t index, struct timer *timer)
{
    loop->heap[index] = timer;
    timer->slot = index + 1;
}

static void sift(struct manual_loop *loop, uint32_t index, struct timer *timer)
{
    while (index > 0 && before(timer, loop->heap[(index - 1) / 2])) {
        place(loop, index, loop->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child + 1 < loop->count && before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (child >= loop->count || !before(loop->heap[child], timer))
            break;
        place(loop, index, loop->heap[child]);
        index = child;
    }
    place(loop, index, timer);
}

static int64_t manual_now(struct loop *base)
{
    return ((struct manual_loop *)base)->now_ns;
}

static void manual_cancel(struct loop *base, struct timer *timer)
{
    struct manual_loop *loop = (struct manual_loop *)base;
    assert(timer->slot > 0 && loop->heap[timer->slot - 1] == timer);
    uint32_t index = timer->slot - 1;
    struct timer *last = loop->heap[--loop->count];
    timer->slot = 0;
    if (last != timer)
        sift(loop, index, last);
}

static void manual_set(struct loop *base, struct timer *timer, int64_t at_ns)
{
    struct manual_loop *loop = (struct manual_loop *)base;
    if (timer->slot != 0)
        manual_cancel(base, timer);
    assert(loop->count < MANUAL_TIMERS_MAX);
    timer->at_ns = at_ns > loop->now_ns ? at_ns : loop->now_ns;
    timer->order = loop->order++;
    sift(loop, loop->count++, timer);
}

bool manual_loop_step(struct manual_loop *loop)
{
    if (loop->count == 0)
        return false;
    struct timer *first = loop->heap[0];
    loop->now_ns = first->at_ns;
    manual_cancel(&loop->loop, first);
    first->fire(first, first->context);
    return true;
}

static void manual_run(struct loop *base, int64_t until_ns)
{
    struct manual_loop *loop = (struct manual_loop *)base;
    while (loop->count > 0 && loop->heap[0]->at_ns <= until_ns)
        manual_loop_step(loop);
    if (loop->count > 0)
        loop->now_ns = until_ns;
}

static const struct loop_ops manual_ops = {
    .now = manual_now,
    .timer_set = manual_set,
    .timer_cancel = manual_cancel,
    .run = manual_run,
};

void manual_loop_init(struct manual_loop *loop)
{
    *loop = (struct manual_loop){.loop = {&manual_ops}};
}
