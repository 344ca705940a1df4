/* consume_run.c - see consume_run.h. The parent has no threads, so that it may fork at any time: it
 * polls the ranks' sockets and the signals. Ours. */
#include "experiments/consume/consume_run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/backoff.h"
#include "experiments/trials/progress.h"

#define POLL_MS 100
#define BACKOFF_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)
/* Beyond what a rank takes to end by itself it hangs, and is killed. */
#define KILL_AFTER_NS (60 * NS_PER_S)
#define PIDS_SHOWN 64
#define MIB (UINT64_C(1) << 20)

struct consume_supervisor {
    const struct consume_run_options *options;
    struct consume_run *run;
    struct consume_family family;
    struct progress progress;
    uint32_t failed;
    bool stopping;
    bool killed;
    bool long_told;
    int64_t kill_at_ns; /* TIME_NEVER: not stopping */
    char label[128];
};

__attribute__((format(printf, 2, 3))) static void say(struct consume_supervisor *supervisor,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    progress_clear(&supervisor->progress);
    fprintf(supervisor->options->messages, "lakestream: ");
    vfprintf(supervisor->options->messages, format, arguments);
    fprintf(supervisor->options->messages, "\n");
    fflush(supervisor->options->messages);
    va_end(arguments);
}

/* ---- ending ---- */

static void stop(struct consume_supervisor *supervisor)
{
    if (supervisor->stopping)
        return;
    supervisor->stopping = true;
    supervisor->kill_at_ns = progress_now_ns() + KILL_AFTER_NS;
    for (uint32_t i = 0; i < supervisor->run->count; i++) {
        struct consume_child *child = &supervisor->run->children[i];
        if (child->fd >= 0)
            shutdown(child->fd, SHUT_WR);
        else
            child->state = CONSUME_CHILD_FINISHED;
    }
}

/* The first failure is the one that is told; the rest mostly follow from it. */
__attribute__((format(printf, 2, 3))) static void fail(struct consume_supervisor *supervisor,
                                                       const char *format, ...)
{
    if (supervisor->failed++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(supervisor->run->text, sizeof(supervisor->run->text), format, arguments);
        va_end(arguments);
    }
    stop(supervisor);
}

static void kill_all(struct consume_supervisor *supervisor)
{
    for (uint32_t i = 0; i < supervisor->run->count; i++)
        if (supervisor->run->children[i].fd >= 0)
            kill(supervisor->run->children[i].pid, SIGKILL);
    supervisor->killed = true;
    supervisor->kill_at_ns = TIME_NEVER;
}

static void check_time(struct consume_supervisor *supervisor)
{
    uint32_t signals = live_signals_take(supervisor->options->signals);
    if (signals > 0)
        stop(supervisor);
    if (signals > 1 && !supervisor->killed)
        kill_all(supervisor);
    if (progress_now_ns() < supervisor->kill_at_ns)
        return;
    fail(supervisor, "a rank did not end within 60 s, and was killed");
    kill_all(supervisor);
}

/* ---- starting ---- */

static void start_waiting(struct consume_supervisor *supervisor)
{
    struct consume_run *run = supervisor->run;
    for (uint32_t i = 0; i < run->count && !supervisor->stopping; i++) {
        struct consume_child *child = &run->children[i];
        if (child->state != CONSUME_CHILD_WAITING || progress_now_ns() < child->start_at_ns ||
            consume_child_start(child, &supervisor->family))
            continue;
        child->state = CONSUME_CHILD_FINISHED;
        fail(supervisor,
             "cannot start the process of rank %u: %s; allow more processes and open files "
             "(ulimit -u, ulimit -n)",
             child->rank, strerror(errno));
    }
}

/* Which process is whose, so that one can be looked at, or killed. */
static void say_processes(struct consume_supervisor *supervisor)
{
    const struct consume_run *run = supervisor->run;
    char pids[PIDS_SHOWN * 12 + 8] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < run->count && i < PIDS_SHOWN; i++)
        used +=
            (size_t)snprintf(pids + used, sizeof(pids) - used, " %d", (int)run->children[i].pid);
    say(supervisor, "ranks %u-%u: pids%s%s; their parent is %d", run->children[0].rank,
        run->children[run->count - 1].rank, pids, run->count > PIDS_SHOWN ? " ..." : "",
        (int)getpid());
}

