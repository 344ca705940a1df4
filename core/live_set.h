/* live_set.h - the TGBs that a manifest names at a step that is still needed, to ask of any name
 * whether it is one of them. Ours.
 *
 * A hash set of 64-bit fingerprints of whole names, 16 to 32 bytes an entry: two names that share
 * one are taken for the same, so that an object may stay that could go, never the other way round.
 * Allocation failure aborts. */
#ifndef CORE_LIVE_SET_H
#define CORE_LIVE_SET_H

#include "core/manifest.h"

enum live_extent {
    LIVE_ALL,
    LIVE_FIRST_BUCKETS, /* only those in buckets up to that of the first step's TGB */
};

struct live_set {
    uint64_t *slots; /* 0: free */
    uint64_t capacity;
    uint64_t count;
    uint64_t bucket_max; /* names in later buckets are not in the set; UINT64_MAX: all are */
};

void live_set_init(struct live_set *set);
void live_set_deinit(struct live_set *set);
/* Replaces what it holds by the names of the manifest's entries from `first_step` on. */
void live_set_build(struct live_set *set, const struct manifest *manifest, uint64_t first_step,
                    enum live_extent extent);
/* The name's bucket is at most bucket_max. */
bool live_set_has(const struct live_set *set, const struct tgb_name *name);

#endif
