/* rank_consumer.c - see rank_consumer.h. Ours. */
#include "experiments/consume/rank_consumer.h"

#include <limits.h>
#include <malloc.h>
#include <sys/random.h>

#define FETCHES_MAX 32
#define HEAP_BESIDE (16 << 20) /* bytes that are kept beside the budget */
#define FETCH_RETRIES 64       /* as of all else: an outage of minutes is waited for */

bool rank_consumer_fill(const struct consume_rank_options *rank, struct consumer_options *consumer)
{
    const struct consume_job *job = rank->job;
    const struct commit_config *commit = &job->config->commit;
    struct random_stream random;
    *consumer = (struct consumer_options){
        .membership = {.consumer = rank->rank,
                       .retry_ns = commit->retry_ns,
                       .retry_max_ns = commit->retry_max_ns,
                       .start_step = job->from,
                       .rollback_step = rank->rollback},
        .slices = job->slices,
        .slice = job->slices > 0 ? rank->rank : 0,
        .prefetch_bytes = job->prefetch_bytes,
        .fetches_max = FETCHES_MAX,
        .steps_max = job->steps,
        .fetch_retries = FETCH_RETRIES,
        .lookahead = FETCHES_MAX,
        .poll_min_ns = 10 * NS_PER_MS,
        .poll_max_ns = 2 * NS_PER_S,
        .poll_smoothing = CONSUMER_POLL_SMOOTHING,
        .poll_early = CONSUMER_POLL_EARLY,
        .poll_jitter = CONSUMER_POLL_JITTER,
        .retry_ns = commit->retry_ns,
        .retry_max_ns = commit->retry_max_ns,
        .checkpoints_kept = CONSUME_CHECKPOINTS_KEPT,
    };
    if (getrandom(&random.key, sizeof(random.key), 0) != (ssize_t)sizeof(random.key) ||
        getrandom(&consumer->membership.identity, INCARNATION_BYTES, 0) != INCARNATION_BYTES)
        return false;
    random.counter = 0;
    consumer->random = random;
    return true;
}

/* Sanitizers refuse, and do not matter. */
void rank_consumer_keep_window(uint64_t prefetch_bytes)
{
    uint64_t most = INT_MAX - HEAP_BESIDE;
    int kept = prefetch_bytes < most ? (int)prefetch_bytes : (int)most;
    (void)mallopt(M_TRIM_THRESHOLD, kept + HEAP_BESIDE);
}
