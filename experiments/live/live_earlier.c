/* live_earlier.c - see live_earlier.h. Ours. */
#include "experiments/live/live_earlier.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* ISO 8601 in UTC: the order of the texts is that of the times. */
static void take(struct live_earlier *earlier, const char *started)
{
    if (earlier->count == 0 || strcmp(started, earlier->first) < 0)
        snprintf(earlier->first, sizeof(earlier->first), "%s", started);
    if (earlier->count == 0 || strcmp(started, earlier->last) > 0)
        snprintf(earlier->last, sizeof(earlier->last), "%s", started);
    earlier->count++;
}

enum results_error live_earlier_add(struct results_db *db, const struct results_run *run,
                                    struct live_earlier *earlier, char message[RESULTS_MESSAGE_MAX])
{
    static const char sql[] = "SELECT started FROM run WHERE experiment = ? AND arm = ?"
                              " AND mode = ? AND config_hash = ? AND seed = ?";
    const char *const texts[] = {run->experiment, run->arm, results_mode_name(run->mode),
                                 run->config_hash};
    sqlite3_stmt *statement = NULL;
    assert(run->seed <= INT64_MAX);
    int code = sqlite3_prepare_v2(results_connection(db), sql, -1, &statement, NULL);
    for (int i = 0; i < 4 && code == SQLITE_OK; i++)
        code = sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(statement, 5, (int64_t)run->seed);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    const unsigned char *started = code == SQLITE_ROW ? sqlite3_column_text(statement, 0) : NULL;
    if (started != NULL)
        take(earlier, (const char *)started);
    bool read = code == SQLITE_DONE || started != NULL;
    enum results_error error = read ? RESULTS_OK : results_failure(db, message);
    sqlite3_finalize(statement);
    return error;
}

/* --resume takes the seed from the run that it goes on with. */
void live_earlier_warn(const struct live_earlier *earlier, const struct cli *cli, size_t runs)
{
    bool one = earlier->count == 1;
    bool days = strcmp(earlier->first, earlier->last) != 0;
    if (earlier->count == 0)
        return;
    cli_error(CLI_DONE,
              "%zu of %zu runs will replace the %s of %s%s%s in %s, and what was measured then "
              "cannot be run again: to keep %s, stop now and give %s%s",
              earlier->count, runs, one ? "one" : "ones", earlier->first, days ? " to " : "",
              days ? earlier->last : "", cli->db, one ? "it" : "them",
              cli->resume != NULL ? "another --db FILE" : "another --db FILE or --set seed=N",
              cli->resume != NULL || cli->missing ? "" : ", or --missing to leave such runs out");
}

void live_earlier_tell(const struct live_earlier *earlier, const struct cli *cli,
                       const struct results_run *run)
{
    if (earlier->count > 0)
        cli_error(CLI_DONE, "%s/%s seed %llu: replaced the run of %s in %s", run->experiment,
                  run->arm, (unsigned long long)run->seed, earlier->last, cli->db);
}
