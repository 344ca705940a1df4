/* codec_store_test.c - references above, bytes below. */
#include "core/codec_store.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/name.h"
#include "core/tgb_payload.h"
#include "tests/core/chains.h"
#include "tests/core/scripted_store.h"
#include "tests/harness.h"

struct bench {
    struct manual_loop loop;
    struct scripted_store *store;
    struct store *codec;
    struct store_op op;
    uint32_t done;
};

static void on_done(struct store_op *op, void *context)
{
    (void)op;
    struct bench *bench = context;
    bench->done++;
}

static void bench_open(struct bench *bench, bool payload)
{
    struct codec_store_options options = {.payload = payload};
    manual_loop_init(&bench->loop);
    bench->store = scripted_store_open(&bench->loop, NS_PER_MS);
    bench->codec = codec_store_open(scripted_store_port(bench->store), &options);
    store_op_init(&bench->op);
    bench->op.done = on_done;
    bench->op.context = bench;
    bench->done = 0;
}

static void bench_close(struct bench *bench)
{
    store_op_deinit(&bench->op);
    store_close(bench->codec);
    scripted_store_close(bench->store);
}

static enum store_outcome perform(struct bench *bench, enum store_verb verb, struct body body)
{
    store_op_release(&bench->op);
    bench->op.verb = verb;
    bench->op.body = body;
    uint32_t before = bench->done;
    store_submit(bench->codec, &bench->op);
    CU_ASSERT_EQUAL(bench->done, before); /* never from inside submit */
    while (manual_loop_step(&bench->loop))
        continue;
    CU_ASSERT_EQUAL(bench->done, before + 1);
    return bench->op.outcome;
}

static void manifest_goes_in_as_a_reference_and_comes_out_equal(void)
{
    static struct bench bench;
    struct random_stream stream = random_stream_make(1, 1);
    bench_open(&bench, true);
    struct manifest *sent = chain_random(&stream);
    uint64_t bytes = manifest_encoded_bytes(sent);
    name_version(bench.op.key, sent->version);
    struct body body = {.kind = BODY_MANIFEST, .bytes = bytes, .manifest = sent};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT_IF_ABSENT, body), STORE_OK);
    CU_ASSERT_NOT_EQUAL(sent->checksum, 0);
    CU_ASSERT_EQUAL(bench.op.body_checksum, sent->checksum);
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT_IF_ABSENT, body), STORE_EXISTS);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL_FATAL(bench.op.result.kind, BODY_MANIFEST);
    CU_ASSERT_EQUAL(bench.op.result.bytes, bytes);
    CU_ASSERT_EQUAL(bench.op.result.manifest->checksum, sent->checksum);
    CU_ASSERT_TRUE(chain_equal(sent, bench.op.result.manifest));
    /* A probe is for one byte, which is no manifest. */
    bench.op.range_bytes = 1;
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL(bench.op.result.kind, BODY_BYTES);
    CU_ASSERT_EQUAL(bench.op.result.bytes, 1);
    manifest_release(sent);
    bench_close(&bench);
}

static void part_of_a_manifest_is_decoded_where_it_is_enough(void)
{
    static struct bench bench;
    struct random_stream stream = random_stream_make(4, 1);
    bench_open(&bench, true);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest *sent = chain_append(genesis, &stream, 1, 9, 1);
    name_version(bench.op.key, sent->version);
    struct body body = {
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(sent), .manifest = sent};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT_IF_ABSENT, body), STORE_OK);
    bench.op.entries_first = 3;
    bench.op.entries_next = 7;
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL_FATAL(bench.op.result.kind, BODY_MANIFEST);
    const struct manifest *part = bench.op.result.manifest;
    CU_ASSERT(part->held.first_step == 3 && part->held.next_step == 7);
    CU_ASSERT(part->first_step == 1 && part->next_step == 10);
    CU_ASSERT_EQUAL(bench.op.result.bytes, body.bytes);
    manifest_release(sent);
    manifest_release(genesis);
    bench_close(&bench);
}

static void damaged_manifest_is_an_error_that_names_it(void)
{
    static struct bench bench;
    bench_open(&bench, true);
    uint8_t junk[200] = "LKSMANIF";
    name_version(bench.op.key, 5);
    struct body body = {.kind = BODY_BYTES, .bytes = sizeof(junk), .data = junk};
    CU_ASSERT_TRUE(scripted_store_create(bench.store, bench.op.key, &body));
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(bench.op.error, bench.op.key));
    CU_ASSERT_TRUE(bench.op.damaged);
    CU_ASSERT_EQUAL(bench.op.result.kind, BODY_NONE);
    CU_ASSERT_EQUAL(perform(&bench, STORE_DELETE, (struct body){0}), STORE_OK);
    CU_ASSERT_FALSE(bench.op.damaged);
    bench_close(&bench);
}

