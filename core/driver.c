/* driver.c - effects on a store and a loop: the only file that performs them, for sim and live. */
#include "core/driver.h"

#include <stdlib.h>

struct driver;

struct upload_slot {
    struct driver *driver;
    uint32_t slot;
    struct timer timer;
};

struct driver {
    struct store *store;
    struct loop *loop;
    const struct producer_observer *observer;
    struct producer *producer;
    struct timer commit_timer;
    struct timer batch_timer;
    bool performing;
    bool stop_asked;            /* by the observer, while effects were being performed */
    struct upload_slot slots[]; /* options.uploads_max */
};

static void driver_step(struct driver *driver, enum producer_event_kind kind, uint32_t slot);

static uint32_t driver_id(const struct driver *driver)
{
    return driver->producer->options.commit.producer;
}

static void observe_request(struct driver *driver, const struct store_op *op)
{
    const struct producer_observer *observer = driver->observer;
    observer->request(observer->context, driver_id(driver), op->verb, op->outcome,
                      op->body.bytes + op->result.bytes);
}

static void commit_done(struct store_op *op, void *context)
{
    struct driver *driver = context;
    observe_request(driver, op);
    driver_step(driver, PRODUCER_COMMIT_ANSWER, 0);
}

static void upload_done(struct store_op *op, void *context)
{
    struct upload_slot *slot = context;
    observe_request(slot->driver, op);
    driver_step(slot->driver, PRODUCER_UPLOAD_ANSWER, slot->slot);
}

static void commit_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    driver_step(context, PRODUCER_COMMIT_TIMER, 0);
}

static void batch_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    driver_step(context, PRODUCER_BATCH_TIMER, 0);
}

static void upload_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    struct upload_slot *slot = context;
    driver_step(slot->driver, PRODUCER_UPLOAD_TIMER, slot->slot);
}

static void report_attempt(struct driver *driver)
{
    const struct producer_observer *observer = driver->observer;
    const struct commit *commit = &driver->producer->commit;
    observer->attempt(observer->context, driver_id(driver), &commit->attempt, &commit->detail);
    struct batch batch;
    while (producer_take_visible(driver->producer, &batch))
        observer->visible(observer->context, driver_id(driver), &batch, commit->detail.visible_ns);
}

static void report_end(struct driver *driver)
{
    const struct producer_observer *observer = driver->observer;
    loop_timer_cancel(driver->loop, &driver->commit_timer);
    observer->ended(observer->context, driver_id(driver), driver->producer->end,
                    driver->producer->end_text);
}

static void perform(struct driver *driver, const struct producer_effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SUBMIT_COMMIT:
        store_submit(driver->store, &driver->producer->commit.op);
        break;
    case EFFECT_SUBMIT_UPLOAD:
        store_submit(driver->store, &driver->producer->uploads[effect->slot].op);
        break;
    case EFFECT_COMMIT_TIMER:
        loop_timer_set(driver->loop, &driver->commit_timer, effect->at_ns);
        break;
    case EFFECT_BATCH_TIMER:
        loop_timer_set(driver->loop, &driver->batch_timer, effect->at_ns);
        break;
    case EFFECT_BATCH_TIMER_CANCEL:
        loop_timer_cancel(driver->loop, &driver->batch_timer);
        break;
    case EFFECT_UPLOAD_TIMER:
        loop_timer_set(driver->loop, &driver->slots[effect->slot].timer, effect->at_ns);
        break;
    case EFFECT_ATTEMPT:
        report_attempt(driver);
        break;
    case EFFECT_ENDED:
        report_end(driver);
        break;
    }
}

static void driver_step(struct driver *driver, enum producer_event_kind kind, uint32_t slot)
{
    struct producer_effects effects;
    struct producer_event event = {.kind = kind, .slot = slot};
    assert(!driver->performing);
    driver->performing = true;
    producer_step(driver->producer, loop_now(driver->loop), event, &effects);
    for (uint32_t i = 0; i < effects.count; i++) {
        bool ended = effects.items[i].kind == EFFECT_ENDED;
        if (ended)
            driver->performing = false;
        perform(driver, &effects.items[i]);
        if (ended)
            return; /* the observer may have closed the driver */
    }
    driver->performing = false;
    if (driver->stop_asked) {
        driver->stop_asked = false;
        driver_step(driver, PRODUCER_STOP, 0);
    }
}

struct driver *driver_open(const struct driver_options *options)
{
    uint32_t uploads = options->producer->uploads_max;
    struct driver *driver = calloc(1, sizeof(*driver) + uploads * sizeof(driver->slots[0]));
    assert(driver != NULL);
    driver->store = options->store;
    driver->loop = options->loop;
    driver->observer = options->observer;
    driver->producer = producer_open(options->producer);
    driver->producer->commit.op.done = commit_done;
    driver->producer->commit.op.context = driver;
    timer_init(&driver->commit_timer, commit_timer_fired, driver);
    timer_init(&driver->batch_timer, batch_timer_fired, driver);
    for (uint32_t i = 0; i < uploads; i++) {
        struct upload_slot *slot = &driver->slots[i];
        slot->driver = driver;
        slot->slot = i;
        timer_init(&slot->timer, upload_timer_fired, slot);
        driver->producer->uploads[i].op.done = upload_done;
        driver->producer->uploads[i].op.context = slot;
    }
    return driver;
}

void driver_start(struct driver *driver)
{
    driver_step(driver, PRODUCER_START, 0);
}

void driver_stop(struct driver *driver)
{
    if (driver->performing) {
        driver->stop_asked = true;
        return;
    }
    driver_step(driver, PRODUCER_STOP, 0);
}

const struct producer *driver_producer(const struct driver *driver)
{
    return driver->producer;
}

void driver_close(struct driver *driver)
{
    loop_timer_cancel(driver->loop, &driver->commit_timer);
    loop_timer_cancel(driver->loop, &driver->batch_timer);
    for (uint32_t i = 0; i < driver->producer->options.uploads_max; i++)
        loop_timer_cancel(driver->loop, &driver->slots[i].timer);
    producer_close(driver->producer);
    free(driver);
}
