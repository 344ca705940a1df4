/* manifest_codec.c - manifests as bytes: little endian, fixed sizes, a checksum at the end. Ours.
 *
 *   header   "LKSMANIF" layout:4 entry_bytes:4 version:8 author{producer:4 epoch:4 incarnation:16
 *            attempt:8} base_version:8 base_checksum:8 first_step:8 entry_count:8 state_count:4
 * zero:4 entries  incarnation:16 producer:4 epoch:4 bucket:8 sequence:8 end_offset:8 tgb_bytes:8
 *            tgb_checksum:8, then zeros up to entry_bytes
 *   states   producer:4 epoch:4 incarnation:16 next_offset:8 last_sequence:8 last_commit_ns:8
 *            last_commit_version:8
 *   trailer  XXH3-64 of everything before it */
#include <stdlib.h>
#include <string.h>

#include "core/entry_block.h"
#include "core/manifest.h"
#include "core/state_table.h"
#include "core/wire.h"
#include "core/xxh3.h"

#define LAYOUT_FULL 1

static const char magic[8] = {'L', 'K', 'S', 'M', 'A', 'N', 'I', 'F'};

const char *manifest_error_text(enum manifest_error error)
{
    static const char *const texts[] = {
#define X(code, text) text,
        MANIFEST_ERRORS(X)
#undef X
    };
    return texts[error];
}

static uint8_t *put_incarnation(uint8_t *out, const struct incarnation *incarnation)
{
    memcpy(out, incarnation->bytes, INCARNATION_BYTES);
    return out + INCARNATION_BYTES;
}

static struct incarnation take_incarnation(const uint8_t **in)
{
    struct incarnation incarnation;
    memcpy(incarnation.bytes, *in, INCARNATION_BYTES);
    *in += INCARNATION_BYTES;
    return incarnation;
}

static uint8_t *encode_header(const struct manifest *manifest, uint8_t *out)
{
    uint8_t *start = out;
    memcpy(out, magic, sizeof(magic));
    out = wire_put32(out + sizeof(magic), LAYOUT_FULL);
    out = wire_put32(out, manifest->entry_bytes);
    out = wire_put64(out, manifest->version);
    out = wire_put32(out, manifest->author.producer);
    out = wire_put32(out, manifest->author.epoch);
    out = put_incarnation(out, &manifest->author.incarnation);
    out = wire_put64(out, manifest->author.attempt);
    out = wire_put64(out, manifest->base_version);
    out = wire_put64(out, manifest->base_checksum);
    out = wire_put64(out, manifest->first_step);
    out = wire_put64(out, manifest_live_entries(manifest));
    out = wire_put32(out, manifest_state_count(manifest));
    out = wire_put32(out, 0);
    assert(out - start == MANIFEST_HEADER_BYTES);
    return out;
}

struct entry_cursor {
    uint8_t *out;
    uint32_t entry_bytes;
};

static void encode_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    (void)step;
    struct entry_cursor *cursor = context;
    uint8_t *out = put_incarnation(cursor->out, &entry->tgb.incarnation);
    out = wire_put32(out, entry->tgb.producer);
    out = wire_put32(out, entry->tgb.epoch);
    out = wire_put64(out, entry->tgb.bucket);
    out = wire_put64(out, entry->tgb.sequence);
    out = wire_put64(out, entry->tgb.end_offset);
    out = wire_put64(out, entry->tgb_bytes);
    out = wire_put64(out, entry->tgb_checksum);
    assert(out - cursor->out == MANIFEST_ENTRY_BYTES_MIN);
    memset(out, 0, cursor->entry_bytes - MANIFEST_ENTRY_BYTES_MIN);
    cursor->out += cursor->entry_bytes;
}

static uint8_t *encode_state(const struct producer_state *state, uint8_t *out)
{
    out = wire_put32(out, state->producer);
    out = wire_put32(out, state->epoch);
    out = put_incarnation(out, &state->incarnation);
    out = wire_put64(out, state->next_offset);
    out = wire_put64(out, state->last_sequence);
    out = wire_put64(out, (uint64_t)state->last_commit_ns);
    return wire_put64(out, state->last_commit_version);
}

uint64_t manifest_encode(const struct manifest *manifest, uint8_t *bytes)
{
    assert(manifest_whole(manifest));
    struct entry_cursor cursor = {.out = encode_header(manifest, bytes),
                                  .entry_bytes = manifest->entry_bytes};
    manifest_visit_entries(manifest, manifest->first_step, encode_entry, &cursor);
    uint8_t *out = cursor.out;
    for (uint32_t i = 0; i < manifest_state_count(manifest); i++)
        out = encode_state(manifest_state_at(manifest, i), out);
    uint64_t checksum = XXH3_64bits(bytes, (size_t)(out - bytes));
    out = wire_put64(out, checksum);
    assert((uint64_t)(out - bytes) == manifest_encoded_bytes(manifest));
    return checksum;
}

