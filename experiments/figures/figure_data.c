/* figure_data.c - reads the runs of one experiment for figures and tables. Figures name the config
 * of every arm by its hash; live runs are those of the view current_run, asked for last. */
#include "experiments/figures/figure_data.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"

#define WINDOW_NS INT64_C(900000000000)
#define HOUR_NS INT64_C(3600000000000)

static void *grow(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count, size);
    assert(memory != NULL);
    return memory;
}

bool figure_data_refuse(struct results_db *db, struct diagnostic *diagnostic)
{
    char message[RESULTS_MESSAGE_MAX];
    (void)results_failure(db, message);
    diagnostic_set(diagnostic, "%s", message);
    return false;
}

/* NULL: the diagnostic. */
static sqlite3_stmt *prepare(struct results_db *db, const char *sql, struct diagnostic *diagnostic)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(results_connection(db), sql, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    figure_data_refuse(db, diagnostic);
    return NULL;
}

static void copy_column(sqlite3_stmt *statement, int column, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(statement, column);
    snprintf(text, size, "%s", value != NULL ? (const char *)value : "");
}

/* One line of a stored config: key, value, origin. Texts with blanks are not needed here. Keys that
 * this program does not know are another version's. */
static bool read_config_line(const char *line, struct config *config, struct diagnostic *diagnostic)
{
    static const struct origin origin = {.kind = ORIGIN_SET};
    char key[FIGURE_NAME_MAX];
    char value[CONFIG_PATH_MAX];
    size_t key_length = strcspn(line, " \n");
    const char *rest = line + key_length + strspn(line + key_length, " ");
    size_t value_length = strcspn(rest, " \n");
    if (key_length >= sizeof(key) || value_length >= sizeof(value))
        return true;
    snprintf(key, sizeof(key), "%.*s", (int)key_length, line);
    snprintf(value, sizeof(value), "%.*s", (int)value_length, rest);
    const struct option *option = option_find(key);
    if (option == NULL || strcmp(value, "-") == 0 || option->unit == UNIT_QUANTILES ||
        strcmp(key, "title") == 0)
        return true;
    return option_set(config, option, value, &origin, diagnostic);
}

static bool read_config(const char *text, struct config *config, struct diagnostic *diagnostic)
{
    bool valid = true;
    config_default(config);
    for (const char *line = text; valid && line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        valid = read_config_line(line, config, diagnostic);
    }
    return valid;
}

static struct figure_arm *add_arm(struct figure_data *data)
{
    data->arms = grow(data->arms, data->arm_count + 1, sizeof(*data->arms));
    struct figure_arm *arm = &data->arms[data->arm_count++];
    *arm = (struct figure_arm){.sweep_value = NAN};
    return arm;
}

enum run_column {
    RUN_ARM,
    RUN_GROUP,
    RUN_SWEEP_KEY,
    RUN_SWEEP_VALUE,
    RUN_HASH,
    RUN_CONFIG,
    RUN_COMMIT,
    RUN_ID,
    RUN_SEED,
};

static bool begin_arm(struct figure_data *data, sqlite3_stmt *row, struct diagnostic *diagnostic)
{
    struct figure_arm *arm = add_arm(data);
    copy_column(row, RUN_ARM, arm->name, sizeof(arm->name));
    copy_column(row, RUN_GROUP, arm->group, sizeof(arm->group));
    if (!arm->group[0])
        copy_column(row, RUN_ARM, arm->group, sizeof(arm->group));
    copy_column(row, RUN_SWEEP_KEY, arm->sweep_key, sizeof(arm->sweep_key));
    if (sqlite3_column_type(row, RUN_SWEEP_VALUE) != SQLITE_NULL)
        arm->sweep_value = sqlite3_column_double(row, RUN_SWEEP_VALUE);
    copy_column(row, RUN_HASH, arm->hash, sizeof(arm->hash));
    copy_column(row, RUN_COMMIT, arm->commit, sizeof(arm->commit));
    const unsigned char *config = sqlite3_column_text(row, RUN_CONFIG);
    return read_config(config != NULL ? (const char *)config : "", &arm->config, diagnostic);
}

static void add_run(struct figure_arm *arm, sqlite3_stmt *row)
{
    char commit[FIGURE_COMMIT_MAX];
    size_t count = arm->run_count + 1;
    arm->runs = grow(arm->runs, count, sizeof(*arm->runs));
    arm->seeds = grow(arm->seeds, count, sizeof(*arm->seeds));
    arm->runs[arm->run_count] = sqlite3_column_int64(row, RUN_ID);
    arm->seeds[arm->run_count] = sqlite3_column_int64(row, RUN_SEED);
    arm->run_count = count;
    copy_column(row, RUN_COMMIT, commit, sizeof(commit));
    if (strcmp(arm->commit, commit) != 0)
        arm->commits_differ = true;
}

