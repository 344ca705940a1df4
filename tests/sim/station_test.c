/* station_test.c - how requests that share processors hold each other up, beside hand calculations
 * and beside the closed form of a closed system. */
#include "sim/station.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/virtual_store.h"
#include "tests/harness.h"

#define CLIENTS_MAX 8

struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *clients[CLIENTS_MAX];
    struct store_op ops[CLIENTS_MAX];
    int64_t applied_ns;
    int64_t done_ns[CLIENTS_MAX];
    uint64_t done;
    bool again;
};

static void applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                    enum store_outcome outcome)
{
    (void)actor;
    (void)op;
    (void)outcome;
    ((struct bench *)context)->applied_ns = now_ns;
}

static void done(struct store_op *op, void *context)
{
    struct bench *bench = context;
    size_t client = (size_t)(op - bench->ops);
    bench->done_ns[client] = bench->loop.now_ns;
    bench->done++;
    store_op_release(op);
    if (bench->again)
        store_submit(bench->clients[client], op);
}

/* PUTs of 10 ms, decided in their middle, that take 4 ms of one processor, and 1 ns a byte. */
static struct virtual_store_options options_with(double cores)
{
    struct virtual_store_options options = {.seed = 1, .apply_fraction = 0.5};
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
        options.latency[verb].base_ns = 10 * NS_PER_MS;
        options.station.work[verb] = (struct station_work){4 * NS_PER_MS, 1.0};
    }
    options.station.cores = cores;
    return options;
}

static void bench_open(struct bench *bench, struct virtual_store_options options)
{
    *bench = (struct bench){0};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    options.loop = &bench->loop;
    options.observer = (struct virtual_store_observer){bench, applied};
    bench->store = virtual_store_open(&options);
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        struct store_op *op = &bench->ops[i];
        bench->clients[i] = virtual_store_client(bench->store, i);
        store_op_init(op);
        op->done = done;
        op->context = bench;
        op->verb = STORE_PUT;
        op->body = (struct body){.kind = BODY_LENGTH};
        op->list_keys_max = 1;
        snprintf(op->key, sizeof(op->key), "object");
    }
}

static void bench_close(struct bench *bench)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        store_close(bench->clients[i]);
        store_op_deinit(&bench->ops[i]);
    }
    virtual_store_close(bench->store);
    virtual_loop_deinit(&bench->loop);
}

/* When the last of so many requests, sent at once, was answered. */
static int64_t run_at_once(struct bench *bench, size_t clients)
{
    int64_t last_ns = 0;
    for (size_t i = 0; i < clients; i++)
        store_submit(bench->clients[i], &bench->ops[i]);
    loop_run(&bench->loop.loop, TIME_NEVER);
    for (size_t i = 0; i < clients; i++)
        last_ns = bench->done_ns[i] > last_ns ? bench->done_ns[i] : last_ns;
    return last_ns;
}

static void as_many_as_cores_are_as_if_alone(void)
{
    for (size_t clients = 1; clients <= 2; clients++) {
        struct bench bench;
        bench_open(&bench, options_with(2));
        CU_ASSERT_EQUAL(run_at_once(&bench, clients), 10 * NS_PER_MS);
        CU_ASSERT_EQUAL(bench.applied_ns, 5 * NS_PER_MS);
        bench_close(&bench);
    }
}

static void more_hold_each_other_up(void)
{
    /* 8 x 2 ms before the decision on 2 processors: 8 ms instead of 2, and the same after it. */
    struct bench bench;
    bench_open(&bench, options_with(2));
    CU_ASSERT_EQUAL(run_at_once(&bench, 8), (10 + 6 + 6) * NS_PER_MS);
    CU_ASSERT_EQUAL(bench.applied_ns, (5 + 6) * NS_PER_MS);
    bench_close(&bench);
}

