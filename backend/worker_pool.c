/* worker_pool.c - a fixed set of threads on two linked queues, one of work to do, one of work that
 * finished, under one mutex. Ours; what runs here takes tens of microseconds at least, so that the
 * mutex is never what is waited for. */
#include "backend/worker_pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work_queue {
    struct work *first;
    struct work *last;
};

struct worker_pool {
    pthread_mutex_t mutex;
    pthread_cond_t queued_or_closing; /* workers wait for it */
    pthread_cond_t finished_any;      /* cancel waits for it */
    struct work_queue queued;
    struct work_queue finished;
    bool closing;
    int wake_fd;
    uint32_t in_flight; /* the loop thread's own */
    uint32_t threads;
    pthread_t thread[WORKERS_MAX];
};

static void queue_push(struct work_queue *queue, struct work *work)
{
    work->next = NULL;
    if (queue->last == NULL)
        queue->first = work;
    else
        queue->last->next = work;
    queue->last = work;
}

static struct work *queue_pop(struct work_queue *queue)
{
    struct work *work = queue->first;
    if (work != NULL) {
        queue->first = work->next;
        if (queue->first == NULL)
            queue->last = NULL;
        work->next = NULL;
    }
    return work;
}

static void queue_remove(struct work_queue *queue, struct work *work)
{
    struct work *before = NULL;
    struct work *at = queue->first;
    while (at != work) {
        assert(at != NULL);
        before = at;
        at = at->next;
    }
    if (before == NULL)
        queue->first = work->next;
    else
        before->next = work->next;
    if (queue->last == work)
        queue->last = before;
    work->next = NULL;
}

static void lock(struct worker_pool *pool)
{
    int error = pthread_mutex_lock(&pool->mutex);
    assert(error == 0);
}

static void unlock(struct worker_pool *pool)
{
    int error = pthread_mutex_unlock(&pool->mutex);
    assert(error == 0);
}

static void wake_loop(const struct worker_pool *pool)
{
    const uint64_t one = 1;
    ssize_t written;
    do {
        written = write(pool->wake_fd, &one, sizeof(one));
    } while (written < 0 && errno == EINTR);
    /* EAGAIN: the counter is full, so that the loop is about to wake anyway. */
    assert(written == (ssize_t)sizeof(one) || errno == EAGAIN);
}

static void *worker_main(void *context)
{
    struct worker_pool *pool = context;
    lock(pool);
    for (;;) {
        struct work *work = queue_pop(&pool->queued);
        if (work == NULL) {
            if (pool->closing)
                break;
            pthread_cond_wait(&pool->queued_or_closing, &pool->mutex);
            continue;
        }
        work->state = WORK_RUNNING;
        unlock(pool);
        work->run(work);
        lock(pool);
        work->state = WORK_FINISHED;
        queue_push(&pool->finished, work);
        pthread_cond_broadcast(&pool->finished_any);
        wake_loop(pool);
    }
    unlock(pool);
    return NULL;
}

static void end_threads(struct worker_pool *pool)
{
    lock(pool);
    pool->closing = true;
    pthread_cond_broadcast(&pool->queued_or_closing);
    unlock(pool);
    for (uint32_t i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->finished_any);
    pthread_cond_destroy(&pool->queued_or_closing);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

enum open_result worker_pool_open(uint32_t workers, int wake_fd, struct worker_pool **pool,
                                  char error[STORE_ERROR_MAX])
{
    assert(workers >= 1 && workers <= WORKERS_MAX);
    struct worker_pool *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    made->wake_fd = wake_fd;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->queued_or_closing, NULL);
    pthread_cond_init(&made->finished_any, NULL);

    /* Threads inherit the mask: signals stay with the loop's thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    while (made->threads < workers && failure == 0) {
        failure = pthread_create(&made->thread[made->threads], NULL, worker_main, made);
        if (failure == 0)
            made->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        snprintf(
            error, STORE_ERROR_MAX,
            "cannot start worker thread %u of %u: %s; ask for fewer workers, or raise the limit "
            "of processes (ulimit -u)",
            made->threads + 1, workers, strerror(failure));
        end_threads(made);
        return OPEN_FAILED;
    }
    *pool = made;
    return OPEN_OK;
}

void worker_pool_submit(struct worker_pool *pool, struct work *work)
{
    assert(work->state == WORK_IDLE);
    assert(pool->in_flight < WORK_MAX);
    pool->in_flight++;
    lock(pool);
    work->state = WORK_QUEUED;
    queue_push(&pool->queued, work);
    pthread_cond_signal(&pool->queued_or_closing);
    unlock(pool);
}

struct work *worker_pool_pop(struct worker_pool *pool)
{
    lock(pool);
    struct work *work = queue_pop(&pool->finished);
    unlock(pool);
    if (work != NULL) {
        assert(work->state == WORK_FINISHED);
        assert(pool->in_flight > 0);
        work->state = WORK_IDLE;
        pool->in_flight--;
    }
    return work;
}

void worker_pool_cancel(struct worker_pool *pool, struct work *work)
{
    lock(pool);
    assert(work->state != WORK_IDLE);
    while (work->state == WORK_RUNNING)
        pthread_cond_wait(&pool->finished_any, &pool->mutex);
    queue_remove(work->state == WORK_QUEUED ? &pool->queued : &pool->finished, work);
    work->state = WORK_IDLE;
    unlock(pool);
    assert(pool->in_flight > 0);
    pool->in_flight--;
}

uint32_t worker_pool_in_flight(const struct worker_pool *pool)
{
    return pool->in_flight;
}

void worker_pool_close(struct worker_pool *pool)
{
    assert(pool->in_flight == 0);
    end_threads(pool);
}
