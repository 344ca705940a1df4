/* consume_test.c - ranks as processes on a real run: what they are given, how they go on, and a
 * clear error for each kind of bad input. */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/consume/order_digest.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

/* What is damaged is asked for again a few times. */
#define RETRY_SOON "--set", "commit.retry=1ms", "--set", "commit.retry_max=10ms"

/* The digest of a rank of two after `next` - 1 steps, by the order that a witness writes. */
static void expect_digest(struct plane *plane, const json_t *report, uint32_t rank, uint64_t next)
{
    char path[LIVE_PATH_MAX];
    char text[32];
    char error[ORDER_DIGEST_TEXT_MAX];
    struct order order;
    struct order_digest digest = {.slices = 2, .rank = rank, .first = 1, .next = next};
    live_path(path, plane->scratch, "order");
    const json_t *row = json_array_get(json_object_get(report, "ranks"), rank);
    if (access(path, F_OK) != 0) {
        char steps[16];
        snprintf(steps, sizeof(steps), "%d", (int)next - 1);
        CU_ASSERT_EQUAL_FATAL(
            plane_run(plane, "consume", PLANE_WORDS("--order", path, "--steps", steps)), 0);
    }
    CU_ASSERT_TRUE_FATAL(order_read(path, &order, error));
    CU_ASSERT_TRUE_FATAL(order_digest_make(&order, &digest, error));
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)order_digest_before(&digest, next));
    CU_ASSERT_EQUAL(live_number(row, "next_step", NULL), (long long)next);
    const char *found = json_string_value(json_object_get(row, "digest"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_STRING_EQUAL(found, text);
    order_digest_deinit(&digest);
    order_deinit(&order);
}

/* ---- what they are given ---- */

static void every_rank_is_given_its_slices(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "20", "--json")), 0);
    json_t *report = plane_json(&plane.process);
    const json_t *ranks = json_object_get(report, "ranks");
    CU_ASSERT_EQUAL_FATAL(json_array_size(ranks), 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        const json_t *row = json_array_get(ranks, rank);
        const json_t *slices = json_object_get(json_object_get(row, "asked"), "slice");
        expect_digest(&plane, report, rank, 21);
        CU_ASSERT_EQUAL(live_number(row, "first_step", NULL), 1);
        CU_ASSERT_EQUAL(live_number(row, "steps", NULL), 20);
        CU_ASSERT_EQUAL(live_number(slices, "requests", NULL), 20);
    }
    json_decref(report);
    /* They kept no checkpoints, so they hold nothing any more. */
    int status;
    report = live_inspect(plane.scratch, plane.url, NULL, &status);
    const json_t *consumers = json_object_get(report, "consumers");
    CU_ASSERT_EQUAL(json_array_size(consumers), 2);
    for (size_t i = 0; i < json_array_size(consumers); i++)
        CU_ASSERT_STRING_EQUAL(
            json_string_value(json_object_get(json_array_get(consumers, i), "watermark")),
            "retired");
    json_decref(report);
    plane_close(&plane);
}

static void one_rank_alone_is_one_of_them(void)
{
    struct plane plane;
    plane_open(&plane, "1x2", 5);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "1", "--ranks", "2", "--from", "1", "--steps",
                                          "5", "--json")),
                    0);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "ranks")), 1);
    CU_ASSERT_EQUAL(live_number(json_array_get(json_object_get(report, "ranks"), 0), "rank", NULL),
                    1);
    json_decref(report);
    plane_close(&plane);
}

static void ranks_go_on_from_their_checkpoints(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    const char *const *first =
        PLANE_WORDS("--ranks", "2", "--steps", "7", "--json", "--checkpoints", plane.checkpoints,
                    "--checkpoint-every", "3");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", first), 0);
    const char *const *second =
        PLANE_WORDS("--ranks", "2", "--steps", "13", "--json", "--checkpoints", plane.checkpoints,
                    "--checkpoint-every", "100");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", second), 0);
    json_t *report = plane_json(&plane.process);
    const json_t *row = json_array_get(json_object_get(report, "ranks"), 1);
    CU_ASSERT_EQUAL(live_number(row, "first_step", NULL), 8);
    expect_digest(&plane, report, 0, 21);
    expect_digest(&plane, report, 1, 21);
    json_decref(report);
    /* Back to the newest at or below step 7, which is that of step 7; to 21 again. */
    const char *const *back = PLANE_WORDS("--ranks", "2", "--steps", "14", "--json",
                                          "--checkpoints", plane.checkpoints, "--rollback", "7");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", back), 0);
    report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(
        live_number(json_array_get(json_object_get(report, "ranks"), 0), "first_step", NULL), 7);
    expect_digest(&plane, report, 1, 21);
    json_decref(report);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints,
                                          "--rollback", "3")),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "no checkpoint at or below step 3 is kept"));
    plane_close(&plane);
}

