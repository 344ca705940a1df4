/* simulation_test.c - whole runs: safe, repeatable, equal to the slow reference, under every
 * policy. */
#include <stdio.h>

#include "tests/sim/whole_run.h"

static void the_paper_s_run_is_safe(void)
{
    struct simulation_options options = whole_run_options("dac", 32, 5 * 3600);
    struct simulation_result result = whole_run(&options);
    double offered = 32 * RATE * 5 * 3600;
    double committed = (double)result.steps * 32 * MIB;
    CU_ASSERT_TRUE(committed > 0.9 * offered && committed <= offered * 1.01);
    CU_ASSERT_TRUE(result.versions > 100);
    CU_ASSERT_EQUAL(result.manifest_bytes, MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES +
                                               32 * MANIFEST_STATE_BYTES + result.steps * 128);
}

static void every_policy_is_safe(void)
{
    const struct policy_kind *kind;
    for (size_t i = 0; (kind = policy_kind_at(i)) != NULL; i++) {
        struct simulation_options options = whole_run_options(kind->name, 8, 1200);
        struct simulation_result result = whole_run(&options);
        CU_ASSERT_TRUE(result.steps > 1000);
    }
}

static void the_seed_decides(void)
{
    struct simulation_options options = whole_run_options("dac", 16, 900);
    struct simulation_result first = whole_run(&options);
    struct simulation_result second = whole_run(&options);
    CU_ASSERT_EQUAL(first.digest, second.digest);
    CU_ASSERT_EQUAL(first.handled, second.handled);
    options.seed++;
    struct simulation_result other = whole_run(&options);
    CU_ASSERT_NOT_EQUAL(first.digest, other.digest);
}

static void equals_the_reference(const struct simulation_options *options)
{
    struct simulation_options slow = *options;
    struct simulation_result fast = whole_run(options);
    const unsigned parts[] = {REFERENCE_QUEUE, REFERENCE_LINKS, REFERENCE_BYTES, REFERENCE_ALL};
    for (size_t i = 0; i < HARNESS_COUNT(parts); i++) {
        slow.reference = parts[i];
        struct simulation_result result = whole_run(&slow);
        CU_ASSERT_EQUAL(result.digest, fast.digest);
        CU_ASSERT_EQUAL(result.handled, fast.handled);
        CU_ASSERT_EQUAL(result.steps, fast.steps);
        CU_ASSERT_EQUAL(result.manifest_bytes, fast.manifest_bytes);
    }
}

static void the_reference_has_the_same_digest(void)
{
    struct simulation_options options = whole_run_options("dac", 32, 900);
    equals_the_reference(&options);
}

static void the_reference_has_it_on_crowded_links(void)
{
    struct simulation_options options = whole_run_options("fixed", 16, 300);
    options.producer.mode = PRODUCER_BACKGROUND;
    options.producer.commit.find = COMMIT_FIND_PROBE;
    options.store.client_bytes_per_s = 20.0e6;
    options.store.store_bytes_per_s = 150.0e6;
    equals_the_reference(&options);
}

static void the_reference_has_it_under_throttling(void)
{
    struct simulation_options options = whole_run_options("fixed", 16, 300);
    options.store.puts_per_s = 5.0;
    options.store.gets_per_s = 20.0;
    equals_the_reference(&options);
    struct simulation_result result = whole_run(&options);
    CU_ASSERT_TRUE(result.store.throttled > 100);
}

static void a_full_link_bounds_the_rate(void)
{
    struct simulation_options options = whole_run_options("fixed", 16, 1200);
    options.producer.uploads_max = 1;
    options.store.store_bytes_per_s = 50.0e6;
    struct simulation_result result = whole_run(&options);
    double bytes_per_s = (double)result.store.bytes[STORE_PUT] / 1200.0;
    CU_ASSERT_TRUE(bytes_per_s < 50.0e6 && bytes_per_s > 47.0e6);
}

static void many_producers_are_safe(void)
{
    struct simulation_options options = whole_run_options("dac", 1024, 120);
    options.store.puts_per_s = 3500.0;
    options.store.gets_per_s = 5500.0;
    struct simulation_result result = whole_run(&options);
    CU_ASSERT_TRUE(result.versions > 10);
}

static uint64_t attempts_won;
static uint64_t batches_seen;

static void count_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                          const struct attempt_detail *detail)
{
    (void)context;
    (void)producer;
    (void)detail;
    attempts_won += attempt->outcome == ATTEMPT_WON ? 1 : 0;
}

static void count_visible(void *context, uint32_t producer, const struct batch *batch,
                          int64_t visible_ns)
{
    (void)context;
    (void)producer;
    (void)batch;
    (void)visible_ns;
    batches_seen++;
}

static void ignore_request(void *context, uint32_t producer, enum store_verb verb,
                           enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void ignore_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    (void)context;
    (void)producer;
    (void)end;
    (void)text;
}

static void the_observer_sees_what_the_chain_holds(void)
{
    struct producer_observer observer = {.attempt = count_attempt,
                                         .visible = count_visible,
                                         .request = ignore_request,
                                         .ended = ignore_ended};
    struct simulation_options options = whole_run_options("dac", 8, 1200);
    options.observer = &observer;
    attempts_won = 0;
    batches_seen = 0;
    struct simulation_result result = whole_run(&options);
    /* What was created in the last moments was not yet reported. */
    CU_ASSERT_TRUE(attempts_won <= result.versions - 1 && attempts_won + 8 >= result.versions - 1);
    CU_ASSERT_TRUE(batches_seen <= result.steps && batches_seen + 1000 > result.steps);
}

const struct harness_test simulation_tests[] = {
    HARNESS_TEST(the_paper_s_run_is_safe),
    HARNESS_TEST(every_policy_is_safe),
    HARNESS_TEST(the_seed_decides),
    HARNESS_TEST(the_reference_has_the_same_digest),
    HARNESS_TEST(the_reference_has_it_on_crowded_links),
    HARNESS_TEST(the_reference_has_it_under_throttling),
    HARNESS_TEST(a_full_link_bounds_the_rate),
    HARNESS_TEST(many_producers_are_safe),
    HARNESS_TEST(the_observer_sees_what_the_chain_holds),
    {0},
};
