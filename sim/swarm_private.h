/* swarm_private.h - inside of the swarm: hosts, lives, and the world they are in. */
#ifndef SIM_SWARM_PRIVATE_H
#define SIM_SWARM_PRIVATE_H

#include "core/driver.h"
#include "sim/actor_loop.h"
#include "sim/checkers.h"
#include "sim/reclaimer.h"
#include "sim/report_checker.h"
#include "sim/swarm.h"

#define SWARM_LIVES_MAX REPORT_LIVES_MAX
/* So many may start in phase 1; the rest is for the restarts of phase 2. */
#define SWARM_LIVES_UPSET (SWARM_LIVES_MAX - 3 * SWARM_PRODUCERS_MAX)
#define SWARM_DEMONS_MAX 16               /* reclaimers, one after the other */
#define SWARM_DEMON_ACTOR SWARM_LIVES_MAX /* actor number of the first reclaimer */

struct swarm;

/* A process: its time, its connection, and what is wrong with both. */
struct swarm_host {
    struct swarm *swarm;
    uint32_t actor;
    struct actor_loop loop;
    struct store *client;
    struct store *faults;
    struct timer resume;
};

struct swarm_life {
    struct swarm_host host; /* must be first */
    uint32_t producer;
    struct store *codec;   /* NULL: references */
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

struct swarm_demon {
    struct swarm_host host;      /* must be first */
    struct reclaimer *reclaimer; /* NULL: dead */
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
    struct timer restarts[SWARM_PRODUCERS_MAX];
    uint32_t restart_fault[SWARM_PRODUCERS_MAX]; /* the upset that it is for */
    uint32_t life_count;
    uint32_t demon_count;
    struct swarm_life lives[SWARM_LIVES_MAX];
    struct swarm_demon demons[SWARM_DEMONS_MAX];
};

/* swarm_trace.c */
__attribute__((format(printf, 3, 4))) void swarm_trace(struct swarm *swarm, uint32_t actor,
                                                       const char *format, ...);
void swarm_trace_applied(struct swarm *swarm, uint32_t actor, const struct store_op *op,
                         enum store_outcome outcome, const char *what);
void swarm_trace_fault(struct swarm_host *host, enum fault_moment moment, enum fault_kind kind,
                       const struct store_op *op);

/* swarm_life.c. `faults`: mask of upsets that it came of. */
void swarm_life_start(struct swarm *swarm, uint32_t producer, uint32_t faults);
bool swarm_life_runs(const struct swarm_life *life);
void swarm_life_crash(struct swarm_life *life);
void swarm_demon_start(struct swarm *swarm);
void swarm_demon_crash(struct swarm_demon *demon);
void swarm_host_pause(struct swarm_host *host, int64_t for_ns);
void swarm_host_resume(struct swarm_host *host);
/* After the run: everything of the host and what runs on it. */
void swarm_lives_close(struct swarm *swarm);

/* swarm_upset.c */
void swarm_upset_begin(struct swarm *swarm);
/* Starts another incarnation later, unless one is coming already. */
void swarm_restart_later(struct swarm *swarm, uint32_t producer, uint32_t fault);

#endif
