/* whole_run.c - see whole_run.h. */
#include "tests/sim/whole_run.h"

#include <stdio.h>

static struct latency_options lognormal(double base_ms, double slope_ms_per_mib, double sigma)
{
    return (struct latency_options){.shape = LATENCY_LOGNORMAL,
                                    .base_ns = (int64_t)(base_ms * (double)NS_PER_MS),
                                    .slope_ns = slope_ms_per_mib * (double)NS_PER_MS / MIB,
                                    .sigma = sigma};
}

/* The calibrated s3-standard profile. */
static struct virtual_store_options s3_standard(void)
{
    return (struct virtual_store_options){
        .latency = {[STORE_GET] = lognormal(27, 20, 0.62),
                    [STORE_PUT] = lognormal(60, 20, 0.29),
                    [STORE_PUT_IF_ABSENT] = lognormal(61, 20, 0.14),
                    [STORE_LIST] = lognormal(40, 0, 0.5),
                    [STORE_DELETE] = lognormal(30, 0, 0.3)},
        .apply_fraction = 0.9,
        .client_bytes_per_s = 1.25e9,
        .store_bytes_per_s = 12.5e9};
}

struct simulation_options whole_run_options(const char *policy, uint32_t producers, int64_t seconds)
{
    struct simulation_options options = {.seed = 42,
                                         .producers = producers,
                                         .duration_ns = seconds * NS_PER_S,
                                         .store = s3_standard()};
    struct producer_options *producer = &options.producer;
    *producer = (struct producer_options){.commit = {.entry_bytes = 128,
                                                     .find = COMMIT_FIND_LIST,
                                                     .active_versions = 1000,
                                                     .retry_ns = 100 * NS_PER_MS,
                                                     .retry_max_ns = 10 * NS_PER_S},
                                          .mode = PRODUCER_INLINE,
                                          .policy_kind = policy_kind_find(policy),
                                          .first_gap_ns = 10 * NS_PER_S,
                                          .gap_max_ns = 3600 * NS_PER_S,
                                          .gap_jitter = 0.1,
                                          .batch_bytes = 32 << 20,
                                          .batch_ns = (int64_t)(32 * MIB / RATE * 1e9),
                                          .batch_jitter = 0.1,
                                          .uploads_max = 8};
    for (size_t i = 0; i < policy_parameter_count(producer->policy_kind); i++)
        producer->policy_values[i] = producer->policy_kind->parameters[i].value_default;
    return options;
}

struct simulation_result whole_run(const struct simulation_options *options)
{
    struct simulation_result result;
    simulation_run(options, &result);
    if (result.violations.count > 0)
        printf("\n  %s\n", result.violations.first);
    if (result.ended > 0)
        printf("\n  %u producers ended: %s\n", result.ended, result.first_end);
    CU_ASSERT_EQUAL(result.violations.count, 0);
    CU_ASSERT_EQUAL(result.ended, 0);
    return result;
}

struct simulation_options whole_run_ranks(uint32_t ranks, int64_t seconds)
{
    struct simulation_options options = whole_run_options("dac", 8, seconds);
    options.ranks = (struct rank_actors_options){
        .count = ranks,
        .start_ns = 5 * NS_PER_S,
        .step_ns = 300 * NS_PER_MS,
        .step_jitter = 0.2,
        .checkpoint_steps = 50,
        .save_ns = 2 * NS_PER_S,
        .consumer = {.membership = {.retry_ns = 100 * NS_PER_MS, .retry_max_ns = 10 * NS_PER_S},
                     .slices = ranks,
                     .prefetch_bytes = 16 << 20,
                     .fetches_max = 8,
                     .fetch_retries = 16,
                     .lookahead = 8,
                     .poll_min_ns = 200 * NS_PER_MS,
                     .poll_max_ns = 10 * NS_PER_S,
                     .poll_smoothing = CONSUMER_POLL_SMOOTHING,
                     .poll_early = CONSUMER_POLL_EARLY,
                     .poll_jitter = CONSUMER_POLL_JITTER,
                     .retry_ns = 100 * NS_PER_MS,
                     .retry_max_ns = 10 * NS_PER_S,
                     .checkpoints_kept = 3}};
    return options;
}

struct simulation_options whole_run_reclaimed(uint32_t reclaimers, int64_t seconds)
{
    struct simulation_options options = whole_run_ranks(4, seconds);
    options.reclaimers =
        (struct reclaim_actors_options){.count = reclaimers,
                                        .first_ns = 10 * NS_PER_S,
                                        .period_ns = 10 * NS_PER_S,
                                        .jitter = RECLAIM_JITTER,
                                        .reclaim = {.retry_ns = 100 * NS_PER_MS,
                                                    .retry_max_ns = 10 * NS_PER_S,
                                                    .ranks = options.ranks.count,
                                                    .behind = 2,
                                                    .grace_ns = 20 * NS_PER_S,
                                                    .marker_grace_ns = 60 * NS_PER_S,
                                                    .full_every = 4,
                                                    .deletes_max = 16}};
    return options;
}
