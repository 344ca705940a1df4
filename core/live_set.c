/* live_set.c - fingerprints in an open-addressed table. Ours. */
#include "core/live_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CAPACITY_MIN 64

static_assert(sizeof(struct tgb_name) == 48, "a name is hashed as it lies, so it has no padding");

void live_set_init(struct live_set *set)
{
    *set = (struct live_set){0};
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
static struct live_entry *slot_of(const struct live_set *set, uint64_t print)
{
    uint64_t index = print & (set->capacity - 1);
    while (set->slots[index].print != 0 && set->slots[index].print != print)
        index = (index + 1) & (set->capacity - 1);
    return &set->slots[index];
}

/* A table with room for as many again, without the entries that are needed no more. */
static void make_room(struct live_set *set)
{
    struct live_set old = *set;
    uint64_t live = 0;
    for (uint64_t i = 0; i < old.capacity; i++)
        live += old.slots[i].print != 0 && old.slots[i].step >= set->first_step;
    set->capacity = CAPACITY_MIN;
    while (set->capacity < 4 * live)
        set->capacity *= 2;
    set->slots = calloc(set->capacity, sizeof(*set->slots));
    assert(set->slots != NULL);
    for (uint64_t i = 0; i < old.capacity; i++)
        if (old.slots[i].print != 0 && old.slots[i].step >= set->first_step)
            *slot_of(set, old.slots[i].print) = old.slots[i];
    set->count = live;
    set->dropped = set->first_step;
    free(old.slots);
}

static void add(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct live_set *set = context;
    if (2 * (set->count + 1) > set->capacity)
        make_room(set);
    uint64_t print = fingerprint(&entry->tgb);
    struct live_entry *slot = slot_of(set, print);
    set->count += slot->print == 0;
    *slot = (struct live_entry){.print = print, .step = step}; /* steps rise: the highest stays */
}

void live_set_follow(struct live_set *set, const struct manifest *manifest, uint64_t first_step)
{
    assert(manifest_whole(manifest));
    if (first_step < set->dropped) {
        live_set_deinit(set);
        live_set_init(set);
    }
    set->first_step = first_step;
    uint64_t from = set->next_step;
    if (from < first_step) {
        from = first_step;
        set->dropped = first_step;
    }
    manifest_visit_entries(manifest, from, add, set);
    if (manifest->next_step > set->next_step)
        set->next_step = manifest->next_step;
}

bool live_set_has(const struct live_set *set, const struct tgb_name *name)
{
    if (set->count == 0)
        return false;
    const struct live_entry *slot = slot_of(set, fingerprint(name));
    return slot->print != 0 && slot->step >= set->first_step;
}
