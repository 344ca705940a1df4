/* validate_fit.c - Nelder and Mead's simplex (GSL) on common random numbers: every point is
 * simulated with the same seed, which makes the cost a deterministic, though stepped, function. The
 * simplex is started again from where it ended, with smaller steps, as steps make it stop early.
 * Each parameter is kept between its bounds by a logistic. Ours. */
#include "experiments/validate/validate_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/validate/validate_run.h"

#define SEED 1000003 /* not one of those that validate reports */
#define STARTS 3
#define STEPS_MAX 120    /* of the simplex, for each start */
#define SIZE_ENOUGH 0.01 /* of the simplex, in logits */
#define TIME_SHARE 2     /* a fit's runs are this much shorter than those that are reported */
#define MS_NS 1e6

struct parameter {
    const char *key;
    double low; /* in the option's own scale */
    double high;
    double starts[2]; /* s3-standard, s3-express */
    double steps;     /* values are rounded to so many steps in one of the scale */
};

/* Starts are what was known before: the simple model's f and r (which others fitted to all rows),
 * one client's median, and the same guesses for both stores. */
static const struct parameter parameters[VALIDATE_PARAMETERS] = {
    {"store.apply_fraction", 0.05, 1.0, {0.9, 0.5}, 1e3},
    {"store.create.base", 13 * MS_NS, 70 * MS_NS, {64.7 * MS_NS, 14.45 * MS_NS}, 1e-4},
    {"store.get.base", 1 * MS_NS, 40 * MS_NS, {16 * MS_NS, 7 * MS_NS}, 1e-4},
    {"store.get.sigma", 0.01, 0.8, {0.3, 0.3}, 1e3},
    {"store.create.refused_early", 0.001, 0.999, {0.2, 0.2}, 1e3},
    {"store.create.wait", 1e3, 2 * MS_NS, {0.1 * MS_NS, 0.1 * MS_NS}, 1e-3},
    {"store.create.collision", 1e-4, 0.1, {0.005, 0.005}, 1e4},
    {"store.create.collision_time", 0.1 * MS_NS, 20 * MS_NS, {2 * MS_NS, 2 * MS_NS}, 1e-4},
};

struct problem {
    const struct measured *measured;
    enum validate_model model;
    const char *store;
    struct config *config;
};

const char *validate_parameter_key(size_t index)
{
    assert(index < VALIDATE_PARAMETERS);
    return parameters[index].key;
}

static void set(struct config *config, const struct parameter *parameter, double value)
{
    const struct option *option = option_find(parameter->key);
    void *field = (char *)config + option->offset;
    double rounded = round(value * parameter->steps) / parameter->steps;
    if (option->unit == UNIT_DURATION)
        *(int64_t *)field = (int64_t)rounded;
    else
        *(double *)field = rounded;
}

static void set_all(struct config *config, const gsl_vector *logits)
{
    for (size_t i = 0; i < VALIDATE_PARAMETERS; i++) {
        double share = 1.0 / (1.0 + exp(-gsl_vector_get(logits, i)));
        set(config, &parameters[i],
            parameters[i].low + share * (parameters[i].high - parameters[i].low));
    }
}

static double row_cost(const struct problem *problem, const struct measured_row *row)
{
    struct contention_options options;
    struct contention_result result;
    double values[MEASURED_COLUMN_COUNT];
    double cost = 0.0;
    validate_contention_of(problem->config, row->clients, SEED, &options);
    options.duration_ns /= TIME_SHARE;
    contention_run(&options, &result);
    validate_values_of(&result, values);
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++) {
        double off = measured_deviation(column, values[column], row->values[column]) /
                     validate_limit(problem->model, row, column);
        cost += off * off;
    }
    return cost;
}

static bool is_seen(const struct problem *problem, const struct measured_row *row)
{
    return strcmp(row->store, problem->store) == 0 &&
           validate_model_sees(problem->model, row->clients);
}

static double cost_of(const gsl_vector *logits, void *context)
{
    struct problem *problem = context;
    double cost = 0.0;
    set_all(problem->config, logits);
    for (size_t i = 0; i < problem->measured->count; i++)
        if (is_seen(problem, &problem->measured->rows[i]))
            cost += row_cost(problem, &problem->measured->rows[i]);
    return cost;
}

/* Leaves the best point in `logits`; returns its cost. */
static double minimise(gsl_multimin_function *function, gsl_vector *logits, double step,
                       size_t *steps)
{
    gsl_vector *sizes = gsl_vector_alloc(VALIDATE_PARAMETERS);
    gsl_multimin_fminimizer *minimizer =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, VALIDATE_PARAMETERS);
    gsl_vector_set_all(sizes, step);
    gsl_multimin_fminimizer_set(minimizer, function, logits, sizes);
    for (size_t i = 0; i < STEPS_MAX; i++) {
        (*steps)++;
        if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS ||
            gsl_multimin_fminimizer_size(minimizer) < SIZE_ENOUGH)
            break;
    }
    gsl_vector_memcpy(logits, gsl_multimin_fminimizer_x(minimizer));
    double cost = gsl_multimin_fminimizer_minimum(minimizer);
    gsl_multimin_fminimizer_free(minimizer);
    gsl_vector_free(sizes);
    return cost;
}

static void begin(const char *store, gsl_vector *logits)
{
    size_t column = strcmp(store, "s3-standard") == 0 ? 0 : 1;
    for (size_t i = 0; i < VALIDATE_PARAMETERS; i++) {
        const struct parameter *parameter = &parameters[i];
        double share =
            (parameter->starts[column] - parameter->low) / (parameter->high - parameter->low);
        gsl_vector_set(logits, i, log(share / (1.0 - share)));
    }
}

void validate_fit_run(const struct measured *measured, enum validate_model model, const char *store,
                      struct config *config, struct validate_fit *fit)
{
    struct problem problem = {measured, model, store, config};
    gsl_multimin_function function = {cost_of, VALIDATE_PARAMETERS, &problem};
    gsl_vector *logits = gsl_vector_alloc(VALIDATE_PARAMETERS);
    *fit = (struct validate_fit){0};
    for (size_t i = 0; i < measured->count; i++) {
        const struct measured_row *row = &measured->rows[i];
        if (!is_seen(&problem, row))
            continue;
        fit->rows++;
        fit->values += row->clients == 1 ? MEASURED_COLUMN_COUNT - 1u : MEASURED_COLUMN_COUNT;
    }
    begin(store, logits);
    fit->start_cost = cost_of(logits, &problem);
    for (size_t i = 0; i < STARTS; i++)
        fit->cost = minimise(&function, logits, 0.4 / (double)(i + 1), &fit->steps);
    set_all(config, logits);
    gsl_vector_free(logits);
}
