/* consume_rank.c - see consume_rank.h. The consumer driver of core on a session. Ours. */
#include "experiments/consume/consume_rank.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/digest_chain.h"
#include "core/xxh3.h"
#include "experiments/consume/consume_place.h"
#include "experiments/consume/consume_rank_private.h"
#include "experiments/consume/rank_consumer.h"
#include "experiments/consume/rank_log.h"
#include "experiments/consume/slice_check.h"
#include "experiments/live/live_access.h"

#define PACE_MAX_NS (600 * NS_PER_S) /* that a slower rank is waited for */
#define PACE_TELL_NS (3 * NS_PER_S)  /* after which it says so, the first time */
#define PACE_TELL_AGAIN_NS (60 * NS_PER_S)
/* What is in flight, and the last checkpoint, get so long once the rank is to stop. */
#define DRAIN_NS (20 * NS_PER_S)

/* ---- stopping ---- */

static void stop_driver(struct consume_rank *rank)
{
    if (rank->stopped)
        return;
    rank->stopped = true;
    loop_timer_cancel(consume_rank_loop(rank), &rank->step);
    consumer_driver_stop(rank->driver);
}

/* Whether a checkpoint at `step` drops none that a slower rank, *behind, may have to go back to. */
static bool may_checkpoint(const struct consume_rank *rank, uint64_t step, uint32_t *behind)
{
    const struct consumer *consumer = consumer_driver_consumer(rank->driver);
    struct checkpoint_set kept = consumer->membership.checkpoints;
    uint64_t oldest = kept.count > 0 ? kept.items[0].step : 0;
    if (rank->options->pace == NULL || kept.count == 0)
        return true;
    for (uint32_t i = 0; i < consumer->waiting.count; i++)
        checkpoint_add(&kept, &consumer->waiting.items[i], CONSUME_CHECKPOINTS_KEPT);
    if (rank->checkpoint_asked > kept.items[kept.count - 1].step) /* the driver comes to it later */
        checkpoint_add(&kept, &(struct checkpoint){.step = rank->checkpoint_asked},
                       CONSUME_CHECKPOINTS_KEPT);
    checkpoint_add(&kept, &(struct checkpoint){.step = step}, CONSUME_CHECKPOINTS_KEPT);
    return kept.items[0].step == oldest ||
           consume_pace_reached(rank->options->pace, kept.items[0].step, behind);
}

static void tell_pace(struct consume_rank *rank, uint64_t step)
{
    if (rank->options->pace != NULL)
        consume_pace_tell(rank->options->pace, rank->options->index, step);
}

/* Before `step`: what was taken before now may not be behind the cursor yet. */
static void ask_checkpoint(struct consume_rank *rank, uint64_t step)
{
    rank->checkpoint_asked = step;
    consumer_driver_checkpoint(rank->driver);
}

/* Where it is to go on is kept first, if there is something new to keep, and what all ranks keep
 * stays. */
static void stop(struct consume_rank *rank, enum consume_end end)
{
    if (rank->stopping)
        return;
    rank->stopping = true;
    rank->end = end;
    if (rank->driver == NULL) {
        live_loop_stop(rank->session.loop);
        return;
    }
    uint32_t behind;
    const struct consumer *consumer = consumer_driver_consumer(rank->driver);
    loop_timer_set(consume_rank_loop(rank), &rank->drain,
                   loop_now(consume_rank_loop(rank)) + DRAIN_NS);
    loop_timer_cancel(consume_rank_loop(rank), &rank->step);
    if (!rank->running || rank->options->job->checkpoints == NULL) {
        stop_driver(rank);
        return;
    }
    if (rank->checkpoint_asked < consumer->cursor && consumer->counters.steps > 0 &&
        may_checkpoint(rank, consumer->cursor, &behind))
        ask_checkpoint(rank, consumer->cursor);
    if (consumer->saved_step >= rank->checkpoint_asked)
        stop_driver(rank);
}

__attribute__((format(printf, 2, 3))) static void fail(struct consume_rank *rank,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rank->text, sizeof(rank->text), format, arguments);
    va_end(arguments);
    rank->stopping = true;
    rank->end = CONSUME_FAILED;
    stop_driver(rank);
}

