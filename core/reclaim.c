/* reclaim.c - the first half of a round: what consumers need, the intent, the floor. Watermarks are
 * the paper's; numbers, intent, floor and the order of the steps are ours (docs/data_plane.md). */
#include "core/reclaim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/reclaim_request.h"
#include "core/reclaim_sweep.h"

const char *reclaim_end_name(enum reclaim_end end)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        RECLAIM_ENDS(X)
#undef X
    };
    assert(end < RECLAIM_END_COUNT);
    return names[end];
}

const char *reclaim_end_text(enum reclaim_end end)
{
    static const char *const texts[] = {
#define X(code, name, text) text,
        RECLAIM_ENDS(X)
#undef X
    };
    assert(end < RECLAIM_END_COUNT);
    return texts[end];
}

struct reclaim *reclaim_open(const struct reclaim_options *options)
{
    assert(options->deletes_max > 0 && options->deletes_max <= RECLAIM_DELETES_MAX);
    assert(options->full_every > 0 && options->grace_ns >= 0 && options->marker_grace_ns >= 0);
    struct reclaim *reclaim =
        calloc(1, sizeof(*reclaim) + options->deletes_max * sizeof(reclaim->deletes[0]));
    assert(reclaim != NULL);
    reclaim->options = *options;
    struct chain_reader_options chain = {.retry_ns = options->retry_ns,
                                         .retry_max_ns = options->retry_max_ns};
    chain_reader_init(&reclaim->chain, &chain, random_stream_make(options->random.key, 1));
    store_op_init(&reclaim->control);
    live_set_init(&reclaim->live);
    struct retry retry = {.first_ns = options->retry_ns, .max_ns = options->retry_max_ns};
    retry.row_max = RECLAIM_RETRIES_MAX;
    reclaim->control_retry = retry;
    retry.row_max = RECLAIM_DELETE_RETRIES_MAX;
    for (uint32_t i = 0; i < options->deletes_max; i++) {
        store_op_init(&reclaim->deletes[i].op);
        reclaim->deletes[i].retry = retry;
    }
    return reclaim;
}

void reclaim_close(struct reclaim *reclaim)
{
    for (uint32_t i = 0; i < reclaim->options.deletes_max; i++)
        store_op_deinit(&reclaim->deletes[i].op);
    live_set_deinit(&reclaim->live);
    store_op_deinit(&reclaim->control);
    chain_reader_deinit(&reclaim->chain);
    free(reclaim);
}

struct store_op *reclaim_op(struct reclaim *reclaim, uint32_t slot)
{
    if (slot == RECLAIM_SLOT_CHAIN)
        return &reclaim->chain.op;
    if (slot == RECLAIM_SLOT_CONTROL)
        return &reclaim->control;
    assert(slot - RECLAIM_SLOT_DELETES < reclaim->options.deletes_max);
    return &reclaim->deletes[slot - RECLAIM_SLOT_DELETES].op;
}

/* ---- the end of a round ---- */

static void end_if_idle(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    if (reclaim->phase != RECLAIM_ENDING || reclaim->lead != RECLAIM_SLOT_FREE ||
        reclaim->deletes_busy > 0)
        return;
    reclaim->phase = RECLAIM_IDLE;
    reclaim->report.foreign += reclaim->scan.foreign;
    reclaim->report.retried += reclaim->chain.retry.total;
    reclaim->chain.retry.total = 0;
    reclaim_effect(effects, RECLAIM_ROUND_ENDED, 0, 0);
}

void reclaim_finish(struct reclaim *reclaim, enum reclaim_end end, const char *error,
                    struct reclaim_effects *effects)
{
    assert(reclaim->phase != RECLAIM_IDLE);
    reclaim->phase = RECLAIM_ENDING;
    reclaim->report.end = end;
    if (error != NULL)
        snprintf(reclaim->error, sizeof(reclaim->error), "%s", error);
    if (end != RECLAIM_DONE)
        reclaim_sweep_drop(reclaim);
    end_if_idle(reclaim, effects);
}

/* ---- the steps of a round ---- */

