/* statistics.c - see statistics.h. Means and variances and Student's t come from GSL. */
#include "experiments/results/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define TWO_SIDED_95 0.975

struct statistics_mean statistics_mean(const double *values, size_t count)
{
    struct statistics_mean result = {.count = count, .mean = NAN, .half_width = NAN};
    if (count == 0)
        return result;
    result.mean = gsl_stats_mean(values, 1, count);
    if (count < 2)
        return result;
    double error = gsl_stats_sd_m(values, 1, count, result.mean) / sqrt((double)count);
    result.half_width = gsl_cdf_tdist_Pinv(TWO_SIDED_95, (double)(count - 1)) * error;
    return result;
}

/* P(T > distance / error); the limit where all differences are the same. */
static double tail(double distance, double error, double freedom)
{
    if (error > 0)
        return gsl_cdf_tdist_Q(distance / error, freedom);
    return distance > 0 ? 0 : 1;
}

struct statistics_equivalence statistics_equivalence(const double *a, const double *b, size_t count,
                                                     double margin)
{
    assert(margin > 0);
    struct statistics_equivalence result = {.low = NAN, .high = NAN, .p = NAN};
    double *differences = calloc(count + 1, sizeof(*differences));
    assert(differences != NULL);
    for (size_t i = 0; i < count; i++)
        differences[i] = a[i] - b[i];
    result.difference = statistics_mean(differences, count);
    free(differences);
    if (count < 2)
        return result;
    double mean = result.difference.mean;
    double freedom = (double)(count - 1);
    double error = result.difference.half_width / gsl_cdf_tdist_Pinv(TWO_SIDED_95, freedom);
    result.low = mean - result.difference.half_width;
    result.high = mean + result.difference.half_width;
    result.p = fmax(tail(margin - mean, error, freedom), tail(margin + mean, error, freedom));
    result.equivalent = result.low > -margin && result.high < margin;
    return result;
}

double statistics_jain(const double *values, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / ((double)count * squares) : NAN;
}
