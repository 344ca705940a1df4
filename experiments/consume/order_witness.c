/* order_witness.c - see order_witness.h. The chain reader of core on a session, one operation at a
 * time. Ours. */
#include "experiments/consume/order_witness.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/chain_reader.h"
#include "experiments/consume/order_hold.h"
#include "experiments/live/live_chain.h"

#define RAISE_NS NS_PER_S /* between two watermarks */
#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)

struct witness {
    struct live_session *session;
    const struct order_witness_options *options;
    struct order_witness_report *report;
    struct chain_reader reader;
    struct order_hold hold;
    int64_t raised_ns;
    uint64_t raised_step;
    FILE *stream;
    uint64_t next_step; /* 0: whatever is the first */
    bool asked;
    bool pausing; /* no operation is in flight */
};

static void on_signal(int signo, void *context)
{
    struct witness *witness = context;
    (void)signo;
    witness->asked = true;
    if (witness->pausing)
        live_loop_stop(witness->session->loop);
}

static void pause_until(struct witness *witness, int64_t until_ns)
{
    if (witness->asked)
        return;
    witness->pausing = true;
    live_loop_hold(witness->session->loop);
    loop_run(live_session_loop(witness->session), until_ns);
    live_loop_unhold(witness->session->loop);
    witness->pausing = false;
}

/* Until the read ends; a signal waits for it. */
static enum chain_effect_kind read_chain(struct witness *witness)
{
    struct loop *loop = live_session_loop(witness->session);
    struct chain_effect effect = chain_reader_begin(&witness->reader);
    for (;;) {
        switch (effect.kind) {
        case CHAIN_SUBMIT:
            live_session_do(witness->session, witness->session->store, &witness->reader.op);
            effect = chain_reader_answer(&witness->reader, loop_now(loop));
            break;
        case CHAIN_SLEEP:
            pause_until(witness, effect.until_ns);
            effect = chain_reader_wake(&witness->reader);
            break;
        case CHAIN_CHANGED:
        case CHAIN_UNCHANGED:
        case CHAIN_EMPTY:
        case CHAIN_FAILED:
            return effect.kind;
        }
    }
}

static void visit(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct witness *witness = context;
    struct order_witness_report *report = witness->report;
    if (witness->options->steps != 0 && report->steps == witness->options->steps)
        return;
    report->last = (struct order_line){
        .step = step,
        .producer = entry->tgb.producer,
        .epoch = entry->tgb.epoch,
        .sequence = entry->tgb.sequence,
        .tgb_bytes = entry->tgb_bytes,
    };
    order_file_write(witness->stream, &report->last);
    report->steps++;
}

/* False: the report's text says why. */
static bool write_news(struct witness *witness)
{
    const struct manifest *known = witness->reader.known;
    struct order_witness_report *report = witness->report;
    if (witness->next_step == 0)
        witness->next_step = known->first_step;
    if (known->first_step > witness->next_step) {
        snprintf(report->text, sizeof(report->text),
                 "the steps %" PRIu64 " to %" PRIu64 " were given up before they were seen",
                 witness->next_step, known->first_step - 1);
        return false;
    }
    manifest_visit_entries(known, witness->next_step, visit, witness);
    witness->next_step = known->next_step;
    if (fflush(witness->stream) == 0)
        return true;
    snprintf(report->text, sizeof(report->text), "%.400s: %s", witness->options->path,
             strerror(errno));
    return false;
}

/* What is written is held no longer, once it is on the disk; at the end of the news, too. */
static bool raise_hold(struct witness *witness)
{
    struct order_witness_report *report = witness->report;
    int64_t now_ns = loop_now(live_session_loop(witness->session));
    if (witness->options->consumer == NULL || now_ns - witness->raised_ns < RAISE_NS ||
        report->last.step == witness->raised_step)
        return true;
    witness->raised_ns = now_ns;
    witness->raised_step = report->last.step;
    if (fdatasync(fileno(witness->stream)) == 0)
        return order_hold_raise(&witness->hold, report->last.step + 1, report->text);
    snprintf(report->text, sizeof(report->text), "%.400s: %s", witness->options->path,
             strerror(errno));
    return false;
}

