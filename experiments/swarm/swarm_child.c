/* swarm_child.c - fork, a pipe for stderr, and the words for how a process ended. Ours. */
#include "experiments/swarm/swarm_child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

void *swarm_shared_make(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void swarm_shared_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

/* ---- in the child ---- */

void swarm_child_limit(int64_t cpu_ns)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(cpu_ns / NS_PER_S),
                     .tv_usec = (suseconds_t)(cpu_ns % NS_PER_S / NS_PER_US)}};
    int failed = setitimer(ITIMER_PROF, &timer, NULL);
    assert(failed == 0);
}

void swarm_child_leave_no_core(void)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
}

/* Signals that tell of a death kill, whatever the program was started with. */
static void reset_signals(void)
{
    static const int numbers[] = {SIGABRT, SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    sigaction(SIGABRT, &by_default, NULL);
    sigaction(SIGPROF, &by_default, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- in the parent ---- */

bool swarm_child_start(struct swarm_child *child, void (*work)(void *context), void *context)
{
    int ends[2];
    assert(child->pid == 0);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        reset_signals();
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        work(context);
        exit(0); /* not _exit: sanitizers look for leaks then */
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->pid = pid;
    child->pipe = ends[0];
    child->noted = 0;
    return true;
}

void swarm_child_wait(const struct swarm_child *children, size_t count, int at_most_ms)
{
    struct pollfd polled[CHILDREN_MAX];
    nfds_t used = 0;
    assert(count <= CHILDREN_MAX);
    for (size_t i = 0; i < count; i++)
        if (children[i].pid != 0)
            polled[used++] = (struct pollfd){.fd = children[i].pipe, .events = POLLIN};
    poll(polled, used, at_most_ms);
}

/* Takes what the child wrote; true at the end of it. */
static bool take_notes(struct swarm_child *child)
{
    char bytes[4096];
    for (;;) {
        ssize_t got = read(child->pipe, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        size_t room = sizeof(child->notes) - 1 - child->noted;
        size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(child->notes + child->noted, bytes, kept);
        child->noted += kept;
    }
}

/* The first line of the notes that says something, without the name of the program: sanitizers
 * begin with a rule. */
static void telling_line(const struct swarm_child *child, char text[CHILD_DEATH_MAX])
{
    const char *line = child->notes;
    while (*line != '\0' && !isalnum((unsigned char)*line))
        line++;
    size_t name = strlen(program_invocation_short_name);
    if (strncmp(line, program_invocation_short_name, name) == 0 &&
        strncmp(line + name, ": ", 2) == 0)
        line += name + 2;
    snprintf(text, CHILD_DEATH_MAX, "%.*s", (int)strcspn(line, "\n"), line);
}

static void describe(const struct swarm_child *child, int status, struct child_death *death)
{
    char line[CHILD_DEATH_MAX];
    telling_line(child, line);
    const char *colon = line[0] != '\0' ? ": " : "";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    *death = (struct child_death){.end = CHILD_DONE};
    if (number == SIGPROF) {
        death->end = CHILD_ENDLESS;
        snprintf(death->text, sizeof(death->text), "does not come to an end");
    } else if (number == SIGABRT) {
        death->end = CHILD_ASSERTED;
        snprintf(death->text, sizeof(death->text), "%s%s%s",
                 strstr(line, "Assertion") ? "fails an assert" : "aborts", colon, line);
    } else if (number != 0) {
        death->end = CHILD_KILLED;
        snprintf(death->text, sizeof(death->text), "dies of signal %d (%s)%s%s", number,
                 strsignal(number), colon, line);
    } else if (WEXITSTATUS(status) != 0) {
        death->end = CHILD_EXITED;
        snprintf(death->text, sizeof(death->text), "ends the program with status %d%s%s",
                 WEXITSTATUS(status), colon, line);
    }
}

bool swarm_child_ended(struct swarm_child *child, struct child_death *death)
{
    int status = 0;
    assert(child->pid != 0);
    if (!take_notes(child))
        return false;
    close(child->pipe);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
    child->notes[child->noted] = '\0';
    describe(child, status, death);
    const char *second = strchr(child->notes, '\n');
    if (child->noted > 0 && !child->mute &&
        (death->end == CHILD_DONE || (second != NULL && second[1] != '\0')))
        fputs(child->notes, stderr);
    return true;
}
