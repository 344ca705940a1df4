/* removal.c - see removal.h. */
#include "experiments/live/removal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"
#include "core/chain_view.h"
#include "core/manifest.h"
#include "core/name.h"
#include "core/xxh3.h"
#include "experiments/live/live_group.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"

#define PASSES_MAX 3 /* over what came while the others ran */
#define TRIES_MAX 10 /* of one DELETE that is not answered */
#define BACKOFF_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)
#define NEWEST_BYTES_MAX (UINT64_C(64) << 20) /* more is not read just to know its time */

/* ---- listing ---- */

/* The next page behind op->after, which goes on behind it. False: `error` says why. */
static bool list_page(struct live_session *session, struct store_op *op,
                      char error[STORE_ERROR_MAX])
{
    store_op_release(op);
    op->verb = STORE_LIST;
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    live_request(session, op);
    if (op->outcome != STORE_OK) {
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(op));
        return false;
    }
    if (store_op_next_page(op) == PAGE_REPEATS) {
        snprintf(error, STORE_ERROR_MAX, "%s", op->error);
        return false;
    }
    return true;
}

static bool more_pages(const struct store_op *op)
{
    return op->page.truncated && op->page.count > 0;
}

/* ---- the survey ---- */

/* What the ranks of a run tell each other (live_group.h). */
static bool is_of_group(const char *key)
{
    static const char folder[] = "run/group-";
    if (strncmp(key, folder, strlen(folder)) != 0)
        return false;
    const char *id = key + strlen(folder);
    return strspn(id, "0123456789abcdef") == LIVE_GROUP_ID_MAX - 1 &&
           id[LIVE_GROUP_ID_MAX - 1] == '/';
}

/* What the ranks of a job agreed on (live_marker.h). */
static bool is_of_consumers(const char *key)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (strncmp(key, LIVE_CONSUME_PREFIX, strlen(LIVE_CONSUME_PREFIX)) != 0)
        return false;
    const char *token = key + strlen(LIVE_CONSUME_PREFIX);
    return token[0] != '\0' && token[strspn(token, plain)] == '\0';
}

/* Versions and TGBs aside. */
static bool is_ours(const char *key)
{
    struct floor floor;
    struct watermark_name watermark;
    uint64_t intent;
    return strcmp(key, LIVE_MARKER_KEY) == 0 || strcmp(key, LIVE_REMOVING_KEY) == 0 ||
           is_of_group(key) || is_of_consumers(key) || name_parse_floor(key, &floor) ||
           name_parse_intent(key, &intent) || name_parse_watermark(key, &watermark);
}

static void note_unknown(struct removal *removal, const char *key)
{
    if (removal->unknown++ > 0)
        return;
    live_marker_copy_harmless(removal->unknown_key, sizeof(removal->unknown_key), key);
}

static void note_kind(struct removal *removal, const char *key, uint64_t bytes)
{
    uint64_t version;
    struct tgb_name tgb;
    if (name_parse_version(key, &version)) {
        removal->versions++;
        removal->newest = version;
        removal->newest_bytes = bytes;
    } else if (name_parse_tgb(key, &tgb)) {
        removal->tgbs++;
    } else if (strcmp(key, LIVE_REMOVING_KEY) == 0) {
        removal->kind = REMOVAL_BEGUN;
    } else if (strcmp(key, LIVE_MARKER_KEY) == 0 && removal->kind == REMOVAL_NO_RUN) {
        removal->kind = REMOVAL_RUN;
    } else if (!is_ours(key)) {
        note_unknown(removal, key);
    }
}

/* One pass over all keys. In their order the versions come first, then the floors, and the
 * watermarks behind the floor that they are judged by. */
struct survey {
    struct removal *removal;
    struct watermark_scan scan;
    uint64_t floor_step; /* of floors that the chain reaches */
    bool scanning;
};

