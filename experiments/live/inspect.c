/* inspect.c - see inspect.h: one listing of everything, then the versions in order with a few reads
 * ahead, then the TGBs, then the floor once more: what a reclaimer took away meanwhile is no
 * problem. Ours. */
#include "experiments/live/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "core/chain_view.h"
#include "core/mark.h"
#include "experiments/live/inspect_chain.h"
#include "experiments/live/inspect_payload.h"
#include "experiments/live/live_chain.h"
#include "experiments/live/live_marker.h"

#define READS_MAX 8
#define READ_AHEAD_BYTES_MAX (UINT64_C(256) << 20) /* one version may be larger */

/* ---- listing ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void take_floor(struct inspection *inspection, struct floor floor)
{
    if (floor.version > inspection->floor.version)
        inspection->floor.version = floor.version;
    if (floor.step > inspection->floor.step)
        inspection->floor.step = floor.step;
    inspection->floor_listed = true;
}

static void take_unknown(struct inspection *inspection, const char *key)
{
    if (inspection->unknown_count < INSPECT_UNKNOWN_MAX)
        snprintf(inspection->unknown[inspection->unknown_count], STORE_KEY_MAX, "%s", key);
    inspection->unknown_count++;
}

static void take_key(struct inspection *inspection, const char *key, uint64_t bytes)
{
    uint64_t version;
    uint64_t intent;
    struct floor floor;
    struct tgb_name tgb;
    struct watermark_name watermark;
    if (name_parse_version(key, &version) && version > 0) {
        (void)inspection_add_version(inspection, version, bytes);
    } else if (name_parse_floor(key, &floor)) {
        take_floor(inspection, floor);
    } else if (name_parse_tgb(key, &tgb)) {
        inspection_add_tgb(inspection, &tgb, bytes);
    } else if (name_parse_intent(key, &intent)) {
        inspection->intent = intent > inspection->intent ? intent : inspection->intent;
    } else if (name_parse_watermark(key, &watermark)) {
        return; /* taken by take_consumers */
    } else if (starts_with(key, "run/")) {
        if (strcmp(key, LIVE_REMOVING_KEY) == 0)
            inspection_problem(inspection, 0, 0,
                               "the removal of this run was begun, and did not end: lakestream "
                               "remove goes on with it");
    } else {
        take_unknown(inspection, key);
    }
}

/* What a listing is told to; takes the keys of one page. */
struct listing {
    struct inspection *inspection;
    struct watermark_scan scan;
    bool scanning; /* the floor is known, and the consumers follow */
};

/* In a listing of all they come behind the floor that they are judged by. */
static void take_consumers(struct listing *listing, const char *key)
{
    struct watermark finished;
    if (!starts_with(key, NAME_WATERMARK_PREFIX))
        return;
    if (!listing->scanning)
        watermark_scan_init(&listing->scan, listing->inspection->floor.step);
    listing->scanning = true;
    if (watermark_scan_add(&listing->scan, key, &finished))
        inspection_add_consumer(listing->inspection, &finished);
}

static void end_consumers(struct listing *listing)
{
    struct watermark finished;
    if (listing->scanning && watermark_scan_end(&listing->scan, &finished))
        inspection_add_consumer(listing->inspection, &finished);
}

/* Lists all pages behind op->after; false with `error` filled. */
static bool list_pages(struct live_session *session, struct store_op *op,
                       struct inspection *inspection, char error[STORE_ERROR_MAX])
{
    struct listing listing = {.inspection = inspection};
    for (;;) {
        op->verb = STORE_LIST;
        op->list_keys_max = STORE_LIST_KEYS_MAX;
        live_session_do(session, session->store, op);
        if (op->outcome != STORE_OK) {
            snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(op));
            return false;
        }
        const struct list_page *page = &op->page;
        for (size_t i = 0; i < page->count; i++) {
            take_key(inspection, list_page_key(page, i), page->object_bytes[i]);
            take_consumers(&listing, list_page_key(page, i));
        }
        switch (store_op_next_page(op)) {
        case PAGE_FOLLOWS:
            break;
        case PAGE_WAS_LAST:
            end_consumers(&listing);
            return true;
        case PAGE_REPEATS:
            snprintf(error, STORE_ERROR_MAX, "%s", op->error);
            return false;
        }
        store_op_release(op);
    }
}

static bool list_all(struct live_session *session, struct inspection *inspection,
                     char error[STORE_ERROR_MAX])
{
    struct store_op op;
    store_op_init(&op);
    bool listed = list_pages(session, &op, inspection, error);
    store_op_deinit(&op);
    inspection_sort_tgbs(inspection);
    return listed;
}

/* Versions below the floor are gone or going: counted, and left out. */
static void apply_floor(struct inspection *inspection)
{
    size_t kept = 0;
    for (size_t i = 0; i < inspection->version_count; i++)
        if (inspection->versions[i].version >= inspection->floor.version)
            inspection->versions[kept++] = inspection->versions[i];
    inspection->versions_below = inspection->version_count - kept;
    inspection->version_count = kept;
}

