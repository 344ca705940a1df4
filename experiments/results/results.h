/* results.h - the results database: one SQLite file that holds every run's config, metrics and
 * series.
 *
 * Schema (PRAGMA user_version = RESULTS_SCHEMA, and the table meta):
 *
 * - run(id, experiment, arm, arm_group, sweep_key, sweep_value, mode 'sim'|'live', store,
 *   config_hash, config, seed, "commit", started, wall_s, digest, violations, machine)
 *
 * - metric(run, name, unit, value), series(run, name, t, value), series_unit(name, unit)
 *
 * - selected(experiment, arm, mode, config_hash): the config that was last asked for
 *
 * - current_run, a view: the runs of the selected configs, which is what figures read
 *
 * A changed config makes new runs beside the old ones; the view keeps them apart.
 *
 * One transaction per run, rollback journal (no WAL: it needs shared memory, which network file
 * systems lack, and a read-only copy of a WAL database cannot be opened). Several processes may use
 * one file; each call waits up to RESULTS_BUSY_MS for the others. Calls block on the disk. A handle
 * belongs to one thread. Every failing call fills `message`: what, which file, what to do. */
#ifndef EXPERIMENTS_RESULTS_H
#define EXPERIMENTS_RESULTS_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/results/run_results.h"

#define RESULTS_SCHEMA 1
#define RESULTS_BUSY_MS 60000
#define RESULTS_MESSAGE_MAX 512
#define RESULTS_MACHINE_MAX 256
#define RESULTS_HASH_MAX 33 /* 32 hex digits and the final NUL */

#define RESULTS_ERRORS(X)                                                                          \
    X(RESULTS_OK, "ok")                                                                            \
    X(RESULTS_MISSING, "missing")                                                                  \
    X(RESULTS_UNREADABLE, "unreadable")                                                            \
    X(RESULTS_READ_ONLY, "read_only")                                                              \
    X(RESULTS_FULL, "full")                                                                        \
    X(RESULTS_NOT_A_DATABASE, "not_a_database")                                                    \
    X(RESULTS_NEWER_SCHEMA, "newer_schema")                                                        \
    X(RESULTS_BUSY, "busy")                                                                        \
    X(RESULTS_FAILED, "failed")

enum results_error {
#define X(code, name) code,
    RESULTS_ERRORS(X)
#undef X
};

enum results_mode {
    RESULTS_SIM,
    RESULTS_LIVE,
};

enum results_access {
    RESULTS_READ, /* the file must exist; nothing is ever changed but an interrupted write undone */
    RESULTS_WRITE, /* made if missing; its directory must exist */
};

/* What identifies and explains a run. All borrowed. */
struct results_run {
    const char *experiment;
    const char *arm;       /* unique within the experiment */
    const char *arm_group; /* arms of one curve share it; may be "" */
    const char *sweep_key; /* config key that changes along the curve; "": no sweep */
    double sweep_value;    /* NAN: none */
    enum results_mode mode;
    const char *store;       /* profile or URL */
    const char *config_hash; /* by results_config_hash */
    const char *config;      /* effective config, with the origin of every value */
    uint64_t seed;           /* at most INT64_MAX */
    const char *commit;      /* of the program */
    const char *started;     /* ISO 8601, UTC */
    const char *machine;
};

struct results_db;

const char *results_error_name(enum results_error error);
const char *results_mode_name(enum results_mode mode);

/* On RESULTS_OK *db is the caller's, to be closed; otherwise it is NULL. */
MUST_USE enum results_error results_open(const char *path, enum results_access access,
                                         struct results_db **db, char message[RESULTS_MESSAGE_MAX]);
void results_close(struct results_db *db); /* NULL is allowed */

/* All of the run or nothing, also on a full disk or a kill. Replaces an earlier run with the same
 * experiment, arm, mode, seed and hash; selects its config. */
MUST_USE enum results_error results_write(struct results_db *db, const struct results_run *run,
                                          const struct run_results *results,
                                          char message[RESULTS_MESSAGE_MAX]);

/* *has: this very run is there, and its checkers found nothing. Only experiment, arm, mode, seed
 * and config_hash of `run` are read. */
MUST_USE enum results_error results_has(struct results_db *db, const struct results_run *run,
                                        bool *has, char message[RESULTS_MESSAGE_MAX]);

/* Makes each run's config the one that current_run shows for its arm; one transaction. */
MUST_USE enum results_error results_select(struct results_db *db, const struct results_run *runs,
                                           size_t count, char message[RESULTS_MESSAGE_MAX]);

/* Mean wall time of this arm's finished runs, whatever their config; *wall_s = 0 if there are none.
 */
MUST_USE enum results_error results_past_wall_s(struct results_db *db,
                                                const struct results_run *run, double *wall_s,
                                                char message[RESULTS_MESSAGE_MAX]);

/* For readers with SQL of their own: the connection, borrowed; and what its last error means. */
struct sqlite3;
struct sqlite3 *results_connection(struct results_db *db);
enum results_error results_failure(struct results_db *db, char message[RESULTS_MESSAGE_MAX]);

/* Over the effective config (without origins and without the seed), and over the code that decides
 * the numbers (LAKESTREAM_MODEL in build_info.h): what other code found is not taken for finished.
 */
void results_config_hash(const char *effective_config, char hash[RESULTS_HASH_MAX]);
/* Host name, CPU model and core count. */
void results_machine_text(char text[RESULTS_MACHINE_MAX]);

#endif
