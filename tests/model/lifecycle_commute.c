/* lifecycle_commute.c - three kinds of operations commute. A read whose answer nobody can change
 * any more. The deletion of what only says what something that stays says as well. And where
 * readers do their reads in an instant and nobody commits, all that a reclaimer does once its floor
 * is raised, as far as it lies below: the floor is what others go by. Ours. */
#include "tests/model/lifecycle_commute.h"

#include <string.h>

#include "tests/model/lifecycle_producer.h"

/* ---- who may still write what ---- */

struct prospects {
    bool creates;  /* versions and TGBs */
    bool reclaims; /* floors, intents, deletions */
    bool watermarks[LIFECYCLE_CONSUMERS_MAX];
};

static bool rank_writes(const struct lifecycle *world, const struct rank_actor *rank)
{
    return rank->machine != NULL && (rank->machine->phase == CONSUMER_STARTING ||
                                     rank->machine->control_state != CONSUMER_MACHINE_IDLE ||
                                     world->advances < world->bounds->advances);
}

static bool is(struct actor actor, enum actor_kind kind, uint32_t index)
{
    return actor.kind == kind && actor.index == index;
}

/* Of everybody but this actor. */
static struct prospects prospects_besides(const struct lifecycle *world, struct actor self)
{
    const struct lifecycle_bounds *bounds = world->bounds;
    struct prospects prospects = {0};
    uint32_t former;
    for (uint32_t i = 0; i < world->producer_count; i++)
        if (!is(self, ACTOR_PRODUCER, i) &&
            (world->producers[i].busy || producer_actor_can_begin(world, &world->producers[i])))
            prospects.creates = true;
    for (uint32_t i = 0; i < bounds->reclaimers; i++)
        if (!is(self, ACTOR_RECLAIMER, i) &&
            (world->reclaimers[i].in_round || world->rounds < bounds->rounds))
            prospects.reclaims = true;
    for (uint32_t i = 0; i < world->rank_count; i++)
        if (!is(self, ACTOR_RANK, i) && rank_writes(world, &world->ranks[i]))
            prospects.watermarks[world->ranks[i].consumer] = true;
    if (!is(self, ACTOR_RETIRER, 0) &&
        (world->retirer.machine != NULL || world->retirements < bounds->retirements))
        prospects.watermarks[0] = true;
    for (uint32_t i = 0; i < bounds->consumers; i++)
        prospects.watermarks[i] |=
            consumer_can_start(world, i) || consumer_former_key(world, i, &former);
    for (uint32_t i = 0; i < world->store.late_count; i++) {
        const struct key *key = keys_at(world->store.late[i].key);
        if (key->kind == KEY_WATERMARK)
            prospects.watermarks[key->watermark.consumer] = true;
        else if (key->kind == KEY_VERSION && world->store.late[i].verb != STORE_DELETE)
            prospects.creates = true;
        else
            prospects.reclaims = true;
    }
    return prospects;
}

static bool any_watermarks(const struct prospects *prospects)
{
    bool any = false;
    for (uint32_t i = 0; i < LIFECYCLE_CONSUMERS_MAX; i++)
        any |= prospects->watermarks[i];
    return any;
}

static bool list_may_change(const struct prospects *prospects, const char *prefix)
{
    char own[STORE_KEY_MAX];
    if (strcmp(prefix, NAME_FLOOR_PREFIX) == 0 || strcmp(prefix, NAME_INTENT_PREFIX) == 0)
        return prospects->reclaims;
    if (strcmp(prefix, NAME_MANIFEST_PREFIX) == 0 || strcmp(prefix, NAME_TGB_PREFIX) == 0)
        return prospects->reclaims || prospects->creates;
    for (uint32_t i = 0; i < LIFECYCLE_CONSUMERS_MAX; i++) {
        name_consumer(own, i);
        if (strcmp(prefix, own) == 0)
            return prospects->watermarks[i];
    }
    return any_watermarks(prospects);
}

static bool read_commutes(const struct lifecycle *world, const struct prospects *prospects,
                          const struct store_op *op)
{
    if (op->verb == STORE_LIST)
        return !list_may_change(prospects, op->key);
    uint32_t number = keys_number(op->key);
    const struct key *key = keys_at(number);
    bool stored = lifecycle_store_has(&world->store, number);
    if (key->kind == KEY_WATERMARK)
        return stored || !prospects->watermarks[key->watermark.consumer];
    return !prospects->reclaims && (stored || !prospects->creates);
}

