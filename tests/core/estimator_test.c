/* estimator_test.c - moving average by hand; least squares recover base and slope. */
#include "core/estimator.h"

#include "core/random.h"
#include "tests/harness.h"

#define MIB (UINT64_C(1) << 20)

static struct estimator make(enum estimator_kind kind, double weight, double forgetting)
{
    struct estimator estimator;
    struct estimator_options options = {
        .kind = kind, .samples_min = 8, .weight = weight, .forgetting = forgetting, .prior = 1e4};
    estimator_init(&estimator, &options);
    return estimator;
}

static void average_weighs_the_newest(void)
{
    struct estimator e = make(ESTIMATOR_EWMA, 0.25, 1);
    CU_ASSERT_EQUAL(estimator_at(&e, MIB), 0);
    estimator_add(&e, 4, MIB);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 9 * MIB), 4, 1e-12);
    estimator_add(&e, 8, MIB);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, MIB), 5, 1e-12);
    estimator_add(&e, 1, MIB);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, MIB), 4, 1e-12);
}

/* A manifest that grows from 0 to 20 MiB: 50 ms and 30 ms per MiB, with noise of 20 %. */
static void least_squares_recover_base_and_slope(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    struct estimator e = make(ESTIMATOR_RLS, 0.2, 1);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t bytes = i * 20 * MIB / 2000;
        double exact = 0.050 + 0.030 * (double)bytes / (double)MIB;
        estimator_add(&e, exact * random_factor(&stream, 0.2), bytes);
    }
    CU_ASSERT_DOUBLE_EQUAL(e.base, 0.050, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(e.slope, 0.030, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 20 * MIB), 0.650, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 40 * MIB), 1.250, 0.05);
}

static void least_squares_follow_a_change(void)
{
    struct estimator e = make(ESTIMATOR_RLS, 0.2, 0.95);
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t bytes = (1 + i % 8) * MIB;
        double slope = i < 200 ? 0.01 : 0.05;
        estimator_add(&e, 0.1 + slope * (double)(bytes / MIB), bytes);
    }
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 4 * MIB), 0.3, 0.005);
}

static void average_stands_in_until_there_are_samples_enough(void)
{
    struct estimator e = make(ESTIMATOR_RLS, 0.5, 1);
    estimator_add(&e, 2, MIB);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 100 * MIB), 2, 1e-12);
}

static void a_narrow_prior_holds_the_estimate_back(void)
{
    double reached[2];
    for (int i = 0; i < 2; i++) {
        struct estimator_options options = {.kind = ESTIMATOR_RLS,
                                            .samples_min = 2,
                                            .weight = 0.2,
                                            .forgetting = 1,
                                            .prior = i == 0 ? 1e4 : 0.01};
        struct estimator e;
        estimator_init(&e, &options);
        for (uint64_t bytes = MIB; bytes <= 4 * MIB; bytes += MIB)
            estimator_add(&e, (double)bytes / (double)MIB, bytes);
        reached[i] = estimator_at(&e, 8 * MIB);
    }
    CU_ASSERT_DOUBLE_EQUAL(reached[0], 8, 0.01);
    CU_ASSERT(reached[1] > 0 && reached[1] < 4);
}

/* All samples at one size: nothing tells base from slope, and nothing may run away. */
static void one_size_for_ever_is_harmless(void)
{
    struct random_stream stream = random_stream_make(2, 1);
    struct estimator e = make(ESTIMATOR_RLS, 0.2, 0.9);
    for (int i = 0; i < 100000; i++)
        estimator_add(&e, 0.5 * random_factor(&stream, 0.1), 3 * MIB);
    CU_ASSERT_DOUBLE_EQUAL(estimator_at(&e, 3 * MIB), 0.5, 0.05);
    CU_ASSERT(estimator_at(&e, 0) >= 0);
    CU_ASSERT(estimator_at(&e, 1000 * MIB) >= 0);
}

static void durations_that_fall_with_size_never_turn_negative(void)
{
    struct estimator e = make(ESTIMATOR_RLS, 0.2, 1);
    for (uint64_t i = 0; i < 100; i++)
        estimator_add(&e, 10 - 0.1 * (double)i, i * MIB);
    CU_ASSERT(estimator_at(&e, 1000 * MIB) > 0);
}

const struct harness_test estimator_tests[] = {
    HARNESS_TEST(average_weighs_the_newest),
    HARNESS_TEST(least_squares_recover_base_and_slope),
    HARNESS_TEST(least_squares_follow_a_change),
    HARNESS_TEST(average_stands_in_until_there_are_samples_enough),
    HARNESS_TEST(a_narrow_prior_holds_the_estimate_back),
    HARNESS_TEST(one_size_for_ever_is_harmless),
    HARNESS_TEST(durations_that_fall_with_size_never_turn_negative),
    {0},
};
