/* reclaim_floor_test.c - floors that others wrote: who is ahead, who died, who wrote nonsense. */
#include <string.h>

#include "core/reclaim.h"
#include "tests/core/yard.h"
#include "tests/harness.h"

/* ---- other reclaimers ---- */

static void other_gives_up_more(struct scripted_store *store, void *context)
{
    (void)context;
    scripted_store_raise_floor(store, (struct floor){.version = 3, .step = 6});
}

static void other_is_ahead(struct scripted_store *store, void *context)
{
    struct yard *yard = context;
    yard_commit(yard, 1, 1);
    scripted_store_raise_floor(store, (struct floor){.version = 7, .step = 4});
    scripted_store_delete_below_floor(store);
}

static void floor_of_another_is_never_undone(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_script(yard, (struct rule){.kind = PUT_INTENT, .times = 1, .before = other_gives_up_more});
    yard_round(yard, RECLAIM_DONE);
    struct floor floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 6 && floor.step == 6);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 5), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 6, 10), 5);
    yard_close(yard);
    yard = yard_open_with_steps();
    yard_script(yard, (struct rule){.kind = LIST_FLOOR, .times = 1, .before = other_is_ahead});
    yard_round(yard, RECLAIM_DONE);
    floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 7 && floor.step == 4);
    CU_ASSERT_EQUAL(yard_steps(yard, 4, 11), 8);
    yard_close(yard);
}

/* The floor that is listed first must say it: readers of one key see no other. */
static void step_that_a_lower_floor_gave_up_is_written_again(void)
{
    struct yard *yard = yard_open_with_steps();
    scripted_store_raise_floor(yard->store, (struct floor){.version = 2, .step = 5});
    scripted_store_raise_floor(yard->store, (struct floor){.version = 6, .step = 2});
    yard_value(yard, 0, 1, 5);
    yard_round(yard, RECLAIM_DONE);
    struct floor floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 6 && floor.step == 5);
    yard_close(yard);
}

/* Nobody wrote it who had read the chain: it is no licence. */
static void floor_above_the_chain_gives_up_the_round(void)
{
    struct yard *yard = yard_open_with_steps();
    struct floor floor = {.version = 1, .step = 1000};
    scripted_store_raise_floor(yard->store, floor);
    uint64_t requests = scripted_store_requests(yard->store, DELETE_TGB);
    yard_round(yard, RECLAIM_GIVEN_UP);
    CU_ASSERT(strstr(yard->error, "below 1000, and the chain ends before step 11") != NULL);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_TGB), requests);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 10), 10);
    CU_ASSERT_EQUAL(yard_intent(yard), 0);
    yard_close(yard);
}

/* The floor sorts by version first: one with a lower version may have given up more. */
static void highest_step_of_all_floors_counts(void)
{
    struct yard *yard = yard_open_with_steps();
    scripted_store_raise_floor(yard->store, (struct floor){.version = 2, .step = 5});
    scripted_store_raise_floor(yard->store, (struct floor){.version = 3, .step = 2});
    yard_value(yard, 0, 1, 5);
    yard_round(yard, RECLAIM_DONE);
    struct floor floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 6 && floor.step == 5);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 4), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 5, 10), 6);
    yard_close(yard);
}

/* It was refused at its start, and its older process still needs what it said. */
static void number_below_the_floor_leaves_it_to_the_one_before(void)
{
    struct yard *yard = yard_open_with_steps();
    scripted_store_raise_floor(yard->store, (struct floor){.version = 3, .step = 4});
    yard_value(yard, 0, 1, 6);
    yard_value(yard, 0, 2, 3);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.watermark == 6 && yard->report.missing == 0);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 6);
    yard_close(yard);
}

/* ---- what was given up before ---- */

static void what_a_dead_reclaimer_left_is_deleted_though_all_are_blocked(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_number(yard, 9, 1);
    scripted_store_raise_floor(yard->store, (struct floor){.version = 4, .step = 3});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.missing == 1 && yard->report.first_missing == 9);
    CU_ASSERT_FALSE(yard_has_version(yard, 3));
    CU_ASSERT_TRUE(yard_has_version(yard, 4));
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 2), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 3, 10), 8);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, PUT_FLOOR), 0);
    yard_close(yard);
}

static void process_that_dies_anywhere_leaves_nothing_wrong(void)
{
    uint64_t requests = 1;
    for (bool ended = false; !ended; requests++) {
        struct yard *yard = yard_open_with_steps();
        yard_start(yard, 0);
        while (yard->requests < requests && !yard->ended && manual_loop_step(&yard->loop))
            continue;
        ended = yard->ended;
        yard_crash(yard);
        while (manual_loop_step(&yard->loop))
            continue;
        CU_ASSERT_EQUAL(yard_steps(yard, 4, 10), 7);
        CU_ASSERT_TRUE(yard_has_version(yard, 6));
        CU_ASSERT(scripted_store_floor(yard->store).step == 4 || yard_steps(yard, 1, 3) == 3);
        yard_round(yard, RECLAIM_DONE);
        CU_ASSERT_EQUAL(yard_steps(yard, 1, 3), 0);
        CU_ASSERT_EQUAL(yard_steps(yard, 4, 10), 7);
        CU_ASSERT_FALSE(yard_has_version(yard, 5));
        yard_close(yard);
    }
    CU_ASSERT(requests > 20);
}

const struct harness_test reclaim_floor_tests[] = {
    HARNESS_TEST(floor_of_another_is_never_undone),
    HARNESS_TEST(number_below_the_floor_leaves_it_to_the_one_before),
    HARNESS_TEST(step_that_a_lower_floor_gave_up_is_written_again),
    HARNESS_TEST(floor_above_the_chain_gives_up_the_round),
    HARNESS_TEST(highest_step_of_all_floors_counts),
    HARNESS_TEST(what_a_dead_reclaimer_left_is_deleted_though_all_are_blocked),
    HARNESS_TEST(process_that_dies_anywhere_leaves_nothing_wrong),
    {0},
};
