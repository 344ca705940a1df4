/* shape_store.c - see shape_store.h. Ours. */
#include "core/shape_store.h"

#include <stdlib.h>

struct shape_store {
    struct store store; /* must be first */
    struct shape_store_options options;
    struct shape_call *calls; /* all ever made; freed at close */
    struct shape_call *idle;
};

/* One operation on its way through. */
struct shape_call {
    struct store_op op;
    struct store_op *outer;
    struct shape_store *owner;
    double unit; /* the draw */
    int64_t sent_ns;
    int64_t latency_ns;
    struct timer arrival; /* the inner store gets it */
    struct timer answer;
    struct shape_call *next;
    struct shape_call *next_idle;
};

static void arrival_due(struct timer *timer, void *context)
{
    struct shape_call *call = context;
    (void)timer;
    store_submit(call->owner->options.inner, &call->op);
}

static void answer_due(struct timer *timer, void *context)
{
    struct shape_call *call = context;
    struct store_op *outer = call->outer;
    (void)timer;
    store_op_take_answer(outer, &call->op);
    store_op_release(&call->op);
    call->next_idle = call->owner->idle;
    call->owner->idle = call;
    outer->done(outer, outer->context);
}

static int64_t latency_of(const struct shape_call *call, uint64_t bytes)
{
    const struct shape_store_options *options = &call->owner->options;
    int64_t ns = options->latency_ns(options->context, call->op.verb, call->unit, bytes);
    assert(ns >= 0);
    return ns;
}

static void inner_done(struct store_op *op, void *context)
{
    struct shape_call *call = context;
    struct loop *loop = call->owner->options.loop;
    if (op->verb == STORE_GET)
        call->latency_ns = latency_of(call, op->result.bytes);
    /* In the past, where the inner store was slower: that is now. */
    loop_timer_set(loop, &call->answer, call->sent_ns + call->latency_ns);
}

static struct shape_call *call_take(struct shape_store *shape)
{
    struct shape_call *call = shape->idle;
    if (call != NULL) {
        shape->idle = call->next_idle;
        return call;
    }
    call = malloc(sizeof(*call));
    assert(call != NULL);
    store_op_init(&call->op);
    call->op.done = inner_done;
    call->op.context = call;
    timer_init(&call->arrival, arrival_due, call);
    timer_init(&call->answer, answer_due, call);
    call->owner = shape;
    call->next = shape->calls;
    shape->calls = call;
    return call;
}

static void shape_submit(struct store *store, struct store_op *outer)
{
    struct shape_store *shape = (struct shape_store *)store;
    struct shape_store_options *options = &shape->options;
    struct shape_call *call = call_take(shape);
    bool sends = outer->verb == STORE_PUT || outer->verb == STORE_PUT_IF_ABSENT;
    bool reads = outer->verb == STORE_GET || outer->verb == STORE_LIST;
    store_op_copy_request(&call->op, outer);
    call->outer = outer;
    call->unit = random_unit(&options->random);
    call->sent_ns = loop_now(options->loop);
    call->latency_ns = latency_of(call, sends ? outer->body.bytes : 0);
    double fraction = reads ? options->read_fraction : options->apply_fraction;
    int64_t held_ns = (int64_t)(fraction * (double)call->latency_ns);
    loop_timer_set(options->loop, &call->arrival, call->sent_ns + held_ns);
}

static void shape_close(struct store *store)
{
    struct shape_store *shape = (struct shape_store *)store;
    while (shape->calls != NULL) {
        struct shape_call *call = shape->calls;
        shape->calls = call->next;
        loop_timer_cancel(shape->options.loop, &call->arrival);
        loop_timer_cancel(shape->options.loop, &call->answer);
        store_op_deinit(&call->op);
        free(call);
    }
    free(shape);
}

static const struct store_ops shape_ops = {.submit = shape_submit, .close = shape_close};

struct store *shape_store_open(const struct shape_store_options *options)
{
    assert(options->apply_fraction >= 0 && options->apply_fraction <= 1);
    assert(options->read_fraction >= 0 && options->read_fraction <= 1);
    struct shape_store *shape = calloc(1, sizeof(*shape));
    assert(shape != NULL);
    shape->store.ops = &shape_ops;
    shape->options = *options;
    return &shape->store;
}
