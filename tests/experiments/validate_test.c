/* Tests of `lakestream validate`: the measurement's file, the models' promises, and the verb. */
#include "experiments/validate/validate_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/config/options.h"
#include "experiments/validate/validate_fit.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

#define MEASUREMENT "configs/validate/contention.csv"
#define HEAD "store,clients,successes_per_s,failed_percent,success_median_ms,success_p99_ms\n"
#define SEEDS 2

static bool read_text(const char *text, struct measured *measured, struct diagnostic *diagnostic)
{
    char path[SCRATCH_MAX];
    scratch_file(path, text);
    bool read = measured_read(path, measured, diagnostic);
    unlink(path);
    return read;
}

static void the_measurement_has_ten_rows(void)
{
    struct measured measured;
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE_FATAL(measured_read(MEASUREMENT, &measured, &diagnostic));
    CU_ASSERT_EQUAL(measured.count, 10);
    CU_ASSERT_STRING_EQUAL(measured.rows[9].store, "s3-express");
    CU_ASSERT_EQUAL(measured.rows[9].clients, 16);
    CU_ASSERT_EQUAL(measured.rows[9].values[MEASURED_SUCCESSES], 75.3);
    CU_ASSERT_EQUAL(measured.rows[9].values[MEASURED_P99], 62.9);
}

static void bad_measurements_are_refused(void)
{
    static const char *const texts[] = {
        "",
        "store,clients\n",
        HEAD,
        HEAD "s3,1,2,3,4\n",
        HEAD "s3,1,2,3,4,5,6\n",
        HEAD "s3,0,2,3,4,5\n",
        HEAD "s3,one,2,3,4,5\n",
        HEAD "s3,1,0,3,4,5\n",
        HEAD "s3,1,2,3,-4,5\n",
        HEAD "s3,1,2,-3,4,5\n",
        HEAD "s3,1,2,101,4,5\n",
        HEAD ",1,2,3,4,5\n",
        HEAD "a-name-that-is-longer-than-any-store-has,1,2,3,4,5\n",
    };
    for (size_t i = 0; i < HARNESS_COUNT(texts); i++) {
        struct measured measured;
        struct diagnostic diagnostic = {""};
        CU_ASSERT_FALSE(read_text(texts[i], &measured, &diagnostic));
        CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "lakestream-test-"));
    }
}

static void a_good_measurement_is_read(void)
{
    struct measured measured;
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE_FATAL(read_text(HEAD "s3,2,14.9,46.1,63.5,100\n", &measured, &diagnostic));
    CU_ASSERT_EQUAL(measured.count, 1);
    CU_ASSERT_EQUAL(measured.rows[0].values[MEASURED_FAILED], 46.1);
}

