/* Tests of experiments/results*.c: what is written is read again, and every fault is named. */
#include "experiments/results/results.h"

#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

static void written_runs_are_read_again(void)
{
    struct fixture fixture = fixture_make();
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("fixed", 1);
    bool has = true;
    CU_ASSERT_EQUAL(results_has(db, &run, &has, message), RESULTS_OK);
    CU_ASSERT_FALSE(has);
    fixture_write(db, &run, 3);
    CU_ASSERT_EQUAL(results_has(db, &run, &has, message), RESULTS_OK);
    CU_ASSERT_TRUE(has);
    results_close(db);
    db = fixture_open(&fixture, RESULTS_READ);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM current_run WHERE arm = 'fixed' AND"
                                      " seed = 1 AND mode = 'sim' AND sweep_value IS NULL"),
                    1);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT value FROM metric WHERE name = 'success'"), 3);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM series WHERE name = 'age'"), 100);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT unit = 's' FROM series_unit WHERE name = 'age'"), 1);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT digest = '00000000000000ab' FROM run"), 1);
    CU_ASSERT_NOT_EQUAL(sqlite3_exec(results_connection(db), "DELETE FROM run", NULL, NULL, NULL),
                        SQLITE_OK);
    results_close(db);
    fixture_remove(&fixture);
}

static void same_run_is_replaced(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("fixed", 1);
    fixture_write(db, &run, 3);
    fixture_write(db, &run, 4);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 1);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM metric"), 1);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM series"), 100);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT value FROM metric"), 4);
    results_close(db);
    fixture_remove(&fixture);
}

static void view_shows_the_selected_config(void)
{
    struct fixture fixture = fixture_make();
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run old = fixture_run("fixed", 1);
    struct results_run new = fixture_run("fixed", 1);
    new.config_hash = "ffff";
    fixture_write(db, &old, 3);
    fixture_write(db, &new, 5);
    static const char shown[] = "SELECT sum(value) FROM current_run JOIN metric ON run = id";
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 2);
    CU_ASSERT_EQUAL(fixture_count(db, shown), 5);
    CU_ASSERT_EQUAL(results_select(db, &old, 1, message), RESULTS_OK);
    CU_ASSERT_EQUAL(fixture_count(db, shown), 3);
    results_close(db);
    fixture_remove(&fixture);
}

static void violated_runs_are_not_finished(void)
{
    struct fixture fixture = fixture_make();
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("fixed", 1);
    struct run_results results = {.violations = 1, .wall_s = 4};
    bool has = true;
    CU_ASSERT_EQUAL(results_write(db, &run, &results, message), RESULTS_OK);
    CU_ASSERT_EQUAL(results_has(db, &run, &has, message), RESULTS_OK);
    CU_ASSERT_FALSE(has);
    double wall_s = 0;
    CU_ASSERT_EQUAL(results_past_wall_s(db, &run, &wall_s, message), RESULTS_OK);
    CU_ASSERT_DOUBLE_EQUAL(wall_s, 4, 0);
    results_close(db);
    fixture_remove(&fixture);
}

static void hash_depends_on_the_config(void)
{
    char a[RESULTS_HASH_MAX];
    char b[RESULTS_HASH_MAX];
    results_config_hash("run.duration: 5h\n", a);
    results_config_hash("run.duration: 5h\n", b);
    CU_ASSERT_STRING_EQUAL(a, b);
    CU_ASSERT_EQUAL(strlen(a), RESULTS_HASH_MAX - 1);
    results_config_hash("run.duration: 4h\n", b);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
}

/* What comes after the first failure must neither hide its cause nor stay. */
static void refused_point_is_told_and_leaves_nothing(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("arm", 1);
    struct run_results results = fixture_results(1);
    run_results_add_point(&results, "later", "s", (struct result_point){0, 1});
    CU_ASSERT_EQUAL(fixture_execute(db,
                                    "CREATE TRIGGER refuse BEFORE INSERT ON series WHEN new.name"
                                    " = 'age' BEGIN SELECT RAISE(ABORT, 'planted'); END"),
                    0);
    char message[RESULTS_MESSAGE_MAX] = "";
    CU_ASSERT_EQUAL(results_write(db, &run, &results, message), RESULTS_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, "planted"));
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 0);
    run_results_deinit(&results);
    results_close(db);
    fixture_remove(&fixture);
}

