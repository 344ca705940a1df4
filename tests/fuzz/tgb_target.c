/* tgb_target.c - sliced TGBs: what the scan takes, each rank reads alike; and what was written
 * comes out again. The first bytes say which mesh, how large the pieces are, and how much of the
 * rest is believed. */
#include <stdlib.h>
#include <string.h>

#include "core/tgb_object.h"
#include "core/tgb_scan.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define SIDE_MAX 4
#define RAW_BYTES_MAX (UINT32_C(1) << 20)

void fuzz_tgb(const uint8_t *data, size_t size);

static const struct tgb_name name = {
    .bucket = 1, .sequence = 7, .end_offset = 1 << 20, .producer = 3, .epoch = 2};

/* Of the slices that a scan hands over: raw bytes and their hash. */
struct seen {
    uint64_t next[SIDE_MAX * SIDE_MAX];
    uint64_t hash[SIDE_MAX * SIDE_MAX];
};

static void on_piece(const struct tgb_piece *piece, void *context)
{
    struct seen *seen = context;
    assert(piece->slice < SIDE_MAX * SIDE_MAX);
    assert(piece->offset == seen->next[piece->slice]);
    seen->next[piece->slice] += piece->count;
    for (uint64_t i = 0; i < piece->count; i++) /* not of how it was cut into pieces */
        seen->hash[piece->slice] = seen->hash[piece->slice] * 31 + piece->bytes[i];
}

static enum tgb_error scan(const struct tgb_object *object, uint64_t piece, struct seen *seen)
{
    struct tgb_scan_options options = {.mesh = object->mesh,
                                       .name = object->name,
                                       .layout = object->layout,
                                       .visit = on_piece,
                                       .context = seen};
    struct tgb_scan *scan = tgb_scan_open(&options);
    uint64_t size = object->layout.object_bytes;
    enum tgb_error error = TGB_OK;
    memset(seen, 0, sizeof(*seen));
    for (uint64_t at = 0; at < size && error == TGB_OK; at += piece)
        error = tgb_scan_feed(scan, object->bytes + at, size - at < piece ? size - at : piece);
    if (error == TGB_OK)
        error = tgb_scan_end(scan);
    assert(tgb_error_text(error)[0] != '\0');
    assert(tgb_scan_offset(scan) <= size);
    assert(tgb_scan_slice(scan) <= object->layout.slices);
    tgb_scan_close(scan);
    return error;
}

/* As a rank reads it: from a block of exactly the range, so that a sanitized build sees every byte
 * too many. */
static enum tgb_error read_slice(const struct tgb_object *object, uint32_t index, uint64_t *raw,
                                 uint64_t *hash)
{
    const struct tgb_layout *layout = &object->layout;
    struct tgb_place place = {.name = &object->name, .slices = layout->slices, .slice = index};
    struct tgb_slice slice = {0};
    const uint8_t *stored = NULL;
    uint8_t *range = malloc(layout->slot_bytes);
    assert(range != NULL);
    memcpy(range, object->bytes + tgb_layout_offset(layout, index), layout->slot_bytes);
    enum tgb_error error = tgb_slice_open(range, layout->slot_bytes, &place, &slice, &stored);
    if (error == TGB_OK && slice.raw_bytes <= RAW_BYTES_MAX) {
        uint8_t *out = malloc(slice.raw_bytes + 1);
        assert(out != NULL);
        error = tgb_slice_expand(&slice, stored, out);
        *raw = slice.raw_bytes;
        for (uint32_t i = 0; error == TGB_OK && i < slice.raw_bytes; i++)
            *hash = *hash * 31 + out[i];
        free(out);
    }
    free(range);
    return error;
}

/* What the whole is taken for, its parts are too. */
static enum tgb_error read_all(const struct tgb_object *object, uint64_t piece)
{
    static struct seen seen;
    enum tgb_error whole = scan(object, piece, &seen);
    enum tgb_error again = scan(object, UINT64_MAX, &seen);
    assert(whole == again);
    for (uint32_t i = 0; i < object->layout.slices; i++) {
        uint64_t raw = 0;
        uint64_t hash = 0;
        enum tgb_error error = read_slice(object, i, &raw, &hash);
        assert(whole != TGB_OK || seen.next[i] > RAW_BYTES_MAX ||
               (error == TGB_OK && raw == seen.next[i] && hash == seen.hash[i]));
    }
    return whole;
}

/* Under valid checksums: the fields that headers claim, and what lies in the slots, are anyone's.
 */
static void seal_claims(const struct tgb_object *object, struct fuzz_input *claims)
{
    uint32_t capacity = tgb_layout_capacity(&object->layout);
    for (uint32_t i = 0; i < object->layout.slices; i++) {
        struct tgb_place place = {
            .name = &object->name, .slices = object->layout.slices, .slice = i};
        uint8_t *stored = tgb_object_slice(object, i);
        struct tgb_slice slice;
        uint64_t bytes = object->layout.slot_bytes;
        if (tgb_slice_decode(stored - TGB_SLICE_HEADER_BYTES, bytes, &place, &slice) != TGB_OK) {
            slice.coding = fuzz_byte(claims) % 2 == 0 ? TGB_ZSTD : TGB_PLAIN;
            slice.stored_bytes = (uint32_t)(fuzz_number(claims) % (capacity + UINT64_C(1)));
            slice.raw_bytes = (uint32_t)fuzz_number(claims);
        }
        if (slice.coding == TGB_PLAIN)
            slice.raw_bytes = slice.stored_bytes;
        tgb_slice_encode(&place, &slice, stored, stored - TGB_SLICE_HEADER_BYTES);
    }
    tgb_object_seal(object);
}

static void write_and_read(const struct tgb_object *object, const uint8_t *data, uint32_t size)
{
    uint32_t capacity = tgb_layout_capacity(&object->layout);
    for (uint32_t i = 0; i < object->layout.slices; i++) {
        struct tgb_raw raw = {.bytes = data, .count = size / (i + 1), .level = 1 + (int)i % 5};
        enum tgb_error error = tgb_object_compress_slice(object, i, &raw);
        assert(error == TGB_OK || raw.count > capacity);
        if (error != TGB_OK)
            tgb_object_seal_slice(object, i, 0);
    }
    tgb_object_seal(object);
    enum tgb_error error = read_all(object, 100);
    assert(error == TGB_OK);
}

void fuzz_tgb(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.data = data, .size = size};
    uint8_t sides = fuzz_byte(&input);
    uint64_t piece = 1 + fuzz_byte(&input);
    struct tgb_object object = {
        .mesh = {.data = 1 + sides % SIDE_MAX, .context = 1 + sides / SIDE_MAX % SIDE_MAX},
        .name = name};
    struct tgb_index index;
    uint64_t object_bytes = size - input.at;
    data += input.at;
    (void)!tgb_index_peek(data, object_bytes, &index);
    if (tgb_layout_make(object_bytes, tgb_mesh_slices(object.mesh), &object.layout) != TGB_OK)
        return;
    object.bytes = malloc(object_bytes);
    assert(object.bytes != NULL);
    memcpy(object.bytes, data, object_bytes);
    (void)!read_all(&object, piece);
    seal_claims(&object, &input);
    enum tgb_error error = read_all(&object, piece);
    assert(error == TGB_OK || error == TGB_BAD_CODING || error == TGB_BAD_PADDING);
    write_and_read(&object, data, (uint32_t)object_bytes);
    free(object.bytes);
}
