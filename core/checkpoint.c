/* checkpoint.c - see checkpoint.h. Ours. */
#include "core/checkpoint.h"

static void drop_oldest(struct checkpoint_set *set)
{
    set->count--;
    for (uint32_t i = 0; i < set->count; i++)
        set->items[i] = set->items[i + 1];
}

void checkpoint_add(struct checkpoint_set *set, const struct checkpoint *checkpoint, uint32_t kept)
{
    assert(kept > 0 && kept <= CHECKPOINTS_MAX);
    assert(set->count == 0 || set->items[set->count - 1].step <= checkpoint->step);
    if (set->count > 0 && set->items[set->count - 1].step == checkpoint->step)
        set->count--;
    while (set->count >= kept)
        drop_oldest(set);
    set->items[set->count++] = *checkpoint;
}

uint32_t checkpoint_count_upto(const struct checkpoint_set *set, uint64_t step)
{
    uint32_t count = set->count;
    while (count > 0 && set->items[count - 1].step > step)
        count--;
    return count;
}

uint64_t checkpoint_lowest_number(const struct checkpoint_set *set)
{
    uint64_t lowest = set->count > 0 ? set->items[0].number : 0;
    for (uint32_t i = 1; i < set->count; i++)
        if (set->items[i].number < lowest)
            lowest = set->items[i].number;
    return lowest;
}

uint64_t checkpoint_highest_number(const struct checkpoint_set *set)
{
    uint64_t highest = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].number > highest)
            highest = set->items[i].number;
    return highest;
}
