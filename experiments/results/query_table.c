/* query_table.c - see query_table.h. */
#include "experiments/results/query_table.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/results/query_differences.h"
#include "experiments/results/statistics.h"

#define SELECTED                                                                                   \
    " FROM current_run WHERE (?1 IS NULL OR experiment GLOB ?1) AND (?2 IS NULL OR arm GLOB ?2) "

/* Growing list of one metric's values. */
struct values {
    double *items;
    size_t count;
    size_t capacity;
};

static void values_add(struct values *values, double value)
{
    if (values->count == values->capacity) {
        values->capacity = 2 * values->capacity + 16;
        values->items = realloc(values->items, values->capacity * sizeof(*values->items));
        assert(values->items != NULL);
    }
    values->items[values->count++] = value;
}

static enum query_error database_failed(const struct query_request *request, char *message)
{
    results_failure(request->db, message);
    return QUERY_FAILED;
}

/* Texts are bound from parameter 1 on; NULL binds NULL. NULL on an error. */
static sqlite3_stmt *prepare(const struct query_request *request, const char *sql,
                             const char *const *texts, int count)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(results_connection(request->db), sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    for (int i = 0; i < count; i++) {
        int code = sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_TRANSIENT);
        assert(code == SQLITE_OK);
    }
    return statement;
}

static const char *column_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

/* Finalizes; QUERY_OK if the last step was the last row. */
static enum query_error finish(const struct query_request *request, sqlite3_stmt *statement,
                               int code, char *message)
{
    enum query_error error = code == SQLITE_DONE ? QUERY_OK : database_failed(request, message);
    sqlite3_finalize(statement);
    return error;
}

/* "no metric x in this database; it has: a, b, c" - `list_sql` gives the names. */
static enum query_error refuse(const struct query_request *request, const char *what,
                               const char *list_sql, char *message)
{
    int length = snprintf(message, QUERY_MESSAGE_MAX, "%.300s; the database has: ", what);
    sqlite3_stmt *statement = prepare(request, list_sql, NULL, 0);
    if (statement == NULL)
        return database_failed(request, message);
    bool any = false;
    while (sqlite3_step(statement) == SQLITE_ROW && length < QUERY_MESSAGE_MAX - 100) {
        length += snprintf(message + length, (size_t)(QUERY_MESSAGE_MAX - length), "%s%.80s",
                           any ? ", " : "", column_text(statement, 0));
        any = true;
    }
    sqlite3_finalize(statement);
    if (!any)
        snprintf(message + length, (size_t)(QUERY_MESSAGE_MAX - length), "nothing yet");
    return QUERY_REFUSED;
}

static enum query_error refuse_empty(const struct query_request *request, char *message)
{
    char what[320];
    snprintf(what, sizeof(what), "no run matches --experiment %.120s --arm %.120s",
             request->experiment != NULL ? request->experiment : "*",
             request->arm != NULL ? request->arm : "*");
    return refuse(request, what,
                  "SELECT DISTINCT experiment || ': ' || arm FROM current_run ORDER BY 1", message);
}

/* The unit of a name in a table of metrics or series; false if the name is not there. */
static bool find_unit(const struct query_request *request, const char *sql, const char *name,
                      char unit[RESULT_UNIT_MAX])
{
    sqlite3_stmt *statement = prepare(request, sql, &name, 1);
    bool found = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        snprintf(unit, RESULT_UNIT_MAX, "%s", column_text(statement, 0));
    sqlite3_finalize(statement);
    return found;
}

static void add_mean_columns(struct table *table, const char *name, const char *unit)
{
    char half[RESULT_NAME_MAX + 8];
    snprintf(half, sizeof(half), "%s_ci95", name);
    table_add_column(table, name, unit, TABLE_PLAIN);
    table_add_column(table, half, unit, TABLE_HALF_WIDTH);
}

static void add_mean(struct table *table, const struct values *values)
{
    struct statistics_mean mean = statistics_mean(values->items, values->count);
    table_add_number(table, mean.mean);
    table_add_number(table, mean.half_width);
}

/* ---- summary ---- */

static const char metric_unit_sql[] = "SELECT unit FROM metric WHERE name = ?1 LIMIT 1";

/* What is shown where no metric was asked for: those of these that the database has. */
static struct query_request with_usual_metrics(const struct query_request *request)
{
    static const char *const usual[] = {"success",   "committed_mb_s", "age_median_s",
                                        "age_p99_s", "fairness_jain",  "manifest_bytes"};
    struct query_request filled = *request;
    char unit[RESULT_UNIT_MAX];
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (find_unit(request, metric_unit_sql, usual[i], unit))
            filled.metrics[filled.metric_count++] = usual[i];
    return filled;
}

