/* chains.c - random manifests. Ours. */
#include "tests/core/chains.h"

#include <stdlib.h>
#include <string.h>

struct manifest *chain_append(struct manifest *base, struct random_stream *stream,
                              uint32_t producers, size_t entries, uint64_t first_step)
{
    uint32_t producer = (uint32_t)(random_next(stream) % producers);
    const struct producer_state *old = manifest_state_find(base, producer);
    struct manifest_change change = {.first_step = first_step};
    change.state.producer = producer;
    if (old != NULL)
        change.state = *old;
    change.state.epoch = old != NULL ? old->epoch + (uint32_t)(random_next(stream) % 2) : 1;
    change.state.incarnation = random_incarnation(stream);
    change.state.last_commit_ns += (int64_t)(random_next(stream) >> 20);
    change.state.last_commit_version = base->version + 1;
    change.author = (struct manifest_author){.producer = producer,
                                             .epoch = change.state.epoch,
                                             .incarnation = change.state.incarnation,
                                             .attempt = random_next(stream)};
    struct manifest_entry *list = calloc(entries + 1, sizeof(*list));
    assert(list != NULL);
    for (size_t i = 0; i < entries; i++) {
        list[i].tgb_bytes = random_next(stream) >> 30;
        change.state.next_offset += list[i].tgb_bytes;
        list[i].tgb = (struct tgb_name){.bucket = random_next(stream) % 1000000000,
                                        .sequence = ++change.state.last_sequence,
                                        .end_offset = change.state.next_offset,
                                        .incarnation = change.state.incarnation,
                                        .producer = producer,
                                        .epoch = change.state.epoch};
        list[i].tgb_checksum = random_next(stream);
    }
    change.entry_count = entries;
    change.entries = list;
    struct manifest *next = manifest_append(base, &change);
    free(list);
    return next;
}

struct manifest *chain_random(struct random_stream *stream)
{
    static const uint32_t sizes[] = {MANIFEST_ENTRY_BYTES_MIN, 65, 120, 168, 300};
    struct manifest *manifest = manifest_genesis(sizes[random_next(stream) % 5]);
    uint32_t producers = 1 + (uint32_t)(random_next(stream) % 12);
    uint64_t versions = random_next(stream) % 12;
    for (uint64_t i = 0; i < versions; i++) {
        uint64_t first_step = 0;
        if (random_next(stream) % 4 == 0)
            first_step = random_next(stream) % (manifest->next_step + 3);
        struct manifest *next =
            chain_append(manifest, stream, producers, random_next(stream) % 6, first_step);
        manifest_release(manifest);
        manifest = next;
    }
    return manifest;
}

struct collect {
    size_t count;
    uint64_t next_step;
    bool dense;
    struct manifest_entry *entries;
};

static void collect(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct collect *into = context;
    into->dense = into->dense && step == into->next_step++;
    into->entries[into->count++] = *entry;
}

static struct collect entries_of(const struct manifest *manifest)
{
    struct collect into = {.next_step = manifest->first_step, .dense = true};
    into.entries = calloc(manifest_live_entries(manifest) + 1, sizeof(*into.entries));
    assert(into.entries != NULL);
    manifest_visit_entries(manifest, 0, collect, &into);
    return into;
}

bool chain_equal(const struct manifest *a, const struct manifest *b)
{
    bool equal = a->entry_bytes == b->entry_bytes && a->version == b->version &&
                 memcmp(&a->author, &b->author, sizeof(a->author)) == 0 &&
                 a->base_version == b->base_version && a->base_checksum == b->base_checksum &&
                 a->first_step == b->first_step && a->next_step == b->next_step &&
                 manifest_state_count(a) == manifest_state_count(b);
    for (uint32_t i = 0; equal && i < manifest_state_count(a); i++)
        equal = memcmp(manifest_state_at(a, i), manifest_state_at(b, i),
                       sizeof(struct producer_state)) == 0;
    struct collect left = entries_of(a);
    struct collect right = entries_of(b);
    equal = equal && left.dense && right.dense && left.count == right.count &&
            left.count == manifest_live_entries(a) &&
            memcmp(left.entries, right.entries, left.count * sizeof(*left.entries)) == 0;
    free(left.entries);
    free(right.entries);
    return equal;
}
