/* reclaim_driver_test.c - rounds on a loop: when they start, how they are stopped, and what
 * callbacks may do. */
#include "core/reclaim_driver.h"

#include "tests/core/yard.h"
#include "tests/harness.h"

static struct yard *yard_with_work(void)
{
    struct yard *yard = yard_open();
    for (uint32_t i = 0; i < 10; i++)
        yard_commit(yard, 1, 3);
    yard_value(yard, 0, 1, 25);
    return yard;
}

static void run_out(struct yard *yard)
{
    while (manual_loop_step(&yard->loop))
        continue;
}

static void rounds_follow_each_other_after_a_jittered_period(void)
{
    struct yard *yard = yard_with_work();
    yard_start(yard, 100 * NS_PER_S);
    int64_t last_ns = yard->loop.now_ns;
    int64_t shortest_ns = INT64_MAX;
    int64_t longest_ns = 0;
    yard_until_rounds(yard, 1);
    CU_ASSERT(yard->loop.now_ns - last_ns < NS_PER_S); /* first_ns is 0 */
    for (uint64_t round = 2; round < 50; round++) {
        last_ns = yard->loop.now_ns;
        yard_until_rounds(yard, round);
        int64_t gap_ns = yard->loop.now_ns - last_ns;
        shortest_ns = gap_ns < shortest_ns ? gap_ns : shortest_ns;
        longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
    }
    CU_ASSERT(shortest_ns >= 50 * NS_PER_S && shortest_ns < 70 * NS_PER_S);
    CU_ASSERT(longest_ns > 130 * NS_PER_S && longest_ns < 152 * NS_PER_S);
    CU_ASSERT_FALSE(yard->ended);
    reclaim_driver_stop(yard->driver);
    CU_ASSERT_TRUE(yard->ended);
    run_out(yard);
    CU_ASSERT_EQUAL(yard->rounds, 49);
    yard_close(yard);
}

static void stop_at_any_moment_ends_with_nothing_in_flight(void)
{
    uint64_t requests = 0;
    uint64_t stopped = 0;
    for (bool done = false; !done; requests++) {
        struct yard *yard = yard_with_work();
        yard_start(yard, NS_PER_S);
        while (yard->requests < requests && yard->rounds == 0 && manual_loop_step(&yard->loop))
            continue;
        done = yard->rounds > 0;
        reclaim_driver_stop(yard->driver);
        reclaim_driver_stop(yard->driver);
        uint32_t in_flight = scripted_store_in_flight(yard->store);
        CU_ASSERT_EQUAL(yard->ended, in_flight == 0);
        uint64_t answered = yard->requests + in_flight;
        run_out(yard);
        CU_ASSERT_TRUE(yard->ended);
        CU_ASSERT_EQUAL(yard->requests, answered); /* nothing new was sent */
        CU_ASSERT_EQUAL(scripted_store_in_flight(yard->store), 0);
        CU_ASSERT_EQUAL(yard_steps(yard, 25, 30), 6);
        stopped += yard->report.end == RECLAIM_STOPPED;
        yard_close(yard);
    }
    CU_ASSERT(requests > 40);
    CU_ASSERT(stopped > 40);
}

/* Every request is unanswered, so that the stop finds all that can wait waiting. */
static void stop_does_not_wait_for_what_is_to_be_sent_again(void)
{
    static const enum request_kind kinds[] = {LIST_NEWER, LIST_NUMBERS, PUT_INTENT,
                                              PUT_FLOOR,  DELETE_TGB,   DELETE_VERSION};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct yard *yard = yard_with_work();
        struct rule rule = {.kind = kinds[i], .application = DROP, ANSWER(STORE_UNKNOWN)};
        scripted_store_script(yard->store, &rule);
        yard->options.retry_ns = 1000 * NS_PER_S;
        yard->options.retry_max_ns = 1000 * NS_PER_S;
        yard_start(yard, NS_PER_S);
        loop_run(&yard->loop.loop, YARD_NOW + 900 * NS_PER_MS);
        CU_ASSERT_EQUAL(scripted_store_in_flight(yard->store), 0);
        CU_ASSERT_FALSE(yard->ended);
        reclaim_driver_stop(yard->driver);
        CU_ASSERT_TRUE(yard->ended);
        uint64_t requests = yard->requests;
        run_out(yard);
        CU_ASSERT_EQUAL(yard->requests, requests);
        yard_close(yard);
    }
}

static void stop_before_anything_happened_ends_at_once(void)
{
    struct yard *yard = yard_with_work();
    yard_start(yard, NS_PER_S);
    reclaim_driver_stop(yard->driver);
    CU_ASSERT_TRUE(yard->ended);
    run_out(yard);
    CU_ASSERT(yard->requests == 0 && yard->rounds == 0);
    yard_close(yard);
}

static void stop_at_round(void *context, const struct reclaim_report *report, const char *error)
{
    (void)error;
    struct yard *yard = context;
    CU_ASSERT_EQUAL(report->end, RECLAIM_DONE);
    if (++yard->rounds == 2)
        reclaim_driver_stop(yard->driver);
}

static void stop_at_request(void *context, enum store_verb verb, enum store_outcome outcome,
                            uint64_t bytes)
{
    (void)verb;
    (void)outcome;
    (void)bytes;
    struct yard *yard = context;
    if (++yard->requests == 17)
        reclaim_driver_stop(yard->driver);
}

static void close_at_end(void *context)
{
    struct yard *yard = context;
    CU_ASSERT_FALSE(yard->ended);
    yard->ended = true;
    reclaim_driver_close(yard->driver);
    yard->driver = NULL;
}

static void callbacks_may_stop_and_close(void)
{
    struct yard *yard = yard_with_work();
    yard->observer.round = stop_at_round;
    yard->observer.ended = close_at_end;
    yard_start(yard, NS_PER_S);
    run_out(yard);
    CU_ASSERT(yard->ended && yard->rounds == 2);
    yard_close(yard);
    yard = yard_with_work();
    yard->observer.request = stop_at_request;
    yard->observer.ended = close_at_end;
    yard_start(yard, NS_PER_S);
    run_out(yard);
    CU_ASSERT(yard->ended && yard->rounds == 1 && yard->report.end == RECLAIM_STOPPED);
    yard_close(yard);
}

static void observer_hears_of_every_request(void)
{
    struct yard *yard = yard_with_work();
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->requests, scripted_store_requests(yard->store, ANY_REQUEST));
    CU_ASSERT_EQUAL(yard->report.tgbs, 24);
    yard_close(yard);
}

const struct harness_test reclaim_driver_tests[] = {
    HARNESS_TEST(rounds_follow_each_other_after_a_jittered_period),
    HARNESS_TEST(stop_at_any_moment_ends_with_nothing_in_flight),
    HARNESS_TEST(stop_does_not_wait_for_what_is_to_be_sent_again),
    HARNESS_TEST(stop_before_anything_happened_ends_at_once),
    HARNESS_TEST(callbacks_may_stop_and_close),
    HARNESS_TEST(observer_hears_of_every_request),
    {0},
};
