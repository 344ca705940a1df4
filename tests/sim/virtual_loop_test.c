/* virtual_loop_test.c - the clock, the digest, and M/M/1 beside its closed form. */
#include "sim/virtual_loop.h"

#include <math.h>
#include <time.h>

#include "sim/mm1.h"
#include "sim/yardstick.h"
#include "tests/harness.h"

static int64_t fired_at[8];
static size_t fired_count;

static void note(struct timer *timer, void *context)
{
    (void)timer;
    fired_at[fired_count++] = loop_now(context);
}

static void time_jumps_and_stops(void)
{
    struct virtual_loop loop;
    virtual_loop_init(&loop, EVENT_QUEUE_HEAP);
    struct timer timers[3];
    fired_count = 0;
    for (size_t i = 0; i < 3; i++) {
        timer_init(&timers[i], note, &loop.loop);
        loop_timer_set(&loop.loop, &timers[i], 100 * (int64_t)i);
    }
    loop_run(&loop.loop, 100);
    CU_ASSERT_EQUAL(fired_count, 2);
    CU_ASSERT_EQUAL(loop_now(&loop.loop), 100);
    loop_run(&loop.loop, 150);
    CU_ASSERT_EQUAL(loop_now(&loop.loop), 150);
    loop_timer_set(&loop.loop, &timers[0], 20); /* the past counts as now */
    loop_run(&loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(fired_count, 4);
    CU_ASSERT_EQUAL(fired_at[2], 150);
    CU_ASSERT_EQUAL(fired_at[3], 200);
    CU_ASSERT_EQUAL(loop.handled, 4);
    CU_ASSERT_EQUAL(loop_now(&loop.loop), 200);
    virtual_loop_deinit(&loop);
}

static void mm1_meets_its_closed_form(void)
{
    const double loads[] = {0.5, 0.8};
    for (size_t i = 0; i < HARNESS_COUNT(loads); i++) {
        struct mm1_options options = {.arrivals_per_s = loads[i],
                                      .services_per_s = 1.0,
                                      .seed = 11 + i,
                                      .customers = 1000000};
        struct mm1_result result;
        mm1_run(&options, &result);
        CU_ASSERT_DOUBLE_EQUAL(result.wait_exact_s, loads[i] / (1.0 - loads[i]), 1e-12);
        CU_ASSERT_TRUE(fabs(result.wait_s - result.wait_exact_s) < 1.5 * result.wait_half_width);
        CU_ASSERT_TRUE(result.wait_half_width < 0.05 * result.wait_exact_s);
        CU_ASSERT_EQUAL(result.handled, 2 * options.customers);
    }
}

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void yardstick_handles_what_it_was_asked_for(void)
{
    struct yardstick_options options = {.timers = 100, .events = 100000, .seed = 1};
    struct yardstick_result results[2];
    yardstick_run(&options, clock_ns, &results[0]);
    yardstick_run(&options, clock_ns, &results[1]);
    CU_ASSERT_EQUAL(results[0].handled, options.events);
    CU_ASSERT_EQUAL(results[0].digest, results[1].digest);
    CU_ASSERT_TRUE(results[0].ns_per_event > 0.0);
}

const struct harness_test virtual_loop_tests[] = {
    HARNESS_TEST(time_jumps_and_stops),
    HARNESS_TEST(mm1_meets_its_closed_form),
    HARNESS_TEST(yardstick_handles_what_it_was_asked_for),
    {0},
};