static int compare_arms(const void *left, const void *right)
{
    const struct figure_arm *a = left;
    const struct figure_arm *b = right;
    if (a->config.policy.index != b->config.policy.index)
        return a->config.policy.index < b->config.policy.index ? -1 : 1;
    int order = strverscmp(a->group, b->group);
    if (order == 0 && isfinite(a->sweep_value) && isfinite(b->sweep_value))
        order = (a->sweep_value > b->sweep_value) - (a->sweep_value < b->sweep_value);
    return order != 0 ? order : strverscmp(a->name, b->name);
}

#define ARM_COLUMNS                                                                                \
    "SELECT arm, arm_group, sweep_key, sweep_value, config_hash, config, \"commit\", id, seed "    \
    "FROM "

/* Adds the rows, arms together and seeds ascending. */
static bool read_arms(struct figure_data *data, sqlite3_stmt *statement,
                      struct diagnostic *diagnostic)
{
    bool valid = true;
    int status = SQLITE_DONE;
    while (valid && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, RUN_ARM);
        if (data->arm_count == 0 || strcmp(data->arms[data->arm_count - 1].name, name) != 0)
            valid = begin_arm(data, statement, diagnostic);
        add_run(&data->arms[data->arm_count - 1], statement);
    }
    if (valid && status != SQLITE_DONE)
        valid = figure_data_refuse(data->db, diagnostic);
    return valid;
}

/* Orders what was read, or frees it. Returns `valid`. */
static bool finish(struct figure_data *data, sqlite3_stmt *statement, bool valid)
{
    sqlite3_finalize(statement);
    if (!valid)
        figure_data_deinit(data);
    else if (data->arm_count > 1)
        qsort(data->arms, data->arm_count, sizeof(*data->arms), compare_arms);
    return valid;
}

bool figure_data_select(struct results_db *db, const struct figure_selection *selection,
                        struct figure_data *data, struct diagnostic *diagnostic)
{
    *data = (struct figure_data){.db = db, .mode = RESULTS_SIM};
    snprintf(data->experiment, sizeof(data->experiment), "%s", selection->experiment);
    sqlite3_stmt *statement = prepare(
        db,
        ARM_COLUMNS "run WHERE experiment = ?1 AND mode = 'sim' AND violations = 0 AND arm = ?2"
                    " AND config_hash = ?3 AND seed >= ?4 AND seed - ?4 < ?5 ORDER BY seed",
        diagnostic);
    bool valid = statement != NULL;
    for (size_t i = 0; valid && i < selection->count; i++) {
        const struct figure_wanted *wanted = &selection->wanted[i];
        sqlite3_bind_text(statement, 1, selection->experiment, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, 2, wanted->arm, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, 3, wanted->hash, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(statement, 4, (int64_t)wanted->first_seed);
        sqlite3_bind_int64(statement, 5, (int64_t)wanted->seeds);
        valid = read_arms(data, statement, diagnostic);
        sqlite3_reset(statement);
    }
    return finish(data, statement, valid);
}

bool figure_data_load(struct results_db *db, const char *experiment, enum results_mode mode,
                      struct figure_data *data, struct diagnostic *diagnostic)
{
    *data = (struct figure_data){.db = db, .mode = mode};
    snprintf(data->experiment, sizeof(data->experiment), "%s", experiment);
    sqlite3_stmt *statement = prepare(db,
                                      ARM_COLUMNS "current_run WHERE experiment = ?1 AND mode = ?2"
                                                  " AND violations = 0 AND NOT EXISTS"
                                                  " (SELECT 1 FROM metric WHERE run = id AND"
                                                  " name = 'resumed' AND value > 0)"
                                                  " ORDER BY arm, seed",
                                      diagnostic);
    if (statement == NULL)
        return false;
    sqlite3_bind_text(statement, 1, experiment, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 2, results_mode_name(mode), -1, SQLITE_TRANSIENT);
    return finish(data, statement, read_arms(data, statement, diagnostic));
}

void figure_data_deinit(struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++) {
        free(data->arms[i].runs);
        free(data->arms[i].seeds);
    }
    free(data->arms);
    *data = (struct figure_data){0};
}

size_t figure_data_runs(const struct figure_data *data, const struct figure_wanted *wanted)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (strcmp(data->arms[i].name, wanted->arm) == 0)
            return data->arms[i].run_count;
    return 0;
}

size_t figure_seeds_min(const struct figure_data *data)
{
    size_t least = data->arm_count > 0 ? data->arms[0].run_count : 0;
    for (size_t i = 1; i < data->arm_count; i++)
        if (data->arms[i].run_count < least)
            least = data->arms[i].run_count;
    return least;
}

