/* recorder_config.c - from a config to what a recorder is asked for. */
#include "experiments/trials/recorder_config.h"

static_assert(CONFIG_BINS_MAX <= RECORDER_BINS_MAX, "what a config may ask for is recorded");
static_assert(CONFIG_CELLS_MAX <= RECORDER_CELLS_MAX, "what a config may ask for is recorded");

struct recorder *recorder_of(const struct config *config, int64_t start_ns)
{
    struct recorder_options options = {
        .start_ns = start_ns,
        .duration_ns = config->run.duration_ns,
        .warmup_ns = config->run.warmup_ns,
        .bin_ns = config->run.bin_ns,
        .producers = (uint32_t)config->workload.producers,
    };
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        options.price_per_1000[verb] = config_price(config, (enum store_verb)verb);
    return recorder_open(&options);
}
