/* consumer_fetch_test.c - slices: one request each, in order, within the budget, and never a wrong
 * byte. */
#include "core/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "core/tgb_object.h"
#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 2, .context = 2};
static const struct tgb_mesh mesh_none = {0};

static void follow_to_the_end(struct tgb_mesh mesh, enum body_kind body, uint32_t slice)
{
    struct rig rig;
    rig_init(&rig, mesh, body);
    rig_commit(&rig, 3);
    rig_commit(&rig, 5);
    struct rank rank;
    rank_begin(&rank, &rig, slice);
    rank_until_taken(&rank, 8);
    const struct consumer_counters *counters = &rank_machine(&rank)->counters;
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 9, slice));
    CU_ASSERT_EQUAL(counters->steps, 8);
    CU_ASSERT_EQUAL(counters->requests[CONSUMER_REQUEST_SLICE], 8);
    uint64_t wire_bytes = rig.object_bytes;
    uint64_t raw_bytes = wire_bytes;
    if (tgb_mesh_slices(mesh) > 0) {
        struct tgb_layout layout;
        CU_ASSERT_EQUAL(tgb_layout_make(rig.object_bytes, tgb_mesh_slices(mesh), &layout), TGB_OK);
        wire_bytes = layout.slot_bytes;
        raw_bytes = tgb_layout_capacity(&layout);
    }
    CU_ASSERT_EQUAL(counters->bytes[CONSUMER_REQUEST_SLICE], 8 * wire_bytes);
    CU_ASSERT_EQUAL(counters->slice_bytes, 8 * raw_bytes);
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void each_rank_gets_its_slice_by_one_request(void)
{
    for (uint32_t slice = 0; slice < 4; slice++)
        follow_to_the_end(mesh_4, BODY_BYTES, slice);
}

static void of_lengths_only_lengths_are_checked(void)
{
    follow_to_the_end(mesh_4, BODY_LENGTH, 3);
    follow_to_the_end(mesh_none, BODY_LENGTH, 0);
}

static void plain_tgb_is_one_slice(void)
{
    follow_to_the_end(mesh_none, BODY_BYTES, 0);
}

/* Of a plain TGB the manifest and the digest want the same checksum. */
static void plain_tgb_is_hashed_once_when_it_arrives(void)
{
    struct rig rig;
    rig_init(&rig, mesh_none, BODY_BYTES);
    rig_commit(&rig, 2);
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 0);
    rank_open(&rank, &rig, &options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
    rank_until_ready(&rank);
    rig_until_ns(&rig, rig.loop.now_ns + NS_PER_S);
    const struct fetch *second = &rank_machine(&rank)->fetches[2 % options.fetches_max];
    CU_ASSERT_EQUAL(second->state, FETCH_ARRIVED);
    CU_ASSERT_EQUAL(second->delivery.slice_checksum, second->delivery.entry.tgb_checksum);
    second->op.result.data[0] ^= 1; /* nobody looks at the bytes again */
    rank_take(&rank);
    rank_until_ready(&rank);
    rank_take(&rank);
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 3, 0));
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* on_ready in the rig checks the order of steps. */
static void late_arrivals_are_handed_over_in_order(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 8);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .times = 1, ANSWER(STORE_UNKNOWN)});
    rig_script(&rig,
               (struct rule){.kind = READ_TGB, .skip = 2, .times = 2, ANSWER(STORE_THROTTLED)});
    struct rank rank;
    rank_begin(&rank, &rig, 1);
    rank_until_taken(&rank, 8);
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 9, 1));
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.retried, 3);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.requests[CONSUMER_REQUEST_SLICE], 11);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* ---- budget ---- */