static void on_drain(struct timer *timer, void *context)
{
    struct consume_rank *rank = context;
    (void)timer;
    if (!rank->stopped) {
        stop_driver(rank);
        loop_timer_set(consume_rank_loop(rank), &rank->drain,
                       loop_now(consume_rank_loop(rank)) + DRAIN_NS);
        return;
    }
    rank->end = CONSUME_FAILED;
    snprintf(rank->text, sizeof(rank->text), "the store did not answer for 20 s at the end");
    live_loop_stop(rank->session.loop);
}

static void on_signal(int signo, void *context)
{
    (void)signo;
    stop(context, CONSUME_ASKED);
}

/* ---- a step ---- */

/* They come first: what is to be dropped they may have to go back to. */
static void wait_for_others(struct consume_rank *rank, uint64_t step, uint32_t behind)
{
    int64_t now_ns = loop_now(consume_rank_loop(rank));
    if (rank->paced_ns == 0)
        rank->paced_ns = now_ns;
    int64_t waited_ns = now_ns - rank->paced_ns;
    if (waited_ns >= (rank->paced_told ? PACE_TELL_AGAIN_NS : PACE_TELL_NS) &&
        rank->paced_step != step) {
        struct consume_message message = {.kind = CONSUME_WAITS};
        snprintf(message.text, sizeof(message.text),
                 "waits at step %" PRIu64 " for the checkpoints of rank %u, up to 600 s", step,
                 behind);
        consume_wire_offer(rank->options->fd, &message);
        rank->paced_told = true;
        rank->paced_step = step;
    }
    if (waited_ns < PACE_MAX_NS)
        loop_timer_set(consume_rank_loop(rank), &rank->step,
                       now_ns + consume_pace_look_ns(rank->options->pace));
    else
        fail(rank,
             "rank %u: at step %" PRIu64 " it waited 600 s for the checkpoints of rank %u: is it "
             "gone? Start all ranks again",
             rank->options->rank, step, behind);
}

static void use_step(struct consume_rank *rank)
{
    const struct consume_job *job = rank->options->job;
    const struct consumer *consumer = consumer_driver_consumer(rank->driver);
    uint64_t step = consumer->cursor;
    bool last = rank->end_step != 0 && step + 1 >= rank->end_step;
    bool due = job->checkpoints != NULL && (step % job->checkpoint_every == 0 || last);
    uint32_t behind = 0;
    if (due && !may_checkpoint(rank, step + 1, &behind)) {
        wait_for_others(rank, step, behind);
        return;
    }
    rank->paced_ns = 0;
    rank->used_ns = loop_now(consume_rank_loop(rank));
    rank->taking = true;
    consumer_driver_take(rank->driver);
    rank->taking = false;
    if (due)
        ask_checkpoint(rank, step + 1);
    if (last)
        stop(rank, CONSUME_DONE);
}

static void on_step(struct timer *timer, void *context)
{
    (void)timer;
    use_step(context);
}

/* Verified and logged before it is used. False: the rank was told to stop. */
static bool accept_step(struct consume_rank *rank, const struct consumer_delivery *delivery)
{
    const struct consume_job *job = rank->options->job;
    char error[SLICE_CHECK_TEXT_MAX];
    struct slice_check check = {
        .synthetic = job->synthetic, .slices = job->slices, .slice = rank->options->rank};
    if (!slice_check_run(&check, delivery, error)) {
        fail(rank, "rank %u: %s", rank->options->rank, error);
        return false;
    }
    uint64_t digest = digest_chain_next(consumer_driver_consumer(rank->driver)->digest,
                                        delivery->step, delivery->slice_checksum);
    if (rank->log < 0 || rank_log_step(rank->log, delivery, digest))
        return true;
    fail(rank, "rank %u: its log cannot be written: %s", rank->options->rank, strerror(errno));
    return false;
}

