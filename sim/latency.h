/* latency.h - how long one operation on the store takes when nothing is shared:
 *
 *     latency = (base + bytes * slope) * factor
 *
 * with a random factor: constant 1, lognormal with median 1, or from a table of measured quantiles.
 * Times are nanoseconds. Draws take one value of an explicit stream each, and depend on nothing
 * else. Method: inversion by a table of 1,024 equally likely bins, linear inside a bin; in the
 * outermost bins, where the quantile function bends, the exact inverse (GSL). */
#ifndef SIM_LATENCY_H
#define SIM_LATENCY_H

#include <stdbool.h>

#include "core/base.h"
#include "core/random.h"

#define LATENCY_BINS 1024
#define LATENCY_EXACT_BINS 4 /* at each end */
#define LATENCY_QUANTILES_MAX 256
#define LATENCY_SIGMA_MAX 4
#define LATENCY_NS_MAX 1e17 /* three years: longer than any run, far from overflowing a time */

enum latency_shape {
    LATENCY_CONSTANT,
    LATENCY_LOGNORMAL,
    LATENCY_EMPIRICAL,
};

struct latency_quantile {
    double probability; /* 0..1 */
    double factor;      /* the factor's value that this share does not exceed */
};

struct latency_options {
    enum latency_shape shape;
    int64_t base_ns; /* median at 0 bytes, for a factor of median 1 */
    double slope_ns; /* per byte */
    double sigma;    /* LATENCY_LOGNORMAL: standard deviation of the factor's logarithm */
    /* LATENCY_EMPIRICAL: probabilities rise strictly, factors do not fall and are positive; below
     * the first and above the last the factor is theirs, between two it is linear. */
    size_t quantile_count;
    struct latency_quantile quantiles[LATENCY_QUANTILES_MAX];
};

struct latency {
    enum latency_shape shape;
    double base_ns;
    double slope_ns;
    double sigma;
    double table[LATENCY_BINS + 1]; /* factor at the bins' edges */
    size_t quantile_count;
    struct latency_quantile quantiles[LATENCY_QUANTILES_MAX];
};

/* NULL if the options can be used, else what is wrong with them: one static line. */
MUST_USE const char *latency_options_check(const struct latency_options *options);
/* Copies what it needs. The options must have passed the check. */
void latency_init(struct latency *latency, const struct latency_options *options);

double latency_factor(const struct latency *latency, struct random_stream *stream);
/* The factor at probability `unit` in [0, 1). */
double latency_factor_at(const struct latency *latency, double unit);

/* At most LATENCY_NS_MAX. */
static inline int64_t latency_ns(const struct latency *latency, double factor, uint64_t bytes)
{
    double ns = (latency->base_ns + (double)bytes * latency->slope_ns) * factor;
    return (int64_t)(ns < LATENCY_NS_MAX ? ns : LATENCY_NS_MAX);
}

#endif
