/* policy_test.c - each rule of each policy against values worked out by hand, and closed loops. */
#include "core/policy.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

#define SECONDS(ns) ((double)(ns) / 1e9)

static struct policy policy_with(const char *name, const double *values)
{
    struct policy policy;
    policy_init(&policy, policy_kind_find(name), values);
    return policy;
}

static void feed(struct policy *policy, enum attempt_outcome outcome)
{
    struct attempt attempt = {.outcome = outcome,
                              .tau_ns = NS_PER_S,
                              .window_ns = NS_PER_S / 2,
                              .since_last_ns = 10 * NS_PER_S,
                              .manifest_bytes = 1 << 20,
                              .producers_active = 1};
    policy_on_attempt(policy, &attempt);
}

static double gap_s(const struct policy *policy)
{
    return SECONDS(policy_gap_ns(policy));
}

static void table_is_complete_and_its_defaults_are_in_range(void)
{
    size_t count = 0;
    for (; policy_kind_at(count); count++) {
        const struct policy_kind *kind = policy_kind_at(count);
        CU_ASSERT_PTR_EQUAL(policy_kind_find(kind->name), kind);
        for (size_t i = 0; i < policy_parameter_count(kind); i++) {
            const struct policy_parameter *p = &kind->parameters[i];
            CU_ASSERT(p->value_min <= p->value_default && p->value_default <= p->value_max);
            CU_ASSERT((p->unit == PARAMETER_CHOICE) == (p->choices != NULL));
            CU_ASSERT(strlen(p->help) > 10);
        }
        struct policy policy = policy_with(kind->name, NULL);
        CU_ASSERT(policy_gap_ns(&policy) >= 0);
    }
    CU_ASSERT(count >= 4); /* the paper's four, and whatever was added */
    CU_ASSERT_PTR_NULL(policy_kind_find("dacs"));
    CU_ASSERT_PTR_NULL(policy_kind_find(""));
}

static void fixed_never_moves(void)
{
    struct policy policy = policy_with("fixed", (double[]){2.5});
    for (int i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(policy_gap_ns(&policy), 2500 * NS_PER_MS);
        feed(&policy, i % 2 ? ATTEMPT_WON : ATTEMPT_LOST);
    }
}

static void aimd_subtracts_on_a_win_and_multiplies_on_a_loss(void)
{
    struct policy policy = policy_with("aimd", (double[]){10, 1, 2, 0.5, 30});
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 10, 1e-9);
    feed(&policy, ATTEMPT_WON);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 9, 1e-9);
    feed(&policy, ATTEMPT_LOST);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 18, 1e-9);
    feed(&policy, ATTEMPT_LOST);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 30, 1e-9); /* the longest */
    for (int i = 0; i < 40; i++)
        feed(&policy, ATTEMPT_WON);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 0.5, 1e-9); /* the shortest */
}

static void incr_adds_on_a_loss_and_subtracts_on_a_win(void)
{
    struct policy policy = policy_with("incr", (double[]){10, 0.25, 3, 0.5, 20});
    feed(&policy, ATTEMPT_LOST);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 13, 1e-9);
    feed(&policy, ATTEMPT_WON);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 12.75, 1e-9);
    for (int i = 0; i < 10; i++)
        feed(&policy, ATTEMPT_LOST);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 20, 1e-9);
    for (int i = 0; i < 100; i++)
        feed(&policy, ATTEMPT_WON);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 0.5, 1e-9);
}

enum conflict {
    MODEL,
    RATE,
    FEEDBACK,
};

/* Parameters of dac: the defaults, until they are set. */
struct dac_values {
    double values[POLICY_PARAMETERS_MAX];
};

static void set(struct dac_values *dac, const char *name, double value)
{
    const struct policy_kind *kind = policy_kind_find("dac");
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        if (strcmp(kind->parameters[i].name, name) == 0) {
            dac->values[i] = value;
            return;
        }
    CU_FAIL("no such parameter");
}

