/* calibrate_cell.h - what calibration measures: cells, each one kind of request of one size by so
 * many clients in a closed loop, and what a cell yielded, measured or simulated. */
#ifndef EXPERIMENTS_CALIBRATE_CELL_H
#define EXPERIMENTS_CALIBRATE_CELL_H

#include <stdbool.h>

#include "core/store.h"

#define CALIBRATE_CELLS_MAX 64
#define CALIBRATE_CLIENTS_MAX 16
#define CALIBRATE_STREAMS_MAX 8     /* of one client */
#define CALIBRATE_REQUESTS_MAX 4096 /* of one cell */

/* work, name, the store's verb */
#define CALIBRATE_WORKS(X)                                                                         \
    X(CALIBRATE_GET, "get", STORE_GET)                                                             \
    X(CALIBRATE_PUT, "put", STORE_PUT)                                                             \
    X(CALIBRATE_CREATE, "create", STORE_PUT_IF_ABSENT) /* of names that nobody else wants */       \
    X(CALIBRATE_LIST, "list", STORE_LIST)                                                          \
    X(CALIBRATE_DELETE, "delete", STORE_DELETE)                                                    \
    X(CALIBRATE_CONTEND, "contend", STORE_PUT_IF_ABSENT) /* of one chain: LIST after a loss */

enum calibrate_work {
#define X(code, name, verb) code,
    CALIBRATE_WORKS(X)
#undef X
    CALIBRATE_WORK_COUNT
};

struct calibrate_cell {
    enum calibrate_work work;
    uint32_t number;      /* of the cell in its plan: keeps its names apart */
    uint32_t clients;     /* processes: 1..CALIBRATE_CLIENTS_MAX */
    uint32_t streams;     /* of each client, at once: 1..CALIBRATE_STREAMS_MAX */
    uint64_t bytes;       /* of each body */
    uint64_t request_min; /* of each stream, however long they take */
    uint64_t request_max;
    int64_t duration_ns; /* no request starts later, but for request_min */
};

/* Latencies are of requests that succeeded; of CONTEND from the wish to create the next name, so
 * that what a loss costs is part of them. */
struct calibrate_result {
    uint64_t requests;  /* answered and counted */
    uint64_t successes; /* of these */
    uint64_t lost;      /* creates refused because the name was taken */
    uint64_t throttled; /* 503 or 429 */
    uint64_t unknown;   /* without an answer that can be trusted */
    int64_t lost_ns;    /* time that lost creates took, all together */
    double per_s;       /* successes a second: the sum of the clients' rates */
    size_t count;
    int64_t *latencies_ns; /* owned, ascending */
};

const char *calibrate_work_name(enum calibrate_work work);
enum store_verb calibrate_work_verb(enum calibrate_work work);

/* "put 64KiB x 4", of CONTEND "contend x 4". */
#define CALIBRATE_CELL_TEXT_MAX 64
void calibrate_cell_text(const struct calibrate_cell *cell, char text[CALIBRATE_CELL_TEXT_MAX]);

/* The latency that the share `p` does not exceed, ns; 0 without any. */
double calibrate_quantile(const struct calibrate_result *result, double p);
/* Bytes a second. */
double calibrate_rate(const struct calibrate_cell *cell, const struct calibrate_result *result);
/* Share of creates that were lost; 0 without any. */
double calibrate_lost_share(const struct calibrate_result *result);
/* Mean time from sending a create that was lost to its answer, ns; 0 without any. */
double calibrate_lost_time(const struct calibrate_result *result);
/* Adds one client's latencies, in any order; calibrate_result_sort is due before they are read. */
void calibrate_result_add(struct calibrate_result *result, const int64_t *latencies_ns,
                          size_t count);
void calibrate_result_sort(struct calibrate_result *result);
void calibrate_result_deinit(struct calibrate_result *result);

#endif