static enum order_witness_end follow(struct witness *witness)
{
    struct loop *loop = live_session_loop(witness->session);
    const struct order_witness_options *options = witness->options;
    while (options->steps == 0 || witness->report->steps < options->steps) {
        switch (read_chain(witness)) {
        case CHAIN_CHANGED:
            if (!write_news(witness) || !raise_hold(witness))
                return ORDER_WITNESS_FAILED;
            break;
        case CHAIN_UNCHANGED:
            if (!raise_hold(witness))
                return ORDER_WITNESS_FAILED;
            break;
        case CHAIN_FAILED:
            snprintf(witness->report->text, sizeof(witness->report->text), "%s",
                     witness->reader.error);
            return ORDER_WITNESS_FAILED;
        case CHAIN_EMPTY:
        case CHAIN_SUBMIT:
        case CHAIN_SLEEP:
            break;
        }
        if (witness->asked)
            return ORDER_WITNESS_ASKED;
        pause_until(witness, loop_now(loop) + options->poll_ns);
        if (witness->asked)
            return ORDER_WITNESS_ASKED;
    }
    return ORDER_WITNESS_DONE;
}

/* What the file ends with must be in this chain, before anything is held by it. A step that was
 * given up meanwhile says nothing. False: the report's text says why. */
static bool file_fits(struct witness *witness)
{
    const struct order_line *last = &witness->report->last;
    char *text = witness->report->text;
    struct chain_reader reader;
    if (last->step == 0)
        return true;
    live_chain_init(witness->session, &reader);
    bool fits = live_chain_read(witness->session, &reader) != CHAIN_FAILED;
    if (!fits)
        snprintf(text, ORDER_FILE_TEXT_MAX, "%s", reader.error);
    const struct manifest *known = reader.known;
    const struct manifest_entry *entry =
        known != NULL ? manifest_entry_find(known, last->step) : NULL;
    bool beyond = known == NULL || last->step >= known->next_step;
    bool other = entry != NULL &&
                 (entry->tgb.producer != last->producer || entry->tgb.epoch != last->epoch ||
                  entry->tgb.sequence != last->sequence || entry->tgb_bytes != last->tgb_bytes);
    chain_reader_deinit(&reader);
    if (!fits || (!beyond && !other))
        return fits;
    snprintf(text, ORDER_FILE_TEXT_MAX,
             "%.300s ends with step %" PRIu64 ", which is %s in this chain: one of the two was "
             "changed; name another file",
             witness->options->path, last->step, beyond ? "not" : "another batch");
    return false;
}

enum order_witness_end order_witness_run(struct live_session *session,
                                         const struct order_witness_options *options,
                                         struct order_witness_report *report)
{
    struct witness witness = {.session = session, .options = options, .report = report};
    struct chain_reader_options chain = {.retry_ns = RETRY_NS, .retry_max_ns = RETRY_MAX_NS};
    *report = (struct order_witness_report){0};
    witness.stream = order_file_append(options->path, options->run, &report->last, report->text);
    if (witness.stream == NULL)
        return ORDER_WITNESS_FAILED;
    if (!file_fits(&witness)) {
        fclose(witness.stream);
        return ORDER_WITNESS_FAILED;
    }
    witness.raised_step = report->last.step; /* held from there on by its start */
    witness.next_step = report->last.step > 0 ? report->last.step + 1 : 0;
    live_loop_on_signal(session->loop, SIGINT, on_signal, &witness);
    live_loop_on_signal(session->loop, SIGTERM, on_signal, &witness);
    int64_t now_ns = loop_now(live_session_loop(session));
    chain_reader_init(&witness.reader, &chain, random_stream_make((uint64_t)now_ns, 0));
    enum order_witness_end end = ORDER_WITNESS_FAILED;
    if (options->consumer == NULL)
        end = follow(&witness);
    else if (order_hold_begin(&witness.hold, session, *options->consumer, &witness.next_step,
                              report->text)) {
        report->number = witness.hold.membership.number;
        end = follow(&witness);
    }
    if (options->consumer != NULL)
        order_hold_deinit(&witness.hold);
    chain_reader_deinit(&witness.reader);
    fclose(witness.stream);
    return end;
}
