/* contention.h - clients in a closed loop on one key of a virtual store, as the public measurement
 * of conditional updates describes it (docs/calibration.md).
 *
 * Each client updates the key on the condition that nobody did since it last knew it; after a
 * success it knows what it wrote and updates again at once; after a failure it reads the key, then
 * updates at once. A conditional update is modelled on the store's create-if-absent: version v + 1
 * of a name is created by whoever last knew v, so that at the instant of its decision it succeeds
 * if and only if nobody else's update was applied since. A read yields the newest version at the
 * instant at which the store answers it from.
 *
 * Blocks until the run is over. A function of its options. Running out of memory ends the program.
 */
#ifndef SIM_CONTENTION_H
#define SIM_CONTENTION_H

#include "sim/virtual_store.h"

#define CONTENTION_CLIENTS_MAX 1024

struct contention_options {
    uint64_t seed;
    uint32_t clients;    /* 1..CONTENTION_CLIENTS_MAX */
    int64_t warmup_ns;   /* left out of all results */
    int64_t duration_ns; /* counted, after the warm-up */
    /* Loop, seed and observer are set by the run. */
    struct virtual_store_options store;
};

/* Quantiles of successful updates; 0 where there is none. */
struct contention_latency {
    int64_t median_ns;
    int64_t p99_ns;
};

struct contention_result {
    uint64_t successes; /* answered while counted, as failures are */
    uint64_t failures;
    double successes_per_s;
    double failed_share; /* of both; 0 where there is none */
    /* From the moment at which a client wants to update to the answer: after a failure this holds
     * the read, as the measurement's does. */
    struct contention_latency update;
    struct contention_latency request; /* of the conditional request alone */
    uint64_t digest;
};

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *contention_options_check(const struct contention_options *options);
/* The options must have passed the check. */
void contention_run(const struct contention_options *options, struct contention_result *result);

#endif
