/* results_fixture.c - see results_fixture.h. */
#include "tests/experiments/results_fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

struct fixture fixture_make(void)
{
    struct fixture fixture;
    scratch_make(fixture.directory);
    snprintf(fixture.path, sizeof(fixture.path), "%s/results.db", fixture.directory);
    return fixture;
}

void fixture_remove(const struct fixture *fixture)
{
    scratch_remove(fixture->directory);
}

struct results_db *fixture_open(const struct fixture *fixture, enum results_access access)
{
    char message[RESULTS_MESSAGE_MAX] = "";
    struct results_db *db = NULL;
    enum results_error error = results_open(fixture->path, access, &db, message);
    if (error != RESULTS_OK)
        printf("\n  %s\n", message);
    CU_ASSERT_EQUAL_FATAL(error, RESULTS_OK);
    return db;
}

struct results_run fixture_run(const char *arm, uint64_t seed)
{
    return (struct results_run){
        .experiment = "test",
        .arm = arm,
        .arm_group = "",
        .sweep_key = "",
        .sweep_value = NAN,
        .mode = RESULTS_SIM,
        .store = "s3-standard",
        .config_hash = "0123",
        .config = "producers: 32 # default\n",
        .seed = seed,
        .commit = "abc",
        .started = "2026-01-01T00:00:00Z",
        .machine = "test",
    };
}

struct run_results fixture_results(double success)
{
    struct run_results results = {.digest = 0xab, .wall_s = 0.5};
    run_results_add_metric(&results, "success", "ratio", success);
    for (int i = 0; i < 100; i++) {
        struct result_point point = {i * 60.0, i + success};
        run_results_add_point(&results, "age", "s", point);
    }
    return results;
}

void fixture_write(struct results_db *db, const struct results_run *run, double success)
{
    char message[RESULTS_MESSAGE_MAX] = "";
    struct run_results results = fixture_results(success);
    enum results_error error = results_write(db, run, &results, message);
    run_results_deinit(&results);
    if (error != RESULTS_OK)
        printf("\n  %s\n", message);
    CU_ASSERT_EQUAL_FATAL(error, RESULTS_OK);
}

int64_t fixture_count(struct results_db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(results_connection(db), sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    else
        printf("\n  %s: %s\n", sql, sqlite3_errmsg(results_connection(db)));
    sqlite3_finalize(statement);
    return value;
}

char *fixture_text(struct results_db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    const unsigned char *text = NULL;
    if (sqlite3_prepare_v2(results_connection(db), sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        text = sqlite3_column_text(statement, 0);
    else
        printf("\n  %s: %s\n", sql, sqlite3_errmsg(results_connection(db)));
    char *copy = strdup(text != NULL ? (const char *)text : "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    sqlite3_finalize(statement);
    return copy;
}

int fixture_execute(struct results_db *db, const char *sql)
{
    return sqlite3_exec(results_connection(db), sql, NULL, NULL, NULL);
}
