/* manifest_target.c - manifests and names: what decodes encodes to the same bytes, what parses
 * formats to the same text. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "backend/directory_key.h"
#include "core/manifest.h"
#include "core/name.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

void fuzz_manifest(const uint8_t *data, size_t size);
void fuzz_name(const uint8_t *data, size_t size);

static void visit(uint64_t step, const struct manifest_entry *entry, void *context)
{
    uint64_t *next = context;
    assert(step == (*next)++);
    assert(entry->tgb.sequence > 0);
}

/* In a block of exactly its size, so that a sanitized build sees every byte too many. */
static void decode(const uint8_t *data, size_t size)
{
    struct manifest *manifest = NULL;
    enum manifest_error error = manifest_decode(data, size, &manifest);
    assert(manifest_error_text(error)[0] != '\0');
    assert((error == MANIFEST_OK) == (manifest != NULL));
    uint64_t claimed = size >= MANIFEST_HEADER_BYTES ? manifest_bytes_claimed(data) : 0;
    assert(manifest == NULL || claimed == size);
    assert(error != MANIFEST_BAD_CHECKSUM || claimed == size);
    if (manifest == NULL)
        return;
    uint64_t next = manifest->first_step;
    manifest_visit_entries(manifest, 0, visit, &next);
    assert(next == manifest->next_step);
    assert(manifest_encoded_bytes(manifest) == size);
    assert(manifest_active_producers(manifest, UINT64_MAX) <= manifest_state_count(manifest));
    uint8_t *again = malloc(size);
    assert(again != NULL);
    uint64_t checksum = manifest_encode(manifest, again);
    assert(checksum == manifest->checksum);
    assert(memcmp(again, data, size) == 0);
    free(again);
    manifest_release(manifest);
}

void fuzz_manifest(const uint8_t *data, size_t size)
{
    decode(data, size);
    if (size < MANIFEST_TRAILER_BYTES)
        return;
    uint8_t *sealed = malloc(size);
    assert(sealed != NULL);
    memcpy(sealed, data, size);
    uint64_t checksum = XXH3_64bits(sealed, size - MANIFEST_TRAILER_BYTES);
    memcpy(sealed + size - MANIFEST_TRAILER_BYTES, &checksum, sizeof(checksum));
    decode(sealed, size);
    free(sealed);
}

static void parse(const char *key)
{
    char again[STORE_KEY_MAX];
    uint64_t version;
    struct floor floor;
    struct tgb_name tgb;
    struct watermark_name watermark;
    if (name_parse_intent(key, &version)) {
        name_intent(again, version);
        assert(strcmp(key, again) == 0);
    }
    if (name_parse_watermark(key, &watermark)) {
        name_watermark(again, &watermark);
        assert(strcmp(key, again) == 0);
    }
    if (name_parse_version(key, &version)) {
        name_version(again, version);
        assert(strcmp(key, again) == 0);
    }
    if (name_parse_floor(key, &floor)) {
        name_floor(again, floor);
        assert(strcmp(key, again) == 0);
    }
    if (name_parse_tgb(key, &tgb)) {
        name_tgb(again, &tgb);
        assert(strcmp(key, again) == 0);
    }
    char path[DIRECTORY_PATH_MAX];
    enum directory_key_error error = directory_key_check(key);
    assert(directory_key_error_text(error)[0] != '\0');
    if (error == DIRECTORY_KEY_OK)
        directory_key_path(key, path);
}

/* Any name whose numbers are within what a key may claim is written so that it is read back. */
static void format(struct fuzz_input *input)
{
    char key[STORE_KEY_MAX];
    struct tgb_name tgb = {.bucket = fuzz_number(input) % (NAME_COUNT_MAX / TGB_BUCKET_NS + 1),
                           .sequence = fuzz_number(input),
                           .end_offset = fuzz_number(input),
                           .producer = (uint32_t)fuzz_number(input),
                           .epoch = (uint32_t)fuzz_number(input)};
    for (int i = 0; i < INCARNATION_BYTES; i++)
        tgb.incarnation.bytes[i] = fuzz_byte(input);
    struct tgb_name parsed;
    name_tgb(key, &tgb);
    bool read = name_parse_tgb(key, &parsed);
    assert(read && memcmp(&tgb, &parsed, sizeof(tgb)) == 0);
    assert(directory_key_check(key) == DIRECTORY_KEY_OK);
    struct floor floor = {.version = tgb.sequence & NAME_COUNT_MAX,
                          .step = tgb.end_offset & NAME_COUNT_MAX};
    struct floor floor_read;
    name_floor(key, floor);
    read = name_parse_floor(key, &floor_read);
    assert(read && floor.version == floor_read.version && floor.step == floor_read.step);
}

void fuzz_name(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.data = data, .size = size};
    format(&input);
    char *text = malloc(size + 1);
    assert(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    parse(text);
    free(text);
}