static void check_dense(struct inspection *inspection)
{
    uint64_t expected =
        inspection->floor_listed ? inspection->floor.version : MANIFEST_GENESIS_VERSION;
    if (inspection->version_count == 0) {
        inspection_problem(inspection, 0, 0,
                           inspection->floor_listed
                               ? "the floor is version %" PRIu64 ", but there is no version"
                               : "there is no chain: no object is named manifest/<version>",
                           inspection->floor.version);
        return;
    }
    for (size_t i = 0; i < inspection->version_count; i++) {
        uint64_t version = inspection->versions[i].version;
        if (version == expected + 1)
            inspection_problem(inspection, expected, 0, "version %" PRIu64 " is missing", expected);
        else if (version > expected)
            inspection_problem(inspection, version - 1, 0,
                               "the versions %" PRIu64 " to %" PRIu64 " are missing", expected,
                               version - 1);
        expected = version + 1;
    }
}

/* ---- the chain ---- */

struct reader {
    struct live_session *session;
    struct inspection *inspection;
    struct progress progress;
    struct store_op ops[READS_MAX]; /* version i is read by i % READS_MAX */
    bool done[READS_MAX];
    size_t next; /* to be asked for */
    size_t head; /* to be followed */
    uint64_t ahead_bytes;
};

static void on_version(struct store_op *op, void *context)
{
    struct reader *reader = context;
    reader->done[op - reader->ops] = true;
    live_loop_stop(reader->session->loop);
}

static void ask_ahead(struct reader *reader)
{
    const struct inspection *inspection = reader->inspection;
    while (reader->next < inspection->version_count && reader->next < reader->head + READS_MAX) {
        const struct inspect_version *version = &inspection->versions[reader->next];
        if (reader->next > reader->head &&
            version->bytes > READ_AHEAD_BYTES_MAX - reader->ahead_bytes)
            return;
        struct store_op *op = &reader->ops[reader->next % READS_MAX];
        reader->done[reader->next % READS_MAX] = version->bytes > MANIFEST_BYTES_MAX;
        reader->next++;
        if (version->bytes > MANIFEST_BYTES_MAX)
            continue;
        reader->ahead_bytes += version->bytes;
        chain_view_ask_version(op, version->version);
        op->done = on_version;
        op->context = reader;
        store_submit(reader->session->store, op);
    }
}

static void follow_head(struct reader *reader)
{
    struct inspection *inspection = reader->inspection;
    struct inspect_version *version = &inspection->versions[reader->head];
    struct store_op *op = &reader->ops[reader->head % READS_MAX];
    if (version->bytes > MANIFEST_BYTES_MAX) {
        inspection_problem(inspection, version->version, 0,
                           "version %" PRIu64 ": %" PRIu64 " bytes are too many for a manifest",
                           version->version, version->bytes);
        return;
    }
    reader->ahead_bytes -= version->bytes;
    if (op->outcome == STORE_NOT_FOUND)
        inspection_problem(inspection, version->version, 0,
                           "version %" PRIu64 ": it was listed, but is not there",
                           version->version);
    else if (op->outcome != STORE_OK)
        inspection_problem(inspection, version->version, 0,
                           "version %" PRIu64 " cannot be read: %s", version->version,
                           live_session_error(op));
    else if (op->result.manifest->version != version->version)
        inspection_problem(inspection, version->version, 0,
                           "version %" PRIu64 ": the object of that name holds version %" PRIu64,
                           version->version, op->result.manifest->version);
    else
        inspect_chain_follow(inspection, version, op->result.manifest);
    store_op_release(op);
}

static void read_chain(struct live_session *session, const struct inspect_options *options,
                       struct inspection *inspection)
{
    struct reader reader = {.session = session, .inspection = inspection};
    for (int i = 0; i < READS_MAX; i++)
        store_op_init(&reader.ops[i]);
    reader.progress = progress_make(options->progress, "reading");
    reader.progress.unit = "versions";
    while (reader.head < inspection->version_count) {
        ask_ahead(&reader);
        while (!reader.done[reader.head % READS_MAX])
            loop_run(live_session_loop(session), TIME_NEVER);
        follow_head(&reader);
        reader.head++;
        inspect_progress(&reader.progress, reader.head, inspection->version_count);
    }
    progress_clear(&reader.progress);
    for (int i = 0; i < READS_MAX; i++)
        store_op_deinit(&reader.ops[i]);
}

/* What is no object is in no listing, but where the next version belongs no commit can pass it. */
static void probe_next(struct live_session *session, struct inspection *inspection)
{
    uint64_t newest = inspection->version_count > 0
                          ? inspection->versions[inspection->version_count - 1].version
                          : MANIFEST_GENESIS_VERSION - 1;
    if (newest == UINT64_MAX)
        return;
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_GET;
    op.range_bytes = 1;
    name_version(op.key, newest + 1);
    live_session_do(session, session->bytes, &op);
    if (op.outcome == STORE_FAILED)
        inspection_problem(inspection, newest + 1, 0,
                           "version %" PRIu64 ", the next one, can be neither made nor read: %s",
                           newest + 1, live_session_error(&op));
    store_op_deinit(&op);
}

