/* lifecycle_spec.c - the promises of the life of steps. Ours. */
#include "tests/model/lifecycle_spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void spec_event(struct lifecycle *world, enum lifecycle_event event)
{
    world->events |= UINT64_C(1) << event;
}

void spec_broken(struct lifecycle *world, const char *format, ...)
{
    if (world->problem[0] != '\0')
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(world->problem, sizeof(world->problem), format, arguments);
    va_end(arguments);
}

/* ---- promises ---- */

/* A human, or a refused start, ended this number or a later one. */
static bool retired_from(const struct lifecycle *world, uint32_t consumer, uint64_t number)
{
    for (uint32_t key = 0; key < keys_count(); key++) {
        const struct watermark_name *name = &keys_at(key)->watermark;
        if (keys_at(key)->kind == KEY_WATERMARK && name->part == WATERMARK_NUMBER_RETIRED &&
            name->consumer == consumer && name->number >= number &&
            lifecycle_store_has(&world->store, key))
            return true;
    }
    return false;
}

/* A later process, started while another of its name lived, so that what it read may have been
 * outdated, has said that it needs no more than what lies from a step above this one on. */
static bool given_away(const struct lifecycle *world, uint32_t consumer, uint64_t promised)
{
    const struct host *host = &world->hosts[consumer];
    for (uint32_t i = 0; i < keys_count(); i++) {
        const struct watermark_name *name = &keys_at(i)->watermark;
        if (keys_at(i)->kind != KEY_WATERMARK || name->part != WATERMARK_NUMBER_VALUE ||
            name->consumer != consumer || name->number <= host->allowed || name->step <= promised ||
            !lifecycle_store_has(&world->store, i))
            continue;
        uint32_t owner = world->store.numbers[consumer][name->number].bytes[0];
        if (owner > 0 && !world->ranks[owner - 1].alone)
            return true;
    }
    return false;
}

static uint64_t needed_by(const struct membership *membership)
{
    const struct checkpoint_set *kept = &membership->checkpoints;
    return kept->count > 0 ? kept->items[0].step : membership->first_step;
}

uint64_t spec_promised(const struct lifecycle *world, uint32_t consumer)
{
    const struct host *host = &world->hosts[consumer];
    uint64_t promised = UINT64_MAX;
    if (host->allowed == 0 || retired_from(world, consumer, host->allowed))
        return promised;
    if (host->durable.count > 0 && host->writer >= host->allowed && !host->refused)
        promised = host->durable.items[0].step;
    for (uint32_t i = 0; i < world->rank_count; i++) {
        const struct rank_actor *rank = &world->ranks[i];
        if (rank->consumer != consumer || rank->machine == NULL)
            continue;
        const struct membership *membership = &rank->machine->membership;
        if (membership->running && membership->number == host->allowed &&
            needed_by(membership) < promised)
            promised = needed_by(membership);
    }
    return given_away(world, consumer, promised) ? UINT64_MAX : promised;
}

static uint64_t lowest_promised(const struct lifecycle *world, uint32_t *consumer)
{
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; i < world->bounds->consumers; i++) {
        uint64_t promised = spec_promised(world, i);
        if (promised < lowest) {
            lowest = promised;
            *consumer = i;
        }
    }
    return lowest;
}

static void check_given_up(struct lifecycle *world, const char *what, uint64_t number,
                           uint64_t first_step)
{
    uint32_t consumer = 0;
    uint64_t promised = lowest_promised(world, &consumer);
    if (first_step > promised)
        spec_broken(world,
                    "%s %" PRIu64 " gives up what lies below step %" PRIu64 ", and step %" PRIu64
                    " is promised to consumer %" PRIu32,
                    what, number, first_step, promised, consumer);
}

/* ---- the chain ---- */

static void check_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct lifecycle *world = context;
    const struct producer_state *before = manifest_state_find(world->newest, entry->tgb.producer);
    char key[STORE_KEY_MAX];
    if (entry->tgb.sequence != (before ? before->last_sequence : 0) + 1)
        spec_broken(world, "step %" PRIu64 " is sequence %" PRIu64 ", which does not follow", step,
                    entry->tgb.sequence);
    assert(step <= LIFECYCLE_STEPS_MAX);
    name_tgb(key, &entry->tgb);
    world->order[step] = keys_number(key);
    if (!lifecycle_store_has(&world->store, world->order[step]))
        spec_broken(world, "step %" PRIu64 " is committed, and its TGB was deleted before", step);
}

static void check_created(struct lifecycle *world, struct manifest *created, struct floor floor)
{
    if (created->version < floor.version) {
        spec_event(world, EVENT_ZOMBIE);
        return;
    }
    if (world->newest == NULL) {
        world->newest = manifest_retain(created);
        return;
    }
    if (created->version != world->newest->version + 1) {
        spec_broken(world, "version %" PRIu64 " created while the newest is %" PRIu64,
                    created->version, world->newest->version);
        return;
    }
    const struct producer_state *before =
        manifest_state_find(world->newest, created->author.producer);
    if (created->next_step < world->newest->next_step)
        spec_broken(world, "version %" PRIu64 " loses steps", created->version);
    if (before && created->author.epoch < before->epoch)
        spec_broken(world, "version %" PRIu64 " by a fenced epoch", created->version);
    manifest_visit_entries(created, world->newest->next_step, check_entry, world);
    manifest_release(world->newest);
    world->newest = manifest_retain(created);
    check_given_up(world, "version", created->version, created->first_step);
}

