/* live_loop_test.c - timers, work, signals, watches, and when loop_run returns. */
#include "backend/live_loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"

#define TIMERS 200
#define WORKS 500

static struct live_loop *open_loop(void)
{
    char error[STORE_ERROR_MAX];
    struct live_loop *loop = NULL;
    enum open_result result = live_loop_open(NULL, &loop, error);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    return loop;
}

/* ---- timers ---- */

struct fired {
    struct timer *order[2 * TIMERS];
    size_t count;
};

static void note(struct timer *timer, void *context)
{
    struct fired *fired = context;
    CU_ASSERT_EQUAL(timer->slot, 0);
    fired->order[fired->count++] = timer;
}

static void timers_fire_in_order_of_time_then_of_setting(void)
{
    struct live_loop *live = open_loop();
    struct loop *loop = live_loop_base(live);
    static struct timer timers[TIMERS];
    struct fired fired = {.count = 0};
    int64_t start_ns = loop_now(loop) + 20 * NS_PER_MS;
    for (size_t i = 0; i < TIMERS; i++) {
        timer_init(&timers[i], note, &fired);
        loop_timer_set(loop, &timers[i], start_ns + (int64_t)(i * 7 % 10) * NS_PER_MS);
    }
    CU_ASSERT_EQUAL(fired.count, 0);
    loop_run(loop, TIME_NEVER);
    CU_ASSERT_EQUAL_FATAL(fired.count, TIMERS);
    for (size_t i = 1; i < TIMERS; i++) {
        const struct timer *a = fired.order[i - 1];
        const struct timer *b = fired.order[i];
        CU_ASSERT(a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a < b));
    }
    CU_ASSERT(loop_now(loop) >= start_ns + 9 * NS_PER_MS);
    live_loop_close(live);
}

static void timers_can_be_cancelled_and_moved(void)
{
    struct live_loop *live = open_loop();
    struct loop *loop = live_loop_base(live);
    static struct timer timers[TIMERS];
    struct fired fired = {.count = 0};
    int64_t start_ns = loop_now(loop);
    for (size_t i = 0; i < TIMERS; i++) {
        timer_init(&timers[i], note, &fired);
        loop_timer_set(loop, &timers[i], start_ns + (int64_t)(i % 13) * NS_PER_MS);
    }
    for (size_t i = 0; i < TIMERS; i++) {
        if (i % 3 == 1)
            loop_timer_cancel(loop, &timers[i]);
        if (i % 3 == 2)
            loop_timer_set(loop, &timers[i], start_ns + 30 * NS_PER_MS);
    }
    loop_timer_cancel(loop, &timers[1]); /* not set any more: allowed */
    loop_run(loop, TIME_NEVER);
    CU_ASSERT_EQUAL_FATAL(fired.count, TIMERS - (TIMERS + 1) / 3);
    for (size_t i = 0; i < fired.count; i++) {
        size_t index = (size_t)(fired.order[i] - timers);
        CU_ASSERT(index % 3 != 1);
        CU_ASSERT((i >= (TIMERS + 2) / 3) == (index % 3 == 2));
    }
    live_loop_close(live);
}

struct again {
    struct loop *loop;
    struct timer timer;
    int left;
    bool setting;
};

static void set_in_the_past(struct timer *timer, void *context)
{
    struct again *again = context;
    CU_ASSERT_FALSE(again->setting);
    if (--again->left == 0)
        return;
    again->setting = true;
    loop_timer_set(again->loop, timer, 0);
    again->setting = false;
}