static struct dac_values dac_values(double rho, double kappa, enum conflict estimator, double start)
{
    struct dac_values dac;
    const struct policy_kind *kind = policy_kind_find("dac");
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        dac.values[i] = kind->parameters[i].value_default;
    set(&dac, "rho", rho);
    set(&dac, "kappa", kappa);
    set(&dac, "estimator", (double)estimator);
    set(&dac, "start", start);
    set(&dac, "window", 0); /* ewma */
    set(&dac, "weight", 0.5);
    return dac;
}

static struct policy dac_with(double rho, double kappa, enum conflict estimator, double start)
{
    return policy_with("dac", dac_values(rho, kappa, estimator, start).values);
}

static void dac_keeps_the_overhead_budget(void)
{
    struct policy policy = dac_with(0.05, 0.5, MODEL, 10);
    feed(&policy, ATTEMPT_WON); /* tau 1 s, nobody else: 1 / 0.05 - 1 */
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 19, 1e-6);
    struct attempt slow = {.tau_ns = 3 * NS_PER_S, .producers_active = 1};
    policy_on_attempt(&policy, &slow); /* mean of 1 s and 3 s: 2 s */
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 38, 1e-6);
}

static void dac_model_spreads_producers_over_the_window(void)
{
    /* -ln(1 - 0.1) = 0.10536; (33 - 1) x 0.5 / 0.10536 - 1 = 150.86; overhead: 1 / 0.5 - 1 = 1. */
    struct policy policy = dac_with(0.5, 0.1, MODEL, 10);
    struct attempt attempt = {.outcome = ATTEMPT_LOST,
                              .tau_ns = NS_PER_S,
                              .window_ns = NS_PER_S / 2,
                              .producers_active = 33};
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 16 / -log(0.9) - 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 150.86, 0.01);
}

static void dac_rate_scales_the_period_by_what_it_saw(void)
{
    /* 8 foreign versions in 40 s, w = 0.5 s: lambda w = 0.1 against a budget of ln 2 = 0.6931. The
     * period 9 + 1 scales by 0.1443, held to 1/4, to the power 0.5: 5 s, less tau. */
    struct policy policy = dac_with(0.99, 0.5, RATE, 9);
    struct attempt attempt = {.tau_ns = NS_PER_S,
                              .window_ns = NS_PER_S / 2,
                              .since_last_ns = 40 * NS_PER_S,
                              .foreign_versions = 8,
                              .producers_active = 9};
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 4, 1e-6);
    /* Now 80 in 40 s: lambda w = 1; 5 x sqrt(1 / 0.6931) - 1. */
    attempt.foreign_versions = 80;
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 5 * sqrt(1 / log(2)) - 1, 1e-6);
    /* The first attempt has no rate to go by. */
    struct policy first = dac_with(0.99, 0.5, RATE, 9);
    attempt.since_last_ns = 0;
    policy_on_attempt(&first, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&first), 9, 1e-6);
}

static void dac_conflict_side_stays_between_its_bounds(void)
{
    struct dac_values dac = dac_values(0.99, 0.5, RATE, 9);
    set(&dac, "rate_step", 10); /* 0.1443 is within it: 10 x sqrt(0.1 / ln 2) - 1 */
    struct policy policy = policy_with("dac", dac.values);
    struct attempt attempt = {.tau_ns = NS_PER_S,
                              .window_ns = NS_PER_S / 2,
                              .since_last_ns = 40 * NS_PER_S,
                              .foreign_versions = 8,
                              .producers_active = 9};
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 10 * sqrt(0.1 / log(2)) - 1, 1e-6);
    set(&dac, "conflict_min", 3);
    policy = policy_with("dac", dac.values);
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 3, 1e-6);
    set(&dac, "conflict_min", 0.5);
    set(&dac, "conflict_max", 2);
    policy = policy_with("dac", dac.values);
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 2, 1e-6);
}

