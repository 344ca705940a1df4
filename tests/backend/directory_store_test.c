/* directory_store_test.c - the battery, what open refuses, closing in flight, and processes that
 * race. */
#include "backend/directory_store.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/codec_store.h"
#include "core/name.h"
#include "tests/backend/fixture.h"
#include "tests/battery/store_battery.h"
#include "tests/harness.h"

#define RACE_PROCESSES 16
#define RACE_VERSIONS 300
#define NOBODY 65534

enum above {
    ABOVE_NOTHING,
    ABOVE_CODEC,
};

static void run_battery(const struct directory_options *options, enum above above)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, options);
    struct store *codec = codec_store_open(fixture.store, &(struct codec_store_options){0});
    const struct store_battery battery = {.store = above == ABOVE_CODEC ? codec : fixture.store,
                                          .loop = live_loop_base(fixture.loop)};
    store_battery_run(&battery);
    store_close(codec);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
    fixture_close(&fixture);
    scratch_remove(scratch);
}

static void battery_passes(void)
{
    run_battery(NULL, ABOVE_NOTHING);
}

static void battery_passes_under_the_codec(void)
{
    run_battery(NULL, ABOVE_CODEC);
}

static void battery_passes_without_sync(void)
{
    const struct directory_options options = {.sync = DIRECTORY_NO_SYNC};
    run_battery(&options, ABOVE_NOTHING);
}

static void bad_keys_are_refused_and_leave_nothing(void)
{
    static const char *const keys[] = {"",       "..",   "../x",
                                       "/etc/x", "a//b", DIRECTORY_TEMP_FOLDER "/x"};
    char scratch[SCRATCH_MAX], error[STORE_ERROR_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++) {
        struct body body;
        CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, keys[i], text_body("x"), error),
                        STORE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, keys[i]));
        CU_ASSERT_EQUAL(fixture_get(&fixture, keys[i], &body, error), STORE_FAILED);
    }
    fixture_close(&fixture);
    CU_ASSERT_EQUAL(scratch_count(scratch, "."), 0);
    scratch_remove(scratch);
}

static bool folder_exists(const char *scratch, const char *folder)
{
    char path[2 * SCRATCH_MAX];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%s", scratch, folder);
    return stat(path, &status) == 0;
}

static void a_folder_goes_with_its_last_object(void)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    for (int round = 0; round < 3; round++) {
        CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, "tgb/1/a", text_body("x"), NULL),
                        STORE_OK);
        CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT_IF_ABSENT, "tgb/1/b", text_body("x"), NULL),
                        STORE_OK);
        CU_ASSERT_EQUAL(fixture_delete(&fixture, "tgb/1/a"), STORE_OK);
        CU_ASSERT_EQUAL(scratch_count(scratch, "tgb+/1+"), 1);
        CU_ASSERT_EQUAL(fixture_delete(&fixture, "tgb/1/b"), STORE_OK);
        CU_ASSERT_FALSE(folder_exists(scratch, "tgb+/1+"));
        CU_ASSERT_TRUE(folder_exists(scratch, "tgb+"));
        CU_ASSERT_EQUAL(fixture_delete(&fixture, "tgb/1/b"), STORE_OK);
    }
    fixture_close(&fixture);
    scratch_remove(scratch);
}

struct churn {
    struct store_op op;
    struct store *store;
    uint32_t left;
    uint32_t wrong;
};

/* Makes its object and deletes it, again and again: the folder comes and goes under the others. */
static void churn_on(struct store_op *op, void *context)
{
    struct churn *churn = context;
    bool made = op->verb == STORE_PUT_IF_ABSENT;
    churn->wrong += op->outcome != STORE_OK;
    store_op_release(op);
    if (--churn->left == 0)
        return;
    op->verb = made ? STORE_DELETE : STORE_PUT_IF_ABSENT;
    op->body = made ? (struct body){.kind = BODY_NONE} : text_body("x");
    store_submit(churn->store, op);
}

