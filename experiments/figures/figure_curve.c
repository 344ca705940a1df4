/* figure_curve.c - interpolation on a frontier. Ages span four decades, so that all is done on
 * their logarithms; the jackknife (Tukey 1958) needs no model of how success and age vary together.
 */
#include "experiments/figures/figure_curve.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_SEED SIZE_MAX
#define TAIL 0.025 /* of a 95 % interval */

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

/* Seeds that every arm of the contender has. */
static void common_seeds(const struct figure_data *data, const struct contender *contender,
                         struct curve *curve)
{
    const struct figure_arm *arm = &data->arms[contender->arms[0]];
    curve->seeds = allocate(arm->run_count, sizeof(*curve->seeds));
    for (size_t i = 0; i < arm->run_count; i++) {
        bool common = true;
        for (size_t k = 1; common && k < contender->arm_count; k++) {
            const struct figure_arm *other = &data->arms[contender->arms[k]];
            common = find_seed(other, arm->seeds[i]) < other->run_count;
        }
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

void curve_read(const struct figure_data *data, const struct contender *contender, int hour,
                struct curve *curve)
{
    *curve = (struct curve){.point_count = contender->arm_count};
    common_seeds(data, contender, curve);
    curve->lines = allocate(curve->point_count, sizeof(*curve->lines));
    size_t cells = curve->point_count * curve->seed_count;
    curve->success = allocate(cells, sizeof(*curve->success));
    curve->age_s = allocate(cells, sizeof(*curve->age_s));
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct figure_arm *arm = &data->arms[contender->arms[i]];
        bool follows = i > 0 && strcmp(data->arms[contender->arms[i - 1]].group, arm->group) == 0;
        curve->lines[i] = i == 0 ? 0 : curve->lines[i - 1] + (follows ? 0 : 1);
        curve->line_count = curve->lines[i] + 1;
        read_point(data, arm, hour, curve, i);
    }
}

void curve_deinit(struct curve *curve)
{
    free(curve->lines);
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

struct found {
    double log_age; /* NAN: nothing yet */
    size_t point;
};

static void take(struct found *best, double log_age, size_t point)
{
    if (isfinite(log_age) && !(log_age >= best->log_age))
        *best = (struct found){log_age, point};
}

/* log(age) at this success on the mean curve, and where it lies. */
static struct found find_age(const struct curve *curve, double success, size_t left_out)
{
    struct found best = {NAN, 0};
    double last_success = NAN;
    double last_log = NAN;
    for (size_t i = 0; i < curve->point_count; i++) {
        size_t row = i * curve->seed_count;
        double here = mean_without(curve->success + row, curve->seed_count, left_out);
        double log_age = log(mean_without(curve->age_s + row, curve->seed_count, left_out));
        bool follows = i > 0 && curve->lines[i] == curve->lines[i - 1];
        if (follows && (last_success - success) * (here - success) <= 0 &&
            isfinite(log_age + last_log)) {
            double span = here - last_success;
            double share = span != 0 ? (success - last_success) / span : 0;
            take(&best, last_log + share * (log_age - last_log), i - 1);
        }
        if (here >= success)
            take(&best, log_age, i);
        last_success = here;
        last_log = log_age;
    }
    return best;
}

static double log_age_at(const struct curve *curve, double success, size_t left_out)
{
    return find_age(curve, success, left_out).log_age;
}

/* From the logarithm and its jackknife values. Each side of the interval leaves out 2.5 %, shared
 * by so many lines. */
static struct curve_estimate estimate_of(double whole, const double *parts, size_t count,
                                         size_t lines_low, size_t lines_high)
{
    struct curve_estimate estimate = {exp(whole), NAN, NAN, 0};
    double centre = mean_without(parts, count, NO_SEED);
    double squares = 0;
    if (count < 2)
        return estimate;
    for (size_t i = 0; i < count; i++)
        squares += (parts[i] - centre) * (parts[i] - centre);
    double freedom = (double)(count - 1);
    double error = sqrt(squares * freedom / (double)count);
    estimate.low = exp(whole - error * gsl_cdf_tdist_Qinv(TAIL / (double)lines_low, freedom));
    estimate.high = exp(whole + error * gsl_cdf_tdist_Qinv(TAIL / (double)lines_high, freedom));
    return estimate;
}

struct curve_estimate curve_age_at(const struct curve *curve, double success)
{
    double *parts = allocate(curve->seed_count, sizeof(*parts));
    for (size_t i = 0; i < curve->seed_count; i++)
        parts[i] = log_age_at(curve, success, i);
    struct found whole = find_age(curve, success, NO_SEED);
    struct curve_estimate estimate = estimate_of(whole.log_age, parts, curve->seed_count, 1, 1);
    estimate.point = whole.point;
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
        return (struct curve_estimate){NAN, NAN, NAN, 0};
    double *parts = allocate(curve->seed_count, sizeof(*parts));
    for (size_t i = 0; i < curve->seed_count; i++)
        parts[i] = log_age_at(curve, success, i) - log_age_at(against, success, i);
    double whole = log_age_at(curve, success, NO_SEED) - log_age_at(against, success, NO_SEED);
    struct curve_estimate estimate =
        estimate_of(whole, parts, curve->seed_count, against->line_count, curve->line_count);
    free(parts);
    return estimate;
}
