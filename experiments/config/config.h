/* config.h - the effective configuration of one arm of an experiment, and where each value came
 * from.
 *
 * Plain data: copied by assignment, owns nothing. Every field belongs to one row of the options
 * table (options.h), which holds its key, unit, default, range and help; the key stands beside each
 * field. Times are nanoseconds, sizes bytes, rates bytes per second. Origins borrow their file
 * names: from the experiment that loaded them (experiment.h), or from the caller of option_set. */
#ifndef EXPERIMENTS_CONFIG_H
#define EXPERIMENTS_CONFIG_H

#include <stdbool.h>

#include "backend/s3_store.h"
#include "core/base.h"
#include "core/commit.h"
#include "core/fault_store.h"
#include "core/policy.h"
#include "core/producer.h"
#include "core/tgb.h"
#include "experiments/config/diagnostic.h"
#include "experiments/config/quantiles.h"

#define CONFIG_OPTIONS_MAX 192 /* rows of the options table, those of policies included */
#define CONFIG_POLICIES_MAX 16
#define CONFIG_RANKS_MAX 65536
#define CONFIG_RECLAIMERS_MAX 16
#define CONFIG_NAME_MAX 64 /* bytes with the NUL, as all of these */
#define CONFIG_TITLE_MAX 160
#define CONFIG_PATH_MAX 512
#define CONFIG_SEEDS_MAX 100000              /* of an arm, however they are asked for */
#define CONFIG_BINS_MAX 1000000              /* points of a series */
#define CONFIG_CELLS_MAX (UINT64_C(1) << 28) /* bins x producers */

enum toggle {
    TOGGLE_OFF,
    TOGGLE_ON,
};

enum origin_kind {
    ORIGIN_DEFAULT, /* the options table */
    ORIGIN_PROFILE, /* the store's profile: file and line */
    ORIGIN_FILE,    /* the experiment: file and line */
    ORIGIN_SET,     /* --set on the command line */
};

struct origin {
    enum origin_kind kind;
    uint32_t line;    /* 1 is the first; 0 unless PROFILE or FILE */
    uint32_t column;  /* 1 is the first; 0 unless PROFILE or FILE */
    const char *file; /* borrowed; NULL unless PROFILE or FILE */
};

/* Latency of one operation = (base + bytes / stream_rate) * factor; the factor's median is 1. */
struct latency_config {
    int64_t base_ns;    /* store.<verb>.base: median of an operation without a body */
    double stream_rate; /* store.<verb>.slope, bytes/s of one stream; 0: size does not matter */
    double sigma;       /* store.<verb>.sigma of the lognormal factor; 0: constant */
    struct quantile_table quantiles; /* store.<verb>.quantiles */
};

/* How creates that contend hold each other up (sim/create_queue.h); all 0: not at all. */
struct contention_config {
    int64_t wait_ns;      /* store.create.wait: before the decision, for each other create */
    double collision;     /* store.create.collision: chance of a convoy, for each other create */
    int64_t collision_ns; /* store.create.collision_time: mean delay in it, for each other create */
    double refused_early; /* store.create.refused_early: share of the rest that a loser is spared */
};

/* Processors that all requests share (sim/station.h); cores 0: not at all. */
struct station_config {
    double cores;                       /* store.cores */
    int64_t work_ns[STORE_VERB_COUNT];  /* store.<verb>.work: of one processor */
    double work_rate[STORE_VERB_COUNT]; /* store.<verb>.work_rate, bytes/s; 0: bytes are no work */
};

struct workload_config {
    uint64_t producers;      /* workload.producers */
    double rate;             /* workload.rate, bytes/s offered by one producer */
    uint64_t tgb_bytes;      /* workload.tgb */
    double jitter;           /* workload.jitter: time to make a TGB *= uniform [1-j, 1+j) */
    enum producer_mode mode; /* workload.mode */
};

struct run_config {
    int64_t duration_ns; /* run.duration */
    int64_t warmup_ns;   /* run.warmup: left out of metrics, never of series; below the duration */
    int64_t bin_ns;      /* run.bin: width of one point of a series */
    char incidents[CONFIG_PATH_MAX]; /* run.incidents (incident_list.h); empty: none */
    double outage_errors;            /* run.outage_errors: of requests, the others are lost */
    int64_t outage_timeout_ns;       /* run.outage_timeout */
};

