/* Tests of experiments/histogram.c: buckets without holes, quantiles within the stated error. */
#include "experiments/trials/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "tests/harness.h"

static void buckets_rise_without_holes(void)
{
    uint32_t last = 0;
    for (int64_t value = 0; value < INT64_MAX / 2; value += 1 + value / 140) {
        uint32_t bucket = histogram_bucket(value);
        CU_ASSERT_TRUE_FATAL(bucket == last || bucket == last + 1);
        last = bucket;
    }
    CU_ASSERT_EQUAL(histogram_bucket(-5), 0);
    CU_ASSERT_TRUE(histogram_bucket(INT64_MAX) < HISTOGRAM_BUCKETS);
}

static void middle_is_in_its_bucket_and_near(void)
{
    for (int64_t value = 16384; value < INT64_MAX / 2; value += 1 + value / 1000) {
        int64_t middle = histogram_bucket_middle_ns(histogram_bucket(value));
        CU_ASSERT_EQUAL_FATAL(histogram_bucket(middle), histogram_bucket(value));
        double error = fabs((double)(middle - value)) / (double)value;
        CU_ASSERT_TRUE_FATAL(error <= HISTOGRAM_ERROR);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Values over nine orders of magnitude. */
static int64_t draw(struct random_stream *stream)
{
    return (int64_t)((random_next(stream) >> 1) >> (10 + random_next(stream) % 30));
}

static void quantiles_are_within_the_error(void)
{
    enum {
        COUNT = 20000
    };
    static int64_t values[COUNT];
    struct histogram histogram = {0};
    struct random_stream stream = random_stream_make(7, 1);
    for (int i = 0; i < COUNT; i++) {
        values[i] = draw(&stream);
        histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof(values[0]), compare);
    static const double fractions[] = {0.01, 0.25, 0.5, 0.9, 0.99, 0.999};
    for (size_t i = 0; i < HARNESS_COUNT(fractions); i++) {
        double exact = (double)values[(int)ceil(fractions[i] * COUNT) - 1];
        double found = (double)histogram_quantile_ns(&histogram, fractions[i]);
        CU_ASSERT_TRUE(fabs(found - exact) <= HISTOGRAM_ERROR * exact + 256);
    }
    histogram_deinit(&histogram);
}

static void merge_equals_adding_all(void)
{
    struct histogram parts[2] = {{0}};
    struct histogram whole = {0};
    struct random_stream stream = random_stream_make(8, 1);
    for (int i = 0; i < 5000; i++) {
        int64_t value = draw(&stream);
        histogram_add(&parts[i % 2], value);
        histogram_add(&whole, value);
    }
    histogram_merge(&parts[0], &parts[1]);
    CU_ASSERT_EQUAL(parts[0].total, whole.total);
    for (double fraction = 0.05; fraction < 1; fraction += 0.05)
        CU_ASSERT_EQUAL(histogram_quantile_ns(&parts[0], fraction),
                        histogram_quantile_ns(&whole, fraction));
    histogram_deinit(&parts[0]);
    histogram_deinit(&parts[1]);
    histogram_deinit(&whole);
}

static void one_value_is_every_quantile(void)
{
    struct histogram histogram = {0};
    histogram_add(&histogram, NS_PER_S);
    int64_t expected = histogram_bucket_middle_ns(histogram_bucket(NS_PER_S));
    CU_ASSERT_EQUAL(histogram_quantile_ns(&histogram, 0.01), expected);
    CU_ASSERT_EQUAL(histogram_quantile_ns(&histogram, 0.99), expected);
    histogram_deinit(&histogram);
}

/* Two samples of one distribution: their quantiles differ as they do, not by whole buckets. */
static void quantiles_are_not_quantised(void)
{
    double found[2];
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct histogram histogram = {0};
        struct random_stream stream = random_stream_make(seed, 9);
        for (int i = 0; i < 100000; i++)
            histogram_add(&histogram, 8 * NS_PER_S + (int64_t)(random_unit(&stream) * 1e9));
        found[seed] = (double)histogram_quantile_ns(&histogram, 0.5) / 1e9;
        CU_ASSERT_DOUBLE_EQUAL(found[seed], 8.5, 0.01);
        histogram_deinit(&histogram);
    }
    CU_ASSERT_NOT_EQUAL(found[0], found[1]);
}

const struct harness_test histogram_tests[] = {
    HARNESS_TEST(buckets_rise_without_holes),
    HARNESS_TEST(middle_is_in_its_bucket_and_near),
    HARNESS_TEST(quantiles_are_within_the_error),
    HARNESS_TEST(quantiles_are_not_quantised),
    HARNESS_TEST(merge_equals_adding_all),
    HARNESS_TEST(one_value_is_every_quantile),
    {0},
};
