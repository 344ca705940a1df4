/* swarm_private.h - inside of the swarm: hosts, lives, and the world they are in. */
#ifndef SIM_SWARM_PRIVATE_H
#define SIM_SWARM_PRIVATE_H

#include "core/driver.h"
#include "core/reclaim_driver.h"
#include "sim/actor_loop.h"
#include "sim/checkers.h"
#include "sim/report_checker.h"
#include "sim/retirer.h"
#include "sim/swarm.h"
#include "sim/trainer.h"

#define SWARM_LIVES_MAX REPORT_LIVES_MAX
/* So many may start in phase 1; the rest is for the restarts of phase 2. */
#define SWARM_LIVES_UPSET (SWARM_LIVES_MAX - 3 * SWARM_PRODUCERS_MAX)
#define SWARM_RANK_LIVES_MAX 128
#define SWARM_RANK_LIVES_UPSET (SWARM_RANK_LIVES_MAX - 8 * SWARM_RANKS_MAX)
#define SWARM_DEMONS_MAX 16   /* reclaimers, one after the other */
#define SWARM_FINAL_ROUNDS 2  /* of the last: old markers are seen in one, deleted in the next */
#define SWARM_RETIRERS_MAX 16 /* of ranks, by hand */
#define SWARM_BACKUPS_MAX 6   /* sets of checkpoints that a rank had before */
/* Actor numbers: those of producers' lives come first. */
#define SWARM_RANK_ACTOR SWARM_LIVES_MAX
#define SWARM_RETIRER_ACTOR (SWARM_RANK_ACTOR + SWARM_RANK_LIVES_MAX)
#define SWARM_DEMON_ACTOR (SWARM_RETIRER_ACTOR + SWARM_RETIRERS_MAX)

struct swarm;

enum swarm_host_kind {
    HOST_PRODUCER,
    HOST_RANK,
    HOST_RETIRER,
    HOST_RECLAIMER,
};

/* A process: its time, its connection, and what is wrong with both. */
struct swarm_host {
    struct swarm *swarm;
    enum swarm_host_kind kind;
    uint32_t actor;
    struct actor_loop loop;
    struct store *client;
    struct store *faults;
    struct store *codec; /* NULL: references */
    struct timer resume;
    uint32_t refusals;   /* that its process goes by */
    bool refused_upload; /* the last was of a PUT */
};

struct swarm_life {
    struct swarm_host host; /* must be first */
    uint32_t producer;
    struct driver *driver; /* NULL: dead */
    struct producer_observer observer;
    struct branch_probe probe;
    uint32_t faults_ever;      /* masks: of the whole life, */
    uint32_t faults_now;       /* of this attempt, */
    uint32_t faults_before[2]; /* and of the two before */
    bool ended;
    enum producer_end end;
    char end_text[PRODUCER_END_TEXT_MAX];
};

/* What a rank is started from. */
enum swarm_return {
    RETURN_AGAIN,    /* its disk */
    RETURN_ROLLBACK, /* its disk, and an older checkpoint on it */
    RETURN_RESTORE,  /* checkpoints that the disk held before */
    RETURN_ANEW,     /* nothing: the disk is wiped */
};

struct swarm_rank_life {
    struct swarm_host host; /* must be first */
    uint32_t rank;
    enum swarm_return from;
    uint64_t oldest;         /* step of the checkpoints it was started from; 0: none */
    struct trainer *trainer; /* NULL: dead */
    bool ended;
    /* At its last save: it had a successor; the value that it had published. */
    bool superseded;
    uint64_t published;
};

struct swarm_rank {
    struct trainer_disk disk;
    struct checkpoint_set backups[SWARM_BACKUPS_MAX]; /* a ring */
    uint32_t backup_count;                            /* ever */
    struct timer restart;
    enum swarm_return restart_from;
    bool done; /* in phase 2: was given all there is, and stopped */
};

struct swarm_retirer {
    struct swarm_host host; /* must be first */
    struct retirer *retirer;
    bool ended;
};

struct swarm_demon {
    struct swarm_host host;        /* must be first */
    struct reclaim_driver *driver; /* NULL: dead */
    struct reclaim_observer observer;
    bool ended;          /* it was refused */
    uint64_t floor_step; /* that its last round left */
    uint32_t swept;      /* rounds that came to their end */
    uint32_t clean;      /* of those, in which nobody was missing */
};

struct swarm {
    const struct swarm_options *options;
    const struct swarm_config *config;
    struct swarm_result *result;
    struct fault_plan plan; /* a copy, emptied at the end of phase 1 */
    struct virtual_loop loop;
    struct virtual_store *store;
    struct checkers checkers;
    struct virtual_store_observer inner_observer;
    struct report_checker report;
    struct random_stream random;
    struct timer upset;
    struct timer heal;
    bool healed;
    struct timer doom; /* of a life that was started to die soon */
    uint32_t doomed;
    /* The next reclaimer in this phase stands still when it lists, and meanwhile a rank comes,
     * which may stand still as soon as it has a number. RECLAIM_IDLE: none. */
    enum reclaim_phase ambush;
    bool newcomer_waits;
    struct timer newcomer;
    struct timer final_restart;
    uint32_t final_demon; /* cleans up when all is quiet; SWARM_DEMONS_MAX: not yet */
    struct timer restarts[SWARM_PRODUCERS_MAX];
    uint32_t restart_fault[SWARM_PRODUCERS_MAX]; /* the upset that it is for */
    uint32_t life_count;
    uint32_t rank_life_count;
    uint32_t retirer_count;
    uint32_t demon_count;
    struct swarm_life lives[SWARM_LIVES_MAX];
    struct swarm_rank ranks[SWARM_RANKS_MAX];
    struct swarm_rank_life rank_lives[SWARM_RANK_LIVES_MAX];
    struct swarm_retirer retirers[SWARM_RETIRERS_MAX];
    struct swarm_demon demons[SWARM_DEMONS_MAX];
};

