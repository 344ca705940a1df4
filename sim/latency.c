/* latency.c - inversion sampling by tables. Ours; GSL supplies the normal quantile. */
#include "sim/latency.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

const char *latency_options_check(const struct latency_options *options)
{
    if (options->base_ns < 0)
        return "the base latency is negative";
    if (!(options->slope_ns >= 0.0) || !isfinite(options->slope_ns))
        return "the slope is negative or not finite";
    switch (options->shape) {
    case LATENCY_CONSTANT:
        return NULL;
    case LATENCY_LOGNORMAL:
        return options->sigma >= 0.0 && options->sigma <= LATENCY_SIGMA_MAX
                   ? NULL
                   : "sigma is not in 0..4";
    case LATENCY_EMPIRICAL:
        break;
    }
    if (options->quantile_count < 1 || options->quantile_count > LATENCY_QUANTILES_MAX)
        return "an empirical latency needs 1 to 256 quantiles";
    for (size_t i = 0; i < options->quantile_count; i++) {
        const struct latency_quantile *quantile = &options->quantiles[i];
        if (!(quantile->probability >= 0.0 && quantile->probability <= 1.0))
            return "a quantile's probability is not in 0..1";
        if (!(quantile->factor > 0.0) || !isfinite(quantile->factor))
            return "a quantile's factor is not positive and finite";
        if (i > 0 && quantile->probability <= quantile[-1].probability)
            return "the quantiles' probabilities do not rise";
        if (i > 0 && quantile->factor < quantile[-1].factor)
            return "the quantiles' factors fall";
    }
    return NULL;
}

static double lognormal_exact(double sigma, double unit)
{
    /* A draw of exactly 0 would be 0; half a step of the stream's 2^-53 stands for it. */
    return exp(sigma * gsl_cdf_ugaussian_Pinv(unit > 0.0 ? unit : 0x1.0p-54));
}

void latency_init(struct latency *latency, const struct latency_options *options)
{
    assert(latency_options_check(options) == NULL);
    latency->shape = options->shape;
    latency->base_ns = (double)options->base_ns;
    latency->slope_ns = options->slope_ns;
    latency->sigma = options->sigma;
    latency->quantile_count = 0;
    switch (options->shape) {
    case LATENCY_CONSTANT:
        break;
    case LATENCY_LOGNORMAL:
        for (size_t i = 1; i < LATENCY_BINS; i++)
            latency->table[i] = lognormal_exact(options->sigma, (double)i / LATENCY_BINS);
        latency->table[0] = 0.0; /* both ends lie in exact bins */
        latency->table[LATENCY_BINS] = 0.0;
        break;
    case LATENCY_EMPIRICAL:
        latency->quantile_count = options->quantile_count;
        memcpy(latency->quantiles, options->quantiles, sizeof(options->quantiles));
        break;
    }
}

static double lognormal_at(const struct latency *latency, double unit)
{
    double scaled = unit * LATENCY_BINS;
    size_t bin = (size_t)scaled;
    if (bin - LATENCY_EXACT_BINS >= LATENCY_BINS - 2 * LATENCY_EXACT_BINS)
        return lognormal_exact(latency->sigma, unit);
    double low = latency->table[bin];
    return low + (latency->table[bin + 1] - low) * (scaled - (double)bin);
}

static double empirical_at(const struct latency *latency, double unit)
{
    const struct latency_quantile *quantiles = latency->quantiles;
    size_t low = 0;
    size_t high = latency->quantile_count; /* the first that lies above `unit` is in low..high */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (quantiles[middle].probability > unit)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0)
        return quantiles[0].factor;
    if (low == latency->quantile_count)
        return quantiles[low - 1].factor;
    const struct latency_quantile *above = &quantiles[low];
    const struct latency_quantile *below = above - 1;
    double share = (unit - below->probability) / (above->probability - below->probability);
    return below->factor + (above->factor - below->factor) * share;
}

double latency_factor_at(const struct latency *latency, double unit)
{
    assert(unit >= 0.0 && unit < 1.0);
    switch (latency->shape) {
    case LATENCY_CONSTANT:
        return 1.0;
    case LATENCY_LOGNORMAL:
        return lognormal_at(latency, unit);
    case LATENCY_EMPIRICAL:
        return empirical_at(latency, unit);
    }
    return 1.0;
}

double latency_factor(const struct latency *latency, struct random_stream *stream)
{
    return latency_factor_at(latency, random_unit(stream));
}
