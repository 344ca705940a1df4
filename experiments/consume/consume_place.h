/* consume_place.h - where the ranks of a job go on: at one step, the newest that every rank keeps a
 * checkpoint of. Ours (docs/data_plane.md, "running it"). */
#ifndef EXPERIMENTS_CONSUME_PLACE_H
#define EXPERIMENTS_CONSUME_PLACE_H

#include "core/checkpoint.h"
#include "experiments/consume/checkpoint_file.h"
#include "experiments/consume/consume_job.h"

struct consume_place {
    uint64_t step; /* 0: no rank keeps a checkpoint */
    /* All that is kept began there, so a rank that keeps none begins there as well. */
    bool beginning;
    uint32_t ahead; /* ranks that keep a newer one */
};

/* The file of a rank's checkpoints; its texts are the job's. */
struct checkpoint_file consume_place_file(const struct consume_job *job, uint32_t rank);

/* From the files of all ranks in job->checkpoints, which may be NULL; nothing is written. Blocks.
 * OPEN_FAILED: a file cannot be read, some ranks keep checkpoints and others none, or there is no
 * step that all keep, at or below job->rollback where that is given; `text` names ranks and steps,
 * and says what to do. */
MUST_USE enum open_result consume_place_find(const struct consume_job *job, uint32_t ranks,
                                             struct consume_place *place,
                                             char text[CONSUME_JOB_TEXT_MAX]);

/* From which step a rank goes back to job->rollback, which it keeps a checkpoint of; 0: it does not
 * keep one, or none that is newer. Blocks. OPEN_BAD_INPUT: it was started with job->token before,
 * and what it has saved since is what others have in common with it. OPEN_FAILED: its file cannot
 * be read. `text` says so. */
MUST_USE enum open_result consume_place_back_from(const struct consume_job *job, uint32_t rank,
                                                  uint64_t *step, char text[CONSUME_JOB_TEXT_MAX]);

/* Sets the job's from and rollback so that every rank starts at the place, or not at all. */
void consume_place_take(const struct consume_place *place, struct consume_job *job);

/* For one rank's process, before it takes a number: what it found must be what the job is to go on
 * with. *rollback is that of the job, or 0 for a process that goes on within a running call; it
 * becomes 0 for a rank that begins. False: `text` says why. */
MUST_USE bool consume_place_check(const struct consume_job *job, uint32_t rank,
                                  const struct checkpoint_set *found, uint64_t *rollback,
                                  char text[CONSUME_JOB_TEXT_MAX]);

#endif
