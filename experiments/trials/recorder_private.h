/* recorder_private.h - the recorder's content, for recorder.c (fills), recorder_results.c (derives)
 * and recorder_wire.c (sends). */
#ifndef EXPERIMENTS_RECORDER_PRIVATE_H
#define EXPERIMENTS_RECORDER_PRIVATE_H

#include "experiments/trials/recorder.h"

#define RECORDER_TEXT_MAX 256

/* Sums of one bin: all are added when recorders are merged, but for manifest_bytes. A struct of
 * uint64_t only, so that it can be sent as it is. */
struct recorder_sums {
    uint64_t won;
    uint64_t lost;
    uint64_t tau_ns;
    uint64_t window_ns;
    uint64_t gap_ns;
    uint64_t gap_count;
    uint64_t committed_bytes;
    uint64_t batches;
    uint64_t requests[STORE_VERB_COUNT];
    uint64_t request_bytes[STORE_VERB_COUNT];
    struct commit_counters retries;
    uint64_t manifest_bytes; /* largest seen */
};

struct recorder_bin {
    struct recorder_sums sums;
    struct histogram age;
};

struct recorder_producer {
    struct histogram age;        /* batches that became visible after the warm-up */
    int64_t oldest_invisible_ns; /* made then; TIME_NEVER: none */
    uint64_t invisible_bytes;
};

struct recorder {
    struct recorder_options options;
    struct loop *loop; /* borrowed; NULL: none */
    int64_t end_ns;
    uint32_t bin_count;
    uint32_t warmup_bins;
    uint32_t current;         /* cached: bin of the latest event ... */
    int64_t current_start_ns; /* ... and its bounds */
    int64_t current_end_ns;
    int64_t latest_ns;
    uint32_t failed_producers;
    char failure[RECORDER_TEXT_MAX];
    struct recorder_bin *bins;
    uint64_t *committed; /* bytes: bin_count rows of options.producers */
    struct recorder_producer *producers;
    struct histogram *latency; /* by verb: of answers after the warm-up */
    uint64_t in_flight_max;    /* 0: never noted */
};

void recorder_add_sums(struct recorder_sums *into, const struct recorder_sums *from);

#endif
