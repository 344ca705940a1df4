/* checkpoint_test.c - sets: what is kept, and what their numbers say. */
#include "core/checkpoint.h"

#include "tests/harness.h"

static void set_keeps_the_newest(void)
{
    struct checkpoint_set set = {0};
    for (uint64_t step = 1; step <= 9; step++)
        checkpoint_add(&set, &(struct checkpoint){.step = 10 * step, .number = step}, 4);
    CU_ASSERT_EQUAL_FATAL(set.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(set.items[i].step, 60 + 10 * i);
    checkpoint_add(&set, &(struct checkpoint){.step = 90, .number = 11, .digest = 7}, 4);
    CU_ASSERT_EQUAL(set.count, 4);
    CU_ASSERT_EQUAL(set.items[0].step, 60);
    CU_ASSERT(set.items[3].number == 11 && set.items[3].digest == 7);
    checkpoint_add(&set, &(struct checkpoint){.step = 100, .number = 11}, 2);
    CU_ASSERT(set.count == 2 && set.items[0].step == 90 && set.items[1].step == 100);
}

static void set_counts_up_to_a_step(void)
{
    const struct checkpoint_set set = {.count = 3,
                                       .items = {{.step = 4}, {.step = 8}, {.step = 9}}};
    static const uint32_t counts[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 3};
    for (uint64_t step = 0; step < HARNESS_COUNT(counts); step++)
        CU_ASSERT_EQUAL(checkpoint_count_upto(&set, step), counts[step]);
}

static void numbers_are_found_wherever_they_stand(void)
{
    const struct checkpoint_set none = {0};
    CU_ASSERT_EQUAL(checkpoint_lowest_number(&none), 0);
    CU_ASSERT_EQUAL(checkpoint_highest_number(&none), 0);
    const struct checkpoint_set set = {.count = 3,
                                       .items = {{.number = 5}, {.number = 3}, {.number = 9}}};
    CU_ASSERT_EQUAL(checkpoint_lowest_number(&set), 3);
    CU_ASSERT_EQUAL(checkpoint_highest_number(&set), 9);
}

const struct harness_test checkpoint_tests[] = {
    HARNESS_TEST(set_keeps_the_newest),
    HARNESS_TEST(set_counts_up_to_a_step),
    HARNESS_TEST(numbers_are_found_wherever_they_stand),
    {0},
};