static void assert_fault(const struct fixture *fixture, enum results_access access,
                         enum results_error expected, const char *word)
{
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = NULL;
    enum results_error error = results_open(fixture->path, access, &db, message);
    if (error != expected || strstr(message, fixture->path) == NULL ||
        strstr(message, word) == NULL)
        printf("\n  got %s: %s\n", results_error_name(error), message);
    CU_ASSERT_EQUAL(error, expected);
    CU_ASSERT_PTR_NULL(db);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, fixture->path));
    CU_ASSERT_PTR_NOT_NULL(strstr(message, word));
    results_close(db);
}

static void missing_files_are_named(void)
{
    struct fixture fixture = fixture_make();
    assert_fault(&fixture, RESULTS_READ, RESULTS_MISSING, "no such file");
    struct fixture deeper = fixture;
    snprintf(deeper.path, sizeof(deeper.path), "%s/none/results.db", fixture.directory);
    assert_fault(&deeper, RESULTS_WRITE, RESULTS_MISSING, "directory does not exist");
    snprintf(deeper.path, sizeof(deeper.path), "%s", fixture.directory);
    assert_fault(&deeper, RESULTS_READ, RESULTS_NOT_A_DATABASE, "a directory");
    fixture_remove(&fixture);
}

static void other_files_are_refused_unharmed(void)
{
    struct fixture fixture = fixture_make();
    static const char text[] = "name: p1\nworkload: {producers: 32}\nand more than a header\n"
                               "and more than a header and more than a header and more\n";
    scratch_write(fixture.path, text);
    assert_fault(&fixture, RESULTS_READ, RESULTS_NOT_A_DATABASE, "not a results database");
    assert_fault(&fixture, RESULTS_WRITE, RESULTS_NOT_A_DATABASE, "not a results database");
    struct stat status;
    CU_ASSERT_EQUAL(stat(fixture.path, &status), 0);
    CU_ASSERT_EQUAL((size_t)status.st_size, strlen(text));
    unlink(fixture.path);
    sqlite3 *other = NULL;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(fixture.path, &other), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_exec(other, "CREATE TABLE bookmarks(url)", NULL, NULL, NULL),
                    SQLITE_OK);
    sqlite3_close(other);
    assert_fault(&fixture, RESULTS_WRITE, RESULTS_NOT_A_DATABASE, "another program");
    fixture_remove(&fixture);
}

static void newer_schema_is_refused(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    CU_ASSERT_EQUAL(
        sqlite3_exec(results_connection(db), "PRAGMA user_version = 999", NULL, NULL, NULL),
        SQLITE_OK);
    results_close(db);
    assert_fault(&fixture, RESULTS_READ, RESULTS_NEWER_SCHEMA, "schema 999");
    assert_fault(&fixture, RESULTS_WRITE, RESULTS_NEWER_SCHEMA, "schema 999");
    fixture_remove(&fixture);
}

/* ":memory:" would be lost at the end, and a name is too long where its journal's is. */
static void odd_names_are_files_or_refused(void)
{
    char message[RESULTS_MESSAGE_MAX];
    char folder[PATH_MAX];
    struct results_db *db = NULL;
    struct fixture fixture = fixture_make();
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(folder, sizeof(folder)));
    CU_ASSERT_EQUAL_FATAL(chdir(fixture.directory), 0);
    CU_ASSERT_EQUAL(results_open(":memory:", RESULTS_WRITE, &db, message), RESULTS_OK);
    results_close(db);
    CU_ASSERT_EQUAL(results_open(":memory:", RESULTS_READ, &db, message), RESULTS_OK);
    results_close(db);
    CU_ASSERT_EQUAL(chdir(folder), 0);
    snprintf(fixture.path, sizeof(fixture.path), "%s/%0180d", fixture.directory, 0);
    results_close(fixture_open(&fixture, RESULTS_WRITE));
    snprintf(folder, sizeof(folder), "%s/%0250d", fixture.directory, 0);
    CU_ASSERT_EQUAL(results_open(folder, RESULTS_WRITE, &db, message), RESULTS_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, "use a shorter one"));
    CU_ASSERT_NOT_EQUAL(access(folder, F_OK), 0);
    fixture_remove(&fixture);
}

