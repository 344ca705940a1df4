/* reclaim_sweep.c - listing, judging, deleting. The rule for TGBs is ours (docs/data_plane.md):
 * what a deleted version named is no reason, only what a validated one decides and does not need.
 */
#include "core/reclaim_sweep.h"

#include <stdio.h>
#include <string.h>

#include "core/reclaim_request.h"

enum verdict {
    VERDICT_KEEP,
    VERDICT_DELETE,
    VERDICT_STOP, /* nothing to delete from here on */
};

static void count_object(struct reclaim *reclaim, enum reclaim_object object, uint64_t bytes)
{
    struct reclaim_report *report = &reclaim->report;
    switch (object) {
    case RECLAIM_OBJECT_VERSION:
        report->versions++;
        report->version_bytes += bytes;
        break;
    case RECLAIM_OBJECT_ORPHAN:
        report->orphans++;
        report->orphan_bytes += bytes;
        report->tgbs++;
        report->tgb_bytes += bytes;
        break;
    case RECLAIM_OBJECT_TGB:
        report->tgbs++;
        report->tgb_bytes += bytes;
        break;
    case RECLAIM_OBJECT_MARKER:
        report->markers++;
        break;
    }
}

/* ---- verdicts ---- */

static enum verdict judge_chain(struct reclaim *reclaim, const char *key,
                                enum reclaim_object *object)
{
    uint64_t version;
    struct floor floor;
    *object = RECLAIM_OBJECT_VERSION;
    if (name_parse_version(key, &version))
        return version < reclaim->floor.version ? VERDICT_DELETE : VERDICT_STOP;
    if (name_parse_floor(key, &floor))
        return VERDICT_STOP;
    reclaim->report.foreign++;
    return VERDICT_KEEP;
}

static void note_undecided(struct reclaim_report *report, const struct tgb_name *name,
                           uint64_t bytes)
{
    uint32_t index = 0;
    report->undecided++;
    report->undecided_bytes += bytes;
    while (index < report->undecided_count &&
           report->undecided_of[index].producer != name->producer)
        index++;
    if (index == RECLAIM_UNDECIDED_MAX)
        return;
    struct reclaim_undecided *undecided = &report->undecided_of[index];
    if (index == report->undecided_count) {
        report->undecided_count++;
        *undecided =
            (struct reclaim_undecided){.producer = name->producer, .oldest_bucket = name->bucket};
    }
    undecided->tgbs++;
    undecided->bytes += bytes;
}

static bool is_young(const struct reclaim *reclaim, int64_t now_ns, const struct tgb_name *name)
{
    int64_t grace_ns = reclaim->options.grace_ns;
    if (grace_ns == 0)
        return false;
    return now_ns < grace_ns || name->bucket >= (uint64_t)((now_ns - grace_ns) / TGB_BUCKET_NS);
}

/* At or below its producer's state: it is in N's history, or will never be in any. */
static bool is_decided(const struct producer_state *state, const struct tgb_name *name)
{
    if (state == NULL || name->epoch > state->epoch)
        return false;
    if (name->epoch < state->epoch ||
        memcmp(&name->incarnation, &state->incarnation, INCARNATION_BYTES) != 0)
        return true;
    return name->sequence <= state->last_sequence;
}

/* Decided, and surely never committed: sequences go on over epochs. */
static bool is_orphan(const struct producer_state *state, const struct tgb_name *name)
{
    return name->sequence > state->last_sequence ||
           (name->epoch == state->epoch &&
            memcmp(&name->incarnation, &state->incarnation, INCARNATION_BYTES) != 0);
}

static enum verdict judge_tgb(struct reclaim *reclaim, int64_t now_ns, const char *key,
                              uint64_t bytes, enum reclaim_object *object)
{
    struct tgb_name name;
    struct reclaim_report *report = &reclaim->report;
    if (!name_parse_tgb(key, &name)) {
        report->foreign++;
        return VERDICT_KEEP;
    }
    if (name.bucket > reclaim->bucket_max)
        return VERDICT_STOP;
    const struct producer_state *state = manifest_state_find(reclaim->chain.known, name.producer);
    if (!is_decided(state, &name)) {
        note_undecided(report, &name, bytes);
        return VERDICT_KEEP;
    }
    if (live_set_has(&reclaim->live, &name)) {
        report->live++;
        return VERDICT_KEEP;
    }
    if (is_young(reclaim, now_ns, &name)) {
        report->young++;
        report->young_bucket =
            name.bucket > report->young_bucket ? name.bucket : report->young_bucket;
        return VERDICT_KEEP;
    }
    *object = is_orphan(state, &name) ? RECLAIM_OBJECT_ORPHAN : RECLAIM_OBJECT_TGB;
    return VERDICT_DELETE;
}

static bool floor_below(struct floor floor, struct floor limit)
{
    return floor.version < limit.version ||
           (floor.version == limit.version && floor.step < limit.step);
}

/* Processes that run one round each never see a marker grow old. A listing that misses so many in a
 * row would have to last for as many rounds. */
