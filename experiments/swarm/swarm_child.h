/* swarm_child.h - work in a process of its own, whose death is only an answer.
 *
 * What the work computes goes through memory that both share. What it writes to stderr is kept: an
 * assert says there what was wrong. A child dies with its parent. Linux. */
#ifndef EXPERIMENTS_SWARM_SWARM_CHILD_H
#define EXPERIMENTS_SWARM_SWARM_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base.h"

#define CHILDREN_MAX 1024     /* that can be waited for at once */
#define CHILD_NOTES_MAX 16384 /* bytes of stderr that are kept, with the NUL */
#define CHILD_DEATH_MAX 480   /* bytes of a text, with the NUL */

enum child_end {
    CHILD_DONE,     /* as it should */
    CHILD_ASSERTED, /* SIGABRT */
    CHILD_ENDLESS,  /* used up the CPU time that it had */
    CHILD_KILLED,   /* by any other signal */
    CHILD_EXITED,   /* with a status: so do sanitizers and the like end a program */
};

struct child_death {
    enum child_end end;
    char text[CHILD_DEATH_MAX]; /* "fails an assert: ..."; empty: done */
};

struct swarm_child {
    pid_t pid; /* 0: none */
    int pipe;  /* of its stderr; at its end the child has ended */
    bool mute; /* what it writes to stderr is kept, and not passed on; to be set before it starts */
    size_t noted;
    char notes[CHILD_NOTES_MAX];
};

/* Zeroed memory that children share with their parent, until swarm_shared_free; NULL: none. */
void *swarm_shared_make(size_t bytes);
void swarm_shared_free(void *memory, size_t bytes);

/* Forks; the child does `work` and exits with 0. Streams are flushed before. The caller has no
 * threads. False: there is no process to be had, see errno. */
MUST_USE bool swarm_child_start(struct swarm_child *child, void (*work)(void *context),
                                void *context);
/* Blocks until one of up to CHILDREN_MAX children may have ended, or for so long. Those without a
 * process are passed over. */
void swarm_child_wait(const struct swarm_child *children, size_t count, int at_most_ms);
/* True: it has ended, as `death` says, and can be started anew. Does not block. What it wrote to
 * stderr, if more than one line, goes to that of the caller, unless it is mute. */
MUST_USE bool swarm_child_ended(struct swarm_child *child, struct child_death *death);

/* In a child: it ends as CHILD_ENDLESS once it has used so much CPU time from now on; 0: no more.
 * Time in which a busy machine lets it wait does not count. */
void swarm_child_limit(int64_t cpu_ns);
/* In a child: if it dies, it leaves no core file. */
void swarm_child_leave_no_core(void);

#endif
