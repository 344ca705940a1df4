/* tgb.c - the layout of sliced TGBs, their slices and their index. Ours, see tgb.h. */
#include "core/tgb.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "core/wire.h"
#include "core/xxh3.h"

#define SLICE_MAGIC UINT32_C(0x53534b4c)                /* "LKSS" */
#define SLICE_SEALED_BYTES (TGB_SLICE_HEADER_BYTES - 8) /* what the checksum's seed covers */
#define INDEX_SEALED_BYTES (TGB_INDEX_HEADER_BYTES - 8)
#define IDENTITY_BYTES 16

static const char index_magic[8] = {'L', 'K', 'S', 'T', 'G', 'B', 'I', 'X'};

const char *tgb_error_text(enum tgb_error error)
{
    static const char *const texts[] = {
#define X(code, text) text,
        TGB_ERRORS(X)
#undef X
    };
    return texts[error];
}

/* ---- layout ---- */

bool tgb_mesh_valid(struct tgb_mesh mesh)
{
    if (mesh.data == 0 || mesh.context == 0)
        return mesh.data == mesh.context;
    return mesh.data <= TGB_SLICES_MAX && mesh.context <= TGB_SLICES_MAX / mesh.data;
}

enum tgb_error tgb_layout_make(uint64_t object_bytes, uint32_t slices, struct tgb_layout *layout)
{
    assert(slices > 0);
    assert(slices <= TGB_SLICES_MAX);
    uint64_t index_bytes = TGB_INDEX_HEADER_BYTES + (uint64_t)slices * TGB_SLICE_HEADER_BYTES;
    if (object_bytes < index_bytes)
        return TGB_BAD_SIZE;
    uint64_t slot_bytes = (object_bytes - index_bytes) / slices;
    if (slot_bytes <= TGB_SLICE_HEADER_BYTES || slot_bytes - TGB_SLICE_HEADER_BYTES > UINT32_MAX)
        return TGB_BAD_SIZE;
    *layout = (struct tgb_layout){.object_bytes = object_bytes,
                                  .index_bytes = index_bytes,
                                  .slot_bytes = slot_bytes,
                                  .slices = slices};
    return TGB_OK;
}

/* ---- a slice ---- */

/* The header without its checksum. */
static uint8_t *put_slice(const struct tgb_place *place, const struct tgb_slice *slice,
                          uint8_t *out)
{
    out = wire_put32(out, SLICE_MAGIC);
    out = wire_put32(out, place->slices);
    out = wire_put32(out, place->slice);
    out = wire_put32(out, slice->coding);
    out = wire_put32(out, slice->raw_bytes);
    return wire_put32(out, slice->stored_bytes);
}

uint64_t tgb_slice_seed(const struct tgb_place *place, const struct tgb_slice *slice)
{
    uint8_t sealed[IDENTITY_BYTES + SLICE_SEALED_BYTES];
    uint8_t *out = wire_put32(sealed, place->name->producer);
    out = wire_put32(out, place->name->epoch);
    out = wire_put64(out, place->name->sequence);
    out = put_slice(place, slice, out);
    assert(out == sealed + sizeof(sealed));
    return XXH3_64bits(sealed, sizeof(sealed));
}

void tgb_slice_encode(const struct tgb_place *place, struct tgb_slice *slice, const uint8_t *stored,
                      uint8_t header[TGB_SLICE_HEADER_BYTES])
{
    assert(place->slice < place->slices);
    assert(slice->coding == TGB_ZSTD || slice->stored_bytes == slice->raw_bytes);
    slice->checksum =
        XXH3_64bits_withSeed(stored, slice->stored_bytes, tgb_slice_seed(place, slice));
    wire_put64(put_slice(place, slice, header), slice->checksum);
}

enum tgb_error tgb_slice_decode(const uint8_t *slot, uint64_t bytes, const struct tgb_place *place,
                                struct tgb_slice *slice)
{
    assert(place->slice < place->slices);
    if (bytes < TGB_SLICE_HEADER_BYTES)
        return TGB_TRUNCATED;
    const uint8_t *in = slot;
    if (wire_take32(&in) != SLICE_MAGIC)
        return TGB_BAD_MAGIC;
    if (wire_take32(&in) != place->slices)
        return TGB_WRONG_MESH;
    if (wire_take32(&in) != place->slice)
        return TGB_WRONG_SLICE;
    uint32_t coding = wire_take32(&in);
    struct tgb_slice read = {0};
    read.raw_bytes = wire_take32(&in);
    read.stored_bytes = wire_take32(&in);
    read.checksum = wire_take64(&in);
    if (coding > TGB_ZSTD || read.stored_bytes > bytes - TGB_SLICE_HEADER_BYTES ||
        (coding == TGB_PLAIN && read.stored_bytes != read.raw_bytes))
        return TGB_BAD_FIELD;
    read.coding = (enum tgb_coding)coding;
    *slice = read;
    return TGB_OK;
}

enum tgb_error tgb_slice_open(const uint8_t *slot, uint64_t bytes, const struct tgb_place *place,
                              struct tgb_slice *slice, const uint8_t **stored)
{
    struct tgb_slice read;
    enum tgb_error error = tgb_slice_decode(slot, bytes, place, &read);
    if (error != TGB_OK)
        return error;
    const uint8_t *data = slot + TGB_SLICE_HEADER_BYTES;
    if (XXH3_64bits_withSeed(data, read.stored_bytes, tgb_slice_seed(place, &read)) !=
        read.checksum)
        return TGB_BAD_CHECKSUM;
    if (read.coding == TGB_ZSTD &&
        ZSTD_getFrameContentSize(data, read.stored_bytes) != read.raw_bytes)
        return TGB_BAD_CODING;
    *slice = read;
    *stored = data;
    return TGB_OK;
}

