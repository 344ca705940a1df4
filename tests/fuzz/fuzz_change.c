/* fuzz_change.c - what others do to the objects of a fuzz store: commits of their own, and every
 * damage that still decodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/manifest.h"
#include "core/name.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "tests/fuzz/fuzz_store.h"

#define PRODUCERS 4
#define CONSUMERS 3
#define TGB_BYTES_MAX 64 /* of a plain one */
#define TGB_SLICED_MAX 255

struct field {
    uint16_t offset;
    uint8_t bytes;
};

static const struct field header_fields[] = {{8, 4},  {12, 4}, {16, 8}, {24, 4}, {28, 4}, {32, 8},
                                             {48, 8}, {56, 8}, {64, 8}, {72, 8}, {80, 8}, {88, 4}};
static const struct field entry_fields[] = {{0, 8},  {16, 4}, {20, 4}, {24, 8},
                                            {32, 8}, {40, 8}, {48, 8}, {56, 8}};
static const struct field state_fields[] = {{0, 4},  {4, 4},  {8, 8}, {24, 8},
                                            {32, 8}, {40, 8}, {48, 8}};

static uint64_t take(const uint8_t *data, struct field field)
{
    uint64_t value = 0;
    memcpy(&value, data + field.offset, field.bytes);
    return value;
}

static void put(uint8_t *data, struct field field, uint64_t value)
{
    memcpy(data + field.offset, &value, field.bytes);
}

/* Where the entries and states of a manifest are, if its header may be believed. */
struct shape {
    uint64_t entry_bytes;
    uint64_t entries;
    uint64_t states;
    uint8_t *first_entry;
    uint8_t *first_state;
};

static bool shape_of(uint8_t *data, uint64_t bytes, struct shape *shape)
{
    if (bytes < MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES)
        return false;
    shape->entry_bytes = take(data, (struct field){12, 4});
    shape->entries = take(data, (struct field){80, 8});
    shape->states = take(data, (struct field){88, 4});
    if (shape->entry_bytes < MANIFEST_ENTRY_BYTES_MIN || shape->entries >= 4096 ||
        shape->entry_bytes > MANIFEST_ENTRY_BYTES_MAX || shape->states >= 4096 ||
        bytes != MANIFEST_HEADER_BYTES + shape->entries * shape->entry_bytes +
                     shape->states * MANIFEST_STATE_BYTES + MANIFEST_TRAILER_BYTES)
        return false;
    shape->first_entry = data + MANIFEST_HEADER_BYTES;
    shape->first_state = shape->first_entry + shape->entries * shape->entry_bytes;
    return true;
}

static uint8_t *author_state(const struct shape *shape, const uint8_t *data)
{
    uint64_t producer = take(data, (struct field){24, 4});
    for (uint64_t i = 0; i < shape->states; i++) {
        uint8_t *state = shape->first_state + i * MANIFEST_STATE_BYTES;
        if (take(state, (struct field){0, 4}) == producer)
            return state;
    }
    return NULL;
}

/* Changes that must be made in two places to decode. */
static void patch_author(struct fuzz_store *store, const struct shape *shape, uint8_t *data)
{
    uint8_t *state = author_state(shape, data);
    if (state == NULL)
        return;
    uint64_t value;
    switch (fuzz_byte(store->input) % 4) {
    case 0: /* as if the client had written it */
        memcpy(data + 32, store->mine.bytes, INCARNATION_BYTES);
        memcpy(state + 8, store->mine.bytes, INCARNATION_BYTES);
        break;
    case 1:
        value = fuzz_number(store->input);
        put(data, (struct field){16, 8}, value);
        put(data, (struct field){56, 8}, value - 1);
        put(state, (struct field){48, 8}, value);
        break;
    case 2:
        value = fuzz_number(store->input);
        put(data, (struct field){28, 4}, value);
        put(state, (struct field){4, 4}, value);
        break;
    default:
        value = fuzz_number(store->input);
        put(data, (struct field){24, 4}, value);
        put(state, (struct field){0, 4}, value);
    }
}

static struct field pick(struct fuzz_input *input, const struct field *fields, size_t count)
{
    return fields[fuzz_byte(input) % count];
}

#define PICK(input, fields) pick(input, fields, sizeof(fields) / sizeof((fields)[0]))

static void patch_once(struct fuzz_store *store, uint8_t *data, uint64_t bytes)
{
    struct fuzz_input *input = store->input;
    struct shape shape;
    uint8_t kind = fuzz_byte(input) % 5;
    if (!shape_of(data, bytes, &shape))
        kind = 4;
    if (kind == 0) {
        struct field field = PICK(input, header_fields);
        put(data, field, fuzz_number(input));
    } else if (kind == 1 && shape.entries > 0) {
        uint64_t index = fuzz_byte(input) % shape.entries;
        struct field field = PICK(input, entry_fields);
        put(shape.first_entry + index * shape.entry_bytes, field, fuzz_number(input));
    } else if (kind == 2 && shape.states > 0) {
        uint64_t index = fuzz_byte(input) % shape.states;
        struct field field = PICK(input, state_fields);
        put(shape.first_state + index * MANIFEST_STATE_BYTES, field, fuzz_number(input));
    } else if (kind == 3) {
        patch_author(store, &shape, data);
    } else if (bytes > 0) {
        data[fuzz_number(input) % bytes] ^= fuzz_byte(input);
    }
}

