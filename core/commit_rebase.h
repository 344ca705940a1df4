/* commit_rebase.h - what a version of the chain means for this producer. Part of commit.c. */
#ifndef CORE_COMMIT_REBASE_H
#define CORE_COMMIT_REBASE_H

#include "core/commit.h"

enum rebase {
    REBASE_CREATE, /* go on: create the next version */
    REBASE_WON,    /* everything sent, or everything to send, is in it */
    REBASE_LOST,   /* what was sent can no longer become part of the chain */
    REBASE_END,    /* fenced or corrupt: commit->end and end_text are set, to be validated first */
};

/* Reads commit->known, which need not be validated yet: the caller validates before acting. */
enum rebase commit_rebase(struct commit *commit);
/* Whose commit->known is, the version stored under the name of what was sent: what is to be
 * validated. On COMMIT_INTENT_END commit->end and end_text are set. */
enum commit_intent commit_judge(struct commit *commit);
/* The version after commit->known, with all that is ready, or the fencing version. */
struct manifest *commit_build_next(struct commit *commit, int64_t now_ns);
/* commit->known is validated and decides the attempt: fills commit->attempt and commit->detail and
 * moves the committed position. */
void commit_record_decision(struct commit *commit, int64_t now_ns);

#endif
