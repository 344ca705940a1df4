/* digest_main.c - prints the event digest of one short run per policy. It needs only core/ and
 * sim/, so that the test can build it with several compilers and levels in little time. */
#include <stdio.h>

#include "core/policy.h"
#include "sim/simulation.h"

static struct latency_options lognormal(int64_t base_ms, double slope_ns, double sigma)
{
    return (struct latency_options){.shape = LATENCY_LOGNORMAL,
                                    .base_ns = base_ms * NS_PER_MS,
                                    .slope_ns = slope_ns,
                                    .sigma = sigma};
}

static void options_of(const struct policy_kind *kind, struct simulation_options *options)
{
    double slope_ns = 1e9 / (50 * 1048576.0);
    *options = (struct simulation_options){
        .seed = 7,
        .producers = 16,
        .duration_ns = 1800 * NS_PER_S,
        .store = {.latency = {[STORE_GET] = lognormal(27, slope_ns, 0.62),
                              [STORE_PUT] = lognormal(60, slope_ns, 0.29),
                              [STORE_PUT_IF_ABSENT] = lognormal(61, slope_ns, 0.14),
                              [STORE_LIST] = lognormal(40, 0, 0.5),
                              [STORE_DELETE] = lognormal(30, 0, 0.3)},
                  .apply_fraction = 0.9,
                  .client_bytes_per_s = 0.2e9,
                  .store_bytes_per_s = 1e9,
                  .puts_per_s = 3500,
                  .gets_per_s = 5500},
        .producer = {.commit = {.entry_bytes = 64,
                                .active_versions = 128,
                                .retry_ns = 100 * NS_PER_MS,
                                .retry_max_ns = 10 * NS_PER_S},
                     .policy_kind = kind,
                     .first_gap_ns = 10 * NS_PER_S,
                     .gap_max_ns = 3600 * NS_PER_S,
                     .gap_jitter = 0.1,
                     .batch_bytes = 32 << 20,
                     .batch_ns = 1500 * NS_PER_MS,
                     .batch_jitter = 0.1,
                     .uploads_max = 4},
    };
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        options->producer.policy_values[i] = kind->parameters[i].value_default;
}

int main(void)
{
    const struct policy_kind *kind;
    for (size_t i = 0; (kind = policy_kind_at(i)) != NULL; i++) {
        struct simulation_options options;
        struct simulation_result result;
        options_of(kind, &options);
        simulation_run(&options, &result);
        printf("%-8s %016llx %llu events %llu violations\n", kind->name,
               (unsigned long long)result.digest, (unsigned long long)result.handled,
               (unsigned long long)result.violations.count);
    }
    return 0;
}
