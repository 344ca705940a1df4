/* former_numbers_test.c - what a rank's former starts left goes, and nothing else: on a folder, and
 * by ranks as processes. */
#include "experiments/consume/former_numbers.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/live_request.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

/* ---- on a folder ---- */

struct yard {
    char scratch[SCRATCH_MAX];
    struct live_session session;
    struct former_numbers former;
};

static void yard_open(struct yard *yard)
{
    char path[LIVE_PATH_MAX];
    char url[LIVE_PATH_MAX];
    char error[STORE_ERROR_MAX];
    struct live_session_options options = {.access = DIRECTORY_WRITE};
    live_scratch_make(yard->scratch);
    live_path(path, yard->scratch, "run");
    mkdir(path, 0777);
    live_path(path, yard->scratch, "run/watermark+");
    mkdir(path, 0777);
    snprintf(url, sizeof(url), "file://%s/run", yard->scratch);
    enum open_result opened = live_session_open(url, &options, &yard->session, error);
    assert(opened == OPEN_OK);
}

static void yard_close(struct yard *yard)
{
    live_session_close(&yard->session);
    scratch_remove(yard->scratch);
}

static void path_of(const struct yard *yard, const struct watermark_name *name,
                    char path[LIVE_PATH_MAX])
{
    char key[STORE_KEY_MAX];
    name_watermark(key, name);
    const char *number = strrchr(key, '/') + 1;
    live_path(path, yard->scratch, "run/watermark+/%010u+", name->consumer);
    mkdir(path, 0777);
    live_path(path, yard->scratch, "run/watermark+/%010u+/%s", name->consumer, number);
}

static void add(const struct yard *yard, uint32_t consumer, enum watermark_part part,
                uint64_t number)
{
    char path[LIVE_PATH_MAX];
    struct watermark_name name = {.consumer = consumer, .part = part, .number = number};
    name.step = part == WATERMARK_NUMBER_VALUE ? 10 * number : 0;
    path_of(yard, &name, path);
    scratch_write(path, "");
}

static bool is_there(const struct yard *yard, uint32_t consumer, enum watermark_part part,
                     uint64_t number)
{
    char path[LIVE_PATH_MAX];
    struct watermark_name name = {.consumer = consumer, .part = part, .number = number};
    name.step = part == WATERMARK_NUMBER_VALUE ? 10 * number : 0;
    path_of(yard, &name, path);
    return access(path, F_OK) == 0;
}

/* As consumer 3, whose number is this. */
static void delete_former(struct yard *yard, uint64_t number)
{
    struct loop *loop = live_session_loop(&yard->session);
    former_numbers_delete(&yard->former, yard->session.store, 3, number);
    live_loop_hold(yard->session.loop);
    while (yard->former.busy)
        loop_run(loop, loop_now(loop) + NS_PER_MS);
    live_loop_unhold(yard->session.loop);
}

static void what_is_below_the_own_number_goes(void)
{
    struct yard yard;
    yard_open(&yard);
    for (uint64_t number = 1; number <= 6; number++) {
        add(&yard, 3, WATERMARK_NUMBER, number);
        add(&yard, 3, WATERMARK_NUMBER_VALUE, number);
    }
    add(&yard, 3, WATERMARK_NUMBER_RETIRED, 2);
    add(&yard, 2, WATERMARK_NUMBER, 1);
    add(&yard, 33, WATERMARK_NUMBER, 1);
    char path[LIVE_PATH_MAX];
    live_path(path, yard.scratch, "run/watermark+/0000000003+/00000000000000000000x");
    scratch_write(path, "");
    delete_former(&yard, 5);
    CU_ASSERT_EQUAL(yard.former.deleted, 9);
    for (uint64_t number = 1; number <= 6; number++) {
        CU_ASSERT_EQUAL(is_there(&yard, 3, WATERMARK_NUMBER, number), number >= 5);
        CU_ASSERT_EQUAL(is_there(&yard, 3, WATERMARK_NUMBER_VALUE, number), number >= 5);
    }
    CU_ASSERT_FALSE(is_there(&yard, 3, WATERMARK_NUMBER_RETIRED, 2));
    CU_ASSERT_TRUE(is_there(&yard, 2, WATERMARK_NUMBER, 1));
    CU_ASSERT_TRUE(is_there(&yard, 33, WATERMARK_NUMBER, 1));
    CU_ASSERT_EQUAL(access(path, F_OK), 0);
    delete_former(&yard, 5);
    CU_ASSERT_EQUAL(yard.former.deleted, 0);
    yard_close(&yard);
}