/* The most that was ever held, while a rank takes by hand, slowly. */
static uint64_t most_held(struct rig *rig, const struct consumer_options *options)
{
    uint64_t most = 0;
    struct rank rank;
    rank_open(&rank, rig, options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
    for (uint64_t step = 1; step <= 8; step++) {
        rank_until_ready(&rank);
        for (int i = 0; i < 40; i++) { /* whatever else would arrive does */
            manual_loop_step(&rig->loop);
            const struct consumer *consumer = rank_machine(&rank);
            uint64_t held = consumer->next_fetch - consumer->cursor;
            most = held > most ? held : most;
            CU_ASSERT(consumer->window_bytes <= options->prefetch_bytes || held == 1);
        }
        rank_take(&rank);
    }
    rank_stop(&rank);
    return most;
}

static void window_holds_the_budget_and_one_slice_at_least(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 8);
    struct tgb_layout layout;
    CU_ASSERT_EQUAL(tgb_layout_make(rig.object_bytes, 4, &layout), TGB_OK);
    struct consumer_options options = rig_options(&rig, 0);
    options.prefetch_bytes = 3 * layout.slot_bytes - 1;
    CU_ASSERT_EQUAL(most_held(&rig, &options), 2);
    options = rig_options(&rig, 0);
    options.prefetch_bytes = 3 * layout.slot_bytes;
    CU_ASSERT_EQUAL(most_held(&rig, &options), 3);
    options = rig_options(&rig, 0);
    options.prefetch_bytes = 1;
    CU_ASSERT_EQUAL(most_held(&rig, &options), 1);
    options = rig_options(&rig, 0);
    CU_ASSERT_EQUAL(most_held(&rig, &options), options.fetches_max);
    rig_deinit(&rig);
}

static void no_more_is_fetched_than_will_be_used(void)
{
    struct rig rig;
    struct rank rank = {0};
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 8);
    struct consumer_options options = rig_options(&rig, 0);
    options.membership.start_step = 3;
    options.steps_max = 4;
    rank_open(&rank, &rig, &options);
    rank_start(&rank);
    rank_until_taken(&rank, 4);
    for (int i = 0; i < 40; i++) /* whatever else would be asked for is */
        manual_loop_step(&rig.loop);
    CU_ASSERT_EQUAL(rank_machine(&rank)->cursor, 7);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.requests[CONSUMER_REQUEST_SLICE], 4);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* ---- damage ---- */

struct repair {
    struct rig *rig;
    uint64_t step;
    uint64_t offset;
};

static void damage_or_repair(struct scripted_store *store, void *context)
{
    (void)store;
    struct repair *repair = context;
    rig_damage(repair->rig, repair->step, repair->offset);
}

static void damaged_slice_is_asked_for_again(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 2);
    struct repair repair = {.rig = &rig, .step = 1, .offset = 1500};
    rig_damage(&rig, 1, 1500);
    rig_script(&rig, (struct rule){.kind = READ_TGB,
                                   .skip = 3, /* step 1, step 2, step 1 again */
                                   .times = 1,
                                   .before = damage_or_repair,
                                   .context = &repair});
    struct rank rank;
    rank_begin(&rank, &rig, 1);
    rank_until_taken(&rank, 2);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.damaged, 2);
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 3, 1));
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void expect_corrupt(struct rig *rig, uint32_t slice, const char *what, uint64_t requests)
{
    struct rank rank;
    rank_begin(&rank, rig, slice);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_CORRUPT);
    CU_ASSERT(strstr(rank.end_text, what) != NULL);
    char key[STORE_KEY_MAX];
    rig_key(rig, 1, key);
    CU_ASSERT(strstr(rank.end_text, key) != NULL);
    CU_ASSERT_EQUAL(rank.taken, 0);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.requests[CONSUMER_REQUEST_SLICE], requests);
    rank_close(&rank);
}

static void damage_that_stays_names_object_and_range(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    struct tgb_layout layout;
    CU_ASSERT_EQUAL(tgb_layout_make(rig.object_bytes, 4, &layout), TGB_OK);
    uint64_t first = tgb_layout_offset(&layout, 2);
    rig_damage(&rig, 1, first + layout.slot_bytes - 1);
    char range[160];
    snprintf(range, sizeof(range),
             "slice 2, bytes %llu..%llu: asked 4 times: its checksum does not match its bytes; "
             "restore it, or start behind it, at step 2",
             (unsigned long long)first, (unsigned long long)(first + layout.slot_bytes - 1));
    expect_corrupt(&rig, 2, range, 4);
    /* The slice beside it is whole. */
    struct rank other;
    rank_begin(&other, &rig, 1);
    rank_until_taken(&other, 1);
    rank_stop(&other);
    rig_deinit(&rig);
}

