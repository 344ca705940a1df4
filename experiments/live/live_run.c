/* live_run.c - see live_run.h. The parent has no threads, so that it may fork at any time: it polls
 * the producers' sockets and the signals. Ours. */
#include "experiments/live/live_run.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/backoff.h"
#include "experiments/live/live_child.h"
#include "experiments/trials/recorder_config.h"

#define POLL_MS 100
#define BACKOFF_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)
/* Beyond what a producer takes to end by itself it hangs, and is killed. */
#define KILL_AFTER_NS (LIVE_DRAIN_NS + 15 * NS_PER_S)
#define DESCRIPTORS_SPARE 64
#define PIDS_SHOWN 64

struct live_supervisor {
    const struct live_run_options *options;
    struct live_report *report;
    struct live_child *children;
    uint32_t count;
    uint32_t resumed; /* children whose epoch is committed */
    uint32_t failed;  /* children that ended by a failure */
    bool started;
    bool stopping; /* as asked, after a failure, or at a cap */
    bool capped;
    bool killed;
    int64_t start_ns;         /* of the run, in the producers' time */
    int64_t started_mono_ns;  /* the same instant, by progress_now_ns */
    int64_t kill_at_ns;       /* TIME_NEVER: not known yet */
    int64_t first_attempt_ns; /* when the parent began */
    struct recorder *recorder;
    struct progress progress;
    char label[256];
};

__attribute__((format(printf, 2, 3))) static void say(struct live_supervisor *live,
                                                      const char *format, ...)
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

static void stop(struct live_supervisor *live)
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
__attribute__((format(printf, 2, 3))) static void fail(struct live_supervisor *live,
                                                       const char *format, ...)
{
    if (live->failed++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(live->report->text, sizeof(live->report->text), format, arguments);
        va_end(arguments);
    }
    stop(live);
}

static void kill_all(struct live_supervisor *live)
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
    fail(live,
         "cannot start the process of producer %u: %s; take fewer producers, or allow more "
         "processes and open files (ulimit -u, ulimit -n)",
         child->producer, strerror(errno));
}

static void start_waiting(struct live_supervisor *live)
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
    say(live, "producers %u-%u: pids%s%s; their parent is %d", live->children[0].producer,
        live->children[live->count - 1].producer, pids, live->count > PIDS_SHOWN ? " ..." : "",
        (int)getpid());
}