struct comparison {
    const struct lifecycle *world;
    bool differs;
};

static void compare_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct comparison *comparison = context;
    char key[STORE_KEY_MAX];
    name_tgb(key, &entry->tgb);
    if (step >= comparison->world->newest->next_step ||
        keys_number(key) != comparison->world->order[step])
        comparison->differs = true;
}

void spec_validated(struct lifecycle *world, const struct manifest *manifest)
{
    struct comparison comparison = {.world = world};
    manifest_visit_entries(manifest, manifest->first_step, compare_entry, &comparison);
    if (comparison.differs || manifest->version > world->newest->version)
        spec_broken(world, "version %" PRIu64 " was validated, and is not of the committed order",
                    manifest->version);
}

/* ---- floors and deletions ---- */

static void check_floor(struct lifecycle *world, struct floor floor, struct floor before)
{
    spec_event(world, EVENT_FLOOR);
    if (floor.version > before.version && floor.step < before.step)
        spec_event(world, EVENT_FLOOR_LOWER);
    const struct manifest *named =
        floor.version <= LIFECYCLE_VERSIONS_MAX ? world->store.versions[floor.version] : NULL;
    if (floor.version > world->newest->version)
        spec_broken(world, "floor at version %" PRIu64 ", and the newest is %" PRIu64,
                    floor.version, world->newest->version);
    else if (floor.version >= before.version && named == NULL)
        spec_broken(world, "floor at version %" PRIu64 ", which is gone", floor.version);
    check_given_up(world, "the floor at version", floor.version, floor.step);
}

static void check_tgb_deleted(struct lifecycle *world, uint32_t key)
{
    uint32_t consumer = 0;
    uint64_t promised = lowest_promised(world, &consumer);
    uint64_t given_up = lifecycle_store_given_up(&world->store);
    spec_event(world, EVENT_TGB_DELETED);
    for (uint64_t step = 1; step < world->newest->next_step; step++) {
        if (world->order[step] != key)
            continue;
        if (step >= promised)
            spec_broken(world,
                        "the TGB of step %" PRIu64 " is deleted, and step %" PRIu64
                        " is promised to consumer %" PRIu32,
                        step, promised, consumer);
        if (step >= given_up)
            spec_broken(world, "the TGB of step %" PRIu64 " is deleted, the floors are at %" PRIu64,
                        step, given_up);
        return;
    }
    spec_event(world, EVENT_ORPHAN_DELETED);
}

/* The highest floor and the highest intent stay; a consumer's watermark is what it was. */
static bool sorts_first(const struct lifecycle *world, uint32_t deleted)
{
    for (uint32_t i = 0; i < keys_count(); i++) {
        uint32_t key = keys_in_order(i);
        if (keys_at(key)->kind != keys_at(deleted)->kind)
            continue;
        if (key == deleted)
            return true;
        if (lifecycle_store_has(&world->store, key))
            return false;
    }
    return false;
}

static struct watermark watermark_of(const struct lifecycle *world, uint32_t consumer,
                                     uint32_t besides)
{
    struct watermark found = {.consumer = consumer};
    struct watermark_scan scan;
    watermark_scan_init(&scan, 0);
    for (uint32_t i = 0; i < keys_count(); i++) {
        uint32_t key = keys_in_order(i);
        const struct key *parsed = keys_at(key);
        if (parsed->kind == KEY_WATERMARK && parsed->watermark.consumer == consumer &&
            (key == besides || lifecycle_store_has(&world->store, key)))
            watermark_scan_add(&scan, parsed->text, &found);
    }
    watermark_scan_end(&scan, &found);
    return found;
}

static void check_value_deleted(struct lifecycle *world, uint32_t key)
{
    uint32_t consumer = keys_at(key)->watermark.consumer;
    struct watermark before = watermark_of(world, consumer, key);
    struct watermark after = watermark_of(world, consumer, UINT32_MAX);
    if (before.state != after.state || before.step != after.step)
        spec_broken(world, "%s is deleted, and was what counts", keys_at(key)->text);
}

static void check_deleted(struct lifecycle *world, uint32_t key, struct floor floor)
{
    switch (keys_at(key)->kind) {
    case KEY_VERSION:
        spec_event(world, EVENT_VERSION_DELETED);
        if (keys_at(key)->version >= floor.version)
            spec_broken(world, "version %" PRIu64 " is deleted, the floor is at %" PRIu64,
                        keys_at(key)->version, floor.version);
        break;
    case KEY_TGB:
        check_tgb_deleted(world, key);
        break;
    case KEY_FLOOR:
    case KEY_INTENT:
        spec_event(world, EVENT_MARKER_DELETED);
        if (sorts_first(world, key))
            spec_broken(world, "%s is deleted, and was the highest", keys_at(key)->text);
        break;
    case KEY_WATERMARK:
        check_value_deleted(world, key);
        break;
    }
}

