/* reader_checker.c - deliveries against the committed order. Ours. */
#include "sim/reader_checker.h"

#include <inttypes.h>

#include "core/digest_chain.h"
#include "core/tgb.h"
#include "core/tgb_payload.h"
#include "sim/memory.h"

#define REPORT(reader, now_ns, life, ...)                                                          \
    violations_add((reader)->violations, now_ns, (reader)->lives[life].rank, "reader: " __VA_ARGS__)

void reader_checker_deinit(struct reader_checker *reader)
{
    free(reader->lives);
    *reader = (struct reader_checker){0};
}

static void note_place(struct reader_life *life, struct checkpoint place)
{
    life->places[life->place_count++ % READER_PLACES_MAX] = place;
}

uint32_t reader_checker_add(struct reader_checker *reader, const struct consumer_options *options)
{
    const struct checkpoint_set *found = &options->checkpoints;
    uint64_t rollback = options->membership.rollback_step;
    if (reader->life_count == reader->life_capacity) {
        reader->life_capacity = reader->life_capacity * 2 + 16;
        reader->lives = memory_resize(reader->lives, reader->life_capacity, sizeof(*reader->lives));
    }
    struct reader_life *life = &reader->lives[reader->life_count];
    *life = (struct reader_life){
        .rank = options->membership.consumer, .set = *found, .kept = options->checkpoints_kept};
    for (uint32_t i = 0; i < found->count; i++)
        note_place(life, found->items[i]);
    if (rollback > 0)
        life->set.count = checkpoint_count_upto(found, rollback);
    return reader->life_count++;
}

void reader_checker_running(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                            uint64_t step, const struct checkpoint *from)
{
    struct reader_life *life = &reader->lives[number];
    if (life->running)
        REPORT(reader, now_ns, number, "rank %" PRIu32 " is allowed to run twice", life->rank);
    if (from != NULL && step != from->step)
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " goes back to step %" PRIu64 "; its checkpoint is at step %" PRIu64,
               life->rank, step, from->step);
    life->running = true;
    life->next_step = step;
    life->digest = from != NULL ? from->digest : 0;
    life->digest_before = life->digest;
}

/* Bytes of one slice. */
static uint64_t slice_bytes(const struct reader_checker *reader, const struct manifest_entry *entry)
{
    struct tgb_layout layout;
    if (reader->slices == 0)
        return entry->tgb_bytes;
    if (tgb_layout_make(entry->tgb_bytes, reader->slices, &layout) != TGB_OK)
        return 0;
    return tgb_layout_capacity(&layout);
}

/* What the slice's checksum must be. */
static uint64_t checksum_of(const struct reader_checker *reader, uint32_t rank,
                            const struct manifest_entry *entry, enum body_kind kind)
{
    uint64_t bytes = slice_bytes(reader, entry);
    uint32_t slice = reader->slices == 0 ? 0 : rank % reader->slices;
    if (kind != BODY_BYTES)
        return digest_chain_length(&entry->tgb, slice, bytes);
    return tgb_payload_hash(entry->tgb.producer, entry->tgb.sequence, slice * bytes, bytes);
}

static void check_slice(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                        const struct consumer_delivery *delivery,
                        const struct manifest_entry *entry, uint64_t checksum)
{
    const struct reader_life *life = &reader->lives[number];
    uint64_t bytes = slice_bytes(reader, entry);
    if (delivery->slice.bytes != bytes)
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " is given %" PRIu64 " bytes of step %" PRIu64
               "; its slice has %" PRIu64,
               life->rank, delivery->slice.bytes, delivery->step, bytes);
    else if (delivery->slice_checksum != checksum ||
             (delivery->slice.kind == BODY_BYTES &&
              digest_chain_slice(delivery->slice.data, bytes) != checksum))
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " is given other bytes for its slice of step %" PRIu64, life->rank,
               delivery->step);
}