/* ---- what a reclaimer does below its floor ---- */

/* A reclaimer's listing of what it may delete. */
static bool sweeps(const struct lifecycle *world, struct actor actor)
{
    if (actor.kind != ACTOR_RECLAIMER)
        return false;
    switch (world->reclaimers[actor.index].machine->phase) {
    case RECLAIM_SWEEPING_CHAIN:
    case RECLAIM_SWEEPING_TGBS:
    case RECLAIM_SWEEPING_FLOORS:
    case RECLAIM_SWEEPING_INTENTS:
        return true;
    case RECLAIM_IDLE:
    case RECLAIM_READING:
    case RECLAIM_LISTING:
    case RECLAIM_INTENDING:
    case RECLAIM_LISTING_AGAIN:
    case RECLAIM_READING_AGAIN:
    case RECLAIM_RAISING:
    case RECLAIM_ENDING:
        break;
    }
    return false;
}

/* One that was overtaken may still ask for what is given up. */
static bool may_fetch(const struct lifecycle *world, uint64_t step)
{
    for (uint32_t i = 0; i < world->rank_count; i++) {
        const struct consumer *machine = world->ranks[i].machine;
        if (machine == NULL)
            continue;
        const struct membership *membership = &machine->membership;
        uint64_t lowest = membership->first_step;
        if (membership->running)
            lowest = machine->cursor;
        else if (membership->found.count > 0)
            lowest = membership->found.items[0].step;
        if (lowest <= step)
            return true;
    }
    return false;
}

/* Committed at a step that a floor has given up, and that nobody will ask for. */
static bool is_given_up(const struct lifecycle *world, uint32_t tgb)
{
    uint64_t given_up = lifecycle_store_given_up(&world->store);
    for (uint64_t step = 1; step < world->newest->next_step && step < given_up; step++)
        if (world->order[step] == tgb)
            return !may_fetch(world, step);
    return false;
}

/* ---- what something else says as well ---- */

/* Whether the key that is stored and sorts before this one says more of the same. */
static bool is_outdone(const struct lifecycle *world, uint32_t deleted)
{
    const struct key *key = keys_at(deleted);
    for (uint32_t i = 0; i < keys_count(); i++) {
        const struct key *other = keys_at(keys_in_order(i));
        if (other == key)
            return false;
        if (other->kind != key->kind || !lifecycle_store_has(&world->store, keys_in_order(i)))
            continue;
        if (key->kind == KEY_INTENT ||
            (key->kind == KEY_FLOOR && other->floor.step >= key->floor.step) ||
            (key->kind == KEY_WATERMARK && key->watermark.part == WATERMARK_NUMBER_VALUE &&
             other->watermark.part == WATERMARK_NUMBER_VALUE &&
             other->watermark.consumer == key->watermark.consumer &&
             other->watermark.number == key->watermark.number))
            return true;
    }
    return false;
}

static bool deletion_commutes(const struct lifecycle *world, bool quiet, uint32_t deleted)
{
    const struct key *key = keys_at(deleted);
    switch (key->kind) {
    case KEY_VERSION:
        return quiet && key->version < lifecycle_store_floor(&world->store).version;
    case KEY_TGB:
        return quiet && is_given_up(world, deleted);
    case KEY_WATERMARK: /* what says more may itself be deleted */
        return !world->bounds->forgets && is_outdone(world, deleted);
    case KEY_FLOOR:
    case KEY_INTENT:
        return is_outdone(world, deleted);
    }
    return false;
}

bool lifecycle_commutes(const struct lifecycle *world, struct actor actor,
                        const struct store_op *op)
{
    struct prospects prospects = prospects_besides(world, actor);
    bool quiet = !world->bounds->readers && !prospects.creates && world->bounds->page_keys == 0;
    if (op->verb == STORE_DELETE)
        return world->bounds->page_keys == 0 &&
               deletion_commutes(world, quiet, keys_number(op->key));
    if (store_op_writes(op))
        return false;
    if (actor.kind == ACTOR_RANK && actor.slot != RANK_SLOT_CONTROL && !world->bounds->readers)
        return true;
    if (quiet && sweeps(world, actor))
        return true;
    return read_commutes(world, &prospects, op);
}
