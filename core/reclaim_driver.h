/* reclaim_driver.h - performs a reclaim machine's effects on a store and a loop, round after round,
 * for sim and live alike.
 *
 * The driver owns the machine and its operations; it borrows the store, the loop and the observer,
 * which must outlive it. The observer is called from inside the loop. */
#ifndef CORE_RECLAIM_DRIVER_H
#define CORE_RECLAIM_DRIVER_H

#include "core/loop.h"
#include "core/reclaim.h"

/* Told what happened; every callback is required. `context` comes first in each. */
struct reclaim_observer {
    void *context;
    /* A request was answered. `bytes` moved either way. */
    void (*request)(void *context, enum store_verb verb, enum store_outcome outcome,
                    uint64_t bytes);
    /* A round ended; `error` is empty unless it failed. Both are valid during the call. */
    void (*round)(void *context, const struct reclaim_report *report, const char *error);
    /* Stopped as asked, or the only round ended: nothing is in flight. */
    void (*ended)(void *context);
};

#define RECLAIM_JITTER 0.5 /* of live reclaimers */

struct reclaim_driver_options {
    struct store *store;
    struct loop *loop;
    const struct reclaim_observer *observer;
    const struct reclaim_options *reclaim; /* copied */
    int64_t first_ns;                      /* until the first round starts */
    int64_t period_ns; /* between the end of a round and the next; 0: one round */
    double jitter;     /* 0..1: that time is uniform in [1-j, 1+j) of it: reclaimers spread */
};

struct reclaim_driver;

struct reclaim_driver *reclaim_driver_open(const struct reclaim_driver_options *options);
void reclaim_driver_start(struct reclaim_driver *driver);
/* Starts no request; `ended` follows when nothing is in flight, or at once from inside this call.
 */
void reclaim_driver_stop(struct reclaim_driver *driver);
const struct reclaim *reclaim_driver_machine(const struct reclaim_driver *driver);
/* Only after `ended`, or when the store was closed or cut before. Not from inside `round`. */
void reclaim_driver_close(struct reclaim_driver *driver);

#endif