/* Of the MANIFEST_HEADER_BYTES alone; `size` becomes what the whole must have. */
static enum manifest_error read_header(const uint8_t *bytes, struct manifest *header,
                                       uint32_t *states, uint64_t *size)
{
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return MANIFEST_BAD_MAGIC;
    const uint8_t *in = bytes + sizeof(magic);
    if (wire_take32(&in) != LAYOUT_FULL)
        return MANIFEST_BAD_LAYOUT;
    header->entry_bytes = wire_take32(&in);
    header->version = wire_take64(&in);
    header->author.producer = wire_take32(&in);
    header->author.epoch = wire_take32(&in);
    header->author.incarnation = take_incarnation(&in);
    header->author.attempt = wire_take64(&in);
    header->base_version = wire_take64(&in);
    header->base_checksum = wire_take64(&in);
    header->first_step = wire_take64(&in);
    uint64_t entries = wire_take64(&in);
    *states = wire_take32(&in);
    uint32_t zero = wire_take32(&in);
    if (header->entry_bytes < MANIFEST_ENTRY_BYTES_MIN ||
        header->entry_bytes > MANIFEST_ENTRY_BYTES_MAX || header->version == 0 ||
        header->version > MANIFEST_COUNT_MAX || header->base_version != header->version - 1 ||
        header->first_step == 0 || zero != 0 || *states > MANIFEST_STATES_MAX ||
        entries > MANIFEST_BYTES_MAX / header->entry_bytes ||
        header->first_step > MANIFEST_COUNT_MAX - entries)
        return MANIFEST_BAD_FIELD;
    header->next_step = header->first_step + entries;
    *size = MANIFEST_HEADER_BYTES + entries * header->entry_bytes +
            (uint64_t)*states * MANIFEST_STATE_BYTES + MANIFEST_TRAILER_BYTES;
    return MANIFEST_OK;
}

static enum manifest_error decode_header(const uint8_t *bytes, uint64_t size,
                                         struct manifest *header, uint32_t *states)
{
    uint64_t expected;
    if (size < MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES)
        return MANIFEST_TRUNCATED;
    enum manifest_error error = read_header(bytes, header, states, &expected);
    if (error == MANIFEST_OK && size != expected)
        error = size < expected ? MANIFEST_TRUNCATED : MANIFEST_OVERSIZED;
    return error;
}

