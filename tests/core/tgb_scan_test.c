/* tgb_scan_test.c - a sliced TGB is verified whole, however its bytes come in. */
#include "core/tgb_scan.h"

#include <string.h>
#include <xxhash.h>

#include "core/random.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "tests/harness.h"

#define OBJECT_BYTES_MAX 8192
#define SLICES 6
#define RAW_BYTES 1000

static uint8_t bytes[OBJECT_BYTES_MAX];

/* What a scan handed over. */
struct seen {
    uint32_t wrong;
    uint64_t next[SLICES];
    uint8_t raw[SLICES][RAW_BYTES];
};

static void on_piece(const struct tgb_piece *piece, void *context)
{
    struct seen *seen = context;
    seen->wrong += piece->slice >= SLICES || piece->offset != seen->next[piece->slice] ||
                   piece->offset + piece->count > RAW_BYTES;
    if (seen->wrong > 0)
        return;
    memcpy(seen->raw[piece->slice] + piece->offset, piece->bytes, piece->count);
    seen->next[piece->slice] += piece->count;
}

/* Six slices of 1000 bytes, every second one of bytes that compress, in 5000 bytes. */
static struct tgb_object object_make(void)
{
    static uint8_t raw_bytes[RAW_BYTES];
    struct tgb_object object = {
        .mesh = {3, 2}, .name = {.sequence = 9, .producer = 1, .epoch = 1}, .bytes = bytes};
    enum tgb_error error =
        tgb_layout_make(tgb_layout_object_bytes(SLICES, RAW_BYTES) + 5, SLICES, &object.layout);
    CU_ASSERT_EQUAL_FATAL(error, TGB_OK);
    for (uint32_t i = 0; i < SLICES; i++) {
        tgb_payload_fill(1, 9, (uint64_t)i * RAW_BYTES, RAW_BYTES, raw_bytes);
        if (i % 2 == 1)
            memset(raw_bytes + 100, (int)i, RAW_BYTES - 100);
        struct tgb_raw raw = {raw_bytes, RAW_BYTES, 3};
        CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, i, &raw), TGB_OK);
    }
    tgb_object_seal(&object);
    return object;
}

/* In pieces of at most `piece` bytes; *slice: where it ended. */
static enum tgb_error scan(const struct tgb_object *object, uint64_t size, uint64_t piece,
                           struct seen *seen)
{
    struct tgb_scan_options options = {
        .mesh = object->mesh, .name = object->name, .layout = object->layout};
    if (seen != NULL) {
        *seen = (struct seen){0};
        options.visit = on_piece;
        options.context = seen;
    }
    struct tgb_scan *scan = tgb_scan_open(&options);
    enum tgb_error error = TGB_OK;
    for (uint64_t at = 0; at < size && error == TGB_OK; at += piece)
        error = tgb_scan_feed(scan, bytes + at, size - at < piece ? size - at : piece);
    if (error == TGB_OK) {
        CU_ASSERT_EQUAL(tgb_scan_offset(scan), size);
        error = tgb_scan_end(scan);
    }
    tgb_scan_close(scan);
    return error;
}

static void pieces_of_any_size_give_the_slices(void)
{
    static struct seen seen;
    struct tgb_object object = object_make();
    for (uint64_t piece = 1; piece < 9000; piece += 1 + piece / 3) {
        CU_ASSERT_EQUAL(scan(&object, object.layout.object_bytes, piece, &seen), TGB_OK);
        CU_ASSERT_EQUAL(seen.wrong, 0);
        for (uint32_t i = 0; i < SLICES; i++) {
            uint64_t same = i % 2 == 1 ? 100 : RAW_BYTES;
            CU_ASSERT_EQUAL(seen.next[i], RAW_BYTES);
            CU_ASSERT_EQUAL(XXH3_64bits(seen.raw[i], same),
                            tgb_payload_hash(1, 9, (uint64_t)i * RAW_BYTES, same));
            CU_ASSERT(i % 2 == 0 || seen.raw[i][RAW_BYTES - 1] == i);
        }
    }
}

static void every_flipped_bit_is_seen(void)
{
    struct tgb_object object = object_make();
    uint32_t missed = 0;
    for (uint64_t bit = 0; bit < 8 * object.layout.object_bytes; bit += 3) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        missed += scan(&object, object.layout.object_bytes, OBJECT_BYTES_MAX, NULL) == TGB_OK;
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    CU_ASSERT_EQUAL(missed, 0);
}

static void too_few_and_too_many_bytes_are_seen(void)
{
    struct tgb_object object = object_make();
    uint64_t size = object.layout.object_bytes;
    for (uint64_t i = 0; i < size; i++)
        CU_ASSERT_EQUAL(scan(&object, i, 777, NULL), TGB_TRUNCATED);
    CU_ASSERT_EQUAL(scan(&object, size, 777, NULL), TGB_OK);
    bytes[size] = 0;
    CU_ASSERT_EQUAL(scan(&object, size + 1, 777, NULL), TGB_BAD_SIZE);
}

/* The row of a slice and its header are two: one of them made anew, under valid checksums. */
static void a_slot_that_its_index_does_not_name_is_seen(void)
{
    struct tgb_object object = object_make();
    tgb_object_slice(&object, 2)[5] ^= 1;
    tgb_object_seal_slice(&object, 2, RAW_BYTES);
    CU_ASSERT_EQUAL(scan(&object, object.layout.object_bytes, 100, NULL), TGB_BAD_FIELD);
    tgb_object_seal(&object);
    CU_ASSERT_EQUAL(scan(&object, object.layout.object_bytes, 100, NULL), TGB_OK);
}

/* A frame that holds more than the header says, or less, or is followed by something. */
static void frames_that_do_not_hold_what_is_said_are_seen(void)
{
    struct tgb_object object = object_make();
    struct tgb_place place = {.name = &object.name, .slices = SLICES, .slice = 1};
    uint8_t *slot = bytes + tgb_layout_offset(&object.layout, 1);
    struct tgb_slice slice;
    enum tgb_error error = tgb_slice_decode(slot, object.layout.slot_bytes, &place, &slice);
    CU_ASSERT_EQUAL_FATAL(error, TGB_OK);
    CU_ASSERT_EQUAL(slice.coding, TGB_ZSTD);
    static const struct {
        int raw;
        int stored;
    } changes[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {-1000, 0}};
    for (size_t i = 0; i < HARNESS_COUNT(changes); i++) {
        struct tgb_slice changed = slice;
        changed.raw_bytes += (uint32_t)changes[i].raw;
        changed.stored_bytes += (uint32_t)changes[i].stored;
        tgb_slice_encode(&place, &changed, slot + TGB_SLICE_HEADER_BYTES, slot);
        tgb_object_seal(&object);
        CU_ASSERT_EQUAL(scan(&object, object.layout.object_bytes, 100, NULL), TGB_BAD_CODING);
    }
    tgb_slice_encode(&place, &slice, slot + TGB_SLICE_HEADER_BYTES, slot);
    tgb_object_seal(&object);
    CU_ASSERT_EQUAL(scan(&object, object.layout.object_bytes, 100, NULL), TGB_OK);
}

const struct harness_test tgb_scan_tests[] = {
    HARNESS_TEST(pieces_of_any_size_give_the_slices),
    HARNESS_TEST(every_flipped_bit_is_seen),
    HARNESS_TEST(too_few_and_too_many_bytes_are_seen),
    HARNESS_TEST(a_slot_that_its_index_does_not_name_is_seen),
    HARNESS_TEST(frames_that_do_not_hold_what_is_said_are_seen),
    {0},
};