uint64_t fuzz_patch(struct fuzz_store *store, uint8_t *data, uint64_t bytes)
{
    uint8_t form = fuzz_byte(store->input);
    for (unsigned i = 0; i <= form % 4; i++)
        patch_once(store, data, bytes);
    if ((form & 0xe0) == 0xe0) { /* longer or shorter */
        uint64_t added = fuzz_byte(store->input);
        if (added < 64) {
            memset(data + bytes, (int)added, added);
            bytes += added;
        } else {
            bytes = bytes * added / 255;
        }
    }
    if (form & 16 || bytes < MANIFEST_TRAILER_BYTES)
        return bytes;
    uint64_t checksum = XXH3_64bits(data, bytes - MANIFEST_TRAILER_BYTES);
    memcpy(data + bytes - MANIFEST_TRAILER_BYTES, &checksum, sizeof(checksum));
    return bytes;
}

void fuzz_key(struct fuzz_store *store, char key[STORE_KEY_MAX])
{
    struct fuzz_input *input = store->input;
    struct tgb_name tgb = {0};
    size_t size;
    const uint8_t *text;
    struct watermark_name watermark = {.part = WATERMARK_NUMBER};
    switch (fuzz_byte(input) % (store->consumers ? 7 : 4)) {
    case 0:
        name_version(key, fuzz_number(input));
        return;
    case 4:
        name_intent(key, fuzz_number(input));
        return;
    case 5:
        watermark.part = WATERMARK_NUMBER_VALUE;
        /* fall through */
    case 6:
        watermark.consumer = fuzz_byte(input) % CONSUMERS;
        watermark.number = fuzz_number(input);
        if (watermark.part == WATERMARK_NUMBER_VALUE)
            watermark.step = fuzz_number(input);
        else if (watermark.number % 5 == 4)
            watermark.part = WATERMARK_NUMBER_RETIRED;
        name_watermark(key, &watermark);
        return;
    case 1:
        tgb.sequence = fuzz_number(input);
        name_floor(key, (struct floor){.version = tgb.sequence, .step = fuzz_number(input)});
        return;
    case 2:
        tgb.producer = (uint32_t)fuzz_number(input);
        tgb.epoch = (uint32_t)fuzz_number(input);
        tgb.sequence = fuzz_number(input);
        tgb.end_offset = fuzz_number(input);
        name_tgb(key, &tgb);
        return;
    default:
        text = fuzz_bytes(input, &size);
        snprintf(key, STORE_KEY_MAX, "x%.*s", (int)size, (const char *)text);
    }
}

/* The newest version that decodes; NULL: none. The caller's reference. */
static struct manifest *newest_version(struct fuzz_store *store)
{
    for (size_t i = store->count; i > 0; i--) {
        uint64_t version;
        struct manifest *manifest = NULL;
        const struct fuzz_object *object = &store->objects[i - 1];
        if (name_parse_version(object->key, &version) && object->data != NULL &&
            manifest_decode(object->data, object->bytes, &manifest) == MANIFEST_OK)
            return manifest;
    }
    return NULL;
}

static void store_version(struct fuzz_store *store, struct manifest *manifest)
{
    char key[STORE_KEY_MAX];
    uint64_t bytes = manifest_encoded_bytes(manifest);
    name_version(key, manifest->version);
    if (bytes <= FUZZ_OBJECT_BYTES_MAX && fuzz_store_find(store, key) == NULL) {
        uint8_t *data = malloc(bytes);
        assert(data != NULL);
        manifest->checksum = manifest_encode(manifest, data);
        fuzz_store_put(store, key, data, bytes);
        free(data);
    }
    manifest_release(manifest);
}

/* As the codec of the core does. */
static void fill_tgb(const struct fuzz_store *store, const struct manifest_entry *entry,
                     uint8_t *bytes)
{
    struct tgb_object object = {.mesh = store->mesh, .name = entry->tgb, .bytes = bytes};
    uint32_t slices = tgb_mesh_slices(store->mesh);
    if (slices > 0 && tgb_layout_make(entry->tgb_bytes, slices, &object.layout) == TGB_OK)
        tgb_object_fill(&object);
    else
        tgb_payload_fill(entry->tgb.producer, entry->tgb.sequence, 0, entry->tgb_bytes, bytes);
}

