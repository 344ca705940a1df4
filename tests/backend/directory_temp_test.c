/* directory_temp_test.c - whose unfinished files are removed at open, and whose are left alone. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/directory_private.h"
#include "tests/backend/fixture.h"
#include "tests/harness.h"

static int end_at_once(void *context)
{
    (void)context;
    return 0;
}

struct row {
    const char *host;
    const char *boot;
    uint64_t pid_namespace;
    pid_t pid;
    int64_t age_s;
    bool swept;
};

static void temp_path(char path[4 * SCRATCH_MAX], const char *scratch, const struct row *row,
                      size_t number)
{
    int written =
        snprintf(path, 4 * SCRATCH_MAX, "%s/%s/%s,%s,%" PRIu64 ",%d,%zu", scratch,
                 DIRECTORY_TEMP_FOLDER, row->host, row->boot, row->pid_namespace, row->pid, number);
    CU_ASSERT_FATAL(written > 0 && written < 4 * SCRATCH_MAX);
}

static void make_aged_file(const char *path, int64_t age_s)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    CU_ASSERT_FATAL(fd >= 0);
    const struct timespec at = {.tv_sec = time(NULL) - (time_t)age_s};
    const struct timespec times[2] = {at, at};
    CU_ASSERT_EQUAL(futimens(fd, times), 0);
    close(fd);
}

static void open_sweeps_what_the_dead_left(void)
{
    struct temp_owner self;
    temp_owner_self(&self);
    CU_ASSERT_NOT_EQUAL(self.pid_namespace, 0);
    pid_t dead = child_start(end_at_once, NULL);
    CU_ASSERT_EQUAL(child_wait(dead), 0);
    const char *other = "some-other-boot";
    const struct row rows[] = {
        {self.host, self.boot, self.pid_namespace, dead, 700, true},
        {self.host, self.boot, self.pid_namespace, dead, 500, false}, /* too young */
        {self.host, self.boot, self.pid_namespace, self.pid, 7000, false},
        {self.host, self.boot, self.pid_namespace + 1, dead, 7000, false}, /* a container */
        {self.host, other, 4, self.pid, 7000, true},                       /* booted since */
        {self.host, other, 4, self.pid, 500, false},
        {"another-host", other, self.pid_namespace, dead, 7000, false},
        {"another-host", self.boot, self.pid_namespace, dead, 7000, false},
        {self.host, "-", self.pid_namespace, dead, 7000, false}, /* nobody knows */
        {self.host, self.boot, self.pid_namespace, 0, 7000, false},
    };
    char scratch[SCRATCH_MAX], path[4 * SCRATCH_MAX], foreign[2 * SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    fixture_close(&fixture);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        temp_path(path, scratch, &rows[i], i);
        make_aged_file(path, rows[i].age_s);
    }
    snprintf(foreign, sizeof(foreign), "%s/%s/notes.txt", scratch, DIRECTORY_TEMP_FOLDER);
    make_aged_file(foreign, 7000);
    fixture_open(&fixture, scratch, NULL);
    fixture_close(&fixture);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct stat status;
        temp_path(path, scratch, &rows[i], i);
        CU_ASSERT_EQUAL(stat(path, &status) != 0, rows[i].swept);
    }
    struct stat status;
    CU_ASSERT_EQUAL(stat(foreign, &status), 0);
    scratch_remove(scratch);
}

static void a_leftover_name_is_stepped_over(void)
{
    char scratch[SCRATCH_MAX], path[4 * SCRATCH_MAX];
    scratch_make(scratch);
    struct fixture fixture;
    fixture_open(&fixture, scratch, NULL);
    struct temp_owner self;
    temp_owner_self(&self);
    const struct row row = {self.host, self.boot, self.pid_namespace, self.pid, 0, false};
    for (size_t i = 0; i < 10; i++) { /* a process of the same number died here */
        temp_path(path, scratch, &row, i);
        make_aged_file(path, 0);
    }
    CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT_IF_ABSENT, "k", text_body("x"), NULL),
                    STORE_OK);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 10);
    fixture_close(&fixture);
    scratch_remove(scratch);
}

const struct harness_test directory_temp_tests[] = {HARNESS_TEST(open_sweeps_what_the_dead_left),
                                                    HARNESS_TEST(a_leftover_name_is_stepped_over),
                                                    {0}};
