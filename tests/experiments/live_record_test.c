/* live_record_test.c - what is recorded of live runs, and what is said of it. */
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/figure_data.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

/* Two producers for half a second on a scratch folder. */
struct record_case {
    char scratch[SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    struct live_process process;
};

static void case_open(struct record_case *live, const char *more)
{
    live_scratch_make(live->scratch);
    live_write_config(live->scratch, 2, 500, more);
    live_path(live->config, live->scratch, "config.yaml");
    live_path(live->db, live->scratch, "results.db");
}

static void case_close(struct record_case *live)
{
    scratch_remove(live->scratch);
}

/* The status; flag and value may be NULL. */
static int run(struct record_case *live, const char *flag, const char *value)
{
    struct live_process_options options = {
        .scratch = live->scratch,
        .name = "live",
        .arguments = {"live", live->config, "--db", live->db, flag, value},
    };
    return live_process_run(&live->process, &options);
}

/* What was measured in real time is not replaced without a word, before and after. */
static void a_run_that_replaces_another_says_so(void)
{
    struct record_case live;
    case_open(&live, "");
    CU_ASSERT_EQUAL(run(&live, NULL, NULL), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "replace"), 0);
    CU_ASSERT_EQUAL(run(&live, NULL, NULL), 0);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    char *said = live_read(live.process.err);
    const char *before = strstr(said, "1 of 1 runs will replace the one of 20");
    const char *begun = strstr(said, "probe/fixed seed 1: 2 producers");
    const char *after = strstr(said, "probe/fixed seed 1: replaced the run of 20");
    CU_ASSERT_TRUE_FATAL(before != NULL && begun != NULL && after != NULL);
    CU_ASSERT(before < begun && begun < after);
    CU_ASSERT_PTR_NOT_NULL(strstr(before, "another --db FILE or --set seed=N"));
    free(said);
    case_close(&live);
}

static void only_the_arms_asked_for_are_shown(void)
{
    struct record_case live;
    case_open(&live, "arms: [{name: wanted}, {name: unasked}]\n");
    CU_ASSERT_EQUAL(run(&live, NULL, NULL), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "unasked"), 1);
    CU_ASSERT_EQUAL(run(&live, "--arm", "wanted"), 0);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 2);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "wanted"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "unasked"), 0);
    case_close(&live);
}

/* Arms of live runs that a figure takes. */
static size_t drawn_arms(const struct record_case *live)
{
    char message[RESULTS_MESSAGE_MAX];
    struct results_db *db = NULL;
    struct figure_data data;
    struct diagnostic diagnostic;
    CU_ASSERT_EQUAL_FATAL(results_open(live->db, RESULTS_READ, &db, message), RESULTS_OK);
    CU_ASSERT_TRUE_FATAL(figure_data_load(db, "probe", RESULTS_LIVE, &data, &diagnostic));
    size_t count = data.arm_count;
    figure_data_deinit(&data);
    results_close(db);
    return count;
}

/* It begins with a manifest that a fresh run has only at its end. */
static void a_resumed_run_is_not_drawn_beside_fresh_ones(void)
{
    struct record_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, "");
    CU_ASSERT_EQUAL(run(&live, NULL, NULL), 0);
    CU_ASSERT_EQUAL(live_metric(live.scratch, "resumed"), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "went on with"), 0);
    CU_ASSERT_EQUAL(drawn_arms(&live), 1);
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    CU_ASSERT_EQUAL(run(&live, "--resume", url), 0);
    CU_ASSERT_EQUAL(live_metric(live.scratch, "resumed"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "* probe fixed: 1 of its runs went on"), 1);
    CU_ASSERT_EQUAL(drawn_arms(&live), 0);
    case_close(&live);
}

const struct harness_test live_record_tests[] = {
    HARNESS_TEST(a_run_that_replaces_another_says_so),
    HARNESS_TEST(only_the_arms_asked_for_are_shown),
    HARNESS_TEST(a_resumed_run_is_not_drawn_beside_fresh_ones),
    {0},
};