static void a_killed_rank_is_started_again(void)
{
    struct plane plane;
    pid_t ranks[4];
    plane_open(&plane, "2x1", 40);
    const char *const *words =
        PLANE_WORDS("--ranks", "2", "--steps", "40", "--json", "--checkpoints", plane.checkpoints,
                    "--checkpoint-every", "5", "--step-time", "25ms");
    plane_start(&plane, &plane.process, "consume", "consume", words);
    CU_ASSERT_TRUE(live_wait_for(plane.process.err, "ranks 0-1: pids", 1, 10));
    live_pause(300);
    CU_ASSERT_EQUAL_FATAL(live_children_of(plane.process.pid, ranks, 4), 2);
    kill(ranks[1], SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&plane.process, 60), 0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "it is started again (1 of"));
    json_t *report = plane_json(&plane.process);
    expect_digest(&plane, report, 0, 41);
    expect_digest(&plane, report, 1, 41);
    CU_ASSERT_EQUAL(
        live_number(json_array_get(json_object_get(report, "ranks"), 1), "restarts", NULL), 1);
    json_decref(report);
    plane_close(&plane);
}

static void without_checkpoints_a_death_is_the_end(void)
{
    struct plane plane;
    pid_t ranks[4];
    plane_open(&plane, "2x1", 5);
    plane_start(&plane, &plane.process, "consume", "consume", PLANE_WORDS("--ranks", "2"));
    CU_ASSERT_TRUE(live_wait_for(plane.process.err, "ranks 0-1: pids", 1, 10));
    live_pause(200);
    CU_ASSERT_EQUAL_FATAL(live_children_of(plane.process.pid, ranks, 4), 2);
    kill(ranks[0], SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&plane.process, 60), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "with --checkpoints it would be started again"));
    plane_close(&plane);
}

static void a_signal_keeps_a_last_checkpoint(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 10);
    char log[LIVE_PATH_MAX];
    char path[LIVE_PATH_MAX];
    live_path(log, plane.scratch, "log");
    live_path(path, plane.scratch, "log/rank-1.log");
    plane_start(
        &plane, &plane.process, "consume", "consume",
        PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints, "--log", log, "--json"));
    CU_ASSERT_TRUE(live_wait_for(path, "\n10 ", 1, 10));
    live_path(path, plane.scratch, "log/rank-0.log");
    CU_ASSERT_TRUE(live_wait_for(path, "\n10 ", 1, 10));
    kill(plane.process.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&plane.process, 60), 0);
    live_path(path, plane.scratch, "checkpoints/rank-1.json");
    CU_ASSERT_EQUAL(live_count_in(path, "\"step\": 11"), 1);
    plane_close(&plane);
}

static void wait_until_gone(pid_t pid)
{
    for (int looks = 0; looks < 1000 && kill(pid, 0) == 0; looks++)
        live_pause(10);
}

/* Ctrl-C while the others are being stopped does not make a clean end of a failed one. */
static void a_failure_is_told_though_a_signal_came_later(void)
{
    struct plane plane;
    pid_t ranks[4];
    char log[LIVE_PATH_MAX];
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 4);
    live_path(log, plane.scratch, "log");
    plane_start(&plane, &plane.process, "consume", "consume",
                PLANE_WORDS("--ranks", "2", "--log", log, RETRY_SOON));
    for (int rank = 0; rank < 2; rank++) {
        live_path(path, plane.scratch, "log/rank-%d.log", rank);
        CU_ASSERT_TRUE(live_wait_for(path, "\n4 ", 1, 10));
    }
    CU_ASSERT_EQUAL_FATAL(live_children_of(plane.process.pid, ranks, 4), 2);
    for (int i = 0; i < 2; i++)
        kill(ranks[i], SIGSTOP);
    struct plane producer = plane;
    plane_produce(&producer, "2x1", 1);
    bool found = plane_tgb_path(&plane, 5, path);
    CU_ASSERT_TRUE_FATAL(found);
    scratch_flip(path, PLANE_TGB_BYTES - 100);
    kill(ranks[1], SIGCONT);
    wait_until_gone(ranks[1]);
    kill(plane.process.pid, SIGINT);
    live_pause(100);
    kill(ranks[0], SIGCONT);
    CU_ASSERT_EQUAL(live_process_wait(&plane.process, 60), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "checksum does not match"));
    plane_close(&plane);
}

