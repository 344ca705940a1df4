/* batch_queue.c - a growing ring. Ours. */
#include "core/batch_queue.h"

#include <stdlib.h>

#define CAPACITY_FIRST 64

void batch_queue_init(struct batch_queue *queue)
{
    *queue = (struct batch_queue){0};
}

void batch_queue_deinit(struct batch_queue *queue)
{
    free(queue->items);
    batch_queue_init(queue);
}

bool batch_queue_full(const struct batch_queue *queue)
{
    return queue->count == PRODUCER_PENDING_MAX;
}

static void queue_grow(struct batch_queue *queue)
{
    uint32_t capacity = queue->capacity ? 2 * queue->capacity : CAPACITY_FIRST;
    struct batch *items = aligned_alloc(BATCH_ALIGN, capacity * sizeof(*items));
    assert(items != NULL);
    for (uint32_t i = 0; i < queue->count; i++)
        items[i] = *batch_queue_at(queue, i);
    free(queue->items);
    queue->items = items;
    queue->capacity = capacity;
    queue->head = 0;
}

struct batch *batch_queue_push(struct batch_queue *queue, uint64_t sequence)
{
    assert(!batch_queue_full(queue));
    if (queue->count == queue->capacity)
        queue_grow(queue);
    if (queue->count == 0)
        queue->first_sequence = sequence;
    assert(sequence == queue->first_sequence + queue->count);
    queue->count++;
    struct batch *batch = batch_queue_at(queue, queue->count - 1);
    *batch = (struct batch){.sequence = sequence};
    return batch;
}

struct batch *batch_queue_at(const struct batch_queue *queue, uint32_t index)
{
    assert(index < queue->count);
    return &queue->items[(queue->head + index) & (queue->capacity - 1)];
}

struct batch *batch_queue_find(const struct batch_queue *queue, uint64_t sequence)
{
    uint64_t first = queue->first_sequence;
    if (sequence < first || sequence - first >= queue->count)
        return NULL;
    return batch_queue_at(queue, (uint32_t)(sequence - first));
}

void batch_queue_uploaded(struct batch_queue *queue, uint64_t sequence, uint64_t checksum)
{
    struct batch *batch = batch_queue_find(queue, sequence);
    assert(batch && !batch->uploaded);
    batch->uploaded = true;
    batch->checksum = checksum;
    while (queue->ready < queue->count && batch_queue_at(queue, queue->ready)->uploaded)
        queue->ready++;
}

struct batch batch_queue_pop(struct batch_queue *queue)
{
    assert(queue->ready > 0);
    struct batch front = *batch_queue_at(queue, 0);
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->first_sequence++;
    queue->count--;
    queue->ready--;
    return front;
}
