/* event_queue.c - a 4-ary heap with eager cancel, and its linear-scan reference. Ours.
 *
 * An entry is 16 bytes: the time, and the insertion number with the timer's dense id below it, so
 * four siblings fill one cache line. Moving an entry writes its position into a dense array and not
 * into the timer, whose line is likely to be far away. */
#include "sim/event_queue.h"

#include <stdlib.h>
#include <string.h>

#define ID_BITS 24
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)
#define ORDER_MAX (UINT64_C(1) << (64 - ID_BITS))
#define CAPACITY_FIRST 256
#define CACHE_LINE 64
#define ROOT_SHIFT 3 /* puts the first child, index 1, at the start of a cache line */

struct event_entry {
    uint64_t at_ns;
    uint64_t order_id;
};

static_assert(sizeof(struct event_entry) * 4 == CACHE_LINE, "four siblings fill one cache line");

__extension__ typedef unsigned __int128 entry_rank;

static inline entry_rank rank(const struct event_entry *entry)
{
    return (entry_rank)entry->at_ns << 64 | entry->order_id;
}

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static void grow(struct event_queue *queue)
{
    uint32_t capacity = queue->capacity == 0 ? CAPACITY_FIRST : queue->capacity * 2;
    assert(capacity <= EVENT_QUEUE_TIMERS_MAX);
    queue->timers = checked(realloc(queue->timers, capacity * sizeof(*queue->timers)));
    queue->positions = checked(realloc(queue->positions, capacity * sizeof(*queue->positions)));
    size_t bytes = (capacity + CACHE_LINE) * sizeof(struct event_entry);
    struct event_entry *memory = checked(aligned_alloc(CACHE_LINE, bytes));
    if (queue->count > 0)
        memcpy(memory + ROOT_SHIFT, queue->heap, queue->count * sizeof(*memory));
    free(queue->memory);
    queue->memory = memory;
    queue->heap = memory + ROOT_SHIFT;
    queue->capacity = capacity;
}

void event_queue_init(struct event_queue *queue, enum event_queue_kind kind)
{
    *queue = (struct event_queue){.kind = kind};
    grow(queue);
}

void event_queue_deinit(struct event_queue *queue)
{
    free(queue->memory);
    free(queue->timers);
    free(queue->positions);
    *queue = (struct event_queue){0};
}

uint32_t event_queue_count(const struct event_queue *queue)
{
    return queue->count - (queue->root_vacant ? 1 : 0);
}

/* ---- heap ---- */

static inline void place(struct event_queue *queue, uint32_t index, const struct event_entry *entry)
{
    queue->heap[index] = *entry;
    queue->positions[entry->order_id & ID_MASK] = index;
}

static void sift_up(struct event_queue *queue, uint32_t index, struct event_entry entry)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 4;
        if (rank(&queue->heap[parent]) < rank(&entry))
            break;
        place(queue, index, &queue->heap[parent]);
        index = parent;
    }
    place(queue, index, &entry);
}

/* The first of up to four siblings; `first` is a valid index. */
static inline uint32_t first_sibling(const struct event_queue *queue, uint32_t first)
{
    const struct event_entry *sibling = queue->heap + first;
    if (first + 3 < queue->count) {
        uint32_t left = rank(&sibling[1]) < rank(&sibling[0]) ? 1 : 0;
        uint32_t right = rank(&sibling[3]) < rank(&sibling[2]) ? 3 : 2;
        return first + (rank(&sibling[right]) < rank(&sibling[left]) ? right : left);
    }
    uint32_t best = 0;
    for (uint32_t i = 1; first + i < queue->count; i++)
        best = rank(&sibling[i]) < rank(&sibling[best]) ? i : best;
    return first + best;
}

static void sift_down(struct event_queue *queue, uint32_t index, struct event_entry entry)
{
    for (;;) {
        uint32_t first = 4 * index + 1;
        if (first >= queue->count)
            break;
        uint32_t child = first_sibling(queue, first);
        if (rank(&entry) < rank(&queue->heap[child]))
            break;
        place(queue, index, &queue->heap[child]);
        index = child;
    }
    place(queue, index, &entry);
}

static void fill_root(struct event_queue *queue)
{
    queue->root_vacant = false;
    queue->count--;
    if (queue->count > 0)
        sift_down(queue, 0, queue->heap[queue->count]);
}

static uint32_t id_take(struct event_queue *queue)
{
    uint32_t id = queue->free_id;
    if (id != 0) {
        id--;
        queue->free_id = queue->positions[id];
        return id;
    }
    assert(queue->ids < queue->capacity);
    return queue->ids++;
}