/* ---- bad input ---- */

static void wrong_number_of_ranks_is_one_error(void)
{
    struct plane plane;
    plane_open(&plane, "2x2", 1);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "3")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "2 x 2 slices (data x context parallel), for 4 "
                                              "ranks; 3 were asked for: take --ranks 4"));
    CU_ASSERT_EQUAL(live_count_in(plane.process.err, "\n"), 1);
    plane_close(&plane);
    plane_open(&plane, "none", 1);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "not sliced, for one rank; 2 ranks were asked for"));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "1", "--steps", "1")), 0);
    plane_close(&plane);
}

static void of_two_processes_with_one_name_the_older_ends(void)
{
    struct plane plane;
    struct live_process older;
    plane_open(&plane, "2x1", 30);
    const char *const *words = PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints,
                                           "--checkpoint-every", "2", "--step-time", "100ms");
    plane_start(&plane, &older, "older", "consume", words);
    char path[LIVE_PATH_MAX];
    live_path(path, plane.scratch, "checkpoints/rank-1.json");
    CU_ASSERT_TRUE(live_wait_for(path, "\"step\"", 1, 10));
    live_path(path, plane.scratch, "checkpoints/job.lock"); /* as if the older one were lost */
    CU_ASSERT_EQUAL(unlink(path), 0);
    words = PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints, "--steps", "3");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(live_process_wait(&older, 60), 1);
    CU_ASSERT_TRUE(plane_said(&older, "another process took over this rank"));
    plane_close(&plane);
}

/* Each would take numbers from the other, and both could end. */
static void two_starts_at_one_moment_are_two_jobs_in_turn(void)
{
    struct plane plane;
    struct live_process starts[2];
    plane_open(&plane, "2x1", 30);
    const char *const *words =
        PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints, "--checkpoint-every", "3",
                    "--steps", "15", "--step-time", "50ms", "--json");
    plane_start(&plane, &starts[0], "one", "consume", words);
    plane_start(&plane, &starts[1], "two", "consume", words);
    long long steps = 0;
    int waited = 0;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(live_process_wait(&starts[i], 60), 0);
        waited += live_count_in(starts[i].err, "another start of this job runs (process ");
        json_t *report = plane_json(&starts[i]);
        const json_t *row = json_array_get(json_object_get(report, "ranks"), 1);
        steps += live_number(row, "first_step", NULL);
        json_decref(report);
    }
    CU_ASSERT_EQUAL(waited, 1);
    CU_ASSERT_EQUAL(steps, 1 + 16);
    plane_close(&plane);
}

/* A process without checkpoints hears of nobody; what it lets go of at its end is its own. */
static void an_older_processs_end_leaves_the_newer_its_steps(void)
{
    struct plane plane;
    struct live_process older;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    live_path(path, plane.scratch, "log/rank-0.log");
    char log[LIVE_PATH_MAX];
    live_path(log, plane.scratch, "log");
    plane_start(&plane, &older, "older", "consume",
                PLANE_WORDS("--rank", "0", "--ranks", "2", "--from", "1", "--steps", "15", "--log",
                            log, "--step-time", "100ms"));
    CU_ASSERT_TRUE(live_wait_for(path, "\n1 ", 1, 10));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--ranks", "2", "--steps", "17", "--checkpoints",
                                          plane.checkpoints, "--checkpoint-every", "4")),
                    0);
    CU_ASSERT_EQUAL(live_process_wait(&older, 60), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--dry-run", "--json")),
                    0);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "holder", NULL), 0);
    CU_ASSERT_EQUAL(live_number(report, "watermark", NULL), 13);
    json_decref(report);
    live_path(path, plane.folder, "watermark+/0000000000+/00000000000000000001-retired");
    CU_ASSERT_EQUAL(access(path, F_OK), 0);
    plane_close(&plane);
}

/* Who only has a look at a job's steps does not let go of them for the job. */
static void a_look_at_a_stopped_jobs_steps_leaves_them_held(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    const char *const *job = PLANE_WORDS("--ranks", "2", "--steps", "17", "--checkpoints",
                                         plane.checkpoints, "--checkpoint-every", "4");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", job), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "3")), 0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "rank 1: a process before this one (number 1) may"));
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s", "--dry-run", "--json")),
                    0);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL(live_number(report, "holder", NULL), 0);
    CU_ASSERT_EQUAL(live_number(report, "watermark", NULL), 13);
    json_decref(report);
    /* One that would hold less is refused, and takes nothing. */
    job = PLANE_WORDS("--ranks", "2", "--from", "15", "--steps", "3");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", job), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--from 15: rank 0 is held at step 13 by number 2"));
    job = PLANE_WORDS("--ranks", "2", "--steps", "3", "--checkpoints", plane.checkpoints,
                      "--rollback", "13");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", job), 0);
    plane_close(&plane);
}

