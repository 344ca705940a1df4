/* driver.h - performs a producer machine's effects on a store and a loop. The only such file: sim
 * and live both run it.
 *
 * The driver owns the producer and its operations; it borrows the store, the loop and the observer,
 * which must outlive it. The observer is called from inside the loop. */
#ifndef CORE_DRIVER_H
#define CORE_DRIVER_H

#include "core/base.h"
#include "core/loop.h"
#include "core/producer.h"
#include "core/store.h"

/* Told what happened; every callback is required. `context` comes first in each. */
struct producer_observer {
    void *context;
    void (*attempt)(void *context, uint32_t producer, const struct attempt *attempt,
                    const struct attempt_detail *detail);
    /* A batch of mine is in a decided version. */
    void (*visible)(void *context, uint32_t producer, const struct batch *batch,
                    int64_t visible_ns);
    /* A request was answered. `bytes` moved either way. */
    void (*request)(void *context, uint32_t producer, enum store_verb verb,
                    enum store_outcome outcome, uint64_t bytes);
    /* The machine ended: stopped as asked, fenced, or failed; `text` says why. */
    void (*ended)(void *context, uint32_t producer, enum producer_end end, const char *text);
};

struct driver;

struct driver_options {
    struct store *store;
    struct loop *loop;
    const struct producer_observer *observer;
    const struct producer_options *producer;
};

struct driver *driver_open(const struct driver_options *options);
/* Begins at the loop's now. */
void driver_start(struct driver *driver);
/* Asks for a clean end: no new batch, no new attempt; `ended` follows when the attempt in progress
 * is decided. */
void driver_stop(struct driver *driver);
const struct producer *driver_producer(const struct driver *driver);
/* Only when no operation is in flight (after `ended`), or when the store was closed before. */
void driver_close(struct driver *driver);

#endif
