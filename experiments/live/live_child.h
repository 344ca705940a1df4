/* live_child.h - a producer's process as its parent sees it: forking, what it said, how it died.
 *
 * One struct live_child for every producer of a run, over all of its lives (a process that died by
 * a signal may be started again). Everything belongs to the parent's only thread. */
#ifndef EXPERIMENTS_LIVE_CHILD_H
#define EXPERIMENTS_LIVE_CHILD_H

#include <sys/types.h>

#include "experiments/live/live_process.h"
#include "experiments/live/live_producer.h"
#include "experiments/live/live_wire.h"

#define LIVE_RESTARTS_MAX 16

enum live_child_state {
    LIVE_CHILD_WAITING,  /* to be started at start_at_ns */
    LIVE_CHILD_OPENING,  /* forked; has not said READY */
    LIVE_CHILD_READY,    /* has not been told START */
    LIVE_CHILD_RUNNING,  /* was told */
    LIVE_CHILD_FINISHED, /* is gone for good */
};

struct live_child {
    enum live_child_state state;
    uint32_t producer;
    uint32_t restarts;
    pid_t pid;
    int fd;              /* -1: no process */
    int64_t start_at_ns; /* WAITING: by progress_now_ns */
    bool ended_told;     /* this life said ENDED: `ended` holds it */
    enum live_end ended;
    struct live_counts before; /* of earlier lives */
    struct live_counts counts; /* of this life, as last told */
    uint64_t sequence;         /* last told of this producer's stream */
    uint64_t offset;
    uint8_t *record; /* this life's recorder, whole, as last told; owned */
    size_t record_bytes;
    uint8_t *incoming; /* the next one, not yet whole; owned */
    size_t incoming_bytes;
    size_t incoming_got;
};

/* Forks. In the child it does not return. False: no more processes or descriptors, errno says why.
 * `children`, `count` of them, are the whole run's: the new process closes their sockets. */
MUST_USE bool live_child_start(struct live_child *child,
                               const struct live_producer_options *options,
                               const struct live_child *children, uint32_t count);
/* Takes what a message of RECORD says; a record that came whole replaces the one before. */
void live_child_record(struct live_child *child, const struct live_message *message);
/* After a hang-up: waits for the process. True: it died by a signal; `text` says how it ended. */
bool live_child_reap(struct live_child *child, char text[LIVE_DEATH_TEXT_MAX]);
/* Adds what this life recorded to the run's recorder, and forgets it. */
void live_child_merge(struct live_child *child, struct recorder *recorder);
struct live_counts live_child_counts(const struct live_child *child);
void live_child_deinit(struct live_child *child);

#endif
