/* simulation.h - one run in virtual time: producers, ranks and reclaimers on a virtual store,
 * under checkers.
 *
 * Blocks until the run is over. Runs share nothing, so that several threads may run one each. A run
 * is a function of its options: same options, same digest, on every compiler and optimisation level
 * that keeps IEEE arithmetic. Running out of memory ends the program. */
#ifndef SIM_SIMULATION_H
#define SIM_SIMULATION_H

#include "core/driver.h"
#include "sim/checkers.h"
#include "sim/incidents.h"
#include "sim/rank_actors.h"
#include "sim/reclaim_actors.h"
#include "sim/virtual_store.h"

#define SIMULATION_PRODUCERS_MAX MANIFEST_STATES_MAX

/* Parts that are replaced by slow and obvious ones; none of them changes the digest. */
enum {
    REFERENCE_QUEUE = 1 << 0, /* events in an unsorted array */
    REFERENCE_LINKS = 1 << 1, /* every transfer recomputed at every change */
    REFERENCE_BYTES = 1 << 2, /* manifests as bytes, by the codec: all versions stay in memory */
    REFERENCE_ALL = REFERENCE_QUEUE | REFERENCE_LINKS | REFERENCE_BYTES,
};

/* How things stand at one moment. */
struct simulation_sample {
    int64_t now_ns;
    struct object_stock tgbs;      /* stored */
    struct object_stock manifests; /* versions and floors */
    struct floor floor;
    uint64_t committed; /* steps */
    uint64_t live;      /* steps in the newest version */
    uint64_t slowest;   /* the first step that not all ranks were given yet; 0: no ranks */
};

struct simulation_options {
    uint64_t seed;
    uint32_t producers; /* 1..SIMULATION_PRODUCERS_MAX */
    int64_t duration_ns;
    unsigned reference; /* REFERENCE_* */
    /* Loop, seed, link kind and observer are set by the run. */
    struct virtual_store_options store;
    /* Producer number, incarnation and random stream are set by the run, from (seed, producer). */
    struct producer_options producer;
    const struct producer_observer *observer; /* borrowed; NULL: none */
    /* Their TGBs are sliced as ranks.consumer.slices says. */
    struct rank_actors_options ranks;
    const struct rank_observer *rank_observer; /* borrowed; NULL: none */
    struct reclaim_actors_options reclaimers;
    const struct reclaim_actors_observer *reclaim_observer; /* borrowed; NULL: none */
    /* Those of one kind do not overlap, where they are about the same process. */
    const struct incident *incidents; /* borrowed */
    uint32_t incident_count;
    struct outage outage; /* any, if there are no incidents */
    /* Told each sample_ns, and when the run is over; does not change the run. NULL: not called. */
    void (*sampled)(void *context, const struct simulation_sample *sample);
    int64_t sample_ns;
    /* Told of the run's loop before anything happens, and of each producer and rank as it is when
     * the run is over, if its process lives; NULL: not called. */
    void (*at_start)(void *context, struct loop *loop);
    void (*at_end)(void *context, const struct producer *producer);
    void (*at_end_of_rank)(void *context, const struct consumer *consumer);
    void *context;
};

struct simulation_result {
    uint64_t handled; /* events */
    uint64_t digest;
    struct violations violations;
    uint64_t versions;                     /* number of the newest */
    uint64_t manifest_bytes;               /* its size */
    uint64_t steps;                        /* committed */
    uint32_t objects;                      /* stored at the end */
    uint32_t ended;                        /* producers that ended before the run did */
    char first_end[PRODUCER_END_TEXT_MAX]; /* the first one's reason; empty: none */
    uint64_t given;                        /* steps, to all ranks together */
    uint64_t slowest;                      /* as in a sample */
    uint32_t ranks_ended;                  /* before the run did */
    char first_rank_end[CONSUMER_END_TEXT_MAX];
    struct virtual_store_counters store;
};

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *simulation_options_check(const struct simulation_options *options);
/* The options must have passed the check. */
void simulation_run(const struct simulation_options *options, struct simulation_result *result);

#endif