enum tgb_error tgb_slice_expand(const struct tgb_slice *slice, const uint8_t *stored, uint8_t *raw)
{
    switch (slice->coding) {
    case TGB_PLAIN:
        if (slice->raw_bytes > 0) /* an empty slice need not have memory */
            memcpy(raw, stored, slice->raw_bytes);
        return TGB_OK;
    case TGB_ZSTD:
        /* An error is a size beyond all others. */
        return ZSTD_decompress(raw, slice->raw_bytes, stored, slice->stored_bytes) ==
                       slice->raw_bytes
                   ? TGB_OK
                   : TGB_BAD_CODING;
    }
    return TGB_BAD_CODING;
}

enum tgb_error tgb_slice_compress(const struct tgb_raw *raw, uint8_t *stored, uint32_t capacity,
                                  struct tgb_slice *slice)
{
    assert(raw->level >= 1);
    assert(raw->level <= TGB_LEVEL_MAX);
    *slice = (struct tgb_slice){
        .coding = TGB_PLAIN, .raw_bytes = raw->count, .stored_bytes = raw->count};
    /* In memory of its own: with less than its bound, what zstd makes depends on the room. */
    size_t bound = ZSTD_compressBound(raw->count);
    uint8_t *compressed = malloc(bound);
    assert(compressed != NULL);
    size_t bytes = ZSTD_compress(compressed, bound, raw->bytes, raw->count, raw->level);
    assert(!ZSTD_isError(bytes));
    if (bytes < raw->count) {
        slice->coding = TGB_ZSTD;
        slice->stored_bytes = (uint32_t)bytes;
    }
    bool fits = slice->stored_bytes <= capacity;
    if (fits && slice->stored_bytes > 0) /* an empty slice need not have memory */
        memcpy(stored, bytes < raw->count ? compressed : raw->bytes, slice->stored_bytes);
    free(compressed);
    return fits ? TGB_OK : TGB_BAD_SIZE;
}

/* ---- the index ---- */

static uint64_t index_checksum(const uint8_t *index, uint64_t index_bytes)
{
    return XXH3_64bits_withSeed(index + TGB_INDEX_HEADER_BYTES,
                                index_bytes - TGB_INDEX_HEADER_BYTES,
                                XXH3_64bits(index, INDEX_SEALED_BYTES));
}

void tgb_index_encode(struct tgb_mesh mesh, const struct tgb_layout *layout,
                      const struct tgb_name *name, uint8_t *object)
{
    assert(tgb_mesh_slices(mesh) == layout->slices);
    for (uint32_t i = 0; i < layout->slices; i++)
        memcpy(object + TGB_INDEX_HEADER_BYTES + (size_t)i * TGB_SLICE_HEADER_BYTES,
               object + tgb_layout_offset(layout, i), TGB_SLICE_HEADER_BYTES);
    memcpy(object, index_magic, sizeof(index_magic));
    uint8_t *out = wire_put32(object + sizeof(index_magic), TGB_FORMAT);
    out = wire_put32(out, mesh.data);
    out = wire_put32(out, mesh.context);
    out = wire_put32(out, layout->slices);
    out = wire_put64(out, layout->object_bytes);
    out = wire_put32(out, name->producer);
    out = wire_put32(out, name->epoch);
    out = wire_put64(out, name->sequence);
    out = wire_put64(out, 0);
    assert(out == object + INDEX_SEALED_BYTES);
    wire_put64(out, index_checksum(object, layout->index_bytes));
}

enum tgb_error tgb_index_peek(const uint8_t *bytes, uint64_t size, struct tgb_index *index)
{
    if (size < TGB_INDEX_HEADER_BYTES)
        return TGB_TRUNCATED;
    if (memcmp(bytes, index_magic, sizeof(index_magic)) != 0)
        return TGB_BAD_MAGIC;
    const uint8_t *in = bytes + sizeof(index_magic);
    if (wire_take32(&in) != TGB_FORMAT)
        return TGB_BAD_FORMAT;
    struct tgb_index read = {.mesh = {.data = wire_take32(&in)}};
    read.mesh.context = wire_take32(&in);
    uint32_t slices = wire_take32(&in);
    read.object_bytes = wire_take64(&in);
    read.producer = wire_take32(&in);
    read.epoch = wire_take32(&in);
    read.sequence = wire_take64(&in);
    uint64_t zero = wire_take64(&in);
    if (!tgb_mesh_valid(read.mesh) || slices == 0 || tgb_mesh_slices(read.mesh) != slices ||
        zero != 0)
        return TGB_BAD_FIELD;
    *index = read;
    return TGB_OK;
}

enum tgb_error tgb_index_check(const uint8_t *bytes, struct tgb_mesh mesh,
                               const struct tgb_layout *layout, const struct tgb_name *name)
{
    struct tgb_index index;
    enum tgb_error error = tgb_index_peek(bytes, layout->index_bytes, &index);
    if (error != TGB_OK)
        return error;
    if (index.mesh.data != mesh.data || index.mesh.context != mesh.context)
        return TGB_WRONG_MESH;
    if (index.producer != name->producer || index.epoch != name->epoch ||
        index.sequence != name->sequence)
        return TGB_WRONG_TGB;
    if (index.object_bytes != layout->object_bytes)
        return TGB_BAD_FIELD;
    const uint8_t *in = bytes + INDEX_SEALED_BYTES;
    if (wire_take64(&in) != index_checksum(bytes, layout->index_bytes))
        return TGB_BAD_CHECKSUM;
    return TGB_OK;
}