static void empty_file_can_be_written_not_read(void)
{
    struct fixture fixture = fixture_make();
    scratch_write(fixture.path, "");
    assert_fault(&fixture, RESULTS_READ, RESULTS_NOT_A_DATABASE, "empty");
    results_close(fixture_open(&fixture, RESULTS_WRITE));
    results_close(fixture_open(&fixture, RESULTS_READ));
    fixture_remove(&fixture);
}

/* What an ordinary user sees; run in a child, so that root can be one. Returns the child's
 * failures. */
static int as_user(void (*check)(const struct fixture *), const struct fixture *fixture)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        unsigned before = CU_get_number_of_failures();
        check(fixture);
        fflush(stdout);
        _exit((int)(CU_get_number_of_failures() - before));
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void check_unreadable(const struct fixture *fixture)
{
    assert_fault(fixture, RESULTS_READ, RESULTS_UNREADABLE, "chmod u+r");
    assert_fault(fixture, RESULTS_WRITE, RESULTS_UNREADABLE, "chmod u+r");
}

static void check_read_only(const struct fixture *fixture)
{
    assert_fault(fixture, RESULTS_WRITE, RESULTS_READ_ONLY, "chmod u+w");
    struct results_db *db = fixture_open(fixture, RESULTS_READ);
    CU_ASSERT_EQUAL(fixture_count(db, "SELECT count(*) FROM run"), 1);
    results_close(db);
}

static void check_closed_directory(const struct fixture *fixture)
{
    assert_fault(fixture, RESULTS_WRITE, RESULTS_READ_ONLY, "chmod u+w");
}

static void permissions_are_named_to_an_ordinary_user(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct results_run run = fixture_run("fixed", 1);
    fixture_write(db, &run, 3);
    results_close(db);
    chmod(fixture.directory, 0777);
    chmod(fixture.path, 0444);
    CU_ASSERT_EQUAL(as_user(check_read_only, &fixture), 0);
    chmod(fixture.directory, 0555);
    chmod(fixture.path, 0666);
    CU_ASSERT_EQUAL(as_user(check_read_only, &fixture), 0);
    chmod(fixture.path, 0);
    CU_ASSERT_EQUAL(as_user(check_unreadable, &fixture), 0);
    struct fixture other = fixture;
    snprintf(other.path, sizeof(other.path), "%s/new.db", fixture.directory);
    CU_ASSERT_EQUAL(as_user(check_closed_directory, &other), 0);
    chmod(fixture.directory, 0755);
    fixture_remove(&fixture);
}

const struct harness_test results_tests[] = {
    HARNESS_TEST(written_runs_are_read_again),
    HARNESS_TEST(same_run_is_replaced),
    HARNESS_TEST(view_shows_the_selected_config),
    HARNESS_TEST(violated_runs_are_not_finished),
    HARNESS_TEST(hash_depends_on_the_config),
    HARNESS_TEST(refused_point_is_told_and_leaves_nothing),
    HARNESS_TEST(missing_files_are_named),
    HARNESS_TEST(other_files_are_refused_unharmed),
    HARNESS_TEST(newer_schema_is_refused),
    HARNESS_TEST(odd_names_are_files_or_refused),
    HARNESS_TEST(empty_file_can_be_written_not_read),
    HARNESS_TEST(permissions_are_named_to_an_ordinary_user),
    {0},
};