static void length_of_a_tgb_becomes_its_payload(void)
{
    static struct bench bench;
    bench_open(&bench, true);
    struct tgb_name name = {
        .bucket = 1, .sequence = 5, .end_offset = 999, .producer = 2, .epoch = 1};
    name_tgb(bench.op.key, &name);
    struct body body = {.kind = BODY_LENGTH, .bytes = 333};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, body), STORE_OK);
    uint64_t checksum = bench.op.body_checksum;
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL(bench.op.result.bytes, 333);
    CU_ASSERT_EQUAL(tgb_payload_check(2, 5, 333, bench.op.result.data), 333);
    CU_ASSERT_EQUAL(checksum, XXH3_64bits(bench.op.result.data, 333));
    bench_close(&bench);
    bench_open(&bench, false);
    name_tgb(bench.op.key, &name);
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, body), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL(bench.op.result.kind, BODY_LENGTH);
    bench_close(&bench);
}

/* A run of a mesh: each rank asks for the range that the size alone gives. */
static void length_of_a_tgb_becomes_slices_that_ranges_read(void)
{
    static struct bench bench;
    struct codec_store_options options = {.payload = true, .mesh = {.data = 4, .context = 2}};
    bench_open(&bench, true);
    store_close(bench.codec);
    bench.codec = codec_store_open(scripted_store_port(bench.store), &options);
    struct tgb_name name = {
        .bucket = 1, .sequence = 5, .end_offset = 9000, .producer = 2, .epoch = 1};
    name_tgb(bench.op.key, &name);
    struct body body = {.kind = BODY_LENGTH, .bytes = 3003};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, body), STORE_OK);
    uint64_t checksum = bench.op.body_checksum;
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
    CU_ASSERT_EQUAL_FATAL(bench.op.result.bytes, 3003);
    CU_ASSERT_EQUAL(checksum, XXH3_64bits(bench.op.result.data, 3003));
    struct tgb_layout layout;
    CU_ASSERT_EQUAL_FATAL(tgb_layout_make(3003, 8, &layout), TGB_OK);
    uint32_t raw_bytes = tgb_layout_capacity(&layout);
    for (uint32_t i = 0; i < 8; i++) {
        struct tgb_place place = {.name = &name, .slices = 8, .slice = i};
        struct tgb_slice slice = {0};
        const uint8_t *stored = NULL;
        bench.op.range_offset = tgb_layout_offset(&layout, i);
        bench.op.range_bytes = layout.slot_bytes;
        CU_ASSERT_EQUAL(perform(&bench, STORE_GET, (struct body){0}), STORE_OK);
        CU_ASSERT_EQUAL_FATAL(
            tgb_slice_open(bench.op.result.data, bench.op.result.bytes, &place, &slice, &stored),
            TGB_OK);
        CU_ASSERT_EQUAL(slice.raw_bytes, raw_bytes);
        CU_ASSERT_EQUAL(XXH3_64bits(stored, raw_bytes),
                        tgb_payload_hash(2, 5, (uint64_t)i * raw_bytes, raw_bytes));
    }
    bench_close(&bench);
}

static void listings_pass_through(void)
{
    static struct bench bench;
    bench_open(&bench, true);
    scripted_store_raise_floor(bench.store, (struct floor){.version = 3, .step = 4});
    memcpy(bench.op.key, NAME_MANIFEST_PREFIX, sizeof(NAME_MANIFEST_PREFIX));
    bench.op.list_keys_max = 10;
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(perform(&bench, STORE_LIST, (struct body){0}), STORE_OK);
        CU_ASSERT_EQUAL(bench.op.page.count, 1);
    }
    bench_close(&bench);
}

static void closing_with_requests_in_flight_frees_them(void)
{
    static struct bench bench;
    bench_open(&bench, true);
    struct tgb_name name = {
        .bucket = 1, .sequence = 5, .end_offset = 999, .producer = 2, .epoch = 1};
    name_tgb(bench.op.key, &name);
    bench.op.verb = STORE_PUT;
    bench.op.body = (struct body){.kind = BODY_LENGTH, .bytes = 333};
    store_submit(bench.codec, &bench.op);
    scripted_store_cut(bench.store, 1);
    store_close(bench.codec);
    while (manual_loop_step(&bench.loop))
        continue;
    CU_ASSERT_EQUAL(bench.done, 0);
    CU_ASSERT_TRUE(scripted_store_has(bench.store, bench.op.key));
    store_op_deinit(&bench.op);
    scripted_store_close(bench.store);
}

const struct harness_test codec_store_tests[] = {
    HARNESS_TEST(manifest_goes_in_as_a_reference_and_comes_out_equal),
    HARNESS_TEST(part_of_a_manifest_is_decoded_where_it_is_enough),
    HARNESS_TEST(damaged_manifest_is_an_error_that_names_it),
    HARNESS_TEST(length_of_a_tgb_becomes_its_payload),
    HARNESS_TEST(length_of_a_tgb_becomes_slices_that_ranges_read),
    HARNESS_TEST(listings_pass_through),
    HARNESS_TEST(closing_with_requests_in_flight_frees_them),
    {0},
};