static enum query_error add_summary_columns(const struct query_request *request,
                                            struct table *table, char *message)
{
    table_add_column(table, "experiment", "", TABLE_PLAIN);
    table_add_column(table, "arm", "", TABLE_PLAIN);
    table_add_column(table, "mode", "", TABLE_PLAIN);
    table_add_column(table, "seeds", "", TABLE_PLAIN);
    table_add_column(table, "violations", "", TABLE_PLAIN);
    for (size_t i = 0; i < request->metric_count; i++) {
        char unit[RESULT_UNIT_MAX] = "";
        char what[160];
        snprintf(what, sizeof(what), "no metric %.100s", request->metrics[i]);
        if (!find_unit(request, metric_unit_sql, request->metrics[i], unit))
            return refuse(request, what, "SELECT DISTINCT name FROM metric ORDER BY 1", message);
        add_mean_columns(table, request->metrics[i], unit);
    }
    return QUERY_OK;
}

/* One metric over the seeds of the arm in `group`'s current row. */
static bool read_metric(const struct query_request *request, sqlite3_stmt *group,
                        const char *metric, struct values *values)
{
    static const char sql[] = "SELECT value FROM current_run JOIN metric ON run = id WHERE"
                              " experiment = ?1 AND arm = ?2 AND mode = ?3 AND name = ?4"
                              " ORDER BY seed";
    const char *texts[] = {column_text(group, 0), column_text(group, 1), column_text(group, 2),
                           metric};
    sqlite3_stmt *statement = prepare(request, sql, texts, 4);
    if (statement == NULL)
        return false;
    values->count = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        values_add(values, sqlite3_column_double(statement, 0));
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

/* An arm that differs from the others in more than it should is marked, and a note says in what;
 * and so is one whose means are over runs that were resumed, too. */
static void add_arm(const struct query_differences *differences, sqlite3_stmt *group,
                    struct table *table)
{
    const struct query_arm arm = {
        .experiment = column_text(group, 0),
        .arm = column_text(group, 1),
        .mode = column_text(group, 2),
    };
    char *different = query_differences_of(differences, &arm);
    table_add_text(table, arm.experiment);
    char resumed[80] = "";
    if (sqlite3_column_int64(group, 5) > 0)
        snprintf(resumed, sizeof(resumed), "%lld of its runs went on with an earlier one's chain",
                 (long long)sqlite3_column_int64(group, 5));
    if (different == NULL && resumed[0] == '\0') {
        table_add_text(table, arm.arm);
    } else {
        char note[1024];
        snprintf(note, sizeof(note), "* %s %s: %.800s%s%s", arm.experiment, arm.arm,
                 different != NULL ? different : "",
                 different != NULL && resumed[0] != '\0' ? "; " : "", resumed);
        table_add_note(table, note);
        table_add_marked_text(table, arm.arm);
    }
    table_add_text(table, arm.mode);
    free(different);
}

static bool add_numbers(const struct query_request *request, sqlite3_stmt *group,
                        struct values *values, struct table *table)
{
    table_add_integer(table, sqlite3_column_int64(group, 3));
    table_add_integer(table, sqlite3_column_int64(group, 4));
    for (size_t i = 0; i < request->metric_count; i++) {
        if (!read_metric(request, group, request->metrics[i], values))
            return false;
        add_mean(table, values);
    }
    return true;
}

enum query_error query_summary(const struct query_request *asked, struct table *table,
                               char message[QUERY_MESSAGE_MAX])
{
    struct query_request filled = asked->metric_count > 0 ? *asked : with_usual_metrics(asked);
    const struct query_request *request = &filled;
    static const char sql[] =
        "SELECT experiment, arm, mode, count(*), sum(violations > 0), sum(EXISTS("
        "SELECT 1 FROM metric WHERE run = id AND name = 'resumed' AND value > 0))" SELECTED
        "AND (?3 IS NULL OR arm IN (SELECT value FROM json_each(?3))) "
        "GROUP BY experiment, mode, arm ORDER BY experiment, mode, arm_group, sweep_value, arm";
    const char *texts[] = {request->experiment, request->arm, request->arms};
    sqlite3_stmt *group = prepare(request, sql, texts, 3);
    if (group == NULL)
        return database_failed(request, message);
    struct values values = {0};
    struct query_differences *differences =
        query_differences_open(request->db, request->experiment);
    if (differences == NULL) {
        sqlite3_finalize(group);
        return database_failed(request, message);
    }
    enum query_error error = QUERY_OK;
    int code = sqlite3_step(group);
    if (code == SQLITE_DONE)
        error = refuse_empty(request, message);
    else if (code == SQLITE_ROW)
        error = add_summary_columns(request, table, message);
    for (; error == QUERY_OK && code == SQLITE_ROW; code = sqlite3_step(group)) {
        add_arm(differences, group, table);
        if (!add_numbers(request, group, &values, table))
            error = database_failed(request, message);
    }
    if (error == QUERY_OK && code != SQLITE_DONE)
        error = database_failed(request, message);
    sqlite3_finalize(group);
    query_differences_close(differences);
    free(values.items);
    return error;
}

/* ---- series ---- */

/* One time of one arm, while its seeds are read. */
struct moment {
    char *key[3]; /* experiment, arm, mode: owned */
    double t;
    struct values values;
};

static bool moment_matches(const struct moment *moment, sqlite3_stmt *row)
{
    bool same = moment->key[0] != NULL && moment->t == sqlite3_column_double(row, 3);
    for (int i = 0; i < 3 && same; i++)
        same = strcmp(moment->key[i], column_text(row, i)) == 0;
    return same;
}

/* Adds the row of what was gathered, and empties it. */
static void moment_end(struct moment *moment, struct table *table)
{
    if (moment->key[0] == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        table_add_text(table, moment->key[i]);
        free(moment->key[i]);
        moment->key[i] = NULL;
    }
    table_add_number(table, moment->t);
    table_add_integer(table, (int64_t)moment->values.count);
    add_mean(table, &moment->values);
    moment->values.count = 0;
}

static void moment_begin(struct moment *moment, sqlite3_stmt *row)
{
    for (int i = 0; i < 3; i++) {
        moment->key[i] = strdup(column_text(row, i));
        assert(moment->key[i] != NULL);
    }
    moment->t = sqlite3_column_double(row, 3);
}

enum query_error query_series(const struct query_request *request, struct table *table,
                              char message[QUERY_MESSAGE_MAX])
{
    static const char sql[] =
        "SELECT experiment, arm, mode, t, value FROM (SELECT *" SELECTED ") JOIN series ON run = id"
        " WHERE name = ?3 ORDER BY experiment, mode, arm_group, sweep_value, arm, t, seed";
    char unit[RESULT_UNIT_MAX] = "";
    char what[160];
    snprintf(what, sizeof(what), "no series %.100s", request->series);
    if (!find_unit(request, "SELECT unit FROM series_unit WHERE name = ?1", request->series, unit))
        return refuse(request, what, "SELECT name FROM series_unit ORDER BY 1", message);
    static const char *const names[] = {"experiment", "arm", "mode"};
    for (int i = 0; i < 3; i++)
        table_add_column(table, names[i], "", TABLE_PLAIN);
    table_add_column(table, "t", "s", TABLE_PLAIN);
    table_add_column(table, "seeds", "", TABLE_PLAIN);
    add_mean_columns(table, request->series, unit);
    const char *texts[] = {request->experiment, request->arm, request->series};
    sqlite3_stmt *row = prepare(request, sql, texts, 3);
    if (row == NULL)
        return database_failed(request, message);
    struct moment moment = {0};
    int code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        if (!moment_matches(&moment, row)) {
            moment_end(&moment, table);
            moment_begin(&moment, row);
        }
        values_add(&moment.values, sqlite3_column_double(row, 4));
    }
    moment_end(&moment, table);
    free(moment.values.items);
    enum query_error error = finish(request, row, code, message);
    if (error == QUERY_OK && table_row_count(table) == 0)
        error = refuse_empty(request, message);
    return error;
}

