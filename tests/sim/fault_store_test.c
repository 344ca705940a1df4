/* fault_store_test.c - each fault does what it says, and nothing is made up. */
#include "core/fault_store.h"

#include <stdio.h>
#include <string.h>

#include "sim/virtual_store.h"
#include "tests/battery/store_battery.h"
#include "tests/harness.h"

#define LATENCY_NS (10 * NS_PER_MS)
#define TIMEOUT_NS (100 * NS_PER_MS)
#define LATE_NS (500 * NS_PER_MS)

struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *client;
    struct store *faults;
    struct fault_plan plan;
    struct fault_shot shot;
    struct store_op op;
    uint32_t answers;
    int64_t answered_ns;
};

static void done(struct store_op *op, void *context)
{
    (void)op;
    struct bench *bench = context;
    bench->answers++;
    bench->answered_ns = bench->loop.now_ns;
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.plan = {.timeout_ns = TIMEOUT_NS,
                                     .delay_ns = 50 * NS_PER_MS,
                                     .late_min_ns = LATE_NS,
                                     .late_max_ns = LATE_NS}};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    struct virtual_store_options store = {.loop = &bench->loop, .apply_fraction = 0.5};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        store.latency[i] =
            (struct latency_options){.shape = LATENCY_CONSTANT, .base_ns = LATENCY_NS};
    bench->store = virtual_store_open(&store);
    bench->client = virtual_store_client(bench->store, 0);
    struct fault_store_options options = {.inner = bench->client,
                                          .loop = &bench->loop.loop,
                                          .plan = &bench->plan,
                                          .shot = &bench->shot,
                                          .random = random_stream_make(1, 2),
                                          .damage_prefix = "tgb/"};
    bench->faults = fault_store_open(&options);
    store_op_init(&bench->op);
    bench->op.done = done;
    bench->op.context = bench;
}

static void bench_close(struct bench *bench)
{
    store_close(bench->client);
    store_close(bench->faults);
    virtual_store_close(bench->store);
    store_op_deinit(&bench->op);
    virtual_loop_deinit(&bench->loop);
}

static void submit(struct bench *bench, enum store_verb verb, const char *key)
{
    store_op_release(&bench->op);
    bench->answers = 0;
    bench->op.verb = verb;
    bench->op.body = (struct body){.kind = BODY_LENGTH, .bytes = 7};
    bench->op.list_keys_max = STORE_LIST_KEYS_MAX;
    snprintf(bench->op.key, sizeof(bench->op.key), "%s", key);
    store_submit(bench->faults, &bench->op);
}

/* Hits the next operation, and runs until nothing is left. */
static enum store_outcome shoot(struct bench *bench, enum fault_kind kind, enum store_verb verb,
                                const char *key)
{
    bench->shot = (struct fault_shot){.kind = kind, .operation = 1};
    submit(bench, verb, key);
    loop_run(&bench->loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench->answers, 1);
    CU_ASSERT_EQUAL(bench->shot.seen, 1);
    return bench->op.outcome;
}

static bool stored(const struct bench *bench, const char *key)
{
    return virtual_store_peek(bench->store, key) != NULL;
}

static void every_store_s_battery_passes(void)
{
    struct bench bench;
    bench_open(&bench);
    struct store_battery battery = {.store = bench.faults, .loop = &bench.loop.loop};
    store_battery_run(&battery);
    CU_ASSERT(fault_store_counters(bench.faults).submitted > 0);
    bench_close(&bench);
}

static void a_fault_is_applied_and_answered_as_it_says(void)
{
    static const struct {
        enum fault_kind kind;
        enum store_outcome outcome;
        bool applied;
        int64_t after_ns;
    } rows[] = {
        {FAULT_LOST_REQUEST, STORE_UNKNOWN, false, TIMEOUT_NS},
        {FAULT_LOST_ANSWER, STORE_UNKNOWN, true, TIMEOUT_NS},
        {FAULT_LATE, STORE_UNKNOWN, true, TIMEOUT_NS},
        {FAULT_REORDER, STORE_OK, true, 50 * NS_PER_MS + LATENCY_NS},
        {FAULT_BUSY, STORE_BUSY, false, 1},
        {FAULT_ERROR, STORE_UNKNOWN, false, 1},
        {FAULT_ERROR_APPLIED, STORE_UNKNOWN, true, LATENCY_NS},
        {FAULT_THROTTLED, STORE_THROTTLED, false, 1},
        {FAULT_THROTTLED_APPLIED, STORE_THROTTLED, true, LATENCY_NS},
        {FAULT_REFUSED, STORE_FAILED, false, 1},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        CU_ASSERT_EQUAL(shoot(&bench, rows[i].kind, STORE_PUT_IF_ABSENT, "a/b"), rows[i].outcome);
        CU_ASSERT_EQUAL(stored(&bench, "a/b"), rows[i].applied);
        CU_ASSERT_EQUAL(bench.answered_ns, rows[i].after_ns);
        CU_ASSERT_EQUAL(fault_store_counters(bench.faults).hit[rows[i].kind], 1);
        bench_close(&bench);
    }
}