static bool is_one_too_many(struct reclaim *reclaim, uint64_t step)
{
    if (reclaim->marks >= RECLAIM_MARKERS_KEPT)
        return step <= reclaim->marks_step;
    reclaim->marks++;
    if (step > reclaim->marks_step)
        reclaim->marks_step = step;
    return false;
}

/* The first one listed is the highest. One that gave up more steps than that stays. */
static enum verdict judge_floor(struct reclaim *reclaim, int64_t now_ns, const char *key,
                                enum reclaim_object *object)
{
    struct floor floor;
    struct floor old = reclaim->old_floor;
    *object = RECLAIM_OBJECT_MARKER;
    if (!name_parse_floor(key, &floor)) {
        reclaim->report.foreign++;
        return VERDICT_KEEP;
    }
    if (reclaim->seen_floor.version == 0) {
        reclaim->seen_floor = floor;
        reclaim->seen_floor_ns = now_ns;
    }
    if (floor_below(floor, old) && floor.step <= old.step)
        return VERDICT_DELETE;
    return is_one_too_many(reclaim, floor.step) ? VERDICT_DELETE : VERDICT_KEEP;
}

static enum verdict judge_intent(struct reclaim *reclaim, int64_t now_ns, const char *key,
                                 enum reclaim_object *object)
{
    uint64_t step;
    *object = RECLAIM_OBJECT_MARKER;
    if (!name_parse_intent(key, &step)) {
        reclaim->report.foreign++;
        return VERDICT_KEEP;
    }
    if (reclaim->seen_intent == 0) {
        reclaim->seen_intent = step;
        reclaim->seen_intent_ns = now_ns;
    }
    if (step < reclaim->old_intent || is_one_too_many(reclaim, step))
        return VERDICT_DELETE;
    return VERDICT_KEEP;
}

static enum verdict judge(struct reclaim *reclaim, int64_t now_ns, size_t index,
                          enum reclaim_object *object)
{
    const struct list_page *page = &reclaim->control.page;
    const char *key = list_page_key(page, index);
    switch (reclaim->phase) {
    case RECLAIM_SWEEPING_CHAIN:
        return judge_chain(reclaim, key, object);
    case RECLAIM_SWEEPING_TGBS:
        return judge_tgb(reclaim, now_ns, key, page->object_bytes[index], object);
    case RECLAIM_SWEEPING_FLOORS:
        return judge_floor(reclaim, now_ns, key, object);
    case RECLAIM_SWEEPING_INTENTS:
        return judge_intent(reclaim, now_ns, key, object);
    case RECLAIM_IDLE:
    case RECLAIM_READING:
    case RECLAIM_LISTING:
    case RECLAIM_INTENDING:
    case RECLAIM_LISTING_AGAIN:
    case RECLAIM_READING_AGAIN:
    case RECLAIM_RAISING:
    case RECLAIM_ENDING:
        break;
    }
    return VERDICT_STOP;
}

/* ---- sweeps ---- */

static void sweep_tgbs(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    const struct manifest *version = reclaim->chain.known;
    const struct manifest_entry *first = manifest_entry_find(version, reclaim->needed);
    reclaim->phase = RECLAIM_SWEEPING_TGBS;
    reclaim->bucket_max = reclaim->report.full || first == NULL ? UINT64_MAX : first->tgb.bucket;
    reclaim->report.oldest_bucket = first != NULL ? first->tgb.bucket : 0;
    live_set_follow(&reclaim->live, version, reclaim->needed);
    reclaim_list(reclaim, NAME_TGB_PREFIX, effects);
}

/* What was highest so long ago that no listing under way can miss it: lower ones may go. Then the
 * highest is noted anew. */
static void sweep_floors(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    reclaim->phase = RECLAIM_SWEEPING_FLOORS;
    reclaim->marks = 0;
    reclaim->marks_step = 0;
    reclaim->old_floor = (struct floor){0};
    if (now_ns - reclaim->seen_floor_ns >= reclaim->options.marker_grace_ns) {
        reclaim->old_floor = reclaim->seen_floor;
        reclaim->seen_floor = (struct floor){0};
    }
    reclaim_list(reclaim, NAME_FLOOR_PREFIX, effects);
}

static void sweep_intents(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    reclaim->phase = RECLAIM_SWEEPING_INTENTS;
    reclaim->marks = 0;
    reclaim->marks_step = 0;
    reclaim->old_intent = 0;
    if (now_ns - reclaim->seen_intent_ns >= reclaim->options.marker_grace_ns) {
        reclaim->old_intent = reclaim->seen_intent;
        reclaim->seen_intent = 0;
    }
    reclaim_list(reclaim, NAME_INTENT_PREFIX, effects);
}

/* The sweep in progress is over; deletions go on meanwhile. */
static void sweep_next(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    bool markers = reclaim->report.full && reclaim->options.marker_grace_ns != TIME_NEVER;
    if (reclaim->phase == RECLAIM_SWEEPING_CHAIN)
        sweep_tgbs(reclaim, effects);
    else if (reclaim->phase == RECLAIM_SWEEPING_TGBS && markers)
        sweep_floors(reclaim, now_ns, effects);
    else if (reclaim->phase == RECLAIM_SWEEPING_FLOORS)
        sweep_intents(reclaim, now_ns, effects);
    else
        reclaim_finish(reclaim, RECLAIM_DONE, NULL, effects);
}

