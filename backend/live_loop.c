/* live_loop.c - epoll over a timerfd, an eventfd (finished work), a signalfd and the watched
 * descriptors; timers in a binary heap by (time, insertion number). Ours.
 *
 * A watch is found by its descriptor's number. Its changes are told to the kernel only before the
 * loop waits, so that a socket that is put aside and taken up again in one round costs no call; the
 * same holds for the timerfd, which is moved only when something is due earlier than it.
 *
 * A round: wait until something is readable or the first timer is due, take what is there, then
 * fire the timers that were due when the waiting ended. A timer that is set meanwhile waits for the
 * next round, so that timers cannot starve the rest. */
#include "backend/live_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 65
#define EVENTS_PER_WAIT 64

/* What an epoll event is about: a fixed source, or SOURCE_WATCH + the watched descriptor; the upper
 * half is the watch's generation, so that an event for a watch that was replaced meanwhile is
 * recognised. */
enum source {
    SOURCE_WORK,
    SOURCE_TIMER,
    SOURCE_SIGNAL,
    SOURCE_WATCH,
};

struct watch {
    void (*fn)(int fd, unsigned ready, void *context); /* NULL: not watched */
    void *context;
    uint32_t generation;
    unsigned wanted;     /* of enum live_ready */
    unsigned registered; /* as the kernel knows it */
    bool listed;         /* in `changed` */
};

struct signal_callback {
    void (*fn)(int signo, void *context);
    void *context;
};

struct live_loop {
    struct loop base;
    int64_t unix_start_ns;
    int64_t monotonic_start_ns;
    struct timer **heap;
    size_t heap_count;
    size_t heap_capacity;
    uint64_t next_order;
    int64_t armed_ns; /* what the timerfd is set to; TIME_NEVER: not set */
    int epoll_fd;
    int wake_fd;
    int timer_fd;
    int signal_fd; /* -1 until the first signal is asked for */
    bool running;
    bool stopping;
    uint32_t holds;
    struct worker_pool *pool;
    sigset_t signals_before;
    sigset_t signals;
    struct signal_callback on_signal[SIGNALS];
    struct watch *watches; /* by descriptor */
    size_t watch_capacity;
    int *changed; /* descriptors whose watch may not be as the kernel knows it; room for all */
    size_t changed_count;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    int failure = clock_gettime(clock, &time);
    assert(failure == 0);
    return (int64_t)time.tv_sec * NS_PER_S + (int64_t)time.tv_nsec;
}

static struct live_loop *of_base(struct loop *base)
{
    return (struct live_loop *)base; /* base is its first field */
}

static int64_t live_now(struct loop *base)
{
    const struct live_loop *loop = of_base(base);
    return loop->unix_start_ns + (clock_ns(CLOCK_MONOTONIC) - loop->monotonic_start_ns);
}

/* ---- timers ---- */

