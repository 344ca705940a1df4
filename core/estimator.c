/* estimator.c - see the header for methods and sources. */
#include "core/estimator.h"

#include <math.h>

#define MIB 1048576.0
#define RLS_SAMPLES_MIN 8
#define RLS_PRIOR 1e4

void estimator_init(struct estimator *estimator, enum estimator_kind kind, double weight,
                    double forgetting)
{
    assert(weight > 0 && weight <= 1);
    assert(forgetting > 0 && forgetting <= 1);
    *estimator = (struct estimator){
        .kind = kind,
        .weight = weight,
        .forgetting = forgetting,
        .covariance = {RLS_PRIOR, 0, RLS_PRIOR},
    };
}

static void rls_add(struct estimator *e, double seconds, double x)
{
    double *p = e->covariance;
    double p0 = p[0] + p[1] * x;
    double p1 = p[1] + p[2] * x;
    double denominator = e->forgetting + p0 + p1 * x;
    double gain0 = p0 / denominator;
    double gain1 = p1 / denominator;
    double error = seconds - (e->base + e->slope * x);
    e->base += gain0 * error;
    e->slope += gain1 * error;
    p[0] = (p[0] - gain0 * p0) / e->forgetting;
    p[1] = (p[1] - gain0 * p1) / e->forgetting;
    p[2] = (p[2] - gain1 * p1) / e->forgetting;
    /* Without excitation forgetting inflates the covariance without end: keep it at the prior's
     * size. */
    if (p[0] > RLS_PRIOR || p[2] > RLS_PRIOR) {
        p[0] = fmin(p[0], RLS_PRIOR);
        p[2] = fmin(p[2], RLS_PRIOR);
        p[1] = 0;
    }
}

void estimator_add(struct estimator *estimator, double seconds, uint64_t manifest_bytes)
{
    double weight = estimator->samples == 0 ? 1 : estimator->weight;
    estimator->mean += weight * (seconds - estimator->mean);
    rls_add(estimator, seconds, (double)manifest_bytes / MIB);
    estimator->samples++;
}

double estimator_at(const struct estimator *estimator, uint64_t manifest_bytes)
{
    if (estimator->kind == ESTIMATOR_EWMA || estimator->samples < RLS_SAMPLES_MIN ||
        estimator->slope < 0)
        return estimator->mean;
    double seconds = estimator->base + estimator->slope * (double)manifest_bytes / MIB;
    return seconds > 0 ? seconds : estimator->mean;
}