/* A listing of several pages, as after years of starts. */
static void many_former_starts_go_at_once(void)
{
    const uint64_t starts = STORE_LIST_KEYS_MAX + 150;
    struct yard yard;
    yard_open(&yard);
    for (uint64_t number = 1; number <= starts; number++) {
        add(&yard, 3, WATERMARK_NUMBER, number);
        add(&yard, 3, WATERMARK_NUMBER_VALUE, number);
    }
    delete_former(&yard, starts);
    CU_ASSERT_EQUAL(yard.former.deleted, 2 * (starts - 1));
    CU_ASSERT_FALSE(is_there(&yard, 3, WATERMARK_NUMBER_VALUE, starts - 1));
    CU_ASSERT_TRUE(is_there(&yard, 3, WATERMARK_NUMBER_VALUE, starts));
    yard_close(&yard);
}

/* ---- by ranks ---- */

static void count_key(void *context, const char *key)
{
    uint64_t *count = context;
    (void)key;
    ++*count;
}

static uint64_t watermarks_of(const struct plane *plane)
{
    struct live_session session;
    struct live_session_options options = {.access = DIRECTORY_READ};
    char error[STORE_ERROR_MAX];
    uint64_t count = 0;
    enum open_result opened = live_session_open(plane->url, &options, &session, error);
    assert(opened == OPEN_OK);
    CU_ASSERT_TRUE(live_list(&session, NAME_WATERMARK_PREFIX, count_key, &count, error));
    live_session_close(&session);
    return count;
}

/* Until the ranks that run have deleted it. */
static void expect_watermarks(const struct plane *plane, uint64_t count)
{
    for (int looks = 0; looks < 500 && watermarks_of(plane) != count; looks++)
        live_pause(10);
    CU_ASSERT_EQUAL(watermarks_of(plane), count);
}

static void a_jobs_starts_leave_the_newest_ones_keys(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 40);
    const char *const *words = PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints,
                                           "--checkpoint-every", "1", "--steps", "4");
    for (int start = 0; start < 4; start++)
        CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    words = PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints, "--checkpoint-every",
                        "100");
    struct live_process job;
    plane_start(&plane, &job, "job", "consume", words);
    for (int rank = 0; rank < 2; rank++) { /* each is allowed to run */
        char path[LIVE_PATH_MAX];
        live_path(path, plane.checkpoints, "rank-%d.json", rank);
        CU_ASSERT_TRUE(live_wait_for(path, "\"number\": 5", 1, 30));
    }
    expect_watermarks(&plane, 4); /* of each rank a number and its value */
    kill(job.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&job, 30), 0);
    /* Who only looks leaves the job's number alone. */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", PLANE_WORDS("--ranks", "2", "--steps", "1")), 0);
    CU_ASSERT_EQUAL(watermarks_of(&plane), 8);
    plane_produce(&plane, "2x1", 4);
    words = PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints, "--steps", "4",
                        "--step-time", "200ms");
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(watermarks_of(&plane), 4);
    plane_close(&plane);
}

static void starts_without_checkpoints_leave_the_newest_ones_keys(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", 4);
    const char *const *words = PLANE_WORDS("--ranks", "2", "--steps", "4", "--step-time", "100ms");
    for (int start = 0; start < 3; start++)
        CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
    CU_ASSERT_EQUAL(watermarks_of(&plane), 6); /* of each rank a number, its value, its end */
    plane_close(&plane);
}

const struct harness_test former_numbers_tests[] = {
    HARNESS_TEST(what_is_below_the_own_number_goes),
    HARNESS_TEST(many_former_starts_go_at_once),
    HARNESS_TEST(a_jobs_starts_leave_the_newest_ones_keys),
    HARNESS_TEST(starts_without_checkpoints_leave_the_newest_ones_keys),
    {0},
};
