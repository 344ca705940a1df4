/* reader_checker_test.c - a rank that is given what is committed passes; each way to be given
 * something else is caught, and named. */
#include "sim/reader_checker.h"

#include <stdio.h>
#include <string.h>

#include "core/digest_chain.h"
#include "core/tgb.h"
#include "core/tgb_payload.h"
#include "tests/harness.h"

#define SLICES 4
#define RANK 2
#define TGB_BYTES 1000
#define STEPS 6
#define KEPT 3 /* checkpoints */
#define SLICE_MAX 1024

struct bench {
    struct violations violations;
    struct committed_order order;
    struct chain_checker chain;
    struct reclaim_checker reclaim;
    struct rank_holds holds;
    struct reader_checker reader;
    uint8_t bytes[SLICE_MAX];
};

static const struct checkpoint_set nothing;

static struct manifest_entry entry_of(uint64_t step)
{
    return (struct manifest_entry){
        .tgb = {.bucket = 1, .sequence = step, .end_offset = step * TGB_BYTES, .epoch = 1},
        .tgb_bytes = TGB_BYTES};
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    reclaim_checker_init(&bench->reclaim, &bench->order, &bench->chain, &bench->violations);
    bench->holds.reclaim = &bench->reclaim;
    bench->reader = (struct reader_checker){.order = &bench->order,
                                            .holds = &bench->holds,
                                            .violations = &bench->violations,
                                            .slices = SLICES};
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_entry entries[STEPS];
    for (uint64_t i = 0; i < STEPS; i++)
        entries[i] = entry_of(i + 1);
    struct manifest_change change = {
        .author = {.epoch = 1}, .entry_count = STEPS, .entries = entries};
    struct manifest *newest = manifest_append(genesis, &change);
    committed_order_version(&bench->order, newest);
    manifest_release(newest);
    manifest_release(genesis);
}

/* What a rank is rightly given at that step: with bytes or with their number. */
static struct consumer_delivery delivery_of(struct bench *bench, uint64_t step, enum body_kind kind)
{
    struct consumer_delivery delivery = {.step = step, .entry = entry_of(step)};
    struct tgb_layout layout;
    enum tgb_error error = tgb_layout_make(TGB_BYTES, SLICES, &layout);
    assert(error == TGB_OK);
    uint64_t count = tgb_layout_capacity(&layout);
    assert(count <= SLICE_MAX);
    delivery.slice = (struct body){.kind = kind, .bytes = count};
    delivery.slice_checksum = digest_chain_length(&delivery.entry.tgb, RANK, count);
    if (kind == BODY_BYTES) {
        tgb_payload_fill(0, step, RANK * count, count, bench->bytes);
        delivery.slice.data = bench->bytes;
        delivery.slice_checksum = digest_chain_slice(bench->bytes, count);
    }
    return delivery;
}

static void give(struct bench *bench, uint32_t life, uint64_t step)
{
    struct consumer_delivery delivery = delivery_of(bench, step, BODY_LENGTH);
    reader_checker_given(&bench->reader, NS_PER_S, life, &delivery);
}

static uint32_t add(struct bench *bench, const struct checkpoint_set *found)
{
    struct consumer_options options = {
        .membership = {.consumer = RANK}, .checkpoints = *found, .checkpoints_kept = KEPT};
    return reader_checker_add(&bench->reader, &options);
}

/* A life without checkpoints that runs from step 1 on. */
static uint32_t begin(struct bench *bench)
{
    uint32_t life = add(bench, &nothing);
    reader_checker_running(&bench->reader, 0, life, 1, NULL);
    return life;
}

static bool ends(struct bench *bench, const char *text)
{
    bool found = text[0] == '\0' ? bench->violations.count == 0
                                 : strstr(bench->violations.first, text) != NULL;
    if (!found)
        printf("\n  looked for \"%s\", found \"%s\"\n", text, bench->violations.first);
    reader_checker_deinit(&bench->reader);
    rank_holds_deinit(&bench->holds);
    reclaim_checker_deinit(&bench->reclaim);
    committed_order_deinit(&bench->order);
    return found;
}

static void what_is_committed_passes(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    for (uint64_t step = 1; step <= STEPS; step++) {
        struct consumer_delivery delivery =
            delivery_of(&bench, step, step % 2 == 0 ? BODY_BYTES : BODY_LENGTH);
        reader_checker_given(&bench.reader, 0, life, &delivery);
    }
    CU_ASSERT_EQUAL(bench.reader.given, STEPS);
    CU_ASSERT_TRUE(ends(&bench, ""));
}