static void a_time_in_the_past_is_now_and_never_fires_inside_set(void)
{
    struct live_loop *live = open_loop();
    struct again again = {.loop = live_loop_base(live), .left = 100};
    timer_init(&again.timer, set_in_the_past, &again);
    loop_timer_set(again.loop, &again.timer, -5);
    CU_ASSERT_EQUAL(again.left, 100);
    loop_run(again.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(again.left, 0);
    live_loop_close(live);
}

static void run_ends_at_until_or_when_nothing_is_left(void)
{
    struct live_loop *live = open_loop();
    struct loop *loop = live_loop_base(live);
    loop_run(loop, TIME_NEVER); /* nothing to do */
    struct fired fired = {.count = 0};
    struct timer timer;
    timer_init(&timer, note, &fired);
    int64_t start_ns = loop_now(loop);
    loop_timer_set(loop, &timer, start_ns + 3600 * NS_PER_S);
    loop_run(loop, start_ns + 15 * NS_PER_MS);
    int64_t late_ns = loop_now(loop) - (start_ns + 15 * NS_PER_MS);
    CU_ASSERT(late_ns >= 0);
    CU_ASSERT(late_ns < NS_PER_S);
    CU_ASSERT_EQUAL(fired.count, 0);
    loop_run(loop, start_ns); /* in the past: a look at what is due, and back */
    CU_ASSERT_EQUAL(fired.count, 0);
    live_loop_close(live);
}

static void now_is_unix_time(void)
{
    struct live_loop *live = open_loop();
    int64_t difference_ns = loop_now(live_loop_base(live)) - (int64_t)time(NULL) * NS_PER_S;
    CU_ASSERT(difference_ns > -2 * NS_PER_S && difference_ns < 2 * NS_PER_S);
    live_loop_close(live);
}

static void stop_loop(struct timer *timer, void *context)
{
    (void)timer;
    live_loop_stop(context);
}

static void stop_ends_run_and_keeps_timers(void)
{
    struct live_loop *live = open_loop();
    struct loop *loop = live_loop_base(live);
    struct fired fired = {.count = 0};
    struct timer first, second;
    timer_init(&first, stop_loop, live);
    timer_init(&second, note, &fired);
    loop_timer_set(loop, &first, 0);
    loop_timer_set(loop, &second, 0);
    loop_run(loop, TIME_NEVER);
    CU_ASSERT_EQUAL(fired.count, 0);
    loop_run(loop, TIME_NEVER);
    CU_ASSERT_EQUAL(fired.count, 1);
    live_loop_close(live);
}

/* ---- work ---- */

struct job {
    struct work work; /* first */
    pthread_t ran_on;
    pthread_t done_on;
    bool ran;
    int done;
    struct live_loop *loop;
};

static void job_run(struct work *work)
{
    struct job *job = (struct job *)work;
    job->ran = true;
    job->ran_on = pthread_self();
}

static void job_done(struct work *work)
{
    struct job *job = (struct job *)work;
    job->done_on = pthread_self();
    job->done++;
    if (job->done == 1)
        live_loop_submit(job->loop, work); /* it is its user's again */
}

static void work_runs_elsewhere_and_ends_in_the_loop(void)
{
    struct live_loop *live = open_loop();
    static struct job jobs[WORKS];
    for (size_t i = 0; i < WORKS; i++) {
        jobs[i] = (struct job){.work = {.run = job_run, .done = job_done}, .loop = live};
        live_loop_submit(live, &jobs[i].work);
        CU_ASSERT_EQUAL(jobs[i].done, 0);
    }
    loop_run(live_loop_base(live), TIME_NEVER);
    for (size_t i = 0; i < WORKS; i++) {
        CU_ASSERT_EQUAL(jobs[i].done, 2);
        CU_ASSERT_FALSE(pthread_equal(jobs[i].ran_on, pthread_self()));
        CU_ASSERT_TRUE(pthread_equal(jobs[i].done_on, pthread_self()));
    }
    live_loop_close(live);
}

static void cancelled_work_is_not_done(void)
{
    struct live_loop *live = open_loop();
    static struct job jobs[WORKS];
    for (size_t i = 0; i < WORKS; i++) {
        jobs[i] = (struct job){.work = {.run = job_run, .done = job_done}, .loop = live, .done = 1};
        live_loop_submit(live, &jobs[i].work);
    }
    for (size_t i = 0; i < WORKS; i += 2)
        live_loop_cancel(live, &jobs[i].work);
    loop_run(live_loop_base(live), TIME_NEVER);
    for (size_t i = 0; i < WORKS; i++)
        CU_ASSERT_EQUAL(jobs[i].done, i % 2 == 0 ? 1 : 2);
    live_loop_close(live);
}

static void job_stop(struct work *work)
{
    struct job *job = (struct job *)work;
    job->done++;
    live_loop_stop(job->loop);
}

static void stop_in_done_loses_no_other_done(void)
{
    struct live_loop *live = open_loop();
    struct job jobs[20];
    for (size_t i = 0; i < 20; i++) {
        jobs[i] = (struct job){.work = {.run = job_run, .done = job_stop}, .loop = live};
        live_loop_submit(live, &jobs[i].work);
    }
    for (size_t i = 0; i < 20; i++)
        loop_run(live_loop_base(live), TIME_NEVER);
    int done = 0;
    for (size_t i = 0; i < 20; i++)
        done += jobs[i].done;
    CU_ASSERT_EQUAL(done, 20);
    live_loop_close(live);
}

/* ---- signals and watches ---- */

struct heard {
    struct live_loop *loop;
    int signo;
    size_t bytes;
    bool ended;
};

static void on_signal(int signo, void *context)
{
    struct heard *heard = context;
    heard->signo = signo;
    live_loop_stop(heard->loop);
}

static void raise_later(struct work *work)
{
    (void)work;
    kill(getpid(), SIGUSR1);
}

static void done_nothing(struct work *work)
{
    (void)work;
}

static void a_signal_calls_back_in_the_loop(void)
{
    struct live_loop *live = open_loop();
    struct heard heard = {.loop = live};
    live_loop_on_signal(live, SIGUSR1, on_signal, &heard);
    live_loop_on_signal(live, SIGUSR2, on_signal, &heard);
    loop_run(live_loop_base(live), TIME_NEVER); /* a signal alone does not keep it running */
    struct work work = {.run = raise_later, .done = done_nothing};
    live_loop_hold(live);
    live_loop_submit(live, &work);
    loop_run(live_loop_base(live), TIME_NEVER);
    CU_ASSERT_EQUAL(heard.signo, SIGUSR1);
    raise(SIGUSR2);
    loop_run(live_loop_base(live), TIME_NEVER);
    CU_ASSERT_EQUAL(heard.signo, SIGUSR2);
    live_loop_unhold(live);
    loop_run(live_loop_base(live), TIME_NEVER); /* work that is still out */
    live_loop_close(live);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    CU_ASSERT_EQUAL(sigismember(&blocked, SIGUSR1), 0);
}

static void on_readable(int fd, unsigned ready, void *context)
{
    CU_ASSERT_EQUAL(ready, LIVE_READABLE);
    struct heard *heard = context;
    char text[3];
    ssize_t bytes = read(fd, text, sizeof(text));
    CU_ASSERT(bytes >= 0);
    heard->bytes += (size_t)bytes;
    if (bytes == 0) {
        heard->ended = true;
        live_loop_unwatch(heard->loop, fd);
        live_loop_unhold(heard->loop);
    }
}

static void a_watch_reads_a_pipe_to_its_end(void)
{
    struct live_loop *live = open_loop();
    struct heard heard[2] = {{.loop = live}, {.loop = live}};
    int pipes[2][2];
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(pipe(pipes[i]), 0);
        live_loop_watch(live, pipes[i][0], LIVE_READABLE, on_readable, &heard[i]);
        live_loop_hold(live);
        CU_ASSERT_EQUAL(write(pipes[i][1], "0123456789", 10), 10);
        close(pipes[i][1]);
    }
    loop_run(live_loop_base(live), TIME_NEVER);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(heard[i].bytes, 10);
        CU_ASSERT_TRUE(heard[i].ended);
        close(pipes[i][0]);
    }
    live_loop_close(live);
}

