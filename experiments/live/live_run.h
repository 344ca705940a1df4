/* live_run.h - one live run: all its producers as processes, watched until the end. */
#ifndef EXPERIMENTS_LIVE_RUN_H
#define EXPERIMENTS_LIVE_RUN_H

#include <stdbool.h>

#include "experiments/config/config.h"
#include "experiments/live/live_cost.h"
#include "experiments/live/live_group.h"
#include "experiments/live/live_signals.h"
#include "experiments/results/run_results.h"
#include "experiments/trials/progress.h"

#define LIVE_TEXT_MAX 768

struct live_run_options {
    const struct config *config; /* borrowed, as all here */
    const char *name;            /* of the run, for messages: "live-local, arm dac, seed 1" */
    const char *url;             /* the run's own prefix */
    uint64_t seed;
    bool resumed; /* the prefix holds a chain already; a metric of that name says so, 1 or 0 */
    struct live_signals *signals; /* open */
    struct live_cap cap;          /* for `before` and this run together, of all ranks */
    struct live_cost before;      /* of all ranks, too (live_cost_of_ranks) */
    struct live_group *group;     /* the ranks that share this run's producers; NULL: alone */
    FILE *messages;
    /* Of the sweep, for the progress line. */
    size_t runs_done;
    size_t runs_total;
    int64_t later_ns; /* what the runs after this one take */
};

enum live_outcome {
    LIVE_COMPLETE,
    LIVE_FAILED,
    LIVE_INTERRUPTED, /* a signal; every producer ended cleanly */
    LIVE_KILLED,      /* a second signal */
    LIVE_CAPPED,      /* a cap was passed; every producer ended cleanly */
};

struct live_report {
    uint64_t attempts;
    uint64_t won;
    uint64_t batches;
    uint64_t bytes;
    uint32_t restarts;
    uint64_t memory_bytes; /* the most that a producer's process had resident */
    struct live_cost cost; /* of this run; rank 0, LIVE_COMPLETE: of all ranks, else of this one */
    double wall_s;
    char text[LIVE_TEXT_MAX]; /* LIVE_FAILED, LIVE_CAPPED: what it was, and what to do */
};

/* Runs this rank's share of the producers, and blocks until all its processes are gone; rank 0 also
 * until the others' results are here, so that report and results are about all. Must be called
 * while the process has one thread. `results` is filled only when LIVE_COMPLETE. */
enum live_outcome live_run(const struct live_run_options *options, struct run_results *results,
                           struct live_report *report);

#endif
