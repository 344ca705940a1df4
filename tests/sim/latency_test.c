/* latency_test.c - medians and quantiles of the factors, beside GSL. */
#include "sim/latency.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "tests/harness.h"

#define DRAWS 200001

static struct latency make(const struct latency_options *options)
{
    struct latency latency;
    latency_init(&latency, options);
    return latency;
}

static void lognormal_has_median_one(void)
{
    struct latency_options options = {.shape = LATENCY_LOGNORMAL, .sigma = 0.62};
    struct latency latency = make(&options);
    CU_ASSERT_EQUAL(latency_factor_at(&latency, 0.5), 1.0);
}

static void lognormal_follows_the_exact_quantiles(void)
{
    const double sigmas[] = {0.14, 0.29, 0.62, 0.91};
    for (size_t s = 0; s < HARNESS_COUNT(sigmas); s++) {
        struct latency_options options = {.shape = LATENCY_LOGNORMAL, .sigma = sigmas[s]};
        struct latency latency = make(&options);
        double worst = 0.0;
        double last = 0.0;
        unsigned falls = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            double unit = ((double)i + 0.5) / DRAWS;
            double exact = exp(sigmas[s] * gsl_cdf_ugaussian_Pinv(unit));
            double factor = latency_factor_at(&latency, unit);
            worst = fmax(worst, fabs(factor / exact - 1.0));
            falls += factor < last ? 1 : 0;
            last = factor;
        }
        CU_ASSERT_TRUE(worst < 0.004);
        CU_ASSERT_EQUAL(falls, 0);
    }
}

static void draws_have_the_right_moments(void)
{
    struct latency_options options = {.shape = LATENCY_LOGNORMAL, .sigma = 0.5};
    struct latency latency = make(&options);
    struct random_stream stream = random_stream_make(3, 9);
    double *draws = malloc(DRAWS * sizeof(double));
    for (size_t i = 0; i < DRAWS; i++)
        draws[i] = log(latency_factor(&latency, &stream));
    double mean = gsl_stats_mean(draws, 1, DRAWS);
    double deviation = gsl_stats_sd_m(draws, 1, DRAWS, mean);
    CU_ASSERT_DOUBLE_EQUAL(mean, 0.0, 4.0 * 0.5 / sqrt(DRAWS));
    CU_ASSERT_DOUBLE_EQUAL(deviation, 0.5, 4.0 * 0.5 / sqrt(2.0 * DRAWS));
    free(draws);
}

static void extreme_draws_are_finite(void)
{
    struct latency_options options = {.shape = LATENCY_LOGNORMAL, .sigma = 4.0};
    struct latency latency = make(&options);
    CU_ASSERT_TRUE(latency_factor_at(&latency, 0.0) > 0.0);
    CU_ASSERT_TRUE(isfinite(latency_factor_at(&latency, 1.0 - 0x1.0p-53)));
}

static void latency_grows_with_bytes(void)
{
    struct latency_options options = {
        .shape = LATENCY_CONSTANT, .base_ns = 60 * NS_PER_MS, .slope_ns = 20.0};
    struct latency latency = make(&options);
    CU_ASSERT_EQUAL(latency_ns(&latency, 1.0, 0), 60 * NS_PER_MS);
    CU_ASSERT_EQUAL(latency_ns(&latency, 2.0, 1000000), 160 * NS_PER_MS);
    struct random_stream stream = random_stream_make(1, 1);
    CU_ASSERT_EQUAL(latency_factor(&latency, &stream), 1.0);
}

static void empirical_interpolates(void)
{
    struct latency_options options = {
        .shape = LATENCY_EMPIRICAL,
        .quantile_count = 4,
        .quantiles = {{0.1, 0.5}, {0.5, 1.0}, {0.9, 2.0}, {0.99, 11.0}}};
    struct latency latency = make(&options);
    CU_ASSERT_EQUAL(latency_factor_at(&latency, 0.0), 0.5);
    CU_ASSERT_DOUBLE_EQUAL(latency_factor_at(&latency, 0.3), 0.75, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(latency_factor_at(&latency, 0.5), 1.0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(latency_factor_at(&latency, 0.945), 6.5, 1e-9);
    CU_ASSERT_EQUAL(latency_factor_at(&latency, 0.999), 11.0);
}

static void bad_options_are_named(void)
{
    struct latency_options options = {.shape = LATENCY_LOGNORMAL, .sigma = -1.0};
    CU_ASSERT_PTR_NOT_NULL(latency_options_check(&options));
    options.sigma = NAN;
    CU_ASSERT_PTR_NOT_NULL(latency_options_check(&options));
    options = (struct latency_options){.shape = LATENCY_EMPIRICAL};
    CU_ASSERT_PTR_NOT_NULL(latency_options_check(&options));
    options.quantile_count = 2;
    options.quantiles[0] = (struct latency_quantile){0.5, 1.0};
    options.quantiles[1] = (struct latency_quantile){0.4, 2.0};
    CU_ASSERT_PTR_NOT_NULL(latency_options_check(&options));
    options.quantiles[1] = (struct latency_quantile){0.6, 0.9};
    CU_ASSERT_PTR_NOT_NULL(latency_options_check(&options));
    options.quantiles[1].factor = 1.1;
    CU_ASSERT_PTR_NULL(latency_options_check(&options));
}

const struct harness_test latency_tests[] = {
    HARNESS_TEST(lognormal_has_median_one),     HARNESS_TEST(lognormal_follows_the_exact_quantiles),
    HARNESS_TEST(draws_have_the_right_moments), HARNESS_TEST(extreme_draws_are_finite),
    HARNESS_TEST(latency_grows_with_bytes),     HARNESS_TEST(empirical_interpolates),
    HARNESS_TEST(bad_options_are_named),        {0},
};
