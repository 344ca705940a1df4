/* fault_store.c - faults between a client and its store. Ours. */
#include "core/fault_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_PAGE_KEYS 3 /* at most so many, when a page is cut */

struct fault_store {
    struct store store; /* must be first */
    struct fault_store_options options;
    struct fault_counters counters;
    struct fault_refusal refusal;
    bool cut;
    struct fault_call *calls; /* all ever made; freed at close */
    struct fault_call *idle;
    struct fault_call *held; /* reordered, not sent yet */
};

/* One request on its way. */
struct fault_call {
    struct store_op op;     /* the copy that goes to the inner store */
    struct store_op *outer; /* NULL: answered, or its sender died */
    struct fault_store *owner;
    enum fault_kind kind;
    enum store_outcome outcome; /* to be answered, whatever the inner store says */
    bool forced;                /* `outcome` counts */
    bool inside;                /* the inner store has the op, or will have it */
    struct timer landing;       /* on the loop: send it now */
    struct timer answer;        /* on the client's loop */
    struct fault_call *next;
    struct fault_call *next_idle;
    struct fault_call *next_held;
};

const char *fault_kind_name(enum fault_kind kind)
{
    static const char *const names[] = {
#define X(code, name, verbs, text) name,
        FAULT_KINDS(X)
#undef X
    };
    assert(kind < FAULT_KIND_COUNT);
    return names[kind];
}

/* Sets of verbs, for the table of kinds. */
enum {
    CREATE = 1 << STORE_PUT_IF_ABSENT,
    REPEATED = 1 << STORE_PUT | 1 << STORE_DELETE, /* by a store's client, as often as it likes */
    WRITE = CREATE | REPEATED,
    LISTING = 1 << STORE_LIST,
    READ = 1 << STORE_GET,
    ANY = WRITE | LISTING | READ,
};

bool fault_kind_hits(enum fault_kind kind, enum store_verb verb)
{
    static const unsigned verbs_hit[] = {
#define X(code, name, verbs, text) verbs,
        FAULT_KINDS(X)
#undef X
    };
    assert(kind < FAULT_KIND_COUNT && verb < STORE_VERB_COUNT);
    return (verbs_hit[kind] >> verb & 1u) != 0;
}

/* What happens to it. */

static bool storm_rages(const struct fault_storm *storm, int64_t now_ns)
{
    if (storm->kind == FAULT_NONE)
        return false;
    assert(storm->period_ns > 0 && storm->longest_ns < storm->period_ns);
    int64_t period = now_ns / storm->period_ns;
    struct random_stream stream = random_stream_make(storm->seed, (uint64_t)period);
    int64_t lasts_ns = (int64_t)((double)storm->longest_ns * random_unit(&stream));
    double latest = (double)(storm->period_ns - lasts_ns);
    int64_t begins_ns = period * storm->period_ns + (int64_t)(latest * random_unit(&stream));
    return now_ns >= begins_ns && now_ns < begins_ns + lasts_ns;
}

/* Whether that kind can hit that operation here. */
static bool can_hit(const struct fault_store *faults, enum fault_kind kind,
                    const struct store_op *op)
{
    const char *prefix = faults->options.damage_prefix;
    if (!fault_kind_hits(kind, op->verb))
        return false;
    return kind < FAULT_FIRST_OF_DAMAGE ||
           (prefix != NULL && strncmp(op->key, prefix, strlen(prefix)) == 0);
}

static bool shot_hits(const struct fault_store *faults, const struct store_op *op)
{
    struct fault_shot *shot = faults->options.shot;
    if (!shot || !can_hit(faults, shot->kind, op))
        return false;
    return ++shot->seen == shot->operation;
}

static bool is_refused(const struct fault_store *faults, const struct store_op *op)
{
    const struct fault_refusal *refusal = &faults->refusal;
    return (refusal->verbs >> op->verb & 1u) != 0 &&
           strncmp(op->key, refusal->prefix, strlen(refusal->prefix)) == 0;
}

static enum fault_kind draw_refusal(struct fault_store *faults, const struct store_op *op)
{
    bool repeated = fault_kind_hits(FAULT_REFUSED_APPLIED, op->verb) &&
                    random_next(&faults->options.random) % 2 == 0;
    return repeated ? FAULT_REFUSED_APPLIED : FAULT_REFUSED;
}

static enum fault_kind draw_kind(struct fault_store *faults, const struct store_op *op)
{
    struct fault_store_options *options = &faults->options;
    const struct fault_plan *plan = options->plan;
    if (shot_hits(faults, op))
        return options->shot->kind;
    if (is_refused(faults, op))
        return draw_refusal(faults, op);
    for (size_t i = 0; i < FAULT_STORMS_MAX; i++) {
        const struct fault_storm *storm = &plan->storms[i];
        if (storm_rages(storm, loop_now(options->loop)) && can_hit(faults, storm->kind, op) &&
            random_unit(&options->random) < storm->probability)
            return storm->kind;
    }
    double draw = random_unit(&options->random);
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        if (!can_hit(faults, (enum fault_kind)kind, op))
            continue;
        draw -= plan->probability[op->verb][kind];
        if (draw < 0.0)
            return (enum fault_kind)kind;
    }
    return FAULT_NONE;
}

