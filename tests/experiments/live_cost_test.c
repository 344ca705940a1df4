/* live_cost_test.c - what runs are expected to cost, and the caps. */
#include "experiments/live/live_cost.h"

#include <string.h>

#include "tests/harness.h"

static const char file_url[] = "file://x";
static const char s3_url[] = "s3://bucket/x";

/* Four producers, a batch of 1 MiB each second and producer, an attempt each second. */
static void small_config(struct config *config)
{
    config_default(config);
    config->workload.producers = 4;
    config->workload.tgb_bytes = 1 << 20;
    config->workload.rate = 1 << 20;
    config->commit.first_gap_ns = NS_PER_S;
    config->run.duration_ns = 100 * NS_PER_S;
    config->policy.index = 0;
    while (strcmp(config_policy_kind(config)->name, "fixed") != 0)
        config->policy.index++;
    config->policy.values[config->policy.index][0] = 1;
}

static void a_small_run_is_simulated_whole(void)
{
    static struct config config;
    struct live_cost cost;
    char error[LIVE_COST_TEXT_MAX] = "";
    small_config(&config);
    CU_ASSERT_EQUAL(live_cost_estimate(&config, s3_url, 1, &cost, error), LIVE_ESTIMATE_WHOLE);
    CU_ASSERT(cost.requests[STORE_PUT] > 300 && cost.requests[STORE_PUT] <= 404);
    CU_ASSERT(cost.requests[STORE_PUT_IF_ABSENT] > 200);
    CU_ASSERT(cost.requests[STORE_LIST] >= cost.requests[STORE_GET]);
    CU_ASSERT(cost.up_bytes > cost.requests[STORE_PUT] * (1 << 20));
    CU_ASSERT_DOUBLE_EQUAL(cost.dollars, live_cost_dollars(&config, s3_url, cost.requests), 1e-12);
    CU_ASSERT(cost.dollars > 0);
}

/* The same events a second, too many of them for the whole. */
static void a_long_run_is_scaled(void)
{
    static struct config config;
    struct live_cost small;
    struct live_cost large;
    char error[LIVE_COST_TEXT_MAX] = "";
    small_config(&config);
    config.policy.values[config.policy.index][0] = 600; /* few commits: time is spent on batches */
    config.commit.gap_max_ns = 3600 * NS_PER_S;
    config.run.duration_ns = 3600 * NS_PER_S;
    CU_ASSERT_EQUAL(live_cost_estimate(&config, s3_url, 1, &small, error), LIVE_ESTIMATE_WHOLE);
    config.run.duration_ns = 1000 * 3600 * NS_PER_S;
    CU_ASSERT_EQUAL(live_cost_estimate(&config, s3_url, 1, &large, error), LIVE_ESTIMATE_SCALED);
    double times = (double)large.requests[STORE_PUT] / (double)small.requests[STORE_PUT];
    CU_ASSERT(times > 900 && times < 1100);
}

static void directories_are_free(void)
{
    static struct config config;
    uint64_t requests[STORE_VERB_COUNT] = {0};
    small_config(&config);
    requests[STORE_PUT] = 1000;
    requests[STORE_GET] = 2000;
    CU_ASSERT_DOUBLE_EQUAL(live_cost_dollars(&config, s3_url, requests), 0.005 + 2 * 0.0004, 1e-12);
    CU_ASSERT_EQUAL(live_cost_dollars(&config, file_url, requests), 0);
}

static void the_lowest_cap_of_all_arms_holds(void)
{
    static struct arm arms[2];
    struct experiment experiment = {.arm_count = 2, .arms = arms};
    config_default(&arms[0].config);
    config_default(&arms[1].config);
    arms[0].config.live.cap_dollars = 2;
    arms[1].config.live.cap_bytes = 7;
    struct live_cap cap = live_cap_of(&experiment);
    CU_ASSERT_EQUAL(cap.dollars, 2);
    CU_ASSERT_EQUAL(cap.bytes, 7);
    CU_ASSERT_EQUAL(cap.requests, 10000000);
}

static void what_passes_a_cap_is_named(void)
{
    const struct live_cap cap = {.dollars = 2, .bytes = 1000, .requests = 10};
    static const struct {
        struct live_cost cost;
        const char *key; /* NULL: within the caps */
    } cases[] = {
        {{.dollars = 2, .up_bytes = 400, .down_bytes = 600, .requests = {3, 7}}, NULL},
        {{.dollars = 2.1}, "live.cap_dollars"},
        {{.up_bytes = 401, .down_bytes = 600}, "live.cap_bytes"},
        {{.requests = {3, 7, 1}}, "live.cap_requests"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        char text[LIVE_COST_TEXT_MAX] = "";
        bool passed = live_cost_exceeds(&cases[i].cost, &cap, text);
        CU_ASSERT_EQUAL(passed, cases[i].key != NULL);
        CU_ASSERT(cases[i].key == NULL || strstr(text, cases[i].key) != NULL);
    }
}

/* Two ranks, of which this one asked for so much: the cap that is held and named is the user's. */
static void caps_hold_for_all_ranks_together(void)
{
    const struct live_cap cap = {.dollars = 1, .bytes = 1000, .requests = 100};
    static const struct {
        struct live_cost before;
        struct live_cost own;
        bool passed;
    } cases[] = {
        {{.requests = {0}}, {.requests = {40}}, false},
        {{.requests = {0}}, {.requests = {60}}, true},
        {{.requests = {60}}, {.requests = {20}}, false}, /* before is of both already */
        {{.requests = {60}}, {.requests = {21}}, true},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        char text[LIVE_COST_TEXT_MAX] = "";
        struct live_cost cost = live_cost_of_ranks(&cases[i].before, &cases[i].own, 2);
        CU_ASSERT_EQUAL(live_cost_exceeds(&cost, &cap, text), cases[i].passed);
        CU_ASSERT_EQUAL(strstr(text, "live.cap_requests (100)") != NULL, cases[i].passed);
    }
}

const struct harness_test live_cost_tests[] = {
    HARNESS_TEST(a_small_run_is_simulated_whole),
    HARNESS_TEST(a_long_run_is_scaled),
    HARNESS_TEST(directories_are_free),
    HARNESS_TEST(the_lowest_cap_of_all_arms_holds),
    HARNESS_TEST(what_passes_a_cap_is_named),
    HARNESS_TEST(caps_hold_for_all_ranks_together),
    {0},
};
