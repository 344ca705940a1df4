/* live_wrappers_test.c - live runs whose store is metered, made slow and made faulty. */
#include "experiments/live/live_wrappers.h"

#include <math.h>
#include <string.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define SLOW                                                                                       \
    "live.shape: on\n"                                                                             \
    "store: {apply_fraction: 0.5, get.base: 100ms, get.sigma: 0, put.base: 20ms, put.sigma: 0,\n"  \
    "  create.base: 100ms, create.sigma: 0, list.base: 100ms, list.sigma: 0}\n"

/* Runs two producers so long, and leaves a chain without a problem, which holds so many batches. */
static long long run(const char *scratch, int duration_ms, const char *more)
{
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    char url[LIVE_PATH_MAX];
    int status = -1;
    struct live_process process;
    live_write_config(scratch, 2, duration_ms, more);
    live_path(config, scratch, "config.yaml");
    live_path(db, scratch, "results.db");
    struct live_process_options options = {
        .scratch = scratch, .name = "live", .arguments = {"live", config, "--db", db}};
    CU_ASSERT_EQUAL(live_process_run(&process, &options), 0);
    CU_ASSERT_TRUE_FATAL(live_run_url(scratch, "fixed", url));
    json_t *report = live_inspect(scratch, url, "--deep", &status);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
    long long verified = live_number(report, "tgbs", "verified");
    CU_ASSERT(verified > 0);
    json_decref(report);
    return verified;
}

static void what_the_store_did_is_in_the_database(void)
{
    char scratch[SCRATCH_MAX];
    live_scratch_make(scratch);
    long long batches = run(scratch, 1500, "");
    double puts = live_metric(scratch, "requests_put");
    CU_ASSERT(puts > 0 && puts < (double)batches + 100); /* not all of them were committed */
    CU_ASSERT_EQUAL(live_metric(scratch, "bytes_put"), puts * 16384);
    CU_ASSERT(live_metric(scratch, "requests_put_if_absent") >= live_metric(scratch, "attempts"));
    CU_ASSERT(live_metric(scratch, "latency_put_median_s") > 0);
    CU_ASSERT(live_metric(scratch, "latency_put_p99_s") >=
              live_metric(scratch, "latency_put_median_s"));
    CU_ASSERT(live_metric(scratch, "latency_list_median_s") > 0);
    CU_ASSERT(live_metric(scratch, "in_flight_max") >= 1);
    CU_ASSERT_EQUAL(live_metric(scratch, "retries_unknown"), 0);
    scratch_remove(scratch);
}

/* An attempt is at least LIST, GET, create, LIST. */
static void a_shaped_store_is_as_slow_as_its_profile(void)
{
    char scratch[SCRATCH_MAX];
    live_scratch_make(scratch);
    run(scratch, 2500, SLOW);
    CU_ASSERT(live_metric(scratch, "attempt_time_s") >= 0.4);
    /* Below the shape: the directory's own. */
    CU_ASSERT(live_metric(scratch, "latency_list_median_s") < 0.1);
    scratch_remove(scratch);
}

static void production_goes_on_beside_commits_in_the_background(void)
{
    char scratch[SCRATCH_MAX];
    live_scratch_make(scratch);
    long long inline_batches = run(scratch, 2500, SLOW);
    scratch_remove(scratch);
    live_scratch_make(scratch);
    long long batches = run(scratch, 2500, SLOW "workload.mode: background\n");
    CU_ASSERT(batches > 2 * inline_batches);
    scratch_remove(scratch);
}

static void faults_lose_nothing(void)
{
    static const char faults[] =
        "live.fault: {timeout: 100ms, late_max: 1s, delay_max: 50ms,\n"
        "  read.lost_answer: 0.05, read.error: 0.05, read.throttled: 0.02, read.delay: 0.05,\n"
        "  read.reorder: 0.05, read.short_page: 0.2,\n"
        "  write.lost_request: 0.05, write.lost_answer: 0.05, write.late: 0.05,\n"
        "  write.error: 0.05, write.throttled: 0.02, write.delay: 0.05, write.reorder: 0.05,\n"
        "  write.error_applied: 0.05,\n"
        "  create.lost_request: 0.1, create.lost_answer: 0.1, create.late: 0.1,\n"
        "  create.busy: 0.1, create.error: 0.1, create.throttled: 0.05, create.delay: 0.05,\n"
        "  create.reorder: 0.05, create.error_applied: 0.05, create.throttled_applied: 0.05,\n"
        "  burst: 0.5, burst_period: 1s, burst_max: 500ms}\n";
    char scratch[SCRATCH_MAX];
    live_scratch_make(scratch);
    run(scratch, 4000, faults);
    CU_ASSERT(live_metric(scratch, "retries_unknown") > 0);
    CU_ASSERT(live_metric(scratch, "retries_busy") > 0);
    CU_ASSERT(live_metric(scratch, "won") > 0);
    scratch_remove(scratch);
}

