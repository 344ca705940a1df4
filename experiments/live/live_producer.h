/* live_producer.h - one producer of a live run, as a process of its own. */
#ifndef EXPERIMENTS_LIVE_PRODUCER_H
#define EXPERIMENTS_LIVE_PRODUCER_H

#include "experiments/config/config.h"
#include "experiments/trials/recorder.h"

/* What an attempt in progress gets to be decided in, once the producer is to stop. */
#define LIVE_DRAIN_NS (30 * NS_PER_S)

struct live_producer_options {
    const struct config *config; /* borrowed */
    const char *url;             /* of the run, borrowed */
    uint64_t seed;
    uint32_t producer;
    int fd; /* its end of the socket to the parent (live_wire.h); owned */
};

/* The whole life of the process, right after fork: opens its own loop and store, says READY, waits
 * for START, produces until the run's time is over or it is to stop, says what came of it. SIGINT
 * and SIGTERM stop it cleanly. Returns the exit status; the caller then calls _exit. */
int live_producer_main(const struct live_producer_options *options);

#endif