static bool timer_before(const struct timer *a, const struct timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void heap_place(struct live_loop *loop, size_t index, struct timer *timer)
{
    loop->heap[index] = timer;
    timer->slot = (uint32_t)(index + 1);
}

/* Moves the timer up or down from a free index to where it belongs. */
static void heap_settle(struct live_loop *loop, size_t index, struct timer *timer)
{
    while (index > 0 && timer_before(timer, loop->heap[(index - 1) / 2])) {
        heap_place(loop, index, loop->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * index + 1;
        if (child + 1 < loop->heap_count && timer_before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (child >= loop->heap_count || !timer_before(loop->heap[child], timer))
            break;
        heap_place(loop, index, loop->heap[child]);
        index = child;
    }
    heap_place(loop, index, timer);
}

static void live_timer_cancel(struct loop *base, struct timer *timer)
{
    struct live_loop *loop = of_base(base);
    if (timer->slot == 0)
        return;
    size_t index = timer->slot - 1;
    assert(index < loop->heap_count);
    assert(loop->heap[index] == timer);
    timer->slot = 0;
    struct timer *last = loop->heap[--loop->heap_count];
    if (last != timer)
        heap_settle(loop, index, last);
}

static void live_timer_set(struct loop *base, struct timer *timer, int64_t at_ns)
{
    struct live_loop *loop = of_base(base);
    assert(timer->fire != NULL);
    live_timer_cancel(base, timer);
    if (loop->heap_count == loop->heap_capacity) {
        assert(loop->heap_capacity < LIVE_LOOP_TIMERS_MAX);
        loop->heap_capacity = loop->heap_capacity == 0 ? 64 : 2 * loop->heap_capacity;
        loop->heap = realloc(loop->heap, loop->heap_capacity * sizeof(struct timer *));
        assert(loop->heap != NULL);
    }
    int64_t now_ns = live_now(base);
    timer->at_ns = at_ns > now_ns ? at_ns : now_ns;
    timer->order = loop->next_order++;
    loop->heap_count++;
    heap_settle(loop, loop->heap_count - 1, timer);
}

static void fire_due(struct live_loop *loop, int64_t limit_ns)
{
    while (loop->heap_count > 0 && loop->heap[0]->at_ns <= limit_ns && !loop->stopping) {
        struct timer *timer = loop->heap[0];
        live_timer_cancel(&loop->base, timer);
        timer->fire(timer, timer->context);
    }
}

/* ---- waiting ---- */

static void arm(struct live_loop *loop, int64_t deadline_ns)
{
    /* Due too early only means to look once more. */
    if (loop->armed_ns <= deadline_ns)
        return;
    int64_t at_ns = deadline_ns - loop->unix_start_ns + loop->monotonic_start_ns;
    const struct itimerspec setting = {.it_value.tv_sec = (time_t)(at_ns / NS_PER_S),
                                       .it_value.tv_nsec = (long)(at_ns % NS_PER_S)};
    int failure = timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &setting, NULL);
    assert(failure == 0);
    loop->armed_ns = deadline_ns;
}

static void drain_counter(int fd)
{
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof(count));
    assert(got == (ssize_t)sizeof(count) || errno == EAGAIN || errno == EINTR);
}

static void take_work(struct live_loop *loop)
{
    drain_counter(loop->wake_fd);
    /* What finishes from here on has added to the eventfd again, so a bound loses nothing. */
    uint32_t limit = worker_pool_in_flight(loop->pool);
    for (uint32_t i = 0; i < limit; i++) {
        if (loop->stopping) {
            const uint64_t one = 1; /* the rest is for the next run */
            ssize_t written = write(loop->wake_fd, &one, sizeof(one));
            assert(written == (ssize_t)sizeof(one));
            return;
        }
        struct work *work = worker_pool_pop(loop->pool);
        if (work == NULL)
            return;
        work->done(work);
    }
}

static void take_signals(struct live_loop *loop)
{
    struct signalfd_siginfo info;
    while (!loop->stopping && read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        assert(info.ssi_signo < SIGNALS);
        const struct signal_callback *callback = &loop->on_signal[info.ssi_signo];
        assert(callback->fn != NULL);
        callback->fn((int)info.ssi_signo, callback->context);
    }
}

static void take_watch(struct live_loop *loop, int fd, uint32_t generation, uint32_t events)
{
    const struct watch *watch = &loop->watches[fd];
    if (watch->fn == NULL || watch->generation != generation)
        return;
    unsigned ready = 0;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        ready |= LIVE_READABLE;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
        ready |= LIVE_WRITABLE;
    ready &= watch->wanted; /* which may have changed since the kernel was told */
    if (ready != 0)
        watch->fn(fd, ready, watch->context);
}

static void take_event(struct live_loop *loop, const struct epoll_event *event)
{
    uint64_t tag = event->data.u64;
    uint32_t source = (uint32_t)tag;
    if (source == SOURCE_WORK) {
        take_work(loop);
    } else if (source == SOURCE_TIMER) {
        drain_counter(loop->timer_fd);
        loop->armed_ns = TIME_NEVER;
    } else if (source == SOURCE_SIGNAL) {
        take_signals(loop);
    } else {
        assert(source - SOURCE_WATCH < loop->watch_capacity);
        take_watch(loop, (int)(source - SOURCE_WATCH), (uint32_t)(tag >> 32), event->events);
    }
}

/* Tells the kernel what the descriptor is watched for now. */
static void register_watch(struct live_loop *loop, int fd)
{
    struct watch *watch = &loop->watches[fd];
    if (watch->wanted == watch->registered)
        return;
    struct epoll_event event = {.data.u64 = (uint64_t)watch->generation << 32 |
                                            (SOURCE_WATCH + (uint32_t)fd)};
    if ((watch->wanted & LIVE_READABLE) != 0)
        event.events |= EPOLLIN;
    if ((watch->wanted & LIVE_WRITABLE) != 0)
        event.events |= EPOLLOUT;
    int action = EPOLL_CTL_MOD;
    if (watch->registered == 0)
        action = EPOLL_CTL_ADD;
    else if (watch->wanted == 0)
        action = EPOLL_CTL_DEL;
    int failure = epoll_ctl(loop->epoll_fd, action, fd, &event);
    assert(failure == 0);
    watch->registered = watch->wanted;
}

static void register_changed(struct live_loop *loop)
{
    for (size_t i = 0; i < loop->changed_count; i++) {
        loop->watches[loop->changed[i]].listed = false;
        register_watch(loop, loop->changed[i]);
    }
    loop->changed_count = 0;
}

static void wait_and_take(struct live_loop *loop, int64_t deadline_ns)
{
    register_changed(loop);
    int timeout_ms = -1;
    if (deadline_ns <= live_now(&loop->base))
        timeout_ms = 0;
    else
        arm(loop, deadline_ns);
    struct epoll_event events[EVENTS_PER_WAIT];
    int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_WAIT, timeout_ms);
    assert(count >= 0 || errno == EINTR);
    /* Level-triggered: what is left out because of a stop comes again. */
    for (int i = 0; i < count && !loop->stopping; i++)
        take_event(loop, &events[i]);
}

