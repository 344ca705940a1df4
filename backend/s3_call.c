/* s3_call.c - an operation's way through the store: it waits for one of the slots, its body is
 * hashed, it is sent, and what the answer makes of it (s3_outcome.c) is done, sent again after a
 * while, or sent again as soon as it may. Ours.
 *
 * A slot's first request begins inside submit, but nothing ends there: ends come from the exchange,
 * from a timer or from a worker, in the loop. After `done` was called the store may be gone, so
 * that it comes last, wherever it is called.
 *
 * Bodies of HASH_INLINE_MAX and more are hashed on a worker: SHA-256 reads about 2 GB/s on a core
 * that has instructions for it and 0.4 GB/s on others, so that a batch of 8 MiB would keep all
 * other requests waiting for 4 to 20 ms. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/s3_private.h"
#include "core/xxh3.h"

#define HASH_INLINE_MAX ((uint64_t)1 << 20)
#define OFFSET_MAX ((uint64_t)1 << 62) /* beyond any object, and within what servers can read */

static int64_t now_of(const struct s3_store *store)
{
    return loop_now(live_loop_base(store->loop));
}

static bool has_body(const struct s3_call *call)
{
    return call->op->verb == STORE_PUT || call->op->verb == STORE_PUT_IF_ABSENT;
}

/* ---- states ---- */

static struct s3_calls *list_of(struct s3_call *call)
{
    switch (call->state) {
    case S3_CALL_WAITING:
        return &call->store->waiting;
    case S3_CALL_HASHING:
    case S3_CALL_SENT:
        return &call->store->active;
    case S3_CALL_SLEEPING:
        return &call->store->sleeping;
    case S3_CALL_ENDED:
        return &call->store->ended;
    }
    assert(false);
    return NULL;
}

static void leave_list(struct s3_call *call)
{
    TAILQ_REMOVE(list_of(call), call, link);
    if (call->state == S3_CALL_WAITING)
        call->store->waiting_count--;
}

static void enter_list(struct s3_call *call, enum s3_call_state state)
{
    call->state = state;
    TAILQ_INSERT_TAIL(list_of(call), call, link);
    if (state == S3_CALL_WAITING) {
        assert(call->store->waiting_count < S3_WAITING_MAX);
        call->store->waiting_count++;
    }
}

static void change_state(struct s3_call *call, enum s3_call_state state)
{
    leave_list(call);
    enter_list(call, state);
}

static void set_timer(struct s3_call *call, int64_t at_ns)
{
    loop_timer_set(live_loop_base(call->store->loop), &call->timer, at_ns);
}

static void wait_for_slot(struct s3_call *call)
{
    change_state(call, S3_CALL_WAITING);
    set_timer(call, call->deadline_ns);
}

static void call_free(struct s3_call *call)
{
    loop_timer_cancel(live_loop_base(call->store->loop), &call->timer);
    call->op->store_private = NULL;
    free(call->token);
    free(call->address);
    free(call);
}

/* Nothing may be touched afterwards. */
static void finish(struct s3_call *call)
{
    struct store_op *op = call->op;
    leave_list(call);
    assert(call->slot == NULL);
    op->outcome = call->outcome;
    bool explained = call->outcome == STORE_UNKNOWN || call->outcome == STORE_FAILED;
    assert(!explained || call->text[0] != '\0');
    if (call->outcome == STORE_OK && op->verb == STORE_GET)
        assert(op->result.kind == BODY_BYTES);
    if (call->outcome == STORE_OK && op->verb == STORE_LIST)
        assert(op->page.count > 0 || !op->page.truncated);
    memcpy(op->error, explained ? call->text : "", explained ? sizeof(op->error) : 1);
    call_free(call);
    op->done(op, op->context);
}

static void finish_soon(struct s3_call *call)
{
    change_state(call, S3_CALL_ENDED);
    loop_timer_cancel(live_loop_base(call->store->loop), &call->timer);
    loop_timer_set(live_loop_base(call->store->loop), &call->store->ended_timer, 0);
}

void s3_call_on_ended(struct timer *timer, void *context)
{
    struct s3_store *store = context;
    struct s3_call *call = TAILQ_FIRST(&store->ended);
    if (call == NULL)
        return;
    if (TAILQ_NEXT(call, link) != NULL)
        loop_timer_set(live_loop_base(store->loop), timer, 0);
    finish(call);
}

