/* virtual_loop.h - the loop in virtual time: now jumps from event to event, beginning at 0.
 *
 * The caller owns it and closes nothing while it runs. It counts handled events and keeps a digest:
 * every handled event's time is chained in, and whoever takes part may chain in content of its own
 * (nothing that depends on addresses). Same seed, same digest, whichever queue is underneath.
 * loop_run handles what is due at `until_ns` too; afterwards now is `until_ns`, unless nothing was
 * left to happen. */
#ifndef SIM_VIRTUAL_LOOP_H
#define SIM_VIRTUAL_LOOP_H

#include "core/base.h"
#include "core/loop.h"
#include "core/random.h"
#include "sim/event_queue.h"

struct virtual_loop {
    struct loop loop; /* must be first */
    struct event_queue queue;
    int64_t now_ns;
    uint64_t handled; /* events */
    uint64_t digest;
};

void virtual_loop_init(struct virtual_loop *loop, enum event_queue_kind kind);
void virtual_loop_deinit(struct virtual_loop *loop);

/* The digest with `content` chained in. */
static inline uint64_t digest_mix(uint64_t digest, uint64_t content)
{
    return random_mix(digest * UINT64_C(0x9e3779b97f4a7c15) + content);
}

static inline void virtual_loop_mix(struct virtual_loop *loop, uint64_t content)
{
    loop->digest = digest_mix(loop->digest, content);
}

#endif