static bool nothing_left(const struct live_loop *loop)
{
    return loop->heap_count == 0 && loop->holds == 0 && worker_pool_in_flight(loop->pool) == 0;
}

static void live_run(struct loop *base, int64_t until_ns)
{
    struct live_loop *loop = of_base(base);
    assert(!loop->running);
    loop->running = true;
    while (!loop->stopping && !nothing_left(loop)) {
        int64_t deadline_ns = until_ns;
        if (loop->heap_count > 0 && loop->heap[0]->at_ns < until_ns)
            deadline_ns = loop->heap[0]->at_ns;
        wait_and_take(loop, deadline_ns);
        int64_t now_ns = live_now(base);
        fire_due(loop, now_ns < until_ns ? now_ns : until_ns);
        if (now_ns >= until_ns)
            break;
    }
    loop->stopping = false;
    loop->running = false;
}

/* ---- work, signals, watches ---- */

void live_loop_submit(struct live_loop *loop, struct work *work)
{
    assert(work->run != NULL);
    assert(work->done != NULL);
    worker_pool_submit(loop->pool, work);
}

void live_loop_cancel(struct live_loop *loop, struct work *work)
{
    worker_pool_cancel(loop->pool, work);
}

static void add_source(struct live_loop *loop, int fd, uint64_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    int failure = epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    assert(failure == 0);
}