static void note_consumer(struct survey *survey, const char *key)
{
    struct watermark finished;
    if (!survey->scanning)
        watermark_scan_init(&survey->scan, survey->floor_step);
    survey->scanning = true;
    if (watermark_scan_add(&survey->scan, key, &finished))
        watermark_tally_add(&survey->removal->consumers, &finished);
}

static void note_key(struct survey *survey, const char *key, uint64_t bytes)
{
    struct removal *removal = survey->removal;
    struct floor floor;
    bool watermark = strncmp(key, NAME_WATERMARK_PREFIX, strlen(NAME_WATERMARK_PREFIX)) == 0;
    uint64_t *digest = watermark ? &removal->watermark_digest : &removal->digest;
    *digest = XXH3_64bits_withSeed(key, strlen(key), *digest);
    *digest = XXH3_64bits_withSeed(&bytes, sizeof(bytes), *digest);
    removal->objects++;
    removal->bytes += bytes;
    note_kind(removal, key, bytes);
    if (watermark)
        note_consumer(survey, key);
    else if (name_parse_floor(key, &floor) && floor.version <= removal->newest &&
             floor.step > survey->floor_step)
        survey->floor_step = floor.step;
}

static void end_survey(struct survey *survey)
{
    struct watermark finished;
    if (survey->scanning && watermark_scan_end(&survey->scan, &finished))
        watermark_tally_add(&survey->removal->consumers, &finished);
    watermark_tally_end(&survey->removal->consumers);
}

static bool count_all(struct live_session *session, FILE *stream, struct removal *removal,
                      char error[STORE_ERROR_MAX])
{
    struct progress progress = progress_make(stream, "listing");
    struct survey survey = {.removal = removal};
    struct store_op op;
    bool listed;
    *removal = (struct removal){.kind = REMOVAL_NO_RUN};
    watermark_tally_init(&removal->consumers, 0);
    progress.unit = "objects";
    store_op_init(&op);
    do {
        listed = list_page(session, &op, error);
        for (size_t i = 0; listed && i < op.page.count; i++)
            note_key(&survey, list_page_key(&op.page, i), op.page.object_bytes[i]);
        struct progress_state state = {
            .done = removal->objects, .total = removal->objects, .eta_s = -1};
        if (progress.terminal) /* elsewhere a line without a total says little */
            progress_show(&progress, &state);
    } while (listed && more_pages(&op));
    end_survey(&survey);
    store_op_deinit(&op);
    progress_clear(&progress);
    removal->looked_ns = loop_now(live_session_loop(session));
    return listed;
}

/* When the newest version was committed, by its author's clock. */
static void read_newest(struct live_session *session, struct removal *removal)
{
    struct store_op op;
    store_op_init(&op);
    chain_view_ask_version(&op, removal->newest);
    live_session_do(session, session->store, &op);
    if (op.outcome == STORE_OK && op.result.kind == BODY_MANIFEST) {
        const struct manifest *manifest = op.result.manifest;
        const struct producer_state *state =
            manifest_state_find(manifest, manifest->author.producer);
        removal->committed_ns = state != NULL ? state->last_commit_ns : 0;
    }
    store_op_deinit(&op);
}

bool removal_survey(struct live_session *session, FILE *stream, struct removal *removal,
                    char error[STORE_ERROR_MAX])
{
    char damage[STORE_ERROR_MAX];
    bool listed = count_all(session, stream, removal, error);
    if (!listed || removal->kind == REMOVAL_NO_RUN)
        return listed;
    const char *key = removal->kind == REMOVAL_RUN ? LIVE_MARKER_KEY : LIVE_REMOVING_KEY;
    if (live_marker_read_key(session, key, &removal->marker, damage) == LIVE_MARKER_FOUND)
        live_marker_identify(removal->marker, &removal->run);
    if (removal->newest > 0 && removal->newest_bytes <= NEWEST_BYTES_MAX)
        read_newest(session, removal);
    return true;
}

void removal_deinit(struct removal *removal)
{
    json_decref(removal->marker);
    *removal = (struct removal){0};
}

