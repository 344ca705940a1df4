/* Tests of experiments/results_write.c against a full disk, kill -9 and a second process: a run is
 * in the database whole, or not at all. */
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/random.h"
#include "experiments/results/results.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

/* Every run has its metric and all points of its series, and SQLite finds nothing wrong. */
static void assert_whole(struct results_db *db)
{
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM pragma_integrity_check()"
                                      " WHERE integrity_check = 'ok'"),
                    1);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run WHERE"
                                      " (SELECT count(*) FROM metric WHERE run = id) <> 1 OR"
                                      " (SELECT count(*) FROM series WHERE run = id) <> 100"),
                    0);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT (SELECT count(*) FROM metric) + (SELECT count(*) FROM"
                                      " series) - 101 * (SELECT count(*) FROM run)"),
                    0);
}

/* Child: writes runs until it is killed; says when the first is written. */
static void write_for_ever(const struct fixture *fixture, uint64_t first_seed, int written)
{
    char message[RESULTS_MESSAGE_MAX];
    struct results_db *db = NULL;
    if (results_open(fixture->path, RESULTS_WRITE, &db, message) != RESULTS_OK)
        _exit(1);
    struct run_results results = fixture_results(1);
    for (uint64_t seed = first_seed;; seed++) {
        struct results_run run = fixture_run("killed", seed);
        if (results_write(db, &run, &results, message) != RESULTS_OK ||
            (seed == first_seed && write(written, "", 1) != 1))
            _exit(1);
    }
}

static void kills_leave_whole_runs_only(void)
{
    struct fixture fixture = fixture_make();
    results_close(fixture_open(&fixture, RESULTS_WRITE));
    struct random_stream stream = random_stream_make(1, 1);
    for (uint64_t round = 0; round < 25; round++) {
        int ends[2];
        char byte;
        CU_ASSERT_FATAL(pipe(ends) == 0);
        pid_t child = fork();
        if (child == 0)
            write_for_ever(&fixture, round * 1000000, ends[1]);
        close(ends[1]);
        /* Some are killed at any moment, some in the midst of many runs. */
        if (round % 2 == 0)
            CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        usleep((useconds_t)(3000 + random_next(&stream) % 20000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        CU_ASSERT_TRUE(WIFSIGNALED(status));
        /* A reader finds what the kill left, and undoes it. */
        struct results_db *db = fixture_open(&fixture, RESULTS_READ);
        assert_whole(db);
        results_close(db);
    }
    struct results_db *db = fixture_open(&fixture, RESULTS_READ);
    CU_ASSERT_TRUE(fixture_count(db, "SELECT count(*) FROM run") > 0);
    results_close(db);
    fixture_remove(&fixture);
}

static int in_child(int (*run)(struct fixture), struct fixture fixture)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int status = run(fixture);
        fflush(stdout);
        _exit(status);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Child: ends in the middle of a transaction that has reached the disk already. */
static void leave_half_a_run(const struct fixture *fixture)
{
    struct results_db *db = fixture_open(fixture, RESULTS_WRITE);
    fixture_execute(db, "PRAGMA cache_size = 2; BEGIN; INSERT INTO series WITH RECURSIVE n(i) AS"
                        " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                        " SELECT 1, 'half', i, i FROM n;");
    _exit(0);
}

/* As an ordinary user, who cannot undo it. Returns 0 if that is told. */
static int read_as_user(struct fixture fixture)
{
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = NULL;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    enum results_error error = results_open(fixture.path, RESULTS_READ, &db, message);
    if (error == RESULTS_READ_ONLY && strstr(message, "interrupted write") != NULL)
        return 0;
    printf("\n  got %s: %s\n", results_error_name(error), message);
    return 2;
}

static void half_a_run_is_undone_by_the_next_reader(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("whole", 1);
    fixture_write(db, &run, 1);
    results_close(db);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        leave_half_a_run(&fixture);
    waitpid(child, NULL, 0);
    char journal[sizeof(fixture.path) + 16];
    snprintf(journal, sizeof(journal), "%s-journal", fixture.path);
    CU_ASSERT_EQUAL(access(journal, F_OK), 0);
    chmod(fixture.path, 0444);
    CU_ASSERT_EQUAL(in_child(read_as_user, fixture), 0);
    chmod(fixture.path, 0644);
    db = fixture_open(&fixture, RESULTS_READ);
    assert_whole(db);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 1);
    CU_ASSERT_NOT_EQUAL(access(journal, F_OK), 0);
    results_close(db);
    fixture_remove(&fixture);
}

/* Child, in its own mount namespace: fills a 1 MiB file system. Exit status: 0 as expected. */
static int fill_disk(struct fixture fixture)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", fixture.directory, "tmpfs", 0, "size=1m") != 0)
        return 77;
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = NULL;
    if (results_open(fixture.path, RESULTS_WRITE, &db, message) != RESULTS_OK)
        return 1;
    struct run_results results = fixture_results(1);
    enum results_error error = RESULTS_OK;
    uint64_t written = 0;
    while (error == RESULTS_OK && written < 100000) {
        struct results_run run = fixture_run("full", written);
        error = results_write(db, &run, &results, message);
        written += error == RESULTS_OK;
    }
    run_results_deinit(&results);
    if (error != RESULTS_FULL || strstr(message, "no space left") == NULL ||
        strstr(message, fixture.path) == NULL) {
        printf("\n  got %s: %s\n", results_error_name(error), message);
        return 2;
    }
    unsigned before = CU_get_number_of_failures();
    assert_whole(db);
    results_close(db);
    db = fixture_open(&fixture, RESULTS_READ);
    assert_whole(db);
    bool counted = fixture_count(db, "SELECT count(*) FROM run") == (int64_t)written;
    results_close(db);
    return CU_get_number_of_failures() == before && counted && written > 0 ? 0 : 3;
}

/* Child: no byte fits, not even the schema. */
static int make_on_full_disk(struct fixture fixture)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", fixture.directory, "tmpfs", 0, "size=8k") != 0)
        return 77;
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = NULL;
    enum results_error error = results_open(fixture.path, RESULTS_WRITE, &db, message);
    return error == RESULTS_FULL && db == NULL && strstr(message, "no space left") != NULL ? 0 : 4;
}

