/* Tests of experiments/statistics.c against values from tables and by hand. */
#include "experiments/results/statistics.h"

#include <math.h>

#include "tests/harness.h"

static void mean_has_students_interval(void)
{
    static const double values[] = {1, 2, 3, 4, 5};
    struct statistics_mean mean = statistics_mean(values, 5);
    CU_ASSERT_EQUAL(mean.count, 5);
    CU_ASSERT_DOUBLE_EQUAL(mean.mean, 3, 1e-12);
    /* t(0.975, 4) = 2.776445 times sqrt(2.5 / 5) */
    CU_ASSERT_DOUBLE_EQUAL(mean.half_width, 2.776445 * sqrt(0.5), 1e-6);
}

static void one_value_has_no_interval(void)
{
    static const double value = 7;
    struct statistics_mean mean = statistics_mean(&value, 1);
    CU_ASSERT_DOUBLE_EQUAL(mean.mean, 7, 0);
    CU_ASSERT_TRUE(isnan(mean.half_width));
    CU_ASSERT_TRUE(isnan(statistics_mean(&value, 0).mean));
    struct statistics_equivalence test = statistics_equivalence(&value, &value, 1, 1);
    CU_ASSERT_FALSE(test.equivalent);
    CU_ASSERT_TRUE(isnan(test.low) && isnan(test.high) && isnan(test.p));
}

static void equivalence_needs_the_interval_inside(void)
{
    static const double a[] = {1.1, 2.0, 3.2, 3.9};
    static const double b[] = {1.0, 2.1, 3.0, 4.0};
    /* differences .1 -.1 .2 -.1: mean .025, sd .15, t(.975, 3) = 3.182446, half width .238683 */
    struct statistics_equivalence test = statistics_equivalence(a, b, 4, 0.3);
    CU_ASSERT_DOUBLE_EQUAL(test.difference.mean, 0.025, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(test.low, 0.025 - 0.238683, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(test.high, 0.025 + 0.238683, 1e-6);
    CU_ASSERT_TRUE(test.equivalent);
    CU_ASSERT_TRUE(test.p < 0.025);
    test = statistics_equivalence(a, b, 4, 0.26);
    CU_ASSERT_FALSE(test.equivalent);
    /* inside the 90 % interval only: a plain TOST at 5 % would accept it */
    CU_ASSERT_TRUE(test.p > 0.025 && test.p < 0.05);
}

static void same_differences_are_certain(void)
{
    static const double a[] = {2, 3, 4};
    static const double b[] = {1, 2, 3};
    struct statistics_equivalence test = statistics_equivalence(a, b, 3, 1.5);
    CU_ASSERT_TRUE(test.equivalent);
    CU_ASSERT_DOUBLE_EQUAL(test.p, 0, 0);
    test = statistics_equivalence(a, b, 3, 0.5);
    CU_ASSERT_FALSE(test.equivalent);
    CU_ASSERT_DOUBLE_EQUAL(test.p, 1, 0);
}

static void jain_knows_its_bounds(void)
{
    static const double equal[] = {5, 5, 5, 5};
    static const double one[] = {0, 0, 9, 0};
    static const double some[] = {1, 2, 3};
    static const double none[] = {0, 0};
    CU_ASSERT_DOUBLE_EQUAL(statistics_jain(equal, 4), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(statistics_jain(one, 4), 0.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(statistics_jain(some, 3), 36.0 / 42.0, 1e-12);
    CU_ASSERT_TRUE(isnan(statistics_jain(none, 2)));
}

const struct harness_test statistics_tests[] = {
    HARNESS_TEST(mean_has_students_interval),
    HARNESS_TEST(one_value_has_no_interval),
    HARNESS_TEST(equivalence_needs_the_interval_inside),
    HARNESS_TEST(same_differences_are_certain),
    HARNESS_TEST(jain_knows_its_bounds),
    {0},
};
