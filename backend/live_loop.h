/* live_loop.h - the loop seam in real time: timers, worker threads, signals and file descriptors on
 * one epoll. One per process, or at least one per thread that runs one.
 *
 * now is Unix time in ns, read once at open and carried on by CLOCK_MONOTONIC: it never runs
 * backwards and ignores later steps of the wall clock; time spent suspended is missing. Every
 * function belongs to the thread that opened the loop, and none blocks, except loop_run and those
 * that say so. Callbacks come from inside loop_run only.
 *
 * loop_run returns at until_ns, after live_loop_stop, or when nothing is left that could happen: no
 * timer, no work in flight, no hold. Watches and signals do not keep it running; a hold does.
 *
 * After fork the child must not touch the parent's loop, not even to close it; it opens its own. */
#ifndef BACKEND_LIVE_LOOP_H
#define BACKEND_LIVE_LOOP_H

#include "backend/result.h"
#include "backend/worker_pool.h"
#include "core/base.h"
#include "core/loop.h"
#include "core/store.h"

#define LIVE_LOOP_WORKERS_DEFAULT 8
#define LIVE_LOOP_FD_MAX (1 << 20) /* a watched descriptor is below it */
#define LIVE_LOOP_TIMERS_MAX (1 << 20)

struct live_loop;

struct live_loop_options {
    uint32_t workers; /* threads for blocking work: 1..WORKERS_MAX; 0: LIVE_LOOP_WORKERS_DEFAULT */
};

/* `options` may be NULL. On OPEN_FAILED (descriptors or threads ran out) `error` says what to do.
 */
MUST_USE enum open_result live_loop_open(const struct live_loop_options *options,
                                         struct live_loop **loop, char error[STORE_ERROR_MAX]);

/* The seam; lives as long as the loop. */
struct loop *live_loop_base(struct live_loop *loop);

/* Runs work->run on a worker, then work->done in the loop. The loop borrows the work until `done`
 * is called; more than WORK_MAX at a time is a programmer's error. */
void live_loop_submit(struct live_loop *loop, struct work *work);

/* Takes work back: `done` is not called. Blocks while the work is running on its worker. */
void live_loop_cancel(struct live_loop *loop, struct work *work);

/* Calls `fn` when the signal came, instead of its usual action; several of the same may count as
 * one. Replaces an earlier callback. The signal is blocked in this thread until the loop is closed
 * (a forked child inherits that), so ask before other threads are started. */
void live_loop_on_signal(struct live_loop *loop, int signo, void (*fn)(int signo, void *context),
                         void *context);

/* What a descriptor is watched for, or is; bits. */
enum live_ready {
    LIVE_READABLE = 1 << 0,
    LIVE_WRITABLE = 1 << 1,
};

/* Calls `fn` as long as `fd` (a pipe, socket or the like) is what `wanted` asks for: fn reads or
 * writes, and calls unwatch at the end of the file. `ready` holds bits of `wanted` only; hung up or
 * in error counts as all of them. One watch a fd: a second call changes it; `wanted` 0 keeps the
 * place but calls nothing, and costs nothing if the next change comes before the loop waits again.
 * The loop borrows fd: unwatch before closing it. */
void live_loop_watch(struct live_loop *loop, int fd, unsigned wanted,
                     void (*fn)(int fd, unsigned ready, void *context), void *context);
/* Allowed from inside any callback; `fn` is not called for it again. */
void live_loop_unwatch(struct live_loop *loop, int fd);

/* A hold keeps loop_run waiting though nothing but a watch or signal could happen. Counted. */
void live_loop_hold(struct live_loop *loop);
void live_loop_unhold(struct live_loop *loop);

/* loop_run returns once the callback that runs now has returned; outside of loop_run, the next one
 * returns at once. What is set or in flight stays so. */
void live_loop_stop(struct live_loop *loop);

/* Frees the loop and gives signals back. Timers still set are forgotten; work in flight is a
 * programmer's error. Blocks until the workers ended. */
void live_loop_close(struct live_loop *loop);

#endif