static void on_ready(void *context, uint32_t consumer, const struct consumer_delivery *delivery)
{
    struct consume_rank *rank = context;
    (void)consumer;
    if (rank->stopping || !accept_step(rank, delivery))
        return;
    if (rank->options->job->step_ns == 0 && !rank->taking)
        use_step(rank);
    else
        loop_timer_set(consume_rank_loop(rank), &rank->step,
                       loop_now(consume_rank_loop(rank)) + rank->options->job->step_ns);
}

/* ---- what else the machine says ---- */

/* So that all ranks keep where they began before any of them drops it. */
static void keep_start(struct consume_rank *rank, uint64_t step)
{
    if (consumer_driver_consumer(rank->driver)->membership.checkpoints.count > 0)
        tell_pace(rank, step);
    else
        ask_checkpoint(rank, step);
}

/* All that is kept is stamped with this number by now. Who keeps nothing leaves alone what a
 * process before it may come back to. */
static void delete_former(struct consume_rank *rank)
{
    const struct membership *membership = &consumer_driver_consumer(rank->driver)->membership;
    bool may_come_back = rank->options->job->checkpoints == NULL && membership->before != 0;
    if (membership->number == 1 || may_come_back)
        return;
    rank->former = malloc(sizeof(*rank->former));
    assert(rank->former != NULL);
    former_numbers_delete(rank->former, rank->session.store, rank->options->rank,
                          membership->number);
}

static void on_running(void *context, uint32_t consumer, uint64_t step)
{
    struct consume_rank *rank = context;
    const struct consumer *machine = consumer_driver_consumer(rank->driver);
    const struct consume_job *job = rank->options->job;
    (void)consumer;
    rank->running = true;
    rank->running_ns = loop_now(consume_rank_loop(rank));
    rank->used_ns = rank->running_ns;
    rank->end_step = rank->options->end_step;
    if (rank->end_step == 0 && job->steps > 0)
        rank->end_step = step + job->steps;
    struct consume_message message = {
        .kind = CONSUME_STARTED, .number = machine->membership.number, .first_step = step};
    (void)consume_wire_send(rank->options->fd, &message); /* a hang-up is noticed by the watch */
    if (rank->log >= 0 &&
        !rank_log_start(rank->log, step, machine->membership.number, machine->digest))
        fail(rank, "rank %u: its log cannot be written: %s", rank->options->rank, strerror(errno));
    else if (rank->end_step != 0 && step >= rank->end_step)
        stop(rank, CONSUME_DONE);
    else if (job->checkpoints != NULL)
        keep_start(rank, step);
    delete_former(rank);
}

static void on_save(void *context, uint32_t consumer, const struct checkpoint_set *checkpoints)
{
    struct consume_rank *rank = context;
    char error[CHECKPOINT_FILE_TEXT_MAX];
    (void)consumer;
    if (rank->options->job->checkpoints == NULL) {
        consumer_driver_saved(rank->driver);
        return;
    }
    switch (checkpoint_file_save(&rank->file, checkpoints, error)) {
    case CHECKPOINT_SAVE_DONE:
        consumer_driver_saved(rank->driver);
        break;
    case CHECKPOINT_SAVE_REFUSED:
        consumer_driver_save_refused(rank->driver);
        break;
    case CHECKPOINT_SAVE_FAILED:
        fail(rank, "rank %u: %s", rank->options->rank, error);
        break;
    }
}

static void on_checkpointed(void *context, uint32_t consumer, uint64_t step)
{
    struct consume_rank *rank = context;
    (void)consumer;
    tell_pace(rank, step);
    if (rank->stopping && step >= rank->checkpoint_asked)
        stop_driver(rank);
}

static void on_request(void *context, uint32_t consumer, const struct consumer_answer *answer)
{
    struct consume_rank *rank = context;
    (void)consumer;
    if (answer->request != CONSUMER_REQUEST_SLICE || answer->outcome != STORE_OK)
        return;
    histogram_add(&rank->slices, answer->answered_ns - answer->sent_ns);
    if (answer->bytes > rank->longest_bytes)
        rank->longest_bytes = answer->bytes;
}

static void on_ended(void *context, uint32_t consumer, enum consumer_end end, const char *text)
{
    struct consume_rank *rank = context;
    (void)consumer;
    if (end != CONSUMER_STOPPED) {
        rank->end = CONSUME_FAILED;
        snprintf(rank->text, sizeof(rank->text), "%s", text);
    }
    live_loop_stop(rank->session.loop);
}

