/* consume_start_test.c - ranks that are started one by one, as real processes: they start at one
 * step, whatever is given up between them, or say what is missing. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/name.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

/* What a reclaimer leaves that died right behind its intent. */
static void write_intent(const struct plane *plane, uint64_t step)
{
    char path[LIVE_PATH_MAX];
    char key[STORE_KEY_MAX];
    live_path(path, plane->folder, "intent+");
    mkdir(path, 0777);
    name_intent(key, step);
    snprintf(path, sizeof(path), "intent+/%s", key + strlen(NAME_INTENT_PREFIX));
    plane_write(plane, path, "");
}

static void expect_first_step(const struct plane *plane, long long step)
{
    json_t *report = plane_json(&plane->process);
    const json_t *row = json_array_get(json_object_get(report, "ranks"), 0);
    CU_ASSERT_EQUAL(live_number(row, "first_step", NULL), step);
    json_decref(report);
}

static void ranks_with_one_token_start_at_one_step(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    write_intent(&plane, 5);
    const char *const *words =
        PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "monday-1", "--steps", "3", "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    expect_first_step(&plane, 5);
    words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "monday-1", "--steps", "3", "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    expect_first_step(&plane, 5);
    /* One that comes when more is given up does not start elsewhere; a new job does. */
    write_intent(&plane, 9);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--token monday-1 start at step 5, and what is below "
                                              "step 9 has been given up since"));
    words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "monday-2", "--steps", "3", "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    expect_first_step(&plane, 9);
    static const char *const damaged[] = {"{\"from\": 0, \"every\": 0, \"steps\": 3}",
                                          "{\"from\": 9, \"every\": 0}", "[]"};
    for (size_t i = 0; i < HARNESS_COUNT(damaged); i++) {
        plane_write(&plane, "run+/consume-monday-3", damaged[i]);
        words = PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "monday-3", "--steps", "3");
        CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
        CU_ASSERT_TRUE(plane_said(&plane.process, "run/consume-monday-3 is damaged"));
    }
    plane_close(&plane);
}

/* Where a later rank finds less given up than the first one did: it goes by the first. */
static void what_was_agreed_counts_not_what_is_found(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    plane_write(&plane, "run+/consume-word", "{\"from\": 7, \"every\": 0, \"steps\": 3}");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "word",
                                          "--steps", "3", "--json")),
                    0);
    expect_first_step(&plane, 7);
    plane_write(&plane, "run+/consume-far", "{\"from\": 22, \"every\": 0, \"steps\": 3}");
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume",
                  PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "far", "--steps", "3")),
        2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "what run/consume-far says: 22 is beyond the end"));
    plane_close(&plane);
}

/* Else they soon keep no step in common. And who waits for a rank that is not there says so. */
static void ranks_with_one_token_keep_the_same_steps(void)
{
    struct plane plane;
    struct live_process first;
    plane_open(&plane, "2x1", 20);
    plane_start(&plane, &first, "first", "consume",
                PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "word", "--checkpoints",
                            plane.checkpoints, "--checkpoint-every", "2", "--steps", "19"));
    CU_ASSERT_TRUE(
        live_wait_for(first.err, "rank 0 waits at step 6 for the checkpoints of rank 1", 1, 30));
    const char *const *words =
        PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "word", "--checkpoints",
                    plane.checkpoints, "--checkpoint-every", "3", "--steps", "19");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "started with --checkpoint-every 2 and --steps 19 "
                                              "(0: none), and this one with 3 and 19"));
    words = PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "word", "--steps", "19");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "and this one with 0 and 19"));
    words = PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "word", "--checkpoints",
                        plane.checkpoints, "--checkpoint-every", "2", "--steps", "19");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(live_process_wait(&first, 30), 0);
    CU_ASSERT_EQUAL(live_count_in(first.err, "rank 0 waits at step 6 for"), 1);
    plane_close(&plane);
}

/* It would throw away what the others have in common with it: it is not known here what they keep.
 */
static void a_rank_does_not_start_twice_with_one_token(void)
{
    struct plane plane;
    struct live_process first;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 20);
    live_path(path, plane.scratch, "checkpoints/rank-0.json");
    const char *const *words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "word", "--checkpoints",
                    plane.checkpoints, "--checkpoint-every", "2", "--steps", "19");
    plane_start(&plane, &first, "first", "consume", words);
    CU_ASSERT_TRUE(live_wait_for(path, "\"step\": 5", 1, 30));
    kill(first.pid, SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&first, 30), 128 + SIGKILL);
    live_pause(500); /* the rank's process notices that its parent is gone */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "rank 0 was started with --token word before, at "
                                              "step 1, and has kept checkpoints up to step 5"));
    CU_ASSERT_EQUAL(live_count_in(path, "\"step\": 5"), 1);
    plane_close(&plane);
}

/* The ranks of the later one would end those of the earlier one, and be ended by them. */
static void a_second_start_one_by_one_waits_for_the_first(void)
{
    struct plane plane;
    struct live_process first;
    struct live_process second;
    plane_open(&plane, "2x1", 20);
    plane_start(&plane, &first, "first", "consume",
                PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "word", "--checkpoints",
                            plane.checkpoints));
    CU_ASSERT_TRUE(live_wait_for(first.err, "ranks 0-0: pids", 1, 30));
    plane_start(&plane, &second, "second", "consume",
                PLANE_WORDS("--rank", "1", "--ranks", "2", "--token", "other", "--steps", "3",
                            "--checkpoints", plane.checkpoints));
    CU_ASSERT_TRUE(live_wait_for(second.err, "another start of this job runs (process ", 1, 30));
    CU_ASSERT_EQUAL(live_count_in(second.err, "ranks 1-1: pids"), 0);
    kill(first.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&first, 30), 0);
    CU_ASSERT_EQUAL(live_process_wait(&second, 30), 0);
    plane_close(&plane);
}

