/* What is stored at most, against sums done by hand and step by step. */
#include "experiments/figures/storage_bound.h"

#include "tests/harness.h"

static void kept_checkpoints_bound_a_long_run(void)
{
    struct storage_bound bound = {.steps = 1115, .steps_per_s = 1, .every = 100, .kept = 3};
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 300, 1e-9);
    bound.reclaim_lag_s = 10;
    bound.behind_steps = 12;
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 322, 1e-9);
    bound.steps_per_s = 2; /* what is made while a reclaimer waits */
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 332, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_period(&bound, 332), 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_period(&bound, 182), 50, 1e-9);
}

static void a_short_run_is_bounded_by_its_end(void)
{
    /* No checkpoint at all, then none after that of the beginning. */
    struct storage_bound bound = {.steps = 1115, .steps_per_s = 1, .every = 0, .kept = 3};
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 1115, 1e-9);
    bound.every = 2000;
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 1115, 1e-9);
    bound.every = 400; /* two, of steps 401 and 801: that of the beginning is the third */
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 1115, 1e-9);
    bound.every = 360; /* at step 1,081 a third comes; 360 go, after the most */
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 1080, 1e-9);
    bound.kept = 1;
    bound.every = 700; /* the first interval is the longest */
    CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound), 700, 1e-9);
}

/* A rank without lags, counted step by step. */
static double stored_at_most(uint64_t steps, uint64_t every, uint64_t kept)
{
    uint64_t most = 0;
    uint64_t floor = 0;
    for (uint64_t made = 1; made <= steps; made++) {
        most = made - floor > most ? made - floor : most;
        uint64_t count = made / every;
        floor = count < kept ? 0 : every * (count - kept + 1);
    }
    return (double)most;
}

static void it_is_what_counting_gives(void)
{
    for (uint64_t steps = 50; steps <= 1000; steps += 73)
        for (uint64_t every = 7; every <= 300; every += 31)
            for (uint64_t kept = 1; kept <= 5; kept++) {
                struct storage_bound bound = {.steps = (double)steps,
                                              .steps_per_s = 1,
                                              .every = (double)every,
                                              .kept = (double)kept};
                CU_ASSERT_DOUBLE_EQUAL(storage_bound_steps(&bound),
                                       stored_at_most(steps, every, kept), 1e-9);
            }
}

const struct harness_test storage_bound_tests[] = {
    HARNESS_TEST(kept_checkpoints_bound_a_long_run),
    HARNESS_TEST(a_short_run_is_bounded_by_its_end),
    HARNESS_TEST(it_is_what_counting_gives),
    {0},
};