void s3_call_drop(struct s3_call *call)
{
    if (call->state == S3_CALL_HASHING)
        live_loop_cancel(call->store->loop, &call->hash);
    if (call->slot != NULL && call->slot->exchange.in_flight)
        s3_exchange_cancel(&call->slot->exchange);
    leave_list(call);
    call_free(call);
}

/* ---- slots ---- */

static struct s3_slot *take_slot(struct s3_call *call)
{
    struct s3_store *store = call->store;
    struct s3_slot *slot = store->free_slots;
    if (slot != NULL) {
        store->free_slots = slot->next_free;
    } else {
        assert(store->slot_count < store->options.connections);
        slot = calloc(1, sizeof(*slot));
        assert(slot != NULL);
        s3_exchange_init(&slot->exchange, store->client);
        store->slots[store->slot_count++] = slot;
    }
    slot->call = call;
    call->slot = slot;
    return slot;
}

static void give_slot(struct s3_call *call)
{
    struct s3_slot *slot = call->slot;
    call->slot = NULL;
    slot->call = NULL;
    slot->next_free = call->store->free_slots;
    call->store->free_slots = slot;
}

/* ---- attempts ---- */

/* What came earns its time, so that a large object may take long, but silence may not. */
static int64_t earned_ns(const struct s3_call *call)
{
    double bytes = (double)call->slot->exchange.came_bytes;
    return (int64_t)(bytes / S3_ATTEMPT_RATE * (double)NS_PER_S);
}

static int64_t attempt_deadline_ns(const struct s3_call *call)
{
    int64_t at_ns = call->sent_ns + call->store->options.attempt_ns + call->body_ns;
    return (at_ns < call->deadline_ns ? at_ns : call->deadline_ns) + earned_ns(call);
}

/* False: no time is left for another attempt. */
static bool sleep_before_next(struct s3_call *call)
{
    struct s3_store *store = call->store;
    int64_t until_ns = now_of(store) + s3_pace_backoff_ns(&store->pace, ++call->failures);
    if (until_ns >= call->deadline_ns)
        return false;
    change_state(call, S3_CALL_SLEEPING);
    set_timer(call, until_ns);
    return true;
}

static void conclude(struct s3_call *call)
{
    struct s3_store *store = call->store;
    loop_timer_cancel(live_loop_base(store->loop), &call->timer);
    enum s3_next next = s3_outcome_take(call, call->slot);
    give_slot(call);
    if (next == S3_NEXT_QUEUE)
        wait_for_slot(call);
    else if (next == S3_NEXT_BACK_OFF && !sleep_before_next(call))
        next = S3_NEXT_DONE;
    s3_store_pump(store);
    if (next == S3_NEXT_DONE)
        finish(call);
}

static void on_answer(struct s3_exchange *exchange)
{
    conclude(((struct s3_slot *)exchange)->call);
}

static enum s3_method method_of(enum store_verb verb)
{
    static const enum s3_method methods[STORE_VERB_COUNT] = {
        [STORE_GET] = S3_METHOD_GET,           [STORE_PUT] = S3_METHOD_PUT,
        [STORE_PUT_IF_ABSENT] = S3_METHOD_PUT, [STORE_LIST] = S3_METHOD_GET,
        [STORE_DELETE] = S3_METHOD_DELETE,
    };
    return methods[verb];
}

/* What its answer's body may be. */
static void set_bound(const struct s3_call *call, struct s3_exchange *exchange)
{
    const struct store_op *op = call->op;
    bool reads = op->verb == STORE_GET;
    exchange->skip_bytes = reads && !call->size_only ? op->range_offset : 0;
    exchange->keep_bytes = !reads ? 0 : call->size_only ? 1 : op->range_bytes;
    if (reads && exchange->keep_bytes > 0)
        exchange->bound = (struct object_bound){.bytes_max = exchange->keep_bytes};
    else if (reads)
        exchange->bound = op->bound;
    else
        exchange->bound = (struct object_bound){
            .bytes_max = op->verb == STORE_LIST ? S3_XML_BYTES_MAX : S3_ERROR_BYTES_MAX};
    if (exchange->bound.bytes_max > S3_OBJECT_BYTES_MAX)
        exchange->bound.bytes_max = S3_OBJECT_BYTES_MAX;
}

