/* tgb_scan_test.c - a sliced TGB is verified whole, however its bytes come in. */
#include "core/tgb_scan.h"

#include <string.h>
#include <xxhash.h>

#include "core/random.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "core/wire.h"
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

/* ---- frames that no writer makes ---- */

#define RLE_BLOCK_BYTES_MAX 131072

/* A zstd frame of blocks that repeat one byte, written by hand as RFC 8878 has it (section 3.1.1),
 * so that it can claim what it likes. */
struct frame {
    uint32_t window_log;
    uint32_t blocks;
    uint32_t block_bytes;
    enum {
        FRAME_WHOLE,
        FRAME_WITHOUT_ITS_LAST_BLOCK
    } end;
};

static uint8_t *frame_write(const struct frame *frame, uint8_t *out)
{
    out = wire_put32(out, 0xfd2fb528);
    *out++ = 0; /* no content size, no checksum */
    *out++ = (uint8_t)((frame->window_log - 10) << 3);
    for (uint32_t i = 0; i <= frame->blocks; i++) {
        bool last = i == frame->blocks; /* it holds nothing */
        uint32_t header = last ? 1 : frame->block_bytes << 3 | 1 << 1;
        if (last && frame->end == FRAME_WITHOUT_ITS_LAST_BLOCK)
            break;
        for (int byte = 0; byte < 3; byte++)
            *out++ = (uint8_t)(header >> 8 * byte);
        if (!last)
            *out++ = 'r';
    }
    return out;
}

/* Slice 1 made of these frames, under valid checksums. */
static enum tgb_error scan_frames(const struct frame *frames, size_t count, uint32_t raw_bytes,
                                  struct seen *seen)
{
    struct tgb_object object = object_make();
    struct tgb_place place = {.name = &object.name, .slices = SLICES, .slice = 1};
    uint8_t *slot = bytes + tgb_layout_offset(&object.layout, 1);
    uint8_t *stored = slot + TGB_SLICE_HEADER_BYTES;
    uint8_t *end = stored;
    memset(stored, 0, tgb_layout_capacity(&object.layout));
    for (size_t i = 0; i < count; i++)
        end = frame_write(&frames[i], end);
    CU_ASSERT_FATAL(end <= stored + tgb_layout_capacity(&object.layout));
    struct tgb_slice slice = {
        .coding = TGB_ZSTD, .raw_bytes = raw_bytes, .stored_bytes = (uint32_t)(end - stored)};
    tgb_slice_encode(&place, &slice, stored, slot);
    tgb_object_seal(&object);
    return scan(&object, object.layout.object_bytes, 100, seen);
}

static void a_frame_that_is_cut_is_seen_though_all_its_bytes_are_out(void)
{
    static struct seen seen;
    struct frame frame = {.window_log = 17, .blocks = 1, .block_bytes = RAW_BYTES};
    CU_ASSERT_EQUAL(scan_frames(&frame, 1, RAW_BYTES, &seen), TGB_OK);
    CU_ASSERT(seen.next[1] == RAW_BYTES && seen.raw[1][RAW_BYTES - 1] == 'r');
    frame.end = FRAME_WITHOUT_ITS_LAST_BLOCK;
    CU_ASSERT_EQUAL(scan_frames(&frame, 1, RAW_BYTES, &seen), TGB_BAD_CODING);
}

/* Also where they hold what the header says together, or one holds nothing. */
static void a_second_frame_is_refused(void)
{
    static const struct frame frames[][2] = {
        {{17, 1, RAW_BYTES, FRAME_WHOLE}, {17, 0, 0, FRAME_WHOLE}},
        {{17, 1, RAW_BYTES - 400, FRAME_WHOLE}, {17, 1, 400, FRAME_WHOLE}},
        {{17, 0, 0, FRAME_WHOLE}, {17, 1, RAW_BYTES, FRAME_WHOLE}},
    };
    for (size_t i = 0; i < HARNESS_COUNT(frames); i++)
        CU_ASSERT_EQUAL(scan_frames(frames[i], 2, RAW_BYTES, NULL), TGB_BAD_CODING);
}

/* 25 MiB from 800 bytes that claim to be 10: nobody is handed more than is claimed. */
static void a_frame_that_expands_beyond_its_claim_is_stopped_at_once(void)
{
    static struct seen seen;
    struct frame frame = {.window_log = 17, .blocks = 200, .block_bytes = RLE_BLOCK_BYTES_MAX};
    CU_ASSERT_EQUAL(scan_frames(&frame, 1, 10, &seen), TGB_BAD_CODING);
    CU_ASSERT(seen.wrong == 0 && seen.next[0] == RAW_BYTES && seen.next[1] == 0);
}

/* What a reader would have to hold, whatever the frame then needs of it. */
static void a_window_of_more_than_8_mib_is_refused(void)
{
    struct frame frame = {.blocks = 1, .block_bytes = RAW_BYTES};
    for (frame.window_log = 17; frame.window_log <= 30; frame.window_log++)
        CU_ASSERT_EQUAL(scan_frames(&frame, 1, RAW_BYTES, NULL),
                        frame.window_log <= 23 ? TGB_OK : TGB_BAD_CODING);
}

const struct harness_test tgb_scan_tests[] = {
    HARNESS_TEST(pieces_of_any_size_give_the_slices),
    HARNESS_TEST(every_flipped_bit_is_seen),
    HARNESS_TEST(too_few_and_too_many_bytes_are_seen),
    HARNESS_TEST(a_slot_that_its_index_does_not_name_is_seen),
    HARNESS_TEST(frames_that_do_not_hold_what_is_said_are_seen),
    HARNESS_TEST(a_frame_that_is_cut_is_seen_though_all_its_bytes_are_out),
    HARNESS_TEST(a_second_frame_is_refused),
    HARNESS_TEST(a_frame_that_expands_beyond_its_claim_is_stopped_at_once),
    HARNESS_TEST(a_window_of_more_than_8_mib_is_refused),
    {0},
};
