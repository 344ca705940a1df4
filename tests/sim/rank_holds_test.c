/* rank_holds_test.c - what a rank holds, over numbers, checkpoints, deaths and a human's hand. */
#include "sim/rank_holds.h"

#include "core/name.h"
#include "tests/harness.h"

#define RANK 3

struct bench {
    struct violations violations;
    struct committed_order order;
    struct chain_checker chain;
    struct reclaim_checker reclaim;
    struct rank_holds holds;
};

static const struct checkpoint_set nothing;

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    reclaim_checker_init(&bench->reclaim, &bench->order, &bench->chain, &bench->violations);
    bench->holds.reclaim = &bench->reclaim;
}

static void bench_close(struct bench *bench)
{
    rank_holds_deinit(&bench->holds);
    reclaim_checker_deinit(&bench->reclaim);
}

static uint64_t held(const struct bench *bench)
{
    return RANK < bench->reclaim.rank_count ? bench->reclaim.holds[RANK] : 0;
}

static void show(struct bench *bench, enum watermark_part part, uint64_t number)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = part == WATERMARK_NUMBER ? STORE_PUT_IF_ABSENT : STORE_PUT;
    name_watermark(op.key,
                   &(struct watermark_name){.consumer = RANK, .part = part, .number = number});
    rank_holds_applied(&bench->holds, &op);
    store_op_deinit(&op);
}

static struct checkpoint_set kept(uint64_t oldest, uint64_t number)
{
    return (struct checkpoint_set){
        .count = 2,
        .items = {{.step = oldest, .number = number}, {.step = oldest + 5, .number = number}}};
}

static void a_first_step_is_held_until_a_higher_number(void)
{
    struct bench bench;
    bench_open(&bench);
    show(&bench, WATERMARK_NUMBER, 1);
    rank_holds_allowed(&bench.holds, RANK, 1, 7, &nothing);
    CU_ASSERT_EQUAL(held(&bench), 7);
    show(&bench, WATERMARK_NUMBER, 2);
    CU_ASSERT_EQUAL(held(&bench), 0);
    struct checkpoint_set set = kept(9, 1);
    rank_holds_saved(&bench.holds, RANK, 1, &set); /* it was superseded before */
    CU_ASSERT_EQUAL(held(&bench), 0);
    bench_close(&bench);
}

static void checkpoints_hold_over_numbers(void)
{
    struct bench bench;
    struct checkpoint_set set = kept(9, 1);
    bench_open(&bench);
    show(&bench, WATERMARK_NUMBER, 1);
    rank_holds_allowed(&bench.holds, RANK, 1, 7, &nothing);
    rank_holds_saved(&bench.holds, RANK, 1, &set);
    CU_ASSERT_EQUAL(held(&bench), 9);
    show(&bench, WATERMARK_NUMBER, 2);
    CU_ASSERT_EQUAL(held(&bench), 9);
    rank_holds_allowed(&bench.holds, RANK, 2, 9, &set);
    set = kept(20, 1);
    rank_holds_saved(&bench.holds, RANK, 1, &set); /* by the one that was superseded */
    CU_ASSERT_EQUAL(held(&bench), 9);
    rank_holds_saved(&bench.holds, RANK, 2, &set);
    CU_ASSERT_EQUAL(held(&bench), 20);
    rank_holds_abandoned(&bench.holds, RANK);
    CU_ASSERT_EQUAL(held(&bench), 0);
    bench_close(&bench);
}

static void retiring_ends_a_hold(void)
{
    struct bench bench;
    struct checkpoint_set set = kept(9, 1);
    bench_open(&bench);
    show(&bench, WATERMARK_NUMBER, 1);
    rank_holds_allowed(&bench.holds, RANK, 1, 9, &set);
    show(&bench, WATERMARK_NUMBER, 2);
    show(&bench, WATERMARK_NUMBER_RETIRED, 2);
    CU_ASSERT_EQUAL(held(&bench), 0);
    rank_holds_saved(&bench.holds, RANK, 1, &set);
    CU_ASSERT_EQUAL(held(&bench), 0);
    show(&bench, WATERMARK_NUMBER, 3);
    rank_holds_allowed(&bench.holds, RANK, 3, 9, &set);
    CU_ASSERT_EQUAL(held(&bench), 9);
    show(&bench, WATERMARK_NUMBER_RETIRED, 2); /* once more, late */
    CU_ASSERT_EQUAL(held(&bench), 9);
    bench_close(&bench);
}

const struct harness_test rank_holds_tests[] = {
    HARNESS_TEST(a_first_step_is_held_until_a_higher_number),
    HARNESS_TEST(checkpoints_hold_over_numbers),
    HARNESS_TEST(retiring_ends_a_hold),
    {0},
};
