/* swarm_hunt_test.c - how many processes a machine is given. What they find is the matter of
 * tests/planted/swarm.sh. */
#include "experiments/swarm/swarm_hunt.h"

#include "tests/harness.h"

static void every_core_has_a_process_up_to_a_bound(void)
{
    static const struct {
        long cores;
        uint64_t jobs;
    } rows[] = {
        {-1, 1},
        {0, 1},
        {1, 1},
        {2, 2},
        {255, 255},
        {256, 256},
        {384, 384},
        {HUNT_JOBS_MAX, HUNT_JOBS_MAX},
        {1536, HUNT_JOBS_MAX},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        CU_ASSERT_EQUAL(swarm_hunt_jobs(rows[i].cores), rows[i].jobs);
}

const struct harness_test swarm_hunt_tests[] = {
    HARNESS_TEST(every_core_has_a_process_up_to_a_bound),
    {0},
};
