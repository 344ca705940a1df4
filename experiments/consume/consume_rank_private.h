/* consume_rank_private.h - one rank's process, within it. */
#ifndef EXPERIMENTS_CONSUME_RANK_PRIVATE_H
#define EXPERIMENTS_CONSUME_RANK_PRIVATE_H

#include "core/consumer_driver.h"
#include "experiments/consume/checkpoint_file.h"
#include "experiments/consume/consume_rank.h"
#include "experiments/consume/consume_wire.h"
#include "experiments/consume/former_numbers.h"
#include "experiments/trials/histogram.h"

#define CONSUME_RANK_PROGRESS_NS (250 * NS_PER_MS)

struct consume_rank {
    const struct consume_rank_options *options;
    struct live_session session;
    struct consumer_driver *driver;
    struct consumer_observer observer;
    struct checkpoint_file file;
    struct timer step;
    struct timer drain;
    struct timer progress;
    struct former_numbers *former; /* in flight when the process ends, perhaps: never freed */
    struct histogram slices;       /* latencies */
    uint64_t longest_bytes;        /* range of a slice */
    int log;                       /* -1: none */
    bool watched;
    bool running;
    bool stopping;
    bool stopped;              /* the driver was asked to stop */
    bool taking;               /* a step is being taken: what it sets off comes later */
    uint64_t checkpoint_asked; /* newest step of one; 0: none */
    uint64_t end_step;         /* 0: none */
    int64_t running_ns;        /* since when */
    int64_t used_ns;           /* when the last step was used */
    int64_t paced_ns;          /* since when it waits for slower ranks; 0: it does not */
    bool paced_told;
    uint64_t paced_step; /* of the last wait that was told */
    enum consume_end end;
    char text[CONSUME_TEXT_MAX];
};

static inline struct loop *consume_rank_loop(const struct consume_rank *rank)
{
    return live_session_loop(&rank->session);
}

/* A timer's callback, whose context is the rank: tells how far it is, and sets the timer again. */
void consume_rank_progress(struct timer *timer, void *context);
/* Tells how it ended, as rank->end says. The exit status. */
int consume_rank_tell_end(const struct consume_rank *rank);

#endif