static void dac_feedback_steps_in_the_logarithm(void)
{
    struct policy policy = dac_with(0.99, 0.2, FEEDBACK, 10);
    feed(&policy, ATTEMPT_LOST);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 10 * exp(0.5 * 0.8), 1e-6);
    feed(&policy, ATTEMPT_WON);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 10 * exp(0.5 * 0.6), 1e-6);
}

static void dac_feedback_is_not_wound_down_behind_the_overhead_side(void)
{
    struct policy policy = dac_with(0.05, 0.2, FEEDBACK, 10);
    for (int i = 0; i < 500; i++)
        feed(&policy, ATTEMPT_WON); /* the overhead side holds the gap at 19 s */
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 19, 1e-6);
    feed(&policy, ATTEMPT_LOST); /* and the first loss shows at once */
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 19 * exp(0.5 * 0.8), 1e-6);
}

static void dac_steps_from_the_gap_that_was_really_waited(void)
{
    /* The producer clamps to 5 s: 40 losses must not carry the gap out of a win's reach. */
    struct attempt attempt = {.outcome = ATTEMPT_LOST,
                              .tau_ns = NS_PER_MS,
                              .since_last_ns = 5 * NS_PER_S,
                              .gap_ns = 5 * NS_PER_S,
                              .producers_active = 8};
    struct policy policy = dac_with(0.99, 0.2, FEEDBACK, 1);
    for (int i = 0; i < 40; i++)
        policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 5 * exp(0.5 * 0.8), 1e-6);
    attempt.outcome = ATTEMPT_WON;
    policy_on_attempt(&policy, &attempt);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 5 * exp(-0.5 * 0.2), 1e-6);
}

static void dac_learns_no_times_from_disturbed_attempts(void)
{
    struct policy policy = dac_with(0.05, 0.5, MODEL, 10);
    feed(&policy, ATTEMPT_WON);
    struct attempt disturbed = {
        .tau_ns = 60 * NS_PER_S, .window_ns = 50 * NS_PER_S, .retries = 3, .producers_active = 1};
    policy_on_attempt(&policy, &disturbed);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&policy), 19, 1e-6);
    /* But for the first of all: something is better than nothing. */
    struct policy first = dac_with(0.05, 0.5, MODEL, 10);
    policy_on_attempt(&first, &disturbed);
    CU_ASSERT_DOUBLE_EQUAL(gap_s(&first), 60 * 19, 1e-6);
}

static void dac_stays_in_range_whatever_it_sees(void)
{
    for (int estimator = MODEL; estimator <= FEEDBACK; estimator++) {
        for (int window = 0; window < 2; window++) {
            struct dac_values dac = dac_values(0.0001, 0.0001, (enum conflict)estimator, 86400);
            set(&dac, "window", window);
            set(&dac, "weight", 1);
            set(&dac, "forgetting", 0.5);
            set(&dac, "eta", 10);
            struct policy policy = policy_with("dac", dac.values);
            struct attempt attempt = {.outcome = ATTEMPT_LOST,
                                      .tau_ns = 3600 * NS_PER_S,
                                      .window_ns = 3600 * NS_PER_S,
                                      .since_last_ns = 1,
                                      .manifest_bytes = UINT64_C(1) << 40,
                                      .foreign_versions = UINT64_MAX,
                                      .producers_active = UINT32_MAX};
            for (int i = 0; i < 1000; i++) {
                policy_on_attempt(&policy, &attempt);
                CU_ASSERT(policy_gap_ns(&policy) >= 0);
                attempt.manifest_bytes /= 1 + (uint64_t)i % 2;
            }
            struct attempt none = {
                .outcome = ATTEMPT_WON, .since_last_ns = NS_PER_S, .producers_active = 1};
            for (int i = 0; i < 3000; i++) {
                policy_on_attempt(&policy, &none);
                CU_ASSERT(policy_gap_ns(&policy) >= 0);
            }
            CU_ASSERT(policy_gap_ns(&policy) < 86401 * NS_PER_S);
        }
    }
}

