/* gc_test.c - reclamation as a verb: what goes, what stays, what is said about it, and what a human
 * may retire. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/name.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

/* So many steps of two ranks, with checkpoints of which the oldest is kept at step 9 of 20. */
static void consume(struct plane *plane, const char *steps)
{
    const char *const *words = PLANE_WORDS("--ranks", "2", "--steps", steps, "--checkpoints",
                                           plane->checkpoints, "--checkpoint-every", "4");
    int status = plane_run(plane, "consume", words);
    assert(status == 0);
}

/* One round; its report, the caller's reference. */
static json_t *round_of(struct plane *plane, const char *flag)
{
    CU_ASSERT_EQUAL(
        plane_run(plane, "gc", PLANE_WORDS("--grace", "0s", "--behind", "1", "--json", flag)), 0);
    json_t *report = plane_json(&plane->process);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    return report;
}

static int tgbs_of(struct plane *plane)
{
    int status;
    json_t *report = live_inspect(plane->scratch, plane->url, "--deep", &status);
    CU_ASSERT_EQUAL(status, 0);
    int count = (int)live_number(report, "tgbs", "count");
    json_decref(report);
    return count;
}

static void what_no_checkpoint_needs_goes(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    consume(&plane, "17"); /* checkpoints at 13, 17 and 18 */
    json_t *dry = round_of(&plane, "--dry-run");
    CU_ASSERT_EQUAL(live_number(dry, "watermark", NULL), 13);
    CU_ASSERT_EQUAL(live_number(dry, "floor_step", NULL), 13);
    CU_ASSERT_EQUAL(live_number(dry, "tgbs", NULL), 12);
    CU_ASSERT_EQUAL(tgbs_of(&plane), 20);
    json_t *done = round_of(&plane, NULL);
    CU_ASSERT_EQUAL(live_number(done, "tgbs", NULL), 12);
    CU_ASSERT_EQUAL(live_number(done, "tgb_bytes", NULL), 12 * PLANE_TGB_BYTES);
    CU_ASSERT_EQUAL(live_number(done, "versions", NULL), live_number(dry, "versions", NULL));
    CU_ASSERT_EQUAL(tgbs_of(&plane), 8);
    CU_ASSERT_FALSE(plane_tgb_path(&plane, 12, path));
    CU_ASSERT_TRUE(plane_tgb_path(&plane, 13, path));
    json_decref(dry);
    json_decref(done);
    /* From the oldest checkpoint on all is still there, and what was committed since. */
    plane_produce(&plane, "2x1", 5);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--ranks", "2", "--steps", "13", "--checkpoints",
                                          plane.checkpoints, "--rollback", "13")),
                    0);
    plane_close(&plane);
}

static void none_behind_is_not_the_default(void)
{
    static const struct {
        const char *behind;
        long long versions; /* between the floor and the newest */
    } cases[] = {{"3", 3}, {"0", 0}};
    struct plane plane;
    plane_open(&plane, "2x1", 8);
    for (int i = 0; i < 6; i++)
        plane_produce(&plane, "2x1", 1);
    consume(&plane, "13");
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        CU_ASSERT_EQUAL(
            plane_run(&plane, "gc",
                      PLANE_WORDS("--grace", "0s", "--json", "--behind", cases[i].behind)),
            0);
        json_t *report = plane_json(&plane.process);
        long long kept =
            live_number(report, "newest", NULL) - live_number(report, "floor_version", NULL);
        CU_ASSERT(kept == cases[i].versions);
        json_decref(report);
    }
    plane_close(&plane);
}

static void nothing_goes_while_a_rank_is_missing(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "--retire-consumer 0"), 1);
    const char *const *words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--from", "1", "--steps", "17", "--checkpoints",
                    plane.checkpoints, "--checkpoint-every", "4");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    json_t *report = round_of(&plane, NULL);
    CU_ASSERT_EQUAL(live_number(report, "missing", NULL), 1);
    CU_ASSERT_EQUAL(live_number(report, "first_missing", NULL), 1);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", NULL), 0);
    json_decref(report);
    CU_ASSERT_EQUAL(tgbs_of(&plane), 20);
    plane_close(&plane);
}