static void bytes_are_work_of_puts_and_gets(void)
{
    const enum store_verb verbs[] = {STORE_PUT, STORE_GET, STORE_LIST};
    const int64_t expected_ms[] = {24, 24, 10}; /* 2 clients on 1 processor: + work of one */
    for (size_t k = 0; k < HARNESS_COUNT(verbs); k++) {
        struct bench bench;
        struct virtual_store_options options = options_with(1);
        for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++)
            options.station.work[verb].base_ns = 0;
        options.latency[verbs[k]].base_ns = 20 * NS_PER_MS;
        bench_open(&bench, options);
        bench.ops[7].body.bytes = 4 * NS_PER_MS;
        store_submit(bench.clients[7], &bench.ops[7]);
        loop_run(&bench.loop.loop, TIME_NEVER);
        int64_t start_ns = bench.loop.now_ns;
        for (size_t i = 0; i < 2; i++) {
            bench.ops[i].verb = verbs[k];
            bench.ops[i].body.bytes = verbs[k] == STORE_PUT ? 4 * NS_PER_MS : 0;
        }
        int64_t base_ms = verbs[k] == STORE_LIST ? 10 : 0;
        CU_ASSERT_EQUAL(run_at_once(&bench, 2) - start_ns, (expected_ms[k] + base_ms) * NS_PER_MS);
        bench_close(&bench);
    }
}

static void throughput_ends_at_the_processors(void)
{
    /* A closed system: N / latency at first, cores / work in the end. The factors' mean is 1.13. */
    const size_t clients[] = {1, 2, 8};
    const double expected_per_s[] = {88.2, 176.5, 500};
    for (size_t k = 0; k < HARNESS_COUNT(clients); k++) {
        struct bench bench;
        struct virtual_store_options options = options_with(2);
        options.latency[STORE_PUT].shape = LATENCY_LOGNORMAL;
        options.latency[STORE_PUT].sigma = 0.5;
        bench_open(&bench, options);
        bench.again = true;
        for (size_t i = 0; i < clients[k]; i++)
            store_submit(bench.clients[i], &bench.ops[i]);
        loop_run(&bench.loop.loop, 20 * NS_PER_S);
        double per_s = (double)bench.done / 20.0;
        CU_ASSERT_TRUE(fabs(per_s / expected_per_s[k] - 1.0) < 0.05);
        bench_close(&bench);
    }
}

static void closing_leaves_the_station(void)
{
    struct bench bench;
    bench_open(&bench, options_with(1));
    for (size_t i = 0; i < 4; i++)
        store_submit(bench.clients[i], &bench.ops[i]);
    loop_run(&bench.loop.loop, 1 * NS_PER_MS);
    for (size_t i = 0; i < 3; i++) {
        store_close(bench.clients[i]);
        bench.clients[i] = virtual_store_client(bench.store, (uint32_t)(10 + i));
    }
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.done, 1);
    /* A quarter of 1 ms was served while four were there. */
    CU_ASSERT_TRUE(llabs(bench.done_ns[3] - (10 * NS_PER_MS + NS_PER_MS * 3 / 4)) <= 4);
    bench_close(&bench);
}

static void nonsense_is_refused(void)
{
    struct station_options options = {.cores = 0.5};
    CU_ASSERT_PTR_NOT_NULL(station_options_check(&options));
    options.cores = NAN;
    CU_ASSERT_PTR_NOT_NULL(station_options_check(&options));
    options.cores = 2;
    CU_ASSERT_PTR_NULL(station_options_check(&options));
    options.work[STORE_LIST].base_ns = -1;
    CU_ASSERT_PTR_NOT_NULL(station_options_check(&options));
    options.work[STORE_LIST] = (struct station_work){0, -1.0};
    CU_ASSERT_PTR_NOT_NULL(station_options_check(&options));
}

const struct harness_test station_tests[] = {
    HARNESS_TEST(as_many_as_cores_are_as_if_alone),
    HARNESS_TEST(more_hold_each_other_up),
    HARNESS_TEST(bytes_are_work_of_puts_and_gets),
    HARNESS_TEST(throughput_ends_at_the_processors),
    HARNESS_TEST(closing_leaves_the_station),
    HARNESS_TEST(nonsense_is_refused),
    {0},
};