static void folders_that_come_and_go_lose_nothing(void)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    const struct directory_options options = {.sync = DIRECTORY_NO_SYNC};
    struct fixture fixture;
    fixture_open(&fixture, scratch, &options);
    struct churn churns[8];
    for (size_t i = 0; i < HARNESS_COUNT(churns); i++) {
        churns[i] = (struct churn){.store = fixture.store, .left = 501};
        store_op_init(&churns[i].op);
        churns[i].op.done = churn_on;
        churns[i].op.context = &churns[i];
        churns[i].op.verb = STORE_PUT_IF_ABSENT;
        churns[i].op.body = text_body("x");
        snprintf(churns[i].op.key, STORE_KEY_MAX, "a/b/%zu", i);
        store_submit(fixture.store, &churns[i].op);
    }
    loop_run(live_loop_base(fixture.loop), TIME_NEVER);
    for (size_t i = 0; i < HARNESS_COUNT(churns); i++) {
        CU_ASSERT_EQUAL(churns[i].left, 0);
        CU_ASSERT_EQUAL(churns[i].wrong, 0);
        store_op_deinit(&churns[i].op);
    }
    CU_ASSERT_EQUAL(scratch_count(scratch, "a+/b+"), (int)HARNESS_COUNT(churns));
    fixture_close(&fixture);
    scratch_remove(scratch);
}

static void count_key(const char *key, void *context)
{
    (void)key;
    ++*(int *)context;
}

static void foreign_files_are_ignored(void)
{
    static const char *const files[] = {"with space", "plus+", ".lakestream-temporary/x",
                                        "ok+/a+b"};
    static const char *const folders[] = {"folder", "ok+", "ok+/.git"};
    char scratch[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    for (size_t i = 0; i < HARNESS_COUNT(folders); i++) {
        snprintf(path, sizeof(path), "%s/%s", scratch, folders[i]);
        CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
    }
    for (size_t i = 0; i < HARNESS_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", scratch, files[i]);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        CU_ASSERT(fd >= 0);
        close(fd);
    }
    int count = 0;
    fixture_list(&fixture, "", count_key, &count);
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, "ok/key", text_body("x"), NULL), STORE_OK);
    fixture_list(&fixture, "", count_key, &count);
    CU_ASSERT_EQUAL(count, 1);
    fixture_close(&fixture);
    scratch_remove(scratch);
}

static void must_not_be_called(struct store_op *op, void *context)
{
    (void)op;
    (void)context;
    CU_FAIL("done was called after close");
}

static void closing_drops_what_is_in_flight(void)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    static struct store_op ops[200];
    for (int i = 0; i < 200; i++) {
        store_op_init(&ops[i]);
        ops[i].verb = i % 3 == 0 ? STORE_PUT : i % 3 == 1 ? STORE_LIST : STORE_GET;
        ops[i].list_keys_max = 1000;
        ops[i].body = text_body("text");
        snprintf(ops[i].key, STORE_KEY_MAX, "key/%d", i / 3);
        ops[i].done = must_not_be_called;
        store_submit(fixture.store, &ops[i]);
    }
    fixture_close(&fixture);
    for (int i = 0; i < 200; i++)
        store_op_deinit(&ops[i]);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
    scratch_remove(scratch);
}

/* ---- open ---- */

/* Opens and closes; the error text is empty after OPEN_OK. */
static enum open_result try_open(const char *path, enum directory_access access,
                                 char error[STORE_ERROR_MAX])
{
    const struct directory_options options = {.access = access};
    struct live_loop *loop = NULL;
    struct store *store = NULL;
    enum open_result result = live_loop_open(NULL, &loop, error);
    assert(result == OPEN_OK);
    error[0] = '\0';
    result = directory_store_open(path, &options, loop, &store, error);
    if (result == OPEN_OK)
        store_close(store);
    live_loop_close(loop);
    return result;
}

