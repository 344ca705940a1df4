/* swarm_hunt.h - many random worlds on all cores, and what came of each that failed.
 *
 * Worlds run in a few processes, each one world after the other: one that fails an assert, crashes
 * or never comes to an end takes only its process with it, and is a failure like a broken promise.
 * All calls block. */
#ifndef EXPERIMENTS_SWARM_SWARM_HUNT_H
#define EXPERIMENTS_SWARM_SWARM_HUNT_H

#include <stdbool.h>

#include "experiments/swarm/swarm_child.h"
#include "experiments/trials/progress.h"
#include "sim/swarm.h"

#define HUNT_JOBS_MAX CHILDREN_MAX
#define HUNT_FAILURES_MAX 3 /* the hunt ends then */
#define HUNT_TEXT_MAX 512

struct swarm_sums {
    uint64_t handled;
    uint64_t lives;
    uint64_t fenced;
    uint64_t versions;
    uint64_t zombies;
    uint64_t steps;
    uint64_t rank_lives;
    uint64_t given;
    uint64_t rounds;
    uint64_t floors;
    uint64_t deleted;
    uint64_t reclaimed;
    uint64_t hit[SWARM_FAULTS];
    double healed_most;
    struct swarm_coverage coverage;
    struct swarm_plane plane;
};

struct swarm_failure {
    struct swarm_limits limits;
    bool endless;
    char text[HUNT_TEXT_MAX]; /* "breaks a promise: ...", "fails an assert: ..." */
};

struct swarm_hunt {
    struct swarm_limits limits; /* of the first seed */
    uint64_t seeds;
    uint64_t jobs;        /* processes at most, up to HUNT_JOBS_MAX */
    int64_t cpu_limit_ns; /* of one world */
    struct progress progress;
    /* A world failed: one of the first HUNT_FAILURES_MAX. */
    void (*failed_one)(struct swarm_hunt *hunt, const struct swarm_failure *failure);

    /* What came of it. */
    int64_t started_ns;
    uint64_t done;
    uint64_t failed;
    bool astray; /* a process ended badly in no world, or could not be made: stderr tells */
    struct swarm_sums sums;
    struct swarm_failure failures[HUNT_FAILURES_MAX];
};

/* How many processes so many cores are worth: at least 1, at most HUNT_JOBS_MAX. */
uint64_t swarm_hunt_jobs(long cores);
/* Runs the worlds until all are done, or HUNT_FAILURES_MAX failed. */
void swarm_hunt_run(struct swarm_hunt *hunt);

/* Runs one world in a process of its own; what it traces goes to stdout, line by line, up to the
 * death if it dies. True: it fails, as `failure` says. False: it is clean, or there is no process
 * to be had: `*ran` tells. */
MUST_USE bool swarm_world_fails(const struct swarm_limits *limits, bool trace, int64_t cpu_limit_ns,
                                struct swarm_failure *failure, bool *ran);

/* The smallest world that fails as well, in whichever way. `runs` counts those that it took. Each
 * runs in a process of its own, whose words are dropped: they were told with the failure; one that
 * does not come to an end costs a tenth of the limit. */
struct swarm_limits swarm_failure_shrink(const struct swarm_failure *failure, int64_t cpu_limit_ns,
                                         uint32_t *runs);

#endif
