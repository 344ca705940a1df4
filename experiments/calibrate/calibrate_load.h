/* calibrate_load.h - one client of a cell: a closed loop of requests on a store and a loop, real or
 * virtual: what measures a store also predicts what a model of it would yield.
 *
 * A stream sends its next request as soon as the last one is answered. Names: objects under tgb/ of
 * the client's own, as producers name theirs, so that a store with a codec makes the same bytes;
 * the contended chain under manifest/. A stream of GET, LIST or DELETE puts first what it needs. */
#ifndef EXPERIMENTS_CALIBRATE_LOAD_H
#define EXPERIMENTS_CALIBRATE_LOAD_H

#include "core/loop.h"
#include "experiments/calibrate/calibrate_cell.h"

/* From opening a load to its first request: connections are made, objects put meanwhile, so that
 * all clients of a cell start and end together. */
#define CALIBRATE_START_NS (30 * NS_PER_MS)
#define CALIBRATE_ERROR_MAX (STORE_ERROR_MAX + 64)

/* A client over all cells of a plan; zeroed but for its number. */
struct calibrate_client {
    uint32_t number;
    uint64_t objects; /* made so far: the next one's sequence */
};

struct calibrate_load_options {
    struct store *store; /* with a codec where the store is one of bytes */
    struct loop *loop;
    const struct calibrate_cell *cell;
    struct calibrate_client *client;
    /* Called once, from inside the loop, when the last request was answered; may be NULL. */
    void (*ended)(void *context);
    void *context;
};

struct calibrate_load;

/* Starts at the loop's now; all is borrowed. */
struct calibrate_load *calibrate_load_open(const struct calibrate_load_options *options);
/* After the end: adds what it counted. False: it could not be measured, `error` says why. */
MUST_USE bool calibrate_load_take(struct calibrate_load *load, struct calibrate_result *result,
                                  char error[CALIBRATE_ERROR_MAX]);
/* Only after the end, or when the store was closed. */
void calibrate_load_close(struct calibrate_load *load);

#endif