static void open_makes_folders_or_says_what_is_wrong(void)
{
    char scratch[SCRATCH_MAX], path[2 * SCRATCH_MAX], error[STORE_ERROR_MAX];
    scratch_make(scratch);
    snprintf(path, sizeof(path), "%s/a/b/c", scratch);
    CU_ASSERT_EQUAL(try_open(path, DIRECTORY_READ, error), OPEN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no such directory"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
    CU_ASSERT_EQUAL(try_open(path, DIRECTORY_WRITE, error), OPEN_OK);
    CU_ASSERT_EQUAL(try_open(path, DIRECTORY_READ, error), OPEN_OK);

    snprintf(path, sizeof(path), "%s/file", scratch);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_EQUAL(try_open(path, DIRECTORY_WRITE, error), OPEN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "Not a directory"));
    snprintf(path, sizeof(path), "%s/file/below", scratch);
    CU_ASSERT_EQUAL(try_open(path, DIRECTORY_WRITE, error), OPEN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "Not a directory"));
    scratch_remove(scratch);
}

/* In a child: an ordinary user in a folder that only its owner may write. */
static int as_ordinary_user(void *context)
{
    const char *scratch = context;
    char error[STORE_ERROR_MAX], path[2 * SCRATCH_MAX];
    if (getuid() == 0)
        CHILD_EXPECT(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    CHILD_EXPECT(try_open(scratch, DIRECTORY_WRITE, error) == OPEN_FAILED);
    CHILD_EXPECT(strstr(error, "Permission denied") != NULL && strstr(error, scratch) != NULL);
    snprintf(path, sizeof(path), "%s/new", scratch);
    CHILD_EXPECT(try_open(path, DIRECTORY_WRITE, error) == OPEN_FAILED);
    CHILD_EXPECT(strstr(error, "Permission denied") != NULL);

    const struct directory_options options = {.access = DIRECTORY_READ};
    struct fixture fixture;
    fixture_open(&fixture, scratch, &options);
    struct body body;
    CHILD_EXPECT(fixture_get(&fixture, "open", &body, error) == STORE_OK);
    body_release(&body);
    CHILD_EXPECT(fixture_get(&fixture, "closed", &body, error) == STORE_FAILED);
    CHILD_EXPECT(strstr(error, "\"closed\"") != NULL && strstr(error, "Permission denied") != NULL);
    CHILD_EXPECT(fixture_put(&fixture, STORE_PUT, "open", text_body("y"), error) == STORE_FAILED);
    CHILD_EXPECT(fixture_delete(&fixture, "open") == STORE_FAILED);
    int count = 0;
    fixture_list(&fixture, "", count_key, &count);
    CHILD_EXPECT(count == 2);
    fixture_close(&fixture);
    return 0;
}

static void an_ordinary_user_is_told_what_is_not_permitted(void)
{
    char scratch[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, "open", text_body("x"), NULL), STORE_OK);
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, "closed", text_body("x"), NULL), STORE_OK);
    fixture_close(&fixture);
    snprintf(path, sizeof(path), "%s/closed", scratch);
    CU_ASSERT_EQUAL(chmod(path, 0), 0);
    CU_ASSERT_EQUAL(chmod(scratch, 0555), 0);
    CU_ASSERT_EQUAL(child_wait(child_start(as_ordinary_user, scratch)), 0);
    CU_ASSERT_EQUAL(chmod(scratch, 0755), 0);
    scratch_remove(scratch);
}

/* ---- processes that race ---- */

struct racer {
    const char *scratch;
    int start_fd; /* hangs up when all may start */
    int wins_fd;
    uint32_t number;
};

struct win {
    uint32_t racer;
    uint32_t version;
};

