/* calibrate_fit.c - see calibrate_fit.h: latencies of a verb alone, links and limits; the fits on
 * the simulator are in calibrate_shared.c and calibrate_contended.c. Ours. */
#include "experiments/calibrate/calibrate_fit.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/calibrate/calibrate_contended.h"
#include "experiments/calibrate/calibrate_model.h"
#include "experiments/calibrate/calibrate_shared.h"

#define SAMPLES_MIN 5
#define LIMIT_NONE 1e9   /* requests a second: no limit was seen */
#define RATE_NONE 1e15   /* bytes a second: the same */
#define P95_OFF_MAX 0.15 /* beyond these a lognormal is bad */
#define P99_OFF_MAX 0.30
#define TABLE_SAMPLES 200 /* fewer do not make a table */
#define MICROSECONDS 1e-3 /* steps in a nanosecond */
#define KILOBYTES 1e-3    /* steps in a byte */
#define READ_FRACTION 0.5
#define SEED 7

/* To so many steps in one; of steps below 1 to their inverse's multiples. */
static double rounded(double value, double steps)
{
    return round(value * steps) / steps;
}

static bool is_alone(const struct calibrate_cell *cell, enum store_verb verb)
{
    return cell->work != CALIBRATE_CONTEND && cell->clients == 1 && cell->streams == 1 &&
           calibrate_work_verb(cell->work) == verb;
}

/* ---- one verb alone ---- */

/* Median = base + bytes / slope, each median weighted by its own inverse square: all sizes count
 * alike. A constant where there is one size. */
static void fit_line(const struct calibrate_plan *plan, const struct calibrate_result *measured,
                     enum store_verb verb, struct latency_config *latency)
{
    double bytes[CALIBRATE_CELLS_MAX];
    double medians[CALIBRATE_CELLS_MAX];
    double weights[CALIBRATE_CELLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!is_alone(&plan->cells[i], verb) || measured[i].count < SAMPLES_MIN)
            continue;
        bytes[count] = (double)plan->cells[i].bytes;
        medians[count] = calibrate_quantile(&measured[i], 0.5);
        weights[count] = 1.0 / (medians[count] * medians[count]);
        count++;
    }
    double base = count > 0 ? medians[0] : 0.0;
    double slope = 0.0;
    if (count > 1) {
        double cov00, cov01, cov11, chi;
        gsl_fit_wlinear(bytes, 1, weights, 1, medians, 1, count, &base, &slope, &cov00, &cov01,
                        &cov11, &chi);
    }
    latency->base_ns = (int64_t)rounded(fmax(base, 0.0), MICROSECONDS);
    latency->stream_rate = slope > 0.0 ? rounded(1e9 / slope, KILOBYTES) : RATE_NONE;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Latencies of the verb alone over the medians of their cells, ascending; the caller frees them. */
static double *factors_of(const struct calibrate_plan *plan,
                          const struct calibrate_result *measured, enum store_verb verb,
                          size_t *count)
{
    double *factors = NULL;
    *count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!is_alone(&plan->cells[i], verb) || measured[i].count < SAMPLES_MIN)
            continue;
        double median = calibrate_quantile(&measured[i], 0.5);
        factors = reallocarray(factors, *count + measured[i].count, sizeof(*factors));
        assert(factors != NULL);
        for (size_t k = 0; k < measured[i].count; k++)
            factors[(*count)++] = (double)measured[i].latencies_ns[k] / median;
    }
    if (*count > 0)
        qsort(factors, *count, sizeof(*factors), compare);
    return factors;
}

static double at(const double *sorted, size_t count, double p)
{
    double index = p * (double)(count - 1);
    size_t low = (size_t)index;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (sorted[high] - sorted[low]) * (index - (double)low);
}

static void fit_table(const double *factors, size_t count, struct quantile_table *table)
{
    static const double p[] = {0,   0.01, 0.05, 0.1,  0.2,  0.3,  0.4,   0.5,   0.6,
                               0.7, 0.8,  0.9,  0.95, 0.98, 0.99, 0.995, 0.999, 1};
    double below = 0.0;
    *table = (struct quantile_table){0};
    for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
        /* A share with less than one sample beyond it is only known by the longest. */
        if (p[i] < 1.0 && (1.0 - p[i]) * (double)count < 1.0)
            continue;
        double factor = rounded(at(factors, count, p[i]), 1e4);
        below = fmax(factor, fmax(below, 1e-4));
        table->p[table->count] = p[i];
        table->factor[table->count++] = below;
    }
}