void spec_applied(struct lifecycle *world, const struct applied *applied, struct floor before)
{
    if (!applied->changed)
        return;
    const struct key *key = keys_at(applied->key);
    if (applied->verb == STORE_DELETE)
        check_deleted(world, applied->key, before);
    else if (key->kind == KEY_VERSION)
        check_created(world, applied->content.manifest, before);
    else if (key->kind == KEY_FLOOR)
        check_floor(world, key->floor, before);
}

/* ---- consumers ---- */

static void check_present(struct lifecycle *world, uint32_t consumer, uint64_t needed)
{
    for (uint64_t step = needed; step < world->newest->next_step; step++)
        if (!lifecycle_store_has(&world->store, world->order[step]))
            spec_broken(world,
                        "consumer %" PRIu32 " is allowed from step %" PRIu64
                        ", and the TGB of step %" PRIu64 " is gone",
                        consumer, needed, step);
}

void spec_allowed(struct lifecycle *world, const struct rank_actor *rank)
{
    const struct membership *membership = &rank->machine->membership;
    uint64_t needed = needed_by(membership);
    spec_event(world, EVENT_ALLOWED);
    if (membership->intent_checked)
        spec_event(world, EVENT_ALLOWED_BY_INTENT);
    if (rank->back)
        spec_event(world, EVENT_ALLOWED_BACK);
    if (spec_promised(world, rank->consumer) > needed)
        return; /* retired or overtaken meanwhile: it will notice */
    if (world->newest->first_step > needed)
        spec_broken(world,
                    "consumer %" PRIu32 " is allowed from step %" PRIu64
                    ", and the newest version starts at %" PRIu64,
                    rank->consumer, needed, world->newest->first_step);
    if (lifecycle_store_given_up(&world->store) > needed)
        spec_broken(world,
                    "consumer %" PRIu32 " is allowed from step %" PRIu64
                    ", and a floor is at step %" PRIu64,
                    rank->consumer, needed, lifecycle_store_given_up(&world->store));
    check_present(world, rank->consumer, needed);
}

void spec_delivered(struct lifecycle *world, const struct rank_actor *rank)
{
    const struct consumer_delivery *delivery = consumer_delivery(rank->machine);
    char key[STORE_KEY_MAX];
    assert(delivery != NULL);
    spec_event(world, EVENT_DELIVERED);
    spec_validated(world, rank->machine->chain.known);
    name_tgb(key, &delivery->entry.tgb);
    if (delivery->step != rank->machine->cursor)
        spec_broken(world, "consumer %" PRIu32 " is given step %" PRIu64 " at step %" PRIu64,
                    rank->consumer, delivery->step, rank->machine->cursor);
    else if (keys_number(key) != world->order[delivery->step])
        spec_broken(world, "consumer %" PRIu32 " is given %s as step %" PRIu64, rank->consumer, key,
                    delivery->step);
}

/* Whether nobody took its number from it, as far as the specification knows. */
static bool holds(const struct lifecycle *world, const struct rank_actor *rank)
{
    const struct membership *membership = &rank->machine->membership;
    return membership->running && membership->number == world->hosts[rank->consumer].allowed &&
           !retired_from(world, rank->consumer, membership->number);
}

static void check_refused(struct lifecycle *world, const struct rank_actor *rank)
{
    const struct membership *membership = &rank->machine->membership;
    spec_event(world, EVENT_REFUSED);
    if (membership->found.count == 0 && membership->options.start_step == 0)
        spec_broken(world, "consumer %" PRIu32 " is refused, and could begin anywhere: %s",
                    rank->consumer, membership->error);
    if (membership->found.count > 0 && rank->alone &&
        spec_promised(world, rank->consumer) <= membership->found.items[0].step)
        spec_broken(world, "consumer %" PRIu32 " is refused what it was promised: %s",
                    rank->consumer, membership->error);
}

void spec_ended(struct lifecycle *world, const struct rank_actor *rank)
{
    const struct consumer *machine = rank->machine;
    switch (machine->end) {
    case CONSUMER_STOPPED:
        return;
    case CONSUMER_REFUSED:
        check_refused(world, rank);
        return;
    case CONSUMER_SUPERSEDED:
    case CONSUMER_RETIRED:
        spec_event(world, EVENT_SUPERSEDED);
        if (!rank->alone)
            return;
        break;
    case CONSUMER_BELOW_FLOOR:
        spec_event(world, EVENT_BELOW_FLOOR);
        if (!holds(world, rank))
            return;
        break;
    case CONSUMER_LOST:
    case CONSUMER_CORRUPT:
    case CONSUMER_STORE_FAILED:
    case CONSUMER_END_COUNT:
        break;
    }
    spec_broken(world, "consumer %" PRIu32 " ends: %.180s", rank->consumer, machine->end_text);
}
