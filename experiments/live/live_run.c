/* live_run.c - see live_run.h. Polls the producers' sockets and the signals, watches caps and time,
 * and concludes with the other ranks. Ours. */
#include "experiments/live/live_run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "experiments/live/live_supervisor.h"

#define POLL_MS 100
#define DESCRIPTORS_SPARE 64

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
    live_supervisor_say(live, "stopping at a cap: the attempts in progress are decided first");
    live_supervisor_stop(live);
}

static void check_signals(struct live_supervisor *live)
{
    uint32_t count = live_signals_take(live->options->signals);
    if (count > 0 && !live->stopping) {
        live_supervisor_say(
            live, "stopping: the attempts in progress are decided first; once more kills");
        live_supervisor_stop(live);
    }
    if (count > 1 && !live->killed)
        live_supervisor_kill(live);
}

static void check_hanging(struct live_supervisor *live)
{
    if (progress_now_ns() < live->kill_at_ns)
        return;
    live_supervisor_fail(
        live,
        "producers did not end in time and were killed; their process or the store hangs: look at "
        "%s",
        live->options->url);
    live_supervisor_kill(live);
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
                live_supervisor_hear(live, &live->children[i]);
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
    live_supervisor_fail(
        live, "%u producers need %llu open files; raise the limit (ulimit -n), or take fewer",
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
    run_results_add_metric(results, "resumed", "1", live->options->resumed);
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
            live_supervisor_start_waiting(&live);
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
