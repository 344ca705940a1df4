/* estimator.c - see the header for methods and sources. */
#include "core/estimator.h"

#include <math.h>

#define MIB 1048576.0

void estimator_init(struct estimator *estimator, const struct estimator_options *options)
{
    assert(options->weight > 0 && options->weight <= 1);
    assert(options->forgetting > 0 && options->forgetting <= 1);
    assert(options->prior > 0);
    *estimator = (struct estimator){
        .options = *options,
        .covariance = {options->prior, 0, options->prior},
    };
}

static void rls_add(struct estimator *e, double seconds, double x)
{
    double *p = e->covariance;
    double forgetting = e->options.forgetting;
    double prior = e->options.prior;
    double p0 = p[0] + p[1] * x;
    double p1 = p[1] + p[2] * x;
    double denominator = forgetting + p0 + p1 * x;
    double gain0 = p0 / denominator;
    double gain1 = p1 / denominator;
    double error = seconds - (e->base + e->slope * x);
    e->base += gain0 * error;
    e->slope += gain1 * error;
    p[0] = (p[0] - gain0 * p0) / forgetting;
    p[1] = (p[1] - gain0 * p1) / forgetting;
    p[2] = (p[2] - gain1 * p1) / forgetting;
    if (p[0] > prior || p[2] > prior) {
        p[0] = fmin(p[0], prior);
        p[2] = fmin(p[2], prior);
        p[1] = 0;
    }
}

void estimator_add(struct estimator *estimator, double seconds, uint64_t manifest_bytes)
{
    double weight = estimator->samples == 0 ? 1 : estimator->options.weight;
    estimator->mean += weight * (seconds - estimator->mean);
    rls_add(estimator, seconds, (double)manifest_bytes / MIB);
    estimator->samples++;
}

double estimator_at(const struct estimator *estimator, uint64_t manifest_bytes)
{
    if (estimator->options.kind == ESTIMATOR_EWMA ||
        estimator->samples < estimator->options.samples_min || estimator->slope < 0)
        return estimator->mean;
    double seconds = estimator->base + estimator->slope * (double)manifest_bytes / MIB;
    return seconds > 0 ? seconds : estimator->mean;
}
