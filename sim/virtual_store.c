/* virtual_store.c - when operations are applied and answered. Ours; what they do to the objects is
 * in object_request.c. */
#include "sim/virtual_store.h"

#include "sim/memory.h"
#include "sim/object_request.h"
#include "sim/token_bucket.h"

#define FLIGHT_CHUNK 8
#define CACHE_LINE 64
/* Keeps the store's streams apart from those that others make from the same seed. */
#define STREAM_DOMAIN UINT64_C(0x53544f5245)
#define QUEUE_DOMAIN UINT64_C(0x5155455545)

enum flight_phase {
    FLIGHT_SERVED,    /* the work before the decision */
    FLIGHT_SENT,      /* until f L after sending */
    FLIGHT_UPLOADING, /* f L is over, a link is not */
    FLIGHT_WAITING,   /* both are over, other creates come first */
    FLIGHT_FINISHING, /* the work after the decision */
    FLIGHT_APPLIED,   /* until the latency is over */
    FLIGHT_DOWNLOADING,
};

/* One operation in flight; what every event needs comes first and fills one cache line. */
struct flight {
    struct timer timer;
    struct store_op *op; /* NULL: not in use */
    struct virtual_client *client;
    enum flight_phase phase;
    uint32_t transfers; /* links that are waited for */
    struct flow client_flow;
    struct flow store_flow;
    uint64_t hash;   /* of the key */
    int64_t sent_ns; /* moved on by what held it up before the decision */
    int64_t latency_ns;
    int64_t apply_ns; /* f L */
    double work_ns;
    int64_t answer_ns; /* known once it is applied */
    double factor;
    struct flight *next_free;
    struct station_visit visit;
};

static_assert(offsetof(struct flight, client_flow) == CACHE_LINE, "one cache line");

struct flight_chunk {
    _Alignas(CACHE_LINE) struct {
        _Alignas(CACHE_LINE) struct flight flight;
    } items[FLIGHT_CHUNK];
    struct flight_chunk *next;
};

struct virtual_client {
    struct store store; /* must be first */
    struct virtual_store *owner;
    uint32_t actor;
    struct random_stream streams[STORE_VERB_COUNT];
    struct random_stream queue_stream;
    struct link link;
    struct flight *free;
    struct flight_chunk *chunks;
};

struct virtual_store {
    struct virtual_loop *loop;
    uint64_t seed;
    double apply_fraction;
    double read_fraction;
    double client_bytes_per_s;
    enum link_kind link_kind;
    struct virtual_store_observer observer;
    struct link link;
    struct station station;
    struct token_bucket puts;
    struct token_bucket gets;
    struct create_queue create_queue;
    uint32_t clients;
    struct virtual_store_counters counters;
    struct object_table objects;
    struct latency latency[STORE_VERB_COUNT];
};

/* ---- applying ---- */

/* What the digest takes in beside the key's hash. */
static uint64_t content_of(uint32_t actor, const struct store_op *op)
{
    uint64_t amount =
        op->verb == STORE_LIST ? (uint64_t)op->page.count : object_request_moved_bytes(op);
    uint64_t what = (uint64_t)actor << 32 | (uint64_t)op->verb << 8 | (uint64_t)op->outcome;
    return what * UINT64_C(0xd1b54a32d192ed03) + amount;
}

/* The one instant at which the operation takes effect. */
static void apply(struct flight *flight)
{
    struct virtual_client *client = flight->client;
    struct virtual_store *store = client->owner;
    struct store_op *op = flight->op;
    int64_t now_ns = store->loop->now_ns;
    enum store_outcome outcome = STORE_THROTTLED;
    if (token_bucket_take(object_request_is_read(op->verb) ? &store->gets : &store->puts, now_ns))
        outcome = object_request_apply(op, flight->hash, &store->objects);
    op->outcome = outcome;
    store->counters.requests[op->verb]++;
    store->counters.throttled += outcome == STORE_THROTTLED ? 1 : 0;
    if (outcome == STORE_OK)
        store->counters.bytes[op->verb] += object_request_moved_bytes(op);
    virtual_loop_mix(store->loop, flight->hash ^ content_of(client->actor, op));
    if (store->observer.applied != NULL)
        store->observer.applied(store->observer.context, now_ns, client->actor, op, outcome);
}

/* ---- when ---- */

static void set_timer(struct flight *flight, int64_t at_ns)
{
    loop_timer_set(&flight->client->owner->loop->loop, &flight->timer, at_ns);
}

