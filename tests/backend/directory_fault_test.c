/* directory_fault_test.c - a file system that refuses: full, read-only, or failing at any step. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "backend/directory_store.h"
#include "tests/backend/fixture.h"
#include "tests/harness.h"

#define CANNOT_MOUNT 99
#define BIG_BYTES ((uint64_t)4 << 20)

/* ---- real file systems, in a mount namespace of a child's own ---- */

static bool mount_small(const char *path, const char *size)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tmpfs", 0, size) == 0;
}

static int on_a_full_disk(void *context)
{
    const char *scratch = context;
    char error[STORE_ERROR_MAX];
    if (!mount_small(scratch, "size=1m"))
        return CANNOT_MOUNT;
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    CHILD_EXPECT(fixture_put(&fixture, STORE_PUT, "kept", text_body("old"), error) == STORE_OK);
    struct body big = whole_body_make(1, BIG_BYTES);
    static const enum store_verb verbs[] = {STORE_PUT, STORE_PUT_IF_ABSENT, STORE_PUT};
    static const char *const keys[] = {"big", "big", "kept"};
    for (int i = 0; i < 3; i++) {
        CHILD_EXPECT(fixture_put(&fixture, verbs[i], keys[i], big, error) == STORE_FAILED);
        CHILD_EXPECT(strstr(error, "No space left") != NULL && strstr(error, keys[i]) != NULL);
        CHILD_EXPECT(strstr(error, scratch) != NULL && strstr(error, "free space") != NULL);
        CHILD_EXPECT(scratch_count(scratch, DIRECTORY_TEMP_FOLDER) == 0);
    }
    body_release(&big);
    struct body body;
    CHILD_EXPECT(fixture_get(&fixture, "big", &body, error) == STORE_NOT_FOUND);
    CHILD_EXPECT(fixture_get(&fixture, "kept", &body, error) == STORE_OK);
    CHILD_EXPECT(body.bytes == 3 && memcmp(body.data, "old", 3) == 0);
    body_release(&body);
    CHILD_EXPECT(fixture_put(&fixture, STORE_PUT_IF_ABSENT, "small", text_body("x"), error) ==
                 STORE_OK);

    CHILD_EXPECT(mount("none", scratch, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    CHILD_EXPECT(fixture_put(&fixture, STORE_PUT, "small", text_body("y"), error) == STORE_FAILED);
    CHILD_EXPECT(strstr(error, "Read-only file system") != NULL);
    CHILD_EXPECT(fixture_delete(&fixture, "small") == STORE_FAILED);
    CHILD_EXPECT(fixture_get(&fixture, "small", &body, error) == STORE_OK);
    body_release(&body);
    fixture_close(&fixture);
    return 0;
}

static int on_a_read_only_disk(void *context)
{
    const char *scratch = context;
    char error[STORE_ERROR_MAX] = "";
    if (!mount_small(scratch, "size=1m") ||
        mount("none", scratch, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return CANNOT_MOUNT;
    struct live_loop *loop = NULL;
    struct store *store = NULL;
    CHILD_EXPECT(live_loop_open(NULL, &loop, error) == OPEN_OK);
    CHILD_EXPECT(directory_store_open(scratch, NULL, loop, &store, error) == OPEN_FAILED);
    CHILD_EXPECT(strstr(error, "Read-only file system") != NULL && strstr(error, scratch) != NULL);
    const struct directory_options options = {.access = DIRECTORY_READ};
    CHILD_EXPECT(directory_store_open(scratch, &options, loop, &store, error) == OPEN_OK);
    store_close(store);
    live_loop_close(loop);
    return 0;
}

static int without_inodes(void *context)
{
    const char *scratch = context;
    char error[STORE_ERROR_MAX] = "";
    if (!mount_small(scratch, "size=1m,nr_inodes=2"))
        return CANNOT_MOUNT;
    struct live_loop *loop = NULL;
    struct store *store = NULL;
    CHILD_EXPECT(live_loop_open(NULL, &loop, error) == OPEN_OK);
    CHILD_EXPECT(directory_store_open(scratch, NULL, loop, &store, error) == OPEN_FAILED);
    CHILD_EXPECT(strstr(error, "No space left") != NULL && strstr(error, scratch) != NULL);
    live_loop_close(loop);
    return 0;
}

static void refusals_of_real_file_systems_are_reported(void)
{
    int (*const children[])(void *) = {on_a_full_disk, on_a_read_only_disk, without_inodes};
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    bool skip = false;
    for (size_t i = 0; i < HARNESS_COUNT(children); i++) {
        int status = child_wait(child_start(children[i], scratch));
        skip = skip || status == CANNOT_MOUNT;
        CU_ASSERT(status == 0 || status == CANNOT_MOUNT);
    }
    scratch_remove(scratch);
    if (skip)
        HARNESS_SKIP("mounting a small tmpfs needs root and a mount namespace");
}

/* ---- one step that fails though it was done, as on a network ---- */

struct fault {
    enum directory_step step;
    int error; /* 0: no fault */
    const char
        *remove_temps_of; /* NULL, or a scratch folder whose unfinished files vanish instead */
};

static void remove_temps(const char *scratch)
{
    char folder[2 * SCRATCH_MAX];
    snprintf(folder, sizeof(folder), "%s/%s", scratch, DIRECTORY_TEMP_FOLDER);
    DIR *dir = opendir(folder);
    assert(dir != NULL);
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (entry->d_type == DT_REG)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

static int fail_step(void *context, enum directory_step step)
{
    const struct fault *fault = context;
    if (step != fault->step)
        return 0;
    if (fault->remove_temps_of != NULL)
        remove_temps(fault->remove_temps_of);
    return fault->error;
}

struct outcome_row {
    enum store_verb verb;
    enum directory_step step;
    int error;
    enum store_outcome outcome;
    bool visible;
    int temps_left;
};

static void check_fault(const struct outcome_row *row)
{
    char scratch[SCRATCH_MAX], error[STORE_ERROR_MAX];
    scratch_make(scratch);
    struct fault fault = {.step = row->step, .error = row->error};
    const struct directory_options options = {.after_step = fail_step, .context = &fault};
    struct fixture fixture;
    fixture_open(&fixture, scratch, &options);
    enum store_outcome outcome =
        fixture_put(&fixture, row->verb, "folder/key", text_body("text"), error);
    CU_ASSERT_EQUAL(outcome, row->outcome);
    if (outcome != STORE_OK)
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "\"folder/key\""));
    fault.error = 0;
    struct body body;
    CU_ASSERT_EQUAL(fixture_get(&fixture, "folder/key", &body, NULL),
                    row->visible ? STORE_OK : STORE_NOT_FOUND);
    body_release(&body);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), row->temps_left);
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT_IF_ABSENT, "folder/key", text_body("2"), NULL),
                    row->visible ? STORE_EXISTS : STORE_OK);
    fixture_close(&fixture);
    scratch_remove(scratch);
}