static void a_late_create_lands_after_another_and_changes_nothing(void)
{
    struct bench bench;
    bench_open(&bench);
    bench.shot = (struct fault_shot){.kind = FAULT_LATE, .operation = 1};
    submit(&bench, STORE_PUT_IF_ABSENT, "a/b");
    loop_run(&bench.loop.loop, TIMEOUT_NS);
    CU_ASSERT_EQUAL(bench.op.outcome, STORE_UNKNOWN);
    CU_ASSERT_FALSE(stored(&bench, "a/b"));
    submit(&bench, STORE_PUT_IF_ABSENT, "a/b");
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.op.outcome, STORE_OK);
    CU_ASSERT_EQUAL(fault_store_counters(bench.faults).landed, 1);
    CU_ASSERT_EQUAL(bench.loop.now_ns, LATE_NS + LATENCY_NS);
    bench_close(&bench);
}

static void what_a_dead_sender_sent_still_lands(void)
{
    struct bench bench;
    bench_open(&bench);
    submit(&bench, STORE_PUT, "a/b");
    fault_store_cut(bench.faults);
    store_op_deinit(&bench.op);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.answers, 0);
    CU_ASSERT_TRUE(stored(&bench, "a/b"));
    bench_close(&bench);
}

static void a_kind_hits_only_its_verbs(void)
{
    struct bench bench;
    bench_open(&bench);
    bench.shot = (struct fault_shot){.kind = FAULT_BUSY, .operation = 1};
    submit(&bench, STORE_PUT, "a/b");
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.op.outcome, STORE_OK);
    CU_ASSERT_EQUAL(bench.shot.seen, 0);
    CU_ASSERT_FALSE(fault_kind_hits(FAULT_LATE, STORE_GET));
    CU_ASSERT_TRUE(fault_kind_hits(FAULT_LOST_ANSWER, STORE_LIST));
    bench_close(&bench);
}

static enum store_outcome ask(struct bench *bench, enum store_verb verb, const char *key)
{
    submit(bench, verb, key);
    loop_run(&bench->loop.loop, TIME_NEVER);
    return bench->op.outcome;
}

static void a_refusal_lasts_and_hits_only_what_it_names(void)
{
    struct bench bench;
    bench_open(&bench);
    CU_ASSERT_EQUAL(ask(&bench, STORE_PUT_IF_ABSENT, "a/b"), STORE_OK);
    struct fault_refusal refusal = {.verbs = 1u << STORE_PUT_IF_ABSENT | 1u << STORE_LIST,
                                    .prefix = "a/"};
    fault_store_refuse(bench.faults, &refusal);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(ask(&bench, STORE_PUT_IF_ABSENT, "a/c"), STORE_FAILED);
        CU_ASSERT_STRING_EQUAL(bench.op.error, "put_if_absent a/c: fault refused");
        CU_ASSERT_EQUAL(ask(&bench, STORE_LIST, "a/"), STORE_FAILED);
    }
    CU_ASSERT_FALSE(stored(&bench, "a/c"));
    CU_ASSERT_EQUAL(ask(&bench, STORE_GET, "a/b"), STORE_OK);
    CU_ASSERT_EQUAL(ask(&bench, STORE_PUT, "a/d"), STORE_OK);
    CU_ASSERT_EQUAL(ask(&bench, STORE_PUT_IF_ABSENT, "b/c"), STORE_OK);
    CU_ASSERT_EQUAL(fault_store_counters(bench.faults).hit[FAULT_REFUSED], 6);
    refusal.verbs = 0;
    fault_store_refuse(bench.faults, &refusal);
    CU_ASSERT_EQUAL(ask(&bench, STORE_PUT_IF_ABSENT, "a/c"), STORE_OK);
    bench_close(&bench);
}

/* As by a client that sends a write again whose answer was lost. */
static void what_may_be_sent_twice_is_refused_before_or_after_it_was_applied(void)
{
    struct bench bench;
    bench_open(&bench);
    struct fault_refusal refusal = {.verbs = 1u << STORE_PUT | 1u << STORE_PUT_IF_ABSENT,
                                    .prefix = ""};
    fault_store_refuse(bench.faults, &refusal);
    uint32_t applied = 0;
    for (char key[] = "a/a"; key[2] <= 'z'; key[2]++) {
        CU_ASSERT_EQUAL(ask(&bench, STORE_PUT_IF_ABSENT, key), STORE_FAILED);
        CU_ASSERT_FALSE(stored(&bench, key));
        CU_ASSERT_EQUAL(ask(&bench, STORE_PUT, key), STORE_FAILED);
        applied += stored(&bench, key);
    }
    CU_ASSERT(applied > 5 && applied < 21);
    CU_ASSERT_EQUAL(fault_store_counters(bench.faults).hit[FAULT_REFUSED_APPLIED], applied);
    bench_close(&bench);
}

