/* tgb_object.c - writes sliced TGBs in place, so that an upload needs no second buffer. Ours. */
#include "core/tgb_object.h"

#include <string.h>

#include "core/tgb_payload.h"

static void seal(const struct tgb_object *object, uint32_t index, struct tgb_slice slice)
{
    struct tgb_place place = {
        .name = &object->name, .slices = object->layout.slices, .slice = index};
    uint8_t *stored = tgb_object_slice(object, index);
    uint32_t capacity = tgb_layout_capacity(&object->layout);
    assert(slice.stored_bytes <= capacity);
    memset(stored + slice.stored_bytes, 0, capacity - slice.stored_bytes);
    tgb_slice_encode(&place, &slice, stored, stored - TGB_SLICE_HEADER_BYTES);
}

void tgb_object_seal_slice(const struct tgb_object *object, uint32_t slice, uint32_t raw_bytes)
{
    seal(
        object, slice,
        (struct tgb_slice){.coding = TGB_PLAIN, .raw_bytes = raw_bytes, .stored_bytes = raw_bytes});
}

enum tgb_error tgb_object_compress_slice(const struct tgb_object *object, uint32_t slice,
                                         const struct tgb_raw *raw)
{
    struct tgb_slice compressed;
    enum tgb_error error = tgb_slice_compress(raw, tgb_object_slice(object, slice),
                                              tgb_layout_capacity(&object->layout), &compressed);
    if (error == TGB_OK)
        seal(object, slice, compressed);
    return error;
}

void tgb_object_seal(const struct tgb_object *object)
{
    const struct tgb_layout *layout = &object->layout;
    uint64_t end = layout->index_bytes + layout->slices * layout->slot_bytes;
    assert(end <= layout->object_bytes);
    memset(object->bytes + end, 0, layout->object_bytes - end);
    tgb_index_encode(object->mesh, layout, &object->name, object->bytes);
}

void tgb_object_fill(const struct tgb_object *object)
{
    uint32_t raw_bytes = tgb_layout_capacity(&object->layout);
    for (uint32_t i = 0; i < object->layout.slices; i++) {
        tgb_payload_fill(object->name.producer, object->name.sequence, (uint64_t)i * raw_bytes,
                         raw_bytes, tgb_object_slice(object, i));
        tgb_object_seal_slice(object, i, raw_bytes);
    }
    tgb_object_seal(object);
}
