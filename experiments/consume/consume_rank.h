/* consume_rank.h - one rank of `lakestream consume`, as a process of its own. */
#ifndef EXPERIMENTS_CONSUME_RANK_H
#define EXPERIMENTS_CONSUME_RANK_H

#include "experiments/consume/consume_job.h"
#include "experiments/consume/consume_pace.h"

struct consume_rank_options {
    const struct consume_job *job; /* borrowed */
    uint32_t rank;
    uint64_t end_step;         /* stops before it; 0: after job->steps, or when asked */
    uint64_t rollback;         /* of membership; 0: none */
    struct consume_pace *pace; /* borrowed; NULL: it goes at its own */
    uint32_t index;            /* of this rank in it */
    int fd;                    /* its end of the socket to the parent (consume_wire.h); owned */
};

/* The whole life of the process, right after fork: opens its own loop and store, loads its
 * checkpoints, is given step after step, verifies and logs each, keeps checkpoints, and says what
 * came of it. SIGINT, SIGTERM and the parent's hang-up stop it: a last checkpoint is kept first.
 * Returns the exit status; the caller then calls _exit. */
int consume_rank_main(const struct consume_rank_options *options);

#endif