void live_loop_on_signal(struct live_loop *loop, int signo, void (*fn)(int signo, void *context),
                         void *context)
{
    assert(signo > 0 && signo < SIGNALS);
    assert(fn != NULL);
    loop->on_signal[signo] = (struct signal_callback){.fn = fn, .context = context};
    sigaddset(&loop->signals, signo);
    int failure = pthread_sigmask(SIG_BLOCK, &loop->signals, NULL);
    assert(failure == 0);
    int fd = signalfd(loop->signal_fd, &loop->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    assert(fd >= 0);
    if (loop->signal_fd < 0)
        add_source(loop, fd, SOURCE_SIGNAL);
    loop->signal_fd = fd;
}

static void reserve_watch(struct live_loop *loop, int fd)
{
    assert(fd >= 0 && fd < LIVE_LOOP_FD_MAX);
    if ((size_t)fd < loop->watch_capacity)
        return;
    size_t capacity = loop->watch_capacity == 0 ? 64 : loop->watch_capacity;
    while (capacity <= (size_t)fd)
        capacity *= 2;
    loop->watches = realloc(loop->watches, capacity * sizeof(*loop->watches));
    loop->changed = realloc(loop->changed, capacity * sizeof(*loop->changed));
    assert(loop->watches != NULL && loop->changed != NULL);
    memset(&loop->watches[loop->watch_capacity], 0,
           (capacity - loop->watch_capacity) * sizeof(*loop->watches));
    loop->watch_capacity = capacity;
}

void live_loop_watch(struct live_loop *loop, int fd, unsigned wanted,
                     void (*fn)(int fd, unsigned ready, void *context), void *context)
{
    assert(fn != NULL);
    assert((wanted & ~(unsigned)(LIVE_READABLE | LIVE_WRITABLE)) == 0);
    reserve_watch(loop, fd);
    struct watch *watch = &loop->watches[fd];
    watch->fn = fn;
    watch->context = context;
    watch->wanted = wanted;
    if (!watch->listed && watch->wanted != watch->registered) {
        watch->listed = true;
        loop->changed[loop->changed_count++] = fd;
    }
}

void live_loop_unwatch(struct live_loop *loop, int fd)
{
    assert(fd >= 0 && (size_t)fd < loop->watch_capacity);
    struct watch *watch = &loop->watches[fd];
    assert(watch->fn != NULL);
    watch->fn = NULL;
    watch->wanted = 0;
    register_watch(loop, fd); /* now: the descriptor may be closed next, and its number used anew */
    watch->generation++;
}

void live_loop_hold(struct live_loop *loop)
{
    assert(loop->holds < UINT32_MAX);
    loop->holds++;
}

void live_loop_unhold(struct live_loop *loop)
{
    assert(loop->holds > 0);
    loop->holds--;
}

void live_loop_stop(struct live_loop *loop)
{
    loop->stopping = true;
}

/* ---- open and close ---- */

static void close_descriptors(struct live_loop *loop)
{
    const int fds[] = {loop->signal_fd, loop->timer_fd, loop->wake_fd, loop->epoll_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

struct loop *live_loop_base(struct live_loop *loop)
{
    return &loop->base;
}

enum open_result live_loop_open(const struct live_loop_options *options, struct live_loop **loop,
                                char error[STORE_ERROR_MAX])
{
    static const struct loop_ops ops = {
        .now = live_now,
        .timer_set = live_timer_set,
        .timer_cancel = live_timer_cancel,
        .run = live_run,
    };
    struct live_loop *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    made->base.ops = &ops;
    made->unix_start_ns = clock_ns(CLOCK_REALTIME);
    made->monotonic_start_ns = clock_ns(CLOCK_MONOTONIC);
    made->armed_ns = TIME_NEVER;
    made->signal_fd = -1;
    sigemptyset(&made->signals);
    pthread_sigmask(SIG_BLOCK, NULL, &made->signals_before);
    made->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    enum open_result result = OPEN_FAILED;
    if (made->epoll_fd < 0 || made->wake_fd < 0 || made->timer_fd < 0) {
        snprintf(error, STORE_ERROR_MAX,
                 "cannot make the descriptors of an event loop: %s; raise the limit of open files "
                 "(ulimit -n)",
                 strerror(errno));
    } else {
        uint32_t workers = options == NULL ? 0 : options->workers;
        result = worker_pool_open(workers == 0 ? LIVE_LOOP_WORKERS_DEFAULT : workers, made->wake_fd,
                                  &made->pool, error);
    }
    if (result != OPEN_OK) {
        close_descriptors(made);
        free(made);
        return result;
    }
    add_source(made, made->wake_fd, SOURCE_WORK);
    add_source(made, made->timer_fd, SOURCE_TIMER);
    *loop = made;
    return OPEN_OK;
}

void live_loop_close(struct live_loop *loop)
{
    assert(!loop->running);
    worker_pool_close(loop->pool);
    close_descriptors(loop);
    if (loop->signal_fd >= 0)
        pthread_sigmask(SIG_SETMASK, &loop->signals_before, NULL);
    free(loop->changed);
    free(loop->watches);
    free(loop->heap);
    free(loop);
}
