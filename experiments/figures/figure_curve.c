/* figure_curve.c - interpolation on a frontier. Ages span four decades, so that all is done on
 * their logarithms; the jackknife (Tukey 1958) needs no model of how success and age vary together.
 */
#include "experiments/figures/figure_curve.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_SEED SIZE_MAX

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert(memory != NULL);
    return memory;
}

size_t curve_group_end(const struct figure_data *data, size_t first)
{
    size_t end = first;
    while (end < data->arm_count && strcmp(data->arms[end].group, data->arms[first].group) == 0)
        end++;
    return end;
}

static size_t find_seed(const struct figure_arm *arm, int64_t seed)
{
    size_t index = 0;
    while (index < arm->run_count && arm->seeds[index] != seed)
        index++;
    return index;
}

/* Seeds that every arm of the group has. */
static void common_seeds(const struct figure_data *data, size_t first, size_t end,
                         struct curve *curve)
{
    const struct figure_arm *arm = &data->arms[first];
    curve->seeds = allocate(arm->run_count, sizeof(*curve->seeds));
    for (size_t i = 0; i < arm->run_count; i++) {
        bool common = true;
        for (size_t k = first + 1; k < end; k++)
            common = common && find_seed(&data->arms[k], arm->seeds[i]) < data->arms[k].run_count;
        if (common)
            curve->seeds[curve->seed_count++] = arm->seeds[i];
    }
}

static void read_point(const struct figure_data *data, const struct figure_arm *arm, int hour,
                       struct curve *curve, size_t point)
{
    double *success = allocate(arm->run_count, sizeof(*success));
    double *age_s = allocate(arm->run_count, sizeof(*age_s));
    figure_hour_metric(data, arm, "success", hour, success);
    figure_hour_metric(data, arm, "age_median_s", hour, age_s);
    for (size_t i = 0; i < curve->seed_count; i++) {
        size_t seed = find_seed(arm, curve->seeds[i]);
        curve->success[point * curve->seed_count + i] = success[seed];
        curve->age_s[point * curve->seed_count + i] = age_s[seed];
    }
    free(success);
    free(age_s);
}

void curve_read(const struct figure_data *data, size_t first, int hour, struct curve *curve)
{
    size_t end = curve_group_end(data, first);
    *curve = (struct curve){.point_count = end - first};
    common_seeds(data, first, end, curve);
    size_t cells = curve->point_count * curve->seed_count;
    curve->success = allocate(cells, sizeof(*curve->success));
    curve->age_s = allocate(cells, sizeof(*curve->age_s));
    for (size_t i = first; i < end; i++)
        read_point(data, &data->arms[i], hour, curve, i - first);
}

void curve_deinit(struct curve *curve)
{
    free(curve->seeds);
    free(curve->success);
    free(curve->age_s);
    *curve = (struct curve){0};
}

/* Over all seeds but one. NAN if a seed lacks the value. */
static double mean_without(const double *values, size_t count, size_t left_out)
{
    double sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == left_out)
            continue;
        sum += values[i];
        kept++;
    }
    return kept > 0 ? sum / (double)kept : NAN;
}

/* log(age) at this success on the mean curve. */
static double log_age_at(const struct curve *curve, double success, size_t left_out)
{
    double best = NAN;
    double last_success = NAN;
    double last_log = NAN;
    for (size_t i = 0; i < curve->point_count; i++) {
        size_t row = i * curve->seed_count;
        double here = mean_without(curve->success + row, curve->seed_count, left_out);
        double log_age = log(mean_without(curve->age_s + row, curve->seed_count, left_out));
        if ((last_success - success) * (here - success) <= 0 && isfinite(log_age + last_log)) {
            double span = here - last_success;
            double share = span != 0 ? (success - last_success) / span : 0;
            double found = last_log + share * (log_age - last_log);
            if (!(found >= best))
                best = found;
        }
        last_success = here;
        last_log = log_age;
    }
    return best;
}

/* From the logarithm and its jackknife values; these are used up. */
static struct curve_estimate estimate_of(double whole, double *parts, size_t count)
{
    struct curve_estimate estimate = {exp(whole), NAN, NAN};
    double centre = mean_without(parts, count, NO_SEED);
    double squares = 0;
    if (count < 2)
        return estimate;
    for (size_t i = 0; i < count; i++)
        squares += (parts[i] - centre) * (parts[i] - centre);
    double error = sqrt(squares * (double)(count - 1) / (double)count);
    double half = gsl_cdf_tdist_Pinv(0.975, (double)(count - 1)) * error;
    estimate.low = exp(whole - half);
    estimate.high = exp(whole + half);
    return estimate;
}

struct curve_estimate curve_age_at(const struct curve *curve, double success)
{
    double *parts = allocate(curve->seed_count, sizeof(*parts));
    for (size_t i = 0; i < curve->seed_count; i++)
        parts[i] = log_age_at(curve, success, i);
    struct curve_estimate estimate =
        estimate_of(log_age_at(curve, success, NO_SEED), parts, curve->seed_count);
    free(parts);
    return estimate;
}

struct curve_estimate curve_age_ratio(const struct curve *curve, const struct curve *against,
                                      double success)
{
    bool paired = curve->seed_count == against->seed_count;
    for (size_t i = 0; paired && i < curve->seed_count; i++)
        paired = curve->seeds[i] == against->seeds[i];
    if (!paired)
        return (struct curve_estimate){NAN, NAN, NAN};
    double *parts = allocate(curve->seed_count, sizeof(*parts));
    for (size_t i = 0; i < curve->seed_count; i++)
        parts[i] = log_age_at(curve, success, i) - log_age_at(against, success, i);
    double whole = log_age_at(curve, success, NO_SEED) - log_age_at(against, success, NO_SEED);
    struct curve_estimate estimate = estimate_of(whole, parts, curve->seed_count);
    free(parts);
    return estimate;
}
