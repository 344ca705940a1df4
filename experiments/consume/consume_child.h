/* consume_child.h - a rank's process as its parent sees it: forking, what it said, how it died.
 *
 * One struct consume_child for every rank of a call, over all of its lives. Everything belongs to
 * the parent's only thread. */
#ifndef EXPERIMENTS_CONSUME_CHILD_H
#define EXPERIMENTS_CONSUME_CHILD_H

#include <sys/types.h>

#include "experiments/consume/consume_job.h"
#include "experiments/consume/consume_pace.h"
#include "experiments/consume/consume_wire.h"
#include "experiments/live/live_process.h"

enum consume_child_state {
    CONSUME_CHILD_WAITING, /* to be started at start_at_ns */
    CONSUME_CHILD_RUNNING,
    CONSUME_CHILD_FINISHED, /* is gone for good */
};

struct consume_child {
    enum consume_child_state state;
    uint32_t rank;
    uint32_t restarts;
    pid_t pid;
    int fd;              /* -1: no process */
    int64_t start_at_ns; /* WAITING: by progress_now_ns */
    bool started;        /* some life was allowed to run */
    bool ended_told;     /* this life said ENDED */
    enum consume_end end;
    uint64_t first_step;           /* of the first life */
    uint64_t number;               /* of the newest life that surely took one; 0: none did */
    uint64_t before_number;        /* what the rank had until then, not ended; 0: none */
    struct consume_figures before; /* sums of earlier lives */
    struct consume_figures life;   /* of this one, as last told */
};

/* What the processes of a call share; all borrowed. */
struct consume_family {
    const struct consume_job *job;
    struct consume_child *children; /* whose sockets a new process closes */
    uint32_t count;
    struct consume_pace *pace; /* NULL: none */
};

/* Forks. In the child it does not return. False: no more processes or descriptors, errno says why.
 */
MUST_USE bool consume_child_start(struct consume_child *child, const struct consume_family *family);
/* After a hang-up: waits for the process. True: it died by a signal; `text` says how it ended. */
bool consume_child_reap(struct consume_child *child, char text[LIVE_DEATH_TEXT_MAX]);
/* Over all lives; latencies, digest and next step are those of the newest that has any. */
struct consume_figures consume_child_figures(const struct consume_child *child);

#endif