static void read_chain(struct reclaim *reclaim, enum reclaim_phase phase,
                       struct reclaim_effects *effects);

static void list_watermarks(struct reclaim *reclaim, enum reclaim_phase phase,
                            struct reclaim_effects *effects)
{
    reclaim->phase = phase;
    watermark_scan_init(&reclaim->scan, reclaim->floor.step);
    watermark_tally_init(&reclaim->tally, reclaim->options.ranks);
    reclaim_list(reclaim, NAME_WATERMARK_PREFIX, effects);
}

/* The floor as found, and what a version was trimmed by: both were given up before. False: it gives
 * up steps that the version read does not have. Another reclaimer may have read a newer one; if the
 * next round still finds it so, nobody wrote it who had read the chain. */
static bool take_floor(struct reclaim *reclaim)
{
    const struct chain_reader *chain = &reclaim->chain;
    if (chain->seen.floor.step > chain->known->next_step)
        return false;
    reclaim->floor = chain->seen.floor;
    if (chain->known->first_step > reclaim->floor.step)
        reclaim->floor.step = chain->known->first_step;
    return true;
}

static void give_up_floor(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    char text[STORE_ERROR_MAX];
    snprintf(text, sizeof(text),
             "a floor gives up the steps below %" PRIu64 ", and the chain ends before step %" PRIu64
             ": if this stays so, delete that floor below " NAME_FLOOR_PREFIX,
             reclaim->chain.seen.floor.step, reclaim->chain.known->next_step);
    reclaim_finish(reclaim, RECLAIM_GIVEN_UP, text, effects);
}

static void report_chain(struct reclaim *reclaim)
{
    struct reclaim_report *report = &reclaim->report;
    report->next_step = reclaim->chain.known->next_step;
    report->newest = reclaim->chain.known->version;
    report->floor = reclaim->floor;
}

static void sweep(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    report_chain(reclaim);
    reclaim_sweep_begin(reclaim, effects);
}

/* The lowest version that stays. It lives: the newest was built on it, version by version. */
static uint64_t kept_version(const struct reclaim *reclaim)
{
    uint64_t newest = reclaim->chain.known->version;
    uint64_t behind = reclaim->options.behind;
    uint64_t version = newest > behind ? newest - behind : 1;
    return version > reclaim->floor.version ? version : reclaim->floor.version;
}

/* N is validated after everything else that the floor says. */
static void raise_floor(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    struct floor top = reclaim->chain.seen.top;
    struct floor floor = {.version = kept_version(reclaim), .step = reclaim->floor.step};
    if (reclaim->needed > floor.step)
        floor.step = reclaim->needed;
    reclaim->needed = floor.step;
    assert(floor.version <= reclaim->chain.known->version);
    if (reclaim->options.mode == RECLAIM_DRY_RUN ||
        (floor.version == top.version && floor.step == top.step)) {
        reclaim->floor = floor;
        sweep(reclaim, effects);
        return;
    }
    reclaim->phase = RECLAIM_RAISING;
    name_floor(reclaim->control.key, floor);
    reclaim_put(reclaim, effects);
}

static void on_raised(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    bool parsed = name_parse_floor(reclaim->control.key, &reclaim->floor);
    assert(parsed);
    sweep(reclaim, effects);
}

static void report_watermarks(struct reclaim *reclaim, int64_t now_ns)
{
    const struct watermark_tally *tally = &reclaim->tally;
    struct reclaim_report *report = &reclaim->report;
    report->consumers = tally->consumers;
    report->retired = tally->retired;
    report->missing = tally->missing;
    report->first_missing = tally->first_missing;
    if (tally->consumers == 0)
        return;
    report->watermark = tally->step;
    report->holder = tally->holder;
    if (tally->step != reclaim->held) {
        reclaim->held = tally->step;
        reclaim->held_since_ns = now_ns;
    }
    report->held_ns = now_ns - reclaim->held_since_ns;
}

