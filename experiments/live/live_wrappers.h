/* live_wrappers.h - what stands between a live producer's codec and its store: faults over shape
 * over meter over the store itself.
 *
 * The meter is the lowest and sees what the store itself does: requests that reached it, how long
 * it took for them. The shape is above it, so that its delays are not taken for the store's. Faults
 * are the highest, next to the producer: what they lose or hold back has no say over what the
 * others saw, and a request that lands late goes through all of them. They need bytes that they can
 * keep, so the codec is above them. */
#ifndef EXPERIMENTS_LIVE_WRAPPERS_H
#define EXPERIMENTS_LIVE_WRAPPERS_H

#include "core/meter_store.h"
#include "experiments/config/config.h"

struct live_wrappers_options {
    const struct config *config; /* borrowed while open only: live.shape, live.fault, store.* */
    uint64_t seed;
    uint32_t actor; /* (seed, actor) gives the draws of shape and faults */
    void (*answered)(void *context, const struct meter_answer *answer); /* NULL: nobody is told */
    void *context;
};

struct live_wrappers;

/* Borrows the store of bytes and the loop. What live.shape and live.fault leave off is not in the
 * way. */
struct live_wrappers *live_wrappers_open(const struct live_wrappers_options *options,
                                         struct store *bytes, struct loop *loop);
/* With nothing in flight or after the store of bytes was closed. */
void live_wrappers_close(struct live_wrappers *wrappers);
/* The highest, borrowed. */
struct store *live_wrappers_store(const struct live_wrappers *wrappers);
struct meter_counters live_wrappers_counters(const struct live_wrappers *wrappers);

#endif