static void a_replay_from_a_checkpoint_passes(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    give(&bench, life, 1);
    give(&bench, life, 2);
    reader_checker_place(&bench.reader, life, 2); /* step 2 was given, and not yet taken */
    struct checkpoint_set set = {.count = 1, .items = {{.step = 2, .number = 1}}};
    set.items[0].digest = bench.reader.lives[life].digest_before;
    reader_checker_saves(&bench.reader, 0, life, &set);
    uint32_t next = add(&bench, &set);
    reader_checker_running(&bench.reader, 0, next, 2, &set.items[0]);
    give(&bench, next, 2);
    CU_ASSERT_EQUAL(bench.reader.lives[next].digest, bench.reader.lives[life].digest);
    set.items[0].number = 2; /* stamped anew */
    reader_checker_saves(&bench.reader, 0, next, &set);
    CU_ASSERT_TRUE(ends(&bench, ""));
}

static void a_skipped_step_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    give(&bench, life, 1);
    give(&bench, life, 3);
    CU_ASSERT_TRUE(ends(&bench, "reader: rank 2 is given step 3 where 2 should be"));
}

static void a_step_twice_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    give(&bench, life, 1);
    give(&bench, life, 1);
    CU_ASSERT_TRUE(ends(&bench, "reader: rank 2 is given step 1 where 2 should be"));
}

static void a_step_that_is_not_committed_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = add(&bench, &nothing);
    reader_checker_running(&bench.reader, 0, life, STEPS + 1, NULL);
    give(&bench, life, STEPS + 1);
    CU_ASSERT_TRUE(ends(&bench, "reader: rank 2 is given step 7; the chain is at 6"));
}

static void another_batch_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    struct consumer_delivery delivery = delivery_of(&bench, 2, BODY_LENGTH);
    delivery.step = 1;
    reader_checker_given(&bench.reader, 0, life, &delivery);
    CU_ASSERT_TRUE(ends(&bench, "is given batch 2 of producer 0 as step 1, where the chain has"));
}

static void other_bytes_are_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    struct consumer_delivery delivery = delivery_of(&bench, 1, BODY_BYTES);
    bench.bytes[3] ^= 1;
    reader_checker_given(&bench.reader, 0, life, &delivery);
    CU_ASSERT_TRUE(ends(&bench, "is given other bytes for its slice of step 1"));
}

static void a_short_slice_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    struct consumer_delivery delivery = delivery_of(&bench, 1, BODY_LENGTH);
    delivery.slice.bytes--;
    reader_checker_given(&bench.reader, 0, life, &delivery);
    CU_ASSERT_TRUE(ends(&bench, "bytes of step 1; its slice has"));
}

static void another_start_than_the_checkpoint_is_caught(void)
{
    struct bench bench;
    struct checkpoint_set set = {.count = 1, .items = {{.step = 3, .number = 1}}};
    bench_open(&bench);
    uint32_t life = add(&bench, &set);
    reader_checker_running(&bench.reader, 0, life, 4, &set.items[0]);
    CU_ASSERT_TRUE(ends(&bench, "goes back to step 4; its checkpoint is at step 3"));
}

static void a_checkpoint_at_no_place_is_caught(void)
{
    struct bench bench;
    struct checkpoint_set set = {.count = 1, .items = {{.step = 3, .number = 1}}};
    bench_open(&bench);
    uint32_t life = begin(&bench);
    give(&bench, life, 1);
    give(&bench, life, 2);
    reader_checker_place(&bench.reader, life, 3);
    reader_checker_saves(&bench.reader, 0, life, &set); /* its digest is missing */
    CU_ASSERT_TRUE(ends(&bench, "with a digest that it never had there"));
}

/* A rank that found three checkpoints, goes back to `rollback`, if that is not 0, and keeps these.
 */
static void expect_kept(uint64_t rollback, uint32_t count, const uint64_t *steps, const char *text)
{
    struct bench bench;
    bench_open(&bench);
    struct consumer_options options = {
        .membership = {.consumer = RANK, .rollback_step = rollback},
        .checkpoints = {.count = 3, .items = {{.step = 2}, {.step = 3}, {.step = 5}}},
        .checkpoints_kept = KEPT,
    };
    uint32_t life = reader_checker_add(&bench.reader, &options);
    struct checkpoint_set set = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        set.items[i].step = steps[i];
        reader_checker_place(&bench.reader, life, steps[i]);
    }
    reader_checker_saves(&bench.reader, 0, life, &set);
    CU_ASSERT_TRUE(ends(&bench, text));
}