static void on_listed(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    const struct watermark_tally *tally = &reclaim->tally;
    report_watermarks(reclaim, now_ns);
    reclaim->needed = reclaim->floor.step;
    if (!watermark_tally_complete(tally)) {
        sweep(reclaim, effects); /* what was given up before */
        return;
    }
    uint64_t step = tally->step; /* what nobody has is not given up */
    if (step > reclaim->chain.known->next_step)
        step = reclaim->chain.known->next_step;
    if (step > reclaim->needed)
        reclaim->needed = step;
    if (step <= reclaim->floor.step || reclaim->options.mode == RECLAIM_DRY_RUN) {
        raise_floor(reclaim, effects);
        return;
    }
    reclaim->phase = RECLAIM_INTENDING;
    name_intent(reclaim->control.key, step);
    reclaim_put(reclaim, effects);
}

/* A consumer that came before the intent is on this listing; one that comes later sees the intent.
 */
static void on_listed_again(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    const struct watermark_tally *tally = &reclaim->tally;
    if (!watermark_tally_complete(tally))
        reclaim->needed = reclaim->floor.step;
    else if (tally->step < reclaim->needed)
        reclaim->needed = tally->step;
    read_chain(reclaim, RECLAIM_READING_AGAIN, effects);
}

static enum reclaim_end end_of(enum chain_failure failure)
{
    switch (failure) {
    case CHAIN_SILENT:
    case CHAIN_UNFINDABLE: /* others may have been faster, again and again */
        return RECLAIM_GIVEN_UP;
    case CHAIN_REFUSED:
    case CHAIN_DAMAGED:
        break;
    }
    return RECLAIM_REFUSED;
}

static void on_chain(struct reclaim *reclaim, struct chain_effect effect,
                     struct reclaim_effects *effects)
{
    bool first = reclaim->phase == RECLAIM_READING;
    switch (effect.kind) {
    case CHAIN_SUBMIT:
        reclaim->lead = RECLAIM_SLOT_SENT;
        reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_CHAIN, 0);
        break;
    case CHAIN_SLEEP:
        reclaim->lead = RECLAIM_SLOT_WAITING;
        reclaim_effect(effects, RECLAIM_SLEEP, RECLAIM_SLOT_CHAIN, effect.until_ns);
        break;
    case CHAIN_CHANGED:
    case CHAIN_UNCHANGED:
        if (!take_floor(reclaim))
            give_up_floor(reclaim, effects);
        else if (first)
            list_watermarks(reclaim, RECLAIM_LISTING, effects);
        else
            raise_floor(reclaim, effects);
        break;
    case CHAIN_EMPTY:
        reclaim_finish(reclaim, RECLAIM_EMPTY, NULL, effects);
        break;
    case CHAIN_FAILED:
        reclaim_finish(reclaim, end_of(reclaim->chain.failure), reclaim->chain.error, effects);
        break;
    }
}

static void read_chain(struct reclaim *reclaim, enum reclaim_phase phase,
                       struct reclaim_effects *effects)
{
    reclaim->phase = phase;
    on_chain(reclaim, chain_reader_begin(&reclaim->chain), effects);
}

/* ---- answers ---- */

static void on_watermark_page(struct reclaim *reclaim, int64_t now_ns,
                              struct reclaim_effects *effects)
{
    const struct list_page *page = &reclaim->control.page;
    struct watermark finished;
    for (size_t i = 0; i < page->count; i++)
        if (watermark_scan_add(&reclaim->scan, list_page_key(page, i), &finished))
            watermark_tally_add(&reclaim->tally, &finished);
    if (reclaim_list_on(reclaim, effects))
        return;
    if (watermark_scan_end(&reclaim->scan, &finished))
        watermark_tally_add(&reclaim->tally, &finished);
    watermark_tally_end(&reclaim->tally);
    if (reclaim->phase == RECLAIM_LISTING)
        on_listed(reclaim, now_ns, effects);
    else
        on_listed_again(reclaim, effects);
}

