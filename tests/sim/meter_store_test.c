/* meter_store_test.c - what is counted is what went through, and nothing is changed by it. */
#include "core/meter_store.h"

#include <stdio.h>
#include <string.h>

#include "sim/virtual_store.h"
#include "tests/battery/store_battery.h"
#include "tests/harness.h"

#define LATENCY_NS (10 * NS_PER_MS)
#define OPS 3

struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *client;
    struct store *meter;
    struct store_op ops[OPS];
    struct meter_answer latest;
    uint32_t told;
    uint32_t done;
};

static void answered(void *context, const struct meter_answer *answer)
{
    struct bench *bench = context;
    CU_ASSERT_EQUAL(bench->told, bench->done); /* before the sender */
    bench->latest = *answer;
    bench->told++;
}

static void done(struct store_op *op, void *context)
{
    (void)op;
    struct bench *bench = context;
    bench->done++;
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    struct virtual_store_options store = {.loop = &bench->loop, .apply_fraction = 0.5};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        store.latency[i] =
            (struct latency_options){.shape = LATENCY_CONSTANT, .base_ns = LATENCY_NS};
    bench->store = virtual_store_open(&store);
    bench->client = virtual_store_client(bench->store, 0);
    struct meter_store_options options = {
        .inner = bench->client, .loop = &bench->loop.loop, .answered = answered, .context = bench};
    bench->meter = meter_store_open(&options);
    for (size_t i = 0; i < OPS; i++) {
        store_op_init(&bench->ops[i]);
        bench->ops[i].done = done;
        bench->ops[i].context = bench;
    }
}

static void bench_close(struct bench *bench)
{
    store_close(bench->client);
    store_close(bench->meter);
    virtual_store_close(bench->store);
    for (size_t i = 0; i < OPS; i++)
        store_op_deinit(&bench->ops[i]);
    virtual_loop_deinit(&bench->loop);
}

static void submit(struct bench *bench, size_t index, enum store_verb verb, const char *key)
{
    struct store_op *op = &bench->ops[index];
    store_op_release(op);
    op->verb = verb;
    op->body = (struct body){.kind = BODY_LENGTH, .bytes = 7};
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    snprintf(op->key, sizeof(op->key), "%s", key);
    store_submit(bench->meter, op);
}

static void perform(struct bench *bench, enum store_verb verb, const char *key)
{
    submit(bench, 0, verb, key);
    loop_run(&bench->loop.loop, TIME_NEVER);
}

static void every_store_s_battery_passes(void)
{
    struct bench bench;
    bench_open(&bench);
    struct meter_store_options options = {.inner = bench.client, .loop = &bench.loop.loop};
    store_close(bench.meter);
    bench.meter = meter_store_open(&options); /* nobody is told */
    struct store_battery battery = {.store = bench.meter, .loop = &bench.loop.loop};
    store_battery_run(&battery);
    struct meter_counters counters = meter_store_counters(bench.meter);
    struct virtual_store_counters stored = virtual_store_counters(bench.store);
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        CU_ASSERT_EQUAL(counters.submitted[verb], stored.requests[verb]);
        uint64_t answers = 0;
        for (int outcome = 0; outcome < STORE_OUTCOME_COUNT; outcome++)
            answers += counters.answered[verb][outcome];
        CU_ASSERT_EQUAL(answers, stored.requests[verb]);
    }
    CU_ASSERT_EQUAL(counters.bytes[STORE_GET], stored.bytes[STORE_GET]);
    CU_ASSERT_EQUAL(counters.in_flight, 0);
    CU_ASSERT(counters.in_flight_max >= 48);
    bench_close(&bench);
}

static void outcomes_bytes_and_times_are_counted_by_verb(void)
{
    struct bench bench;
    bench_open(&bench);
    perform(&bench, STORE_PUT_IF_ABSENT, "a");
    CU_ASSERT_EQUAL(bench.latest.verb, STORE_PUT_IF_ABSENT);
    CU_ASSERT_EQUAL(bench.latest.outcome, STORE_OK);
    CU_ASSERT_EQUAL(bench.latest.bytes, 7);
    CU_ASSERT_EQUAL(bench.latest.latency_ns, LATENCY_NS);
    perform(&bench, STORE_PUT_IF_ABSENT, "a");
    CU_ASSERT_EQUAL(bench.latest.outcome, STORE_EXISTS);
    perform(&bench, STORE_GET, "a");
    CU_ASSERT_EQUAL(bench.ops[0].result.bytes, 7);
    perform(&bench, STORE_GET, "b");
    perform(&bench, STORE_LIST, "");
    CU_ASSERT_EQUAL(bench.ops[0].page.count, 1);
    CU_ASSERT_EQUAL(bench.latest.bytes, 0);
    perform(&bench, STORE_DELETE, "a");
    CU_ASSERT_EQUAL(bench.told, 6);
    struct meter_counters counters = meter_store_counters(bench.meter);
    CU_ASSERT_EQUAL(counters.submitted[STORE_PUT_IF_ABSENT], 2);
    CU_ASSERT_EQUAL(counters.answered[STORE_PUT_IF_ABSENT][STORE_OK], 1);
    CU_ASSERT_EQUAL(counters.answered[STORE_PUT_IF_ABSENT][STORE_EXISTS], 1);
    CU_ASSERT_EQUAL(counters.answered[STORE_GET][STORE_NOT_FOUND], 1);
    CU_ASSERT_EQUAL(counters.bytes[STORE_PUT_IF_ABSENT], 14);
    CU_ASSERT_EQUAL(counters.bytes[STORE_GET], 7);
    CU_ASSERT_EQUAL(counters.submitted[STORE_DELETE], 1);
    CU_ASSERT_EQUAL(counters.in_flight_max, 1);
    bench_close(&bench);
}

static void those_in_flight_are_counted_and_the_most_is_kept(void)
{
    struct bench bench;
    bench_open(&bench);
    for (size_t i = 0; i < OPS; i++)
        submit(&bench, i, STORE_PUT, "a");
    CU_ASSERT_EQUAL(bench.done, 0); /* never from inside submit */
    CU_ASSERT_EQUAL(meter_store_counters(bench.meter).in_flight, OPS);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(meter_store_counters(bench.meter).in_flight, 0);
    CU_ASSERT_EQUAL(meter_store_counters(bench.meter).in_flight_max, OPS);
    perform(&bench, STORE_PUT, "a");
    CU_ASSERT_EQUAL(meter_store_counters(bench.meter).in_flight_max, OPS);
    bench_close(&bench);
}

static void closing_after_the_inner_store_drops_what_is_in_flight(void)
{
    struct bench bench;
    bench_open(&bench);
    submit(&bench, 0, STORE_PUT, "a");
    submit(&bench, 1, STORE_LIST, "");
    bench_close(&bench);
    CU_ASSERT_EQUAL(bench.done, 0);
}

const struct harness_test meter_store_tests[] = {
    HARNESS_TEST(every_store_s_battery_passes),
    HARNESS_TEST(outcomes_bytes_and_times_are_counted_by_verb),
    HARNESS_TEST(those_in_flight_are_counted_and_the_most_is_kept),
    HARNESS_TEST(closing_after_the_inner_store_drops_what_is_in_flight),
    {0},
};
