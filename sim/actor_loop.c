/* actor_loop.c - a few timers in an array, of which the inner loop knows the first. Ours. */
#include "sim/actor_loop.h"

static int64_t actor_now(struct loop *base)
{
    struct actor_loop *actor = (struct actor_loop *)base;
    int64_t now_ns = loop_now(actor->inner) + actor->offset_ns;
    if (now_ns > actor->latest_ns)
        actor->latest_ns = now_ns;
    return actor->latest_ns;
}

static bool comes_before(const struct timer *one, const struct timer *other)
{
    return one->at_ns != other->at_ns ? one->at_ns < other->at_ns : one->order < other->order;
}

/* NULL if none is set. */
static struct timer *first_timer(const struct actor_loop *actor)
{
    struct timer *first = NULL;
    for (uint32_t i = 0; i < actor->count; i++)
        if (first == NULL || comes_before(actor->timers[i], first))
            first = actor->timers[i];
    return first;
}

static void arm(struct actor_loop *actor)
{
    const struct timer *first = first_timer(actor);
    if (actor->paused || first == NULL)
        loop_timer_cancel(actor->inner, &actor->wake);
    else
        loop_timer_set(actor->inner, &actor->wake, first->at_ns - actor->offset_ns);
}

static void take_out(struct actor_loop *actor, struct timer *timer)
{
    assert(timer->slot > 0 && timer->slot <= actor->count);
    assert(actor->timers[timer->slot - 1] == timer);
    struct timer *last = actor->timers[--actor->count];
    actor->timers[timer->slot - 1] = last;
    last->slot = timer->slot;
    timer->slot = 0;
}

static void actor_timer_set(struct loop *base, struct timer *timer, int64_t at_ns)
{
    struct actor_loop *actor = (struct actor_loop *)base;
    int64_t now_ns = actor_now(base);
    if (actor->killed)
        return;
    if (timer->slot == 0) {
        assert(actor->count < ACTOR_TIMERS_MAX);
        actor->timers[actor->count++] = timer;
        timer->slot = actor->count;
    }
    timer->at_ns = at_ns > now_ns ? at_ns : now_ns;
    timer->order = actor->next_order++;
    arm(actor);
}

static void actor_timer_cancel(struct loop *base, struct timer *timer)
{
    struct actor_loop *actor = (struct actor_loop *)base;
    take_out(actor, timer);
    arm(actor);
}

static void actor_run(struct loop *base, int64_t until_ns)
{
    (void)until_ns;
    assert(base == NULL); /* the inner loop runs, not a view of it */
}

/* One timer at a time: the process may be paused or killed by what it does. */
static void wake_fired(struct timer *wake, void *context)
{
    (void)wake;
    struct actor_loop *actor = context;
    struct timer *first = first_timer(actor);
    assert(first != NULL && !actor->paused);
    if (first->at_ns <= actor_now(&actor->loop)) {
        take_out(actor, first);
        arm(actor);
        first->fire(first, first->context);
        return;
    }
    arm(actor);
}

static const struct loop_ops actor_ops = {
    .now = actor_now,
    .timer_set = actor_timer_set,
    .timer_cancel = actor_timer_cancel,
    .run = actor_run,
};

void actor_loop_init(struct actor_loop *actor, struct loop *inner, int64_t offset_ns)
{
    *actor = (struct actor_loop){.loop = {&actor_ops}, .inner = inner, .offset_ns = offset_ns};
    timer_init(&actor->wake, wake_fired, actor);
}

void actor_loop_deinit(struct actor_loop *actor)
{
    actor_loop_kill(actor);
}

void actor_loop_pause(struct actor_loop *actor)
{
    actor->paused = true;
    arm(actor);
}

void actor_loop_resume(struct actor_loop *actor)
{
    actor->paused = false;
    arm(actor);
}

void actor_loop_kill(struct actor_loop *actor)
{
    while (actor->count > 0)
        take_out(actor, actor->timers[actor->count - 1]);
    actor->killed = true;
    arm(actor);
}

void actor_loop_jump(struct actor_loop *actor, int64_t step_ns)
{
    (void)actor_now(&actor->loop);
    actor->offset_ns += step_ns;
    arm(actor);
}