static void build(struct s3_call *call, int64_t now_ns)
{
    struct s3_store *store = call->store;
    const struct s3_address *address = call->address != NULL ? call->address : &store->address;
    const struct s3_request_input input = {
        .op = call->op,
        .address = address,
        .credentials = &store->identity.credentials,
        .key = &store->identity.key,
        .time_ns = now_ns + store->signing_skew_ns,
        .payload_hash = has_body(call) ? call->payload_hash : S3_HASH_OF_NOTHING,
        .checksum = call->checksum,
        .range = call->size_only ? "bytes=0-0" : call->range,
        .token = call->token,
    };
    s3_request_build(&call->slot->request, &input);
    memcpy(call->region, address->region, sizeof(call->region));
    call->identity = store->identity.number;
}

static void send_attempt(struct s3_call *call)
{
    struct s3_store *store = call->store;
    struct store_op *op = call->op;
    int64_t now_ns = now_of(store);
    call->state = S3_CALL_SENT; /* the same list */
    call->sent_ns = now_ns;
    store->counters.requests++;
    if (call->token == NULL) {
        store->counters.resent += call->attempts > 0;
        call->attempts++;
    }
    s3_identity_look_ahead(store, now_ns);
    build(call, now_ns);
    struct s3_exchange *exchange = &call->slot->exchange;
    exchange->method = method_of(op->verb);
    exchange->resend = op->verb == STORE_PUT_IF_ABSENT ? S3_RESEND_NEVER : S3_RESEND_MAY;
    exchange->tls = call->slot->request.tls;
    exchange->host = call->slot->request.host;
    exchange->target = call->slot->request.target;
    exchange->headers = call->slot->request.headers;
    exchange->body = has_body(call) ? op->body.data : NULL;
    exchange->body_bytes = has_body(call) ? op->body.bytes : 0;
    set_bound(call, exchange);
    exchange->done = on_answer;
    s3_exchange_send(exchange);
    set_timer(call, attempt_deadline_ns(call));
}

/* ---- hashing ---- */

static void hash(struct s3_call *call)
{
    const struct body *body = &call->op->body;
    call->checksum = XXH3_64bits(body->data, body->bytes);
    if (call->store->options.payload == S3_PAYLOAD_UNSIGNED)
        memcpy(call->payload_hash, SIGV4_UNSIGNED, sizeof(SIGV4_UNSIGNED));
    else
        sigv4_hash(body->data, body->bytes, call->payload_hash);
    call->hashed = true;
}

static void hash_on_worker(struct work *work)
{
    hash((struct s3_call *)work);
}

static void on_hashed(struct work *work)
{
    send_attempt((struct s3_call *)work);
}

static void begin(struct s3_call *call)
{
    take_slot(call);
    change_state(call, S3_CALL_HASHING);
    if (has_body(call) && !call->hashed) {
        if (call->op->body.bytes > HASH_INLINE_MAX) {
            loop_timer_cancel(live_loop_base(call->store->loop), &call->timer);
            call->hash.run = hash_on_worker;
            call->hash.done = on_hashed;
            live_loop_submit(call->store->loop, &call->hash);
            return;
        }
        hash(call);
    }
    send_attempt(call);
}

void s3_store_pump(struct s3_store *store)
{
    if (TAILQ_EMPTY(&store->waiting) || (store->identity.needed && store->identity.renewing))
        return;
    if (s3_pace_holds(&store->pace, now_of(store))) {
        loop_timer_set(live_loop_base(store->loop), &store->hold_timer, store->pace.hold_until_ns);
        return;
    }
    while (!TAILQ_EMPTY(&store->waiting) &&
           (store->free_slots != NULL || store->slot_count < store->options.connections))
        begin(TAILQ_FIRST(&store->waiting));
}

void s3_call_on_hold_end(struct timer *timer, void *context)
{
    (void)timer;
    s3_store_pump(context);
}

/* ---- time ---- */

