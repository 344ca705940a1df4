/* consume_run.h - the ranks of one call of `lakestream consume`, as processes watched until their
 * end. */
#ifndef EXPERIMENTS_CONSUME_RUN_H
#define EXPERIMENTS_CONSUME_RUN_H

#include <stdio.h>

#include "experiments/consume/consume_child.h"
#include "experiments/live/live_signals.h"

#define CONSUME_RESTARTS_MAX 64

struct consume_run_options {
    const struct consume_job *job; /* borrowed */
    uint32_t first;                /* rank */
    uint32_t count;
    struct live_signals *signals; /* open */
    FILE *messages;
};

enum consume_outcome {
    CONSUME_COMPLETE,    /* every rank had its steps */
    CONSUME_INTERRUPTED, /* a signal; every rank ended cleanly */
    CONSUME_BROKEN,      /* a rank failed; `text` says why, and the others were stopped */
    CONSUME_KILLED,      /* a second signal */
};

struct consume_run {
    struct consume_child *children; /* options.count of them; owned */
    uint32_t count;
    double wall_s;
    char text[CONSUME_TEXT_MAX];
};

/* Blocks until all its processes are gone. A rank whose process died by a signal is started again,
 * and goes on from its checkpoints, where the job keeps any. Must be called while the process has
 * one thread. Deinit the run afterwards, whatever came of it. */
enum consume_outcome consume_run(const struct consume_run_options *options,
                                 struct consume_run *run);
void consume_run_deinit(struct consume_run *run);

#endif
