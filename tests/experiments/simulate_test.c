/* simulate_test.c - what a simulated run reports, against what its config makes it do. */
#include "experiments/trials/simulate.h"

#include <math.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/trials/runner.h"
#include "tests/harness.h"

static void set(struct config *config, const char *key, const char *text)
{
    const struct origin origin = {.kind = ORIGIN_SET};
    struct diagnostic diagnostic;
    CU_ASSERT(option_set(config, option_find(key), text, &origin, &diagnostic));
}

static double metric(const struct run_results *results, const char *name)
{
    const struct result_metric *found = run_results_metric(results, name);
    return found != NULL ? found->value : NAN;
}

/* One producer that commits three times an hour: its uploads are spread evenly, and those of the
 * warm-up are left out by their own time, not by that of the last commit. */
static void requests_count_when_they_are_answered(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    config_default(&config);
    set(&config, "workload.producers", "1");
    set(&config, "workload.jitter", "0");
    set(&config, "workload.mode", "background");
    set(&config, "run.duration", "1h");
    set(&config, "policy.name", "fixed");
    set(&config, "policy.fixed.gap", "20min");
    CU_ASSERT_EQUAL(simulate_once(&config, 1, &results, error), 0);
    double per_s = config.workload.rate / (double)config.workload.tgb_bytes;
    double after_warmup_s = (double)(config.run.duration_ns - config.run.warmup_ns) / 1e9;
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "requests_put"), per_s * after_warmup_s, 2);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "bytes_put"),
                           metric(&results, "requests_put") * (double)config.workload.tgb_bytes, 1);
    CU_ASSERT_EQUAL(results.violations, 0);
    run_results_deinit(&results);
}

/* What ranks of a small job read: with a mesh each its slices, without one whole TGBs. */
static void small_job(struct config *config)
{
    config_default(config);
    set(config, "workload.producers", "2");
    set(config, "workload.tgb", "4MiB");
    set(config, "workload.rate", "2MiB/s");
    set(config, "run.duration", "10min");
    set(config, "run.warmup", "1min");
    set(config, "ranks.count", "4");
    set(config, "ranks.step", "500ms");
    set(config, "ranks.checkpoint_every", "20");
    set(config, "policy.name", "fixed");
}

static void ranks_read_their_slices(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    small_job(&config);
    set(&config, "tgb.mesh", "2x2");
    CU_ASSERT_EQUAL_FATAL(simulate_once(&config, 1, &results, error), 0);
    double given = metric(&results, "ranks_given");
    /* Close to one step a second and rank, after the warm-up. */
    CU_ASSERT(given > 4 * 500 && given <= 4 * 541);
    /* A slice is a slot without its header. */
    double slot = (double)(((4 << 20) - TGB_INDEX_HEADER_BYTES) / 4 - TGB_SLICE_HEADER_BYTES);
    CU_ASSERT_EQUAL(metric(&results, "ranks_needed_bytes"),
                    given * (slot - TGB_SLICE_HEADER_BYTES));
    CU_ASSERT(metric(&results, "read_amplification") > 1.00003);
    CU_ASSERT(metric(&results, "read_amplification") < 1.005);
    CU_ASSERT(metric(&results, "ranks_slice_requests") >= given);
    CU_ASSERT(metric(&results, "requests_per_step") > 1);
    CU_ASSERT(metric(&results, "checkpoints") >= 4 * 24);
    CU_ASSERT_EQUAL(metric(&results, "floor_step"), 0);
    CU_ASSERT_EQUAL(metric(&results, "live_steps"), metric(&results, "committed_steps"));
    const struct result_series *series = run_results_series(&results, "rank_3_steps");
    CU_ASSERT_FATAL(series != NULL && series->point_count == 2);
    CU_ASSERT(series->points[1].value > series->points[0].value + 250);
    run_results_deinit(&results);
}

