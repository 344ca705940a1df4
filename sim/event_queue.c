/* event_queue.c - a 4-ary heap with eager cancel, and its linear-scan reference. Ours.
 *
 * An entry is 16 bytes: the time, and the insertion number with the timer's dense id below it, so
 * four siblings fill one cache line. Moving an entry writes its position into a dense array and not
 * into the timer, whose line is likely to be far away. */
#include "sim/event_queue.h"

#include <string.h>

#include "sim/memory.h"

#define ID_BITS 24
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)
#define ORDER_MAX (UINT64_C(1) << (64 - ID_BITS))
#define CAPACITY_FIRST 256
#define CACHE_LINE 64
#define ROOT_SHIFT 3 /* puts the first child, index 1, at the start of a cache line */

/* The time above, the insertion number and the id below. */
__extension__ typedef unsigned __int128 entry_rank;

struct event_entry {
    entry_rank rank;
};

static_assert(sizeof(struct event_entry) * 4 == CACHE_LINE, "four siblings fill one cache line");

static inline entry_rank rank_make(int64_t at_ns, uint64_t order, uint32_t id)
{
    return (entry_rank)(uint64_t)at_ns << 64 | order << ID_BITS | id;
}

static inline uint32_t rank_id(entry_rank rank)
{
    return (uint32_t)((uint64_t)rank & ID_MASK);
}

static void grow(struct event_queue *queue)
{
    uint32_t capacity = queue->capacity == 0 ? CAPACITY_FIRST : queue->capacity * 2;
    assert(capacity <= EVENT_QUEUE_TIMERS_MAX);
    queue->timers = memory_resize(queue->timers, capacity, sizeof(*queue->timers));
    queue->positions = memory_resize(queue->positions, capacity, sizeof(*queue->positions));
    size_t bytes = (capacity + CACHE_LINE) * sizeof(struct event_entry);
    struct event_entry *memory = aligned_alloc(CACHE_LINE, bytes);
    assert(memory != NULL);
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

static inline void place(struct event_queue *queue, uint32_t index, entry_rank rank)
{
    queue->heap[index].rank = rank;
    queue->positions[rank_id(rank)] = index;
}

static void sift_up(struct event_queue *queue, uint32_t index, entry_rank rank)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 4;
        entry_rank parent_rank = queue->heap[parent].rank;
        if (parent_rank < rank)
            break;
        place(queue, index, parent_rank);
        index = parent;
    }
    place(queue, index, rank);
}

/* The first of four siblings. Which of two comes first is guessed wrong half of the time, so that
 * this is arithmetic and has no branch. */
static inline uint32_t first_of_four(const struct event_entry *sibling)
{
    uint32_t left = (uint32_t)(sibling[1].rank < sibling[0].rank);
    uint32_t right = 2 + (uint32_t)(sibling[3].rank < sibling[2].rank);
    uint32_t to_right = (uint32_t)(sibling[right].rank < sibling[left].rank);
    return left ^ ((left ^ right) & (0 - to_right));
}

static uint32_t first_of_few(const struct event_entry *sibling, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        first = sibling[i].rank < sibling[first].rank ? i : first;
    return first;
}

static void sift_down(struct event_queue *queue, uint32_t index, entry_rank rank)
{
    const struct event_entry *heap = queue->heap;
    uint32_t count = queue->count;
    for (;;) {
        uint32_t child = 4 * index + 1;
        if (child + 3 < count)
            child += first_of_four(heap + child);
        else if (child < count)
            child += first_of_few(heap + child, count - child);
        else
            break;
        entry_rank child_rank = heap[child].rank;
        if (rank < child_rank)
            break;
        place(queue, index, child_rank);
        index = child;
    }
    place(queue, index, rank);
}

/* Puts an entry where it belongs, beginning at a place that is free. */
static void settle(struct event_queue *queue, uint32_t index, entry_rank rank)
{
    if (index > 0 && rank < queue->heap[(index - 1) / 4].rank)
        sift_up(queue, index, rank);
    else
        sift_down(queue, index, rank);
}

static void fill_root(struct event_queue *queue)
{
    queue->root_vacant = false;
    queue->count--;
    if (queue->count > 0)
        sift_down(queue, 0, queue->heap[queue->count].rank);
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
    entry_rank rank = rank_make(timer->at_ns, timer->order, id);
    if (moves) {
        settle(queue, queue->positions[id], rank);
    } else if (queue->root_vacant) {
        queue->root_vacant = false;
        sift_down(queue, 0, rank);
    } else {
        sift_up(queue, queue->count++, rank);
    }
}

static void heap_cancel(struct event_queue *queue, struct timer *timer)
{
    if (queue->root_vacant)
        fill_root(queue);
    uint32_t id = timer->slot - 1;
    uint32_t index = queue->positions[id];
    entry_rank last = queue->heap[--queue->count].rank;
    if (index != queue->count)
        settle(queue, index, last);
    id_give(queue, id);
}

/* The next event is one of the vacant root's children, unless an earlier one is set before. With
 * many actors the next one's memory is far away, and its user keeps what an event needs around its
 * timer. */
static void prefetch_next(const struct event_queue *queue)
{
    for (uint32_t i = 1; i <= 4 && i < queue->count; i++) {
        const struct timer *timer = queue->timers[rank_id(queue->heap[i].rank)];
        __builtin_prefetch(timer);
        __builtin_prefetch((const char *)timer + CACHE_LINE);
    }
}

static struct timer *heap_pop(struct event_queue *queue, int64_t until_ns)
{
    if (queue->root_vacant)
        fill_root(queue);
    if (queue->count == 0)
        return NULL;
    entry_rank first = queue->heap[0].rank;
    if ((int64_t)(first >> 64) > until_ns)
        return NULL;
    queue->root_vacant = true;
    prefetch_next(queue);
    id_give(queue, rank_id(first));
    return queue->timers[rank_id(first)];
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
