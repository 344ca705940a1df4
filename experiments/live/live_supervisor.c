/* live_supervisor.c - see live_supervisor.h. The parent has no threads, so that it may fork at any
 * time. Ours. */
#include "experiments/live/live_supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/backoff.h"
#include "experiments/trials/recorder_config.h"

#define BACKOFF_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)
/* Beyond what a producer takes to end by itself it hangs, and is killed. */
#define KILL_AFTER_NS (LIVE_DRAIN_NS + 15 * NS_PER_S)
#define PIDS_SHOWN 64

void live_supervisor_say(struct live_supervisor *live, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    progress_clear(&live->progress);
    fprintf(live->options->messages, "lakestream: ");
    vfprintf(live->options->messages, format, arguments);
    fprintf(live->options->messages, "\n");
    fflush(live->options->messages);
    va_end(arguments);
}

/* ---- ending ---- */

void live_supervisor_stop(struct live_supervisor *live)
{
    if (live->stopping)
        return;
    live->stopping = true;
    live->kill_at_ns = progress_now_ns() + KILL_AFTER_NS;
    for (uint32_t i = 0; i < live->count; i++) {
        struct live_child *child = &live->children[i];
        if (child->fd >= 0)
            shutdown(child->fd, SHUT_WR);
        else if (child->state == LIVE_CHILD_WAITING)
            child->state = LIVE_CHILD_FINISHED;
    }
}

/* The first failure is the one that is told; the rest mostly follow from it. */
void live_supervisor_fail(struct live_supervisor *live, const char *format, ...)
{
    if (live->failed++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(live->report->text, sizeof(live->report->text), format, arguments);
        va_end(arguments);
    }
    live_supervisor_stop(live);
}

void live_supervisor_kill(struct live_supervisor *live)
{
    for (uint32_t i = 0; i < live->count; i++)
        if (live->children[i].fd >= 0)
            kill(live->children[i].pid, SIGKILL);
    live->killed = true;
    live->kill_at_ns = TIME_NEVER;
}

/* ---- starting ---- */

static void start_child(struct live_supervisor *live, struct live_child *child)
{
    struct live_producer_options options = {
        .config = live->options->config,
        .url = live->options->url,
        .seed = live->options->seed,
        .producer = child->producer,
    };
    if (live_child_start(child, &options, live->children, live->count))
        return;
    child->state = LIVE_CHILD_FINISHED;
    live_supervisor_fail(
        live,
        "cannot start the process of producer %u: %s; take fewer producers, or allow more "
        "processes and open files (ulimit -u, ulimit -n)",
        child->producer, strerror(errno));
}

void live_supervisor_start_waiting(struct live_supervisor *live)
{
    int64_t now_ns = progress_now_ns();
    for (uint32_t i = 0; i < live->count && !live->stopping; i++)
        if (live->children[i].state == LIVE_CHILD_WAITING &&
            live->children[i].start_at_ns <= now_ns)
            start_child(live, &live->children[i]);
}

static void tell_start(struct live_supervisor *live, struct live_child *child)
{
    struct live_message message = {.kind = LIVE_START, .at_ns = live->start_ns};
    child->state = LIVE_CHILD_RUNNING;
    (void)live_wire_send(child->fd, &message); /* if it is gone, a hang-up follows */
}

/* Which process is whose, so that one can be looked at, or killed. */
static void say_processes(struct live_supervisor *live)
{
    char pids[PIDS_SHOWN * 12 + 8] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < live->count && i < PIDS_SHOWN; i++)
        used +=
            (size_t)snprintf(pids + used, sizeof(pids) - used, " %d", (int)live->children[i].pid);
    live_supervisor_say(live, "producers %u-%u: pids%s%s; their parent is %d",
                        live->children[0].producer, live->children[live->count - 1].producer, pids,
                        live->count > PIDS_SHOWN ? " ..." : "", (int)getpid());
}

/* The barrier of all ranks: blocks. False: the run does not start. */
static bool pass_group(struct live_supervisor *live, int64_t *start_ns, int64_t *wait_ns)
{
    char text[LIVE_GROUP_TEXT_MAX];
    switch (live_group_start(live->options->group, start_ns, wait_ns, text)) {
    case LIVE_GROUP_DONE:
        return true;
    case LIVE_GROUP_FAILED:
        live_supervisor_fail(live, "%s", text);
        return false;
    case LIVE_GROUP_ASKED:
        break; /* seen by check_signals, too */
    }
    return false;
}

/* The barrier: the run starts when the last producer is ready, at that producer's now; or, with
 * other ranks, when rank 0 says. */
