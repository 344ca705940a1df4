/* consumer_driver.c - a consumer's effects on a store and a loop. Ours, in the manner of driver.c.
 */
#include "core/consumer_driver.h"

#include <stdlib.h>

#define ASKED_MAX 8 /* by the observer from one callback */

struct consumer_driver;

struct fetch_slot {
    struct consumer_driver *driver;
    uint32_t slot;
    int64_t sent_ns;
    struct timer timer;
};

struct consumer_driver {
    struct store *store;
    struct loop *loop;
    const struct consumer_observer *observer;
    struct consumer *consumer;
    struct timer control_timer;
    struct timer chain_timer;
    int64_t control_sent_ns;
    int64_t chain_sent_ns;
    bool performing;
    uint32_t asked_count; /* while effects were being performed: in the order of the calls */
    enum consumer_event_kind asked[ASKED_MAX];
    struct fetch_slot slots[]; /* options.fetches_max */
};

static uint32_t driver_id(const struct consumer_driver *driver)
{
    return driver->consumer->options.membership.consumer;
}

static void driver_step(struct consumer_driver *driver, enum consumer_event_kind kind,
                        uint32_t slot);

/* ---- answers and timers ---- */

static void observe(struct consumer_driver *driver, enum consumer_request request,
                    const struct store_op *op, int64_t sent_ns)
{
    struct consumer_answer answer = {.request = request,
                                     .verb = op->verb,
                                     .outcome = op->outcome,
                                     .bytes = op->body.bytes + op->result.bytes,
                                     .sent_ns = sent_ns,
                                     .answered_ns = loop_now(driver->loop)};
    driver->observer->request(driver->observer->context, driver_id(driver), &answer);
}

static void control_done(struct store_op *op, void *context)
{
    struct consumer_driver *driver = context;
    observe(driver, CONSUMER_REQUEST_CONTROL, op, driver->control_sent_ns);
    driver_step(driver, CONSUMER_CONTROL_ANSWER, 0);
}

static void chain_done(struct store_op *op, void *context)
{
    struct consumer_driver *driver = context;
    observe(driver, CONSUMER_REQUEST_CHAIN, op, driver->chain_sent_ns);
    driver_step(driver, CONSUMER_CHAIN_ANSWER, 0);
}

static void fetch_done(struct store_op *op, void *context)
{
    struct fetch_slot *slot = context;
    observe(slot->driver, CONSUMER_REQUEST_SLICE, op, slot->sent_ns);
    driver_step(slot->driver, CONSUMER_FETCH_ANSWER, slot->slot);
}

static void control_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    driver_step(context, CONSUMER_CONTROL_TIMER, 0);
}

static void chain_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    driver_step(context, CONSUMER_CHAIN_TIMER, 0);
}

static void fetch_timer_fired(struct timer *timer, void *context)
{
    (void)timer;
    struct fetch_slot *slot = context;
    driver_step(slot->driver, CONSUMER_FETCH_TIMER, slot->slot);
}

/* ---- effects ---- */

static void submit_fetch(struct consumer_driver *driver, uint32_t slot)
{
    driver->slots[slot].sent_ns = loop_now(driver->loop);
    store_submit(driver->store, &driver->consumer->fetches[slot].op);
}

static void cancel_timers(struct consumer_driver *driver)
{
    loop_timer_cancel(driver->loop, &driver->control_timer);
    loop_timer_cancel(driver->loop, &driver->chain_timer);
    for (uint32_t i = 0; i < driver->consumer->options.fetches_max; i++)
        loop_timer_cancel(driver->loop, &driver->slots[i].timer);
}

static void perform(struct consumer_driver *driver, const struct consumer_effect *effect)
{
    const struct consumer_observer *observer = driver->observer;
    struct consumer *consumer = driver->consumer;
    uint32_t id = driver_id(driver);
    switch (effect->kind) {
    case CONSUMER_EFFECT_SUBMIT_CONTROL:
        driver->control_sent_ns = loop_now(driver->loop);
        store_submit(driver->store, &consumer->membership.op);
        break;
    case CONSUMER_EFFECT_SUBMIT_CHAIN:
        driver->chain_sent_ns = loop_now(driver->loop);
        store_submit(driver->store, &consumer->chain.op);
        break;
    case CONSUMER_EFFECT_SUBMIT_FETCH:
        submit_fetch(driver, effect->slot);
        break;
    case CONSUMER_EFFECT_CONTROL_TIMER:
        loop_timer_set(driver->loop, &driver->control_timer, effect->at_ns);
        break;
    case CONSUMER_EFFECT_CHAIN_TIMER:
        loop_timer_set(driver->loop, &driver->chain_timer, effect->at_ns);
        break;
    case CONSUMER_EFFECT_FETCH_TIMER:
        loop_timer_set(driver->loop, &driver->slots[effect->slot].timer, effect->at_ns);
        break;
    case CONSUMER_EFFECT_SAVE:
        observer->save(observer->context, id, &consumer->membership.checkpoints);
        break;
    case CONSUMER_EFFECT_RUNNING:
        observer->running(observer->context, id, consumer->cursor);
        break;
    case CONSUMER_EFFECT_READY:
        observer->ready(observer->context, id, consumer_delivery(consumer));
        break;
    case CONSUMER_EFFECT_CHECKPOINTED:
        observer->checkpointed(observer->context, id, consumer->saved_step);
        break;
    case CONSUMER_EFFECT_ENDED:
        cancel_timers(driver);
        observer->ended(observer->context, id, consumer->end, consumer->end_text);
        break;
    }
}

