/* live_process.h - a process of a run and the socket to it: forked with one, reaped at its
 * hang-up. Everything belongs to the parent's only thread. */
#ifndef EXPERIMENTS_LIVE_PROCESS_H
#define EXPERIMENTS_LIVE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base.h"

#define LIVE_DEATH_TEXT_MAX 64

/* As fork(2): 0 in the child, -1 where there are no more processes or descriptors (errno says
 * which). *fd is this process's end of the socket. The child holds the parent's ends of earlier
 * sockets and closes them itself: held, they would hide the parent's death from the others. */
MUST_USE pid_t live_process_fork(int *fd);
/* Closes the socket and waits for the process. True: it died by a signal; `text` says how it
 * ended. */
bool live_process_reap(pid_t pid, int fd, char text[LIVE_DEATH_TEXT_MAX]);

#endif