static void on_ready(struct live_supervisor *live, struct live_child *child, int64_t now_ns)
{
    child->state = LIVE_CHILD_READY;
    if (live->stopping)
        return;
    if (live->started) {
        tell_start(live, child);
        return;
    }
    for (uint32_t i = 0; i < live->count; i++)
        if (live->children[i].state != LIVE_CHILD_READY)
            return;
    const struct config *config = live->options->config;
    int64_t start_ns = now_ns;
    int64_t wait_ns = 0;
    if (live->options->group != NULL && !pass_group(live, &start_ns, &wait_ns))
        return;
    live->started = true;
    live->start_ns = start_ns;
    live->started_mono_ns = progress_now_ns() + wait_ns;
    live->kill_at_ns = live->started_mono_ns + config->run.duration_ns + KILL_AFTER_NS;
    live->recorder = recorder_of(config, start_ns);
    say_processes(live);
    for (uint32_t i = 0; i < live->count; i++)
        tell_start(live, &live->children[i]);
}

/* ---- messages ---- */

static void on_resumed(struct live_supervisor *live, struct live_child *child,
                       const struct live_message *message)
{
    child->sequence = message->sequence;
    child->offset = message->offset;
    if (child->restarts > 0)
        live_supervisor_say(
            live,
            "producer %u (process %d) goes on after sequence %llu, at offset %llu, as epoch %u",
            child->producer, (int)child->pid, (unsigned long long)message->sequence,
            (unsigned long long)message->offset, message->epoch);
    if (++live->resumed == live->count && live->options->resumed)
        live_supervisor_say(live, "all %u producers go on where the chain ends", live->count);
}

static void on_message(struct live_supervisor *live, struct live_child *child,
                       const struct live_message *message)
{
    switch (message->kind) {
    case LIVE_READY:
        on_ready(live, child, message->at_ns);
        break;
    case LIVE_RESUMED:
        on_resumed(live, child, message);
        break;
    case LIVE_PROGRESS:
        child->counts = message->counts;
        break;
    case LIVE_RECORD:
        live_child_record(child, message);
        break;
    case LIVE_ENDED:
        child->counts = message->counts;
        child->ended_told = true;
        child->ended = message->end;
        if (message->memory_bytes > live->report->memory_bytes)
            live->report->memory_bytes = message->memory_bytes;
        child->sequence = message->sequence;
        child->offset = message->offset;
        if (message->end == LIVE_END_FENCED)
            live_supervisor_fail(
                live, "%s; it was fenced: another run or process works on %s; let only one do so",
                (const char *)message->payload, live->options->url);
        else if (message->end == LIVE_END_FAILED || message->end == LIVE_END_UNDECIDED)
            live_supervisor_fail(live, "producer %u: %s", child->producer,
                                 (const char *)message->payload);
        break;
    case LIVE_START:
        break;
    }
}

static void on_death(struct live_supervisor *live, struct live_child *child, const char *text)
{
    bool again = live->options->config->live.restart == TOGGLE_ON && !live->stopping &&
                 child->restarts < LIVE_RESTARTS_MAX;
    if (!again) {
        if (!live->killed && !live->stopping)
            live_supervisor_fail(
                live, "producer %u (process %d) %s%s", child->producer, (int)child->pid, text,
                child->restarts == LIVE_RESTARTS_MAX ? "; it was started again too often"
                                                     : "; live.restart is off");
        else if (!live->killed)
            live_supervisor_fail(live, "producer %u (process %d) %s while it ended",
                                 child->producer, (int)child->pid, text);
        child->state = LIVE_CHILD_FINISHED;
        return;
    }
    int64_t backoff_ns = backoff_bound_ns(BACKOFF_NS, BACKOFF_MAX_NS, child->restarts + 1);
    child->restarts++;
    live->report->restarts++;
    child->state = LIVE_CHILD_WAITING;
    child->start_at_ns = progress_now_ns() + backoff_ns;
    live_supervisor_say(
        live, "producer %u (process %d) %s; it is started again in %.1f s (%u of %d times)",
        child->producer, (int)child->pid, text, (double)backoff_ns / 1e9, child->restarts,
        LIVE_RESTARTS_MAX);
}

static void on_hang_up(struct live_supervisor *live, struct live_child *child)
{
    char text[LIVE_DEATH_TEXT_MAX];
    bool by_signal = live_child_reap(child, text);
    if (live->recorder != NULL)
        live_child_merge(child, live->recorder);
    if (!child->ended_told && by_signal) {
        on_death(live, child, text);
        return;
    }
    child->state = LIVE_CHILD_FINISHED;
    if (!child->ended_told)
        live_supervisor_fail(live, "producer %u (process %d) %s", child->producer, (int)child->pid,
                             text);
    else if (child->ended == LIVE_END_SIGNAL && !live->stopping &&
             live_signals_take(live->options->signals) == 0)
        live_supervisor_fail(live, "producer %u (process %d) was stopped by a signal of its own",
                             child->producer, (int)child->pid);
}

void live_supervisor_hear(struct live_supervisor *live, struct live_child *child)
{
    struct live_message message;
    for (;;) {
        switch (live_wire_receive(child->fd, &message)) {
        case LIVE_RECEIVED:
            on_message(live, child, &message);
            break;
        case LIVE_NOTHING:
            return;
        case LIVE_HANG_UP:
            on_hang_up(live, child);
            return;
        }
    }
}
