/* live_set.c - fingerprints in an open-addressed table. Ours. */
#include "core/live_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CAPACITY_MIN 64

static_assert(sizeof(struct tgb_name) == 48, "a name is hashed as it lies, so it has no padding");

struct building {
    struct live_set *set;
    enum live_extent extent;
    bool begun;
};

void live_set_init(struct live_set *set)
{
    *set = (struct live_set){.bucket_max = UINT64_MAX};
}

void live_set_deinit(struct live_set *set)
{
    free(set->slots);
    *set = (struct live_set){0};
}

static uint64_t fingerprint(const struct tgb_name *name)
{
    uint64_t hash = XXH3_64bits(name, sizeof(*name));
    return hash != 0 ? hash : 1;
}

/* Where it lies, or where it would. */
static uint64_t *slot_of(const struct live_set *set, uint64_t print)
{
    uint64_t index = print & (set->capacity - 1);
    while (set->slots[index] != 0 && set->slots[index] != print)
        index = (index + 1) & (set->capacity - 1);
    return &set->slots[index];
}

static void grow(struct live_set *set)
{
    struct live_set old = *set;
    set->capacity = old.capacity > 0 ? 2 * old.capacity : CAPACITY_MIN;
    set->slots = calloc(set->capacity, sizeof(*set->slots));
    assert(set->slots != NULL);
    for (uint64_t i = 0; i < old.capacity; i++)
        if (old.slots[i] != 0)
            *slot_of(set, old.slots[i]) = old.slots[i];
    free(old.slots);
}

static void add(uint64_t step, const struct manifest_entry *entry, void *context)
{
    (void)step;
    struct building *building = context;
    struct live_set *set = building->set;
    if (!building->begun && building->extent == LIVE_FIRST_BUCKETS)
        set->bucket_max = entry->tgb.bucket;
    building->begun = true;
    if (entry->tgb.bucket > set->bucket_max)
        return;
    if (2 * (set->count + 1) > set->capacity)
        grow(set);
    uint64_t print = fingerprint(&entry->tgb);
    uint64_t *slot = slot_of(set, print);
    set->count += *slot == 0;
    *slot = print;
}

void live_set_build(struct live_set *set, const struct manifest *manifest, uint64_t first_step,
                    enum live_extent extent)
{
    struct building building = {.set = set, .extent = extent};
    live_set_deinit(set);
    live_set_init(set);
    manifest_visit_entries(manifest, first_step, add, &building);
}

bool live_set_has(const struct live_set *set, const struct tgb_name *name)
{
    assert(name->bucket <= set->bucket_max);
    if (set->count == 0)
        return false;
    return *slot_of(set, fingerprint(name)) != 0;
}
