/* cluster_test.c - a whole cluster: 64 producers, 256 ranks and two reclaimers, while producers and
 * ranks die, all ranks roll back, and the store fails. */
#include "sim/simulation.h"

#include <stdio.h>

#include "tests/harness.h"

#define PRODUCERS 64
#define RANKS 256
#define MINUTE (60 * NS_PER_S)

static struct latency_options lognormal(int64_t base_ms, double sigma)
{
    return (struct latency_options){.shape = LATENCY_LOGNORMAL,
                                    .base_ns = base_ms * NS_PER_MS,
                                    .slope_ns = 1e9 / (100 * 1048576.0),
                                    .sigma = sigma};
}

static struct simulation_options cluster_options(void)
{
    struct simulation_options options = {
        .seed = 11,
        .producers = PRODUCERS,
        .duration_ns = 9 * MINUTE,
        .store = {.latency = {[STORE_GET] = lognormal(20, 0.5),
                              [STORE_PUT] = lognormal(40, 0.3),
                              [STORE_PUT_IF_ABSENT] = lognormal(40, 0.2),
                              [STORE_LIST] = lognormal(25, 0.4),
                              [STORE_DELETE] = lognormal(20, 0.3)},
                  .apply_fraction = 0.9},
        .producer = {.commit = {.entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
                                .active_versions = 512,
                                .retry_ns = 100 * NS_PER_MS,
                                .retry_max_ns = 5 * NS_PER_S},
                     .policy_kind = policy_kind_find("fixed"),
                     .first_gap_ns = 10 * NS_PER_S,
                     .gap_max_ns = MINUTE,
                     .gap_jitter = 0.3,
                     .batch_bytes = 16 << 20,
                     .batch_ns = 32 * NS_PER_S,
                     .batch_jitter = 0.2,
                     .uploads_max = 4},
        .ranks = {.count = RANKS,
                  .start_ns = 20 * NS_PER_S,
                  .step_ns = 250 * NS_PER_MS,
                  .step_jitter = 0.3,
                  .checkpoint_steps = 40,
                  .save_ns = 2 * NS_PER_S,
                  .consumer = {.membership = {.retry_ns = 100 * NS_PER_MS,
                                              .retry_max_ns = 5 * NS_PER_S},
                               .slices = RANKS,
                               .prefetch_bytes = 1 << 20,
                               .fetches_max = 8,
                               .fetch_retries = 64,
                               .lookahead = 8,
                               .poll_min_ns = 200 * NS_PER_MS,
                               .poll_max_ns = 5 * NS_PER_S,
                               .poll_smoothing = CONSUMER_POLL_SMOOTHING,
                               .poll_early = CONSUMER_POLL_EARLY,
                               .poll_jitter = CONSUMER_POLL_JITTER,
                               .retry_ns = 100 * NS_PER_MS,
                               .retry_max_ns = 5 * NS_PER_S,
                               .checkpoints_kept = 2}},
        .reclaimers = {.count = 2,
                       .first_ns = MINUTE,
                       .period_ns = 10 * NS_PER_S,
                       .jitter = RECLAIM_JITTER,
                       .reclaim = {.retry_ns = 100 * NS_PER_MS,
                                   .retry_max_ns = 5 * NS_PER_S,
                                   .ranks = RANKS,
                                   .behind = 2,
                                   .marker_grace_ns = MINUTE,
                                   .full_every = 1,
                                   .deletes_max = 16}},
    };
    const struct policy_kind *kind = options.producer.policy_kind;
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        options.producer.policy_values[i] = kind->parameters[i].value_default;
    return options;
}

static void take_sample(void *context, const struct simulation_sample *sample)
{
    *(struct simulation_sample *)context = *sample;
}

/* All of a cluster's steps reach all of its ranks, and what they have passed is given back. */
static void check_run(struct simulation_options *options)
{
    struct simulation_sample last = {0};
    struct simulation_result result;
    options->sampled = take_sample;
    options->sample_ns = options->duration_ns;
    options->context = &last;
    simulation_run(options, &result);
    if (result.violations.count + result.ended + result.ranks_ended > 0)
        printf("\n  %s %s %s\n", result.violations.first, result.first_end, result.first_rank_end);
    CU_ASSERT_EQUAL(result.violations.count, 0);
    CU_ASSERT_EQUAL(result.ended, 0);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT(result.steps > 1000);
    CU_ASSERT(last.slowest + 100 > result.steps);
    CU_ASSERT(result.given >= RANKS * (last.slowest - 1));
    CU_ASSERT(last.floor.step + 300 > result.steps);
    CU_ASSERT(last.tgbs.objects < 500);
}

static void a_cluster_survives_what_happens_to_it(void)
{
    static const struct incident incidents[] = {
        {INCIDENT_PRODUCER, 1 * MINUTE, 20 * NS_PER_S, 0, 16},
        {INCIDENT_RANK, 3 * MINUTE, 10 * NS_PER_S, 64, 64},
        {INCIDENT_ROLLBACK, 4 * MINUTE, 5 * NS_PER_S, 0, RANKS},
        {INCIDENT_OUTAGE, 6 * MINUTE, 15 * NS_PER_S, 0, 1},
    };
    struct simulation_options options = cluster_options();
    options.incidents = incidents;
    options.outage = (struct outage){.errors = 0.5, .timeout_ns = 2 * NS_PER_S};
    options.incident_count = HARNESS_COUNT(incidents);
    check_run(&options);
}

const struct harness_test cluster_tests[] = {
    HARNESS_TEST(a_cluster_survives_what_happens_to_it),
    {0},
};