void reclaim_sweep_begin(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    assert(reclaim->deletes_busy == 0 && !reclaim->page_held);
    reclaim->phase = RECLAIM_SWEEPING_CHAIN;
    reclaim_list(reclaim, NAME_MANIFEST_PREFIX, effects);
}

/* ---- deletions ---- */

static void delete_key(struct reclaim *reclaim, size_t index, enum reclaim_object object,
                       struct reclaim_effects *effects)
{
    const struct list_page *page = &reclaim->control.page;
    uint32_t free_slot = 0;
    while (reclaim->deletes[free_slot].state != RECLAIM_SLOT_FREE)
        free_slot++;
    assert(free_slot < reclaim->options.deletes_max);
    struct reclaim_delete *slot = &reclaim->deletes[free_slot];
    slot->op.verb = STORE_DELETE;
    snprintf(slot->op.key, STORE_KEY_MAX, "%s", list_page_key(page, index));
    slot->bytes = page->object_bytes[index];
    slot->object = object;
    slot->retry.row = 0;
    slot->state = RECLAIM_SLOT_SENT;
    reclaim->deletes_busy++;
    reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_DELETES + free_slot, 0);
}

/* Judges the page's keys while there is room for deletions; then the next page, or sweep. */
static void pump(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    while (reclaim->page_held && reclaim->page_next < reclaim->control.page.count) {
        enum reclaim_object object;
        if (reclaim->deletes_busy == reclaim->options.deletes_max)
            return;
        size_t index = reclaim->page_next++;
        switch (judge(reclaim, now_ns, index, &object)) {
        case VERDICT_KEEP:
            break;
        case VERDICT_STOP:
            reclaim->page_held = false;
            store_op_release(&reclaim->control);
            sweep_next(reclaim, now_ns, effects);
            return;
        case VERDICT_DELETE:
            if (reclaim->options.mode == RECLAIM_DRY_RUN)
                count_object(reclaim, object, reclaim->control.page.object_bytes[index]);
            else
                delete_key(reclaim, index, object, effects);
            break;
        }
    }
    if (!reclaim->page_held)
        return;
    reclaim->page_held = false;
    if (!reclaim_list_on(reclaim, effects))
        sweep_next(reclaim, now_ns, effects);
}

void reclaim_sweep_page(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    assert(!reclaim->page_held);
    reclaim->page_held = true;
    reclaim->page_next = 0;
    pump(reclaim, now_ns, effects);
}

static void free_slot(struct reclaim *reclaim, struct reclaim_delete *slot)
{
    slot->state = RECLAIM_SLOT_FREE;
    reclaim->deletes_busy--;
}

void reclaim_sweep_answer(struct reclaim *reclaim, int64_t now_ns, uint32_t index,
                          struct reclaim_effects *effects)
{
    struct reclaim_delete *slot = &reclaim->deletes[index];
    char error[STORE_ERROR_MAX];
    assert(index < reclaim->options.deletes_max && slot->state == RECLAIM_SLOT_SENT);
    bool failed = reclaim->phase == RECLAIM_ENDING && reclaim->report.end != RECLAIM_DONE;
    enum retry_verdict verdict = retry_judge(&slot->retry, &slot->op, error);
    store_op_release(&slot->op);
    if (verdict == RETRY_LATER && !failed) {
        slot->state = RECLAIM_SLOT_WAITING;
        reclaim_sleep(reclaim, now_ns, RECLAIM_SLOT_DELETES + index, &slot->retry, effects);
        return;
    }
    if (verdict == RETRY_ANSWERED)
        count_object(reclaim, slot->object, slot->bytes);
    else
        reclaim->report.abandoned++; /* left to a later round */
    free_slot(reclaim, slot);
    if (verdict == RETRY_REFUSED && !failed)
        reclaim_finish(reclaim, RECLAIM_REFUSED, error, effects);
    else
        pump(reclaim, now_ns, effects);
}

void reclaim_sweep_wake(struct reclaim *reclaim, uint32_t index, struct reclaim_effects *effects)
{
    struct reclaim_delete *slot = &reclaim->deletes[index];
    assert(index < reclaim->options.deletes_max);
    if (slot->state != RECLAIM_SLOT_WAITING)
        return;
    slot->state = RECLAIM_SLOT_SENT;
    reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_DELETES + index, 0);
}

void reclaim_sweep_drop(struct reclaim *reclaim)
{
    for (uint32_t i = 0; i < reclaim->options.deletes_max; i++) {
        struct reclaim_delete *slot = &reclaim->deletes[i];
        if (slot->state != RECLAIM_SLOT_WAITING)
            continue;
        reclaim->report.abandoned++;
        free_slot(reclaim, slot);
    }
    if (!reclaim->page_held)
        return;
    reclaim->page_held = false;
    store_op_release(&reclaim->control);
}
