/* worker_pool.h - threads for work that blocks: file system calls, mostly.
 *
 * A struct work is embedded in and owned by its user; the pool only links it from submit until it
 * is popped or cancelled. `run` is called on a worker thread, where it may block; nothing else of
 * the program may touch what `run` touches meanwhile. All functions here belong to one thread, the
 * loop's; none of them blocks, except cancel and close, as stated. Work starts in the order of
 * submission and is popped in the order in which it finished. Workers take no signals. */
#ifndef BACKEND_WORKER_POOL_H
#define BACKEND_WORKER_POOL_H

#include <stdint.h>

#include "backend/result.h"
#include "core/base.h"
#include "core/store.h"

#define WORKERS_MAX 256
#define WORK_MAX 16384 /* submitted and not yet popped; more is a programmer's error */

enum work_state {
    WORK_IDLE, /* the user's */
    WORK_QUEUED,
    WORK_RUNNING,
    WORK_FINISHED,
};

struct work {
    void (*run)(struct work *work);  /* on a worker */
    void (*done)(struct work *work); /* for the pool's user: what to call once it was popped */
    struct work *next;
    enum work_state state;
};

struct worker_pool;

/* Starts `workers` threads (1..WORKERS_MAX). Every finished work adds 1 to the eventfd `wake_fd`,
 * which is borrowed. On OPEN_FAILED (no more threads) `error` says why, and nothing is left
 * running. */
MUST_USE enum open_result worker_pool_open(uint32_t workers, int wake_fd, struct worker_pool **pool,
                                           char error[STORE_ERROR_MAX]);

/* The work must be idle: zeroed but for its two functions, popped, or cancelled. */
void worker_pool_submit(struct worker_pool *pool, struct work *work);

/* The work that finished first, now idle, or NULL. Does not call `done`. */
struct work *worker_pool_pop(struct worker_pool *pool);

/* Takes submitted work back: when it returns the work is idle, and has run completely or not at
 * all. Blocks while it is running. */
void worker_pool_cancel(struct worker_pool *pool, struct work *work);

/* Submitted and not yet popped or cancelled. */
uint32_t worker_pool_in_flight(const struct worker_pool *pool);

/* Ends the threads and frees the pool. Work in flight is a programmer's error. */
void worker_pool_close(struct worker_pool *pool);

#endif