static void answer(struct flight *flight)
{
    struct virtual_client *client = flight->client;
    struct store_op *op = flight->op;
    if (op->verb == STORE_PUT_IF_ABSENT)
        create_queue_leave(&client->owner->create_queue);
    flight->op = NULL;
    flight->next_free = client->free;
    client->free = flight;
    op->done(op, op->context);
}

static void start_transfer(struct flight *flight, uint64_t bytes)
{
    link_start(&flight->client->link, &flight->client_flow, bytes);
    link_start(&flight->client->owner->link, &flight->store_flow, bytes);
}

/* True if no link has to be waited for. */
static bool transferred(struct flight *flight)
{
    struct link *links[] = {&flight->client->link, &flight->client->owner->link};
    struct flow *flows[] = {&flight->client_flow, &flight->store_flow};
    flight->transfers = 0;
    for (size_t i = 0; i < 2; i++) {
        if (link_finished(links[i], flows[i]))
            continue;
        flight->transfers++;
        link_await(links[i], flows[i]);
    }
    return flight->transfers == 0;
}

static double fraction_of(const struct virtual_store *store, enum store_verb verb)
{
    return object_request_is_read(verb) ? store->read_fraction : store->apply_fraction;
}

/* It was applied and is to be answered then, or once its work is done. */
static void finish(struct flight *flight, int64_t answer_ns)
{
    struct virtual_store *store = flight->client->owner;
    double rest = 1.0 - fraction_of(store, flight->op->verb);
    flight->answer_ns = answer_ns;
    flight->phase = FLIGHT_FINISHING;
    if (station_enter(&store->station, &flight->visit, (int64_t)(rest * flight->work_ns)))
        return;
    flight->phase = FLIGHT_APPLIED;
    set_timer(flight, answer_ns);
}

static void decide_put(struct flight *flight)
{
    struct virtual_client *client = flight->client;
    struct virtual_store *store = client->owner;
    int64_t rest_ns = flight->latency_ns - flight->apply_ns;
    apply(flight);
    if (flight->op->verb == STORE_PUT_IF_ABSENT)
        rest_ns = create_queue_rest_ns(&store->create_queue, rest_ns, flight->op->outcome,
                                       &client->queue_stream);
    finish(flight, store->loop->now_ns + rest_ns);
}

static void upload_arrived(struct flight *flight)
{
    struct virtual_store *store = flight->client->owner;
    int64_t wait_ns =
        flight->op->verb == STORE_PUT_IF_ABSENT ? create_queue_wait_ns(&store->create_queue) : 0;
    flight->phase = FLIGHT_WAITING;
    if (wait_ns > 0)
        set_timer(flight, store->loop->now_ns + wait_ns);
    else
        decide_put(flight);
}