static void full_disk_leaves_whole_runs_only(void)
{
    struct fixture fixture = fixture_make();
    int filled = in_child(fill_disk, fixture);
    int made = in_child(make_on_full_disk, fixture);
    fixture_remove(&fixture);
    if (filled == 77 || made == 77)
        HARNESS_SKIP("needs root, to mount a small file system");
    CU_ASSERT_EQUAL(filled, 0);
    CU_ASSERT_EQUAL(made, 0);
}

static void two_processes_share_one_file(void)
{
    enum {
        PROCESSES = 4,
        RUNS = 20
    };
    struct fixture fixture = fixture_make();
    pid_t children[PROCESSES];
    fflush(stdout);
    for (uint64_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        char message[RESULTS_MESSAGE_MAX] = "";
        struct results_db *db = NULL;
        struct run_results results = fixture_results(1);
        enum results_error error = results_open(fixture.path, RESULTS_WRITE, &db, message);
        for (uint64_t j = 0; j < RUNS && error == RESULTS_OK; j++) {
            struct results_run run = fixture_run("shared", i * RUNS + j);
            error = results_write(db, &run, &results, message);
        }
        if (error != RESULTS_OK)
            fprintf(stderr, "%s\n", message);
        _exit(error == RESULTS_OK ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
    struct results_db *db = fixture_open(&fixture, RESULTS_READ);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), PROCESSES * RUNS);
    assert_whole(db);
    results_close(db);
    fixture_remove(&fixture);
}

const struct harness_test results_faults_tests[] = {
    HARNESS_TEST(kills_leave_whole_runs_only),
    HARNESS_TEST(half_a_run_is_undone_by_the_next_reader),
    HARNESS_TEST(full_disk_leaves_whole_runs_only),
    HARNESS_TEST(two_processes_share_one_file),
    {0},
};
