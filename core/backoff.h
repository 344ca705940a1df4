/* backoff.h - how long to wait after failures in a row: exponential, bounded. Ours, as usual. */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include "core/base.h"

/* first_ns after one failure, doubled by each further one, at most max_ns. Callers who share a
 * store with others draw uniformly below it (full jitter). `failures` counts from 1. */
static inline int64_t backoff_bound_ns(int64_t first_ns, int64_t max_ns, uint32_t failures)
{
    int64_t bound_ns = first_ns;
    for (uint32_t i = 1; i < failures && bound_ns < max_ns; i++)
        bound_ns *= 2;
    return bound_ns < max_ns ? bound_ns : max_ns;
}

#endif
