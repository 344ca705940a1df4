/* order_witness_test.c - the witness of the committed order: whose number it takes, whose file it
 * writes on, and what it holds. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

static void a_witness_is_no_rank(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 5);
    live_path(path, plane.scratch, "order");
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--order", path, "--steps", "5", "--rank", "1")),
        2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "a number that no rank has, 2 or more"));
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--json")), 0);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "consumers", NULL), 0);
    json_decref(report);
    plane_close(&plane);
}

/* An order of this run, with these lines. */
static void write_order(const struct plane *plane, const char *lines)
{
    char path[LIVE_PATH_MAX];
    char text[256];
    live_path(path, plane->folder, "run+/format");
    json_t *marker = json_load_file(path, 0, NULL);
    const char *run = json_string_value(json_object_get(marker, "identity"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(run);
    snprintf(text, sizeof(text), "run %s\n%s", run, lines);
    json_decref(marker);
    plane_write(plane, "../order", text);
}

static void an_order_that_the_chain_does_not_bear_out_is_refused(void)
{
    static const struct {
        const char *line;
        const char *error;
    } cases[] = {
        {"9 0 1 9 16384\n", "ends with step 9, which is not in this chain"},
        {"3 7 1 3 16384\n", "ends with step 3, which is another batch in this chain"},
        {"3 0 1 3 16384\n", NULL},
    };
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 5);
    live_path(path, plane.scratch, "order");
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        unlink(path);
        write_order(&plane, cases[i].line);
        CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                                  PLANE_WORDS("--order", path, "--steps", "2", "--rank", "9")),
                        cases[i].error != NULL ? 1 : 0);
        if (cases[i].error != NULL)
            CU_ASSERT_TRUE(plane_said(&plane.process, cases[i].error));
    }
    CU_ASSERT_EQUAL(live_count_in(path, "\n"), 4);
    plane_close(&plane);
}

/* Though both runs have the same lines. */
static void another_runs_order_is_refused(void)
{
    struct plane plane;
    struct plane other;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 5);
    plane_open(&other, "2x1", 5);
    live_path(path, plane.scratch, "order");
    const char *const *words = PLANE_WORDS("--order", path, "--steps", "2");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(plane_run(&other, "consume", words), 1);
    CU_ASSERT_TRUE(plane_said(&other.process, "is the order of another run"));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(live_count_in(path, "\n"), 5);
    plane_close(&other);
    plane_close(&plane);
}

static void a_witness_holds_what_it_has_not_written(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    live_path(path, plane.scratch, "order");
    /* Away after five steps: what comes behind them is held. */
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--order", path, "--steps", "5", "--rank", "9")),
        0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--ranks", "2", "--steps", "17", "--checkpoints",
                                          plane.checkpoints, "--checkpoint-every", "4")),
                    0);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--json")), 0);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "holder", NULL), 9);
    CU_ASSERT_EQUAL(live_number(report, "watermark", NULL), 6);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", NULL), 5);
    json_decref(report);
    /* It goes on where its file ends, and lets go in the end. */
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume",
                  PLANE_WORDS("--order", path, "--steps", "15", "--rank", "9", "--retire")),
        0);
    CU_ASSERT_EQUAL(live_count_in(path, "\n"), 21);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--json")), 0);
    report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "floor_step", NULL), 13);
    json_decref(report);
    /* One that is too late is told: the next version lists the steps no longer. */
    plane_produce(&plane, "2x1", 1);
    unlink(path);
    write_order(&plane, "1 0 1 1 16384\n");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--order", path, "--steps", "9")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "the steps 2 to 12 were given up"));
    plane_close(&plane);
}

/* Though nothing comes behind it that would be news. */
static void the_end_of_the_news_is_let_go_too(void)
{
    struct plane plane;
    struct live_process witness;
    char path[LIVE_PATH_MAX];
    long long watermark = 0;
    plane_open(&plane, "2x1", 20);
    live_path(path, plane.scratch, "order");
    plane_start(&plane, &witness, "witness", "consume",
                PLANE_WORDS("--order", path, "--rank", "9"));
    CU_ASSERT_TRUE(live_wait_for(path, "\n", 21, 30));
    plane_produce(&plane, "2x1", 1);
    CU_ASSERT_TRUE(live_wait_for(path, "\n", 22, 30));
    for (int looks = 0; looks < 100 && watermark != 22; looks++) {
        live_pause(100);
        CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--dry-run", "--json")), 0);
        json_t *report = plane_json(&plane.process);
        watermark = live_number(report, "watermark", NULL);
        json_decref(report);
    }
    CU_ASSERT_EQUAL(watermark, 22);
    kill(witness.pid, SIGTERM);
    CU_ASSERT_EQUAL(live_process_wait(&witness, 30), 0);
    plane_close(&plane);
}

const struct harness_test order_witness_tests[] = {
    HARNESS_TEST(a_witness_is_no_rank),
    HARNESS_TEST(an_order_that_the_chain_does_not_bear_out_is_refused),
    HARNESS_TEST(another_runs_order_is_refused),
    HARNESS_TEST(a_witness_holds_what_it_has_not_written),
    HARNESS_TEST(the_end_of_the_news_is_let_go_too),
    {0},
};