/* A batch of the producer's, uploaded. */
static void add_batch(struct fuzz_store *store, struct manifest_change *change,
                      struct manifest_entry *entry)
{
    uint8_t payload[TGB_SLICED_MAX];
    char key[STORE_KEY_MAX];
    bool sliced = tgb_mesh_slices(store->mesh) > 0;
    uint64_t bytes = fuzz_byte(store->input);
    if (!sliced)
        bytes %= TGB_BYTES_MAX + 1;
    struct producer_state *state = &change->state;
    state->last_sequence++;
    state->next_offset += bytes;
    *entry = (struct manifest_entry){.tgb = {.bucket = 7,
                                             .sequence = state->last_sequence,
                                             .end_offset = state->next_offset,
                                             .incarnation = state->incarnation,
                                             .producer = state->producer,
                                             .epoch = state->epoch},
                                     .tgb_bytes = bytes};
    fill_tgb(store, entry, payload);
    entry->tgb_checksum = XXH3_64bits(payload, bytes);
    name_tgb(key, &entry->tgb);
    fuzz_store_put(store, key, payload, bytes);
    change->entry_count++;
}

/* Whether a version after this one can be written down at all. */
static bool can_follow(const struct manifest *base, const struct producer_state *old)
{
    return base->version < UINT64_MAX && base->next_step < UINT64_MAX - PRODUCERS &&
           (old == NULL || old->epoch < UINT32_MAX);
}

/* Somebody commits by the rules, or claims to be the client. */
static void commit_foreign(struct fuzz_store *store)
{
    struct fuzz_input *input = store->input;
    struct manifest *base = newest_version(store);
    if (base == NULL) {
        store_version(store, manifest_genesis(64 + 8U * (fuzz_byte(input) % 3)));
        return;
    }
    uint8_t form = fuzz_byte(input);
    uint32_t producer = form % PRODUCERS;
    const struct producer_state *old = manifest_state_find(base, producer);
    if (!can_follow(base, old)) {
        manifest_release(base);
        return;
    }
    bool fences = old == NULL || form & 16;
    struct manifest_change change = {.first_step = form & 32 ? fuzz_number(input) : 0};
    struct manifest_entry entries[PRODUCERS];
    if (old != NULL)
        change.state = *old;
    change.state.producer = producer;
    if (fences) {
        change.state.epoch++;
        memset(change.state.incarnation.bytes, (int)(16 * producer + change.state.epoch),
               INCARNATION_BYTES);
        if (form & 64)
            change.state.incarnation = store->mine;
    }
    if (change.state.last_commit_ns < INT64_MAX)
        change.state.last_commit_ns++;
    change.state.last_commit_version = base->version + 1;
    for (unsigned i = 0; !fences && i < (form >> 2) % PRODUCERS; i++)
        add_batch(store, &change, &entries[i]);
    change.author = (struct manifest_author){.producer = producer,
                                             .epoch = change.state.epoch,
                                             .incarnation = change.state.incarnation,
                                             .attempt = 1};
    change.entries = entries;
    store_version(store, manifest_append(base, &change));
    manifest_release(base);
}

static void damage_object(struct fuzz_store *store, struct fuzz_object *object)
{
    if (object->data == NULL || object->bytes > FUZZ_OBJECT_BYTES_MAX)
        return;
    object->data = realloc(object->data, object->bytes + 64);
    assert(object->data != NULL);
    object->bytes = fuzz_patch(store, object->data, object->bytes);
}

static struct fuzz_object *pick_object(struct fuzz_store *store)
{
    /* From the end, so that a small number is the newest. */
    return &store->objects[store->count - 1 - fuzz_byte(store->input) % store->count];
}

static void put_raw(struct fuzz_store *store)
{
    char key[STORE_KEY_MAX];
    size_t size;
    fuzz_key(store, key);
    const uint8_t *data = fuzz_bytes(store->input, &size);
    fuzz_store_put(store, key, data, size);
}

/* An object's bytes under another name. */
static void copy_object(struct fuzz_store *store)
{
    char key[STORE_KEY_MAX];
    const struct fuzz_object *object = pick_object(store);
    fuzz_key(store, key);
    fuzz_store_put(store, key, object->data, object->bytes);
}

void fuzz_change(struct fuzz_store *store)
{
    char key[STORE_KEY_MAX];
    uint8_t kind = fuzz_byte(store->input) % 8;
    if (kind < 3 || (store->count == 0 && kind != 7)) {
        commit_foreign(store);
    } else if (kind == 3) {
        damage_object(store, pick_object(store));
    } else if (kind == 4) {
        uint64_t version = fuzz_number(store->input);
        name_floor(key, (struct floor){.version = version, .step = fuzz_number(store->input)});
        fuzz_store_put(store, key, (const uint8_t *)"", 0);
    } else if (kind == 5) {
        fuzz_store_remove(store, pick_object(store));
    } else if (kind == 6) {
        copy_object(store);
    } else {
        put_raw(store);
    }
}