uint64_t manifest_bytes_claimed(const uint8_t *bytes)
{
    struct manifest header;
    uint32_t states;
    uint64_t size;
    return read_header(bytes, &header, &states, &size) == MANIFEST_OK ? size : 0;
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static bool decode_entry(const uint8_t *in, uint32_t entry_bytes, struct manifest_entry *entry)
{
    entry->tgb.incarnation = take_incarnation(&in);
    entry->tgb.producer = wire_take32(&in);
    entry->tgb.epoch = wire_take32(&in);
    entry->tgb.bucket = wire_take64(&in);
    entry->tgb.sequence = wire_take64(&in);
    entry->tgb.end_offset = wire_take64(&in);
    entry->tgb_bytes = wire_take64(&in);
    entry->tgb_checksum = wire_take64(&in);
    return entry->tgb.bucket <= (uint64_t)INT64_MAX / TGB_BUCKET_NS && entry->tgb.sequence > 0 &&
           entry->tgb.sequence <= MANIFEST_COUNT_MAX && entry->tgb.epoch > 0 &&
           entry->tgb.epoch <= MANIFEST_EPOCH_MAX && entry->tgb.end_offset <= MANIFEST_COUNT_MAX &&
           entry->tgb_bytes <= entry->tgb.end_offset &&
           all_zero(in, entry_bytes - MANIFEST_ENTRY_BYTES_MIN);
}

static bool decode_states(const uint8_t *in, uint32_t count, const struct manifest *header,
                          struct producer_state *states)
{
    for (uint32_t i = 0; i < count; i++) {
        struct producer_state *state = &states[i];
        state->producer = wire_take32(&in);
        state->epoch = wire_take32(&in);
        state->incarnation = take_incarnation(&in);
        state->next_offset = wire_take64(&in);
        state->last_sequence = wire_take64(&in);
        uint64_t last_commit_ns = wire_take64(&in);
        state->last_commit_version = wire_take64(&in);
        if (last_commit_ns > INT64_MAX || state->last_commit_version > header->version ||
            state->last_commit_version == 0 || state->epoch == 0 ||
            state->epoch > MANIFEST_EPOCH_MAX || state->next_offset > MANIFEST_COUNT_MAX ||
            state->last_sequence > MANIFEST_COUNT_MAX ||
            (i > 0 && states[i - 1].producer >= state->producer))
            return false;
        state->last_commit_ns = (int64_t)last_commit_ns;
    }
    return true;
}

static bool author_zero(const struct manifest_author *author)
{
    return author->producer == 0 && author->epoch == 0 && author->attempt == 0 &&
           all_zero(author->incarnation.bytes, INCARNATION_BYTES);
}

/* The author's state must be the version's own; the genesis has neither. */
static bool author_consistent(const struct manifest *manifest)
{
    if (manifest->version == MANIFEST_GENESIS_VERSION)
        return author_zero(&manifest->author) && manifest_state_count(manifest) == 0 &&
               manifest->base_checksum == 0 && manifest->first_step == 1 &&
               manifest->next_step == 1;
    const struct producer_state *state = manifest_state_find(manifest, manifest->author.producer);
    return state && state->epoch == manifest->author.epoch &&
           state->last_commit_version == manifest->version &&
           memcmp(&state->incarnation, &manifest->author.incarnation, INCARNATION_BYTES) == 0;
}

/* Examines all, and keeps those that are held. */
static bool decode_entries(const uint8_t *in, struct manifest *manifest)
{
    const struct manifest_part *held = &manifest->held;
    if (held->first_step < held->next_step)
        manifest->entries =
            entry_block_make(NULL, held->first_step, held->next_step - held->first_step);
    for (uint64_t step = manifest->first_step; step < manifest->next_step; step++) {
        struct manifest_entry passed;
        bool kept = step >= held->first_step && step < held->next_step;
        struct manifest_entry *entry =
            kept ? &manifest->entries->entries[step - held->first_step] : &passed;
        if (!decode_entry(in, manifest->entry_bytes, entry))
            return false;
        in += manifest->entry_bytes;
    }
    return true;
}

static bool decode_body(const uint8_t *in, struct manifest *manifest, uint32_t state_count)
{
    if (!decode_entries(in, manifest))
        return false;
    in += manifest_live_entries(manifest) * manifest->entry_bytes;
    struct producer_state *states = malloc((state_count + 1) * sizeof(*states));
    assert(states);
    bool good = decode_states(in, state_count, manifest, states);
    if (good)
        manifest->states = state_table_make(states, state_count);
    free(states);
    return good && author_consistent(manifest);
}

/* What of the wanted part is live; empty: at the end that is nearer. */
static struct manifest_part live_part(const struct manifest *manifest, struct manifest_part wanted)
{
    struct manifest_part part = wanted;
    if (part.first_step < manifest->first_step)
        part.first_step = manifest->first_step;
    if (part.first_step > manifest->next_step)
        part.first_step = manifest->next_step;
    if (part.next_step > manifest->next_step)
        part.next_step = manifest->next_step;
    if (part.next_step < part.first_step)
        part.next_step = part.first_step;
    return part;
}

enum manifest_error manifest_decode(const uint8_t *bytes, uint64_t size, struct manifest **manifest)
{
    struct manifest_part all = {.first_step = 0, .next_step = UINT64_MAX};
    return manifest_decode_part(bytes, size, all, manifest);
}

enum manifest_error manifest_decode_part(const uint8_t *bytes, uint64_t size,
                                         struct manifest_part part, struct manifest **manifest)
{
    struct manifest header = {.references = 1};
    uint32_t states = 0;
    enum manifest_error error = decode_header(bytes, size, &header, &states);
    if (error != MANIFEST_OK)
        return error;
    const uint8_t *trailer = bytes + size - MANIFEST_TRAILER_BYTES;
    header.checksum = wire_take64(&trailer);
    if (XXH3_64bits(bytes, size - MANIFEST_TRAILER_BYTES) != header.checksum)
        return MANIFEST_BAD_CHECKSUM;
    header.held = live_part(&header, part);
    if (!decode_body(bytes + MANIFEST_HEADER_BYTES, &header, states)) {
        entry_block_release(header.entries);
        if (header.states)
            state_table_release(header.states);
        return MANIFEST_BAD_FIELD;
    }
    struct manifest *result = malloc(sizeof(*result));
    assert(result != NULL);
    *result = header;
    assert(manifest_encoded_bytes(result) == size);
    *manifest = result;
    return MANIFEST_OK;
}