static void a_human_retires_who_will_not_come_back(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    consume(&plane, "5");
    char path[LIVE_PATH_MAX];
    live_path(path, plane.scratch, "checkpoints/rank-0.json");
    /* Rank 0 is gone; rank 1 goes on, and rank 0's watermark holds. */
    const char *const *words =
        PLANE_WORDS("--rank", "1", "--ranks", "2", "--steps", "12", "--rollback", "6",
                    "--checkpoints", plane.checkpoints, "--checkpoint-every", "4");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    json_t *report = round_of(&plane, NULL);
    CU_ASSERT_EQUAL(live_number(report, "holder", NULL), 0);
    CU_ASSERT_EQUAL(live_number(report, "watermark", NULL), 1);
    json_decref(report);
    CU_ASSERT_EQUAL(
        plane_run(&plane, "gc",
                  PLANE_WORDS("--grace", "0s", "--retire-consumer", "0", "--ranks", "2")),
        0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "consumer 0 is retired"));
    CU_ASSERT_EQUAL(tgbs_of(&plane), 8);
    /* Back from the dead, it is told, and given nothing. */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "0", "--ranks", "2", "--rollback", "6",
                                          "--checkpoints", plane.checkpoints)),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "step 1 "));
    CU_ASSERT_TRUE(plane_said(&plane.process, "13"));
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--retire-consumer", "7")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "there is no consumer 7"));
    plane_close(&plane);
}

/* What the report advises works: also for a rank that was never started. */
static void a_rank_that_never_came_is_retired_as_advised(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    const char *const *words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--from", "1", "--steps", "17", "--checkpoints",
                    plane.checkpoints, "--checkpoint-every", "4");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "--retire-consumer 1\n"), 1);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--retire-consumer", "1")),
                    0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "consumer 1 is retired"));
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "no watermark"), 0);
    CU_ASSERT_EQUAL(tgbs_of(&plane), 8);
    /* Beyond the ranks that are declared it is a typo. */
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--retire-consumer", "2")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "there is no consumer 2"));
    plane_close(&plane);
}

/* Gives a TGB's file a second name, in another bucket. */
static void link_in_bucket(const struct plane *plane, const char *path, const char *bucket)
{
    char folder[LIVE_PATH_MAX];
    char other[LIVE_PATH_MAX];
    live_path(folder, plane->folder, "tgb+/%s+", bucket);
    int failed = mkdir(folder, 0777);
    assert(failed == 0);
    live_path(other, folder, "%s", strrchr(path, '/') + 1);
    failed = link(path, other);
    assert(failed == 0);
}

static void a_clock_that_was_ahead_is_told(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    consume(&plane, "17");
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--dry-run")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "younger than --grace: 12"), 1);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "ahead of this machine's clock"), 0);
    bool found = plane_tgb_path(&plane, 1, path);
    CU_ASSERT_TRUE_FATAL(found);
    link_in_bucket(&plane, path, "000900000000");
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--dry-run")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "ahead of this machine's clock"), 1);
    plane_close(&plane);
}

static void plain_batches_wait_for_their_one_rank(void)
{
    struct plane plane;
    char order[LIVE_PATH_MAX];
    plane_open(&plane, "none", 5);
    live_path(order, plane.scratch, "order");
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--order", order, "--rank", "1", "--steps", "5")),
        0);
    json_t *report = round_of(&plane, NULL);
    CU_ASSERT_EQUAL(live_number(report, "missing", NULL), 1);
    CU_ASSERT_EQUAL(live_number(report, "first_missing", NULL), 0);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", NULL), 0);
    json_decref(report);
    plane_close(&plane);
}

static void a_dead_producers_batches_go_when_it_is_retired(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    char left[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 4);
    consume(&plane, "2");
    /* What a killed producer leaves: uploaded, never committed. */
    bool found = plane_tgb_path(&plane, 4, path);
    CU_ASSERT_TRUE_FATAL(found);
    memcpy(left, path, sizeof(left));
    char *at = strrchr(left, '-');
    assert(at != NULL && at[-1] == '4');
    at[-1] = '5';
    snprintf(at + 1, (size_t)(left + sizeof(left) - at - 1), "%d", 5 * PLANE_TGB_BYTES);
    CU_ASSERT_EQUAL(link(path, left), 0);
    json_t *report = round_of(&plane, NULL);
    const json_t *undecided = json_array_get(json_object_get(report, "undecided_of"), 0);
    CU_ASSERT_EQUAL(live_number(report, "undecided", NULL), 1);
    CU_ASSERT_EQUAL(live_number(undecided, "producer", NULL), 0);
    CU_ASSERT_EQUAL(live_number(undecided, "bytes", NULL), PLANE_TGB_BYTES);
    json_decref(report);
    CU_ASSERT_EQUAL(access(left, F_OK), 0);
    /* Advised once it waits for long, not at once. */
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "--retire-producer 0"), 0);
    link_in_bucket(&plane, left, "000000000001");
    unlink(left);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "--retire-producer 0"), 1);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc",
                              PLANE_WORDS("--grace", "0s", "--behind", "1", "--json",
                                          "--retire-producer", "0")),
                    0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "producer 0 is retired by epoch 2"));
    report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "orphans", NULL), 1);
    CU_ASSERT_EQUAL(live_number(report, "undecided", NULL), 0);
    CU_ASSERT_NOT_EQUAL(access(left, F_OK), 0);
    json_decref(report);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--retire-producer", "9")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "producer 9 never committed anything"));
    /* The stream goes on behind what it had committed. */
    plane_produce(&plane, "2x1", 2);
    CU_ASSERT_EQUAL(tgbs_of(&plane), 6);
    plane_close(&plane);
}