static void deviations_are_points_or_per_cent(void)
{
    CU_ASSERT_DOUBLE_EQUAL(measured_deviation(MEASURED_FAILED, 48.1, 46.1), 2.0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(measured_deviation(MEASURED_P99, 110, 100), 10.0, 1e-9);
}

static void promises_are_those_of_the_page(void)
{
    struct measured_row standard = {.store = "s3-standard", .clients = 16};
    struct measured_row express = {.store = "s3-express", .clients = 16};
    CU_ASSERT_EQUAL(validate_limit(VALIDATE_SIMPLE, &standard, MEASURED_SUCCESSES), 12.0);
    CU_ASSERT_EQUAL(validate_limit(VALIDATE_SIMPLE, &standard, MEASURED_FAILED), 2.5);
    CU_ASSERT_TRUE(isinf(validate_limit(VALIDATE_SIMPLE, &standard, MEASURED_P99)));
    CU_ASSERT_TRUE(isinf(validate_limit(VALIDATE_SIMPLE, &express, MEASURED_SUCCESSES)));
    express.clients = 4;
    CU_ASSERT_EQUAL(validate_limit(VALIDATE_SIMPLE, &express, MEASURED_SUCCESSES), 10.0);
    CU_ASSERT_EQUAL(validate_limit(VALIDATE_LEFT_OUT, &express, MEASURED_P99), 30.0);
}

/* Simulates all rows of a store under a model. */
static void run_rows(enum validate_model model, const char *store, struct validate_report *report)
{
    static struct validate_paths paths;
    struct diagnostic diagnostic = {""};
    struct config *config = &report->configs[model][0];
    report->seeds = SEEDS;
    report->first_seed = 1;
    report->store_count = 1;
    report->stores[0] = store;
    CU_ASSERT_TRUE_FATAL(measured_read(MEASUREMENT, &report->measured, &diagnostic));
    CU_ASSERT_TRUE_FATAL(validate_model_load(model, store, &paths, config, &diagnostic));
    for (size_t i = 0; i < report->measured.count; i++) {
        if (strcmp(report->measured.rows[i].store, store) != 0)
            continue;
        struct validate_row *row = &report->rows[report->count++];
        row->measured = report->measured.rows[i];
        row->model = model;
        CU_ASSERT_TRUE_FATAL(validate_row_run(config, 1, SEEDS, row, &diagnostic));
    }
}

/* The means only: two seeds are too few for intervals. */
static size_t rows_outside(const struct validate_report *report)
{
    size_t outside = 0;
    for (size_t i = 0; i < report->count; i++)
        outside += report->rows[i].verdict == VALIDATE_OUTSIDE ? 1 : 0;
    return outside;
}

static void models_keep_their_promises(void)
{
    static const char *const stores[] = {"s3-standard", "s3-express"};
    for (enum validate_model model = 0; model <= VALIDATE_CONTENDED; model++)
        for (size_t s = 0; s < HARNESS_COUNT(stores); s++) {
            struct validate_report *report = calloc(1, sizeof(*report));
            CU_ASSERT_PTR_NOT_NULL_FATAL(report);
            run_rows(model, stores[s], report);
            CU_ASSERT_EQUAL(report->count, 5);
            CU_ASSERT_EQUAL(rows_outside(report), 0);
            free(report);
        }
}

static void a_report_is_markdown_json_and_points(void)
{
    struct validate_report *report = calloc(1, sizeof(*report));
    char *text = NULL;
    size_t size = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    run_rows(VALIDATE_LEFT_OUT, "s3-express", report);
    FILE *file = open_memstream(&text, &size);
    validate_report_markdown(report, file);
    validate_report_plot(report, file, file);
    fclose(file);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| s3-express | 4 (left out) | 76.2 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "stores = 's3-express'"));
    json_t *json = validate_report_json(report);
    CU_ASSERT_EQUAL(json_array_size(json), 5);
    json_t *failed = json_object_get(json_array_get(json, 0), "failed_percent");
    CU_ASSERT_EQUAL(json_real_value(json_object_get(failed, "measured")), 0.0);
    CU_ASSERT_TRUE(json_is_false(json_object_get(json_array_get(json, 2), "fitted")));
    json_decref(json);
    free(text);
    free(report);
}

static void fitted_parameters_are_config_keys(void)
{
    for (size_t i = 0; i < VALIDATE_PARAMETERS; i++)
        CU_ASSERT_PTR_NOT_NULL(option_find(validate_parameter_key(i)));
}

const struct harness_test validate_tests[] = {
    HARNESS_TEST(the_measurement_has_ten_rows),
    HARNESS_TEST(bad_measurements_are_refused),
    HARNESS_TEST(a_good_measurement_is_read),
    HARNESS_TEST(deviations_are_points_or_per_cent),
    HARNESS_TEST(promises_are_those_of_the_page),
    HARNESS_TEST(models_keep_their_promises),
    HARNESS_TEST(a_report_is_markdown_json_and_points),
    HARNESS_TEST(fitted_parameters_are_config_keys),
    {0},
};