static void id_give(struct event_queue *queue, uint32_t id)
{
    queue->positions[id] = queue->free_id;
    queue->free_id = id + 1;
}

static void heap_set(struct event_queue *queue, struct timer *timer)
{
    bool moves = timer->slot != 0;
    if (moves && queue->root_vacant)
        fill_root(queue);
    if (!moves) {
        if (queue->count == queue->capacity)
            grow(queue);
        timer->slot = id_take(queue) + 1;
        queue->timers[timer->slot - 1] = timer;
    }
    uint32_t id = timer->slot - 1;
    struct event_entry entry = {(uint64_t)timer->at_ns, timer->order << ID_BITS | id};
    if (moves) {
        uint32_t index = queue->positions[id];
        if (index > 0 && rank(&entry) < rank(&queue->heap[(index - 1) / 4]))
            sift_up(queue, index, entry);
        else
            sift_down(queue, index, entry);
    } else if (queue->root_vacant) {
        queue->root_vacant = false;
        sift_down(queue, 0, entry);
    } else {
        sift_up(queue, queue->count++, entry);
    }
}

static void heap_cancel(struct event_queue *queue, struct timer *timer)
{
    if (queue->root_vacant)
        fill_root(queue);
    uint32_t id = timer->slot - 1;
    uint32_t index = queue->positions[id];
    struct event_entry last = queue->heap[--queue->count];
    if (index != queue->count) {
        if (index > 0 && rank(&last) < rank(&queue->heap[(index - 1) / 4]))
            sift_up(queue, index, last);
        else
            sift_down(queue, index, last);
    }
    id_give(queue, id);
}

static struct timer *heap_pop(struct event_queue *queue, int64_t until_ns)
{
    if (queue->root_vacant)
        fill_root(queue);
    if (queue->count == 0 || queue->heap[0].at_ns > (uint64_t)until_ns)
        return NULL;
    uint32_t id = (uint32_t)(queue->heap[0].order_id & ID_MASK);
    queue->root_vacant = true;
    id_give(queue, id);
    return queue->timers[id];
}

/* ---- reference: queue->timers in no order, slot = 1 + index ---- */

static void reference_set(struct event_queue *queue, struct timer *timer)
{
    if (timer->slot != 0)
        return;
    if (queue->count == queue->capacity)
        grow(queue);
    queue->timers[queue->count++] = timer;
    timer->slot = queue->count;
}

static void reference_cancel(struct event_queue *queue, struct timer *timer)
{
    struct timer *last = queue->timers[--queue->count];
    queue->timers[timer->slot - 1] = last;
    last->slot = timer->slot;
}

static struct timer *reference_pop(struct event_queue *queue, int64_t until_ns)
{
    struct timer *first = NULL;
    for (uint32_t i = 0; i < queue->count; i++) {
        struct timer *timer = queue->timers[i];
        if (first == NULL || timer->at_ns < first->at_ns ||
            (timer->at_ns == first->at_ns && timer->order < first->order))
            first = timer;
    }
    if (first == NULL || first->at_ns > until_ns)
        return NULL;
    reference_cancel(queue, first);
    return first;
}

/* ---- interface ---- */

void event_queue_set(struct event_queue *queue, struct timer *timer, int64_t at_ns)
{
    assert(at_ns >= 0);
    assert(queue->next_order < ORDER_MAX);
    timer->at_ns = at_ns;
    timer->order = queue->next_order++;
    switch (queue->kind) {
    case EVENT_QUEUE_HEAP:
        heap_set(queue, timer);
        break;
    case EVENT_QUEUE_REFERENCE:
        reference_set(queue, timer);
        break;
    }
}

void event_queue_cancel(struct event_queue *queue, struct timer *timer)
{
    assert(timer->slot != 0);
    switch (queue->kind) {
    case EVENT_QUEUE_HEAP:
        heap_cancel(queue, timer);
        break;
    case EVENT_QUEUE_REFERENCE:
        reference_cancel(queue, timer);
        break;
    }
    timer->slot = 0;
}

struct timer *event_queue_pop(struct event_queue *queue, int64_t until_ns)
{
    assert(until_ns >= 0);
    struct timer *timer = queue->kind == EVENT_QUEUE_HEAP ? heap_pop(queue, until_ns)
                                                          : reference_pop(queue, until_ns);
    if (timer != NULL)
        timer->slot = 0;
    return timer;
}
