/* contention.c - a closed loop of conditional updates. The loop is the measurement's, as far as it
 * is public; how a version's name stands for a condition is ours. */
#include "sim/contention.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/memory.h"

#define SAMPLES_FIRST 1024
/* Keeps the clients' first moments apart from the store's streams of the same seed. */
#define START_DOMAIN UINT64_C(0x434f4e54)

struct samples {
    int64_t *values;
    size_t count;
    size_t capacity;
};

struct contender {
    struct contention *contention;
    struct store *store;
    struct store_op op;
    struct timer start;
    uint64_t version; /* the newest that it knows */
    int64_t wanted_ns;
    int64_t requested_ns;
};

struct contention {
    struct virtual_loop loop;
    struct contention_options options;
    struct virtual_store *store;
    struct contender *contenders;
    uint64_t newest; /* version that was applied last */
    uint64_t failures;
    struct samples updates;
    struct samples requests;
};

static void samples_add(struct samples *samples, int64_t value)
{
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity > 0 ? 2 * samples->capacity : SAMPLES_FIRST;
        int64_t *values = memory_make(capacity, sizeof(*values));
        for (size_t i = 0; i < samples->count; i++)
            values[i] = samples->values[i];
        free(samples->values);
        samples->values = values;
        samples->capacity = capacity;
    }
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Sorts the samples. */
static struct contention_latency latency_of(struct samples *samples)
{
    if (samples->count == 0)
        return (struct contention_latency){0, 0};
    qsort(samples->values, samples->count, sizeof(*samples->values), compare);
    return (struct contention_latency){
        .median_ns = samples->values[samples->count / 2],
        .p99_ns = samples->values[samples->count - 1 - samples->count / 100],
    };
}

static void send(struct contender *contender, enum store_verb verb, uint64_t version)
{
    struct store_op *op = &contender->op;
    store_op_release(op);
    op->verb = verb;
    op->body.kind = verb == STORE_GET ? BODY_NONE : BODY_LENGTH;
    snprintf(op->key, sizeof op->key, "key/%020" PRIu64, version);
    contender->requested_ns = contender->contention->loop.now_ns;
    store_submit(contender->store, op);
}

static void want(struct contender *contender)
{
    contender->wanted_ns = contender->contention->loop.now_ns;
    send(contender, STORE_PUT_IF_ABSENT, contender->version + 1);
}

static bool is_counted(const struct contention *contention)
{
    return contention->loop.now_ns >= contention->options.warmup_ns;
}

static void succeed(struct contender *contender)
{
    struct contention *contention = contender->contention;
    int64_t now_ns = contention->loop.now_ns;
    if (is_counted(contention)) {
        samples_add(&contention->updates, now_ns - contender->wanted_ns);
        samples_add(&contention->requests, now_ns - contender->requested_ns);
    }
    contender->version++;
    want(contender);
}

static void fail(struct contender *contender)
{
    struct contention *contention = contender->contention;
    contention->failures += is_counted(contention) ? 1 : 0;
    contender->wanted_ns = contention->loop.now_ns;
    send(contender, STORE_GET, contender->version);
}

static void answered(struct store_op *op, void *context)
{
    struct contender *contender = context;
    if (op->verb == STORE_GET)
        send(contender, STORE_PUT_IF_ABSENT, contender->version + 1);
    else if (op->outcome == STORE_OK)
        succeed(contender);
    else
        fail(contender);
}

/* The instant at which a request takes effect: what a read yields is known here. */
static void applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                    enum store_outcome outcome)
{
    struct contention *contention = context;
    struct contender *contender = &contention->contenders[actor];
    (void)now_ns;
    if (op->verb == STORE_GET)
        contender->version = contention->newest;
    else if (outcome == STORE_OK)
        contention->newest = contender->version + 1;
}

static void start(struct timer *timer, void *context)
{
    (void)timer;
    want(context);
}

const char *contention_options_check(const struct contention_options *options)
{
    if (options->clients < 1 || options->clients > CONTENTION_CLIENTS_MAX)
        return "the number of clients is not in 1..1024";
    if (options->warmup_ns < 0 || options->duration_ns <= 0)
        return "the warm-up is negative, or the duration is not positive";
    if (options->store.puts_per_s > 0 || options->store.gets_per_s > 0)
        return "request limits are not modelled under contention: throttled is not failed";
    return virtual_store_options_check(&options->store);
}

static void open_all(struct contention *contention)
{
    struct virtual_store_options store = contention->options.store;
    struct random_stream starts =
        random_stream_make(contention->options.seed ^ START_DOMAIN, contention->options.clients);
    store.loop = &contention->loop;
    store.seed = contention->options.seed;
    store.observer = (struct virtual_store_observer){contention, applied};
    contention->store = virtual_store_open(&store);
    contention->contenders =
        memory_make(contention->options.clients, sizeof(*contention->contenders));
    for (uint32_t i = 0; i < contention->options.clients; i++) {
        struct contender *contender = &contention->contenders[i];
        contender->contention = contention;
        contender->store = virtual_store_client(contention->store, i);
        store_op_init(&contender->op);
        contender->op.done = answered;
        contender->op.context = contender;
        timer_init(&contender->start, start, contender);
        /* All within 100 ms, in no order: the warm-up forgets it. */
        double first_ns = random_unit(&starts) * (double)(100 * NS_PER_MS);
        loop_timer_set(&contention->loop.loop, &contender->start, (int64_t)first_ns);
    }
}

static void close_all(struct contention *contention)
{
    for (uint32_t i = 0; i < contention->options.clients; i++) {
        store_close(contention->contenders[i].store);
        store_op_deinit(&contention->contenders[i].op);
    }
    free(contention->contenders);
    virtual_store_close(contention->store);
    virtual_loop_deinit(&contention->loop);
    free(contention->updates.values);
    free(contention->requests.values);
}

void contention_run(const struct contention_options *options, struct contention_result *result)
{
    assert(contention_options_check(options) == NULL);
    struct contention contention = {.options = *options};
    virtual_loop_init(&contention.loop, EVENT_QUEUE_HEAP);
    open_all(&contention);
    loop_run(&contention.loop.loop, options->warmup_ns + options->duration_ns);
    uint64_t successes = contention.updates.count;
    uint64_t decided = successes + contention.failures;
    *result = (struct contention_result){
        .successes = successes,
        .failures = contention.failures,
        .successes_per_s = (double)successes / ((double)options->duration_ns / NS_PER_S),
        .failed_share = decided > 0 ? (double)contention.failures / (double)decided : 0.0,
        .update = latency_of(&contention.updates),
        .request = latency_of(&contention.requests),
        .digest = contention.loop.digest,
    };
    close_all(&contention);
}