/* Each attempt is lost with probability 1 - exp(-hazard / (gap + tau)). */
static void feedback_makes_the_conflict_share_the_budget(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    struct policy policy = dac_with(0.99, 0.1, FEEDBACK, 1);
    uint32_t lost = 0;
    for (int i = 0; i < 60000; i++) {
        double chance = 1 - exp(-20 / (gap_s(&policy) + 1));
        bool loses = random_unit(&stream) < chance;
        lost += loses && i >= 10000;
        feed(&policy, loses ? ATTEMPT_LOST : ATTEMPT_WON);
    }
    CU_ASSERT_DOUBLE_EQUAL(lost / 50000.0, 0.1, 0.005);
}

#define LOOP_PRODUCERS 16

/* Producers of one policy, each seeing the others' rate; the mean conflict chance they settle at.
 */
static double settled_conflict(enum conflict estimator, double kappa)
{
    struct policy policies[LOOP_PRODUCERS];
    for (int i = 0; i < LOOP_PRODUCERS; i++)
        policies[i] = dac_with(0.9, kappa, estimator, 10);
    double chance = 0;
    for (int round = 0; round < 400; round++) {
        double rate = 0; /* versions a second, of all */
        for (int i = 0; i < LOOP_PRODUCERS; i++)
            rate += 1 / (gap_s(&policies[i]) + 1);
        chance = 0;
        for (int i = 0; i < LOOP_PRODUCERS; i++) {
            double foreign = rate - 1 / (gap_s(&policies[i]) + 1);
            chance += (1 - exp(-foreign * 0.5)) / LOOP_PRODUCERS;
            struct attempt attempt = {.tau_ns = NS_PER_S,
                                      .window_ns = NS_PER_S / 2,
                                      .since_last_ns = 1000 * NS_PER_S,
                                      .foreign_versions = (uint64_t)(foreign * 1000),
                                      .producers_active = LOOP_PRODUCERS};
            policy_on_attempt(&policies[i], &attempt);
        }
    }
    return chance;
}

static void model_and_rate_settle_at_the_budget(void)
{
    static const double budgets[] = {0.02, 0.05, 0.2};
    for (size_t i = 0; i < HARNESS_COUNT(budgets); i++) {
        CU_ASSERT_DOUBLE_EQUAL(settled_conflict(MODEL, budgets[i]), budgets[i], 0.02 * budgets[i]);
        CU_ASSERT_DOUBLE_EQUAL(settled_conflict(RATE, budgets[i]), budgets[i], 0.04 * budgets[i]);
    }
}

const struct harness_test policy_tests[] = {
    HARNESS_TEST(table_is_complete_and_its_defaults_are_in_range),
    HARNESS_TEST(fixed_never_moves),
    HARNESS_TEST(aimd_subtracts_on_a_win_and_multiplies_on_a_loss),
    HARNESS_TEST(incr_adds_on_a_loss_and_subtracts_on_a_win),
    HARNESS_TEST(dac_keeps_the_overhead_budget),
    HARNESS_TEST(dac_model_spreads_producers_over_the_window),
    HARNESS_TEST(dac_rate_scales_the_period_by_what_it_saw),
    HARNESS_TEST(dac_conflict_side_stays_between_its_bounds),
    HARNESS_TEST(dac_feedback_steps_in_the_logarithm),
    HARNESS_TEST(dac_feedback_is_not_wound_down_behind_the_overhead_side),
    HARNESS_TEST(dac_steps_from_the_gap_that_was_really_waited),
    HARNESS_TEST(dac_learns_no_times_from_disturbed_attempts),
    HARNESS_TEST(dac_stays_in_range_whatever_it_sees),
    HARNESS_TEST(feedback_makes_the_conflict_share_the_budget),
    HARNESS_TEST(model_and_rate_settle_at_the_budget),
    {0},
};
