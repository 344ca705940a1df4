/* swarm_child_test.c - how a process ended is told in words. */
#include "experiments/swarm/swarm_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"

#define WAIT_MS 1000

static struct child_death death_of(void (*work)(void *context), void *context)
{
    struct swarm_child *child = calloc(1, sizeof(*child));
    struct child_death death = {0};
    CU_ASSERT_FATAL(child != NULL && swarm_child_start(child, work, context));
    while (!swarm_child_ended(child, &death))
        swarm_child_wait(child, 1, WAIT_MS);
    free(child);
    return death;
}

static void fill(void *context)
{
    memcpy(context, "done", 5);
}

static void work_that_ends_well_is_done_and_shared(void)
{
    char *shared = swarm_shared_make(16);
    CU_ASSERT_FATAL(shared != NULL);
    struct child_death death = death_of(fill, shared);
    CU_ASSERT_EQUAL(death.end, CHILD_DONE);
    CU_ASSERT_STRING_EQUAL(death.text, "");
    CU_ASSERT_STRING_EQUAL(shared, "done");
    swarm_shared_free(shared, 16);
}

static void fail_assert(void *context)
{
    swarm_child_leave_no_core();
    assert(context != NULL);
}

static void failed_assert_is_told_in_its_words(void)
{
    struct child_death death = death_of(fail_assert, NULL);
    CU_ASSERT_EQUAL(death.end, CHILD_ASSERTED);
    CU_ASSERT_PTR_EQUAL(strstr(death.text, "fails an assert: tests/experiments/"), death.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(death.text, "Assertion `context != NULL' failed."));
}

static void end_by_signal(void *context)
{
    int number = *(const int *)context;
    swarm_child_leave_no_core();
    raise(number);
}

static void death_by_a_signal_names_it(void)
{
    struct child_death death = death_of(end_by_signal, &(int){SIGKILL});
    CU_ASSERT_EQUAL(death.end, CHILD_KILLED);
    CU_ASSERT_STRING_EQUAL(death.text, "dies of signal 9 (Killed)");
    death = death_of(end_by_signal, &(int){SIGABRT});
    CU_ASSERT_EQUAL(death.end, CHILD_ASSERTED);
    CU_ASSERT_STRING_EQUAL(death.text, "aborts");
}

static void end_with_status(void *context)
{
    (void)context;
    fprintf(stderr, "==========\nERROR: all is wrong\n");
    exit(23);
}

/* Its whole text goes to stderr as well, as a person wants to read a sanitizer's. */
static void status_other_than_0_is_a_death(void)
{
    struct child_death death = death_of(end_with_status, NULL);
    CU_ASSERT_EQUAL(death.end, CHILD_EXITED);
    CU_ASSERT_STRING_EQUAL(death.text, "ends the program with status 23: ERROR: all is wrong");
}

static void loop_for_ever(void *context)
{
    volatile const int *going = context;
    swarm_child_limit(50 * NS_PER_MS);
    while (*going)
        continue;
}

static void who_uses_up_its_cpu_time_is_endless(void)
{
    struct child_death death = death_of(loop_for_ever, &(int){1});
    CU_ASSERT_EQUAL(death.end, CHILD_ENDLESS);
    CU_ASSERT_STRING_EQUAL(death.text, "does not come to an end");
}

static void wait_longer_than_the_limit(void *context)
{
    swarm_child_limit(50 * NS_PER_MS);
    usleep(300000);
    swarm_child_limit(0);
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 100000000; i++) /* longer than the limit was */
        sum = sum + i;
    (void)context;
}

static void waiting_costs_no_cpu_time_and_a_limit_can_be_lifted(void)
{
    CU_ASSERT_EQUAL(death_of(wait_longer_than_the_limit, NULL).end, CHILD_DONE);
}

static void flood(void *context)
{
    for (int i = 0; i < 10000; i++)
        fprintf(stderr, "line %d of many, many more than are kept\n", i);
    raise(*(const int *)context);
}

static void flood_of_words_neither_blocks_nor_hides_the_death(void)
{
    /* By its descriptor: a stream that is opened again is buffered for the tests that follow. */
    int out = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CU_ASSERT_FATAL(out >= 0 && null >= 0);
    dup2(null, STDERR_FILENO);
    struct child_death death = death_of(flood, &(int){SIGTERM});
    dup2(out, STDERR_FILENO);
    close(null);
    close(out);
    CU_ASSERT_EQUAL(death.end, CHILD_KILLED);
    CU_ASSERT_PTR_NOT_NULL(strstr(death.text, "line 0 of many"));
}

const struct harness_test swarm_child_tests[] = {
    HARNESS_TEST(work_that_ends_well_is_done_and_shared),
    HARNESS_TEST(failed_assert_is_told_in_its_words),
    HARNESS_TEST(death_by_a_signal_names_it),
    HARNESS_TEST(status_other_than_0_is_a_death),
    HARNESS_TEST(who_uses_up_its_cpu_time_is_endless),
    HARNESS_TEST(waiting_costs_no_cpu_time_and_a_limit_can_be_lifted),
    HARNESS_TEST(flood_of_words_neither_blocks_nor_hides_the_death),
    {0},
};