static void fit_shape(const struct calibrate_plan *plan, const struct calibrate_result *measured,
                      enum store_verb verb, struct latency_config *latency,
                      struct calibrate_shape *shape)
{
    size_t count;
    double *factors = factors_of(plan, measured, verb, &count);
    latency->quantiles = (struct quantile_table){0};
    latency->sigma = 0.0;
    *shape = (struct calibrate_shape){.samples = count};
    if (count >= SAMPLES_MIN) {
        /* Half the distance of the two quantiles one sigma off: outliers do not move it. */
        latency->sigma =
            rounded(log(at(factors, count, 0.8413) / at(factors, count, 0.1587)) / 2, 1e4);
        shape->p95_off = at(factors, count, 0.95) / exp(1.6449 * latency->sigma) - 1.0;
        shape->p99_off = at(factors, count, 0.99) / exp(2.3263 * latency->sigma) - 1.0;
        shape->table = count >= TABLE_SAMPLES &&
                       (fabs(shape->p95_off) > P95_OFF_MAX || fabs(shape->p99_off) > P99_OFF_MAX);
        if (shape->table)
            fit_table(factors, count, &latency->quantiles);
    }
    free(factors);
}

/* ---- links and limits ---- */

static bool is_get(enum calibrate_work work)
{
    return work == CALIBRATE_GET || work == CALIBRATE_LIST;
}

/* The most that was seen is what there is at least; the station says what ends it. */
static void fit_limits(const struct calibrate_plan *plan, const struct calibrate_result *measured,
                       struct store_config *store, struct calibrate_fit *fit)
{
    double client = 0.0;
    double all = 0.0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct calibrate_cell *cell = &plan->cells[i];
        double rate = calibrate_rate(cell, &measured[i]);
        double *most = is_get(cell->work) ? &fit->most_get_per_s : &fit->most_per_s;
        all = fmax(all, rate);
        client = cell->clients == 1 ? fmax(client, rate) : client;
        *most = fmax(*most, measured[i].per_s);
        fit->throttled += measured[i].throttled;
    }
    store->client_bandwidth = client > 0 ? rounded(client, KILOBYTES) : RATE_NONE;
    store->bandwidth = all > 0 ? rounded(all, KILOBYTES) : RATE_NONE;
    store->put_limit = fit->throttled > 0 ? rounded(fit->most_per_s, 1) : LIMIT_NONE;
    store->get_limit = fit->throttled > 0 ? rounded(fit->most_get_per_s, 1) : LIMIT_NONE;
}

void calibrate_fit_run(const struct calibrate_plan *plan,
                       const struct calibrate_result measured[CALIBRATE_CELLS_MAX],
                       struct config *config, struct calibrate_fit *fit)
{
    struct store_config *store = &config->store;
    *fit = (struct calibrate_fit){0};
    store->contention = (struct contention_config){0};
    store->station = (struct station_config){0};
    store->read_fraction = READ_FRACTION;
    for (enum store_verb verb = 0; verb < STORE_VERB_COUNT; verb++) {
        fit_line(plan, measured, verb, &store->latency[verb]);
        fit_shape(plan, measured, verb, &store->latency[verb], &fit->shapes[verb]);
    }
    fit_limits(plan, measured, store, fit);
    fit->saturated = calibrate_shared_fit(plan, measured, config);
    calibrate_contended_fit(plan, measured, config);
    for (size_t i = 0; i < plan->count; i++)
        calibrate_model_run(config, &plan->cells[i], SEED, &fit->predicted[i]);
}

void calibrate_fit_deinit(struct calibrate_fit *fit)
{
    for (size_t i = 0; i < CALIBRATE_CELLS_MAX; i++)
        calibrate_result_deinit(&fit->predicted[i]);
}