static void request_arrived(struct flight *flight)
{
    struct virtual_store *store = flight->client->owner;
    struct store_op *op = flight->op;
    apply(flight);
    if (op->verb == STORE_GET) {
        const struct latency *latency = &store->latency[STORE_GET];
        flight->latency_ns = latency_ns(latency, flight->factor, op->result.bytes);
        start_transfer(flight, op->result.bytes);
    }
    finish(flight, flight->sent_ns + flight->latency_ns);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void service_done(struct flow *flow)
{
    struct flight *flight = flow->user;
    struct virtual_store *store = flight->client->owner;
    int64_t now_ns = store->loop->now_ns;
    int64_t excess_ns = station_excess_ns(&store->station, &flight->visit);
    if (flight->phase == FLIGHT_SERVED) {
        flight->phase = FLIGHT_SENT;
        flight->sent_ns += excess_ns;
        set_timer(flight, later(now_ns, flight->sent_ns + flight->apply_ns));
        return;
    }
    assert(flight->phase == FLIGHT_FINISHING);
    flight->phase = FLIGHT_APPLIED;
    set_timer(flight, later(now_ns, flight->answer_ns + excess_ns));
}

static void fire(struct timer *timer, void *context)
{
    (void)timer;
    struct flight *flight = context;
    switch (flight->phase) {
    case FLIGHT_SENT:
        if (!object_request_is_put(flight->op->verb))
            request_arrived(flight);
        else if (transferred(flight))
            upload_arrived(flight);
        else
            flight->phase = FLIGHT_UPLOADING;
        break;
    case FLIGHT_WAITING:
        decide_put(flight);
        break;
    case FLIGHT_APPLIED:
        if (flight->op->verb != STORE_GET || transferred(flight))
            answer(flight);
        else
            flight->phase = FLIGHT_DOWNLOADING;
        break;
    case FLIGHT_SERVED:
    case FLIGHT_FINISHING:
    case FLIGHT_UPLOADING:
    case FLIGHT_DOWNLOADING:
        assert(flight->phase == FLIGHT_APPLIED); /* no timer is set while others are waited for */
        break;
    }
}

static void transfer_done(struct flow *flow)
{
    struct flight *flight = flow->user;
    assert(flight->transfers > 0);
    if (--flight->transfers > 0)
        return;
    if (flight->phase == FLIGHT_UPLOADING)
        upload_arrived(flight);
    else
        answer(flight);
}

/* ---- clients ---- */

static struct flight *flight_take(struct virtual_client *client)
{
    if (client->free == NULL) {
        struct flight_chunk *chunk = memory_make_aligned(CACHE_LINE, 1, sizeof(*chunk));
        chunk->next = client->chunks;
        client->chunks = chunk;
        for (size_t i = 0; i < FLIGHT_CHUNK; i++) {
            struct flight *flight = &chunk->items[i].flight;
            timer_init(&flight->timer, fire, flight);
            flight->client = client;
            flight->client_flow.user = flight;
            flight->store_flow.user = flight;
            flight->visit.flow.user = flight;
            flight->next_free = client->free;
            client->free = flight;
        }
    }
    struct flight *flight = client->free;
    client->free = flight->next_free;
    return flight;
}

/* Nanoseconds of one processor that the request takes. */
static double work_of(const struct virtual_store *store, const struct store_op *op)
{
    uint64_t bytes = object_request_is_put(op->verb) ? op->body.bytes : 0;
    if (store->station.options.cores <= 0.0)
        return 0.0;
    if (op->verb == STORE_GET) {
        const struct body *body = virtual_store_peek(store, op->key);
        bytes = body != NULL ? object_request_range_bytes(op, body->bytes) : 0;
    }
    return (double)station_work_ns(&store->station, op->verb, bytes);
}

static void client_submit(struct store *base, struct store_op *op)
{
    struct virtual_client *client = (struct virtual_client *)base;
    struct virtual_store *store = client->owner;
    assert(op->verb < STORE_VERB_COUNT);
    struct flight *flight = flight_take(client);
    const struct latency *latency = &store->latency[op->verb];
    uint64_t bytes = object_request_is_put(op->verb) ? op->body.bytes : 0;
    flight->op = op;
    flight->sent_ns = store->loop->now_ns;
    flight->factor = latency_factor(latency, &client->streams[op->verb]);
    flight->latency_ns = latency_ns(latency, flight->factor, bytes);
    double fraction = fraction_of(store, op->verb);
    flight->apply_ns = (int64_t)(fraction * (double)flight->latency_ns);
    if (op->verb == STORE_PUT_IF_ABSENT)
        create_queue_enter(&store->create_queue);
    start_transfer(flight, bytes);
    flight->work_ns = work_of(store, op);
    flight->hash = object_table_hash(op->key);
    object_table_prefetch_slot(&store->objects, flight->hash);
    flight->phase = FLIGHT_SERVED;
    if (station_enter(&store->station, &flight->visit, (int64_t)(fraction * flight->work_ns)))
        return;
    flight->phase = FLIGHT_SENT;
    set_timer(flight, flight->sent_ns + flight->apply_ns);
}

static void flight_drop(struct flight *flight)
{
    struct virtual_store *store = flight->client->owner;
    loop_timer_cancel(&store->loop->loop, &flight->timer);
    link_drop(&flight->client->link, &flight->client_flow);
    link_drop(&store->link, &flight->store_flow);
    station_drop(&store->station, &flight->visit);
    if (flight->op == NULL)
        return;
    if (flight->op->verb == STORE_PUT_IF_ABSENT)
        create_queue_leave(&store->create_queue);
    store_op_release(flight->op);
}

static void client_close(struct store *base)
{
    struct virtual_client *client = (struct virtual_client *)base;
    for (struct flight_chunk *chunk = client->chunks; chunk != NULL; chunk = chunk->next)
        for (size_t i = 0; i < FLIGHT_CHUNK; i++)
            flight_drop(&chunk->items[i].flight);
    while (client->chunks != NULL) {
        struct flight_chunk *chunk = client->chunks;
        client->chunks = chunk->next;
        free(chunk);
    }
    link_deinit(&client->link);
    client->owner->clients--;
    free(client);
}

static const struct store_ops client_ops = {.submit = client_submit, .close = client_close};

struct store *virtual_store_client(struct virtual_store *store, uint32_t actor)
{
    struct virtual_client *client = memory_make(1, sizeof(*client));
    client->store.ops = &client_ops;
    client->owner = store;
    client->actor = actor;
    for (uint64_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
        uint64_t stream = (uint64_t)actor * STORE_VERB_COUNT + verb;
        client->streams[verb] = random_stream_make(store->seed, stream);
    }
    client->queue_stream = random_stream_make(store->seed ^ QUEUE_DOMAIN, actor);
    struct link_options link = {.loop = &store->loop->loop,
                                .kind = store->link_kind,
                                .bytes_per_s = store->client_bytes_per_s,
                                .done = transfer_done};
    link_init(&client->link, &link);
    store->clients++;
    return &client->store;
}

/* ---- the store ---- */

static bool is_rate(double value)
{
    return value >= 0.0 && value <= 1.0e15;
}

const char *virtual_store_options_check(const struct virtual_store_options *options)
{
    if (!(options->apply_fraction >= 0.0 && options->apply_fraction <= 1.0))
        return "the apply fraction is not in 0..1";
    if (!(options->read_fraction >= 0.0 && options->read_fraction <= 1.0))
        return "the read fraction is not in 0..1";
    if (!is_rate(options->client_bytes_per_s) || !is_rate(options->store_bytes_per_s))
        return "a bandwidth is negative or above 1e15 bytes a second";
    if (!is_rate(options->puts_per_s) || !is_rate(options->gets_per_s))
        return "a request rate is negative or above 1e15 a second";
    const char *queue = create_queue_options_check(&options->create_queue);
    if (queue != NULL)
        return queue;
    const char *station = station_options_check(&options->station);
    if (station != NULL)
        return station;
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
        const char *text = latency_options_check(&options->latency[verb]);
        if (text != NULL)
            return text;
    }
    return NULL;
}

