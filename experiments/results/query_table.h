/* query_table.h - the tables that `lakestream query` prints, from an open results database. */
#ifndef EXPERIMENTS_QUERY_TABLE_H
#define EXPERIMENTS_QUERY_TABLE_H

#include "experiments/results/results.h"
#include "experiments/results/table.h"

#define QUERY_METRICS_MAX 64
#define QUERY_MESSAGE_MAX 4096

/* All borrowed. Patterns are SQLite's GLOB: * and ?. */
struct query_request {
    struct results_db *db;
    const char *experiment; /* pattern; NULL: all */
    const char *arm;        /* pattern; NULL: all */
    const char *arms;       /* names as a JSON array, of query_summary; NULL: all */
    const char *metrics[QUERY_METRICS_MAX];
    size_t metric_count; /* 0: the usual ones */
    const char *series;  /* name */
    const char *sql;
};

#define QUERY_ERRORS(X)                                                                            \
    X(QUERY_OK)                                                                                    \
    X(QUERY_REFUSED) /* the request makes no sense for this database */                            \
    X(QUERY_FAILED)  /* the database could not be read */

enum query_error {
#define X(code) code,
    QUERY_ERRORS(X)
#undef X
};

/* Each fills an empty table. On an error `message` says what and what to do. */

/* One row per experiment, mode and arm of the view current_run: seeds, runs with violations, and
 * each metric's mean over seeds with the half width of its 95 % interval (missing with one seed).
 * Arms that differ from the others of their experiment in more than policy and sweep are marked. */
MUST_USE enum query_error query_summary(const struct query_request *request, struct table *table,
                                        char message[QUERY_MESSAGE_MAX]);
/* One row per experiment, mode, arm and time: the same over seeds. */
MUST_USE enum query_error query_series(const struct query_request *request, struct table *table,
                                       char message[QUERY_MESSAGE_MAX]);
/* The rows of one SELECT; nothing else is allowed. */
MUST_USE enum query_error query_sql(const struct query_request *request, struct table *table,
                                    char message[QUERY_MESSAGE_MAX]);

#endif
