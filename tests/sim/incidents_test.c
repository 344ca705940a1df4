/* incidents_test.c - whole runs to which things happen. */
#include <stdio.h>

#include "tests/sim/whole_run.h"

#define AT(seconds) ((seconds)*NS_PER_S)

static const struct incident troubles[] = {
    {INCIDENT_PRODUCER, AT(200), AT(20), 0, 2},  {INCIDENT_RANK, AT(300), AT(15), 1, 1},
    {INCIDENT_ROLLBACK, AT(420), AT(10), 0, 4},  {INCIDENT_OUTAGE, AT(540), AT(30), 0, 1},
    {INCIDENT_PRODUCER, AT(560), AT(30), 3, 1},  {INCIDENT_ROLLBACK, AT(700), AT(10), 2, 1},
    {INCIDENT_PRODUCER, AT(890), AT(100), 7, 1}, /* dead at the end */
};

static const struct outage outage = {.errors = 0.5, .timeout_ns = 2 * NS_PER_S};

static struct simulation_options make_troubled(void)
{
    struct simulation_options options = whole_run_reclaimed(2, 900);
    options.incidents = troubles;
    options.outage = outage;
    options.incident_count = HARNESS_COUNT(troubles);
    return options;
}

/* What a rank was given last, and how often it went back. */
struct places {
    uint64_t last[4];
    uint32_t back[4];
    uint32_t gaps;
};

static void note_place(void *context, uint32_t rank, const struct consumer_delivery *delivery)
{
    struct places *places = context;
    uint64_t *last = &places->last[rank];
    places->back[rank] += delivery->step <= *last;
    places->gaps += delivery->step > *last + 1;
    *last = delivery->step;
}

static void note_nothing(void *context, uint32_t rank, uint64_t step)
{
    (void)context;
    (void)rank;
    (void)step;
}

static void note_no_request(void *context, uint32_t rank, const struct consumer_answer *answer)
{
    (void)context;
    (void)rank;
    (void)answer;
}

static void note_end(void *context, uint32_t rank, enum consumer_end end, const char *text)
{
    (void)context;
    (void)rank;
    (void)end;
    printf("\n  %s\n", text);
}

static void what_happens_to_a_run_costs_it_no_step(void)
{
    struct places places = {0};
    struct rank_observer observer = {.context = &places,
                                     .given = note_place,
                                     .checkpointed = note_nothing,
                                     .request = note_no_request,
                                     .ended = note_end};
    struct simulation_options options = make_troubled();
    options.rank_observer = &observer;
    struct simulation_result result = whole_run(&options);
    CU_ASSERT_EQUAL(result.ended, 0);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT_EQUAL(places.gaps, 0);
    /* Its death and the rollback of all; the rollback of rank 2 alone. */
    CU_ASSERT_EQUAL(places.back[0], 1);
    CU_ASSERT_EQUAL(places.back[1], 2);
    CU_ASSERT_EQUAL(places.back[2], 2);
    CU_ASSERT(result.slowest > 900);
    CU_ASSERT(result.slowest > result.steps * 3 / 5);
}

static void the_reference_has_the_same_digest_with_incidents(void)
{
    struct simulation_options options = make_troubled();
    options.duration_ns = AT(600);
    struct simulation_result fast = whole_run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = whole_run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.given, slow.given);
}

static void incidents_are_checked(void)
{
    static const struct incident overlapping[] = {{INCIDENT_RANK, AT(10), AT(10), 0, 3},
                                                  {INCIDENT_ROLLBACK, AT(15), AT(1), 2, 1}};
    static const struct incident nobody = {INCIDENT_PRODUCER, AT(10), AT(10), 7, 2};
    static const struct incident never = {INCIDENT_OUTAGE, AT(10), 0, 0, 1};
    struct simulation_options options = whole_run_ranks(4, 60);
    options.incidents = overlapping;
    options.incident_count = 2;
    CU_ASSERT_STRING_EQUAL(
        simulation_options_check(&options),
        "an outage's share of errors is not in 0..1, or its timeout is not positive");
    options.outage = outage;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "two incidents of one process overlap");
    options.incident_count = 1;
    CU_ASSERT_PTR_NULL(simulation_options_check(&options));
    options.incidents = &nobody;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "an incident is about a process that the run does not have");
    options.incidents = &never;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "an incident begins before the run, or lasts no time");
}

const struct harness_test incidents_tests[] = {
    HARNESS_TEST(what_happens_to_a_run_costs_it_no_step),
    HARNESS_TEST(the_reference_has_the_same_digest_with_incidents),
    HARNESS_TEST(incidents_are_checked),
    {0},
};