/* However long an outage is waited for. */
static void damage_is_given_up_before_an_outage_is(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    rig_damage(&rig, 1, 1500);
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 1);
    options.fetch_retries = 64;
    rank_open(&rank, &rig, &options);
    rank_start(&rank);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_CORRUPT);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.requests[CONSUMER_REQUEST_SLICE],
                    1 + CONSUMER_DAMAGED_MAX);
    rank_close(&rank);
    rig_deinit(&rig);
}

static void damaged_plain_tgb_is_found_by_the_manifest(void)
{
    struct rig rig;
    rig_init(&rig, mesh_none, BODY_BYTES);
    rig_commit(&rig, 1);
    rig_damage(&rig, 1, 77);
    expect_corrupt(&rig, 0, "its checksum does not match", 4);
    rig_deinit(&rig);
}

static void object_that_is_too_short_is_damaged(void)
{
    static const enum body_kind kinds[] = {BODY_BYTES, BODY_LENGTH};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct rig rig;
        rig_init(&rig, mesh_4, kinds[i]);
        rig_commit(&rig, 1);
        char key[STORE_KEY_MAX];
        rig_key(&rig, 1, key);
        scripted_store_body(rig.store, key)->bytes -= 5;
        expect_corrupt(&rig, 3, "shorter than its manifest says", 4);
        rig_deinit(&rig);
    }
}

static void slice_of_another_tgb_is_not_taken(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 2);
    char first[STORE_KEY_MAX];
    char second[STORE_KEY_MAX];
    rig_key(&rig, 1, first);
    rig_key(&rig, 2, second);
    memcpy(scripted_store_body(rig.store, first)->data,
           scripted_store_body(rig.store, second)->data, rig.object_bytes);
    struct consumer_options options = rig_options(&rig, 0);
    options.fetches_max = 1;
    struct rank rank;
    rank_open(&rank, &rig, &options);
    rank_start(&rank);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_CORRUPT);
    CU_ASSERT_EQUAL(rank.taken, 0);
    rank_close(&rank);
    rig_deinit(&rig);
}

static void wrong_number_of_slices_is_told(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    struct tgb_mesh mesh = {.data = 8, .context = 1};
    rig.mesh = mesh;
    expect_corrupt(&rig, 0, "asked 4 times", 4);
    mesh.data = 200;
    rig.mesh = mesh;
    expect_corrupt(&rig, 0, "should hold 200 slices: its size does not fit", 0);
    rig_deinit(&rig);
}

/* ---- compressed ---- */

/* Every slice of step 1 is zeros, compressed. */
static void compress(struct rig *rig, uint32_t raw_bytes)
{
    char key[STORE_KEY_MAX];
    rig_key(rig, 1, key);
    struct tgb_object object = {.mesh = rig->mesh,
                                .name = manifest_entry_find(rig->newest, 1)->tgb,
                                .bytes = scripted_store_body(rig->store, key)->data};
    CU_ASSERT_EQUAL(tgb_layout_make(rig->object_bytes, 4, &object.layout), TGB_OK);
    uint8_t *zeros = calloc(1, raw_bytes);
    assert(zeros != NULL);
    struct tgb_raw raw = {.bytes = zeros, .count = raw_bytes, .level = 1};
    for (uint32_t slice = 0; slice < 4; slice++)
        CU_ASSERT_EQUAL(tgb_object_compress_slice(&object, slice, &raw), TGB_OK);
    tgb_object_seal(&object);
    rig->other_payload = true;
    free(zeros);
}

static void compressed_slice_is_expanded_only_when_it_is_its_turn(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    compress(&rig, 1 << 20);
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 3);
    rank_open(&rank, &rig, &options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
    rank_until_ready(&rank);
    CU_ASSERT_EQUAL_FATAL(rank.ready->slice.bytes, 1 << 20);
    uint64_t zeros = 0;
    for (uint64_t i = 0; i < rank.ready->slice.bytes; i++)
        zeros += rank.ready->slice.data[i] == 0;
    CU_ASSERT_EQUAL(zeros, 1 << 20);
    rank_take(&rank);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.slice_bytes, 1 << 20);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* Slice 0 of step 1 holds these bytes under a valid checksum. */