static void without_a_token_the_step_must_be_given_or_kept(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    const char *const *words = PLANE_WORDS("--rank", "1", "--ranks", "2", "--steps", "3",
                                           "--checkpoints", plane.checkpoints, "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "rank 1 of 2 is started alone"));
    CU_ASSERT_TRUE(plane_said(&plane.process, "--from STEP (1 is the first now)"));
    const char *const *given = PLANE_WORDS("--rank", "1", "--ranks", "2", "--steps", "3", "--from",
                                           "2", "--checkpoints", plane.checkpoints, "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", given), 0);
    expect_first_step(&plane, 2);
    /* With checkpoints it must be told, too: the others may keep others. */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    const char *const *back =
        PLANE_WORDS("--rank", "1", "--ranks", "2", "--steps", "3", "--rollback", "5",
                    "--checkpoints", plane.checkpoints, "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", back), 0);
    expect_first_step(&plane, 5);
    back = PLANE_WORDS("--rank", "1", "--ranks", "2", "--steps", "3", "--rollback", "4",
                       "--checkpoints", plane.checkpoints);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", back), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "rank 1 has no checkpoint at step 4, where all ranks "
                                              "are to start; it keeps 2, 5, 8: "));
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--token", "word")),
                    2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--token is for ranks that are started one by one"));
    CU_ASSERT_EQUAL(
        plane_run(&plane, "consume", PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "a/b")),
        2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--token: expected 1 to 63 letters"));
    plane_close(&plane);
}

/* Of the two only one can be meant; by --from nothing has been given up. */
static void a_start_is_given_by_one_flag(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 20);
    plane_write(&plane, "run+/consume-word", "{\"from\": 2, \"every\": 100, \"steps\": 3}");
    const char *const *words =
        PLANE_WORDS("--rank", "0", "--ranks", "2", "--token", "word", "--from", "5", "--rollback",
                    "7", "--steps", "3", "--checkpoints", plane.checkpoints);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_EQUAL(live_count_in(plane.process.err, "given up"), 0);
    CU_ASSERT_TRUE(plane_said(&plane.process, "go back to: give one of them"));
    words = PLANE_WORDS("--ranks", "2", "--from", "5", "--rollback", "7", "--checkpoints",
                        plane.checkpoints);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    plane_close(&plane);
}

/* A typo must not let a reclaimer give up the whole chain. */
static void a_start_beyond_the_chain_is_refused(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 4);
    const char *const *words = PLANE_WORDS("--ranks", "2", "--from", "6", "--steps", "1");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--from 6 is beyond the end of "));
    CU_ASSERT_TRUE(plane_said(&plane.process, ", whose next step is 5"));
    live_path(path, plane.folder, "watermark+");
    struct stat found;
    CU_ASSERT_NOT_EQUAL(stat(path, &found), 0);
    plane_produce(&plane, "2x1", 1);
    words = PLANE_WORDS("--ranks", "2", "--from", "5", "--steps", "1", "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    expect_first_step(&plane, 5);
    plane_close(&plane);
}

/* What somebody wrote who never read this chain must not make ranks pass over all of it. */
static void a_mark_beyond_the_chain_starts_nobody(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    char removed[LIVE_PATH_MAX];
    char key[STORE_KEY_MAX];
    struct stat found;
    plane_open(&plane, "2x1", 4);
    name_floor(key, (struct floor){.version = 1, .step = UINT64_C(1000000000000000)});
    snprintf(path, sizeof(path), "manifest+/%s", key + strlen(NAME_MANIFEST_PREFIX));
    plane_write(&plane, path, "");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "1")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "manifest/floor-*-18445744073709551615 gives up the "
                                              "steps below 1000000000000000, and the chain ends "
                                              "before step 5: "));
    live_path(removed, plane.folder, "%s", path);
    CU_ASSERT_EQUAL(remove(removed), 0);
    write_intent(&plane, 6);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "1")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "intent/18446744073709551609 gives up the steps"));
    live_path(path, plane.folder, "watermark+");
    CU_ASSERT_NOT_EQUAL(stat(path, &found), 0);
    plane_produce(&plane, "2x1", 2);
    const char *const *words = PLANE_WORDS("--ranks", "2", "--steps", "1", "--json");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    expect_first_step(&plane, 6);
    plane_close(&plane);
}

const struct harness_test consume_start_tests[] = {
    HARNESS_TEST(ranks_with_one_token_start_at_one_step),
    HARNESS_TEST(what_was_agreed_counts_not_what_is_found),
    HARNESS_TEST(ranks_with_one_token_keep_the_same_steps),
    HARNESS_TEST(a_rank_does_not_start_twice_with_one_token),
    HARNESS_TEST(a_second_start_one_by_one_waits_for_the_first),
    HARNESS_TEST(without_a_token_the_step_must_be_given_or_kept),
    HARNESS_TEST(a_start_is_given_by_one_flag),
    HARNESS_TEST(a_start_beyond_the_chain_is_refused),
    HARNESS_TEST(a_mark_beyond_the_chain_starts_nobody),
    {0},
};