static void what_is_reclaimed_is_counted(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    small_job(&config);
    set(&config, "tgb.mesh", "2x2");
    set(&config, "reclaim.count", "1");
    set(&config, "reclaim.period", "10s");
    set(&config, "reclaim.grace", "0s");
    CU_ASSERT_EQUAL_FATAL(simulate_once(&config, 1, &results, error), 0);
    CU_ASSERT(metric(&results, "reclaim_rounds") > 30);
    CU_ASSERT_EQUAL(metric(&results, "reclaim_failed"), 0);
    CU_ASSERT(metric(&results, "reclaimed_tgbs") > 400);
    CU_ASSERT_EQUAL(metric(&results, "reclaimed_tgb_bytes"),
                    metric(&results, "reclaimed_tgbs") * (4 << 20));
    CU_ASSERT(metric(&results, "reclaimed_versions") > 50);
    /* Nothing was deleted that is live; what was not deleted yet is little. */
    CU_ASSERT(metric(&results, "floor_step") > metric(&results, "reclaimed_tgbs"));
    CU_ASSERT(metric(&results, "live_steps") < 150);
    CU_ASSERT(metric(&results, "tgb_bytes") < 200 * (4 << 20));
    CU_ASSERT(metric(&results, "requests_delete") == 0); /* by producers */
    run_results_deinit(&results);
}

static void incidents_cost_no_step(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    small_job(&config);
    set(&config, "tgb.mesh", "2x2");
    set(&config, "run.warmup", "0s");
    set(&config, "run.bin", "10s");
    set(&config, "run.incidents", "producer:1@2min+30s,rollback:0-3@5min+5s,outage@7min+20s");
    CU_ASSERT_EQUAL_FATAL(simulate_once(&config, 1, &results, error), 0);
    CU_ASSERT_EQUAL(metric(&results, "skipped_steps"), 0);
    /* Three checkpoints, 20 steps apart, to the oldest of which each of four ranks goes back. */
    CU_ASSERT(metric(&results, "replayed_steps") >= 4 * 40);
    CU_ASSERT(metric(&results, "replayed_steps") <= 4 * 80);
    CU_ASSERT(metric(&results, "ranks_given") - metric(&results, "replayed_steps") > 4 * 450);
    const struct result_series *dies = run_results_series(&results, "producer_1_batches");
    CU_ASSERT_FATAL(dies != NULL && dies->point_count == 60);
    CU_ASSERT_EQUAL(dies->points[12].value, dies->points[14].value); /* 130 to 150 s */
    CU_ASSERT(dies->points[59].value > dies->points[14].value + 100);
    set(&config, "run.incidents", "rank:4@1min+1s");
    CU_ASSERT_EQUAL(simulate_once(&config, 1, &results, error), 1);
    CU_ASSERT_STRING_EQUAL(error, "the simulator cannot run this config: an incident is about a "
                                  "process that the run does not have");
    run_results_deinit(&results);
}

static void ranks_without_a_mesh_read_whole_tgbs(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    small_job(&config);
    CU_ASSERT_EQUAL_FATAL(simulate_once(&config, 1, &results, error), 0);
    CU_ASSERT_EQUAL(metric(&results, "ranks_needed_bytes"),
                    metric(&results, "ranks_given") * (1 << 20));
    CU_ASSERT(metric(&results, "read_amplification") >= 4);
    CU_ASSERT(metric(&results, "read_amplification") < 4.02);
    run_results_deinit(&results);
}

static void a_run_that_no_memory_holds_is_refused(void)
{
    static struct config config;
    struct run_results results = {0};
    char error[RUNNER_ERROR_MAX] = "";
    config_default(&config);
    set(&config, "workload.producers", "1024");
    set(&config, "workload.tgb", "64KiB");
    set(&config, "run.duration", "10000h");
    CU_ASSERT_EQUAL(simulate_once(&config, 1, &results, error), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "of memory at least, and this machine has "));
    run_results_deinit(&results);
}

const struct harness_test simulate_tests[] = {
    HARNESS_TEST(ranks_read_their_slices),
    HARNESS_TEST(what_is_reclaimed_is_counted),
    HARNESS_TEST(incidents_cost_no_step),
    HARNESS_TEST(ranks_without_a_mesh_read_whole_tgbs),
    HARNESS_TEST(requests_count_when_they_are_answered),
    HARNESS_TEST(a_run_that_no_memory_holds_is_refused),
    {0},
};
