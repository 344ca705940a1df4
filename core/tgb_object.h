/* tgb_object.h - writes a whole sliced TGB in place: slice by slice into its slot, then the index.
 * The layout is that of tgb.h. */
#ifndef CORE_TGB_OBJECT_H
#define CORE_TGB_OBJECT_H

#include "core/tgb.h"

/* Fields are the caller's to set; `bytes` is borrowed, layout.object_bytes long, and need not be
 * zero. */
struct tgb_object {
    struct tgb_mesh mesh; /* not none */
    struct tgb_layout layout;
    struct tgb_name name;
    uint8_t *bytes;
};

/* Where the bytes of a slice go, at most tgb_layout_capacity of them, before it is sealed. */
static inline uint8_t *tgb_object_slice(const struct tgb_object *object, uint32_t slice)
{
    return object->bytes + tgb_layout_offset(&object->layout, slice) + TGB_SLICE_HEADER_BYTES;
}

/* Completes a slot whose slice was written there as it is. */
void tgb_object_seal_slice(const struct tgb_object *object, uint32_t slice, uint32_t raw_bytes);
/* Completes a slot with a slice compressed from elsewhere at a level of zstd, or as it is where
 * that is not longer. TGB_BAD_SIZE: neither fits. */
MUST_USE enum tgb_error tgb_object_compress_slice(const struct tgb_object *object, uint32_t slice,
                                                  const struct tgb_raw *raw);
/* Completes the object once all its slots are: index and rest. */
void tgb_object_seal(const struct tgb_object *object);
/* The whole of a synthetic TGB: payload as tgb_payload.h has it. */
void tgb_object_fill(const struct tgb_object *object);

#endif