static void store_slice(struct rig *rig, const uint8_t *stored, uint32_t stored_bytes,
                        uint32_t raw_bytes)
{
    char key[STORE_KEY_MAX];
    rig_key(rig, 1, key);
    uint8_t *bytes = scripted_store_body(rig->store, key)->data;
    struct tgb_layout layout;
    CU_ASSERT_EQUAL(tgb_layout_make(rig->object_bytes, 4, &layout), TGB_OK);
    struct tgb_place place = {.name = &manifest_entry_find(rig->newest, 1)->tgb, .slices = 4};
    struct tgb_slice slice = {
        .coding = TGB_ZSTD, .raw_bytes = raw_bytes, .stored_bytes = stored_bytes};
    uint8_t *slot = bytes + tgb_layout_offset(&layout, 0);
    memcpy(slot + TGB_SLICE_HEADER_BYTES, stored, stored_bytes);
    tgb_slice_encode(&place, &slice, stored, slot);
}

/* A frame of zstd that claims so many bytes and holds none of them. */
static void expect_bad_frame(uint32_t claimed, const char *text)
{
    uint8_t frame[20] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
    for (int i = 0; i < 4; i++)
        frame[5 + i] = (uint8_t)(claimed >> (8 * i));
    memset(frame + 9, 0xff, sizeof(frame) - 9);
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    store_slice(&rig, frame, sizeof(frame), claimed);
    expect_corrupt(&rig, 0, text, 4);
    rig_deinit(&rig);
}

static void compressed_slice_that_does_not_expand_is_damaged(void)
{
    expect_bad_frame(4096, "do not decompress");
    expect_bad_frame((UINT32_C(1) << 30) + 1, "more than 1 GiB");
}

/* ---- the store ---- */

static void slice_without_an_answer_is_given_up_in_the_end(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .times = 3, ANSWER(STORE_UNKNOWN)});
    struct rank passes;
    rank_begin(&passes, &rig, 0);
    rank_until_taken(&passes, 1);
    rank_stop(&passes);
    rig_script(&rig, (struct rule){.kind = READ_TGB, ANSWER(STORE_UNKNOWN)});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_STORE_FAILED);
    CU_ASSERT(strstr(rank.end_text, "asked 4 times") != NULL);
    rank_close(&rank);
    rig_deinit(&rig);
}

static void refused_slice_ends_at_once(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .skip = 2, ANSWER(STORE_FAILED)});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_STORE_FAILED);
    CU_ASSERT(strstr(rank.end_text, "(step 3)") != NULL);
    CU_ASSERT_EQUAL(rank_machine(&rank)->fetches_flying, 0);
    rank_close(&rank);
    rig_deinit(&rig);
}

const struct harness_test consumer_fetch_tests[] = {
    HARNESS_TEST(each_rank_gets_its_slice_by_one_request),
    HARNESS_TEST(of_lengths_only_lengths_are_checked),
    HARNESS_TEST(plain_tgb_is_one_slice),
    HARNESS_TEST(plain_tgb_is_hashed_once_when_it_arrives),
    HARNESS_TEST(late_arrivals_are_handed_over_in_order),
    HARNESS_TEST(window_holds_the_budget_and_one_slice_at_least),
    HARNESS_TEST(no_more_is_fetched_than_will_be_used),
    HARNESS_TEST(damaged_slice_is_asked_for_again),
    HARNESS_TEST(damage_that_stays_names_object_and_range),
    HARNESS_TEST(damage_is_given_up_before_an_outage_is),
    HARNESS_TEST(damaged_plain_tgb_is_found_by_the_manifest),
    HARNESS_TEST(object_that_is_too_short_is_damaged),
    HARNESS_TEST(slice_of_another_tgb_is_not_taken),
    HARNESS_TEST(wrong_number_of_slices_is_told),
    HARNESS_TEST(compressed_slice_is_expanded_only_when_it_is_its_turn),
    HARNESS_TEST(compressed_slice_that_does_not_expand_is_damaged),
    HARNESS_TEST(slice_without_an_answer_is_given_up_in_the_end),
    HARNESS_TEST(refused_slice_ends_at_once),
    {0},
};
