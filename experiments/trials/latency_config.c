/* latency_config.c - see latency_config.h. */
#include "experiments/trials/latency_config.h"

static_assert(QUANTILES_MAX <= LATENCY_QUANTILES_MAX, "a config's quantiles fit the simulator");

void latency_options_of(const struct latency_config *config, struct latency_options *options)
{
    options->base_ns = config->base_ns;
    options->slope_ns = config->stream_rate > 0 ? 1e9 / config->stream_rate : 0;
    options->sigma = config->sigma;
    options->shape = config->sigma > 0 ? LATENCY_LOGNORMAL : LATENCY_CONSTANT;
    if (config->quantiles.count == 0)
        return;
    options->shape = LATENCY_EMPIRICAL;
    options->quantile_count = config->quantiles.count;
    for (uint32_t i = 0; i < config->quantiles.count; i++)
        options->quantiles[i] =
            (struct latency_quantile){config->quantiles.p[i], config->quantiles.factor[i]};
}
