/* create_queue.h - how creates that contend for one chain hold each other up in a virtual store.
 *
 * Off by default: all zero, a create takes what latency.h says and nothing here draws. With n other
 * creates in flight when a create reaches the store:
 *
 * - it waits n * wait_ns before it is decided: the store works on one chain serially;
 *
 * - with probability n * collision its answer is held back, after the decision, by an exponential
 *   time of mean n * collision_ns: it is one of a convoy;
 *
 * - refused (the key exists), it is spared the share `refused_early` of what would follow.
 *
 * All creates of a store count as one chain's. Ours; fitted to a public measurement of contention
 * on one key (docs/calibration.md). Times are nanoseconds. */
#ifndef SIM_CREATE_QUEUE_H
#define SIM_CREATE_QUEUE_H

#include "core/base.h"
#include "core/random.h"
#include "core/store.h"

struct create_queue_options {
    int64_t wait_ns;
    double collision; /* 0..1, for each other create */
    int64_t collision_ns;
    double refused_early; /* 0..1 */
};

struct create_queue {
    struct create_queue_options options;
    uint32_t in_flight; /* creates sent and not yet answered or dropped */
};

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *create_queue_options_check(const struct create_queue_options *options);

/* From sending a create to its answer, or until it is dropped. */
static inline void create_queue_enter(struct create_queue *queue)
{
    queue->in_flight++;
}

static inline void create_queue_leave(struct create_queue *queue)
{
    assert(queue->in_flight > 0);
    queue->in_flight--;
}

/* Time that a create, which has entered, waits before it is decided; asked when it arrives. */
int64_t create_queue_wait_ns(const struct create_queue *queue);

/* Time from the decision of a create, which has entered, to its answer; `rest_ns` if it were alone
 * and not refused. Draws from the stream only where collisions are on. */
int64_t create_queue_rest_ns(const struct create_queue *queue, int64_t rest_ns,
                             enum store_outcome outcome, struct random_stream *stream);

#endif