size_t figure_seeds_max(const struct figure_data *data)
{
    size_t most = 0;
    for (size_t i = 0; i < data->arm_count; i++)
        if (data->arms[i].run_count > most)
            most = data->arms[i].run_count;
    return most;
}

static void read_metric(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, double *values)
{
    struct diagnostic diagnostic;
    sqlite3_stmt *statement =
        prepare(data->db, "SELECT value FROM metric WHERE run = ?1 AND name = ?2", &diagnostic);
    for (size_t i = 0; i < arm->run_count; i++) {
        values[i] = NAN;
        if (statement == NULL)
            continue;
        sqlite3_bind_int64(statement, 1, arm->runs[i]);
        sqlite3_bind_text(statement, 2, name, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(statement) == SQLITE_ROW)
            values[i] = sqlite3_column_double(statement, 0);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
}

void figure_hour_metric(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, int hour, double *values)
{
    char full[RESULT_NAME_MAX];
    snprintf(full, sizeof(full), "%s_h%d", name, hour);
    read_metric(data, arm, full, values);
}

struct statistics_mean figure_mean_of(const double *values, size_t count)
{
    double *finite = grow(NULL, count + 1, sizeof(*finite));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            finite[kept++] = values[i];
    struct statistics_mean mean = statistics_mean(finite, kept);
    free(finite);
    return mean;
}

struct statistics_mean figure_mean(const struct figure_data *data, const struct figure_arm *arm,
                                   const char *name)
{
    double *values = grow(NULL, arm->run_count + 1, sizeof(*values));
    read_metric(data, arm, name, values);
    struct statistics_mean mean = figure_mean_of(values, arm->run_count);
    free(values);
    return mean;
}

struct statistics_mean figure_hour_mean(const struct figure_data *data,
                                        const struct figure_arm *arm, const char *name, int hour)
{
    char full[RESULT_NAME_MAX];
    snprintf(full, sizeof(full), "%s_h%d", name, hour);
    return figure_mean(data, arm, full);
}

int figure_hours(const struct figure_data *data)
{
    int64_t hours = 0;
    for (size_t i = 0; i < data->arm_count; i++) {
        int64_t lasted = data->arms[i].config.run.duration_ns / HOUR_NS;
        if (i == 0 || lasted < hours)
            hours = lasted;
    }
    return (int)hours;
}

double figure_window_s(const struct figure_arm *arm)
{
    const struct config *config = &arm->config;
    int64_t wished_ns = config->run.duration_ns / 12;
    int64_t bins = (wished_ns < WINDOW_NS ? wished_ns : WINDOW_NS) / config->run.bin_ns;
    return (double)(config->run.bin_ns * (bins > 0 ? bins : 1)) / 1e9;
}

static size_t seed_of_run(const struct figure_arm *arm, int64_t run)
{
    size_t index = 0;
    while (index < arm->run_count && arm->runs[index] != run)
        index++;
    return index;
}

void figure_series_read(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, struct figure_series *series)
{
    struct diagnostic diagnostic;
    *series = (struct figure_series){.run_count = arm->run_count};
    sqlite3_stmt *statement =
        prepare(data->db,
                "SELECT t, run, value FROM series WHERE name = ?1 AND run IN (SELECT id FROM run "
                "WHERE experiment = ?2 AND arm = ?3 AND mode = ?4 AND config_hash = ?5) ORDER BY t",
                &diagnostic);
    if (statement == NULL)
        return;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 2, data->experiment, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 3, arm->name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 4, results_mode_name(data->mode), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 5, arm->hash, -1, SQLITE_TRANSIENT);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        double t_s = sqlite3_column_double(statement, 0);
        size_t seed = seed_of_run(arm, sqlite3_column_int64(statement, 1));
        size_t point = series->point_count;
        if (seed == arm->run_count)
            continue; /* of a seed that is not in the figure */
        if (point == 0 || series->t_s[point - 1] < t_s) {
            series->t_s = grow(series->t_s, point + 1, sizeof(*series->t_s));
            series->values =
                grow(series->values, (point + 1) * arm->run_count, sizeof(*series->values));
            series->t_s[point] = t_s;
            for (size_t i = 0; i < arm->run_count; i++)
                series->values[point * arm->run_count + i] = NAN;
            series->point_count = ++point;
        }
        series->values[(point - 1) * arm->run_count + seed] = sqlite3_column_double(statement, 2);
    }
    sqlite3_finalize(statement);
}

void figure_series_deinit(struct figure_series *series)
{
    free(series->t_s);
    free(series->values);
    *series = (struct figure_series){0};
}

double figure_offered_mb_s(const struct figure_arm *arm)
{
    return (double)arm->config.workload.producers * arm->config.workload.rate / 1e6;
}
