/* batch_queue.h - a producer's batches that are made and not yet visible, in stream order.
 *
 * A ring that grows up to PRODUCER_PENDING_MAX. Batches may finish uploading in any order; those at
 * the front that are uploaded are ready: only they can be committed. */
#ifndef CORE_BATCH_QUEUE_H
#define CORE_BATCH_QUEUE_H

#include <stdbool.h>

#include "core/base.h"

#define PRODUCER_PENDING_MAX 65536 /* batches uploaded or uploading, not yet visible */

#define BATCH_ALIGN 64 /* a batch is one cache line */

struct batch {
    _Alignas(BATCH_ALIGN) uint64_t sequence; /* 1, 2, 3 ... over all epochs of a producer */
    uint64_t end_offset;
    uint64_t bytes;
    uint64_t bucket;
    uint64_t checksum; /* of the TGB; 0 where there is no payload */
    int64_t made_ns;
    bool uploaded;
};

struct batch_queue {
    struct batch *items;
    uint64_t first_sequence; /* of the front: the others follow it without a gap */
    uint32_t capacity;       /* a power of two */
    uint32_t head;
    uint32_t count;
    uint32_t ready;
};

void batch_queue_init(struct batch_queue *queue);
void batch_queue_deinit(struct batch_queue *queue);
bool batch_queue_full(const struct batch_queue *queue);
/* The new last batch, for the caller to fill; empty but for its sequence, which must be next. */
struct batch *batch_queue_push(struct batch_queue *queue, uint64_t sequence);
/* `index` counts from the front. */
struct batch *batch_queue_at(const struct batch_queue *queue, uint32_t index);
/* NULL if that sequence is not in the queue. */
struct batch *batch_queue_find(const struct batch_queue *queue, uint64_t sequence);
void batch_queue_uploaded(struct batch_queue *queue, uint64_t sequence, uint64_t checksum);
/* The front, which must be ready. */
struct batch batch_queue_pop(struct batch_queue *queue);

#endif
