/* simulate_test.c - what a simulated run reports, against what its config makes it do. */
#include "experiments/trials/simulate.h"

#include <math.h>

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

const struct harness_test simulate_tests[] = {
    HARNESS_TEST(requests_count_when_they_are_answered),
    {0},
};