/* True: it ended, and the observer may have closed the driver. */
static bool step_once(struct consumer_driver *driver, enum consumer_event_kind kind, uint32_t slot)
{
    struct consumer_effects effects;
    struct consumer_event event = {.kind = kind, .slot = slot};
    assert(!driver->performing);
    driver->performing = true;
    consumer_step(driver->consumer, loop_now(driver->loop), event, &effects);
    for (uint32_t i = 0; i < effects.count; i++) {
        bool ended = effects.items[i].kind == CONSUMER_EFFECT_ENDED;
        if (ended)
            driver->performing = false;
        perform(driver, &effects.items[i]);
        if (ended)
            return true;
    }
    driver->performing = false;
    return false;
}

/* One event, then what the observer asked for meanwhile, without recursion: a whole run may be
 * taken from inside `ready`. */
static void driver_step(struct consumer_driver *driver, enum consumer_event_kind kind,
                        uint32_t slot)
{
    if (step_once(driver, kind, slot))
        return;
    while (driver->asked_count > 0) {
        enum consumer_event_kind asked = driver->asked[0];
        driver->asked_count--;
        for (uint32_t i = 0; i < driver->asked_count; i++)
            driver->asked[i] = driver->asked[i + 1];
        if (step_once(driver, asked, 0))
            return;
    }
}

static void ask(struct consumer_driver *driver, enum consumer_event_kind kind)
{
    if (!driver->performing) {
        driver_step(driver, kind, 0);
        return;
    }
    assert(driver->asked_count < ASKED_MAX);
    driver->asked[driver->asked_count++] = kind;
}

/* ---- public ---- */

struct consumer_driver *consumer_driver_open(const struct consumer_driver_options *options)
{
    uint32_t fetches = options->consumer->fetches_max;
    struct consumer_driver *driver =
        calloc(1, sizeof(*driver) + fetches * sizeof(driver->slots[0]));
    assert(driver != NULL);
    driver->store = options->store;
    driver->loop = options->loop;
    driver->observer = options->observer;
    driver->consumer = consumer_open(options->consumer);
    driver->consumer->membership.op.done = control_done;
    driver->consumer->membership.op.context = driver;
    driver->consumer->chain.op.done = chain_done;
    driver->consumer->chain.op.context = driver;
    timer_init(&driver->control_timer, control_timer_fired, driver);
    timer_init(&driver->chain_timer, chain_timer_fired, driver);
    for (uint32_t i = 0; i < fetches; i++) {
        struct fetch_slot *slot = &driver->slots[i];
        slot->driver = driver;
        slot->slot = i;
        timer_init(&slot->timer, fetch_timer_fired, slot);
        driver->consumer->fetches[i].op.done = fetch_done;
        driver->consumer->fetches[i].op.context = slot;
    }
    return driver;
}

void consumer_driver_start(struct consumer_driver *driver)
{
    driver_step(driver, CONSUMER_START, 0);
}

void consumer_driver_take(struct consumer_driver *driver)
{
    ask(driver, CONSUMER_TAKE);
}

void consumer_driver_checkpoint(struct consumer_driver *driver)
{
    ask(driver, CONSUMER_CHECKPOINT);
}

void consumer_driver_saved(struct consumer_driver *driver)
{
    ask(driver, CONSUMER_SAVED);
}

void consumer_driver_save_refused(struct consumer_driver *driver)
{
    ask(driver, CONSUMER_SAVE_REFUSED);
}

void consumer_driver_stop(struct consumer_driver *driver)
{
    ask(driver, CONSUMER_STOP);
}

const struct consumer *consumer_driver_consumer(const struct consumer_driver *driver)
{
    return driver->consumer;
}

void consumer_driver_close(struct consumer_driver *driver)
{
    cancel_timers(driver);
    consumer_close(driver->consumer);
    free(driver);
}
