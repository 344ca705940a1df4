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
    char scratch[LIVE_SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
};

static void case_open(struct run_case *live, int duration_ms)
{
    live_scratch_make(live->scratch);
    live_write_config(live->scratch, 4, duration_ms, "");
    live_path(live->config, live->scratch, "config.yaml");
    live_path(live->db, live->scratch, "results.db");
}

/* What the sweep is expected to do is above a cap: nothing is touched. */
static void a_sweep_above_a_cap_does_not_start(void)
{
    static const char *const caps[] = {"live.cap_bytes=1MB", "live.cap_requests=10"};
    struct run_case live;
    char store[LIVE_PATH_MAX];
    case_open(&live, 30000);
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
    live_scratch_remove(live.scratch);
}

/* Below the estimate's check: runs into the cap, and says what. Returns the outcome. */
static int run_into_a_cap(const struct run_case *live)
{
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
    struct live_report report;
    live_signals_open(&signals);
    struct live_run_options options = {
        .config = &experiment.arms[0].config,
        .name = "capped",
        .url = claimed.url,
        .signals = &signals,
        .messages = stderr,
        .runs_total = 1,
        .cap = {.dollars = 1, .bytes = UINT64_MAX, .requests = 100},
        .before = {.requests = {[STORE_LIST] = 40}},
    };
    enum live_outcome outcome = live_run(&options, &results, &report);
    bool told = strstr(report.text, "live.cap_requests (100)") != NULL &&
                live_cost_requests(&report.cost) > 60 && report.memory_bytes > 0;
    return told ? (int)outcome : -1;
}

static void a_cap_ends_a_run_cleanly(void)
{
    struct run_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, 60000);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_into_a_cap(&live));
    int status = 0;
    waitpid(pid, &status, 0);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), LIVE_CAPPED);
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    json_t *report = live_inspect(live.scratch, url, "--deep", &status);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
    CU_ASSERT(live_number(report, "version_count", NULL) > 4);
    json_decref(report);
    live_scratch_remove(live.scratch);
}

const struct harness_test live_run_tests[] = {
    HARNESS_TEST(a_sweep_above_a_cap_does_not_start),
    HARNESS_TEST(a_cap_ends_a_run_cleanly),
    {0},
};
