/* consume_job.h - what the ranks of one `lakestream consume` have in common. */
#ifndef EXPERIMENTS_CONSUME_JOB_H
#define EXPERIMENTS_CONSUME_JOB_H

#include <stdbool.h>

#include "core/tgb.h"
#include "experiments/config/config.h"
#include "experiments/live/live_session.h"

#define CONSUME_RUN_MAX 64 /* bytes of a run's identity, with the NUL */
#define CONSUME_CHECKPOINTS_KEPT 3
#define CONSUME_JOB_TEXT_MAX 1024

/* Texts are borrowed. */
struct consume_job {
    const char *url;
    const struct config *config; /* live.*: how the store is reached */
    char run[CONSUME_RUN_MAX];   /* its identity */
    struct tgb_mesh mesh;
    bool synthetic;    /* slices are compared with what they must be */
    uint32_t slices;   /* of a TGB; 0: plain */
    uint64_t from;     /* first step without a checkpoint */
    uint64_t rollback; /* 0: none */
    bool together;     /* its ranks were started one by one, and agreed where to start */
    const char *token; /* by which they did; NULL: they did not */
    uint64_t steps;    /* of each rank, from where it starts; 0: until stopped */
    uint64_t prefetch_bytes;
    uint64_t checkpoint_every; /* steps */
    int64_t step_ns;
    const char *checkpoints; /* folder; NULL: none are kept */
    const char *log;         /* folder; NULL: none */
};

/* Fills in what the store says of the run: its identity, payload and mesh, and, where `from` is 0,
 * the first step that is kept. `ranks` are to be as many as a TGB has slices. Blocks.
 * OPEN_BAD_INPUT: this run cannot be read by so many ranks, or not by this program; the text says
 * why and what to do. */
MUST_USE enum open_result consume_job_find(struct live_session *session, uint32_t ranks,
                                           struct consume_job *job,
                                           char text[CONSUME_JOB_TEXT_MAX]);
/* For how many ranks the run is, by its marker alone; fills what the marker says of the job.
 * Blocks. */
MUST_USE enum open_result consume_job_ranks(struct live_session *session, struct consume_job *job,
                                            uint32_t *ranks, char text[CONSUME_JOB_TEXT_MAX]);
/* The step that the run's next version begins with, by a version that counts. Blocks. */
MUST_USE enum open_result consume_job_end(struct live_session *session,
                                          const struct consume_job *job, uint64_t *next_step,
                                          char text[CONSUME_JOB_TEXT_MAX]);

#endif