/* ---- messages ---- */

static void take_figures(struct consume_supervisor *supervisor, struct consume_child *child,
                         const struct consume_figures *figures)
{
    uint64_t budget = supervisor->options->job->prefetch_bytes;
    child->life = *figures;
    if (supervisor->long_told || figures->longest_bytes <= budget)
        return;
    supervisor->long_told = true;
    say(supervisor,
        "rank %u: a slice takes %" PRIu64 " bytes, more than --prefetch %" PRIu64
        "B: one that long is fetched alone and held whole, so memory is bounded by the longest "
        "slice instead; --prefetch %" PRIu64 "MiB would hold two",
        child->rank, figures->longest_bytes, budget, (2 * figures->longest_bytes + MIB - 1) / MIB);
}

static void on_message(struct consume_supervisor *supervisor, struct consume_child *child,
                       const struct consume_message *message)
{
    switch (message->kind) {
    case CONSUME_STARTED:
        child->number = message->number;
        if (child->restarts > 0)
            say(supervisor, "rank %u (process %d) goes on at step %" PRIu64 ", as number %" PRIu64,
                child->rank, (int)child->pid, message->first_step, message->number);
        if (!child->started)
            child->first_step = message->first_step;
        child->started = true;
        break;
    case CONSUME_PROGRESS:
        take_figures(supervisor, child, &message->figures);
        break;
    case CONSUME_WAITS:
        say(supervisor, "rank %u %s", child->rank, message->text);
        break;
    case CONSUME_ENDED:
        take_figures(supervisor, child, &message->figures);
        child->ended_told = true;
        child->end = message->end;
        if (message->number != 0) { /* taken, and perhaps not allowed to run */
            child->number = message->number;
            child->before_number = message->before;
        }
        if (message->end == CONSUME_FAILED)
            fail(supervisor, "%s", message->text);
        break;
    case CONSUME_MESSAGE_COUNT:
        break;
    }
}

static void on_death(struct consume_supervisor *supervisor, struct consume_child *child,
                     const char *text)
{
    bool durable = supervisor->options->job->checkpoints != NULL;
    if (supervisor->stopping || !durable || child->restarts == CONSUME_RESTARTS_MAX) {
        child->state = CONSUME_CHILD_FINISHED;
        if (!supervisor->killed)
            fail(supervisor, "rank %u (process %d) %s%s", child->rank, (int)child->pid, text,
                 supervisor->stopping ? " while it ended"
                 : durable            ? "; it was started again too often"
                                      : "; with --checkpoints it would be started again");
        return;
    }
    int64_t backoff_ns = backoff_bound_ns(BACKOFF_NS, BACKOFF_MAX_NS, child->restarts + 1);
    if (child->life.counters.steps > 0) /* it came somewhere: not the same death again and again */
        backoff_ns = BACKOFF_NS;
    child->restarts++;
    child->state = CONSUME_CHILD_WAITING;
    child->start_at_ns = progress_now_ns() + backoff_ns;
    say(supervisor, "rank %u (process %d) %s; it is started again (%u of %d times)", child->rank,
        (int)child->pid, text, child->restarts, CONSUME_RESTARTS_MAX);
}

static void on_hang_up(struct consume_supervisor *supervisor, struct consume_child *child)
{
    char text[LIVE_DEATH_TEXT_MAX];
    bool by_signal = consume_child_reap(child, text);
    if (!child->ended_told && by_signal) {
        on_death(supervisor, child, text);
        return;
    }
    child->state = CONSUME_CHILD_FINISHED;
    if (!child->ended_told)
        fail(supervisor, "rank %u (process %d) %s", child->rank, (int)child->pid, text);
    else if (child->end == CONSUME_ASKED && !supervisor->stopping &&
             live_signals_take(supervisor->options->signals) == 0)
        fail(supervisor, "rank %u (process %d) was stopped by a signal of its own", child->rank,
             (int)child->pid);
}