static void strangers_objects_are_left_alone(void)
{
    static const char *const names[] = {"README.md", "manifest+/readme.txt", "tgb+/x",
                                        "watermark+/0000000000+/0", "intent+/soon"};
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    consume(&plane, "17");
    live_path(path, plane.folder, "intent+");
    mkdir(path, 0777);
    for (size_t i = 0; i < HARNESS_COUNT(names); i++)
        plane_write(&plane, names[i], "mine");
    json_t *report = round_of(&plane, NULL);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", NULL), 12);
    CU_ASSERT_TRUE(live_number(report, "foreign", NULL) >= 3);
    json_decref(report);
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume",
                  PLANE_WORDS("--ranks", "2", "--steps", "3", "--checkpoints", plane.checkpoints)),
        0);
    for (size_t i = 0; i < HARNESS_COUNT(names); i++) {
        live_path(path, plane.folder, "%s", names[i]);
        CU_ASSERT_EQUAL(access(path, F_OK), 0);
    }
    CU_ASSERT_EQUAL(tgbs_of(&plane), 8);
    plane_close(&plane);
}

static void a_new_job_begins_where_nothing_is_given_up(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    char key[STORE_KEY_MAX];
    plane_open(&plane, "2x1", 20);
    consume(&plane, "17");
    json_decref(round_of(&plane, NULL));
    /* What a reclaimer leaves that died right behind its intent; and a stranger's key before it. */
    name_intent(key, 15);
    live_path(path, plane.folder, "intent+/%s", key + strlen(NAME_INTENT_PREFIX));
    scratch_write(path, "");
    plane_write(&plane, "intent+/0", "mine");
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "2", "--json")), 0);
    json_t *report = plane_json(&plane.process);
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(
            live_number(json_array_get(json_object_get(report, "ranks"), i), "first_step", NULL),
            15);
    json_decref(report);
    plane_close(&plane);
}

static void a_run_with_ranks_and_floors_can_be_removed(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    consume(&plane, "17");
    json_decref(round_of(&plane, NULL));
    CU_ASSERT_EQUAL(plane_run(&plane, "remove", PLANE_WORDS("--yes", "--force")), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "Of no kind that this program makes"), 0);
    live_path(path, plane.folder, "watermark+");
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    plane_close(&plane);
}

static void flags_that_make_no_sense_are_refused(void)
{
    static const struct {
        const char *words[4];
        const char *error;
    } cases[] = {
        {{"--retire-consumer", "1", "--dry-run"}, "are done once, and really"},
        {{"--retire-consumer", "-1"}, "--retire-consumer -1: expected a number"},
        {{"--retire-producer", "4294967296"}, "expected a number from 0 to 4294967295"},
        {{"--loop", "0s"}, "--loop: the time between rounds"},
        {{"--grace", "60"}, "--grace:"},
        {{"--ranks", "0"}, "--ranks 0: expected a number from 1"},
    };
    struct plane plane;
    plane_open(&plane, "2x1", 1);
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        CU_ASSERT_EQUAL(plane_run(&plane, "gc", cases[i].words), 2);
        CU_ASSERT_TRUE(plane_said(&plane.process, cases[i].error));
    }
    char path[LIVE_PATH_MAX];
    live_path(path, plane.folder, "run+/format");
    unlink(path);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "holds no run"));
    plane_close(&plane);
}

const struct harness_test gc_tests[] = {
    HARNESS_TEST(what_no_checkpoint_needs_goes),
    HARNESS_TEST(none_behind_is_not_the_default),
    HARNESS_TEST(nothing_goes_while_a_rank_is_missing),
    HARNESS_TEST(a_human_retires_who_will_not_come_back),
    HARNESS_TEST(a_rank_that_never_came_is_retired_as_advised),
    HARNESS_TEST(a_clock_that_was_ahead_is_told),
    HARNESS_TEST(plain_batches_wait_for_their_one_rank),
    HARNESS_TEST(a_dead_producers_batches_go_when_it_is_retired),
    HARNESS_TEST(strangers_objects_are_left_alone),
    HARNESS_TEST(a_new_job_begins_where_nothing_is_given_up),
    HARNESS_TEST(a_run_with_ranks_and_floors_can_be_removed),
    HARNESS_TEST(flags_that_make_no_sense_are_refused),
    {0},
};
