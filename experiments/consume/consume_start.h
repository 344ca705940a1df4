/* consume_start.h - the step at which the ranks of a job start that keep no checkpoint: the same
 * for all. */
#ifndef EXPERIMENTS_CONSUME_START_H
#define EXPERIMENTS_CONSUME_START_H

#include "experiments/consume/consume_job.h"

/* Whether job->from, which somebody typed, is a step of the chain or the next one: who holds a
 * later step lets reclaimers give up all before it. Blocks. OPEN_BAD_INPUT: `text` names both. */
MUST_USE enum open_result consume_start_check(struct live_session *session,
                                              const struct consume_job *job,
                                              char text[CONSUME_JOB_TEXT_MAX]);

/* For ranks that are started one by one: the first of all that come with this token says where they
 * start, at its job->from, in run/consume-TOKEN, which is made by create-if-absent; the others take
 * job->from from there. Whoever comes again with the token takes it, too. Blocks. OPEN_BAD_INPUT:
 * steps from there on were given up meanwhile, or what is said there is damaged, or beyond the
 * chain. */
MUST_USE enum open_result consume_start_agree(struct live_session *session, const char *token,
                                              struct consume_job *job,
                                              char text[CONSUME_JOB_TEXT_MAX]);

#endif
