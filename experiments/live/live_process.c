/* live_process.c - see live_process.h. Ours. */
#include "experiments/live/live_process.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/live/live_wire.h"

pid_t live_process_fork(int *fd)
{
    int fds[2];
    if (!live_wire_make(fds))
        return -1;
    fflush(NULL); /* or both processes would write what is in the buffers */
    pid_t pid = fork();
    if (pid != 0)
        close(fds[1]);
    if (pid <= 0)
        close(fds[0]);
    *fd = pid == 0 ? fds[1] : fds[0];
    return pid;
}

bool live_process_reap(pid_t pid, int fd, char text[LIVE_DEATH_TEXT_MAX])
{
    int status = 0;
    close(fd);
    pid_t reaped = waitpid(pid, &status, 0);
    assert(reaped == pid);
    if (WIFSIGNALED(status))
        snprintf(text, LIVE_DEATH_TEXT_MAX, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, LIVE_DEATH_TEXT_MAX, "ended with status %d without saying why",
                 WEXITSTATUS(status));
    return WIFSIGNALED(status);
}
