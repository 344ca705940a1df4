/* tgb.h - a sliced TGB: how its bytes are laid out, and how its parts are read.
 *
 *   [index][slot 0][slot 1] ... [slot n-1][rest: fewer than n bytes, zero]
 *
 * n = D x C, the mesh of the run; rank (dp, cp) reads slice dp * C + cp. All slots have one size,
 * so that a rank computes its range from the TGB's size, which the manifest holds, and n: one range
 * request reads a slice, and neither the index nor a longer manifest entry is needed for it. The
 * price: where slices are compressed to unequal sizes the rest of a slot is fetched too.
 *
 *   index    "LKSTGBIX" format:4 D:4 C:4 n:4 object_bytes:8 producer:4 epoch:4 sequence:8 zero:8
 *            checksum:8, then the header of every slice again
 *   slot     magic:4 n:4 slice:4 coding:4 raw_bytes:4 stored_bytes:4 checksum:8, the stored bytes,
 *            zeros up to the slot's end
 *
 * Little endian. A slice's checksum is XXH3-64 of its stored bytes, seeded by XXH3-64 of (producer,
 * epoch, sequence) and the header before it: another TGB's slice does not pass, nor a changed
 * header. The index's is XXH3-64 of the rows, seeded by XXH3-64 of the header before it. The index
 * is for tools and diagnoses. The paper has slices and an index; the layout is ours.
 *
 * Readers take every byte as hostile: no allocation, no byte read beyond `bytes`. */
#ifndef CORE_TGB_H
#define CORE_TGB_H

#include <stdbool.h>

#include "core/base.h"
#include "core/name.h"

#define TGB_FORMAT 1
#define TGB_INDEX_HEADER_BYTES 64
#define TGB_SLICE_HEADER_BYTES 32
#define TGB_SLICES_MAX 65536
#define TGB_LEVEL_MAX 19 /* beyond, a reader needs windows of more than 8 MiB */

/* Data-parallel x context-parallel ranks (the paper's D and C). Both 0: none, TGBs are plain bytes
 * without an index. */
struct tgb_mesh {
    uint32_t data;
    uint32_t context;
};

#define TGB_ERRORS(X)                                                                              \
    X(TGB_OK, "ok")                                                                                \
    X(TGB_BAD_SIZE, "its size does not fit so many slices")                                        \
    X(TGB_TRUNCATED, "shorter than it should be")                                                  \
    X(TGB_BAD_MAGIC, "not a part of a sliced TGB")                                                 \
    X(TGB_BAD_FORMAT, "a format that this program does not know")                                  \
    X(TGB_WRONG_MESH, "made for another mesh (D x C)")                                             \
    X(TGB_WRONG_TGB, "a part of another TGB")                                                      \
    X(TGB_WRONG_SLICE, "another slice")                                                            \
    X(TGB_BAD_FIELD, "a field holds an impossible value")                                          \
    X(TGB_BAD_CHECKSUM, "its checksum does not match its bytes")                                   \
    X(TGB_BAD_CODING, "its bytes do not decompress to what its header says")                       \
    X(TGB_BAD_PADDING, "bytes that must be zero are not")

enum tgb_error {
#define X(code, text) code,
    TGB_ERRORS(X)
#undef X
};

const char *tgb_error_text(enum tgb_error error);

/* ---- layout ---- */

/* Slices of a mesh; 0 for none. The mesh is a valid one. */
static inline uint32_t tgb_mesh_slices(struct tgb_mesh mesh)
{
    return mesh.data * mesh.context;
}

/* Whether both are 0, or neither is and they make at most TGB_SLICES_MAX slices. */
bool tgb_mesh_valid(struct tgb_mesh mesh);

struct tgb_layout {
    uint64_t object_bytes;
    uint64_t index_bytes; /* where slot 0 begins */
    uint64_t slot_bytes;
    uint32_t slices;
};

/* Of an object of exactly this size; slices is 1..TGB_SLICES_MAX. TGB_BAD_SIZE: a slot would hold
 * nothing, or 4 GiB and more. */
MUST_USE enum tgb_error tgb_layout_make(uint64_t object_bytes, uint32_t slices,
                                        struct tgb_layout *layout);

/* The smallest object with slots for so many stored bytes each. */
static inline uint64_t tgb_layout_object_bytes(uint32_t slices, uint32_t stored_bytes)
{
    return TGB_INDEX_HEADER_BYTES + slices * ((uint64_t)2 * TGB_SLICE_HEADER_BYTES + stored_bytes);
}

