/* event_queue.h - the set timers of a virtual loop, ordered by (time, insertion number).
 *
 * Timers are the caller's; the queue links them through timer->slot and allocates only when it
 * grows. A set timer must stay where it is until it was popped or cancelled. Times are nanoseconds,
 * at least 0. Nothing here fails; running out of memory ends the program. Method: a 4-ary heap
 * (LaMarca and Ladner 1996) with its children in one cache line, eager cancel, and the root
 * replaced in place when a fired timer is followed by a set. The reference is a linear scan over an
 * unsorted array.
 */
#ifndef SIM_EVENT_QUEUE_H
#define SIM_EVENT_QUEUE_H

#include <stdbool.h>

#include "core/base.h"
#include "core/loop.h"

#define EVENT_QUEUE_TIMERS_MAX (UINT32_C(1) << 24)

enum event_queue_kind {
    EVENT_QUEUE_HEAP,
    EVENT_QUEUE_REFERENCE, /* slow and obvious, for comparisons */
};

struct event_entry;

struct event_queue {
    enum event_queue_kind kind;
    bool root_vacant; /* the root was popped and its place not filled yet */
    uint32_t count;   /* entries in the heap, a vacant root included */
    uint32_t capacity;
    uint32_t free_id; /* 1 + first of a list through positions; 0: none */
    uint32_t ids;     /* ever given out */
    uint64_t next_order;
    struct event_entry *memory;
    struct event_entry *heap; /* memory, shifted so that siblings share a cache line */
    struct timer **timers;    /* by id; the reference: in no order */
    uint32_t *positions;      /* by id: index in the heap */
};

void event_queue_init(struct event_queue *queue, enum event_queue_kind kind);
/* Forgets the timers that are still set; their slots stay as they are. */
void event_queue_deinit(struct event_queue *queue);

/* Sets the timer, or moves it; it is the last of those at its time. */
void event_queue_set(struct event_queue *queue, struct timer *timer, int64_t at_ns);
/* The timer must be set. */
void event_queue_cancel(struct event_queue *queue, struct timer *timer);
/* Takes out the first timer that is due at `until_ns` or before; NULL if there is none. */
struct timer *event_queue_pop(struct event_queue *queue, int64_t until_ns);
uint32_t event_queue_count(const struct event_queue *queue);

#endif
