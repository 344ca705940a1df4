/* contention_test.c - clients on one key, and creates that hold each other up. */
#include "sim/contention.h"

#include <math.h>
#include <string.h>

#include "tests/harness.h"

#define WRITE_NS (60 * NS_PER_MS)
#define READ_NS (10 * NS_PER_MS)

static struct contention_options make(uint32_t clients)
{
    struct contention_options options = {
        .seed = 7,
        .clients = clients,
        .warmup_ns = NS_PER_S,
        .duration_ns = 120 * NS_PER_S,
        .store = {.apply_fraction = 0.9},
    };
    options.store.latency[STORE_PUT_IF_ABSENT] =
        (struct latency_options){.shape = LATENCY_LOGNORMAL, .base_ns = WRITE_NS, .sigma = 0.14};
    options.store.latency[STORE_GET].base_ns = READ_NS;
    return options;
}

static struct contention_result run(struct contention_options options)
{
    struct contention_result result;
    CU_ASSERT_PTR_NULL_FATAL(contention_options_check(&options));
    contention_run(&options, &result);
    return result;
}

static void one_client_never_fails(void)
{
    struct contention_options options = make(1);
    options.store.latency[STORE_PUT_IF_ABSENT].shape = LATENCY_CONSTANT;
    options.store.create_queue = (struct create_queue_options){NS_PER_MS, 0.5, 50 * NS_PER_MS, 0.5};
    struct contention_result result = run(options);
    CU_ASSERT_EQUAL(result.failures, 0);
    CU_ASSERT_EQUAL(result.update.median_ns, WRITE_NS);
    CU_ASSERT_EQUAL(result.update.p99_ns, WRITE_NS);
    CU_ASSERT_EQUAL(result.request.p99_ns, WRITE_NS);
    CU_ASSERT_DOUBLE_EQUAL(result.successes_per_s, 1000.0 / 60.0, 0.02);
}

static void one_update_wins_at_a_time(void)
{
    struct contention_result result = run(make(16));
    CU_ASSERT_TRUE(result.successes_per_s > 12.0);
    CU_ASSERT_TRUE(result.successes_per_s < 1000.0 / 0.9 / 60.0 + 4.0);
    CU_ASSERT_TRUE(result.failed_share > 0.85);
    CU_ASSERT_TRUE(result.failed_share < 15.0 / 16.0);
}

/* Two clients whose latency is constant: who won first wins for ever, and the other reads between
 * its failures, or, where a read is slow, wins no more either. */
static void a_reader_is_always_late(void)
{
    struct contention_options options = make(2);
    options.store.latency[STORE_PUT_IF_ABSENT].shape = LATENCY_CONSTANT;
    struct contention_result result = run(options);
    CU_ASSERT_EQUAL(result.update.median_ns, WRITE_NS);
    CU_ASSERT_EQUAL(result.update.p99_ns, WRITE_NS);
    /* 60 ms a success, 70 ms a failure. */
    CU_ASSERT_DOUBLE_EQUAL(result.failed_share, 60.0 / 130.0, 0.01);
}

static void the_read_counts_as_part_of_an_update(void)
{
    struct contention_options options = make(8);
    options.store.apply_fraction = 0.3;
    struct contention_result result = run(options);
    CU_ASSERT_TRUE(result.update.median_ns > result.request.median_ns + READ_NS / 2);
    CU_ASSERT_TRUE(result.update.p99_ns <= result.request.p99_ns + READ_NS);
}

static void the_same_seed_gives_the_same_run(void)
{
    struct contention_options options = make(4);
    options.store.create_queue =
        (struct create_queue_options){NS_PER_MS / 10, 0.02, 5 * NS_PER_MS, 0.3};
    struct contention_result first = run(options);
    struct contention_result second = run(options);
    CU_ASSERT_EQUAL(first.digest, second.digest);
    CU_ASSERT_EQUAL(first.successes, second.successes);
    options.seed++;
    CU_ASSERT_NOT_EQUAL(first.digest, run(options).digest);
}

static void waiting_costs_successes(void)
{
    struct contention_options options = make(16);
    double alone = run(options).successes_per_s;
    options.store.create_queue.wait_ns = NS_PER_MS;
    CU_ASSERT_TRUE(run(options).successes_per_s < 0.95 * alone);
}

static void convoys_lengthen_the_tail_only(void)
{
    struct contention_options options = make(16);
    struct contention_result before = run(options);
    options.store.create_queue.collision = 0.005;
    options.store.create_queue.collision_ns = 10 * NS_PER_MS;
    struct contention_result after = run(options);
    CU_ASSERT_TRUE(after.update.p99_ns > 2 * before.update.p99_ns);
    CU_ASSERT_TRUE(fabs((double)after.update.median_ns / (double)before.update.median_ns - 1.0) <
                   0.05);
}

static void refused_creates_can_be_answered_early(void)
{
    struct create_queue queue = {.options = {.refused_early = 0.25}, .in_flight = 3};
    struct random_stream stream = random_stream_make(1, 1);
    CU_ASSERT_EQUAL(create_queue_rest_ns(&queue, 100, STORE_EXISTS, &stream), 75);
    CU_ASSERT_EQUAL(create_queue_rest_ns(&queue, 100, STORE_OK, &stream), 100);
    CU_ASSERT_EQUAL(stream.counter, 0);
}

static void a_wait_is_for_each_other_create(void)
{
    struct create_queue queue = {.options = {.wait_ns = 7}};
    create_queue_enter(&queue);
    CU_ASSERT_EQUAL(create_queue_wait_ns(&queue), 0);
    create_queue_enter(&queue);
    create_queue_enter(&queue);
    CU_ASSERT_EQUAL(create_queue_wait_ns(&queue), 14);
    create_queue_leave(&queue);
    CU_ASSERT_EQUAL(create_queue_wait_ns(&queue), 7);
}

static void bad_options_are_refused(void)
{
    struct contention_options options = make(0);
    CU_ASSERT_PTR_NOT_NULL(contention_options_check(&options));
    options = make(1);
    options.store.puts_per_s = 100;
    CU_ASSERT_PTR_NOT_NULL(contention_options_check(&options));
    options = make(1);
    options.store.create_queue.collision = 1.5;
    CU_ASSERT_PTR_NOT_NULL(contention_options_check(&options));
    options = make(1);
    options.store.create_queue.wait_ns = -1;
    CU_ASSERT_PTR_NOT_NULL(contention_options_check(&options));
    options = make(1);
    options.store.create_queue.refused_early = NAN;
    CU_ASSERT_PTR_NOT_NULL(contention_options_check(&options));
}

const struct harness_test contention_tests[] = {
    HARNESS_TEST(one_client_never_fails),
    HARNESS_TEST(one_update_wins_at_a_time),
    HARNESS_TEST(a_reader_is_always_late),
    HARNESS_TEST(the_read_counts_as_part_of_an_update),
    HARNESS_TEST(the_same_seed_gives_the_same_run),
    HARNESS_TEST(waiting_costs_successes),
    HARNESS_TEST(convoys_lengthen_the_tail_only),
    HARNESS_TEST(refused_creates_can_be_answered_early),
    HARNESS_TEST(a_wait_is_for_each_other_create),
    HARNESS_TEST(bad_options_are_refused),
    {0},
};
