/* shape_store.h - a store over any store that makes it as slow as another one: every operation
 * takes at least the latency of a profile, in the loop's time.
 *
 * Effects come in the order in which the simulator's store has them (sim/virtual_store.h). With L
 * the latency that is drawn and f the apply fraction, an operation is held for f L before it goes
 * to the inner store, and its answer until L after it was sent. So an inner store that answers
 * within (1-f) L adds nothing; a slower one does. A GET is held for f times the latency of its
 * first byte, that of 0 bytes; its answer comes by the latency of the bytes that it brought, at the
 * same draw. Bandwidth that operations share and rates of requests are not shaped: a process knows
 * only its own operations. Ours. */
#ifndef CORE_SHAPE_STORE_H
#define CORE_SHAPE_STORE_H

#include "core/loop.h"
#include "core/random.h"
#include "core/store.h"

struct shape_store_options {
    struct store *inner; /* borrowed, not closed */
    struct loop *loop;   /* borrowed */
    /* L of an operation in nanoseconds, 0 or more: the same for the same verb, unit and bytes.
     * `unit`, in [0, 1), is the operation's draw, and L does not fall as it rises. */
    int64_t (*latency_ns)(void *context, enum store_verb verb, double unit, uint64_t bytes);
    void *context;
    double apply_fraction; /* f, 0..1 */
    double read_fraction;  /* f of GET and LIST, 0..1 */
    struct random_stream random;
};

/* Closed by store_close, with nothing in flight or after `inner` was closed: what is held is then
 * dropped, and never reaches the inner store. */
struct store *shape_store_open(const struct shape_store_options *options);

#endif