/* All operations of both producers, for up to 0.9 s in each second. */
static void bursts_are_throttled_and_lose_nothing(void)
{
    char scratch[SCRATCH_MAX];
    live_scratch_make(scratch);
    run(scratch, 4000, "live.fault: {burst: 1, burst_period: 1s, burst_max: 900ms}\n");
    CU_ASSERT(live_metric(scratch, "retries_throttled") > 0);
    CU_ASSERT_EQUAL(live_metric(scratch, "retries_unknown"), 0);
    scratch_remove(scratch);
}

/* The run fails, whatever was refused; its chain is whole. */
static void a_refusal_for_good_ends_the_run_and_names_it(void)
{
    static const char *const keys[] = {"read.refused", "write.refused", "write.refused_applied",
                                       "create.refused"};
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++) {
        char scratch[SCRATCH_MAX];
        char config[LIVE_PATH_MAX];
        char url[LIVE_PATH_MAX];
        char more[LIVE_PATH_MAX];
        int status = -1;
        struct live_process process;
        live_scratch_make(scratch);
        live_path(config, scratch, "config.yaml");
        snprintf(more, sizeof(more), "live.fault: {%s: 0.02}\n", keys[i]);
        live_write_config(scratch, 2, 60000, more);
        struct live_process_options options = {
            .scratch = scratch, .name = "live", .arguments = {"live", config}};
        CU_ASSERT_EQUAL(live_process_run(&process, &options), 1);
        CU_ASSERT(live_count_in(process.err, ": fault refused") > 0);
        CU_ASSERT_TRUE_FATAL(live_run_url(scratch, "fixed", url));
        json_t *report = live_inspect(scratch, url, "--deep", &status);
        CU_ASSERT_PTR_NOT_NULL_FATAL(report);
        CU_ASSERT_EQUAL(status, 0);
        CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
        json_decref(report);
        scratch_remove(scratch);
    }
}

static void shares_above_one_are_refused(void)
{
    char scratch[SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    live_write_config(scratch, 2, 500, "live.fault: {create.busy: 0.7, create.late: 0.6}\n");
    live_path(config, scratch, "config.yaml");
    struct live_process_options options = {
        .scratch = scratch, .name = "live", .arguments = {"live", config}};
    CU_ASSERT_EQUAL(live_process_run(&process, &options), 2);
    CU_ASSERT_EQUAL(live_count_in(process.err, "config.yaml:"), 1);
    CU_ASSERT_EQUAL(live_count_in(process.err, "live.fault.create.* add up to 1.3"), 1);
    live_write_config(scratch, 2, 500, "live.fault: {burst: 0.5, burst_max: 60s}\n");
    CU_ASSERT_EQUAL(live_process_run(&process, &options), 2);
    CU_ASSERT_EQUAL(
        live_count_in(process.err, "burst_max (1min) must be below live.fault.burst_period (1min)"),
        1);
    scratch_remove(scratch);
}

const struct harness_test live_wrappers_tests[] = {
    HARNESS_TEST(what_the_store_did_is_in_the_database),
    HARNESS_TEST(a_shaped_store_is_as_slow_as_its_profile),
    HARNESS_TEST(production_goes_on_beside_commits_in_the_background),
    HARNESS_TEST(faults_lose_nothing),
    HARNESS_TEST(bursts_are_throttled_and_lose_nothing),
    HARNESS_TEST(a_refusal_for_good_ends_the_run_and_names_it),
    HARNESS_TEST(shares_above_one_are_refused),
    {0},
};
