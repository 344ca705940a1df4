/* live_producer.c - see live_producer.h. The driver of core on a session, with an observer that
 * counts for the parent and hands on to the recorder. Ours. */
#include "experiments/live/live_producer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/driver.h"
#include "experiments/live/live_access.h"
#include "experiments/live/live_wire.h"
#include "experiments/trials/producer_config.h"
#include "experiments/trials/recorder_config.h"

#define PROGRESS_NS (250 * NS_PER_MS)
/* A recorder is sent now and then, so that a killed process takes little of it along. */
#define RECORD_NS (1 * NS_PER_S)
#define RECORD_LARGE_NS (30 * NS_PER_S)
#define RECORD_LARGE_BYTES (256 * 1024)

struct live_producer {
    const struct live_producer_options *options;
    struct live_session session;
    struct driver *driver;             /* NULL until the start */
    struct recorder *recorder;         /* NULL until the start */
    struct producer_observer record;   /* the recorder's */
    struct producer_observer observer; /* what the driver is given */
    struct timer start;
    struct timer deadline;
    struct timer drain;
    struct timer progress;
    int64_t end_ns;
    int64_t record_at_ns;
    bool watched;
    bool stopping;
    bool resumed;
    enum live_end end;
    struct live_counts counts;
    char text[PRODUCER_END_TEXT_MAX];
};

static struct loop *loop_of(const struct live_producer *live)
{
    return live_session_loop(&live->session);
}

/* ---- observing ---- */

static void tell_resumed(struct live_producer *live)
{
    const struct commit *commit = &driver_producer(live->driver)->commit;
    struct live_message message = {
        .kind = LIVE_RESUMED,
        .epoch = commit->epoch,
        .sequence = commit->committed_sequence,
        .offset = commit->committed_offset,
    };
    live->resumed = true;
    (void)live_wire_send(live->options->fd, &message); /* a hang-up is noticed by the watch */
}

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct live_producer *live = context;
    live->record.attempt(live->record.context, producer, attempt, detail);
    live->counts.attempts++;
    live->counts.won += attempt->outcome == ATTEMPT_WON;
    if (!live->resumed && detail->epoch != 0)
        tell_resumed(live);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct live_producer *live = context;
    live->record.visible(live->record.context, producer, batch, visible_ns);
    live->counts.batches++;
    live->counts.bytes += batch->bytes;
}

/* Not recorded: the meter tells what reached the store. */
static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_answered(void *context, const struct meter_answer *answer)
{
    struct live_producer *live = context;
    live->record.request(live->record.context, live->options->producer, answer->verb,
                         answer->outcome, answer->bytes);
    recorder_note_latency(live->recorder, answer->verb, answer->latency_ns);
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct live_producer *live = context;
    live->record.ended(live->record.context, producer, end, text);
    switch (end) {
    case PRODUCER_STOPPED:
        break;
    case PRODUCER_FENCED:
        live->end = LIVE_END_FENCED;
        break;
    case PRODUCER_CORRUPT:
    case PRODUCER_STORE_FAILED:
    case PRODUCER_END_COUNT:
        live->end = LIVE_END_FAILED;
        break;
    }
    if (end != PRODUCER_STOPPED)
        snprintf(live->text, sizeof(live->text), "%s", text);
    live_loop_stop(live->session.loop);
}

/* ---- stopping ---- */

static void stop(struct live_producer *live, enum live_end end)
{
    if (live->stopping)
        return;
    live->stopping = true;
    live->end = end;
    if (live->driver == NULL) {
        live_loop_stop(live->session.loop);
        return;
    }
    loop_timer_set(loop_of(live), &live->drain, loop_now(loop_of(live)) + LIVE_DRAIN_NS);
    driver_stop(live->driver);
}

static void on_deadline(struct timer *timer, void *context)
{
    (void)timer;
    stop(context, LIVE_END_DONE);
}

static void on_signal(int signo, void *context)
{
    (void)signo;
    stop(context, LIVE_END_SIGNAL);
}

static void on_drain(struct timer *timer, void *context)
{
    struct live_producer *live = context;
    (void)timer;
    live->end = LIVE_END_UNDECIDED;
    snprintf(live->text, sizeof(live->text),
             "requests in progress were not answered within %d s of the end; is the store hanging?",
             (int)(LIVE_DRAIN_NS / NS_PER_S));
    live_loop_stop(live->session.loop);
}

/* ---- telling ---- */

static void count_requests(struct live_producer *live)
{
    struct meter_counters counters = live_wrappers_counters(live->session.wrappers);
    struct live_counts *counts = &live->counts;
    counts->up_bytes = 0;
    counts->down_bytes = 0;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        bool down = verb == STORE_GET || verb == STORE_LIST;
        counts->requests[verb] = counters.submitted[verb];
        *(down ? &counts->down_bytes : &counts->up_bytes) += counters.bytes[verb];
    }
}