struct virtual_store *virtual_store_open(const struct virtual_store_options *options)
{
    assert(virtual_store_options_check(options) == NULL);
    struct virtual_store *store = memory_make(1, sizeof(*store));
    store->loop = options->loop;
    store->seed = random_mix(options->seed ^ STREAM_DOMAIN);
    store->apply_fraction = options->apply_fraction;
    store->read_fraction =
        options->read_fraction > 0.0 ? options->read_fraction : options->apply_fraction;
    store->client_bytes_per_s = options->client_bytes_per_s;
    store->link_kind = options->link_kind;
    store->create_queue.options = options->create_queue;
    store->observer = options->observer;
    struct link_options link = {.loop = &options->loop->loop,
                                .kind = options->link_kind,
                                .bytes_per_s = options->store_bytes_per_s,
                                .done = transfer_done};
    link_init(&store->link, &link);
    link.done = service_done;
    station_init(&store->station, &options->station, &link);
    token_bucket_init(&store->puts, options->puts_per_s);
    token_bucket_init(&store->gets, options->gets_per_s);
    object_table_init(&store->objects);
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++)
        latency_init(&store->latency[verb], &options->latency[verb]);
    return store;
}

void virtual_store_close(struct virtual_store *store)
{
    assert(store->clients == 0);
    link_deinit(&store->link);
    station_deinit(&store->station);
    object_table_deinit(&store->objects);
    free(store);
}

struct virtual_store_counters virtual_store_counters(const struct virtual_store *store)
{
    return store->counters;
}

uint32_t virtual_store_objects(const struct virtual_store *store)
{
    return store->objects.count;
}

struct object_stock virtual_store_stock(const struct virtual_store *store, const char *component)
{
    return object_table_stock(&store->objects, component);
}

void virtual_store_peek_many(const struct virtual_store *store,
                             const struct virtual_store_key *keys, size_t count,
                             const struct body **bodies)
{
    uint64_t hashes[VIRTUAL_STORE_PEEK_MAX];
    assert(count <= VIRTUAL_STORE_PEEK_MAX);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = object_table_hash(keys[i].text);
        object_table_prefetch_slot(&store->objects, hashes[i]);
    }
    for (size_t i = 0; i < count; i++)
        object_table_prefetch_object(&store->objects, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        const struct object *object = object_table_find(&store->objects, keys[i].text, hashes[i]);
        bodies[i] = object == NULL ? NULL : &object->body;
    }
}

const struct body *virtual_store_peek(const struct virtual_store *store, const char *key)
{
    const struct object *object = object_table_find(&store->objects, key, object_table_hash(key));
    return object == NULL ? NULL : &object->body;
}