static void damaged_slices_are_named(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 4);
    bool found = plane_tgb_path(&plane, 3, path);
    CU_ASSERT_TRUE_FATAL(found);
    /* Of slice 1, its stored bytes; rank 0 reads on. */
    scratch_flip(path, PLANE_TGB_BYTES - 100);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "0", "--ranks", "2", "--from", "1", "--steps",
                                          "4", RETRY_SOON)),
                    0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "1", "--ranks", "2", "--from", "1", "--steps",
                                          "4", RETRY_SOON)),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "-3-49152"));
    CU_ASSERT_TRUE(plane_said(&plane.process, "checksum does not match"));
    scratch_flip(path, PLANE_TGB_BYTES - 100);
    /* A header that claims bytes beyond its slot. */
    long slot = 64 + 2 * 32;
    scratch_flip(path, slot + 23);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "0", "--ranks", "2", "--from", "1", "--steps",
                                          "4", RETRY_SOON)),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "impossible value"));
    scratch_flip(path, slot + 23);
    scratch_cut(path, PLANE_TGB_BYTES / 2);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "1", "--ranks", "2", "--from", "1", "--steps",
                                          "4", RETRY_SOON)),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "-3-49152"));
    unlink(path);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "1", "--ranks", "2", "--from", "1", "--steps",
                                          "4", RETRY_SOON)),
                    1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "is not there: was it deleted by hand?"));
    plane_close(&plane);
}

static void newer_formats_are_refused(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 4);
    plane_newest_path(&plane, path);
    scratch_flip(path, 8); /* the layout */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "4")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "is of a layout that this program does not know; use "
                                              "the version of it that wrote this"));
    scratch_flip(path, 8);
    plane_write(&plane, "run+/format",
                "{\"format\": 2, \"entry_bytes\": 64, \"payload\": \"synthetic\"}");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "another version of this program (format 2)"));
    CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--grace", "0s")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "so nothing was deleted"));
    plane_write(&plane, "run+/format", "{");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "run/format is damaged"));
    plane_close(&plane);
}

static void checkpoints_of_another_run_are_refused(void)
{
    struct plane plane;
    struct plane other;
    plane_open(&plane, "2x1", 4);
    plane_open(&other, "2x1", 4);
    const char *const *words =
        PLANE_WORDS("--ranks", "2", "--steps", "2", "--checkpoints", plane.checkpoints);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(plane_run(&other, "consume", words), 1);
    CU_ASSERT_TRUE(plane_said(&other.process, "holds checkpoints of another run"));
    plane_close(&other);
    plane_close(&plane);
}

static void what_is_no_run_is_told(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 1);
    char path[LIVE_PATH_MAX];
    live_path(path, plane.folder, "run+/format");
    unlink(path);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "holds no run"));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--rollback", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "give --checkpoints FOLDER, too"));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--prefetch", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--prefetch:"));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--order", "x", "--ranks", "2")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--order only follows the chain"));
    plane_close(&plane);
}

const struct harness_test consume_tests[] = {
    HARNESS_TEST(every_rank_is_given_its_slices),
    HARNESS_TEST(one_rank_alone_is_one_of_them),
    HARNESS_TEST(ranks_go_on_from_their_checkpoints),
    HARNESS_TEST(a_killed_rank_is_started_again),
    HARNESS_TEST(without_checkpoints_a_death_is_the_end),
    HARNESS_TEST(a_signal_keeps_a_last_checkpoint),
    HARNESS_TEST(a_failure_is_told_though_a_signal_came_later),
    HARNESS_TEST(wrong_number_of_ranks_is_one_error),
    HARNESS_TEST(of_two_processes_with_one_name_the_older_ends),
    HARNESS_TEST(two_starts_at_one_moment_are_two_jobs_in_turn),
    HARNESS_TEST(an_older_processs_end_leaves_the_newer_its_steps),
    HARNESS_TEST(a_look_at_a_stopped_jobs_steps_leaves_them_held),
    HARNESS_TEST(damaged_slices_are_named),
    HARNESS_TEST(newer_formats_are_refused),
    HARNESS_TEST(checkpoints_of_another_run_are_refused),
    HARNESS_TEST(what_is_no_run_is_told),
    {0},
};