static void a_failed_step_is_answered_by_what_was_applied(void)
{
    static const struct outcome_row rows[] = {
        {STORE_PUT, DIRECTORY_STEP_TEMP_CREATED, ENOSPC, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_TEMP_CREATED, EDQUOT, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_HALF_WRITTEN, EIO, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_WRITTEN, ENOSPC, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FILE_SYNCED, EIO, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FOLDERS_MADE, EACCES, STORE_FAILED, false, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FOLDERS_SYNCED, EIO, STORE_FAILED, false, 0},
        /* The answer to a link was lost: its own EEXIST, a timeout, a server's error. */
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_NAMED, EEXIST, STORE_OK, true, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_NAMED, ETIMEDOUT, STORE_OK, true, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_NAMED, EIO, STORE_OK, true, 0},
        /* The same for a rename, which then finds no source. */
        {STORE_PUT, DIRECTORY_STEP_NAMED, ENOENT, STORE_OK, true, 0},
        {STORE_PUT, DIRECTORY_STEP_NAMED, EIO, STORE_OK, true, 0},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_NAME_SYNCED, EIO, STORE_UNKNOWN, true, 1},
        {STORE_PUT, DIRECTORY_STEP_NAME_SYNCED, EIO, STORE_UNKNOWN, true, 0},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        check_fault(&rows[i]);
}

