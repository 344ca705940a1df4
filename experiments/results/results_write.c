/* results_write.c - writing and finding runs, see results.h. Each run is one transaction: SQLite's
 * journal makes it all or nothing, whatever happens to the process or the disk. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/results/results_private.h"

/* A statement and its next parameter; all bound texts are borrowed until it is finalized. */
struct query {
    sqlite3_stmt *statement;
    int code;
    int next;
};

static struct query prepare(struct results_db *db, const char *sql)
{
    struct query query = {.next = 1};
    query.code = sqlite3_prepare_v2(db->sqlite, sql, -1, &query.statement, NULL);
    return query;
}

static void bound(struct query *query, int code)
{
    assert(query->code != SQLITE_OK || code != SQLITE_RANGE);
    if (query->code == SQLITE_OK)
        query->code = code;
    query->next++;
}

static void bind_text(struct query *query, const char *text)
{
    bound(query, sqlite3_bind_text(query->statement, query->next, text, -1, SQLITE_STATIC));
}

static void bind_integer(struct query *query, uint64_t value)
{
    assert(value <= INT64_MAX);
    bound(query, sqlite3_bind_int64(query->statement, query->next, (int64_t)value));
}

/* NAN becomes NULL. */
static void bind_real(struct query *query, double value)
{
    bound(query, sqlite3_bind_double(query->statement, query->next, value));
}

/* Runs it once and makes it ready for the next values. */
static bool execute(struct query *query)
{
    if (query->code == SQLITE_OK) {
        query->code = sqlite3_step(query->statement);
        if (query->code == SQLITE_DONE)
            query->code = SQLITE_OK;
        int reset = sqlite3_reset(query->statement);
        if (query->code == SQLITE_OK)
            query->code = reset;
    }
    query->next = 1;
    return query->code == SQLITE_OK;
}

static bool finish(struct query *query)
{
    bool done = query->code == SQLITE_OK;
    sqlite3_finalize(query->statement);
    return done;
}

static bool run_sql(struct results_db *db, const char *sql)
{
    return sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static void bind_key(struct query *query, const struct results_run *run)
{
    bind_text(query, run->experiment);
    bind_text(query, run->arm);
    bind_text(query, results_mode_name(run->mode));
    bind_text(query, run->config_hash);
    bind_integer(query, run->seed);
}

static bool delete_earlier(struct results_db *db, const struct results_run *run)
{
    struct query query = prepare(db, "DELETE FROM run WHERE experiment = ? AND arm = ? AND mode = ?"
                                     " AND config_hash = ? AND seed = ?");
    bind_key(&query, run);
    execute(&query);
    return finish(&query);
}

static bool insert_run(struct results_db *db, const struct results_run *run,
                       const struct run_results *results)
{
    struct query query =
        prepare(db, "INSERT INTO run(experiment, arm, mode, config_hash, seed, arm_group,"
                    " sweep_key, sweep_value, store, config, \"commit\", started, wall_s, digest,"
                    " violations, machine) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    char digest[17] = "";
    if (results->digest != 0)
        snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)results->digest);
    bind_key(&query, run);
    bind_text(&query, run->arm_group);
    bind_text(&query, run->sweep_key);
    bind_real(&query, run->sweep_value);
    bind_text(&query, run->store);
    bind_text(&query, run->config);
    bind_text(&query, run->commit);
    bind_text(&query, run->started);
    bind_real(&query, results->wall_s);
    bind_text(&query, digest);
    bind_integer(&query, results->violations);
    bind_text(&query, run->machine);
    execute(&query);
    return finish(&query);
}

static bool insert_metrics(struct results_db *db, uint64_t id, const struct run_results *results)
{
    struct query query = prepare(db, "INSERT INTO metric(run, name, unit, value) VALUES(?,?,?,?)");
    for (size_t i = 0; i < results->metric_count; i++) {
        bind_integer(&query, id);
        bind_text(&query, results->metrics[i].name);
        bind_text(&query, results->metrics[i].unit);
        bind_real(&query, results->metrics[i].value);
        if (!execute(&query))
            break;
    }
    return finish(&query);
}

