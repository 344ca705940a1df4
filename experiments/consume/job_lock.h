/* job_lock.h - one start of a job at a time: FOLDER/job.lock, beside the checkpoints, is locked
 * (flock) by every process of a start for its life. Ranks that are started one by one share it by
 * their word; who comes with another word waits, and is then refused. Two starts at one moment
 * would take numbers from each other, and both could end.
 *
 * The lock goes with the last process that holds it, however that ends. What is lost without
 * ending, as a machine of a network file system may be, holds it for as long as the file system
 * says; a human then deletes the file, which lets the next start in. Everything blocks. Ours. */
#ifndef EXPERIMENTS_JOB_LOCK_H
#define EXPERIMENTS_JOB_LOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

#define JOB_LOCK_TEXT_MAX 768
#define JOB_LOCK_WORD_MAX 80 /* bytes, with the NUL */

struct job_lock_options {
    const char *folder; /* which is there */
    const char *word;   /* without a space */
    int64_t wait_ns;    /* for another start to end */
    FILE *messages;     /* is told once for whom it waits; NULL: nobody is */
};

struct job_lock {
    int fd;      /* -1: none */
    bool waited; /* for another start, for so long that it was told */
};

/* The lock is this process's, and that of those it forks, until all of them have ended or closed
 * it. False: `error` says who has it and what to do, or why it cannot be had. */
MUST_USE bool job_lock_take(const struct job_lock_options *options, struct job_lock *lock,
                            char error[JOB_LOCK_TEXT_MAX]);
void job_lock_close(struct job_lock *lock);

#endif
