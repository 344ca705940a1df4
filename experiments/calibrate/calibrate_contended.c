/* calibrate_contended.c - Nelder and Mead's simplex (GSL) on common random numbers, as `validate`
 * fits a public measurement: the limits that weigh the deviations are the same. Ours. */
#include "experiments/calibrate/calibrate_contended.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>

#include "experiments/calibrate/calibrate_model.h"

#define SEED 13
#define PARAMETERS 5
#define STARTS 2
#define STEPS_MAX 60
#define SIZE_ENOUGH 0.01
#define SUCCESSES_MIN 20 /* a cell with fewer says nothing */
#define COLUMNS 4

struct problem {
    const struct calibrate_plan *plan;
    const struct calibrate_result *measured;
    struct config *config;
};

/* Each is kept between its bounds by a logistic; a low bound that is near 0 counts as 0. */
struct bounds {
    double low;
    double high;
    double start;
};

enum parameter {
    APPLY_FRACTION,
    WAIT,
    COLLISION,
    COLLISION_TIME,
    REFUSED_EARLY,
};

/* Times as shares of the create's median. */
static const struct bounds bounds[PARAMETERS] = {
    [APPLY_FRACTION] = {0.05, 1.0, 0.6}, [WAIT] = {0.0, 1.0, 0.05},
    [COLLISION] = {0.0, 0.2, 0.01},      [COLLISION_TIME] = {0.0, 4.0, 0.2},
    [REFUSED_EARLY] = {0.0, 1.0, 0.2},
};

static double value_of(const gsl_vector *logits, enum parameter parameter)
{
    const struct bounds *bound = &bounds[parameter];
    double share = 1.0 / (1.0 + exp(-gsl_vector_get(logits, parameter)));
    return bound->low + share * (bound->high - bound->low);
}

static double rounded(double value, double steps)
{
    return round(value * steps) / steps;
}

static void set_all(struct config *config, const gsl_vector *logits)
{
    double median_ns = (double)config->store.latency[STORE_PUT_IF_ABSENT].base_ns;
    config->store.apply_fraction = rounded(value_of(logits, APPLY_FRACTION), 1e3);
    config->store.contention = (struct contention_config){
        .wait_ns = (int64_t)rounded(value_of(logits, WAIT) * median_ns, 1e-3),
        .collision = rounded(value_of(logits, COLLISION), 1e4),
        .collision_ns = (int64_t)rounded(value_of(logits, COLLISION_TIME) * median_ns, 1e-3),
        .refused_early = rounded(value_of(logits, REFUSED_EARLY), 1e3),
    };
}

static void columns_of(const struct calibrate_result *result, double values[COLUMNS])
{
    values[0] = log(fmax(result->per_s, 1e-9)) / 0.08;
    values[1] = calibrate_lost_share(result) / 0.02;
    values[2] = log(fmax(calibrate_quantile(result, 0.5), 1.0)) / 0.1;
    values[3] = log(fmax(calibrate_quantile(result, 0.99), 1.0)) / 0.3;
}

static double cost_of(const gsl_vector *logits, void *context)
{
    struct problem *problem = context;
    double cost = 0.0;
    size_t count = 0;
    set_all(problem->config, logits);
    for (size_t i = 0; i < problem->plan->count; i++) {
        const struct calibrate_cell *cell = &problem->plan->cells[i];
        if (cell->work != CALIBRATE_CONTEND || problem->measured[i].successes < SUCCESSES_MIN)
            continue;
        struct calibrate_result simulated = {0};
        double is[COLUMNS];
        double was[COLUMNS];
        calibrate_model_run(problem->config, cell, SEED, &simulated);
        columns_of(&simulated, is);
        columns_of(&problem->measured[i], was);
        for (size_t c = 0; c < COLUMNS; c++)
            cost += (is[c] - was[c]) * (is[c] - was[c]);
        count += COLUMNS;
        calibrate_result_deinit(&simulated);
    }
    return count > 0 ? cost / (double)count : 0.0;
}

/* Leaves the best point in `logits`. */
static double minimise(gsl_multimin_function *function, gsl_vector *logits, double step)
{
    gsl_vector *sizes = gsl_vector_alloc(PARAMETERS);
    gsl_multimin_fminimizer *minimizer =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, PARAMETERS);
    gsl_vector_set_all(sizes, step);
    gsl_multimin_fminimizer_set(minimizer, function, logits, sizes);
    for (int i = 0; i < STEPS_MAX; i++)
        if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS ||
            gsl_multimin_fminimizer_size(minimizer) < SIZE_ENOUGH)
            break;
    gsl_vector_memcpy(logits, gsl_multimin_fminimizer_x(minimizer));
    double cost = gsl_multimin_fminimizer_minimum(minimizer);
    gsl_multimin_fminimizer_free(minimizer);
    gsl_vector_free(sizes);
    return cost;
}

double calibrate_contended_fit(const struct calibrate_plan *plan,
                               const struct calibrate_result *measured, struct config *config)
{
    struct problem problem = {plan, measured, config};
    gsl_multimin_function function = {cost_of, PARAMETERS, &problem};
    gsl_vector *logits = gsl_vector_alloc(PARAMETERS);
    double cost = 0.0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        double share = (bounds[i].start - bounds[i].low) / (bounds[i].high - bounds[i].low);
        gsl_vector_set(logits, i, log(share / (1.0 - share)));
    }
    for (int i = 0; i < STARTS; i++)
        cost = minimise(&function, logits, 1.0 / (i + 1));
    set_all(config, logits);
    gsl_vector_free(logits);
    return cost;
}