static void a_write_whose_file_vanished_is_unknown_and_not_applied(void)
{
    char scratch[SCRATCH_MAX], error[STORE_ERROR_MAX];
    scratch_make(scratch);
    struct fault fault = {.step = DIRECTORY_STEP_FILE_SYNCED, .remove_temps_of = scratch};
    const struct directory_options options = {.after_step = fail_step, .context = &fault};
    struct fixture fixture;
    fixture_open(&fixture, scratch, &options);
    struct body body;
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT_IF_ABSENT, "key", text_body("x"), error),
                    STORE_UNKNOWN);
    CU_ASSERT_EQUAL(fixture_get(&fixture, "key", &body, error), STORE_NOT_FOUND);
    fixture_close(&fixture);
    scratch_remove(scratch);
}

/* Somebody else deletes the folder's last object just before ours gets its name. */
struct remover {
    char folder[2 * SCRATCH_MAX];
    enum directory_step step;
    int times;
};

static int remove_folder(void *context, enum directory_step step)
{
    struct remover *remover = context;
    if (step != remover->step || remover->times == 0)
        return 0;
    remover->times--;
    CU_ASSERT_EQUAL(rmdir(remover->folder), 0);
    return 0;
}

static void a_folder_that_is_removed_meanwhile_is_made_again(void)
{
    static const struct {
        enum store_verb verb;
        enum directory_step step;
        int times;
        enum store_outcome outcome;
    } rows[] = {
        {STORE_PUT, DIRECTORY_STEP_FOLDERS_MADE, 1, STORE_OK},
        {STORE_PUT, DIRECTORY_STEP_FOLDERS_SYNCED, 15, STORE_OK},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FOLDERS_SYNCED, 1, STORE_OK},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FOLDERS_SYNCED, 3, STORE_OK},
        {STORE_PUT_IF_ABSENT, DIRECTORY_STEP_FOLDERS_SYNCED, 100, STORE_FAILED},
        {STORE_PUT, DIRECTORY_STEP_FOLDERS_SYNCED, 100, STORE_FAILED},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char scratch[SCRATCH_MAX], error[STORE_ERROR_MAX];
        scratch_make(scratch);
        struct remover remover = {.step = rows[i].step, .times = rows[i].times};
        snprintf(remover.folder, sizeof(remover.folder), "%s/a+/b+", scratch);
        const struct directory_options options = {.after_step = remove_folder, .context = &remover};
        struct fixture fixture;
        fixture_open(&fixture, scratch, &options);
        struct body body;
        CU_ASSERT_EQUAL(fixture_put(&fixture, rows[i].verb, "a/b/key", text_body("x"), error),
                        rows[i].outcome);
        CU_ASSERT_EQUAL(fixture_get(&fixture, "a/b/key", &body, NULL),
                        rows[i].outcome == STORE_OK ? STORE_OK : STORE_NOT_FOUND);
        body_release(&body);
        CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
        fixture_close(&fixture);
        scratch_remove(scratch);
    }
}

const struct harness_test directory_fault_tests[] = {
    HARNESS_TEST(a_folder_that_is_removed_meanwhile_is_made_again),
    HARNESS_TEST(refusals_of_real_file_systems_are_reported),
    HARNESS_TEST(a_failed_step_is_answered_by_what_was_applied),
    HARNESS_TEST(a_write_whose_file_vanished_is_unknown_and_not_applied),
    {0}};
