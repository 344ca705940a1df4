/* produce.c - see produce.h. The driver of core on a session. Ours. */
#include "experiments/produce/produce.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/driver.h"
#include "core/xxh3.h"
#include "experiments/produce/file_store.h"

struct produce {
    struct live_session *session;
    const struct produce_options *options;
    struct produce_report *report;
    struct driver *driver;
    struct store *files; /* NULL: synthetic batches */
    struct producer_observer observer;
    struct timer drain;
    uint64_t first_sequence; /* of the files */
    uint64_t version;        /* of the latest decision */
    uint32_t signals;
    enum produce_end end;
};

/* ---- what is committed already ---- */

struct comparison {
    struct produce *produce;
    struct manifest_entry last; /* the newest of this producer; sequence 0: none */
};

static void compare_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct comparison *comparison = context;
    struct produce *produce = comparison->produce;
    const struct given_files *files = produce->options->files;
    (void)step;
    if (entry->tgb.producer != produce->options->producer.commit.producer ||
        entry->tgb.sequence < produce->first_sequence ||
        entry->tgb.sequence - produce->first_sequence >= files->count)
        return;
    size_t index = (size_t)(entry->tgb.sequence - produce->first_sequence);
    comparison->last = *entry;
    if (entry->tgb_bytes == files->tgb_bytes[index] || produce->end == PRODUCE_OTHER_FILES)
        return;
    produce->end = PRODUCE_OTHER_FILES;
    snprintf(produce->report->text, sizeof(produce->report->text),
             "sequence %" PRIu64 " is committed with %" PRIu64 " bytes, but %.400s, which stands "
             "there in the list, makes %" PRIu64,
             entry->tgb.sequence, entry->tgb_bytes, files->paths[index], files->tgb_bytes[index]);
}

/* The bytes of the newest: sizes may agree by chance. */
static void compare_last(struct produce *produce, const struct manifest_entry *last)
{
    const struct given_files *files = produce->options->files;
    size_t index = (size_t)(last->tgb.sequence - produce->first_sequence);
    char error[STORE_ERROR_MAX] = "";
    uint8_t *data = given_files_tgb(files, index, &last->tgb, error);
    bool same = data != NULL && XXH3_64bits(data, files->tgb_bytes[index]) == last->tgb_checksum;
    if (!same)
        produce->end = PRODUCE_OTHER_FILES;
    if (data == NULL)
        snprintf(produce->report->text, sizeof(produce->report->text), "%s", error);
    else if (!same)
        snprintf(produce->report->text, sizeof(produce->report->text),
                 "sequence %" PRIu64 " is committed with other bytes than those of %.400s, which "
                 "stands there in the list",
                 last->tgb.sequence, files->paths[index]);
    free(data);
}

/* Before anything is uploaded: whether the files are the stream whose start is committed. */
static void compare_files(struct produce *produce)
{
    struct manifest *known = driver_producer(produce->driver)->commit.known;
    struct comparison comparison = {.produce = produce};
    assert(known != NULL);
    manifest_visit_entries(known, known->first_step, compare_entry, &comparison);
    if (produce->end != PRODUCE_OTHER_FILES && comparison.last.tgb.sequence != 0)
        compare_last(produce, &comparison.last);
}

/* ---- observing ---- */

static void on_resumed(struct produce *produce)
{
    const struct commit *commit = &driver_producer(produce->driver)->commit;
    produce->report->resumed = true;
    if (produce->files == NULL)
        return;
    produce->first_sequence = produce->options->files_first != 0 ? produce->options->files_first
                                                                 : commit->committed_sequence + 1;
    file_store_begin(produce->files, produce->first_sequence);
    compare_files(produce);
    if (produce->end == PRODUCE_OTHER_FILES)
        driver_stop(produce->driver);
}

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct produce *produce = context;
    (void)producer;
    (void)attempt;
    produce->version = detail->version;
    if (detail->epoch != 0 && !produce->report->resumed)
        on_resumed(produce);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct produce *produce = context;
    const struct given_files *files = produce->options->files;
    (void)producer;
    (void)visible_ns;
    struct produce_batch told = {
        .sequence = batch->sequence,
        .end_offset = batch->end_offset,
        .bytes = batch->bytes,
        .version = produce->version,
    };
    if (files != NULL)
        told.path = files->paths[batch->sequence - produce->first_sequence];
    produce->options->visible(produce->options->context, &told);
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct produce *produce = context;
    (void)producer;
    if (end != PRODUCER_STOPPED) {
        produce->end = PRODUCE_FAILED;
        snprintf(produce->report->text, sizeof(produce->report->text), "%s%s", text,
                 end == PRODUCER_FENCED ? "; another process works as this producer: let only one "
                                          "do so, or take another --producer"
                                        : "");
    }
    live_loop_stop(produce->session->loop);
}

/* ---- stopping ---- */

static void on_signal(int signo, void *context)
{
    struct produce *produce = context;
    struct loop *loop = live_session_loop(produce->session);
    (void)signo;
    if (produce->signals++ > 0) {
        produce->end = PRODUCE_KILLED;
        live_loop_stop(produce->session->loop);
        return;
    }
    if (produce->end == PRODUCE_DONE)
        produce->end = PRODUCE_INTERRUPTED;
    loop_timer_set(loop, &produce->drain, loop_now(loop) + PRODUCE_DRAIN_NS);
    driver_stop(produce->driver);
}

static void on_drain(struct timer *timer, void *context)
{
    struct produce *produce = context;
    (void)timer;
    produce->end = PRODUCE_HANGING;
    snprintf(produce->report->text, sizeof(produce->report->text),
             "requests in progress were not answered within %d s of the signal; is the store "
             "hanging?",
             (int)(PRODUCE_DRAIN_NS / NS_PER_S));
    live_loop_stop(produce->session->loop);
}

/* ---- running ---- */

static void open_driver(struct produce *produce)
{
    const struct produce_options *options = produce->options;
    struct producer_options producer = options->producer;
    struct store *store = produce->session->store;
    if (options->files != NULL) {
        produce->files = file_store_open(store, produce->session->loop, options->files);
        store = produce->files;
        producer.sizes = options->files->tgb_bytes;
        producer.size_count = options->files->count;
        producer.sizes_first = options->files_first;
    }
    produce->observer = (struct producer_observer){
        .context = produce,
        .attempt = on_attempt,
        .visible = on_visible,
        .request = on_request,
        .ended = on_ended,
    };
    struct driver_options driver = {
        .store = store,
        .loop = live_session_loop(produce->session),
        .observer = &produce->observer,
        .producer = &producer,
    };
    produce->driver = driver_open(&driver);
}

enum produce_end produce_run(struct live_session *session, const struct produce_options *options,
                             struct produce_report *report)
{
    struct produce produce = {.session = session, .options = options, .report = report};
    *report = (struct produce_report){0};
    open_driver(&produce);
    timer_init(&produce.drain, on_drain, &produce);
    live_loop_on_signal(session->loop, SIGINT, on_signal, &produce);
    live_loop_on_signal(session->loop, SIGTERM, on_signal, &produce);
    driver_start(produce.driver);
    loop_run(live_session_loop(session), TIME_NEVER);
    if (produce.end == PRODUCE_KILLED || produce.end == PRODUCE_HANGING)
        return produce.end; /* operations are in flight */
    loop_timer_cancel(live_session_loop(session), &produce.drain);
    driver_close(produce.driver);
    if (produce.files != NULL)
        store_close(produce.files);
    return produce.end;
}