static uint64_t memory_peak_bytes(void)
{
    struct rusage usage;
    int failed = getrusage(RUSAGE_SELF, &usage);
    assert(failed == 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void send_record(struct live_producer *live)
{
    size_t size;
    recorder_note_in_flight(live->recorder,
                            live_wrappers_counters(live->session.wrappers).in_flight_max);
    uint8_t *bytes = recorder_serialize(live->recorder, &size);
    (void)live_wire_send_record(live->options->fd, bytes, size);
    free(bytes);
    int64_t after_ns = size > RECORD_LARGE_BYTES ? RECORD_LARGE_NS : RECORD_NS;
    live->record_at_ns = loop_now(loop_of(live)) + after_ns;
}

static void on_progress(struct timer *timer, void *context)
{
    struct live_producer *live = context;
    count_requests(live);
    struct live_message message = {.kind = LIVE_PROGRESS, .counts = live->counts};
    live_wire_offer(live->options->fd, &message);
    int64_t now_ns = loop_now(loop_of(live));
    if (now_ns >= live->record_at_ns)
        send_record(live);
    loop_timer_set(loop_of(live), timer, now_ns + PROGRESS_NS);
}

static int tell_end(struct live_producer *live)
{
    count_requests(live);
    struct live_message message = {.kind = LIVE_ENDED,
                                   .end = live->end,
                                   .counts = live->counts,
                                   .memory_bytes = memory_peak_bytes()};
    if (live->driver != NULL) {
        const struct producer *producer = driver_producer(live->driver);
        for (uint32_t i = 0; i < producer->queue.count; i++) {
            const struct batch *batch = batch_queue_at(&producer->queue, i);
            recorder_note_invisible(live->recorder, live->options->producer, batch->made_ns,
                                    batch->bytes);
        }
        message.epoch = producer->commit.epoch;
        message.sequence = producer->commit.committed_sequence;
        message.offset = producer->commit.committed_offset;
        send_record(live);
    }
    live_message_text(&message, live->text);
    return live_wire_send(live->options->fd, &message) && live->end == LIVE_END_DONE ? 0 : 1;
}

/* ---- starting ---- */

static void on_start(struct timer *timer, void *context)
{
    struct live_producer *live = context;
    (void)timer;
    const struct live_producer_options *options = live->options;
    struct producer_options producer;
    producer_options_of(options->config, options->producer, options->seed, &producer);
    ssize_t drawn = getrandom(&producer.commit.incarnation, INCARNATION_BYTES, 0);
    if (drawn != INCARNATION_BYTES) {
        snprintf(live->text, sizeof(live->text), "the system gave no random bytes: %s",
                 strerror(errno));
        stop(live, LIVE_END_FAILED);
        return;
    }
    live->observer = (struct producer_observer){
        .context = live,
        .attempt = on_attempt,
        .visible = on_visible,
        .request = on_request,
        .ended = on_ended,
    };
    struct driver_options driver = {
        .store = live->session.store,
        .loop = loop_of(live),
        .observer = &live->observer,
        .producer = &producer,
    };
    live->driver = driver_open(&driver);
    driver_start(live->driver);
    loop_timer_set(loop_of(live), &live->deadline, live->end_ns);
    loop_timer_set(loop_of(live), &live->progress, loop_now(loop_of(live)) + PROGRESS_NS);
}

static void on_start_message(struct live_producer *live, int64_t start_ns)
{
    int64_t now_ns = loop_now(loop_of(live));
    live->end_ns = start_ns + live->options->config->run.duration_ns;
    live->recorder = recorder_of(live->options->config, start_ns);
    recorder_set_loop(live->recorder, loop_of(live));
    live->record = recorder_observer(live->recorder);
    live->record_at_ns = now_ns + RECORD_NS;
    if (now_ns >= live->end_ns)
        stop(live, LIVE_END_DONE); /* started again too late to do anything */
    else
        loop_timer_set(loop_of(live), &live->start, start_ns);
}

static void on_parent(int fd, unsigned ready, void *context)
{
    (void)ready; /* it is watched for reading only */
    struct live_producer *live = context;
    struct live_message message;
    switch (live_wire_receive(fd, &message)) {
    case LIVE_NOTHING:
        return;
    case LIVE_RECEIVED:
        if (message.kind == LIVE_START && live->recorder == NULL)
            on_start_message(live, message.at_ns);
        return;
    case LIVE_HANG_UP:
        break;
    }
    live_loop_unwatch(live->session.loop, fd);
    live->watched = false;
    loop_timer_cancel(loop_of(live), &live->start);
    stop(live, LIVE_END_ASKED);
}

static int fail_to_open(const struct live_producer_options *options, const char *error)
{
    struct live_message message = {.kind = LIVE_ENDED, .end = LIVE_END_FAILED};
    live_message_text(&message, error);
    (void)live_wire_send(options->fd, &message);
    return 1;
}

static void run(struct live_producer *live)
{
    struct live_loop *loop = live->session.loop;
    live_loop_on_signal(loop, SIGINT, on_signal, live);
    live_loop_on_signal(loop, SIGTERM, on_signal, live);
    timer_init(&live->start, on_start, live);
    timer_init(&live->deadline, on_deadline, live);
    timer_init(&live->drain, on_drain, live);
    timer_init(&live->progress, on_progress, live);
    live_loop_watch(loop, live->options->fd, LIVE_READABLE, on_parent, live);
    live->watched = true;
    live_loop_hold(loop);
    struct live_message ready = {.kind = LIVE_READY, .at_ns = loop_now(loop_of(live))};
    if (live_wire_send(live->options->fd, &ready))
        loop_run(loop_of(live), TIME_NEVER);
    live_loop_unhold(loop);
    if (live->watched)
        live_loop_unwatch(loop, live->options->fd);
}

int live_producer_main(const struct live_producer_options *options)
{
    const struct config *config = options->config;
    struct live_producer live = {.options = options, .end = LIVE_END_ASKED};
    struct live_wrappers_options wrappers = {
        .config = config,
        .seed = options->seed,
        .actor = options->producer,
        .answered = on_answered,
        .context = &live,
    };
    struct live_session_options session = live_access_of(config);
    session.wrappers = &wrappers;
    char error[STORE_ERROR_MAX];
    if (live_session_open(options->url, &session, &live.session, error) != OPEN_OK)
        return fail_to_open(options, error);
    run(&live);
    int status = tell_end(&live);
    /* Not closed in order: a worker may hang in the store, and the process ends now anyway. */
    close(options->fd);
    return status;
}