static void on_control(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    switch (reclaim->phase) {
    case RECLAIM_LISTING:
    case RECLAIM_LISTING_AGAIN:
        on_watermark_page(reclaim, now_ns, effects);
        break;
    case RECLAIM_INTENDING:
        list_watermarks(reclaim, RECLAIM_LISTING_AGAIN, effects);
        break;
    case RECLAIM_RAISING:
        on_raised(reclaim, effects);
        break;
    case RECLAIM_SWEEPING_CHAIN:
    case RECLAIM_SWEEPING_TGBS:
    case RECLAIM_SWEEPING_FLOORS:
    case RECLAIM_SWEEPING_INTENTS:
        reclaim_sweep_page(reclaim, now_ns, effects);
        break;
    case RECLAIM_IDLE:
    case RECLAIM_READING:
    case RECLAIM_READING_AGAIN:
    case RECLAIM_ENDING:
        break;
    }
}

static void on_answer(struct reclaim *reclaim, int64_t now_ns, uint32_t slot,
                      struct reclaim_effects *effects)
{
    if (slot >= RECLAIM_SLOT_DELETES) {
        reclaim_sweep_answer(reclaim, now_ns, slot - RECLAIM_SLOT_DELETES, effects);
        end_if_idle(reclaim, effects);
        return;
    }
    assert(reclaim->lead == RECLAIM_SLOT_SENT);
    reclaim->lead = RECLAIM_SLOT_FREE;
    if (reclaim->phase == RECLAIM_ENDING) {
        store_op_release(reclaim_op(reclaim, slot));
        end_if_idle(reclaim, effects);
    } else if (slot == RECLAIM_SLOT_CHAIN) {
        on_chain(reclaim, chain_reader_answer(&reclaim->chain, now_ns), effects);
    } else if (!reclaim_unanswered(reclaim, now_ns, effects)) {
        on_control(reclaim, now_ns, effects);
    }
}

/* A timer of a slot that waits no more is passed over. */
static void on_timer(struct reclaim *reclaim, uint32_t slot, struct reclaim_effects *effects)
{
    if (slot >= RECLAIM_SLOT_DELETES) {
        reclaim_sweep_wake(reclaim, slot - RECLAIM_SLOT_DELETES, effects);
        return;
    }
    if (reclaim->lead != RECLAIM_SLOT_WAITING)
        return;
    if (reclaim->phase == RECLAIM_ENDING) {
        reclaim->lead = RECLAIM_SLOT_FREE; /* a deletion was refused: no more is asked for */
        end_if_idle(reclaim, effects);
        return;
    }
    if (slot == RECLAIM_SLOT_CHAIN) {
        on_chain(reclaim, chain_reader_wake(&reclaim->chain), effects);
        return;
    }
    reclaim->lead = RECLAIM_SLOT_SENT;
    reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_CONTROL, 0);
}

static void on_stop(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    reclaim->stopped = true;
    if (reclaim->phase == RECLAIM_IDLE)
        return;
    if (reclaim->lead == RECLAIM_SLOT_WAITING)
        reclaim->lead = RECLAIM_SLOT_FREE;
    if (reclaim->phase != RECLAIM_ENDING) {
        reclaim_finish(reclaim, RECLAIM_STOPPED, NULL, effects);
        return;
    }
    reclaim_sweep_drop(reclaim);
    end_if_idle(reclaim, effects);
}

void reclaim_step(struct reclaim *reclaim, int64_t now_ns, struct reclaim_event event,
                  struct reclaim_effects *effects)
{
    effects->count = 0;
    switch (event.kind) {
    case RECLAIM_ROUND:
        assert(reclaim->phase == RECLAIM_IDLE && !reclaim->stopped);
        reclaim->report = (struct reclaim_report){0};
        reclaim->error[0] = '\0';
        watermark_scan_init(&reclaim->scan, 0);
        reclaim->report.full = reclaim->rounds % reclaim->options.full_every == 0;
        reclaim->rounds++;
        read_chain(reclaim, RECLAIM_READING, effects);
        break;
    case RECLAIM_STOP:
        on_stop(reclaim, effects);
        break;
    case RECLAIM_ANSWER:
        on_answer(reclaim, now_ns, event.slot, effects);
        break;
    case RECLAIM_TIMER:
        on_timer(reclaim, event.slot, effects);
        break;
    }
}