bool removal_look(struct live_session *session, const struct removal *removal, FILE *stream,
                  struct removal *now, char error[STORE_ERROR_MAX])
{
    live_loop_hold(session->loop);
    loop_run(live_session_loop(session), removal->looked_ns + REMOVAL_LOOK_NS);
    live_loop_unhold(session->loop);
    return count_all(session, stream, now, error);
}

enum removal_change removal_changed(const struct removal *before, const struct removal *after)
{
    if (after->digest != before->digest)
        return REMOVAL_WRITTEN;
    return after->watermark_digest != before->watermark_digest ? REMOVAL_READ : REMOVAL_AT_REST;
}

/* ---- deleting ---- */

struct remover;

struct slot {
    struct store_op op;
    struct timer timer;
    struct remover *remover;
    uint32_t failures; /* in a row */
};

struct remover {
    struct live_session *session;
    struct progress progress;
    int64_t started_ns;
    uint64_t total;
    uint64_t deleted;
    bool failed;
    char *error;          /* STORE_ERROR_MAX bytes, borrowed */
    struct store_op list; /* the page in hand */
    size_t next;          /* of its keys */
    const char *spared;   /* a key that is left alone */
    struct slot slots[REMOVAL_AT_ONCE];
};

static void show(struct remover *remover)
{
    double elapsed_s = (double)(progress_now_ns() - remover->started_ns) / 1e9;
    uint64_t left = remover->total > remover->deleted ? remover->total - remover->deleted : 0;
    struct progress_state state = {
        .done = remover->deleted,
        .total = remover->deleted + left,
        .eta_s = remover->deleted > 0 ? elapsed_s * (double)left / (double)remover->deleted : -1,
    };
    progress_show(&remover->progress, &state);
}

static void delete_next(struct slot *slot)
{
    struct remover *remover = slot->remover;
    const struct list_page *page = &remover->list.page;
    while (remover->next < page->count && !remover->failed) {
        const char *key = list_page_key(page, remover->next++);
        if (strcmp(key, remover->spared) == 0)
            continue;
        slot->failures = 0;
        slot->op.verb = STORE_DELETE;
        snprintf(slot->op.key, sizeof(slot->op.key), "%s", key);
        store_submit(remover->session->bytes, &slot->op);
        return;
    }
}

static void delete_again(struct timer *timer, void *context)
{
    struct slot *slot = context;
    (void)timer;
    if (slot->remover->failed)
        return;
    store_submit(slot->remover->session->bytes, &slot->op);
}

static void on_deleted(struct store_op *op, void *context)
{
    struct slot *slot = context;
    struct remover *remover = slot->remover;
    struct loop *loop = live_session_loop(remover->session);
    bool gone = op->outcome == STORE_OK || op->outcome == STORE_NOT_FOUND;
    bool final = op->outcome == STORE_FAILED || slot->failures + 1 == TRIES_MAX;
    if (gone) {
        remover->deleted++;
        show(remover);
    } else if (final && !remover->failed) {
        remover->failed = true;
        snprintf(remover->error, STORE_ERROR_MAX, "%s", live_session_error(op));
    }
    store_op_release(op);
    if (gone || remover->failed) {
        delete_next(slot);
        return;
    }
    loop_timer_set(loop, &slot->timer,
                   loop_now(loop) + backoff_bound_ns(BACKOFF_NS, BACKOFF_MAX_NS, ++slot->failures));
}

/* Everything below the prefix but what is spared, a page after the other, in their order. */
static bool delete_below(struct remover *remover, const char *prefix)
{
    struct store_op *list = &remover->list;
    list->after[0] = '\0';
    snprintf(list->key, sizeof(list->key), "%s", prefix);
    do {
        if (!list_page(remover->session, list, remover->error))
            return false;
        remover->next = 0;
        for (int i = 0; i < REMOVAL_AT_ONCE; i++)
            delete_next(&remover->slots[i]);
        loop_run(live_session_loop(remover->session), TIME_NEVER); /* until nothing is in flight */
    } while (!remover->failed && more_pages(list));
    return !remover->failed;
}