/* Calls. */

static void landing_due(struct timer *timer, void *context);
static void answer_due(struct timer *timer, void *context);
static void inner_done(struct store_op *op, void *context);

static struct loop *client_loop(const struct fault_store *faults)
{
    return faults->options.client_loop ? faults->options.client_loop : faults->options.loop;
}

static struct fault_call *call_take(struct fault_store *faults)
{
    struct fault_call *call = faults->idle;
    if (call) {
        faults->idle = call->next_idle;
        return call;
    }
    call = malloc(sizeof(*call));
    assert(call);
    store_op_init(&call->op);
    call->op.done = inner_done;
    call->op.context = call;
    timer_init(&call->landing, landing_due, call);
    timer_init(&call->answer, answer_due, call);
    call->owner = faults;
    call->next = faults->calls;
    faults->calls = call;
    return call;
}

static void call_give_if_over(struct fault_call *call)
{
    if (call->outer || call->inside)
        return;
    store_op_release(&call->op);
    body_release(&call->op.body);
    call->next_idle = call->owner->idle;
    call->owner->idle = call;
}

static void watch(struct fault_store *faults, enum fault_moment moment, enum fault_kind kind,
                  const struct store_op *op)
{
    if (faults->options.watch)
        faults->options.watch(faults->options.watch_context, moment, kind, op);
}

static void send_inside(struct fault_call *call)
{
    store_submit(call->owner->options.inner, &call->op);
}

static void landing_due(struct timer *timer, void *context)
{
    (void)timer;
    struct fault_call *call = context;
    struct fault_call **link = &call->owner->held;
    while (*link && *link != call)
        link = &(*link)->next_held;
    if (*link)
        *link = call->next_held;
    send_inside(call);
}

/* An operation was answered: those that waited to be overtaken may go. */
static void let_held_go(struct fault_store *faults)
{
    while (faults->held) {
        struct fault_call *call = faults->held;
        faults->held = call->next_held;
        loop_timer_set(faults->options.loop, &call->landing, loop_now(faults->options.loop));
    }
}

/* What was read is not what is stored. */
static void damage(struct fault_store *faults, enum fault_kind kind, struct body *result)
{
    if (kind < FAULT_FIRST_OF_DAMAGE || result->kind != BODY_BYTES || result->bytes == 0)
        return;
    uint64_t place = random_next(&faults->options.random) % (8 * result->bytes);
    if (kind == FAULT_CUT)
        result->bytes = place / 8;
    else
        result->data[place / 8] ^= (uint8_t)(1u << place % 8);
}

static void answer_due(struct timer *timer, void *context)
{
    (void)timer;
    struct fault_call *call = context;
    struct fault_store *faults = call->owner;
    struct store_op *outer = call->outer;
    assert(outer);
    call->outer = NULL;
    faults->counters.answered++;
    if (call->forced) {
        outer->outcome = call->outcome;
        snprintf(outer->error, sizeof(outer->error), "%s %.100s: fault %s",
                 store_verb_name(outer->verb), outer->key, fault_kind_name(call->kind));
    } else {
        store_op_take_answer(outer, &call->op);
        damage(faults, call->kind, &outer->result);
    }
    enum fault_kind kind = call->kind;
    call_give_if_over(call);
    watch(faults, FAULT_ANSWERED, kind, outer);
    if (kind != FAULT_REORDER)
        let_held_go(faults);
    outer->done(outer, outer->context);
}

static void answer_at(struct fault_call *call, int64_t after_ns)
{
    struct loop *loop = client_loop(call->owner);
    loop_timer_set(loop, &call->answer, loop_now(loop) + after_ns);
}

static void inner_done(struct store_op *op, void *context)
{
    struct fault_call *call = context;
    struct fault_store *faults = call->owner;
    call->inside = false;
    if (!call->outer) {
        faults->counters.landed++;
        watch(faults, FAULT_LANDED, call->kind, op);
        call_give_if_over(call);
        return;
    }
    bool at_once = call->kind == FAULT_ERROR_APPLIED || call->kind == FAULT_THROTTLED_APPLIED ||
                   call->kind == FAULT_REFUSED_APPLIED;
    if (!call->forced || at_once)
        answer_at(call, 0);
}

/* Requests. */

static enum store_outcome outcome_of(enum fault_kind kind)
{
    switch (kind) {
    case FAULT_BUSY:
        return STORE_BUSY;
    case FAULT_THROTTLED:
    case FAULT_THROTTLED_APPLIED:
        return STORE_THROTTLED;
    case FAULT_REFUSED:
    case FAULT_REFUSED_APPLIED:
        return STORE_FAILED;
    case FAULT_NONE:
    case FAULT_DELAY:
    case FAULT_REORDER:
    case FAULT_SHORT_PAGE:
    case FAULT_LOST_REQUEST:
    case FAULT_LOST_ANSWER:
    case FAULT_LATE:
    case FAULT_ERROR:
    case FAULT_ERROR_APPLIED:
    case FAULT_DAMAGED:
    case FAULT_CUT:
    case FAULT_KIND_COUNT:
        break;
    }
    return STORE_UNKNOWN;
}