struct commit_config {
    enum commit_find find;    /* commit.find */
    int64_t first_gap_ns;     /* commit.first_gap: the first attempt starts uniformly within it */
    int64_t gap_min_ns;       /* commit.gap_min: clamps of the policy's gap, before jitter */
    int64_t gap_max_ns;       /* commit.gap_max */
    double jitter;            /* commit.jitter: gap *= uniform [1-j, 1+j) */
    uint64_t active_versions; /* commit.active_versions: A */
    uint64_t uploads_max;     /* commit.uploads_max: at once by one producer */
    int64_t retry_ns;         /* commit.retry: first back-off */
    int64_t retry_max_ns;     /* commit.retry_max */
};

/* A simulated training job (sim/rank_actors.h). */
struct ranks_config {
    uint64_t count;            /* ranks.count; 0: none */
    int64_t start_ns;          /* ranks.start */
    int64_t step_ns;           /* ranks.step */
    double jitter;             /* ranks.jitter: step_ns *= uniform [1-j, 1+j) */
    uint64_t checkpoint_every; /* ranks.checkpoint_every, steps; 0: never */
    uint64_t checkpoints_kept; /* ranks.checkpoints_kept */
    int64_t save_ns;           /* ranks.save */
    uint64_t prefetch_bytes;   /* ranks.prefetch */
    uint64_t fetches;          /* ranks.fetches */
    int64_t poll_min_ns;       /* ranks.poll_min */
    int64_t poll_max_ns;       /* ranks.poll_max */
    uint64_t poll_smoothing;   /* ranks.poll_smoothing: a version's weight is one in so many */
    uint64_t poll_early;       /* ranks.poll_early: one part in so many of the pace */
    double poll_jitter;        /* ranks.poll_jitter */
};

/* Reclamation in a simulated run (core/reclaim.h). */
struct reclaim_config {
    uint64_t count;          /* reclaim.count; 0: none */
    int64_t period_ns;       /* reclaim.period */
    double jitter;           /* reclaim.jitter: period_ns *= uniform [1-j, 1+j) */
    uint64_t behind;         /* reclaim.behind, versions */
    int64_t grace_ns;        /* reclaim.grace */
    int64_t marker_grace_ns; /* reclaim.marker_grace */
    uint64_t full_every;     /* reclaim.full_every, rounds */
    uint64_t deletes;        /* reclaim.deletes */
};

struct policy_config {
    uint32_t index; /* policy.name: index into core's policy table */
    /* policy.<kind>.<parameter>, in the units that core/policy.h states (durations in seconds). */
    double values[CONFIG_POLICIES_MAX][POLICY_PARAMETERS_MAX];
};

struct store_config {
    char profile[CONFIG_PATH_MAX];                   /* store.profile */
    struct latency_config latency[STORE_VERB_COUNT]; /* get, put, create, list, delete */
    struct contention_config contention;             /* store.create.* */
    struct station_config station;                   /* store.cores, store.<verb>.work* */
    double apply_fraction;   /* store.apply_fraction: applied this far into the latency */
    double read_fraction;    /* store.read_fraction: the same of GET and LIST; 0: as the others */
    double client_bandwidth; /* store.client_bandwidth, bytes/s of one producer's machine */
    double bandwidth;        /* store.bandwidth, bytes/s of the store as a whole */
    double put_limit;        /* store.put_limit, requests/s of PUT, create, DELETE */
    double get_limit;        /* store.get_limit, requests/s of GET, LIST */
};

/* Dollars per 1,000 requests; a create costs what a PUT does. */
struct price_config {
    double put;    /* price.put */
    double get;    /* price.get */
    double list;   /* price.list */
    double delete; /* price.delete */
};

enum live_fault_class {
    LIVE_FAULT_READ,   /* GET, LIST */
    LIVE_FAULT_WRITE,  /* PUT, DELETE */
    LIVE_FAULT_CREATE, /* PUT_IF_ABSENT */
    LIVE_FAULT_CLASS_COUNT,
};

