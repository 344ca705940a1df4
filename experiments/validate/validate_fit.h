/* validate_fit.h - fits the contended model to rows of the measurement. */
#ifndef EXPERIMENTS_VALIDATE_FIT_H
#define EXPERIMENTS_VALIDATE_FIT_H

#include "experiments/validate/validate_model.h"

#define VALIDATE_PARAMETERS 8

struct validate_fit {
    size_t rows;       /* of this store that were seen */
    size_t values;     /* in these, without the failures of a lone client, which has none */
    size_t steps;      /* of the minimiser */
    double start_cost; /* sum over values of (deviation / limit)^2 */
    double cost;
};

/* The key of one fitted parameter. */
const char *validate_parameter_key(size_t index);

/* Fits the parameters, which begin at fixed starting points, to those rows of the store that the
 * model sees; the config holds everything else, and the result, rounded as it is printed. Blocks,
 * for less than a minute. Every evaluation simulates with the same seed, so that the result is a
 * function of the arguments. */
void validate_fit_run(const struct measured *measured, enum validate_model model, const char *store,
                      struct config *config, struct validate_fit *fit);

#endif