static int race(void *context)
{
    struct racer *racer = context;
    struct fixture fixture;
    fixture_open(&fixture, racer->scratch, NULL);
    char byte;
    CHILD_EXPECT(read(racer->start_fd, &byte, 1) == 0);
    for (uint32_t version = 1; version <= RACE_VERSIONS; version++) {
        char key[STORE_KEY_MAX];
        name_version(key, version);
        struct body body = whole_body_make(racer->number, 24 + version * 8);
        enum store_outcome outcome = fixture_put(&fixture, STORE_PUT_IF_ABSENT, key, body, NULL);
        body_release(&body);
        CHILD_EXPECT(outcome == STORE_OK || outcome == STORE_EXISTS);
        const struct win win = {.racer = racer->number, .version = version};
        if (outcome == STORE_OK)
            CHILD_EXPECT(write(racer->wins_fd, &win, sizeof(win)) == (ssize_t)sizeof(win));
        /* Whoever lost can read the winner's, whole. */
        CHILD_EXPECT(fixture_get(&fixture, key, &body, NULL) == STORE_OK);
        CHILD_EXPECT(whole_body_id(&body) != 0);
        CHILD_EXPECT(outcome != STORE_OK || whole_body_id(&body) == racer->number);
        body_release(&body);
    }
    fixture_close(&fixture);
    return 0;
}

static void check_winners(struct fixture *fixture, const uint32_t *winner)
{
    for (uint32_t version = 1; version <= RACE_VERSIONS; version++) {
        char key[STORE_KEY_MAX];
        struct body body;
        name_version(key, version);
        CU_ASSERT_EQUAL(fixture_get(fixture, key, &body, NULL), STORE_OK);
        CU_ASSERT_EQUAL(whole_body_id(&body), winner[version]);
        body_release(&body);
    }
}

static void each_version_has_one_winner(void)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    int start[2], wins[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(start, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(wins, O_CLOEXEC), 0);
    pid_t pids[RACE_PROCESSES];
    for (uint32_t i = 0; i < RACE_PROCESSES; i++) {
        struct racer racer = {scratch, start[0], wins[1], i + 1};
        pids[i] = fork();
        CU_ASSERT_FATAL(pids[i] >= 0);
        if (pids[i] == 0) {
            close(start[1]);
            _exit(race(&racer));
        }
    }
    close(start[1]);
    close(wins[1]);
    uint32_t winner[RACE_VERSIONS + 1] = {0};
    struct win win;
    int count = 0;
    while (read(wins[0], &win, sizeof(win)) == (ssize_t)sizeof(win)) {
        CU_ASSERT_FATAL(win.version >= 1 && win.version <= RACE_VERSIONS);
        CU_ASSERT_EQUAL(winner[win.version], 0);
        winner[win.version] = win.racer;
        count++;
    }
    for (int i = 0; i < RACE_PROCESSES; i++)
        CU_ASSERT_EQUAL(child_wait(pids[i]), 0);
    CU_ASSERT_EQUAL(count, RACE_VERSIONS);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    check_winners(&fixture, winner);
    int listed = 0;
    fixture_list(&fixture, NAME_MANIFEST_PREFIX, count_key, &listed);
    CU_ASSERT_EQUAL(listed, RACE_VERSIONS);
    fixture_close(&fixture);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
    close(start[0]);
    close(wins[0]);
    scratch_remove(scratch);
}

const struct harness_test directory_store_tests[] = {
    HARNESS_TEST(battery_passes),
    HARNESS_TEST(battery_passes_under_the_codec),
    HARNESS_TEST(battery_passes_without_sync),
    HARNESS_TEST(bad_keys_are_refused_and_leave_nothing),
    HARNESS_TEST(a_folder_goes_with_its_last_object),
    HARNESS_TEST(folders_that_come_and_go_lose_nothing),
    HARNESS_TEST(foreign_files_are_ignored),
    HARNESS_TEST(closing_drops_what_is_in_flight),
    HARNESS_TEST(open_makes_folders_or_says_what_is_wrong),
    HARNESS_TEST(an_ordinary_user_is_told_what_is_not_permitted),
    HARNESS_TEST(each_version_has_one_winner),
    {0}};