/* What goes wrong on purpose between a live producer and its store (core/fault_store.h). */
struct live_fault_config {
    /* live.fault.<class>.<kind>; those of one class add up to at most 1. */
    double probability[LIVE_FAULT_CLASS_COUNT][FAULT_KIND_COUNT];
    int64_t timeout_ns; /* live.fault.timeout: after sending, an answer that is lost is given up */
    int64_t late_ns;    /* live.fault.late_max: after sending, the latest that one lands */
    int64_t delay_ns;   /* live.fault.delay_max */
    /* Bursts of 503, in all producers of a run, or all its ranks, at once. */
    double burst;            /* live.fault.burst: share of operations; 0: none */
    int64_t burst_period_ns; /* live.fault.burst_period */
    int64_t burst_ns;        /* live.fault.burst_max: the longest, shorter than the period */
};

struct live_config {
    char store[CONFIG_PATH_MAX]; /* live.store: URL; empty where none was given */
    /* How an s3:// store is reached (backend/s3_store.h); empty: from the environment or profile.
     */
    char endpoint[CONFIG_PATH_MAX]; /* live.endpoint */
    char region[CONFIG_NAME_MAX];   /* live.region */
    char profile[CONFIG_NAME_MAX];  /* live.profile */
    char ca_file[CONFIG_PATH_MAX];  /* live.ca_file */
    enum s3_style style;            /* live.style */
    enum s3_payload payload;        /* live.payload */
    uint64_t connections;           /* live.connections: of one process */
    int64_t deadline_ns;            /* live.deadline: of one attempt, its body's time apart */
    /* Of all runs of a sweep together (experiments/live/live_cost.h). */
    double cap_dollars;    /* live.cap_dollars */
    uint64_t cap_bytes;    /* live.cap_bytes: up and down */
    uint64_t cap_requests; /* live.cap_requests */
    enum toggle sync;      /* live.sync: fsync what was acknowledged */
    enum toggle restart;   /* live.restart: start a producer again when its process died */
    uint64_t workers;      /* live.workers: threads for blocking file work, a process */
    enum toggle shape;     /* live.shape: as slow as the store.* latencies */
    struct live_fault_config fault;
    int64_t patience_ns; /* live.patience: how long ranks wait for each other */
    int64_t lead_ns;     /* live.lead: from rank 0's word to the start of a run */
};

struct config {
    char name[CONFIG_NAME_MAX];   /* name: of the experiment */
    char title[CONFIG_TITLE_MAX]; /* title: one line for people; may be empty */
    uint64_t seeds;               /* seeds: how many */
    uint64_t seed;                /* seed: the first; the others follow */
    struct workload_config workload;
    struct run_config run;
    struct commit_config commit;
    uint64_t entry_bytes; /* manifest.entry: encoded size of one entry */
    struct tgb_mesh mesh; /* tgb.mesh: how TGBs are sliced */
    uint64_t zstd_level;  /* tgb.zstd: of slices of given files; 0: none */
    struct policy_config policy;
    struct ranks_config ranks;
    struct reclaim_config reclaim;
    struct store_config store;
    struct price_config price;
    struct live_config live;
    struct origin origins[CONFIG_OPTIONS_MAX]; /* by index into the options table */
};

/* Every value at its default. The values of a store are those of the s3-standard profile. */
void config_default(struct config *config);

/* What one row alone cannot check: keys that contradict each other, or ask for more bins than a run
 * can record. False: the diagnostic names the keys, and where the offending one was set. */
MUST_USE bool config_check(const struct config *config, struct diagnostic *diagnostic);

/* The chosen policy, and its parameter values in the order of its table. Borrowed. */
const struct policy_kind *config_policy_kind(const struct config *config);
const double *config_policy_values(const struct config *config);

/* Dollars per 1,000 requests of a verb. */
double config_price(const struct config *config, enum store_verb verb);

#define ORIGIN_TEXT_MAX (CONFIG_PATH_MAX + 32)

/* "default", "--set", "file:line" or "profile file:line". */
void origin_print(const struct origin *origin, char text[ORIGIN_TEXT_MAX]);
/* "file:line:column", "--set" or "default", for the head of a message. */
void origin_print_place(const struct origin *origin, char text[ORIGIN_TEXT_MAX]);

#endif