/* ---- TGBs ---- */

/* Above its producer's state in the newest version that was read. */
static bool may_be_committed(const struct inspection *inspection, const struct tgb_name *name)
{
    for (size_t i = 0; i < inspection->stream_count; i++) {
        const struct inspect_stream *stream = &inspection->streams[i];
        if (stream->producer != name->producer)
            continue;
        bool same = name->epoch == stream->epoch && memcmp(&name->incarnation, &stream->incarnation,
                                                           sizeof(name->incarnation)) == 0;
        return name->epoch > stream->epoch || (same && name->sequence > stream->sequence);
    }
    return true;
}

static void match_tgbs(struct inspection *inspection)
{
    uint64_t live_step = inspection->first_step > inspection->floor.step ? inspection->first_step
                                                                         : inspection->floor.step;
    for (size_t i = 0; i < inspection->entry_count; i++) {
        const struct manifest_entry *entry = &inspection->entries[i];
        uint64_t step = inspection->base_step + i;
        struct inspect_tgb *tgb = inspection_find_tgb(inspection, &entry->tgb);
        if (tgb != NULL)
            tgb->named = true;
        if (step < live_step)
            continue; /* given up: it may be gone */
        char key[STORE_KEY_MAX];
        name_tgb(key, &entry->tgb);
        if (tgb == NULL)
            inspection_problem(inspection, 0, step, "step %" PRIu64 ": %s is missing", step, key);
        else if (tgb->bytes != entry->tgb_bytes)
            inspection_problem(inspection, 0, step,
                               "step %" PRIu64 ": %s has %" PRIu64
                               " bytes, its entry says %" PRIu64,
                               step, key, tgb->bytes, entry->tgb_bytes);
    }
    for (size_t i = 0; i < inspection->tgb_count; i++) {
        const struct inspect_tgb *tgb = &inspection->tgbs[i];
        if (tgb->named)
            continue;
        inspection->orphans++;
        inspection->orphan_bytes += tgb->bytes;
        if (!may_be_committed(inspection, &tgb->name))
            continue;
        inspection->undecided++;
        inspection->undecided_bytes += tgb->bytes;
    }
}

static void read_marker(struct live_session *session, struct inspection *inspection)
{
    char error[STORE_ERROR_MAX];
    switch (live_marker_read(session, &inspection->marker, error)) {
    case LIVE_MARKER_FOUND:
    case LIVE_MARKER_MISSING:
        return;
    case LIVE_MARKER_DAMAGED:
    case LIVE_MARKER_FAILED:
        inspection_problem(inspection, 0, 0, "%s", error);
    }
}

static void forgive_reclaimed(struct live_session *session, struct inspection *inspection)
{
    struct inspection later = {0};
    struct store_op op;
    char error[STORE_ERROR_MAX];
    store_op_init(&op);
    snprintf(op.key, sizeof(op.key), "%s", NAME_FLOOR_PREFIX);
    if (inspection->problem_total > 0 && list_pages(session, &op, &later, error) &&
        later.floor_listed)
        inspection_forgive(inspection, later.floor);
    store_op_deinit(&op);
    inspection_deinit(&later);
}

/* Floors are listed behind the versions, so that the chain may have grown meanwhile: what is above
 * the end that was followed is held against one that is read now. */
static void check_marks(struct live_session *session, struct inspection *inspection)
{
    const struct mark marks[] = {{MARK_FLOOR, inspection->floor.step},
                                 {MARK_INTENT, inspection->intent}};
    char text[MARK_TEXT_MAX];
    uint64_t next_step;
    if (marks[0].step <= inspection->next_step && marks[1].step <= inspection->next_step)
        return;
    if (!live_chain_end(session, &next_step, text)) {
        inspection_problem(inspection, 0, 0, "the chain's end cannot be read again: %s", text);
        return;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (!mark_borne_out(marks[i], next_step, text))
            inspection_problem(inspection, 0, 0, "%s", text);
}

bool inspect_run(struct live_session *session, const struct inspect_options *options,
                 struct inspection *inspection, char error[STORE_ERROR_MAX])
{
    if (!list_all(session, inspection, error))
        return false;
    read_marker(session, inspection);
    apply_floor(inspection);
    check_dense(inspection);
    read_chain(session, options, inspection);
    probe_next(session, inspection);
    check_marks(session, inspection);
    match_tgbs(inspection);
    if (options->deep)
        inspect_payload(session, options, inspection);
    forgive_reclaimed(session, inspection);
    return true;
}

void inspect_progress(struct progress *progress, size_t done, size_t total)
{
    struct progress_state state = {.done = done, .total = total, .eta_s = -1};
    if (progress->terminal)
        progress_show(progress, &state);
}