static bool delete_one(struct remover *remover, const char *key)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_DELETE;
    snprintf(op.key, sizeof(op.key), "%s", key);
    live_request(remover->session, &op);
    bool gone = op.outcome == STORE_OK || op.outcome == STORE_NOT_FOUND;
    if (!gone)
        snprintf(remover->error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return gone;
}

static bool put_removing(struct remover *remover, const json_t *marker)
{
    json_t *empty = json_object();
    char *text = json_dumps(marker != NULL ? marker : empty, JSON_INDENT(2));
    assert(text != NULL);
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT;
    op.body = (struct body){.kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)text};
    snprintf(op.key, sizeof(op.key), "%s", LIVE_REMOVING_KEY);
    live_request(remover->session, &op);
    bool put = op.outcome == STORE_OK;
    if (!put)
        snprintf(remover->error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    op.body = (struct body){.kind = BODY_NONE};
    store_op_deinit(&op);
    json_decref(empty);
    free(text);
    return put;
}

/* Whether something but run/removing is there still. */
static bool look_for_more(struct remover *remover, enum toggle *more)
{
    struct store_op *list = &remover->list;
    list->key[0] = list->after[0] = '\0';
    if (!list_page(remover->session, list, remover->error))
        return false;
    *more = TOGGLE_OFF;
    for (size_t i = 0; i < list->page.count; i++)
        if (strcmp(list_page_key(&list->page, i), LIVE_REMOVING_KEY) != 0)
            *more = TOGGLE_ON;
    return true;
}

/* All but run/removing. Who writes without looking may add to it meanwhile, but not for ever. */
static bool delete_rest(struct remover *remover)
{
    enum toggle more = TOGGLE_ON;
    for (int i = 0; i < PASSES_MAX && more == TOGGLE_ON; i++)
        if (!delete_below(remover, NAME_MANIFEST_PREFIX) || !delete_below(remover, "") ||
            !look_for_more(remover, &more))
            return false;
    if (more == TOGGLE_ON)
        snprintf(remover->error, STORE_ERROR_MAX,
                 "new objects came after each of %d passes: somebody still writes there; stop them "
                 "first",
                 PASSES_MAX);
    return more == TOGGLE_OFF;
}

static bool delete_all(struct remover *remover, const struct removal *removal)
{
    if (removal->kind != REMOVAL_BEGUN && !put_removing(remover, removal->marker))
        return false;
    if (!delete_one(remover, LIVE_MARKER_KEY))
        return false;
    remover->deleted += removal->kind == REMOVAL_RUN;
    if (!delete_rest(remover) || !delete_one(remover, LIVE_REMOVING_KEY))
        return false;
    remover->deleted += removal->kind == REMOVAL_BEGUN;
    return true;
}

bool removal_run(struct live_session *session, const struct removal *removal, FILE *stream,
                 uint64_t *deleted, char error[STORE_ERROR_MAX])
{
    struct remover *remover = calloc(1, sizeof(*remover));
    assert(remover != NULL);
    remover->session = session;
    remover->progress = progress_make(stream, "deleting");
    remover->progress.unit = "objects";
    remover->started_ns = progress_now_ns();
    remover->total = removal->objects;
    remover->error = error;
    remover->spared = LIVE_REMOVING_KEY;
    store_op_init(&remover->list);
    for (int i = 0; i < REMOVAL_AT_ONCE; i++) {
        struct slot *slot = &remover->slots[i];
        slot->remover = remover;
        store_op_init(&slot->op);
        slot->op.done = on_deleted;
        slot->op.context = slot;
        timer_init(&slot->timer, delete_again, slot);
    }
    bool done = delete_all(remover, removal);
    progress_clear(&remover->progress);
    *deleted = remover->deleted;
    for (int i = 0; i < REMOVAL_AT_ONCE; i++)
        store_op_deinit(&remover->slots[i].op);
    store_op_deinit(&remover->list);
    free(remover);
    return done;
}
