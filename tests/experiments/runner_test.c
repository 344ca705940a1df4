/* Tests of experiments/runner*.c: the same rows for any number of workers, resuming, failures,
 * signals. */
#include "experiments/trials/runner.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/random.h"
#include "experiments/trials/runner_report.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

enum {
    ARMS = 3,
    SEEDS = 8,
    TRIALS = ARMS * SEEDS
};

static const struct runner_arm arms[ARMS] = {
    {.name = "fixed",
     .group = "",
     .sweep_key = "",
     .sweep_value = NAN,
     .store = "s3",
     .config = "a: 1\n",
     .config_hash = "aa"},
    {.name = "dac/1s",
     .group = "dac",
     .sweep_key = "gap",
     .sweep_value = 1,
     .store = "s3",
     .config = "a: 2\n",
     .config_hash = "bb"},
    {.name = "it's",
     .group = "",
     .sweep_key = "",
     .sweep_value = NAN,
     .store = "s3",
     .config = "a: 3\n",
     .config_hash = "cc"},
};

static atomic_int calls;
static atomic_int failing; /* seed that fails; -1: none */

static void make_trials(struct trial trials[TRIALS])
{
    for (size_t i = 0; i < TRIALS; i++)
        trials[i] = (struct trial){.arm = &arms[i / SEEDS], .seed = i % SEEDS};
}

/* Takes a while that depends on the seed, so that trials end in another order than they start. */
static int run_random(const struct trial *trial, struct run_results *results, char *error)
{
    atomic_fetch_add(&calls, 1);
    if ((int)trial->seed == atomic_load(&failing)) {
        snprintf(error, RUNNER_ERROR_MAX, "seed %d is unlucky", (int)trial->seed);
        return 1;
    }
    uint64_t actor = (uint64_t)trial->arm->name[0];
    struct random_stream stream = random_stream_make(trial->seed, actor);
    usleep((useconds_t)(random_next(&stream) % 3000));
    results->digest = random_next(&stream);
    run_results_add_metric(results, "success", "ratio", random_unit(&stream));
    for (int i = 0; i < 10; i++)
        run_results_add_point(results, "age", "s", (struct result_point){i, random_unit(&stream)});
    return 0;
}

static struct runner_options options_of(struct results_db *db, unsigned jobs, FILE *progress)
{
    return (struct runner_options){
        .experiment = "test",
        .mode = RESULTS_SIM,
        .commit = "abc",
        .command = "lakestream sim test.yaml --arm all",
        .repeat = "lakestream sim test.yaml",
        .jobs = jobs,
        .db = db,
        .run = run_random,
        .progress = progress,
    };
}

/* All trials into the database with so many workers; returns the status. */
static int run_all(struct results_db *db, unsigned jobs, FILE *progress,
                   struct runner_summary *summary)
{
    struct trial trials[TRIALS];
    make_trials(trials);
    struct runner_options options = options_of(db, jobs, progress);
    return runner_run(&options, trials, TRIALS, summary);
}

/* All that must not depend on the workers, as one text; free it. */
static char *rows(struct results_db *db)
{
    static const char sql[] =
        "SELECT group_concat(line, '|') FROM (SELECT arm || arm_group || seed || config_hash ||"
        " digest || ifnull(sweep_value, '') || (SELECT group_concat(name || printf('%.17g', value))"
        " FROM metric WHERE run = id) || (SELECT group_concat(t || printf('%.17g', value)) FROM"
        " series WHERE run = id) AS line FROM run ORDER BY arm, seed)";
    return fixture_text(db, sql);
}

static void rows_do_not_depend_on_the_workers(void)
{
    static const unsigned jobs[] = {1, 2, 4};
    char *expected = NULL;
    atomic_store(&failing, -1);
    for (size_t i = 0; i < HARNESS_COUNT(jobs); i++) {
        struct fixture fixture = fixture_make();
        struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
        struct runner_summary summary;
        CU_ASSERT_EQUAL(run_all(db, jobs[i], NULL, &summary), 0);
        CU_ASSERT_EQUAL(summary.done, TRIALS);
        CU_ASSERT_EQUAL(summary.skipped + summary.failed, 0);
        char *found = rows(db);
        if (expected == NULL)
            expected = strdup(found);
        CU_ASSERT_STRING_EQUAL(found, expected);
        CU_ASSERT_TRUE(strlen(found) > 1000);
        free(found);
        results_close(db);
        fixture_remove(&fixture);
    }
    free(expected);
}

static void what_is_there_is_skipped(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct trial trials[TRIALS];
    make_trials(trials);
    struct runner_options options = options_of(db, 2, NULL);
    atomic_store(&failing, -1);
    atomic_store(&calls, 0);
    CU_ASSERT_EQUAL(runner_run(&options, trials, 5, NULL), 0);
    CU_ASSERT_EQUAL(atomic_load(&calls), 5);
    struct runner_summary summary;
    CU_ASSERT_EQUAL(run_all(db, 4, NULL, &summary), 0);
    CU_ASSERT_EQUAL(summary.skipped, 5);
    CU_ASSERT_EQUAL(summary.done, TRIALS - 5);
    CU_ASSERT_EQUAL(atomic_load(&calls), TRIALS);
    CU_ASSERT_EQUAL(run_all(db, 4, NULL, &summary), 0);
    CU_ASSERT_EQUAL(summary.skipped, TRIALS);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM current_run"), TRIALS);
    results_close(db);
    fixture_remove(&fixture);
}