/* Where a slot begins. A rank's range is [this, this + slot_bytes). */
static inline uint64_t tgb_layout_offset(const struct tgb_layout *layout, uint32_t slice)
{
    assert(slice < layout->slices);
    return layout->index_bytes + slice * layout->slot_bytes;
}

/* What a slot holds beside its header. */
static inline uint32_t tgb_layout_capacity(const struct tgb_layout *layout)
{
    return (uint32_t)(layout->slot_bytes - TGB_SLICE_HEADER_BYTES);
}

/* ---- a slice ---- */

enum tgb_coding {
    TGB_PLAIN,
    TGB_ZSTD,
};

/* Which slice it must be. */
struct tgb_place {
    const struct tgb_name *name; /* borrowed; its producer, epoch and sequence count */
    uint32_t slices;
    uint32_t slice;
};

struct tgb_slice {
    enum tgb_coding coding;
    uint32_t raw_bytes;
    uint32_t stored_bytes;
    uint64_t checksum;
};

/* Writes the header; slice->checksum is computed from the stored bytes and set. */
void tgb_slice_encode(const struct tgb_place *place, struct tgb_slice *slice, const uint8_t *stored,
                      uint8_t header[TGB_SLICE_HEADER_BYTES]);
/* Reads the header of a slot of `bytes` bytes without looking at what follows it. */
MUST_USE enum tgb_error tgb_slice_decode(const uint8_t *slot, uint64_t bytes,
                                         const struct tgb_place *place, struct tgb_slice *slice);
/* The seed of its checksum. */
uint64_t tgb_slice_seed(const struct tgb_place *place, const struct tgb_slice *slice);
/* Reads a whole slot: header, checksum, and of compressed bytes the length that they claim.
 * *stored points into `slot`; what follows it up to the slot's end is not looked at. Of TGB_PLAIN
 * it is the slice. */
MUST_USE enum tgb_error tgb_slice_open(const uint8_t *slot, uint64_t bytes,
                                       const struct tgb_place *place, struct tgb_slice *slice,
                                       const uint8_t **stored);
/* Writes the raw_bytes of an opened slice. raw_bytes is whatever its maker claims: bound it before
 * memory is made for it. */
MUST_USE enum tgb_error tgb_slice_expand(const struct tgb_slice *slice, const uint8_t *stored,
                                         uint8_t *raw);

/* A slice to be compressed; borrowed. */
struct tgb_raw {
    const uint8_t *bytes;
    uint32_t count;
    int level; /* of zstd: 1..TGB_LEVEL_MAX */
};

/* What is stored of a slice: compressed, or as it is where that is not longer; whatever the
 * capacity is. Sets all of *slice but its checksum. TGB_BAD_SIZE: more than `capacity` bytes. */
MUST_USE enum tgb_error tgb_slice_compress(const struct tgb_raw *raw, uint8_t *stored,
                                           uint32_t capacity, struct tgb_slice *slice);

/* ---- the index ---- */

struct tgb_index {
    struct tgb_mesh mesh;
    uint64_t object_bytes;
    uint64_t sequence;
    uint32_t producer;
    uint32_t epoch;
};

/* Writes the index in front of slots that are complete; `object` is the whole TGB. */
void tgb_index_encode(struct tgb_mesh mesh, const struct tgb_layout *layout,
                      const struct tgb_name *name, uint8_t *object);
/* Reads the index's first TGB_INDEX_HEADER_BYTES bytes: whose TGB this claims to be, for a
 * diagnosis. Its checksum covers the rows and is not looked at. */
MUST_USE enum tgb_error tgb_index_peek(const uint8_t *bytes, uint64_t size,
                                       struct tgb_index *index);
/* Holds a whole index (layout->index_bytes) against what it must be. */
MUST_USE enum tgb_error tgb_index_check(const uint8_t *bytes, struct tgb_mesh mesh,
                                        const struct tgb_layout *layout,
                                        const struct tgb_name *name);
/* The row of a slice in a checked index: the header that its slot must begin with. */
static inline const uint8_t *tgb_index_row(const uint8_t *index, uint32_t slice)
{
    return index + TGB_INDEX_HEADER_BYTES + (size_t)slice * TGB_SLICE_HEADER_BYTES;
}

#endif
