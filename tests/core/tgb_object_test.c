/* tgb_object_test.c - sliced TGBs are written so that what was put in comes out. */
#include "core/tgb_object.h"

#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

#define OBJECT_BYTES_MAX 8192
#define RAW_BYTES_MAX 65536

static struct tgb_object object_of(struct tgb_mesh mesh, uint64_t object_bytes, uint8_t *bytes)
{
    struct tgb_object object = {
        .mesh = mesh, .name = {.sequence = 9, .producer = 1, .epoch = 1}, .bytes = bytes};
    enum tgb_error error = tgb_layout_make(object_bytes, tgb_mesh_slices(mesh), &object.layout);
    CU_ASSERT_EQUAL_FATAL(error, TGB_OK);
    memset(bytes, 0xee, object_bytes);
    return object;
}

/* What comes out of a slot is `raw`. Its coding. */
static enum tgb_coding expand(const struct tgb_object *object, uint32_t index,
                              const struct tgb_raw *raw)
{
    static uint8_t out[RAW_BYTES_MAX];
    struct tgb_place place = {
        .name = &object->name, .slices = object->layout.slices, .slice = index};
    struct tgb_slice slice = {0};
    const uint8_t *stored = NULL;
    enum tgb_error error = tgb_slice_open(object->bytes + tgb_layout_offset(&object->layout, index),
                                          object->layout.slot_bytes, &place, &slice, &stored);
    CU_ASSERT_EQUAL_FATAL(error, TGB_OK);
    CU_ASSERT_EQUAL_FATAL(slice.raw_bytes, raw->count);
    CU_ASSERT_EQUAL(tgb_slice_expand(&slice, stored, out), TGB_OK);
    CU_ASSERT_EQUAL(memcmp(out, raw->bytes, raw->count), 0);
    return slice.coding;
}

static void fill_random(struct random_stream *stream, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)random_next(stream);
}

static void what_compresses_is_compressed_and_the_rest_is_not(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    static uint8_t noise[1000];
    static uint8_t text[1000];
    struct random_stream stream = random_stream_make(1, 1);
    fill_random(&stream, noise, sizeof(noise));
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i % 7);
    struct tgb_object object =
        object_of((struct tgb_mesh){3, 1}, tgb_layout_object_bytes(3, sizeof(noise)), bytes);
    struct tgb_raw raws[] = {{text, sizeof(text), 3}, {noise, sizeof(noise), 3}, {text, 0, 3}};
    static const enum tgb_coding codings[] = {TGB_ZSTD, TGB_PLAIN, TGB_PLAIN};
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, i, &raws[i]), TGB_OK);
    tgb_object_seal(&object);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(expand(&object, i, &raws[i]), codings[i]);
    CU_ASSERT_EQUAL(tgb_index_check(bytes, object.mesh, &object.layout, &object.name), TGB_OK);
}

static void compressed_slices_may_be_longer_than_their_slots(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    static uint8_t raw_bytes[RAW_BYTES_MAX];
    struct random_stream stream = random_stream_make(2, 1);
    struct tgb_object object = object_of((struct tgb_mesh){2, 2}, 4000, bytes);
    struct tgb_raw raw = {raw_bytes, sizeof(raw_bytes), 1};
    CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, 0, &raw), TGB_OK);
    CU_ASSERT_EQUAL(expand(&object, 0, &raw), TGB_ZSTD);
    fill_random(&stream, raw_bytes, sizeof(raw_bytes));
    CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, 0, &raw), TGB_BAD_SIZE);
    raw.count = tgb_layout_capacity(&object.layout);
    CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, 0, &raw), TGB_OK);
    CU_ASSERT_EQUAL(expand(&object, 0, &raw), TGB_PLAIN);
}

static void random_slices_at_every_level_come_out_again(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    static uint8_t raw_bytes[1500];
    struct random_stream stream = random_stream_make(3, 1);
    for (int i = 0; i < 400; i++) {
        uint32_t capacity = 1 + (uint32_t)(random_next(&stream) % sizeof(raw_bytes));
        struct tgb_raw raw = {.bytes = raw_bytes,
                              .count = (uint32_t)(random_next(&stream) % (capacity + 1)),
                              .level = 1 + i % TGB_LEVEL_MAX};
        struct tgb_object object =
            object_of((struct tgb_mesh){1, 1}, tgb_layout_object_bytes(1, capacity), bytes);
        uint8_t alphabet = (uint8_t)(1 + random_next(&stream) % 255);
        for (uint32_t j = 0; j < raw.count; j++)
            raw_bytes[j] = (uint8_t)(random_next(&stream) % alphabet);
        CU_ASSERT_EQUAL_FATAL(tgb_object_compress_slice(&object, 0, &raw), TGB_OK);
        expand(&object, 0, &raw);
    }
}

static void the_rest_of_slots_and_object_is_zero(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_object object =
        object_of((struct tgb_mesh){3, 1}, tgb_layout_object_bytes(3, 50) + 2, bytes);
    for (uint32_t i = 0; i < 3; i++) {
        memset(tgb_object_slice(&object, i), 0x55, 40);
        tgb_object_seal_slice(&object, i, 40);
    }
    tgb_object_seal(&object);
    static const uint8_t zeros[10] = {0};
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(memcmp(tgb_object_slice(&object, i) + 40, zeros, 10), 0);
    CU_ASSERT_EQUAL(memcmp(bytes + object.layout.object_bytes - 2, zeros, 2), 0);
}

const struct harness_test tgb_object_tests[] = {
    HARNESS_TEST(what_compresses_is_compressed_and_the_rest_is_not),
    HARNESS_TEST(compressed_slices_may_be_longer_than_their_slots),
    HARNESS_TEST(random_slices_at_every_level_come_out_again),
    HARNESS_TEST(the_rest_of_slots_and_object_is_zero),
    {0},
};
