/* reclaimer.c - list, read, validate, write the floor, list, delete. Ours. */
#include "sim/reclaimer.h"

#include <stdio.h>

#include "core/manifest.h"
#include "sim/memory.h"

enum reclaimer_phase {
    RECLAIMER_WAITING,
    RECLAIMER_LISTING,
    RECLAIMER_READING,
    RECLAIMER_VALIDATING,
    RECLAIMER_WRITING,
    RECLAIMER_LISTING_AGAIN,
    RECLAIMER_DELETING,
};

struct reclaimer {
    struct reclaimer_options options;
    struct reclaimer_counters counters;
    struct timer timer;
    struct store_op op;
    enum reclaimer_phase phase;
    bool stopped;
    uint64_t newest;
    struct floor floor; /* highest listed in this round */
    struct floor next;  /* to be written */
    uint64_t *doomed;   /* versions to delete */
    size_t doomed_count;
    size_t doomed_capacity;
};

static void submit(struct reclaimer *reclaimer, enum reclaimer_phase phase, enum store_verb verb)
{
    struct store_op *op = &reclaimer->op;
    reclaimer->phase = phase;
    op->verb = verb;
    op->range_offset = 0;
    op->range_bytes = 0;
    store_submit(reclaimer->options.store, op);
}

static void list_all(struct reclaimer *reclaimer, enum reclaimer_phase phase, const char *after)
{
    struct store_op *op = &reclaimer->op;
    snprintf(op->key, sizeof(op->key), "%s", NAME_MANIFEST_PREFIX);
    if (after != op->after)
        snprintf(op->after, sizeof(op->after), "%s", after);
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    submit(reclaimer, phase, STORE_LIST);
}

static void wait_for_round(struct reclaimer *reclaimer)
{
    struct loop *loop = reclaimer->options.loop;
    reclaimer->phase = RECLAIMER_WAITING;
    if (reclaimer->stopped)
        return;
    double part = random_unit(&reclaimer->options.random);
    int64_t gap_ns = 1 + (int64_t)((double)reclaimer->options.gap_ns * part);
    loop_timer_set(loop, &reclaimer->timer, loop_now(loop) + gap_ns);
}

static void begin_listing(struct reclaimer *reclaimer, enum reclaimer_phase phase)
{
    reclaimer->newest = 0;
    reclaimer->floor = (struct floor){0};
    reclaimer->doomed_count = 0;
    list_all(reclaimer, phase, "");
}

static void round_due(struct timer *timer, void *context)
{
    (void)timer;
    struct reclaimer *reclaimer = context;
    if (reclaimer->stopped)
        return;
    reclaimer->counters.rounds++;
    begin_listing(reclaimer, RECLAIMER_LISTING);
}

static void note_version(struct reclaimer *reclaimer, uint64_t version)
{
    if (version > reclaimer->newest)
        reclaimer->newest = version;
    if (reclaimer->doomed_count == reclaimer->doomed_capacity) {
        reclaimer->doomed_capacity = reclaimer->doomed_capacity * 2 + 64;
        reclaimer->doomed = memory_resize(reclaimer->doomed, reclaimer->doomed_capacity,
                                          sizeof(*reclaimer->doomed));
    }
    reclaimer->doomed[reclaimer->doomed_count++] = version;
}

/* True if the listing goes on with another page. */
static bool read_page(struct reclaimer *reclaimer, enum reclaimer_phase phase)
{
    const struct list_page *page = &reclaimer->op.page;
    for (size_t i = 0; i < page->count; i++) {
        const char *key = list_page_key(page, i);
        struct floor floor;
        uint64_t version;
        if (name_parse_version(key, &version))
            note_version(reclaimer, version);
        else if (name_parse_floor(key, &floor) && reclaimer->floor.version == 0)
            reclaimer->floor = floor; /* the highest comes first */
    }
    if (!page->truncated || page->count == 0)
        return false;
    char after[STORE_KEY_MAX];
    snprintf(after, sizeof(after), "%s", list_page_key(page, page->count - 1));
    store_op_release(&reclaimer->op);
    list_all(reclaimer, phase, after);
    return true;
}

static void on_listed(struct reclaimer *reclaimer)
{
    uint64_t behind = reclaimer->options.behind;
    uint64_t version = reclaimer->newest > behind ? reclaimer->newest - behind : 0;
    if (version == 0 || version < reclaimer->floor.version) {
        wait_for_round(reclaimer);
        return;
    }
    name_version(reclaimer->op.key, version);
    reclaimer->next = (struct floor){.version = version};
    submit(reclaimer, RECLAIMER_READING, STORE_GET);
}

