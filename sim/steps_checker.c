/* steps_checker.c - exactly once, checked on the chain itself. Ours. */
#include "sim/steps_checker.h"

#include <inttypes.h>
#include <string.h>

#include "sim/memory.h"

/* One version under inspection. */
struct inspection {
    struct steps_checker *steps;
    const struct checked_version *checked;
    struct violations *violations;
    uint64_t expected_step;
    /* TGBs that are named and not yet looked for. */
    size_t named;
    uint64_t steps_named[VIRTUAL_STORE_PEEK_MAX];
    uint64_t bytes_named[VIRTUAL_STORE_PEEK_MAX];
    struct virtual_store_key keys[VIRTUAL_STORE_PEEK_MAX];
};

#define REPORT(inspection, ...)                                                                    \
    violations_add((inspection)->violations, (inspection)->checked->now_ns,                        \
                   (inspection)->checked->actor, "steps: " __VA_ARGS__)

static void *grown(void *memory, size_t old_bytes, size_t bytes)
{
    char *larger = memory_resize(memory, bytes, 1);
    memset(larger + old_bytes, 0, bytes - old_bytes);
    return larger;
}

/* NULL if no producer can have that number. */
static struct stream *stream_of(struct steps_checker *steps, uint32_t producer)
{
    if (producer >= MANIFEST_STATES_MAX)
        return NULL;
    if (producer >= steps->stream_count) {
        uint32_t count = producer < 32 ? 64 : producer * 2;
        steps->streams = grown(steps->streams, steps->stream_count * sizeof(struct stream),
                               count * sizeof(struct stream));
        steps->stream_count = count;
    }
    return &steps->streams[producer];
}

void steps_checker_init(struct steps_checker *steps)
{
    *steps = (struct steps_checker){.first_step = 1, .next_step = 1};
}

void steps_checker_deinit(struct steps_checker *steps)
{
    free(steps->streams);
    free(steps->entry_hashes);
    *steps = (struct steps_checker){0};
}

/* ---- entries ---- */

static uint64_t *entry_hash_at(struct steps_checker *steps, uint64_t step)
{
    if (step >= steps->entry_hash_capacity) {
        uint64_t capacity = step < 1024 ? 2048 : step * 2;
        steps->entry_hashes =
            grown(steps->entry_hashes, steps->entry_hash_capacity * 8, capacity * 8);
        steps->entry_hash_capacity = capacity;
    }
    return &steps->entry_hashes[step];
}

static uint64_t entry_hash(const struct manifest_entry *entry)
{
    uint64_t words[2];
    memcpy(words, &entry->tgb.incarnation, sizeof(words));
    uint64_t hash = digest_mix(words[0], words[1]);
    hash = digest_mix(hash, (uint64_t)entry->tgb.producer << 32 | entry->tgb.epoch);
    hash = digest_mix(hash, entry->tgb.bucket);
    hash = digest_mix(hash, entry->tgb.sequence);
    hash = digest_mix(hash, entry->tgb.end_offset);
    hash = digest_mix(hash, entry->tgb_bytes);
    return digest_mix(hash, entry->tgb_checksum) | 1;
}

/* Looks whether the TGBs named since the last call are stored. */
static void check_stored(struct inspection *inspection)
{
    const struct body *bodies[VIRTUAL_STORE_PEEK_MAX];
    virtual_store_peek_many(inspection->steps->store, inspection->keys, inspection->named, bodies);
    for (size_t i = 0; i < inspection->named; i++) {
        uint64_t step = inspection->steps_named[i];
        uint64_t bytes = inspection->bytes_named[i];
        const char *key = inspection->keys[i].text;
        if (bodies[i] == NULL)
            REPORT(inspection, "step %" PRIu64 " names %s, which is not stored", step, key);
        else if (bodies[i]->bytes != bytes)
            REPORT(inspection, "step %" PRIu64 " gives %s %" PRIu64 " bytes; it has %" PRIu64, step,
                   key, bytes, bodies[i]->bytes);
    }
    inspection->named = 0;
}

static void note_named(struct inspection *inspection, uint64_t step,
                       const struct manifest_entry *entry)
{
    if (inspection->steps->store == NULL)
        return;
    name_tgb(inspection->keys[inspection->named].text, &entry->tgb);
    inspection->steps_named[inspection->named] = step;
    inspection->bytes_named[inspection->named] = entry->tgb_bytes;
    if (++inspection->named == VIRTUAL_STORE_PEEK_MAX)
        check_stored(inspection);
}

static void check_order(const struct inspection *inspection, uint64_t step,
                        const struct manifest_entry *entry)
{
    uint32_t producer = entry->tgb.producer;
    struct stream *stream = stream_of(inspection->steps, producer);
    if (stream == NULL) {
        REPORT(inspection, "step %" PRIu64 " is by producer %" PRIu32, step, producer);
        return;
    }
    if (entry->tgb.sequence != stream->sequence + 1)
        REPORT(inspection,
               "step %" PRIu64 " holds batch %" PRIu64 " of producer %" PRIu32
               " after its batch %" PRIu64,
               step, entry->tgb.sequence, producer, stream->sequence);
    if (entry->tgb.end_offset != stream->offset + entry->tgb_bytes)
        REPORT(inspection,
               "step %" PRIu64 ": batch %" PRIu64 " of producer %" PRIu32 " covers %" PRIu64
               " bytes up to offset %" PRIu64 ", but the stream stood at %" PRIu64,
               step, entry->tgb.sequence, producer, entry->tgb_bytes, entry->tgb.end_offset,
               stream->offset);
    bool same = entry->tgb.epoch == stream->epoch &&
                memcmp(&entry->tgb.incarnation, &stream->incarnation, INCARNATION_BYTES) == 0;
    if (!same)
        REPORT(inspection,
               "step %" PRIu64 ": batch %" PRIu64 " is not by the incarnation that holds producer "
               "%" PRIu32,
               step, entry->tgb.sequence, producer);
    stream->sequence = entry->tgb.sequence;
    stream->offset = entry->tgb.end_offset;
}

