/* fence_checker.c - who may still commit for a producer. Ours. */
#include "sim/fence_checker.h"

#include <inttypes.h>
#include <string.h>

#include "sim/memory.h"

static struct fence *fence_of(struct fence_checker *fence, uint32_t producer)
{
    if (producer >= fence->count) {
        uint32_t count = producer < 32 ? 64 : producer * 2;
        fence->fences = memory_resize(fence->fences, count, sizeof(*fence->fences));
        memset(fence->fences + fence->count, 0, (count - fence->count) * sizeof(*fence->fences));
        fence->count = count;
    }
    return &fence->fences[producer];
}

void fence_checker_deinit(struct fence_checker *fence)
{
    free(fence->fences);
    *fence = (struct fence_checker){0};
}

void fence_checker_version(struct fence_checker *fence, const struct checked_version *checked,
                           struct violations *violations)
{
    const struct manifest *manifest = checked->manifest;
    const struct manifest_author *author = &manifest->author;
    if (manifest->version == MANIFEST_GENESIS_VERSION)
        return;
    if (author->producer >= MANIFEST_STATES_MAX || author->epoch == 0) {
        violations_add(violations, checked->now_ns, checked->actor,
                       "fence: version %" PRIu64 " has producer %" PRIu32 ", epoch %" PRIu32
                       " as its author",
                       manifest->version, author->producer, author->epoch);
        return;
    }
    struct fence *known = fence_of(fence, author->producer);
    bool same = memcmp(&known->incarnation, &author->incarnation, INCARNATION_BYTES) == 0;
    if (author->epoch < known->epoch) {
        violations_add(violations, checked->now_ns, checked->actor,
                       "fence: version %" PRIu64 " is by epoch %" PRIu32 " of producer %" PRIu32
                       ", which is at epoch %" PRIu32,
                       manifest->version, author->epoch, author->producer, known->epoch);
    } else if (author->epoch == known->epoch && !same) {
        violations_add(violations, checked->now_ns, checked->actor,
                       "fence: version %" PRIu64 " is by a second incarnation of epoch %" PRIu32
                       " of producer %" PRIu32,
                       manifest->version, author->epoch, author->producer);
    } else if (author->epoch > known->epoch + 1) {
        violations_add(violations, checked->now_ns, checked->actor,
                       "fence: version %" PRIu64 " skips from epoch %" PRIu32 " to %" PRIu32
                       " of producer %" PRIu32,
                       manifest->version, known->epoch, author->epoch, author->producer);
        *known = (struct fence){author->epoch, author->incarnation};
    } else {
        *known = (struct fence){author->epoch, author->incarnation};
    }
}
