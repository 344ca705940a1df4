/* producer_config.c - see producer_config.h. One place, so that a simulated and a live producer of
 * one config cannot differ. Ours. */
#include "experiments/trials/producer_config.h"

#include <string.h>

#define BATCH_NS_MAX 1e17 /* longer than any run, and far from overflowing a time */

/* Time to make one batch at the offered rate. At least 1 ns: a machine makes no two at once. */
static int64_t batch_ns_of(const struct workload_config *workload)
{
    double ns = (double)workload->tgb_bytes / workload->rate * (double)NS_PER_S;
    if (ns > BATCH_NS_MAX)
        return (int64_t)BATCH_NS_MAX;
    return ns > 1 ? (int64_t)ns : 1;
}

void producer_options_of(const struct config *config, uint32_t producer, uint64_t seed,
                         struct producer_options *options)
{
    assert(producer < config->workload.producers);
    *options = (struct producer_options){
        .commit = {.producer = producer,
                   .entry_bytes = (uint32_t)config->entry_bytes,
                   .find = config->commit.find,
                   .active_versions = config->commit.active_versions,
                   .retry_ns = config->commit.retry_ns,
                   .retry_max_ns = config->commit.retry_max_ns},
        .random = random_stream_make(seed, producer),
        .mode = config->workload.mode,
        .policy_kind = config_policy_kind(config),
        .first_gap_ns = config->commit.first_gap_ns,
        .gap_min_ns = config->commit.gap_min_ns,
        .gap_max_ns = config->commit.gap_max_ns,
        .gap_jitter = config->commit.jitter,
        .batch_bytes = config->workload.tgb_bytes,
        .batch_ns = batch_ns_of(&config->workload),
        .batch_jitter = config->workload.jitter,
        .uploads_max = (uint32_t)config->commit.uploads_max,
    };
    memcpy(options->policy_values, config_policy_values(config), sizeof(options->policy_values));
}
