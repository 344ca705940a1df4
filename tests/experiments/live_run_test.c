/* live_run_test.c - caps: a sweep that is not started, a run that is stopped. */
#include "experiments/live/live_run.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/live/live_place.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

/* Four producers on a scratch folder. */
struct run_case {
    char scratch[SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
};

static void case_open(struct run_case *live, int duration_ms, const char *more)
{
    live_scratch_make(live->scratch);
    live_write_config(live->scratch, 4, duration_ms, more);
    live_path(live->config, live->scratch, "config.yaml");
    live_path(live->db, live->scratch, "results.db");
}

/* What the sweep is expected to do is above a cap: nothing is touched. */
static void a_sweep_above_a_cap_does_not_start(void)
{
    static const char *const caps[] = {"live.cap_bytes=1MB", "live.cap_requests=10"};
    struct run_case live;
    char store[LIVE_PATH_MAX];
    case_open(&live, 30000, "");
    live_path(store, live.scratch, "store");
    for (size_t i = 0; i < HARNESS_COUNT(caps); i++) {
        struct live_process_options options = {
            .scratch = live.scratch,
            .name = "capped",
            .arguments = {"live", live.config, "--db", live.db, "--set", caps[i]},
        };
        struct live_process process;
        CU_ASSERT_EQUAL(live_process_run(&process, &options), 1);
        CU_ASSERT_EQUAL(live_count_in(process.err, "expected, by simulating"), 1);
        CU_ASSERT_EQUAL(live_count_in(process.err, "not started"), 1);
        CU_ASSERT_NOT_EQUAL(access(store, F_OK), 0);
    }
    scratch_remove(live.scratch);
}

/* Below the estimate's check, with a cap of 100 requests, alone or as rank 0 of so many. Returns
 * the outcome; -1: it was not run. */
static int run_under_a_cap(const struct run_case *live, uint64_t before, uint32_t ranks,
                           struct live_report *report)
{
    static struct live_group group;
    struct experiment experiment;
    struct diagnostic diagnostic;
    struct overrides none = {0};
    struct live_place claimed;
    char error[LIVE_PLACE_TEXT_MAX];
    if (!experiment_load(live->config, none, &experiment, &diagnostic))
        return -1;
    struct live_place_options place = {.experiment = &experiment, .arm = &experiment.arms[0]};
    if (live_place_claim(&place, &claimed, error) != OPEN_OK)
        return -1;
    struct live_signals signals;
    struct run_results results = {0};
    live_signals_open(&signals);
    group = (struct live_group){.ranks = {.count = ranks},
                                .config = &experiment.arms[0].config,
                                .url = claimed.url,
                                .signals = &signals};
    live_group_draw_id(group.id);
    struct live_run_options options = {
        .config = &experiment.arms[0].config,
        .name = "capped",
        .url = claimed.url,
        .signals = &signals,
        .messages = stderr,
        .runs_total = 1,
        .cap = {.dollars = 1, .bytes = UINT64_MAX, .requests = 100},
        .before = {.requests = {[STORE_LIST] = before}},
        .group = ranks > 1 ? &group : NULL,
    };
    return (int)live_run(&options, &results, report);
}

/* Returns the outcome, if it said what it must. */
static int run_into_a_cap(const struct run_case *live)
{
    struct live_report report = {0};
    int outcome = run_under_a_cap(live, 40, 1, &report);
    bool told = strstr(report.text, "live.cap_requests (100)") != NULL &&
                live_cost_requests(&report.cost) > 60 && report.memory_bytes > 0;
    return told ? outcome : -1;
}

/* With another rank, which never comes; before it both asked for 60 of the 100. */
static int run_below_a_cap(const struct run_case *live)
{
    struct live_report report = {0};
    int outcome = run_under_a_cap(live, 60, 2, &report);
    return strstr(report.text, "did not stand ready") != NULL ? outcome : -1;
}

/* As live_run wants a process of its own; -1: it did not end by itself. */
static int run_in_a_child(const struct run_case *live, int (*run)(const struct run_case *live))
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run(live));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_cap_ends_a_run_cleanly(void)
{
    struct run_case live;
    char url[LIVE_PATH_MAX];
    int status = 0;
    case_open(&live, 60000, "");
    CU_ASSERT_EQUAL(run_in_a_child(&live, run_into_a_cap), LIVE_CAPPED);
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    json_t *report = live_inspect(live.scratch, url, "--deep", &status);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
    CU_ASSERT(live_number(report, "version_count", NULL) > 4);
    json_decref(report);
    scratch_remove(live.scratch);
}

static void what_ranks_asked_for_before_counts_once(void)
{
    struct run_case live;
    case_open(&live, 60000, "live.patience: 300ms\n");
    CU_ASSERT_EQUAL(run_in_a_child(&live, run_below_a_cap), LIVE_FAILED);
    scratch_remove(live.scratch);
}

const struct harness_test live_run_tests[] = {
    HARNESS_TEST(a_sweep_above_a_cap_does_not_start),
    HARNESS_TEST(a_cap_ends_a_run_cleanly),
    HARNESS_TEST(what_ranks_asked_for_before_counts_once),
    {0},
};