/* ---- free SQL ---- */

static int allow_reading(void *context, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static void add_sql_cell(struct table *table, sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        table_add_integer(table, sqlite3_column_int64(row, column));
        break;
    case SQLITE_FLOAT:
        table_add_number(table, sqlite3_column_double(row, column));
        break;
    case SQLITE_NULL:
        table_add_missing(table);
        break;
    default:
        table_add_text(table, column_text(row, column));
        break;
    }
}

static enum query_error refuse_sql(const struct query_request *request, int code, char *message)
{
    if (code == SQLITE_AUTH)
        snprintf(message, QUERY_MESSAGE_MAX,
                 "--sql: only one SELECT is allowed; change the"
                 " database with sqlite3 if you must");
    else
        snprintf(message, QUERY_MESSAGE_MAX,
                 "--sql: %.500s; tables: run, metric, series, series_unit, view current_run",
                 sqlite3_errmsg(results_connection(request->db)));
    return QUERY_FAILED;
}

enum query_error query_sql(const struct query_request *request, struct table *table,
                           char message[QUERY_MESSAGE_MAX])
{
    sqlite3 *sqlite = results_connection(request->db);
    sqlite3_stmt *row = NULL;
    const char *rest = NULL;
    sqlite3_set_authorizer(sqlite, allow_reading, NULL);
    int code = sqlite3_prepare_v2(sqlite, request->sql, -1, &row, &rest);
    sqlite3_set_authorizer(sqlite, NULL, NULL);
    if (code != SQLITE_OK)
        return refuse_sql(request, code, message);
    /* What gives no columns changes something: VACUUM INTO would make a file. */
    if (row == NULL || sqlite3_column_count(row) == 0 || rest[strspn(rest, " \t\r\n;")] != '\0') {
        sqlite3_finalize(row);
        return refuse_sql(request, SQLITE_AUTH, message);
    }
    int columns = sqlite3_column_count(row);
    for (int i = 0; i < columns; i++)
        table_add_column(table, sqlite3_column_name(row, i), "", TABLE_PLAIN);
    while ((code = sqlite3_step(row)) == SQLITE_ROW)
        for (int i = 0; i < columns; i++)
            add_sql_cell(table, row, i);
    enum query_error error = code == SQLITE_DONE ? QUERY_OK : refuse_sql(request, code, message);
    sqlite3_finalize(row);
    return error;
}