void reader_checker_given(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                          const struct consumer_delivery *delivery)
{
    struct reader_life *life = &reader->lives[number];
    const struct manifest_entry *entry = committed_order_entry(reader->order, delivery->step);
    reader->given++;
    if (!life->running || delivery->step != life->next_step)
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " is given step %" PRIu64 " where %" PRIu64 " should be", life->rank,
               delivery->step, life->next_step);
    if (entry == NULL) {
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " is given step %" PRIu64 "; the chain is at %" PRIu64, life->rank,
               delivery->step, reader->order->count);
        return;
    }
    if (!tgb_name_equal(&entry->tgb, &delivery->entry.tgb) ||
        entry->tgb_bytes != delivery->entry.tgb_bytes)
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " is given batch %" PRIu64 " of producer %" PRIu32
               " as step %" PRIu64 ", where the chain has batch %" PRIu64 " of producer %" PRIu32,
               life->rank, delivery->entry.tgb.sequence, delivery->entry.tgb.producer,
               delivery->step, entry->tgb.sequence, entry->tgb.producer);
    uint64_t checksum = checksum_of(reader, life->rank, entry, delivery->slice.kind);
    check_slice(reader, now_ns, number, delivery, entry, checksum);
    life->next_step = delivery->step + 1;
    life->digest_before = life->digest;
    life->digest = digest_chain_next(life->digest, delivery->step, checksum);
}

void reader_checker_place(struct reader_checker *reader, uint32_t number, uint64_t step)
{
    struct reader_life *life = &reader->lives[number];
    uint64_t digest = step == life->next_step ? life->digest : life->digest_before;
    note_place(life, (struct checkpoint){.step = step, .digest = digest});
}

static bool was_at(const struct reader_life *life, const struct checkpoint *place)
{
    uint64_t count = life->place_count < READER_PLACES_MAX ? life->place_count : READER_PLACES_MAX;
    for (uint64_t i = 0; i < count; i++)
        if (life->places[i].step == place->step && life->places[i].digest == place->digest)
            return true;
    return false;
}

/* What is new comes last, after as many of the newest of those before as there is room for. */
static void check_kept(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                       const struct checkpoint_set *set)
{
    const struct reader_life *life = &reader->lives[number];
    const struct checkpoint_set *before = &life->set;
    uint64_t newest = before->count > 0 ? before->items[before->count - 1].step : 0;
    uint32_t stay = checkpoint_count_upto(set, newest);
    uint32_t fresh = set->count - stay;
    uint32_t due = before->count;
    if (fresh > 0 && due + fresh > life->kept)
        due = fresh < life->kept ? life->kept - fresh : 0;
    bool same = stay == due;
    for (uint32_t i = 0; same && i < stay; i++)
        same = set->items[i].step == before->items[before->count - stay + i].step;
    if (!same)
        REPORT(reader, now_ns, number,
               "rank %" PRIu32 " keeps %" PRIu32 " of its %" PRIu32 " checkpoints beside %" PRIu32
               " new ones; the newest %" PRIu32 " should stay",
               life->rank, stay, before->count, fresh, due);
}

void reader_checker_saves(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                          const struct checkpoint_set *set)
{
    struct reader_life *life = &reader->lives[number];
    check_kept(reader, now_ns, number, set);
    life->set = *set;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!was_at(life, &set->items[i]))
            REPORT(reader, now_ns, number,
                   "rank %" PRIu32 " keeps a checkpoint at step %" PRIu64
                   " with a digest that it never had there",
                   life->rank, set->items[i].step);
        if (i > 0 && set->items[i].step <= set->items[i - 1].step)
            REPORT(reader, now_ns, number, "rank %" PRIu32 " keeps checkpoints out of order",
                   life->rank);
    }
}

void reader_checker_refused(struct reader_checker *reader, uint32_t number)
{
    reader->lives[number].refused = true;
}

void reader_checker_ended(struct reader_checker *reader, int64_t now_ns, uint32_t number,
                          uint64_t consumer_number, enum consumer_end end, const char *text)
{
    const struct reader_life *life = &reader->lives[number];
    const struct rank_hold *hold = rank_holds_of(reader->holds, life->rank);
    bool superseded = hold->highest > consumer_number;
    bool retired = hold->retired >= consumer_number && hold->retired > 0;
    bool fits = true;
    switch (end) {
    case CONSUMER_STOPPED:
    case CONSUMER_REFUSED:
        break;
    case CONSUMER_SUPERSEDED:
        fits = superseded;
        break;
    case CONSUMER_RETIRED:
        fits = retired;
        break;
    case CONSUMER_BELOW_FLOOR:
        fits = superseded || retired;
        break;
    case CONSUMER_STORE_FAILED:
        fits = life->refused;
        break;
    case CONSUMER_LOST:
    case CONSUMER_CORRUPT:
    case CONSUMER_END_COUNT:
        fits = false;
        break;
    }
    if (!fits)
        REPORT(reader, now_ns, number, "rank %" PRIu32 ", number %" PRIu64 ", ends %s: %s",
               life->rank, consumer_number, consumer_end_name(end), text);
}
