/* shape_store_test.c - the times of a profile over a store that has times of its own. */
#include "core/shape_store.h"

#include <stdio.h>
#include <string.h>

#include "sim/virtual_store.h"
#include "tests/battery/store_battery.h"
#include "tests/harness.h"

#define INNER_NS NS_PER_MS        /* applied at once, answered then */
#define SHAPE_NS (10 * NS_PER_MS) /* and 1 us a byte */
#define BYTES 1000
#define OPS 2

struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *client;
    struct store *shape;
    struct store_op ops[OPS];
    int64_t inner_ns;
    int64_t applied_ns; /* the latest */
    uint32_t applied;
    int64_t answered_ns;
    uint32_t done;
    double least_unit; /* drawn */
    double largest_unit;
};

static int64_t constant_ns(void *context, enum store_verb verb, double unit, uint64_t bytes)
{
    struct bench *bench = context;
    (void)verb;
    bench->least_unit = unit < bench->least_unit ? unit : bench->least_unit;
    bench->largest_unit = unit > bench->largest_unit ? unit : bench->largest_unit;
    return SHAPE_NS + (int64_t)bytes * NS_PER_US;
}

static void applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                    enum store_outcome outcome)
{
    struct bench *bench = context;
    (void)actor;
    (void)op;
    (void)outcome;
    bench->applied_ns = now_ns;
    bench->applied++;
}

static void done(struct store_op *op, void *context)
{
    struct bench *bench = context;
    (void)op;
    bench->done++;
    bench->answered_ns = bench->loop.now_ns;
}

static void bench_open(struct bench *bench, int64_t inner_ns)
{
    *bench = (struct bench){.inner_ns = inner_ns, .least_unit = 1};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    struct virtual_store_options store = {.loop = &bench->loop,
                                          .observer = {.context = bench, .applied = applied}};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        store.latency[i] = (struct latency_options){.shape = LATENCY_CONSTANT, .base_ns = inner_ns};
    bench->store = virtual_store_open(&store);
    bench->client = virtual_store_client(bench->store, 0);
    struct shape_store_options options = {.inner = bench->client,
                                          .loop = &bench->loop.loop,
                                          .latency_ns = constant_ns,
                                          .context = bench,
                                          .apply_fraction = 0.8,
                                          .read_fraction = 0.4,
                                          .random = random_stream_make(1, 2)};
    bench->shape = shape_store_open(&options);
    for (size_t i = 0; i < OPS; i++) {
        store_op_init(&bench->ops[i]);
        bench->ops[i].done = done;
        bench->ops[i].context = bench;
    }
}

static void bench_close(struct bench *bench)
{
    store_close(bench->client);
    store_close(bench->shape);
    virtual_store_close(bench->store);
    for (size_t i = 0; i < OPS; i++)
        store_op_deinit(&bench->ops[i]);
    virtual_loop_deinit(&bench->loop);
}

static void submit(struct bench *bench, size_t index, enum store_verb verb, uint64_t bytes)
{
    struct store_op *op = &bench->ops[index];
    store_op_release(op);
    op->verb = verb;
    op->body = (struct body){.kind = BODY_LENGTH, .bytes = bytes};
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    snprintf(op->key, sizeof(op->key), "a/b");
    store_submit(bench->shape, op);
}

static void every_store_s_battery_passes(void)
{
    struct bench bench;
    bench_open(&bench, INNER_NS);
    struct store_battery battery = {.store = bench.shape, .loop = &bench.loop.loop};
    store_battery_run(&battery);
    CU_ASSERT(bench.applied > 1000);
    CU_ASSERT(bench.least_unit >= 0 && bench.least_unit < 0.01);
    CU_ASSERT(bench.largest_unit < 1 && bench.largest_unit > 0.99);
    bench_close(&bench);
}

static void effects_and_answers_come_at_the_profile_s_times(void)
{
    static const int64_t body_ns = BYTES * NS_PER_US;
    static const struct {
        enum store_verb verb;
        int64_t applied_ns;
        int64_t answered_ns;
    } rows[] = {
        {STORE_PUT, (SHAPE_NS + body_ns) * 8 / 10, SHAPE_NS + body_ns},
        {STORE_PUT_IF_ABSENT, (SHAPE_NS + body_ns) * 8 / 10, SHAPE_NS + body_ns},
        {STORE_GET, SHAPE_NS * 4 / 10, SHAPE_NS + body_ns},
        {STORE_LIST, SHAPE_NS * 4 / 10, SHAPE_NS},
        {STORE_DELETE, SHAPE_NS * 8 / 10, SHAPE_NS},
    };
    struct bench bench;
    bench_open(&bench, INNER_NS);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        int64_t sent_ns = bench.loop.now_ns;
        submit(&bench, 0, rows[i].verb, BYTES);
        CU_ASSERT_EQUAL(bench.done, i);
        loop_run(&bench.loop.loop, TIME_NEVER);
        CU_ASSERT_EQUAL(bench.done, i + 1);
        CU_ASSERT_EQUAL(bench.applied_ns - sent_ns, rows[i].applied_ns);
        CU_ASSERT_EQUAL(bench.answered_ns - sent_ns, rows[i].answered_ns);
    }
    bench_close(&bench);
}

static void a_slower_inner_store_is_waited_for(void)
{
    struct bench bench;
    bench_open(&bench, 50 * NS_PER_MS);
    submit(&bench, 0, STORE_PUT, 0);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.applied_ns, SHAPE_NS * 8 / 10);
    CU_ASSERT_EQUAL(bench.answered_ns, SHAPE_NS * 8 / 10 + 50 * NS_PER_MS);
    bench_close(&bench);
}

static void a_short_create_overtakes_a_long_one_and_wins(void)
{
    struct bench bench;
    bench_open(&bench, INNER_NS);
    submit(&bench, 0, STORE_PUT_IF_ABSENT, BYTES);
    submit(&bench, 1, STORE_PUT_IF_ABSENT, 0);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.ops[0].outcome, STORE_EXISTS);
    CU_ASSERT_EQUAL(bench.ops[1].outcome, STORE_OK);
    bench_close(&bench);
}

static void closing_drops_what_is_held(void)
{
    struct bench bench;
    bench_open(&bench, INNER_NS);
    submit(&bench, 0, STORE_PUT, 10 * BYTES); /* held before it is sent */
    submit(&bench, 1, STORE_DELETE, 0);       /* applied, its answer held */
    loop_run(&bench.loop.loop, SHAPE_NS * 8 / 10 + 2 * INNER_NS - 1);
    CU_ASSERT_EQUAL(bench.applied, 1);
    CU_ASSERT_EQUAL(bench.done, 0);
    CU_ASSERT_PTR_NULL(virtual_store_peek(bench.store, "a/b"));
    bench_close(&bench);
    CU_ASSERT_EQUAL(bench.done, 0);
    CU_ASSERT_EQUAL(bench.applied, 1);
}

const struct harness_test shape_store_tests[] = {
    HARNESS_TEST(every_store_s_battery_passes),
    HARNESS_TEST(effects_and_answers_come_at_the_profile_s_times),
    HARNESS_TEST(a_slower_inner_store_is_waited_for),
    HARNESS_TEST(a_short_create_overtakes_a_long_one_and_wins),
    HARNESS_TEST(closing_drops_what_is_held),
    {0},
};
