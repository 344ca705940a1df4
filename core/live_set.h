/* live_set.h - the TGBs that a manifest names at a step that is still needed, to ask of any name
 * whether it is one of them. Ours.
 *
 * A hash table from 64-bit fingerprints of whole names to steps, 32 to 64 bytes an entry: two names
 * that share one are taken for the same, so that an object may stay that could go, never the other
 * way round. It follows a chain: what one version adds to another costs what is new. Allocation
 * failure aborts. */
#ifndef CORE_LIVE_SET_H
#define CORE_LIVE_SET_H

#include "core/manifest.h"

struct live_entry {
    uint64_t print; /* 0: free */
    uint64_t step;
};

struct live_set {
    struct live_entry *slots;
    uint64_t capacity;
    uint64_t count; /* in use, those of steps below first_step that were not dropped included */
    uint64_t first_step; /* needed */
    uint64_t dropped;    /* entries of steps below it may be missing */
    uint64_t next_step;  /* steps below it are in */
};

void live_set_init(struct live_set *set);
void live_set_deinit(struct live_set *set);
/* From here on it holds the names of a whole manifest's entries from `first_step` on, which is
 * of the same chain as the last one. */
void live_set_follow(struct live_set *set, const struct manifest *manifest, uint64_t first_step);
bool live_set_has(const struct live_set *set, const struct tgb_name *name);

#endif
