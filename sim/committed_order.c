/* committed_order.c - an array by step, and one by sequence for each producer. Ours. */
#include "sim/committed_order.h"

#include <string.h>

#include "sim/memory.h"

void committed_order_deinit(struct committed_order *order)
{
    for (uint32_t i = 0; i < order->producer_count; i++)
        free(order->producers[i].steps);
    free(order->producers);
    free(order->entries);
    manifest_release(order->newest);
    *order = (struct committed_order){0};
}

static struct committed_steps *steps_of(struct committed_order *order, uint32_t producer)
{
    if (producer >= order->producer_count) {
        uint32_t count = producer < 32 ? 64 : producer * 2;
        order->producers = memory_resize(order->producers, count, sizeof(*order->producers));
        memset(order->producers + order->producer_count, 0,
               (count - order->producer_count) * sizeof(*order->producers));
        order->producer_count = count;
    }
    return &order->producers[producer];
}

/* Sequences that do not follow each other are the steps checker's to report. */
static void note_step(struct committed_order *order, const struct tgb_name *name, uint64_t step)
{
    struct committed_steps *steps = steps_of(order, name->producer);
    if (name->sequence != steps->count + 1)
        return;
    if (steps->count == steps->capacity) {
        steps->capacity = steps->capacity == 0 ? 16 : steps->capacity * 2;
        steps->steps = memory_resize(steps->steps, steps->capacity, sizeof(*steps->steps));
    }
    steps->steps[steps->count++] = step;
}

static void note_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct committed_order *order = context;
    if (step != order->count + 1 || entry->tgb.producer >= MANIFEST_STATES_MAX)
        return;
    if (order->count == order->capacity) {
        order->capacity = order->capacity == 0 ? 256 : order->capacity * 2;
        order->entries = memory_resize(order->entries, order->capacity, sizeof(*order->entries));
    }
    order->entries[order->count++] = *entry;
    note_step(order, &entry->tgb, step);
}

void committed_order_version(struct committed_order *order, const struct manifest *manifest)
{
    manifest_visit_entries(manifest, order->count + 1, note_entry, order);
    manifest_release(order->newest);
    /* The version stays unchanged; only its reference count does not. */
    order->newest = manifest_retain((struct manifest *)(uintptr_t)manifest);
}

const struct manifest_entry *committed_order_entry(const struct committed_order *order,
                                                   uint64_t step)
{
    return step >= 1 && step <= order->count ? &order->entries[step - 1] : NULL;
}

bool tgb_name_equal(const struct tgb_name *one, const struct tgb_name *other)
{
    return one->producer == other->producer && one->sequence == other->sequence &&
           one->epoch == other->epoch && one->bucket == other->bucket &&
           one->end_offset == other->end_offset &&
           memcmp(&one->incarnation, &other->incarnation, INCARNATION_BYTES) == 0;
}

enum tgb_standing committed_order_standing(const struct committed_order *order,
                                           const struct tgb_name *name, uint64_t *step)
{
    const struct producer_state *state = NULL;
    *step = 0;
    if (order->newest != NULL)
        state = manifest_state_find(order->newest, name->producer);
    if (state == NULL || name->epoch > state->epoch)
        return TGB_UNDECIDED;
    if (name->producer < order->producer_count && name->sequence >= 1 &&
        name->sequence <= order->producers[name->producer].count) {
        uint64_t found = order->producers[name->producer].steps[name->sequence - 1];
        if (tgb_name_equal(&order->entries[found - 1].tgb, name)) {
            *step = found;
            return TGB_COMMITTED;
        }
    }
    bool holder = name->epoch == state->epoch &&
                  memcmp(&name->incarnation, &state->incarnation, INCARNATION_BYTES) == 0;
    return holder && name->sequence > state->last_sequence ? TGB_UNDECIDED : TGB_ORPHAN;
}