/* NULL if the answer holds none. The caller's own. */
static struct manifest *read_manifest(const struct store_op *op)
{
    struct manifest *manifest = NULL;
    if (op->result.kind == BODY_MANIFEST)
        return manifest_retain(op->result.manifest);
    if (op->result.kind != BODY_BYTES ||
        manifest_decode(op->result.data, op->result.bytes, &manifest) != MANIFEST_OK)
        return NULL;
    return manifest;
}

static void on_read(struct reclaimer *reclaimer)
{
    struct manifest *manifest = read_manifest(&reclaimer->op);
    store_op_release(&reclaimer->op);
    if (manifest == NULL) {
        reclaimer->counters.given_up++;
        wait_for_round(reclaimer);
        return;
    }
    uint64_t step = manifest->first_step;
    uint64_t live = manifest_live_entries(manifest);
    if (live > reclaimer->options.keep_steps)
        step +=
            random_next(&reclaimer->options.random) % (live - reclaimer->options.keep_steps + 1);
    manifest_release(manifest);
    reclaimer->next.step = step > reclaimer->floor.step ? step : reclaimer->floor.step;
    snprintf(reclaimer->op.key, sizeof(reclaimer->op.key), "%s", NAME_FLOOR_PREFIX);
    reclaimer->op.after[0] = '\0';
    reclaimer->op.list_keys_max = 1;
    submit(reclaimer, RECLAIMER_VALIDATING, STORE_LIST);
}

static void on_validated(struct reclaimer *reclaimer)
{
    struct floor floor = {0};
    const struct list_page *page = &reclaimer->op.page;
    if (page->count > 0 && !name_parse_floor(list_page_key(page, 0), &floor))
        floor = (struct floor){0};
    store_op_release(&reclaimer->op);
    if (floor.version > reclaimer->next.version) {
        reclaimer->counters.invalid++;
        wait_for_round(reclaimer);
        return;
    }
    if (floor.step > reclaimer->next.step)
        reclaimer->next.step = floor.step;
    name_floor(reclaimer->op.key, reclaimer->next);
    submit(reclaimer, RECLAIMER_WRITING, STORE_PUT);
}

static void delete_next(struct reclaimer *reclaimer)
{
    while (reclaimer->doomed_count > 0) {
        uint64_t version = reclaimer->doomed[--reclaimer->doomed_count];
        if (version >= reclaimer->floor.version)
            continue;
        name_version(reclaimer->op.key, version);
        submit(reclaimer, RECLAIMER_DELETING, STORE_DELETE);
        return;
    }
    wait_for_round(reclaimer);
}

static void dispatch(struct reclaimer *reclaimer)
{
    enum reclaimer_phase phase = reclaimer->phase;
    switch (phase) {
    case RECLAIMER_LISTING:
    case RECLAIMER_LISTING_AGAIN:
        if (read_page(reclaimer, phase))
            return;
        store_op_release(&reclaimer->op);
        if (phase == RECLAIMER_LISTING)
            on_listed(reclaimer);
        else
            delete_next(reclaimer);
        return;
    case RECLAIMER_READING:
        on_read(reclaimer);
        return;
    case RECLAIMER_VALIDATING:
        on_validated(reclaimer);
        return;
    case RECLAIMER_WRITING:
        reclaimer->counters.floors++;
        begin_listing(reclaimer, RECLAIMER_LISTING_AGAIN);
        return;
    case RECLAIMER_DELETING:
        reclaimer->counters.deleted++;
        delete_next(reclaimer);
        return;
    case RECLAIMER_WAITING:
        break;
    }
    assert(phase != RECLAIMER_WAITING);
}

static void answered(struct store_op *op, void *context)
{
    struct reclaimer *reclaimer = context;
    if (op->outcome == STORE_OK) {
        dispatch(reclaimer);
        return;
    }
    store_op_release(op);
    reclaimer->counters.given_up++;
    wait_for_round(reclaimer);
}

struct reclaimer *reclaimer_open(const struct reclaimer_options *options)
{
    struct reclaimer *reclaimer = memory_make(1, sizeof(*reclaimer));
    reclaimer->options = *options;
    store_op_init(&reclaimer->op);
    reclaimer->op.done = answered;
    reclaimer->op.context = reclaimer;
    timer_init(&reclaimer->timer, round_due, reclaimer);
    return reclaimer;
}

void reclaimer_start(struct reclaimer *reclaimer)
{
    wait_for_round(reclaimer);
}

void reclaimer_stop(struct reclaimer *reclaimer)
{
    reclaimer->stopped = true;
    loop_timer_cancel(reclaimer->options.loop, &reclaimer->timer);
}

void reclaimer_close(struct reclaimer *reclaimer)
{
    loop_timer_cancel(reclaimer->options.loop, &reclaimer->timer);
    store_op_deinit(&reclaimer->op);
    free(reclaimer->doomed);
    free(reclaimer);
}

struct reclaimer_counters reclaimer_counters(const struct reclaimer *reclaimer)
{
    return reclaimer->counters;
}
