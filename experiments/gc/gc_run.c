/* gc_run.c - see gc_run.h. The reclaim driver of core on a session. Ours. */
#include "experiments/gc/gc_run.h"

#include <signal.h>
#include <sys/random.h>

#include "core/reclaim_driver.h"

struct gc {
    struct live_session *session;
    const struct gc_options *options;
    struct reclaim_driver *driver;
    enum reclaim_end end;
};

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    (void)context;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    struct gc *gc = context;
    gc->end = report->end;
    gc->options->round(gc->options->context, report, error);
    if (report->end == RECLAIM_REFUSED && gc->options->period_ns > 0)
        reclaim_driver_stop(gc->driver);
}

static void on_ended(void *context)
{
    struct gc *gc = context;
    live_loop_stop(gc->session->loop);
}

static void on_signal(int signo, void *context)
{
    struct gc *gc = context;
    (void)signo;
    reclaim_driver_stop(gc->driver);
}

enum reclaim_end gc_run(struct live_session *session, const struct gc_options *options)
{
    struct gc gc = {.session = session, .options = options, .end = RECLAIM_STOPPED};
    struct loop *loop = live_session_loop(session);
    struct reclaim_options reclaim = options->reclaim;
    const struct reclaim_observer observer = {
        .context = &gc, .request = on_request, .round = on_round, .ended = on_ended};
    uint64_t seed = (uint64_t)loop_now(loop);
    /* Only pauses are drawn: where there are no random bytes, time will do. */
    (void)!getrandom(&seed, sizeof(seed), 0);
    reclaim.random = random_stream_make(seed, 0);
    struct reclaim_driver_options driver = {
        .store = session->store,
        .loop = loop,
        .observer = &observer,
        .reclaim = &reclaim,
        .period_ns = options->period_ns,
        .jitter = RECLAIM_JITTER,
    };
    gc.driver = reclaim_driver_open(&driver);
    live_loop_on_signal(session->loop, SIGINT, on_signal, &gc);
    live_loop_on_signal(session->loop, SIGTERM, on_signal, &gc);
    live_loop_hold(session->loop);
    reclaim_driver_start(gc.driver);
    loop_run(loop, TIME_NEVER);
    live_loop_unhold(session->loop);
    reclaim_driver_close(gc.driver);
    return gc.end;
}