struct echo {
    struct live_loop *loop;
    size_t sent;
    size_t received;
    int writable; /* calls */
};

#define ECHO_BYTES ((size_t)4 << 20)

static void on_far_end(int fd, unsigned ready, void *context)
{
    struct echo *echo = context;
    CU_ASSERT_EQUAL(ready, LIVE_READABLE);
    static char text[1 << 16];
    ssize_t bytes = read(fd, text, sizeof(text));
    CU_ASSERT_FATAL(bytes > 0);
    echo->received += (size_t)bytes;
    if (echo->received == ECHO_BYTES) {
        live_loop_unwatch(echo->loop, fd);
        live_loop_unhold(echo->loop);
    }
}

static void on_near_end(int fd, unsigned ready, void *context)
{
    struct echo *echo = context;
    CU_ASSERT_EQUAL(ready, LIVE_WRITABLE);
    echo->writable++;
    static const char text[1 << 16];
    size_t left = ECHO_BYTES - echo->sent;
    ssize_t bytes = write(fd, text, left < sizeof(text) ? left : sizeof(text));
    CU_ASSERT_FATAL(bytes > 0);
    echo->sent += (size_t)bytes;
    if (echo->sent == ECHO_BYTES)
        live_loop_watch(echo->loop, fd, 0, on_near_end, echo); /* still writable: no busy loop */
}