/* The barrier of all ranks: blocks. False: the run does not start. */
static bool pass_group(struct live_supervisor *live, int64_t *start_ns, int64_t *wait_ns)
{
    char text[LIVE_GROUP_TEXT_MAX];
    switch (live_group_start(live->options->group, start_ns, wait_ns, text)) {
    case LIVE_GROUP_DONE:
        return true;
    case LIVE_GROUP_FAILED:
        fail(live, "%s", text);
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
        say(live,
            "producer %u (process %d) goes on after sequence %llu, at offset %llu, as epoch %u",
            child->producer, (int)child->pid, (unsigned long long)message->sequence,
            (unsigned long long)message->offset, message->epoch);
    if (++live->resumed == live->count && live->options->resumed)
        say(live, "all %u producers go on where the chain ends", live->count);
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
            fail(live, "%s; it was fenced: another run or process works on %s; let only one do so",
                 (const char *)message->payload, live->options->url);
        else if (message->end == LIVE_END_FAILED || message->end == LIVE_END_UNDECIDED)
            fail(live, "producer %u: %s", child->producer, (const char *)message->payload);
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
            fail(live, "producer %u (process %d) %s%s", child->producer, (int)child->pid, text,
                 child->restarts == LIVE_RESTARTS_MAX ? "; it was started again too often"
                                                      : "; live.restart is off");
        else if (!live->killed)
            fail(live, "producer %u (process %d) %s while it ended", child->producer,
                 (int)child->pid, text);
        child->state = LIVE_CHILD_FINISHED;
        return;
    }
    int64_t backoff_ns = backoff_bound_ns(BACKOFF_NS, BACKOFF_MAX_NS, child->restarts + 1);
    child->restarts++;
    live->report->restarts++;
    child->state = LIVE_CHILD_WAITING;
    child->start_at_ns = progress_now_ns() + backoff_ns;
    say(live, "producer %u (process %d) %s; it is started again in %.1f s (%u of %d times)",
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
        fail(live, "producer %u (process %d) %s", child->producer, (int)child->pid, text);
    else if (child->ended == LIVE_END_SIGNAL && !live->stopping &&
             live_signals_take(live->options->signals) == 0)
        fail(live, "producer %u (process %d) was stopped by a signal of its own", child->producer,
             (int)child->pid);
}

static void on_readable(struct live_supervisor *live, struct live_child *child)
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

/* ---- watching ---- */

static struct live_counts total_counts(const struct live_supervisor *live)
{
    struct live_counts total = {0};
    for (uint32_t i = 0; i < live->count; i++) {
        struct live_counts counts = live_child_counts(&live->children[i]);
        live_counts_add(&total, &counts);
    }
    return total;
}

static void show(struct live_supervisor *live)
{
    const struct live_run_options *options = live->options;
    struct live_counts total = total_counts(live);
    double elapsed_s = (double)(progress_now_ns() - live->started_mono_ns) / 1e9;
    double left_s = (double)options->config->run.duration_ns / 1e9 - elapsed_s;
    if (live->stopping)
        snprintf(live->label, sizeof(live->label), "%s: stopping", options->name);
    else if (!live->started)
        snprintf(live->label, sizeof(live->label), "%s: starting", options->name);
    else
        snprintf(live->label, sizeof(live->label), "%s: %.0f %% won, %.1f MB/s", options->name,
                 100.0 * (double)total.won / (double)(total.attempts > 0 ? total.attempts : 1),
                 (double)total.bytes / 1e6 / (elapsed_s > 0 ? elapsed_s : 1));
    struct progress_state state = {
        .done = options->runs_done,
        .total = options->runs_total,
        .eta_s = live->started ? (left_s > 0 ? left_s : 0) + (double)options->later_ns / 1e9 : -1,
    };
    progress_show(&live->progress, &state);
}

static struct live_cost cost_of(const struct live_supervisor *live,
                                const struct live_counts *counts)
{
    struct live_cost cost = {.up_bytes = counts->up_bytes, .down_bytes = counts->down_bytes};
    memcpy(cost.requests, counts->requests, sizeof(cost.requests));
    cost.dollars = live_cost_dollars(live->options->config, live->options->url, cost.requests);
    return cost;
}

/* What the producers told last: a quarter of a second behind. */
static void check_cap(struct live_supervisor *live)
{
    char text[LIVE_COST_TEXT_MAX];
    if (live->stopping)
        return;
    struct live_counts total = total_counts(live);
    const struct live_group *group = live->options->group;
    struct live_cost own = cost_of(live, &total);
    struct live_cost cost =
        live_cost_of_ranks(&live->options->before, &own, group != NULL ? group->ranks.count : 1);
    if (!live_cost_exceeds(&cost, &live->options->cap, text))
        return;
    live->capped = true;
    snprintf(live->report->text, sizeof(live->report->text),
             "%s; raise it by --set to go on, or run less", text);
    say(live, "stopping at a cap: the attempts in progress are decided first");
    stop(live);
}

static void check_signals(struct live_supervisor *live)
{
    uint32_t count = live_signals_take(live->options->signals);
    if (count > 0 && !live->stopping) {
        say(live, "stopping: the attempts in progress are decided first; once more kills");
        stop(live);
    }
    if (count > 1 && !live->killed)
        kill_all(live);
}

static void check_hanging(struct live_supervisor *live)
{
    if (progress_now_ns() < live->kill_at_ns)
        return;
    fail(live,
         "producers did not end in time and were killed; their process or the store hangs: look at "
         "%s",
         live->options->url);
    kill_all(live);
}

static bool wait_and_take(struct live_supervisor *live, struct pollfd *fds)
{
    uint32_t alive = 0;
    uint32_t waiting = 0;
    fds[0] = (struct pollfd){.fd = live->options->signals->fd, .events = POLLIN};
    for (uint32_t i = 0; i < live->count; i++) {
        fds[1 + i] = (struct pollfd){.fd = live->children[i].fd, .events = POLLIN};
        alive += live->children[i].fd >= 0;
        waiting += live->children[i].state == LIVE_CHILD_WAITING;
    }
    if (alive == 0 && waiting == 0)
        return false;
    if (poll(fds, 1 + live->count, POLL_MS) > 0)
        for (uint32_t i = 0; i < live->count; i++)
            if (fds[1 + i].revents != 0)
                on_readable(live, &live->children[i]);
    return true;
}

/* A socket for every producer; false: the system's limit is too low. */
static bool raise_descriptors(struct live_supervisor *live)
{
    struct rlimit limit;
    rlim_t needed = live->count + DESCRIPTORS_SPARE;
    int failed = getrlimit(RLIMIT_NOFILE, &limit);
    assert(failed == 0);
    if (limit.rlim_cur >= needed)
        return true;
    if (limit.rlim_max >= needed) {
        limit.rlim_cur = needed;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return true;
    }
    fail(live, "%u producers need %llu open files; raise the limit (ulimit -n), or take fewer",
         live->count, (unsigned long long)needed);
    return false;
}

/* Of this rank. */
static enum live_outcome own_outcome(struct live_supervisor *live)
{
    struct live_report *report = live->report;
    if (live_signals_take(live->options->signals) > 0)
        return live->killed ? LIVE_KILLED : LIVE_INTERRUPTED;
    if (live->failed == 0)
        return live->capped ? LIVE_CAPPED : LIVE_COMPLETE;
    size_t used = strlen(report->text);
    if (live->failed > 1 && used < sizeof(report->text))
        snprintf(report->text + used, sizeof(report->text) - used, " (and %u more failed)",
                 live->failed - 1);
    return LIVE_FAILED;
}

/* With the other ranks, if there are any. */
static enum live_outcome conclude_group(struct live_supervisor *live,
                                        struct live_group_result *result,
                                        struct run_results *results, enum live_outcome outcome)
{
    char text[LIVE_GROUP_TEXT_MAX];
    if (live->options->group == NULL)
        return outcome;
    if (outcome == LIVE_INTERRUPTED || outcome == LIVE_KILLED)
        result->failure = "it was stopped by a signal";
    enum live_group_end end = live_group_conclude(live->options->group, result, results, text);
    if (end == LIVE_GROUP_DONE || outcome != LIVE_COMPLETE)
        return outcome;
    if (end == LIVE_GROUP_ASKED)
        return LIVE_INTERRUPTED;
    snprintf(live->report->text, sizeof(live->report->text), "%s", text);
    return LIVE_FAILED;
}

static enum live_outcome conclude(struct live_supervisor *live, struct run_results *results)
{
    struct live_report *report = live->report;
    enum live_outcome outcome = own_outcome(live);
    struct live_group_result result = {
        .failure = report->text,
        .counts = total_counts(live),
        .restarts = report->restarts,
        .memory_bytes = report->memory_bytes,
        .recorder = live->recorder,
    };
    report->wall_s = (double)(progress_now_ns() - live->first_attempt_ns) / 1e9;
    outcome = conclude_group(live, &result, results, outcome);
    report->attempts = result.counts.attempts;
    report->won = result.counts.won;
    report->batches = result.counts.batches;
    report->bytes = result.counts.bytes;
    report->restarts = result.restarts;
    report->memory_bytes = result.memory_bytes;
    report->cost = cost_of(live, &result.counts);
    if (outcome != LIVE_COMPLETE)
        return outcome;
    recorder_results(live->recorder, results);
    run_results_add_metric(results, "restarts", "restarts", report->restarts);
    run_results_add_metric(results, "producer_memory", "B", (double)report->memory_bytes);
    results->wall_s = report->wall_s;
    return LIVE_COMPLETE;
}

/* The producers that are this process's. */
static void take_share(struct live_supervisor *live)
{
    const struct live_ranks alone = {.count = 1};
    const struct live_group *group = live->options->group;
    uint32_t producers = (uint32_t)live->options->config->workload.producers;
    uint32_t first;
    live_ranks_share(group != NULL ? &group->ranks : &alone, producers, &first, &live->count);
    assert(live->count > 0 && live->count <= LIVE_PRODUCERS_MAX);
    live->children = calloc(live->count, sizeof(*live->children));
    assert(live->children != NULL);
    for (uint32_t i = 0; i < live->count; i++)
        live->children[i] = (struct live_child){.producer = first + i, .fd = -1};
}

enum live_outcome live_run(const struct live_run_options *options, struct run_results *results,
                           struct live_report *report)
{
    struct live_supervisor live = {
        .options = options,
        .report = report,
        .kill_at_ns = TIME_NEVER,
        .first_attempt_ns = progress_now_ns(),
    };
    *report = (struct live_report){0};
    live.progress = progress_make(options->messages, live.label);
    take_share(&live);
    struct pollfd *fds = calloc(1 + live.count, sizeof(*fds));
    assert(fds != NULL);
    if (raise_descriptors(&live))
        do {
            check_signals(&live);
            start_waiting(&live);
            check_hanging(&live);
            check_cap(&live);
            show(&live);
        } while (wait_and_take(&live, fds));
    progress_clear(&live.progress);
    enum live_outcome outcome = conclude(&live, results);
    for (uint32_t i = 0; i < live.count; i++)
        live_child_deinit(&live.children[i]);
    recorder_close(live.recorder);
    free(live.children);
    free(fds);
    return outcome;
}
