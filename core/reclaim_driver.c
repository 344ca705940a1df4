/* reclaim_driver.c - a reclaim machine's effects on a store and a loop. Ours. */
#include "core/reclaim_driver.h"

#include <stdlib.h>

struct driver_slot {
    struct reclaim_driver *driver;
    uint32_t number;
    struct timer timer;
};

struct reclaim_driver {
    struct store *store;
    struct loop *loop;
    const struct reclaim_observer *observer;
    struct reclaim *reclaim;
    int64_t first_ns;
    int64_t period_ns;
    double jitter;
    struct random_stream random;
    struct timer round_timer;
    bool performing;
    bool stop_asked; /* by the observer, while effects were being performed */
    bool ended;
    uint32_t slot_count;
    struct driver_slot slots[];
};

static void step(struct reclaim_driver *driver, enum reclaim_event_kind kind, uint32_t slot);

static void slot_done(struct store_op *op, void *context)
{
    struct driver_slot *slot = context;
    const struct reclaim_observer *observer = slot->driver->observer;
    observer->request(observer->context, op->verb, op->outcome, op->body.bytes + op->result.bytes);
    step(slot->driver, RECLAIM_ANSWER, slot->number);
}

static void slot_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    struct driver_slot *slot = context;
    step(slot->driver, RECLAIM_TIMER, slot->number);
}

static void round_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    step(context, RECLAIM_ROUND, 0);
}

static void cancel_timers(struct reclaim_driver *driver)
{
    loop_timer_cancel(driver->loop, &driver->round_timer);
    for (uint32_t i = 0; i < driver->slot_count; i++)
        loop_timer_cancel(driver->loop, &driver->slots[i].timer);
}

static void end(struct reclaim_driver *driver)
{
    driver->ended = true;
    cancel_timers(driver);
    driver->observer->ended(driver->observer->context);
}

/* True if the driver has ended. */
static bool round_ended(struct reclaim_driver *driver)
{
    const struct reclaim_observer *observer = driver->observer;
    observer->round(observer->context, &driver->reclaim->report, driver->reclaim->error);
    if (driver->period_ns == 0 || driver->stop_asked || driver->reclaim->stopped) {
        end(driver);
        return true;
    }
    int64_t gap_ns =
        (int64_t)((double)driver->period_ns * random_factor(&driver->random, driver->jitter));
    loop_timer_set(driver->loop, &driver->round_timer, loop_now(driver->loop) + gap_ns);
    return false;
}

static void step(struct reclaim_driver *driver, enum reclaim_event_kind kind, uint32_t slot)
{
    struct reclaim_effects effects;
    assert(!driver->performing);
    driver->performing = true;
    reclaim_step(driver->reclaim, loop_now(driver->loop),
                 (struct reclaim_event){.kind = kind, .slot = slot}, &effects);
    for (uint32_t i = 0; i < effects.count; i++) {
        const struct reclaim_effect *effect = &effects.items[i];
        switch (effect->kind) {
        case RECLAIM_SUBMIT:
            store_submit(driver->store, reclaim_op(driver->reclaim, effect->slot));
            break;
        case RECLAIM_SLEEP:
            loop_timer_set(driver->loop, &driver->slots[effect->slot].timer, effect->at_ns);
            break;
        case RECLAIM_ROUND_ENDED:
            assert(i + 1 == effects.count);
            if (round_ended(driver))
                return; /* the observer may have closed the driver */
            break;
        }
    }
    driver->performing = false;
    if (driver->stop_asked) {
        driver->stop_asked = false;
        reclaim_driver_stop(driver);
    }
}

struct reclaim_driver *reclaim_driver_open(const struct reclaim_driver_options *options)
{
    uint32_t slot_count = RECLAIM_SLOT_DELETES + options->reclaim->deletes_max;
    struct reclaim_driver *driver =
        calloc(1, sizeof(*driver) + slot_count * sizeof(driver->slots[0]));
    assert(driver != NULL);
    assert(options->first_ns >= 0 && options->period_ns >= 0);
    driver->store = options->store;
    driver->loop = options->loop;
    driver->observer = options->observer;
    driver->first_ns = options->first_ns;
    driver->period_ns = options->period_ns;
    driver->jitter = options->jitter;
    driver->random = random_stream_make(options->reclaim->random.key, 2);
    driver->reclaim = reclaim_open(options->reclaim);
    driver->slot_count = slot_count;
    timer_init(&driver->round_timer, round_timer_fired, driver);
    for (uint32_t i = 0; i < slot_count; i++) {
        struct driver_slot *slot = &driver->slots[i];
        slot->driver = driver;
        slot->number = i;
        timer_init(&slot->timer, slot_timer_fired, slot);
        struct store_op *op = reclaim_op(driver->reclaim, i);
        op->done = slot_done;
        op->context = slot;
    }
    return driver;
}

void reclaim_driver_start(struct reclaim_driver *driver)
{
    loop_timer_set(driver->loop, &driver->round_timer, loop_now(driver->loop) + driver->first_ns);
}

void reclaim_driver_stop(struct reclaim_driver *driver)
{
    if (driver->ended)
        return;
    if (driver->performing) {
        driver->stop_asked = true;
        return;
    }
    bool idle = driver->reclaim->phase == RECLAIM_IDLE;
    step(driver, RECLAIM_STOP, 0);
    if (idle)
        end(driver);
}

const struct reclaim *reclaim_driver_machine(const struct reclaim_driver *driver)
{
    return driver->reclaim;
}

void reclaim_driver_close(struct reclaim_driver *driver)
{
    cancel_timers(driver);
    reclaim_close(driver->reclaim);
    free(driver);
}
