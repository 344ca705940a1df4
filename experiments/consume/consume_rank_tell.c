/* consume_rank_tell.c - what a rank's process tells its parent: how far it is, and how it ended.
 * Ours. */
#include <string.h>
#include <sys/resource.h>

#include "experiments/consume/consume_rank_private.h"

static void fill_figures(const struct consume_rank *rank, struct consume_figures *figures)
{
    const struct consumer *consumer = consumer_driver_consumer(rank->driver);
    struct rusage usage;
    int failed = getrusage(RUSAGE_SELF, &usage);
    assert(failed == 0);
    *figures = (struct consume_figures){
        .counters = consumer->counters,
        .next_step = rank->running ? consumer->cursor : 0,
        .digest = consumer->digest,
        .running_ns = rank->used_ns - rank->running_ns,
        .slice_p50_ns = -1,
        .slice_p95_ns = -1,
        .longest_bytes = rank->longest_bytes,
        .memory_bytes = (uint64_t)usage.ru_maxrss * 1024,
    };
    if (strncmp(rank->options->job->url, "s3://", strlen("s3://")) == 0)
        figures->wire_bytes = s3_store_counters(rank->session.bytes).received_bytes;
    if (rank->slices.total == 0)
        return;
    figures->slice_p50_ns = histogram_quantile_ns(&rank->slices, 0.5);
    figures->slice_p95_ns = histogram_quantile_ns(&rank->slices, 0.95);
}

void consume_rank_progress(struct timer *timer, void *context)
{
    struct consume_rank *rank = context;
    struct consume_message message = {.kind = CONSUME_PROGRESS};
    fill_figures(rank, &message.figures);
    consume_wire_offer(rank->options->fd, &message);
    loop_timer_set(consume_rank_loop(rank), timer,
                   loop_now(consume_rank_loop(rank)) + CONSUME_RANK_PROGRESS_NS);
}

/* 0: none that is surely its own. */
static uint64_t number_of(const struct consume_rank *rank)
{
    const struct membership *membership = &consumer_driver_consumer(rank->driver)->membership;
    bool taken = membership->published > 0 || membership->phase == MEMBERSHIP_VALUING;
    return taken ? membership->number : 0;
}

int consume_rank_tell_end(const struct consume_rank *rank)
{
    struct consume_message message = {.kind = CONSUME_ENDED, .end = rank->end};
    if (rank->driver != NULL) {
        fill_figures(rank, &message.figures);
        message.number = number_of(rank);
        message.before = consumer_driver_consumer(rank->driver)->membership.before;
    }
    memcpy(message.text, rank->text, sizeof(message.text));
    (void)consume_wire_send(rank->options->fd, &message);
    return rank->end == CONSUME_FAILED ? 1 : 0;
}
