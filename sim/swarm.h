/* swarm.h - one random world, from its seed to its end, under checkers.
 *
 * Phase 1: producers and ranks on a virtual store with faults of every kind, paused, killed,
 * locked out, restarted beside processes that still live, rolled back, restored, retired;
 * reclaimers give storage back. Every version, report, delivery, deletion and end is checked. Phase
 * 2: faults stop, the paused go on, the dead are restarted; within a bound everyone must end, every
 * batch that a holder of its epoch uploaded be visible, every rank be given all steps, the chain be
 * whole, and nothing be stored that is not live. Blocks until the run is over. A run is a function
 * of its config; runs share nothing. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include "sim/swarm_config.h"
#include "sim/swarm_coverage.h"
#include "sim/swarm_plane.h"
#include "sim/violations.h"

struct swarm_options {
    const struct swarm_config *config;
    struct fault_shot *shot; /* NULL: none */
    /* One line for each operation, attempt, fault and upset, without a newline; NULL: not called.
     */
    void (*trace)(void *context, const char *line);
    void *trace_context;
};

struct swarm_result {
    struct violations violations;
    uint64_t handled; /* events */
    uint64_t digest;
    uint64_t versions; /* living */
    uint64_t zombies;  /* created below the floor */
    uint64_t steps;
    uint64_t given;     /* steps, to all ranks together */
    uint64_t rounds;    /* of reclaimers */
    uint64_t floors;    /* written by them */
    uint64_t deleted;   /* versions, in rounds that came to their end */
    uint64_t reclaimed; /* TGBs, likewise */
    uint32_t lives;
    uint32_t fenced; /* lives that ended so */
    uint32_t rank_lives;
    double healed_in; /* units from the end of phase 1 to the end */
    uint64_t hit[SWARM_FAULTS];
    struct swarm_coverage coverage;
    struct swarm_plane plane;
};

void swarm_run(const struct swarm_options *options, struct swarm_result *result);

#endif
