/* consume_child.c - see consume_child.h. Ours. */
#include "experiments/consume/consume_child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/consume/consume_rank.h"

bool consume_child_start(struct consume_child *child, const struct consume_family *family)
{
    const struct consume_job *job = family->job;
    int fd;
    pid_t pid = live_process_fork(&fd);
    if (pid < 0)
        return false;
    if (pid == 0) {
        /* Held here, the parent's ends would hide its death from the others. */
        for (uint32_t i = 0; i < family->count; i++)
            if (family->children[i].fd >= 0)
                close(family->children[i].fd);
        struct consume_rank_options options = {
            .job = job,
            .rank = child->rank,
            .end_step = child->started && job->steps > 0 ? child->first_step + job->steps : 0,
            .rollback = child->started ? 0 : job->rollback, /* it went back already */
            .pace = family->pace,
            .index = family->job->together ? child->rank : (uint32_t)(child - family->children),
            .fd = fd,
        };
        _exit(consume_rank_main(&options));
    }
    child->before = consume_child_figures(child);
    child->life = (struct consume_figures){0};
    child->state = CONSUME_CHILD_RUNNING;
    child->pid = pid;
    child->fd = fd;
    child->ended_told = false;
    return true;
}

bool consume_child_reap(struct consume_child *child, char text[LIVE_DEATH_TEXT_MAX])
{
    bool by_signal = live_process_reap(child->pid, child->fd, text);
    child->fd = -1;
    return by_signal;
}

struct consume_figures consume_child_figures(const struct consume_child *child)
{
    struct consume_figures sum = child->before;
    const struct consume_figures *life = &child->life;
    for (int i = 0; i < CONSUMER_REQUEST_COUNT; i++) {
        sum.counters.requests[i] += life->counters.requests[i];
        sum.counters.bytes[i] += life->counters.bytes[i];
    }
    sum.counters.steps += life->counters.steps;
    sum.counters.slice_bytes += life->counters.slice_bytes;
    sum.counters.polls += life->counters.polls;
    sum.counters.polls_idle += life->counters.polls_idle;
    sum.counters.retried += life->counters.retried;
    sum.counters.damaged += life->counters.damaged;
    sum.counters.missing += life->counters.missing;
    sum.counters.checkpoints += life->counters.checkpoints;
    sum.running_ns += life->running_ns;
    sum.wire_bytes += life->wire_bytes;
    if (life->longest_bytes > sum.longest_bytes)
        sum.longest_bytes = life->longest_bytes;
    if (life->memory_bytes > sum.memory_bytes)
        sum.memory_bytes = life->memory_bytes;
    if (life->next_step == 0)
        return sum;
    sum.next_step = life->next_step;
    sum.digest = life->digest;
    sum.slice_p50_ns = life->slice_p50_ns;
    sum.slice_p95_ns = life->slice_p95_ns;
    return sum;
}