/* The operation's time has run out while it waited. */
static void give_up_waiting(struct s3_call *call)
{
    const struct s3_store *store = call->store;
    const char *why = "all connections were busy; allow more connections, or more time";
    /* An OK that asked for more, an empty page or a size, is no answer yet. */
    if (call->attempts == 0 || call->outcome == STORE_OK) {
        list_page_clear(&call->op->page);
        call->outcome = STORE_UNKNOWN;
        if (store->identity.needed)
            why = "the credentials have expired, and new ones are still being looked for";
        else if (s3_pace_holds(&store->pace, now_of(store)))
            call->outcome = STORE_THROTTLED;
        snprintf(call->text, sizeof(call->text), "%s s3://%s/%.80s: not sent to %.60s: %s",
                 store_verb_name(call->op->verb), store->address.bucket, call->op->key,
                 store->address.endpoint, why);
    }
    finish(call);
}

static void on_timer(struct timer *timer, void *context)
{
    (void)timer;
    struct s3_call *call = context;
    switch (call->state) {
    case S3_CALL_WAITING:
        give_up_waiting(call);
        return;
    case S3_CALL_SENT:
        if (attempt_deadline_ns(call) > now_of(call->store)) {
            set_timer(call, attempt_deadline_ns(call));
            return;
        }
        s3_exchange_cancel(&call->slot->exchange);
        conclude(call);
        return;
    case S3_CALL_SLEEPING:
        wait_for_slot(call);
        s3_store_pump(call->store);
        return;
    case S3_CALL_HASHING:
    case S3_CALL_ENDED:
        assert(false);
    }
}

void s3_store_fail_expired(struct s3_store *store, const char *why)
{
    struct s3_call *next;
    for (struct s3_call *call = TAILQ_FIRST(&store->waiting); call != NULL; call = next) {
        next = TAILQ_NEXT(call, link);
        if (!call->refreshed || call->identity != store->identity.number)
            continue;
        call->outcome = STORE_FAILED;
        snprintf(
            call->text, sizeof(call->text),
            "%s s3://%s/%.60s: the credentials have expired, and there are no new ones: %.120s",
            store_verb_name(call->op->verb), store->address.bucket, call->op->key, why);
        finish_soon(call);
    }
}

/* ---- submit ---- */

static void set_range(struct s3_call *call)
{
    uint64_t offset = call->op->range_offset;
    uint64_t bytes = call->op->range_bytes;
    if (offset > OFFSET_MAX)
        offset = OFFSET_MAX;
    if (bytes > 0 && bytes <= OFFSET_MAX - offset)
        snprintf(call->range, sizeof(call->range), "bytes=%" PRIu64 "-%" PRIu64, offset,
                 offset + bytes - 1);
    else if (bytes > 0 || offset > 0)
        snprintf(call->range, sizeof(call->range), "bytes=%" PRIu64 "-", offset);
}

static void check(const struct store_op *op)
{
    assert(op->verb < STORE_VERB_COUNT);
    assert(op->done != NULL);
    assert(op->store_private == NULL);
    assert(op->result.kind == BODY_NONE);
    assert(memchr(op->key, '\0', STORE_KEY_MAX) != NULL);
    if (op->verb == STORE_LIST) {
        assert(memchr(op->after, '\0', STORE_KEY_MAX) != NULL);
        assert(op->list_keys_max >= 1 && op->list_keys_max <= STORE_LIST_KEYS_MAX);
    } else {
        assert(op->key[0] != '\0');
    }
    if (op->verb == STORE_PUT || op->verb == STORE_PUT_IF_ABSENT) {
        assert(op->body.kind == BODY_BYTES);
        assert(op->body.bytes == 0 || op->body.data != NULL);
    }
}

void s3_call_submit(struct s3_store *store, struct store_op *op)
{
    check(op);
    struct s3_call *call = calloc(1, sizeof(*call));
    assert(call != NULL);
    call->store = store;
    call->op = op;
    op->store_private = call;
    timer_init(&call->timer, on_timer, call);
    if (has_body(call))
        call->body_ns = (int64_t)((double)op->body.bytes / S3_ATTEMPT_RATE * (double)NS_PER_S);
    if (op->verb == STORE_GET)
        set_range(call);
    call->deadline_ns = now_of(store) + store->options.operation_ns + call->body_ns;
    s3_pace_request(&store->pace);
    enter_list(call, S3_CALL_WAITING);
    set_timer(call, call->deadline_ns);
    s3_store_pump(store);
}
