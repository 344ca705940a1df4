/* consumer_driver.h - performs a consumer machine's effects on a store and a loop; sim and live
 * both run it.
 *
 * The driver owns the consumer and its operations; it borrows the store, the loop and the
 * observer, which must outlive it. The observer is called from inside the loop, or from inside
 * consumer_driver_start; whatever it asks of the driver from a callback happens right after it. */
#ifndef CORE_CONSUMER_DRIVER_H
#define CORE_CONSUMER_DRIVER_H

#include "core/consumer.h"
#include "core/loop.h"

/* A request that was answered. */
struct consumer_answer {
    enum consumer_request request;
    enum store_verb verb;
    enum store_outcome outcome;
    uint64_t bytes; /* moved either way; LIST: 0 */
    int64_t sent_ns;
    int64_t answered_ns;
};

/* Told what happened; every callback is required. `context` comes first in each. */
struct consumer_observer {
    void *context;
    /* Allowed to run; the first step will be `step`. */
    void (*running)(void *context, uint32_t consumer, uint64_t step);
    /* The next step, in order; valid until consumer_driver_take, which the observer calls when it
     * has used it, now or later. The next `ready` follows then. */
    void (*ready)(void *context, uint32_t consumer, const struct consumer_delivery *delivery);
    /* Make the set durable in place of the one before, as a whole; then consumer_driver_saved, now
     * or later. A set whose highest number is below the highest of the set that is durable must
     * not replace it: consumer_driver_save_refused. A set that cannot be made durable for another
     * reason: consumer_driver_stop. */
    void (*save)(void *context, uint32_t consumer, const struct checkpoint_set *checkpoints);
    /* The checkpoint at `step`, and those asked for before it, are durable and published. */
    void (*checkpointed)(void *context, uint32_t consumer, uint64_t step);
    void (*request)(void *context, uint32_t consumer, const struct consumer_answer *answer);
    /* The machine ended; `text` says why. */
    void (*ended)(void *context, uint32_t consumer, enum consumer_end end, const char *text);
};

struct consumer_driver;

struct consumer_driver_options {
    struct store *store;
    struct loop *loop;
    const struct consumer_observer *observer;
    const struct consumer_options *consumer;
};

struct consumer_driver *consumer_driver_open(const struct consumer_driver_options *options);
/* Begins at the loop's now. */
void consumer_driver_start(struct consumer_driver *driver);
/* The step given by `ready` was used. */
void consumer_driver_take(struct consumer_driver *driver);
/* Keep the place before the step that would be taken next; while running. */
void consumer_driver_checkpoint(struct consumer_driver *driver);
void consumer_driver_saved(struct consumer_driver *driver);
void consumer_driver_save_refused(struct consumer_driver *driver);
/* Asks for a clean end; `ended` follows when nothing is in flight. A save that was asked for and
 * not reported as done does not hold it up. */
void consumer_driver_stop(struct consumer_driver *driver);
const struct consumer *consumer_driver_consumer(const struct consumer_driver *driver);
/* Only when no operation is in flight (after `ended`), or when the store was closed before. */
void consumer_driver_close(struct consumer_driver *driver);

#endif
