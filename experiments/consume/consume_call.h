/* consume_call.h - what one call of `lakestream consume` was asked for, and what it does before its
 * ranks' processes are. Statuses are those of a process (cli.h); what went wrong was told. */
#ifndef EXPERIMENTS_CONSUME_CALL_H
#define EXPERIMENTS_CONSUME_CALL_H

#include "experiments/cli.h"
#include "experiments/consume/consume_job.h"
#include "experiments/consume/job_lock.h"
#include "experiments/live/live_ranks.h"

struct consume_call {
    const struct cli *cli;
    struct config config;
    struct consume_job job;
    uint32_t ranks; /* of the whole job */
    uint32_t first; /* of this process */
    uint32_t count;
    struct job_lock
        lock; /* of the job, where it keeps checkpoints; its ranks' processes have it, too */
    char token[LIVE_TOKEN_MAX]; /* of ranks that are started one by one; empty: none */
};

/* Blocks. On CLI_DONE the session is to be closed. */
MUST_USE int consume_call_open(const struct consume_call *call, enum directory_access access,
                               struct live_session *session);
/* The status of a result, whose text is told unless it is OPEN_OK. */
MUST_USE int consume_call_tell(enum open_result result, const char *text);

/* Fills in what the store says of the run, makes the folders, takes the lock of the job, and finds
 * where its ranks start. But for the lock nothing is left open, so that the process may fork.
 * Blocks. */
MUST_USE int consume_call_begin(struct consume_call *call);

#endif