static void failures_are_told_with_a_way_to_repeat(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    char *told = NULL;
    size_t size = 0;
    FILE *progress = open_memstream(&told, &size);
    struct runner_summary summary;
    atomic_store(&failing, 5);
    CU_ASSERT_EQUAL(run_all(db, 2, progress, &summary), 1);
    fclose(progress);
    CU_ASSERT_EQUAL(summary.failed, ARMS);
    CU_ASSERT_EQUAL(summary.done, TRIALS - ARMS);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "arm dac/1s, seed 5: seed 5 is unlucky"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(told, "lakestream sim test.yaml --arm dac/1s --set seed=5 --seeds 1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "--arm 'it'\\''s' "));
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run WHERE seed = 5"), 0);
    free(told);
    atomic_store(&failing, -1);
    CU_ASSERT_EQUAL(run_all(db, 2, NULL, &summary), 0);
    CU_ASSERT_EQUAL(summary.done, ARMS);
    results_close(db);
    fixture_remove(&fixture);
}

static int run_violating(const struct trial *trial, struct run_results *results, char *error)
{
    results->violations = trial->seed == 3;
    return run_random(trial, results, error);
}

static void violations_fail_the_sweep(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    char *told = NULL;
    size_t size = 0;
    FILE *progress = open_memstream(&told, &size);
    struct trial trials[TRIALS];
    make_trials(trials);
    struct runner_options options = options_of(db, 2, progress);
    options.run = run_violating;
    atomic_store(&failing, -1);
    CU_ASSERT_EQUAL(runner_run(&options, trials, SEEDS, NULL), 1);
    fclose(progress);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "arm fixed, seed 3: the checkers found 1 violation"));
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT violations FROM run WHERE seed = 3"), 1);
    free(told);
    results_close(db);
    fixture_remove(&fixture);
}

/* The first trials end; then one asks for the signal and waits until it came. */
static int run_interrupted(const struct trial *trial, struct run_results *results, char *error)
{
    if (atomic_load(&calls) < 4)
        return run_random(trial, results, error);
    raise(SIGINT);
    raise(SIGINT); /* twice at once, as timeout(1) does: one request */
    while (!runner_interrupted())
        usleep(1000);
    return 1;
}

static void interrupted_sweep_goes_on(void)
{
    struct fixture fixture = fixture_make();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char message[RESULTS_MESSAGE_MAX];
        struct results_db *db = NULL;
        if (results_open(fixture.path, RESULTS_WRITE, &db, message) != RESULTS_OK)
            _exit(9);
        struct trial trials[TRIALS];
        make_trials(trials);
        char *told = NULL;
        size_t size = 0;
        FILE *progress = open_memstream(&told, &size);
        struct runner_options options = options_of(db, 1, progress);
        options.run = run_interrupted;
        atomic_store(&failing, -1);
        atomic_store(&calls, 0);
        struct runner_summary summary;
        int status = runner_run(&options, trials, TRIALS, &summary);
        fclose(progress);
        if (!summary.interrupted || summary.failed != 0 || strstr(told, "interrupted") == NULL ||
            strstr(told, "stopping: runs in progress are finished") == NULL ||
            strstr(told, "to go on: lakestream sim test.yaml --arm all\n") == NULL)
            status = 8;
        free(told);
        results_close(db);
        _exit(status);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 1);
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 4);
    struct runner_summary summary;
    atomic_store(&failing, -1);
    CU_ASSERT_EQUAL(run_all(db, 2, NULL, &summary), 0);
    CU_ASSERT_EQUAL(summary.skipped, 4);
    results_close(db);
    fixture_remove(&fixture);
}

static void estimates_prefer_what_was_seen(void)
{
    struct runner_estimate estimates[3] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < ARMS; i++)
        CU_ASSERT_EQUAL(runner_estimate_find(estimates, &count, &arms[i]), i);
    CU_ASSERT_EQUAL(runner_estimate_find(estimates, &count, &arms[1]), 1);
    CU_ASSERT_TRUE(runner_expected_s(estimates, count, 0) < 0);
    estimates[1].past_s = 8;
    CU_ASSERT_DOUBLE_EQUAL(runner_expected_s(estimates, count, 1), 8, 0);
    CU_ASSERT_DOUBLE_EQUAL(runner_expected_s(estimates, count, 0), 8, 0);
    runner_estimate_add(&estimates[1], 2);
    runner_estimate_add(&estimates[1], 4);
    CU_ASSERT_DOUBLE_EQUAL(runner_expected_s(estimates, count, 1), 3, 0);
    runner_estimate_add(&estimates[0], 1);
    CU_ASSERT_DOUBLE_EQUAL(runner_expected_s(estimates, count, 2), 2, 0);
}

static void database_faults_stop_the_sweep(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    CU_ASSERT_EQUAL(fixture_execute(db, "CREATE TRIGGER broken BEFORE INSERT ON run WHEN new.seed ="
                                        " 2 BEGIN SELECT raise(ABORT, 'planted'); END"),
                    0);
    char *told = NULL;
    size_t size = 0;
    FILE *progress = open_memstream(&told, &size);
    struct runner_summary summary;
    atomic_store(&failing, -1);
    CU_ASSERT_EQUAL(run_all(db, 1, progress, &summary), 1);
    fclose(progress);
    CU_ASSERT_EQUAL(summary.done, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "stopped: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "planted"));
    free(told);
    results_close(db);
    fixture_remove(&fixture);
}

const struct harness_test runner_tests[] = {
    HARNESS_TEST(rows_do_not_depend_on_the_workers),
    HARNESS_TEST(what_is_there_is_skipped),
    HARNESS_TEST(failures_are_told_with_a_way_to_repeat),
    HARNESS_TEST(violations_fail_the_sweep),
    HARNESS_TEST(interrupted_sweep_goes_on),
    HARNESS_TEST(estimates_prefer_what_was_seen),
    HARNESS_TEST(database_faults_stop_the_sweep),
    {0},
};