/* ---- the parent ---- */

/* The parent says nothing; what comes is its end. */
static void on_parent(int fd, unsigned ready, void *context)
{
    struct consume_rank *rank = context;
    struct consume_message message;
    (void)ready;
    if (consume_wire_receive(fd, &message) != LIVE_HANG_UP)
        return;
    live_loop_unwatch(rank->session.loop, fd);
    rank->watched = false;
    stop(rank, CONSUME_ASKED);
}

/* ---- starting ---- */

/* False: rank->text says why. */
static bool prepare(struct consume_rank *rank, struct consumer_options *consumer)
{
    const struct consume_job *job = rank->options->job;
    rank->file = consume_place_file(job, rank->options->rank);
    if (job->log != NULL &&
        (rank->log = rank_log_open(job->log, rank->options->rank, rank->text)) < 0)
        return false;
    if (!rank_consumer_fill(rank->options, consumer)) {
        snprintf(rank->text, sizeof(rank->text), "the system gave no random bytes: %s",
                 strerror(errno));
        return false;
    }
    uint64_t *rollback = &consumer->membership.rollback_step;
    return job->checkpoints == NULL ||
           (checkpoint_file_load(&rank->file, &consumer->checkpoints, rank->text) &&
            consume_place_check(job, rank->options->rank, &consumer->checkpoints, rollback,
                                rank->text));
}

static void run(struct consume_rank *rank, const struct consumer_options *consumer)
{
    struct live_loop *loop = rank->session.loop;
    rank->observer = (struct consumer_observer){
        .context = rank,
        .running = on_running,
        .ready = on_ready,
        .save = on_save,
        .checkpointed = on_checkpointed,
        .request = on_request,
        .ended = on_ended,
    };
    struct consumer_driver_options driver = {
        .store = rank->session.store,
        .loop = consume_rank_loop(rank),
        .observer = &rank->observer,
        .consumer = consumer,
    };
    live_loop_on_signal(loop, SIGINT, on_signal, rank);
    live_loop_on_signal(loop, SIGTERM, on_signal, rank);
    timer_init(&rank->step, on_step, rank);
    timer_init(&rank->drain, on_drain, rank);
    timer_init(&rank->progress, consume_rank_progress, rank);
    live_loop_watch(loop, rank->options->fd, LIVE_READABLE, on_parent, rank);
    rank->watched = true;
    live_loop_hold(loop);
    rank->driver = consumer_driver_open(&driver);
    loop_timer_set(consume_rank_loop(rank), &rank->progress,
                   loop_now(consume_rank_loop(rank)) + CONSUME_RANK_PROGRESS_NS);
    consumer_driver_start(rank->driver);
    loop_run(consume_rank_loop(rank), TIME_NEVER);
    live_loop_unhold(loop);
    if (rank->watched)
        live_loop_unwatch(loop, rank->options->fd);
}

int consume_rank_main(const struct consume_rank_options *options)
{
    const struct consume_job *job = options->job;
    struct consume_rank rank = {.options = options, .log = -1, .end = CONSUME_FAILED};
    struct live_wrappers_options wrappers = {.config = job->config,
                                             .seed = XXH3_64bits(job->run, strlen(job->run)),
                                             .actor = options->rank};
    struct live_session_options session = live_access_of(job->config);
    struct consumer_options consumer;
    char error[STORE_ERROR_MAX];
    session.wrappers = &wrappers;
    rank_consumer_keep_window(job->prefetch_bytes);
    if (!prepare(&rank, &consumer)) {
        (void)consume_rank_tell_end(&rank);
        return 1;
    }
    if (live_session_open(job->url, &session, &rank.session, error) != OPEN_OK) {
        snprintf(rank.text, sizeof(rank.text), "%s", error);
        (void)consume_rank_tell_end(&rank);
        return 1;
    }
    run(&rank, &consumer);
    int status = consume_rank_tell_end(&rank);
    /* Not closed in order: a worker may hang in the store, and the process ends now anyway. */
    close(options->fd);
    return status;
}