static void visit(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct inspection *inspection = context;
    struct steps_checker *steps = inspection->steps;
    if (step != inspection->expected_step)
        REPORT(inspection, "step %" PRIu64 " comes where %" PRIu64 " should be", step,
               inspection->expected_step);
    inspection->expected_step = step + 1;
    if (inspection->checked->decoded) {
        uint64_t *hash = entry_hash_at(steps, step);
        uint64_t found = entry_hash(entry);
        if (step < steps->next_step && *hash != 0 && *hash != found)
            REPORT(inspection, "step %" PRIu64 " is not what it was", step);
        *hash = found;
    }
    if (step < steps->next_step)
        return;
    check_order(inspection, step, entry);
    note_named(inspection, step, entry);
}

/* ---- states ---- */

static void check_state(const struct inspection *inspection, const struct producer_state *state)
{
    struct stream *stream = stream_of(inspection->steps, state->producer);
    if (stream == NULL)
        REPORT(inspection, "there is a state of producer %" PRIu32, state->producer);
    else if (state->last_sequence != stream->sequence || state->next_offset != stream->offset)
        REPORT(inspection,
               "version %" PRIu64 " puts producer %" PRIu32 " at batch %" PRIu64 ", offset %" PRIu64
               "; its steps say %" PRIu64 ", %" PRIu64,
               inspection->checked->manifest->version, state->producer, state->last_sequence,
               state->next_offset, stream->sequence, stream->offset);
}

static void check_states(const struct inspection *inspection)
{
    const struct manifest *manifest = inspection->checked->manifest;
    if (inspection->checked->decoded)
        for (uint32_t i = 0; i < manifest_state_count(manifest); i++)
            check_state(inspection, manifest_state_at(manifest, i));
    if (manifest->version == MANIFEST_GENESIS_VERSION)
        return;
    const struct producer_state *state = manifest_state_find(manifest, manifest->author.producer);
    if (state == NULL)
        REPORT(inspection, "version %" PRIu64 " has no state of its author, producer %" PRIu32,
               manifest->version, manifest->author.producer);
    else
        check_state(inspection, state);
}

/* Batches of a version belong to the incarnation that its states name. */
static void take_incarnation(const struct inspection *inspection)
{
    const struct manifest *manifest = inspection->checked->manifest;
    struct stream *stream = stream_of(inspection->steps, manifest->author.producer);
    if (manifest->version == MANIFEST_GENESIS_VERSION || stream == NULL)
        return;
    stream->epoch = manifest->author.epoch;
    stream->incarnation = manifest->author.incarnation;
}

void steps_checker_version(struct steps_checker *steps, uint64_t floor_step,
                           const struct checked_version *checked, struct violations *violations)
{
    const struct manifest *manifest = checked->manifest;
    uint64_t from = checked->decoded ? manifest->first_step : steps->next_step;
    struct inspection inspection;
    inspection.steps = steps;
    inspection.checked = checked;
    inspection.violations = violations;
    inspection.expected_step = from;
    inspection.named = 0;
    if (manifest->first_step < steps->first_step)
        REPORT(&inspection,
               "version %" PRIu64 " lowers the first step from %" PRIu64 " to %" PRIu64,
               manifest->version, steps->first_step, manifest->first_step);
    if (manifest->first_step > steps->first_step && manifest->first_step > floor_step)
        REPORT(&inspection,
               "version %" PRIu64 " starts at step %" PRIu64 ", which no floor gave up",
               manifest->version, manifest->first_step);
    if (manifest->next_step < steps->next_step)
        REPORT(&inspection,
               "version %" PRIu64 " ends before step %" PRIu64 ", which the version before held",
               manifest->version, steps->next_step - 1);
    take_incarnation(&inspection);
    manifest_visit_entries(manifest, from, visit, &inspection);
    if (inspection.named > 0)
        check_stored(&inspection);
    if (inspection.expected_step != manifest->next_step && manifest->next_step > from)
        REPORT(&inspection,
               "version %" PRIu64 " announces steps up to %" PRIu64
               " and holds them up to %" PRIu64,
               manifest->version, manifest->next_step - 1, inspection.expected_step - 1);
    check_states(&inspection);
    steps->first_step = manifest->first_step;
    steps->next_step = manifest->next_step;
}

void steps_checker_visible(struct steps_checker *steps, int64_t now_ns, uint32_t producer,
                           const struct batch *batch, struct violations *violations)
{
    struct stream *stream = stream_of(steps, producer);
    if (stream == NULL)
        return;
    if (batch->sequence > stream->sequence)
        violations_add(violations, now_ns, producer,
                       "steps: batch %" PRIu64 " is called visible; the chain is at %" PRIu64,
                       batch->sequence, stream->sequence);
    if (batch->sequence <= stream->reported)
        violations_add(violations, now_ns, producer,
                       "steps: batch %" PRIu64 " is called visible twice", batch->sequence);
    else if (batch->sequence != stream->reported + 1 && stream->epoch == stream->reported_epoch)
        violations_add(violations, now_ns, producer,
                       "steps: batch %" PRIu64 " is called visible after %" PRIu64, batch->sequence,
                       stream->reported);
    stream->reported = batch->sequence;
    stream->reported_epoch = stream->epoch;
}
