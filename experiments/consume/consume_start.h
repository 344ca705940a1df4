/* consume_start.h - the step at which the ranks of a job start that are started one by one: the
 * same for all. */
#ifndef EXPERIMENTS_CONSUME_START_H
#define EXPERIMENTS_CONSUME_START_H

#include "experiments/consume/consume_job.h"
#include "experiments/consume/consume_place.h"

#define CONSUME_START_BYTES_MAX 128 /* of what run/consume-TOKEN holds, with a NUL */

/* Whether job->from, which somebody typed, is a step of the chain or the next one: who holds a
 * later step lets reclaimers give up all before it. Blocks. OPEN_BAD_INPUT: `text` names both. */
MUST_USE enum open_result consume_start_check(struct live_session *session,
                                              const struct consume_job *job,
                                              char text[CONSUME_JOB_TEXT_MAX]);

/* Whether no rank from `first` on, `count` of them, is held below job->from by a process that has
 * not ended: a start there would let go of it in that process's name. Blocks. OPEN_BAD_INPUT:
 * `text` names it. */
MUST_USE enum open_result consume_start_check_held(struct live_session *session,
                                                   const struct consume_job *job, uint32_t first,
                                                   uint32_t count, char text[CONSUME_JOB_TEXT_MAX]);

/* What all ranks with one token have in common: run/consume-TOKEN. */
struct consume_agreed {
    struct consume_place place;
    uint64_t every; /* steps between checkpoints; 0: none are kept */
    uint64_t steps; /* as job->steps */
};

void consume_start_print(const struct consume_agreed *agreed, char text[CONSUME_START_BYTES_MAX]);
/* The other way: step 0 if it is damaged. */
struct consume_agreed consume_start_parse(const struct body *body);

/* The first of all that come with this token says where they start, in run/consume-TOKEN, which is
 * made by create-if-absent: where consume_place_find says by the files of all ranks, else at its
 * job->from; and how often it keeps checkpoints, for how many steps. The others take it from there,
 * and so does whoever comes again with the token. Sets
 * from and rollback of the job as consume_place_take does. Blocks. OPEN_BAD_INPUT: steps from there
 * on were given up meanwhile, or it is beyond the chain, or this rank's period is another, or its
 * steps where it keeps checkpoints. OPEN_FAILED: the files have no step in common, or what is said
 * there is damaged. */
MUST_USE enum open_result consume_start_agree(struct live_session *session, const char *token,
                                              uint32_t ranks, struct consume_job *job,
                                              char text[CONSUME_JOB_TEXT_MAX]);

#endif