static void a_short_page_says_that_more_follows(void)
{
    struct bench bench;
    bench_open(&bench);
    for (char key[] = "a/0"; key[2] < '8'; key[2]++) {
        submit(&bench, STORE_PUT, key);
        loop_run(&bench.loop.loop, TIME_NEVER);
    }
    CU_ASSERT_EQUAL(shoot(&bench, FAULT_SHORT_PAGE, STORE_LIST, "a/"), STORE_OK);
    CU_ASSERT(bench.op.page.count >= 1 && bench.op.page.count < 8);
    CU_ASSERT_TRUE(bench.op.page.truncated);
    bench_close(&bench);
}

static void storms_and_probabilities_hit_their_share(void)
{
    struct bench bench;
    bench_open(&bench);
    bench.plan.probability[STORE_PUT][FAULT_ERROR] = 0.2;
    bench.plan.storms[0] = (struct fault_storm){.kind = FAULT_THROTTLED,
                                                .probability = 1.0,
                                                .period_ns = NS_PER_S,
                                                .longest_ns = NS_PER_S / 2,
                                                .seed = 3};
    for (int i = 0; i < 20000; i++) {
        submit(&bench, STORE_PUT, "a/b");
        int64_t sent_ns = bench.loop.now_ns;
        loop_run(&bench.loop.loop, TIME_NEVER);
        bench.loop.now_ns = sent_ns + 7 * NS_PER_MS + LATENCY_NS;
    }
    struct fault_counters counters = fault_store_counters(bench.faults);
    double storm = (double)counters.hit[FAULT_THROTTLED] / 20000;
    double error = (double)counters.hit[FAULT_ERROR] / 20000;
    CU_ASSERT(storm > 0.18 && storm < 0.32); /* a quarter of the time */
    CU_ASSERT(error > 0.2 * (1 - storm) - 0.02 && error < 0.2 * (1 - storm) + 0.02);
    bench_close(&bench);
}

static const uint8_t stored_bytes[] = "every byte of this is as it was written";

/* How many bits of the answer differ from what is stored. */
static uint32_t bits_wrong(const struct body *result)
{
    uint32_t wrong = 0;
    for (uint64_t i = 0; i < result->bytes; i++)
        wrong += (uint32_t)__builtin_popcount(result->data[i] ^ stored_bytes[i]);
    return wrong;
}

static void damage_hits_the_bytes_read_and_not_those_stored(void)
{
    struct bench bench;
    bench_open(&bench);
    bench.op.verb = STORE_PUT;
    snprintf(bench.op.key, sizeof(bench.op.key), "tgb/a");
    bench.op.body = (struct body){
        .kind = BODY_BYTES, .bytes = sizeof(stored_bytes), .data = (uint8_t *)stored_bytes};
    store_submit(bench.faults, &bench.op);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(shoot(&bench, FAULT_DAMAGED, STORE_GET, "tgb/a"), STORE_OK);
    CU_ASSERT_EQUAL(bench.op.result.bytes, sizeof(stored_bytes));
    CU_ASSERT_EQUAL(bits_wrong(&bench.op.result), 1);
    CU_ASSERT_EQUAL(shoot(&bench, FAULT_CUT, STORE_GET, "tgb/a"), STORE_OK);
    CU_ASSERT(bench.op.result.bytes < sizeof(stored_bytes));
    CU_ASSERT_EQUAL(bits_wrong(&bench.op.result), 0);
    submit(&bench, STORE_GET, "tgb/a");
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.op.result.bytes, sizeof(stored_bytes));
    CU_ASSERT_EQUAL(bits_wrong(&bench.op.result), 0);
    bench_close(&bench);
}

static void damage_meets_only_what_the_options_name(void)
{
    struct bench bench;
    bench_open(&bench);
    bench.shot = (struct fault_shot){.kind = FAULT_CUT, .operation = 1};
    submit(&bench, STORE_GET, "manifest/a");
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.shot.seen, 0);
    submit(&bench, STORE_GET, "tgb/a");
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.shot.seen, 1);
    CU_ASSERT_EQUAL(bench.op.outcome, STORE_NOT_FOUND); /* which has no bytes to be damaged */
    bench_close(&bench);
}

const struct harness_test fault_store_tests[] = {
    HARNESS_TEST(every_store_s_battery_passes),
    HARNESS_TEST(a_fault_is_applied_and_answered_as_it_says),
    HARNESS_TEST(a_late_create_lands_after_another_and_changes_nothing),
    HARNESS_TEST(what_a_dead_sender_sent_still_lands),
    HARNESS_TEST(a_kind_hits_only_its_verbs),
    HARNESS_TEST(a_refusal_lasts_and_hits_only_what_it_names),
    HARNESS_TEST(what_may_be_sent_twice_is_refused_before_or_after_it_was_applied),
    HARNESS_TEST(a_short_page_says_that_more_follows),
    HARNESS_TEST(damage_hits_the_bytes_read_and_not_those_stored),
    HARNESS_TEST(damage_meets_only_what_the_options_name),
    HARNESS_TEST(storms_and_probabilities_hit_their_share),
    {0},
};
