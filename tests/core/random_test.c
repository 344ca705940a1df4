/* random_test.c - streams: repeatable, independent of each other, uniform enough. */
#include "core/random.h"

#include <math.h>
#include <string.h>

#include "tests/harness.h"

static void streams_repeat_and_differ(void)
{
    struct random_stream a = random_stream_make(7, 1);
    struct random_stream b = random_stream_make(7, 1);
    struct random_stream actor = random_stream_make(7, 2);
    struct random_stream seed = random_stream_make(8, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t value = random_next(&a);
        CU_ASSERT_EQUAL(value, random_next(&b));
        CU_ASSERT_NOT_EQUAL(value, random_next(&actor));
        CU_ASSERT_NOT_EQUAL(value, random_next(&seed));
    }
}

/* Frozen: another value here means that every recorded seed has another outcome. */
static void first_values_are_frozen(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    CU_ASSERT_EQUAL(random_next(&stream), UINT64_C(0xf6424fedb34615a2));
    CU_ASSERT_EQUAL(random_next(&stream), UINT64_C(0xbef565a9d39f2f22));
}

static void unit_is_uniform_and_below_one(void)
{
    struct random_stream stream = random_stream_make(3, 3);
    uint32_t bins[16] = {0};
    double sum = 0;
    for (int i = 0; i < 160000; i++) {
        double unit = random_unit(&stream);
        CU_ASSERT(unit >= 0 && unit < 1);
        bins[(int)(unit * 16)]++;
        sum += unit;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum / 160000, 0.5, 0.005);
    double chi2 = 0;
    for (int i = 0; i < 16; i++)
        chi2 += (bins[i] - 10000.0) * (bins[i] - 10000.0) / 10000.0;
    CU_ASSERT(chi2 < 44.3); /* 15 degrees of freedom, p = 1e-4 */
}

static void factor_spreads_around_one(void)
{
    struct random_stream stream = random_stream_make(4, 4);
    double low = 2;
    double high = 0;
    for (int i = 0; i < 10000; i++) {
        double factor = random_factor(&stream, 0.25);
        low = fmin(low, factor);
        high = fmax(high, factor);
        CU_ASSERT_EQUAL(random_factor(&stream, 0), 1.0);
    }
    CU_ASSERT(low >= 0.75 && low < 0.76);
    CU_ASSERT(high < 1.25 && high > 1.24);
}

static void incarnations_differ(void)
{
    struct random_stream stream = random_stream_make(5, 5);
    struct incarnation last = random_incarnation(&stream);
    for (int i = 0; i < 1000; i++) {
        struct incarnation next = random_incarnation(&stream);
        CU_ASSERT_NOT_EQUAL(memcmp(&last, &next, sizeof(last)), 0);
        last = next;
    }
}

const struct harness_test random_tests[] = {
    HARNESS_TEST(streams_repeat_and_differ),     HARNESS_TEST(first_values_are_frozen),
    HARNESS_TEST(unit_is_uniform_and_below_one), HARNESS_TEST(factor_spreads_around_one),
    HARNESS_TEST(incarnations_differ),           {0},
};