static void on_readable(struct consume_supervisor *supervisor, struct consume_child *child)
{
    struct consume_message message;
    for (;;) {
        switch (consume_wire_receive(child->fd, &message)) {
        case LIVE_RECEIVED:
            on_message(supervisor, child, &message);
            break;
        case LIVE_NOTHING:
            return;
        case LIVE_HANG_UP:
            on_hang_up(supervisor, child);
            return;
        }
    }
}

/* ---- watching ---- */

static void show(struct consume_supervisor *supervisor)
{
    const struct consume_run *run = supervisor->run;
    uint64_t steps = 0;
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; i < run->count; i++) {
        struct consume_figures figures = consume_child_figures(&run->children[i]);
        steps += figures.counters.steps;
        lowest = figures.next_step < lowest ? figures.next_step : lowest;
    }
    snprintf(supervisor->label, sizeof(supervisor->label), "%s, next step %" PRIu64,
             supervisor->stopping ? "stopping" : "consuming", lowest);
    struct progress_state state = {
        .done = steps / run->count, .total = supervisor->options->job->steps, .eta_s = -1};
    if (supervisor->progress.terminal || state.total > 0)
        progress_show(&supervisor->progress, &state);
}

/* False: all processes are gone. */
static bool wait_and_take(struct consume_supervisor *supervisor, struct pollfd *fds)
{
    struct consume_run *run = supervisor->run;
    uint32_t alive = 0;
    uint32_t waiting = 0;
    fds[0] = (struct pollfd){.fd = supervisor->options->signals->fd, .events = POLLIN};
    for (uint32_t i = 0; i < run->count; i++) {
        fds[1 + i] = (struct pollfd){.fd = run->children[i].fd, .events = POLLIN};
        alive += run->children[i].fd >= 0;
        waiting += run->children[i].state == CONSUME_CHILD_WAITING;
    }
    if (alive == 0 && waiting == 0)
        return false;
    if (poll(fds, 1 + run->count, POLL_MS) > 0)
        for (uint32_t i = 0; i < run->count; i++)
            if (fds[1 + i].revents != 0)
                on_readable(supervisor, &run->children[i]);
    return true;
}

static enum consume_outcome conclude(const struct consume_supervisor *supervisor)
{
    uint32_t signals = live_signals_take(supervisor->options->signals);
    if (supervisor->killed && signals > 1)
        return CONSUME_KILLED;
    if (supervisor->failed > 0) /* whoever asked, or not, while the others were being stopped */
        return CONSUME_BROKEN;
    return signals > 0 ? CONSUME_INTERRUPTED : CONSUME_COMPLETE;
}

enum consume_outcome consume_run(const struct consume_run_options *options, struct consume_run *run)
{
    struct consume_supervisor supervisor = {
        .options = options, .run = run, .kill_at_ns = TIME_NEVER};
    const int64_t begun_ns = progress_now_ns();
    bool told = false;
    *run = (struct consume_run){.count = options->count};
    run->children = calloc(run->count, sizeof(*run->children));
    struct pollfd *fds = calloc(1 + run->count, sizeof(*fds));
    assert(run->children != NULL && fds != NULL);
    for (uint32_t i = 0; i < run->count; i++)
        run->children[i] = (struct consume_child){.rank = options->first + i, .fd = -1};
    supervisor.family = (struct consume_family){
        .job = options->job, .children = run->children, .count = run->count};
    if (options->job->checkpoints != NULL && run->count > 1)
        supervisor.family.pace = consume_pace_open(run->count, NULL);
    else if (options->job->checkpoints != NULL && options->job->together)
        supervisor.family.pace = consume_pace_open(options->job->slices, options->job);
    supervisor.progress = progress_make(options->messages, supervisor.label);
    supervisor.progress.unit = "steps";
    do {
        check_time(&supervisor);
        start_waiting(&supervisor);
        if (!told && !supervisor.stopping)
            say_processes(&supervisor);
        told = true;
        show(&supervisor);
    } while (wait_and_take(&supervisor, fds));
    progress_clear(&supervisor.progress);
    run->wall_s = (double)(progress_now_ns() - begun_ns) / 1e9;
    if (supervisor.family.pace != NULL)
        consume_pace_close(supervisor.family.pace);
    free(fds);
    return conclude(&supervisor);
}

void consume_run_deinit(struct consume_run *run)
{
    free(run->children);
    *run = (struct consume_run){0};
}