static bool insert_series(struct results_db *db, uint64_t id, const struct run_results *results)
{
    struct query query = prepare(db, "INSERT INTO series(run, name, t, value) VALUES(?,?,?,?)");
    struct query unit = prepare(db, "INSERT OR REPLACE INTO series_unit(name, unit) VALUES(?,?)");
    bool done = true;
    for (size_t i = 0; i < results->series_count && done; i++) {
        const struct result_series *series = &results->series[i];
        bind_text(&unit, series->name);
        bind_text(&unit, series->unit);
        done = execute(&unit);
        for (size_t j = 0; j < series->point_count && done; j++) {
            bind_integer(&query, id);
            bind_text(&query, series->name);
            bind_real(&query, series->points[j].t_s);
            bind_real(&query, series->points[j].value);
            done = execute(&query);
        }
    }
    bool points = finish(&query);
    return finish(&unit) && points;
}

static bool select_config(struct results_db *db, const struct results_run *run)
{
    struct query query = prepare(db, "INSERT OR REPLACE INTO selected(experiment, arm, mode,"
                                     " config_hash) VALUES(?,?,?,?)");
    bind_text(&query, run->experiment);
    bind_text(&query, run->arm);
    bind_text(&query, results_mode_name(run->mode));
    bind_text(&query, run->config_hash);
    execute(&query);
    return finish(&query);
}

/* The message is about the first failure; the rollback must not hide it. */
static enum results_error abandon(struct results_db *db, char *message)
{
    enum results_error error = results_failure(db, message);
    run_sql(db, "ROLLBACK");
    return error;
}

static bool insert_all(struct results_db *db, const struct results_run *run,
                       const struct run_results *results)
{
    if (!delete_earlier(db, run) || !insert_run(db, run, results))
        return false;
    uint64_t id = (uint64_t)sqlite3_last_insert_rowid(db->sqlite);
    return insert_metrics(db, id, results) && insert_series(db, id, results) &&
           select_config(db, run);
}

enum results_error results_write(struct results_db *db, const struct results_run *run,
                                 const struct run_results *results,
                                 char message[RESULTS_MESSAGE_MAX])
{
    if (!run_sql(db, "BEGIN IMMEDIATE"))
        return results_failure(db, message);
    if (!insert_all(db, run, results) || !run_sql(db, "COMMIT"))
        return abandon(db, message);
    return RESULTS_OK;
}

enum results_error results_select(struct results_db *db, const struct results_run *runs,
                                  size_t count, char message[RESULTS_MESSAGE_MAX])
{
    if (!run_sql(db, "BEGIN IMMEDIATE"))
        return results_failure(db, message);
    bool done = true;
    for (size_t i = 0; i < count && done; i++)
        done = select_config(db, &runs[i]);
    if (!done || !run_sql(db, "COMMIT"))
        return abandon(db, message);
    return RESULTS_OK;
}

/* Steps once: whether there is a row; *failed on an error. */
static bool row(struct query *query, bool *failed)
{
    if (query->code == SQLITE_OK)
        query->code = sqlite3_step(query->statement);
    *failed = query->code != SQLITE_ROW && query->code != SQLITE_DONE;
    return query->code == SQLITE_ROW;
}

enum results_error results_has(struct results_db *db, const struct results_run *run, bool *has,
                               char message[RESULTS_MESSAGE_MAX])
{
    struct query query = prepare(db, "SELECT 1 FROM run WHERE experiment = ? AND arm = ?"
                                     " AND mode = ? AND config_hash = ? AND seed = ?"
                                     " AND violations = 0");
    bind_key(&query, run);
    bool failed;
    *has = row(&query, &failed);
    enum results_error error = failed ? results_failure(db, message) : RESULTS_OK;
    sqlite3_finalize(query.statement);
    return error;
}

enum results_error results_past_wall_s(struct results_db *db, const struct results_run *run,
                                       double *wall_s, char message[RESULTS_MESSAGE_MAX])
{
    struct query query = prepare(db, "SELECT coalesce(avg(wall_s), 0) FROM run"
                                     " WHERE experiment = ? AND arm = ? AND mode = ?");
    bind_text(&query, run->experiment);
    bind_text(&query, run->arm);
    bind_text(&query, results_mode_name(run->mode));
    bool failed;
    *wall_s = row(&query, &failed) ? sqlite3_column_double(query.statement, 0) : 0;
    enum results_error error = failed ? results_failure(db, message) : RESULTS_OK;
    sqlite3_finalize(query.statement);
    return error;
}