static void checkpoints_that_go_too_early_are_caught(void)
{
    expect_kept(0, 3, (const uint64_t[]){2, 3, 5}, "");
    expect_kept(0, 3, (const uint64_t[]){3, 5, 6}, "");
    expect_kept(0, 2, (const uint64_t[]){3, 5}, "keeps 2 of its 3 checkpoints beside 0 new");
    expect_kept(0, 3, (const uint64_t[]){2, 5, 6}, "keeps 2 of its 3 checkpoints beside 1 new");
    expect_kept(0, 2, (const uint64_t[]){5, 6}, "keeps 1 of its 3 checkpoints beside 1 new");
    expect_kept(3, 2, (const uint64_t[]){2, 3}, "");
    expect_kept(3, 3, (const uint64_t[]){2, 3, 4}, "");
    expect_kept(3, 1, (const uint64_t[]){3}, "keeps 1 of its 2 checkpoints beside 0 new");
    expect_kept(3, 3, (const uint64_t[]){2, 3, 5}, ""); /* at the step of one that it left */
}

static void a_false_end_is_caught(void)
{
    static const enum consumer_end false_ends[] = {CONSUMER_SUPERSEDED,  CONSUMER_RETIRED,
                                                   CONSUMER_BELOW_FLOOR, CONSUMER_LOST,
                                                   CONSUMER_CORRUPT,     CONSUMER_STORE_FAILED};
    for (size_t i = 0; i < HARNESS_COUNT(false_ends); i++) {
        struct bench bench;
        bench_open(&bench);
        uint32_t life = begin(&bench);
        reader_checker_ended(&bench.reader, 0, life, 1, false_ends[i], "so it says");
        CU_ASSERT_TRUE(ends(&bench, "reader: rank 2, number 1, ends"));
    }
}

static void only_who_is_refused_ends_by_the_store(void)
{
    struct bench bench;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    reader_checker_refused(&bench.reader, life);
    reader_checker_ended(&bench.reader, 0, life, 1, CONSUMER_STORE_FAILED, "");
    CU_ASSERT_TRUE(ends(&bench, ""));
}

static void numbers_show_who_was_superseded_or_retired(void)
{
    struct bench bench;
    struct store_op op;
    bench_open(&bench);
    uint32_t life = begin(&bench);
    store_op_init(&op);
    op.verb = STORE_PUT_IF_ABSENT;
    name_watermark(
        op.key, &(struct watermark_name){.consumer = RANK, .part = WATERMARK_NUMBER, .number = 2});
    rank_holds_applied(&bench.holds, &op);
    reader_checker_ended(&bench.reader, 0, life, 1, CONSUMER_SUPERSEDED, "");
    op.verb = STORE_PUT;
    name_watermark(op.key, &(struct watermark_name){
                               .consumer = RANK, .part = WATERMARK_NUMBER_RETIRED, .number = 2});
    rank_holds_applied(&bench.holds, &op);
    reader_checker_ended(&bench.reader, 0, life, 1, CONSUMER_RETIRED, "");
    store_op_deinit(&op);
    CU_ASSERT_TRUE(ends(&bench, ""));
}

const struct harness_test reader_checker_tests[] = {
    HARNESS_TEST(what_is_committed_passes),
    HARNESS_TEST(a_replay_from_a_checkpoint_passes),
    HARNESS_TEST(a_skipped_step_is_caught),
    HARNESS_TEST(a_step_twice_is_caught),
    HARNESS_TEST(a_step_that_is_not_committed_is_caught),
    HARNESS_TEST(another_batch_is_caught),
    HARNESS_TEST(other_bytes_are_caught),
    HARNESS_TEST(a_short_slice_is_caught),
    HARNESS_TEST(another_start_than_the_checkpoint_is_caught),
    HARNESS_TEST(a_checkpoint_at_no_place_is_caught),
    HARNESS_TEST(checkpoints_that_go_too_early_are_caught),
    HARNESS_TEST(a_false_end_is_caught),
    HARNESS_TEST(only_who_is_refused_ends_by_the_store),
    HARNESS_TEST(numbers_show_who_was_superseded_or_retired),
    {0},
};
