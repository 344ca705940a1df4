/* lifecycle_reclaimer.c - a process that reclaims. Ours. */
#include "tests/model/lifecycle_reclaimer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/model/lifecycle_hash.h"
#include "tests/model/lifecycle_spec.h"

static size_t machine_bytes(void)
{
    return sizeof(struct reclaim) + sizeof(struct reclaim_delete);
}

static void happen(struct lifecycle *world, struct reclaimer_actor *reclaimer,
                   struct reclaim_event event);

static void round_ended(struct lifecycle *world, struct reclaimer_actor *reclaimer)
{
    const struct reclaim *machine = reclaimer->machine;
    reclaimer->in_round = false;
    if (machine->report.end != RECLAIM_DONE)
        spec_broken(world, "a round of a reclaimer ends %s: %.180s",
                    reclaim_end_name(machine->report.end), machine->error);
}

static void perform(struct lifecycle *world, struct reclaimer_actor *reclaimer,
                    const struct reclaim_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct reclaim_effect *effect = &effects->items[i];
        switch (effect->kind) {
        case RECLAIM_SUBMIT:
            reclaimer->busy[effect->slot] = true;
            break;
        case RECLAIM_SLEEP:
            happen(world, reclaimer,
                   (struct reclaim_event){.kind = RECLAIM_TIMER, .slot = effect->slot});
            break;
        case RECLAIM_ROUND_ENDED:
            round_ended(world, reclaimer);
            break;
        }
    }
}

static void happen(struct lifecycle *world, struct reclaimer_actor *reclaimer,
                   struct reclaim_event event)
{
    struct reclaim_effects effects;
    reclaim_step(reclaimer->machine, 0, event, &effects);
    perform(world, reclaimer, &effects);
}

/* No grace: what may be deleted may be deleted at once. */
void reclaimer_actor_open(struct lifecycle *world, uint32_t index)
{
    struct reclaim_options options = {
        .random = random_stream_make(4, index),
        .retry_ns = 1,
        .retry_max_ns = 1,
        .behind = world->bounds->behind,
        .full_every = 1,
        .deletes_max = 1,
    };
    world->reclaimers[index] = (struct reclaimer_actor){.machine = reclaim_open(&options)};
}

struct store_op *reclaimer_actor_op(struct reclaimer_actor *reclaimer, uint32_t slot)
{
    return reclaimer->busy[slot] ? reclaim_op(reclaimer->machine, slot) : NULL;
}

void reclaimer_actor_answer(struct lifecycle *world, struct reclaimer_actor *reclaimer,
                            uint32_t slot)
{
    reclaimer->busy[slot] = false;
    happen(world, reclaimer, (struct reclaim_event){.kind = RECLAIM_ANSWER, .slot = slot});
}

void reclaimer_actor_begin(struct lifecycle *world, struct reclaimer_actor *reclaimer)
{
    assert(!reclaimer->in_round);
    reclaimer->in_round = true;
    happen(world, reclaimer, (struct reclaim_event){.kind = RECLAIM_ROUND});
}

/* ---- copying, hashing ---- */

static void copy_page(struct list_page *to, const struct list_page *from)
{
    *to = (struct list_page){0};
    for (size_t i = 0; i < from->count; i++)
        list_page_add(to, list_page_key(from, i), from->object_bytes[i]);
    to->truncated = from->truncated;
}

void reclaimer_actor_copy(struct reclaimer_actor *to, const struct reclaimer_actor *from)
{
    const struct reclaim *original = from->machine;
    struct reclaim *copy = malloc(machine_bytes());
    assert(copy != NULL);
    *to = *from;
    memcpy(copy, original, machine_bytes());
    copy->chain.op.page = (struct list_page){0};
    copy->deletes[0].op.page = (struct list_page){0};
    copy_page(&copy->control.page, &original->control.page);
    if (copy->chain.known != NULL)
        manifest_retain(copy->chain.known);
    if (copy->chain.found != NULL)
        manifest_retain(copy->chain.found);
    if (original->live.capacity > 0) {
        size_t bytes = original->live.capacity * sizeof(*original->live.slots);
        copy->live.slots = malloc(bytes);
        assert(copy->live.slots != NULL);
        memcpy(copy->live.slots, original->live.slots, bytes);
    }
    to->machine = copy;
}

void reclaimer_actor_close(struct reclaimer_actor *reclaimer)
{
    reclaim_close(reclaimer->machine);
}

static uint64_t hash_listing(uint64_t hash, const struct reclaim *m)
{
    const struct watermark_scan *scan = &m->scan;
    const struct watermark_tally *tally = &m->tally;
    hash = hash_mix(hash, scan->floor_step * 4 + scan->open * 2u + scan->number_valued);
    hash = hash_mix(hash, scan->number * 512 + scan->number_step * 2 + scan->number_retired);
    hash = hash_mix(hash, scan->current.consumer * 4096u + (uint64_t)scan->current.state * 1024 +
                              scan->current.step);
    hash = hash_mix(hash, tally->next_rank * 4096u + tally->consumers * 64u + tally->missing);
    return hash_mix(hash, tally->step);
}

static uint64_t hash_page(uint64_t hash, const struct reclaim *m)
{
    const struct list_page *page = &m->control.page;
    if (!m->page_held)
        return hash;
    for (size_t i = m->page_next; i < page->count; i++)
        hash = hash_mix(hash, keys_number(list_page_key(page, i)));
    return hash_mix(hash, page->truncated);
}

static uint64_t hash_markers(uint64_t hash, const struct reclaim *m)
{
    hash = hash_mix(hash, m->seen_floor.version * 256 + m->seen_floor.step);
    hash = hash_mix(hash, m->old_floor.version * 256 + m->old_floor.step);
    hash = hash_mix(hash, m->seen_intent * 256 + m->old_intent);
    return hash_mix(hash, m->marks * UINT64_C(256) + m->marks_step);
}

/* Reports decide nothing. */
uint64_t reclaimer_actor_hash(const struct lifecycle *world,
                              const struct reclaimer_actor *reclaimer)
{
    const struct reclaim *m = reclaimer->machine;
    if (!reclaimer->in_round && world->rounds == world->bounds->rounds)
        return 5;
    uint64_t hash = hash_markers(hash_chain_reader(6, &m->chain), m);
    hash = hash_mix(hash, (uint64_t)m->phase * 2 + reclaimer->in_round);
    hash = hash_mix(hash, m->live.first_step * 65536 + m->live.dropped * 256 + m->live.next_step);
    if (!reclaimer->in_round)
        return hash;
    hash = hash_mix(hash, m->floor.version * 65536 + m->floor.step * 256 + m->needed);
    hash = hash_mix(hash, m->bucket_max);
    if (m->phase == RECLAIM_LISTING || m->phase == RECLAIM_LISTING_AGAIN)
        hash = hash_listing(hash, m);
    hash = hash_page(hash, m);
    for (uint32_t slot = 0; slot < RECLAIMER_SLOTS; slot++)
        if (reclaimer->busy[slot])
            hash = hash_request(hash_mix(hash, slot), slot == RECLAIM_SLOT_CHAIN ? &m->chain.op
                                                      : slot == RECLAIM_SLOT_CONTROL
                                                          ? &m->control
                                                          : &m->deletes[0].op);
    return hash;
}
