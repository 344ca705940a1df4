/* estimator.h - live estimates of a duration that grows with the manifest. Sources of the methods:
 * exponentially weighted moving average; recursive least squares with forgetting (Haykin, Adaptive
 * Filter Theory) on duration = base + slope x manifest bytes. Which of them the paper uses is open.
 */
#ifndef CORE_ESTIMATOR_H
#define CORE_ESTIMATOR_H

#include "core/base.h"

enum estimator_kind {
    ESTIMATOR_EWMA,
    ESTIMATOR_RLS,
};

struct estimator_options {
    enum estimator_kind kind;
    uint32_t samples_min; /* RLS: with fewer the moving average stands in */
    double weight;        /* EWMA: of the newest sample, 0 < weight <= 1 */
    double forgetting;    /* RLS: 1 forgets nothing, 0 < forgetting <= 1 */
    double prior;         /* RLS: variance of base and slope before the first sample, > 0, and at
                             most: without excitation forgetting would inflate it without end */
};

struct estimator {
    struct estimator_options options;
    uint32_t samples;
    double mean; /* EWMA, also RLS until it has samples enough */
    double base;
    double slope;         /* per MiB */
    double covariance[3]; /* symmetric 2x2: 00, 01, 11 */
};

void estimator_init(struct estimator *estimator, const struct estimator_options *options);
void estimator_add(struct estimator *estimator, double seconds, uint64_t manifest_bytes);
/* Expected seconds at that manifest size; 0 before the first sample; never negative. */
double estimator_at(const struct estimator *estimator, uint64_t manifest_bytes);

#endif
