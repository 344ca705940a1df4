/* meter_store.c - see meter_store.h. Ours. */
#include "core/meter_store.h"

#include <stdlib.h>

struct meter_store {
    struct store store; /* must be first */
    struct meter_store_options options;
    struct meter_counters counters;
    struct meter_call *calls; /* all ever made; freed at close */
    struct meter_call *idle;
};

/* One operation on its way through. */
struct meter_call {
    struct store_op op;
    struct store_op *outer;
    struct meter_store *owner;
    int64_t sent_ns;
    struct meter_call *next;
    struct meter_call *next_idle;
};

static void inner_done(struct store_op *op, void *context);

static struct meter_call *call_take(struct meter_store *meter)
{
    struct meter_call *call = meter->idle;
    if (call != NULL) {
        meter->idle = call->next_idle;
        return call;
    }
    call = malloc(sizeof(*call));
    assert(call != NULL);
    store_op_init(&call->op);
    call->op.done = inner_done;
    call->op.context = call;
    call->owner = meter;
    call->next = meter->calls;
    meter->calls = call;
    return call;
}

static bool is_put(enum store_verb verb)
{
    return verb == STORE_PUT || verb == STORE_PUT_IF_ABSENT;
}

static void inner_done(struct store_op *op, void *context)
{
    struct meter_call *call = context;
    struct meter_store *meter = call->owner;
    struct store_op *outer = call->outer;
    assert(op->outcome < STORE_OUTCOME_COUNT);
    struct meter_answer answer = {
        .verb = op->verb,
        .outcome = op->outcome,
        .bytes = is_put(op->verb) ? op->body.bytes : op->result.bytes,
        .latency_ns = loop_now(meter->options.loop) - call->sent_ns,
    };
    assert(meter->counters.in_flight > 0);
    meter->counters.in_flight--;
    meter->counters.answered[answer.verb][answer.outcome]++;
    meter->counters.bytes[answer.verb] += answer.bytes;
    store_op_take_answer(outer, op);
    store_op_release(op);
    call->next_idle = meter->idle;
    meter->idle = call;
    if (meter->options.answered != NULL)
        meter->options.answered(meter->options.context, &answer);
    outer->done(outer, outer->context);
}

static void meter_submit(struct store *store, struct store_op *outer)
{
    struct meter_store *meter = (struct meter_store *)store;
    struct meter_call *call = call_take(meter);
    assert(outer->verb < STORE_VERB_COUNT);
    store_op_copy_request(&call->op, outer);
    call->outer = outer;
    call->sent_ns = loop_now(meter->options.loop);
    struct meter_counters *counters = &meter->counters;
    counters->submitted[outer->verb]++;
    counters->in_flight++;
    if (counters->in_flight > counters->in_flight_max)
        counters->in_flight_max = counters->in_flight;
    store_submit(meter->options.inner, &call->op);
}

static void meter_close(struct store *store)
{
    struct meter_store *meter = (struct meter_store *)store;
    while (meter->calls != NULL) {
        struct meter_call *call = meter->calls;
        meter->calls = call->next;
        store_op_deinit(&call->op);
        free(call);
    }
    free(meter);
}

static const struct store_ops meter_ops = {.submit = meter_submit, .close = meter_close};

struct store *meter_store_open(const struct meter_store_options *options)
{
    struct meter_store *meter = calloc(1, sizeof(*meter));
    assert(meter != NULL);
    meter->store.ops = &meter_ops;
    meter->options = *options;
    return &meter->store;
}

struct meter_counters meter_store_counters(const struct store *store)
{
    return ((const struct meter_store *)store)->counters;
}