/* swarm_trace.c */
__attribute__((format(printf, 3, 4))) void swarm_trace(struct swarm *swarm, uint32_t actor,
                                                       const char *format, ...);
void swarm_trace_applied(struct swarm *swarm, uint32_t actor, const struct store_op *op,
                         enum store_outcome outcome, const char *what);
void swarm_trace_fault(struct swarm_host *host, enum fault_moment moment, enum fault_kind kind,
                       const struct store_op *op);

/* swarm_host.c */
void swarm_host_open(struct swarm_host *host, struct swarm *swarm, enum swarm_host_kind kind,
                     uint32_t actor);
/* What its process sends requests to. */
struct store *swarm_host_store(const struct swarm_host *host);
void swarm_host_pause(struct swarm_host *host, int64_t for_ns);
void swarm_host_resume(struct swarm_host *host);
/* The store forgets the sender; then its operations may go. */
void swarm_host_kill(struct swarm_host *host);
void swarm_host_close(struct swarm_host *host);

/* From now on its store refuses what the refusal names. */
void swarm_host_lock_out(struct swarm_host *host, const struct fault_refusal *refusal);

/* swarm_refusal.c: what follows from a request that was refused for good */
bool swarm_refusal_is(enum fault_kind kind);
/* Before its process is told. */
void swarm_refusal_answered(struct swarm_host *host, const struct store_op *op);
void swarm_refusal_sends(struct swarm_host *host, const struct store_op *op);
/* The process ended, or the reclaimer's round: because the store failed, or not. `text`: why; NULL:
 * it tells nobody. */
void swarm_refusal_ended(const struct swarm_host *host, bool failed, const char *text);

/* swarm_life.c. `faults`: mask of upsets that it came of. */
void swarm_life_start(struct swarm *swarm, uint32_t producer, uint32_t faults);
bool swarm_life_runs(const struct swarm_life *life);
void swarm_life_crash(struct swarm_life *life);
/* The request of a producer that is just being sent. */
void swarm_life_sends(struct swarm_life *life, enum fault_kind kind, const struct store_op *op);
/* After the run, as the other two: all of the host and what runs on it. */
void swarm_lives_close(struct swarm *swarm);

/* swarm_rank.c */
void swarm_rank_start(struct swarm *swarm, uint32_t rank, enum swarm_return from);
void swarm_rank_restart_later(struct swarm *swarm, uint32_t rank, enum swarm_return from);
/* The same after a given time. */
void swarm_rank_restart_in(struct swarm *swarm, uint32_t rank, enum swarm_return from,
                           int64_t after_ns);
void swarm_rank_crash(struct swarm *swarm, uint32_t rank); /* all its lives */
bool swarm_rank_runs(const struct swarm *swarm, uint32_t rank);
bool swarm_rank_life_runs(const struct swarm_rank_life *life);
void swarm_rank_life_crash(struct swarm_rank_life *life);
/* The request of a rank that is just being sent. */
void swarm_rank_sends(struct swarm_host *host, const struct store_op *op);
/* Phase 2, now and then: stops those that were given all there is. */
void swarm_ranks_settle(struct swarm *swarm);
bool swarm_ranks_done(const struct swarm *swarm);
void swarm_retire_rank(struct swarm *swarm, uint32_t rank);
void swarm_ranks_close(struct swarm *swarm);

/* swarm_demon.c */
void swarm_demon_start(struct swarm *swarm);
/* One that cleans up when all is quiet, with nothing left to wait for. */
void swarm_demon_start_final(struct swarm *swarm);
bool swarm_demon_runs(const struct swarm_demon *demon);
void swarm_demon_crash(struct swarm_demon *demon);
/* The request of a reclaimer that is just being sent, or answered. */
void swarm_demon_sends(struct swarm *swarm, uint32_t actor, const struct store_op *op);
void swarm_demon_is_answered(struct swarm *swarm, uint32_t actor, const struct store_op *op);
void swarm_demons_close(struct swarm *swarm);

/* swarm_end.c: what must hold when all is over. */
void swarm_check_end(struct swarm *swarm);

/* swarm_upset.c */
void swarm_upset_begin(struct swarm *swarm);
/* A producer is about to learn that it is fenced. */
void swarm_upset_fenced(struct swarm_life *life);
/* A rank comes with less than it was known to need. */
void swarm_upset_newcomer(struct swarm *swarm);
/* Its bit in a mask of faults. */
uint32_t swarm_upset_bit(enum swarm_upset upset);
/* A drawn time: every order of magnitude between so many units is as likely. */
int64_t swarm_draw_units(struct swarm *swarm, double low, double high);
/* Starts another incarnation later, unless one is coming already. */
void swarm_restart_later(struct swarm *swarm, uint32_t producer, uint32_t fault);

#endif