static void a_watch_for_writing_is_changed_and_put_aside(void)
{
    struct live_loop *live = open_loop();
    struct echo echo = {.loop = live};
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    live_loop_watch(live, ends[0], LIVE_READABLE | LIVE_WRITABLE, on_near_end, &echo);
    live_loop_watch(live, ends[1], LIVE_READABLE, on_far_end, &echo);
    live_loop_watch(live, ends[0], LIVE_WRITABLE, on_near_end, &echo);
    live_loop_hold(live);
    loop_run(live_loop_base(live), TIME_NEVER);
    CU_ASSERT_EQUAL(echo.received, ECHO_BYTES);
    int calls = echo.writable;
    struct fired fired = {.count = 0};
    struct timer timer;
    timer_init(&timer, note, &fired);
    loop_timer_set(live_loop_base(live), &timer, loop_now(live_loop_base(live)) + 20 * NS_PER_MS);
    loop_run(live_loop_base(live), TIME_NEVER);
    CU_ASSERT_EQUAL(echo.writable, calls);
    live_loop_unwatch(live, ends[0]);
    close(ends[0]);
    close(ends[1]);
    live_loop_close(live);
}

static void a_number_used_anew_is_another_watch(void)
{
    struct live_loop *live = open_loop();
    struct heard heard = {.loop = live};
    struct echo echo = {.loop = live, .sent = ECHO_BYTES - 1};
    struct fired fired = {.count = 0};
    struct timer timer;
    timer_init(&timer, note, &fired);
    for (int i = 0; i < 3; i++) {
        int ends[2];
        CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
        CU_ASSERT_EQUAL(write(ends[1], "01", 2), 2);
        live_loop_watch(live, ends[0], LIVE_READABLE, on_readable, &heard);
        if (i == 1) { /* one round, so that the kernel knows this one */
            loop_timer_set(live_loop_base(live), &timer, 0);
            loop_run(live_loop_base(live), TIME_NEVER);
        }
        live_loop_unwatch(live, ends[0]);
        close(ends[0]);
        close(ends[1]);
    }
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    live_loop_watch(live, ends[1], LIVE_WRITABLE, on_near_end, &echo);
    loop_timer_set(live_loop_base(live), &timer, loop_now(live_loop_base(live)) + 20 * NS_PER_MS);
    loop_run(live_loop_base(live), TIME_NEVER);
    CU_ASSERT_EQUAL(echo.writable, 1);
    CU_ASSERT_EQUAL(heard.bytes, 2);
    live_loop_unwatch(live, ends[1]);
    close(ends[0]);
    close(ends[1]);
    live_loop_close(live);
}

const struct harness_test live_loop_tests[] = {
    HARNESS_TEST(timers_fire_in_order_of_time_then_of_setting),
    HARNESS_TEST(timers_can_be_cancelled_and_moved),
    HARNESS_TEST(a_time_in_the_past_is_now_and_never_fires_inside_set),
    HARNESS_TEST(run_ends_at_until_or_when_nothing_is_left),
    HARNESS_TEST(now_is_unix_time),
    HARNESS_TEST(stop_ends_run_and_keeps_timers),
    HARNESS_TEST(work_runs_elsewhere_and_ends_in_the_loop),
    HARNESS_TEST(cancelled_work_is_not_done),
    HARNESS_TEST(stop_in_done_loses_no_other_done),
    HARNESS_TEST(a_signal_calls_back_in_the_loop),
    HARNESS_TEST(a_watch_reads_a_pipe_to_its_end),
    HARNESS_TEST(a_watch_for_writing_is_changed_and_put_aside),
    HARNESS_TEST(a_number_used_anew_is_another_watch),
    {0}};
