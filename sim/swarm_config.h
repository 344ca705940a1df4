/* swarm_config.h - one random world of the swarm, drawn from one seed.
 *
 * Everything that has a duration is drawn in units of the store's latency, so that worlds are alike
 * whether an operation takes a millisecond or seconds. Limits make a world smaller without changing
 * what the rest of it draws: shrinking a failure only tightens them. */
#ifndef SIM_SWARM_CONFIG_H
#define SIM_SWARM_CONFIG_H

#include "core/consumer.h"
#include "core/fault_store.h"
#include "core/producer.h"
#include "core/reclaim.h"
#include "sim/latency.h"

#define SWARM_PRODUCERS_MAX 8
#define SWARM_RANKS_MAX 4
#define SWARM_RECLAIMERS_MAX 3

/* What can happen to a process; the faults of its store are those of core/fault_store.h. */
#define SWARM_UPSETS(X)                                                                            \
    X(UPSET_PAUSE, "pause", "stopped for a while; its timers and answers come late")               \
    X(UPSET_CRASH, "crash", "dies, and another incarnation starts later")                          \
    X(UPSET_ZOMBIE, "zombie", "another incarnation starts beside it; it may be paused meanwhile")  \
    X(UPSET_JUMP, "jump", "its wall clock jumps; clocks are wrong from the start, too")            \
    X(UPSET_LOCKOUT, "lockout",                                                                    \
      "its store refuses some of its requests for good, and it must end")                          \
    X(UPSET_ROLLBACK, "rollback", "a rank dies and goes back to an older checkpoint")              \
    X(UPSET_RESTORE, "restore", "a rank dies and goes back to checkpoints that it had before")     \
    X(UPSET_RETIRE, "retire", "a rank is retired by hand, dead or alive, and comes back later")    \
    X(UPSET_NEWCOMER, "newcomer",                                                                  \
      "a rank comes with less while a reclaimer stands still between its listings")

/* Those from here on meet only ranks. */
#define UPSET_FIRST_OF_RANKS UPSET_ROLLBACK

enum swarm_upset {
#define X(code, name, text) code,
    SWARM_UPSETS(X)
#undef X
    UPSET_COUNT
};

/* Bits of a fault mask: store faults by their kind, then upsets. */
#define SWARM_FAULTS (FAULT_KIND_COUNT + UPSET_COUNT)
#define SWARM_FAULTS_OF_PRODUCERS (FAULT_KIND_COUNT + UPSET_FIRST_OF_RANKS)
#define SWARM_FAULTS_ALL ((UINT32_C(1) << SWARM_FAULTS) - 1)

struct swarm_limits {
    uint64_t seed;
    uint32_t producers;  /* at most */
    uint32_t ranks;      /* at most */
    uint32_t reclaimers; /* at most */
    uint32_t faults;     /* mask of what may happen */
    uint32_t percent;    /* of the drawn length of phase 1 */
};

struct swarm_config {
    struct swarm_limits limits;
    int64_t unit_ns; /* median latency of a small operation */
    uint32_t producers;
    uint32_t ranks;
    uint32_t reclaimers;
    struct tgb_mesh mesh;
    uint32_t entry_bytes;    /* what producers would make a chain with, */
    uint32_t entries_differ; /* 1: each life with another */
    uint32_t bytes;          /* 1: manifests and batches travel as bytes, through the codec */
    int64_t phase1_ns;
    int64_t bound_ns;     /* phase 2 must be over by then */
    int64_t upset_gap_ns; /* between upsets, on average */
    double upset_weights[UPSET_COUNT];
    uint64_t behind;        /* of the reclaimers */
    int64_t reclaim_gap_ns; /* between rounds, at most; drawn */
    int64_t grace_ns;
    uint32_t deletes_max;
    int64_t step_ns; /* of the ranks: a step is used for so long */
    uint64_t checkpoint_steps;
    uint32_t checkpoints_kept;
    int64_t save_ns;
    uint32_t late_rank;      /* comes long after the others; UINT32_MAX: none */
    int64_t late_ns;         /* so long */
    int64_t clock_spread_ns; /* clocks are wrong by up to this */
    double apply_fraction;
    double sigma;
    struct fault_plan plan;
};

/* A drawn duration: every order of magnitude between the two is as likely. */
int64_t swarm_draw_ns(struct random_stream *random, double low_ns, double high_ns);

const char *swarm_fault_name(uint32_t bit);
/* SWARM_FAULTS if there is none of that name. */
uint32_t swarm_fault_find(const char *name, size_t name_bytes);

/* No limit but the seed. */
struct swarm_limits swarm_limits_none(uint64_t seed);
void swarm_config_draw(struct swarm_config *config, const struct swarm_limits *limits);
/* Options of one life, all but store, loop and observer. `life` numbers all lives of a run. */
void swarm_config_producer(const struct swarm_config *config, uint32_t producer, uint32_t life,
                           struct producer_options *options);
/* The same of one rank's life, all but the checkpoints to go back to. */
void swarm_config_rank(const struct swarm_config *config, uint32_t rank, uint32_t life,
                       struct consumer_options *options);
void swarm_config_reclaimer(const struct swarm_config *config, uint32_t life,
                            struct reclaim_options *options);

#endif