static int64_t late_ns(struct fault_store *faults)
{
    const struct fault_plan *plan = faults->options.plan;
    double low = (double)(plan->late_min_ns > 0 ? plan->late_min_ns : 1);
    double high = (double)plan->late_max_ns > low ? (double)plan->late_max_ns : low;
    return (int64_t)(low * pow(high / low, random_unit(&faults->options.random)));
}

static void land_in(struct fault_call *call, int64_t after_ns)
{
    struct loop *loop = call->owner->options.loop;
    call->inside = true;
    loop_timer_set(loop, &call->landing, loop_now(loop) + after_ns);
}

static void cut_page(struct fault_store *faults, struct store_op *op)
{
    uint32_t keys = 1 + (uint32_t)(random_next(&faults->options.random) % SHORT_PAGE_KEYS);
    if (keys < op->list_keys_max)
        op->list_keys_max = keys;
}

static void perform(struct fault_call *call)
{
    struct fault_store *faults = call->owner;
    const struct fault_plan *plan = faults->options.plan;
    switch (call->kind) {
    case FAULT_LOST_REQUEST:
        answer_at(call, plan->timeout_ns);
        return;
    case FAULT_BUSY:
    case FAULT_ERROR:
    case FAULT_THROTTLED:
    case FAULT_REFUSED:
        answer_at(call, 1);
        return;
    case FAULT_LATE:
        answer_at(call, plan->timeout_ns);
        land_in(call, late_ns(faults));
        return;
    case FAULT_REORDER:
        call->next_held = faults->held;
        faults->held = call;
        land_in(call, plan->delay_ns);
        return;
    case FAULT_DELAY:
        land_in(call, (int64_t)((double)plan->delay_ns * random_unit(&faults->options.random)));
        return;
    case FAULT_LOST_ANSWER:
        answer_at(call, plan->timeout_ns);
        break;
    case FAULT_SHORT_PAGE:
        cut_page(faults, &call->op);
        break;
    case FAULT_NONE:
    case FAULT_ERROR_APPLIED:
    case FAULT_THROTTLED_APPLIED:
    case FAULT_REFUSED_APPLIED:
    case FAULT_DAMAGED:
    case FAULT_CUT:
    case FAULT_KIND_COUNT:
        break;
    }
    call->inside = true;
    send_inside(call);
}

static void fault_submit(struct store *store, struct store_op *outer)
{
    struct fault_store *faults = (struct fault_store *)store;
    assert(!faults->cut);
    struct fault_call *call = call_take(faults);
    store_op_copy_request(&call->op, outer);
    call->op.body = body_copy_range(&outer->body, 0, 0);
    call->outer = outer;
    call->inside = false;
    call->kind = draw_kind(faults, outer);
    call->outcome = outcome_of(call->kind);
    call->forced = call->kind != FAULT_NONE && call->kind != FAULT_DELAY &&
                   call->kind != FAULT_REORDER && call->kind != FAULT_SHORT_PAGE &&
                   call->kind < FAULT_FIRST_OF_DAMAGE;
    outer->body_checksum = 0;
    faults->counters.submitted++;
    faults->counters.hit[call->kind]++;
    watch(faults, FAULT_SUBMITTED, call->kind, outer);
    perform(call);
}

void fault_store_refuse(struct store *store, const struct fault_refusal *refusal)
{
    assert(refusal->verbs == 0 || refusal->prefix != NULL);
    ((struct fault_store *)store)->refusal = *refusal;
}

void fault_store_cut(struct store *store)
{
    struct fault_store *faults = (struct fault_store *)store;
    faults->cut = true;
    for (struct fault_call *call = faults->calls; call; call = call->next) {
        loop_timer_cancel(client_loop(faults), &call->answer);
        if (!call->outer)
            continue;
        call->outer = NULL;
        call_give_if_over(call);
    }
}

struct fault_counters fault_store_counters(const struct store *store)
{
    return ((const struct fault_store *)store)->counters;
}

static void fault_close(struct store *store)
{
    struct fault_store *faults = (struct fault_store *)store;
    while (faults->calls) {
        struct fault_call *call = faults->calls;
        faults->calls = call->next;
        loop_timer_cancel(faults->options.loop, &call->landing);
        loop_timer_cancel(client_loop(faults), &call->answer);
        body_release(&call->op.body);
        store_op_deinit(&call->op);
        free(call);
    }
    free(faults);
}

static const struct store_ops fault_ops = {.submit = fault_submit, .close = fault_close};

struct store *fault_store_open(const struct fault_store_options *options)
{
    struct fault_store *faults = calloc(1, sizeof(*faults));
    assert(faults);
    faults->store.ops = &fault_ops;
    faults->options = *options;
    return &faults->store;
}
