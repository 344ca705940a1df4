/* tgb_test.c - the layout of sliced TGBs, and what readers of their parts refuse. */
#include "core/tgb.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "core/wire.h"
#include "tests/harness.h"

#define OBJECT_BYTES_MAX 8192

static const struct tgb_name name = {
    .bucket = 3, .sequence = 17, .end_offset = 90000, .producer = 5, .epoch = 2};

static struct tgb_object object_of(struct tgb_mesh mesh, uint64_t object_bytes, uint8_t *bytes)
{
    struct tgb_object object = {.mesh = mesh, .name = name, .bytes = bytes};
    enum tgb_error error = tgb_layout_make(object_bytes, tgb_mesh_slices(mesh), &object.layout);
    CU_ASSERT_EQUAL_FATAL(error, TGB_OK);
    memset(bytes, 0xee, object_bytes);
    return object;
}

static struct tgb_place place_of(const struct tgb_object *object, uint32_t slice)
{
    return (struct tgb_place){
        .name = &object->name, .slices = object->layout.slices, .slice = slice};
}

static void a_mesh_is_none_or_has_both_sides(void)
{
    static const struct {
        struct tgb_mesh mesh;
        bool valid;
    } rows[] = {
        {{0, 0}, true},          {{1, 1}, true},         {{8, 2}, true},
        {{0, 1}, false},         {{1, 0}, false},        {{TGB_SLICES_MAX, 1}, true},
        {{256, 256}, true},      {{256, 257}, false},    {{TGB_SLICES_MAX + 1, 1}, false},
        {{65537, 65537}, false}, {{1U << 31, 2}, false}, /* their product would wrap */
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        CU_ASSERT_EQUAL(tgb_mesh_valid(rows[i].mesh), rows[i].valid);
    CU_ASSERT_EQUAL(tgb_mesh_slices((struct tgb_mesh){8, 2}), 16);
}

static void slots_follow_each_other_and_fill_the_object(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    uint32_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t slices = 1 + (uint32_t)(random_next(&stream) % TGB_SLICES_MAX);
        uint32_t stored = 1 + (uint32_t)(random_next(&stream) >> (33 + random_next(&stream) % 30));
        uint64_t extra = random_next(&stream) % slices;
        uint64_t bytes = tgb_layout_object_bytes(slices, stored) + extra;
        struct tgb_layout layout;
        wrong += tgb_layout_make(bytes, slices, &layout) != TGB_OK;
        wrong += tgb_layout_capacity(&layout) != stored;
        wrong += tgb_layout_offset(&layout, 0) !=
                 TGB_INDEX_HEADER_BYTES + (uint64_t)slices * TGB_SLICE_HEADER_BYTES;
        wrong += tgb_layout_offset(&layout, slices - 1) + layout.slot_bytes + extra != bytes;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void sizes_that_do_not_fit_are_refused(void)
{
    struct tgb_layout layout;
    for (uint32_t slices = 1; slices < 50; slices += 7) {
        uint64_t least = tgb_layout_object_bytes(slices, 1);
        for (uint64_t bytes = 0; bytes < least; bytes++)
            CU_ASSERT_EQUAL(tgb_layout_make(bytes, slices, &layout), TGB_BAD_SIZE);
        CU_ASSERT_EQUAL(tgb_layout_make(least, slices, &layout), TGB_OK);
        uint64_t most = tgb_layout_object_bytes(slices, UINT32_MAX);
        CU_ASSERT_EQUAL(tgb_layout_make(most, slices, &layout), TGB_OK);
        CU_ASSERT_EQUAL(tgb_layout_make(most + slices, slices, &layout), TGB_BAD_SIZE);
        CU_ASSERT_EQUAL(tgb_layout_make(UINT64_MAX, slices, &layout), TGB_BAD_SIZE);
    }
}

/* The bound of the data plane: 1 MiB and more cost 2 % at most. */
static void a_range_is_hardly_more_than_its_slice(void)
{
    struct tgb_layout layout;
    for (uint32_t slices = 1; slices <= 1024; slices *= 2) {
        uint64_t bytes = tgb_layout_object_bytes(slices, 1U << 20);
        CU_ASSERT_EQUAL(tgb_layout_make(bytes, slices, &layout), TGB_OK);
        CU_ASSERT((double)layout.slot_bytes <= 1.0001 * (1U << 20));
        CU_ASSERT((double)bytes <= 1.0002 * (1U << 20) * slices);
    }
}

static void each_rank_reads_its_slice_from_its_range_alone(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    static uint8_t expected[OBJECT_BYTES_MAX];
    struct random_stream stream = random_stream_make(2, 1);
    uint32_t wrong = 0;
    for (int i = 0; i < 300; i++) {
        struct tgb_mesh mesh = {.data = 1 + (uint32_t)(random_next(&stream) % 8),
                                .context = 1 + (uint32_t)(random_next(&stream) % 4)};
        uint64_t size =
            tgb_layout_object_bytes(tgb_mesh_slices(mesh), 1) + random_next(&stream) % 5000;
        struct tgb_object object = object_of(mesh, size, bytes);
        tgb_object_fill(&object);
        uint32_t capacity = tgb_layout_capacity(&object.layout);
        for (uint32_t j = 0; j < object.layout.slices; j++) {
            struct tgb_place place = place_of(&object, j);
            struct tgb_slice slice = {0};
            const uint8_t *stored = NULL;
            uint8_t *range = malloc(object.layout.slot_bytes);
            memcpy(range, bytes + tgb_layout_offset(&object.layout, j), object.layout.slot_bytes);
            wrong +=
                tgb_slice_open(range, object.layout.slot_bytes, &place, &slice, &stored) != TGB_OK;
            tgb_payload_fill(5, 17, (uint64_t)j * capacity, capacity, expected);
            wrong += slice.raw_bytes != capacity || memcmp(stored, expected, capacity) != 0;
            free(range);
        }
        wrong += tgb_index_check(bytes, mesh, &object.layout, &name) != TGB_OK;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static enum tgb_error open_slot(const struct tgb_object *object, const struct tgb_place *place,
                                uint64_t bytes)
{
    struct tgb_slice slice;
    const uint8_t *stored;
    uint8_t *range = malloc(bytes + 1);
    memcpy(range, object->bytes + tgb_layout_offset(&object->layout, 1), bytes);
    enum tgb_error error = tgb_slice_open(range, bytes, place, &slice, &stored);
    free(range);
    return error;
}

static void a_slice_that_is_not_the_one_asked_for_is_named(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_object object = object_of((struct tgb_mesh){2, 2}, 700, bytes);
    tgb_object_fill(&object);
    struct tgb_place place = place_of(&object, 1);
    uint64_t slot_bytes = object.layout.slot_bytes;
    CU_ASSERT_EQUAL(open_slot(&object, &place, slot_bytes), TGB_OK);
    place.slice = 2;
    CU_ASSERT_EQUAL(open_slot(&object, &place, slot_bytes), TGB_WRONG_SLICE);
    place = (struct tgb_place){.name = &name, .slices = 8, .slice = 1};
    CU_ASSERT_EQUAL(open_slot(&object, &place, slot_bytes), TGB_WRONG_MESH);
    struct tgb_name others[] = {name, name, name};
    others[0].producer++;
    others[1].epoch++;
    others[2].sequence++;
    for (size_t i = 0; i < HARNESS_COUNT(others); i++) {
        place = (struct tgb_place){.name = &others[i], .slices = 4, .slice = 1};
        CU_ASSERT_EQUAL(open_slot(&object, &place, slot_bytes), TGB_BAD_CHECKSUM);
    }
}

static void every_truncated_slice_is_refused(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_object object = object_of((struct tgb_mesh){2, 1}, 900, bytes);
    tgb_object_fill(&object);
    struct tgb_place place = place_of(&object, 1);
    for (uint64_t i = 0; i < object.layout.slot_bytes; i++)
        CU_ASSERT_NOT_EQUAL(open_slot(&object, &place, i), TGB_OK);
}

static void every_flipped_bit_of_a_slice_is_seen(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_object object = object_of((struct tgb_mesh){2, 1}, 500, bytes);
    tgb_object_fill(&object);
    struct tgb_place place = place_of(&object, 1);
    uint64_t slot = tgb_layout_offset(&object.layout, 1);
    for (uint64_t bit = 0; bit < 8 * object.layout.slot_bytes; bit++) {
        bytes[slot + bit / 8] ^= (uint8_t)(1U << bit % 8);
        CU_ASSERT_NOT_EQUAL(open_slot(&object, &place, object.layout.slot_bytes), TGB_OK);
        bytes[slot + bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

/* Headers under valid checksums that claim more than there is. */
static void claims_beyond_the_slot_are_refused(void)
{
    static uint8_t slot[256];
    struct tgb_place place = {.name = &name, .slices = 4, .slice = 1};
    struct tgb_slice claim = {.coding = TGB_ZSTD, .raw_bytes = UINT32_MAX, .stored_bytes = 100};
    struct tgb_slice slice;
    const uint8_t *stored;
    tgb_slice_encode(&place, &claim, slot + TGB_SLICE_HEADER_BYTES, slot);
    CU_ASSERT_EQUAL(tgb_slice_open(slot, sizeof(slot), &place, &slice, &stored), TGB_BAD_CODING);
    CU_ASSERT_EQUAL(tgb_slice_open(slot, 131, &place, &slice, &stored), TGB_BAD_FIELD);
    wire_put32(slot + 20, UINT32_MAX);
    CU_ASSERT_EQUAL(tgb_slice_open(slot, sizeof(slot), &place, &slice, &stored), TGB_BAD_FIELD);
    wire_put32(slot + 20, 100);
    wire_put32(slot + 12, TGB_PLAIN);
    CU_ASSERT_EQUAL(tgb_slice_open(slot, sizeof(slot), &place, &slice, &stored), TGB_BAD_FIELD);
    wire_put32(slot + 12, TGB_ZSTD + 1);
    CU_ASSERT_EQUAL(tgb_slice_open(slot, sizeof(slot), &place, &slice, &stored), TGB_BAD_FIELD);
}

static void an_index_says_whose_it_is(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_mesh mesh = {3, 2};
    struct tgb_object object = object_of(mesh, 1000, bytes);
    tgb_object_fill(&object);
    struct tgb_index index;
    CU_ASSERT_EQUAL(tgb_index_peek(bytes, TGB_INDEX_HEADER_BYTES - 1, &index), TGB_TRUNCATED);
    CU_ASSERT_EQUAL_FATAL(tgb_index_peek(bytes, TGB_INDEX_HEADER_BYTES, &index), TGB_OK);
    CU_ASSERT_EQUAL(index.mesh.data, 3);
    CU_ASSERT_EQUAL(index.mesh.context, 2);
    CU_ASSERT_EQUAL(index.object_bytes, 1000);
    CU_ASSERT_EQUAL(index.producer, 5);
    CU_ASSERT_EQUAL(index.epoch, 2);
    CU_ASSERT_EQUAL(index.sequence, 17);
    /* As many slices, but cut otherwise: only the index shows it. */
    struct tgb_mesh turned = {2, 3};
    CU_ASSERT_EQUAL(tgb_index_check(bytes, turned, &object.layout, &name), TGB_WRONG_MESH);
    struct tgb_layout fewer;
    CU_ASSERT_EQUAL(tgb_layout_make(1000, 1, &fewer), TGB_OK);
    struct tgb_mesh one = {1, 1};
    CU_ASSERT_EQUAL(tgb_index_check(bytes, one, &fewer, &name), TGB_WRONG_MESH);
    struct tgb_name other = name;
    other.sequence--;
    CU_ASSERT_EQUAL(tgb_index_check(bytes, mesh, &object.layout, &other), TGB_WRONG_TGB);
    struct tgb_layout longer;
    CU_ASSERT_EQUAL(tgb_layout_make(1001, 6, &longer), TGB_OK);
    CU_ASSERT_EQUAL(tgb_index_check(bytes, mesh, &longer, &name), TGB_BAD_FIELD);
    bytes[8] = TGB_FORMAT + 1;
    CU_ASSERT_EQUAL(tgb_index_check(bytes, mesh, &object.layout, &name), TGB_BAD_FORMAT);
}

/* What no writer writes, seen before any checksum: D, C and their product, and what must be zero.
 */
static void an_index_whose_fields_contradict_each_other_is_refused(void)
{
    static const struct {
        uint32_t data;
        uint32_t context;
        uint32_t slices;
        uint8_t zero;
        enum tgb_error error;
    } rows[] = {
        {3, 2, 6, 0, TGB_OK},        {2, 3, 6, 0, TGB_OK},        {3, 2, 5, 0, TGB_BAD_FIELD},
        {3, 2, 7, 0, TGB_BAD_FIELD}, {3, 2, 0, 0, TGB_BAD_FIELD}, {0, 0, 0, 0, TGB_BAD_FIELD},
        {0, 2, 0, 0, TGB_BAD_FIELD}, {3, 0, 0, 0, TGB_BAD_FIELD}, {3, 2, 6, 1, TGB_BAD_FIELD},
    };
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_object object = object_of((struct tgb_mesh){3, 2}, 1000, bytes);
    tgb_object_fill(&object);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct tgb_index index;
        uint8_t *out = wire_put32(bytes + 12, rows[i].data);
        out = wire_put32(out, rows[i].context);
        wire_put32(out, rows[i].slices);
        bytes[48] = rows[i].zero;
        CU_ASSERT_EQUAL(tgb_index_peek(bytes, TGB_INDEX_HEADER_BYTES, &index), rows[i].error);
    }
}

static void every_flipped_bit_of_an_index_is_seen(void)
{
    static uint8_t bytes[OBJECT_BYTES_MAX];
    struct tgb_mesh mesh = {2, 2};
    struct tgb_object object = object_of(mesh, 500, bytes);
    tgb_object_fill(&object);
    for (uint64_t bit = 0; bit < 8 * object.layout.index_bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        CU_ASSERT_NOT_EQUAL(tgb_index_check(bytes, mesh, &object.layout, &name), TGB_OK);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    CU_ASSERT_EQUAL(tgb_index_check(bytes, mesh, &object.layout, &name), TGB_OK);
}

const struct harness_test tgb_tests[] = {
    HARNESS_TEST(a_mesh_is_none_or_has_both_sides),
    HARNESS_TEST(slots_follow_each_other_and_fill_the_object),
    HARNESS_TEST(sizes_that_do_not_fit_are_refused),
    HARNESS_TEST(a_range_is_hardly_more_than_its_slice),
    HARNESS_TEST(each_rank_reads_its_slice_from_its_range_alone),
    HARNESS_TEST(a_slice_that_is_not_the_one_asked_for_is_named),
    HARNESS_TEST(every_truncated_slice_is_refused),
    HARNESS_TEST(every_flipped_bit_of_a_slice_is_seen),
    HARNESS_TEST(claims_beyond_the_slot_are_refused),
    HARNESS_TEST(an_index_says_whose_it_is),
    HARNESS_TEST(an_index_whose_fields_contradict_each_other_is_refused),
    HARNESS_TEST(every_flipped_bit_of_an_index_is_seen),
    {0},
};
