/* inspect_payload.c - see inspect_payload.h: a few TGBs at a time, each in ranges, so that memory
 * is bounded whatever their size. Of sliced ones the index and every slice. Ours. */
#include "experiments/live/inspect_payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tgb_payload.h"
#include "core/tgb_scan.h"
#include "core/xxh3.h"
#include "experiments/live/live_marker.h"

#define SLOTS 8
#define RANGE_BYTES (UINT64_C(1) << 20)

struct slot {
    struct store_op op;
    struct checker *checker;
    const struct manifest_entry *entry;
    uint64_t step;
    uint64_t offset;
    XXH3_state_t *hash;
    uint8_t *expected;     /* RANGE_BYTES */
    struct tgb_scan *scan; /* of a sliced run; NULL: none is in progress */
    struct tgb_layout layout;
    uint64_t payload_bytes; /* that were right, in all slices so far */
    uint64_t wrong_slice;   /* slices: none was wrong */
    uint64_t wrong_byte;    /* of that slice */
};

struct checker {
    struct live_session *session;
    struct inspection *inspection;
    struct progress progress;
    bool synthetic;
    struct tgb_mesh mesh;
    size_t next; /* index of the entry to check */
    struct slot slots[SLOTS];
};

static bool payload_is_synthetic(const struct inspection *inspection)
{
    const char *payload = json_string_value(json_object_get(inspection->marker, "payload"));
    return payload != NULL && strcmp(payload, "synthetic") == 0;
}

static void ask_range(struct slot *slot)
{
    struct store_op *op = &slot->op;
    uint64_t left = slot->entry->tgb_bytes - slot->offset;
    op->verb = STORE_GET;
    op->range_offset = slot->offset;
    op->range_bytes = left < RANGE_BYTES ? left : RANGE_BYTES;
    store_submit(slot->checker->session->store, op);
}

/* An entry is read if it is live and its TGB was listed with the size that the entry says. */
static bool readable(const struct inspection *inspection, size_t index)
{
    uint64_t step = inspection->base_step + index;
    if (step < inspection->first_step || step < inspection->floor.step)
        return false;
    const struct manifest_entry *entry = &inspection->entries[index];
    const struct inspect_tgb *tgb = inspection_find_tgb(inspection, &entry->tgb);
    return tgb != NULL && tgb->bytes == entry->tgb_bytes;
}

/* ---- sliced TGBs ---- */

/* A slice of a synthetic TGB holds its part of the payload. */
static void on_piece(const struct tgb_piece *piece, void *context)
{
    struct slot *slot = context;
    const struct tgb_name *name = &slot->entry->tgb;
    uint64_t from = (uint64_t)piece->slice * tgb_layout_capacity(&slot->layout) + piece->offset;
    if (!slot->checker->synthetic || slot->wrong_slice < slot->layout.slices)
        return;
    assert(piece->count <= RANGE_BYTES);
    tgb_payload_fill(name->producer, name->sequence, from, piece->count, slot->expected);
    slot->payload_bytes += piece->count;
    if (memcmp(slot->expected, piece->bytes, piece->count) == 0)
        return;
    uint64_t at = 0;
    while (slot->expected[at] == piece->bytes[at])
        at++;
    slot->wrong_slice = piece->slice;
    slot->wrong_byte = piece->offset + at;
}

/* False: it cannot be cut so, which was said. */
static bool begin_scan(struct slot *slot)
{
    const struct checker *checker = slot->checker;
    struct tgb_scan_options options = {
        .mesh = checker->mesh, .name = slot->entry->tgb, .visit = on_piece, .context = slot};
    enum tgb_error error =
        tgb_layout_make(slot->entry->tgb_bytes, tgb_mesh_slices(checker->mesh), &options.layout);
    if (error != TGB_OK) {
        inspection_problem(checker->inspection, 0, slot->step, "step %" PRIu64 ": %s: %s",
                           slot->step, slot->op.key, tgb_error_text(error));
        return false;
    }
    slot->layout = options.layout;
    slot->payload_bytes = 0;
    slot->wrong_slice = options.layout.slices;
    slot->scan = tgb_scan_open(&options);
    return true;
}

static void end_scan(struct slot *slot)
{
    if (slot->scan != NULL)
        tgb_scan_close(slot->scan);
    slot->scan = NULL;
}

/* Where a scan ended early: in the index, a slice, or behind them. */
static void say_scan(const struct slot *slot, enum tgb_error error)
{
    char part[32] = "index";
    uint64_t offset = tgb_scan_offset(slot->scan);
    uint32_t slice = tgb_scan_slice(slot->scan);
    if (slice < slot->layout.slices)
        snprintf(part, sizeof(part), "slice %u", slice);
    else if (offset > slot->layout.index_bytes)
        snprintf(part, sizeof(part), "rest");
    inspection_problem(slot->checker->inspection, 0, slot->step,
                       "step %" PRIu64 ": %s: %s, up to byte %" PRIu64 ": %s", slot->step,
                       slot->op.key, part, offset, tgb_error_text(error));
}

/* The range in the answer, as a part of a sliced TGB. */
static bool check_sliced(struct slot *slot)
{
    const struct store_op *op = &slot->op;
    const struct tgb_name *name = &slot->entry->tgb;
    enum tgb_error error = tgb_scan_feed(slot->scan, op->result.data, op->result.bytes);
    uint64_t payload_bytes = slot->layout.slices * (uint64_t)tgb_layout_capacity(&slot->layout);
    bool last = slot->offset + op->result.bytes == slot->entry->tgb_bytes;
    if (error == TGB_OK && last)
        error = tgb_scan_end(slot->scan);
    bool wrong = slot->wrong_slice < slot->layout.slices;
    bool whole = !slot->checker->synthetic || slot->payload_bytes == payload_bytes;
    if (error == TGB_OK && !wrong && (whole || !last))
        return true;
    if (!wrong && error != TGB_OK)
        say_scan(slot, error);
    else if (!wrong)
        inspection_problem(slot->checker->inspection, 0, slot->step,
                           "step %" PRIu64 ": %s: its slices hold %" PRIu64 " bytes, not %" PRIu64,
                           slot->step, op->key, slot->payload_bytes, payload_bytes);
    else
        inspection_problem(slot->checker->inspection, 0, slot->step,
                           "step %" PRIu64 ": %s: slice %" PRIu64 ": byte %" PRIu64
                           " is not what producer %u made for sequence %" PRIu64,
                           slot->step, op->key, slot->wrong_slice, slot->wrong_byte, name->producer,
                           name->sequence);
    return false;
}

/* ---- one TGB after the other ---- */

static void take_next(struct slot *slot)
{
    struct checker *checker = slot->checker;
    const struct inspection *inspection = checker->inspection;
    bool begun = false;
    while (!begun) {
        while (checker->next < inspection->entry_count && !readable(inspection, checker->next))
            checker->next++;
        inspect_progress(&checker->progress, checker->next, inspection->entry_count);
        if (checker->next == inspection->entry_count)
            return;
        slot->step = inspection->base_step + checker->next;
        slot->entry = &inspection->entries[checker->next++];
        slot->offset = 0;
        name_tgb(slot->op.key, &slot->entry->tgb);
        begun = tgb_mesh_slices(checker->mesh) == 0 || begin_scan(slot);
    }
    XXH3_64bits_reset(slot->hash);
    ask_range(slot);
}

/* The range in the answer, as a part of a plain TGB. */
static bool check_plain(struct slot *slot)
{
    const struct store_op *op = &slot->op;
    const struct tgb_name *name = &slot->entry->tgb;
    if (!slot->checker->synthetic)
        return true;
    tgb_payload_fill(name->producer, name->sequence, slot->offset, op->result.bytes,
                     slot->expected);
    if (memcmp(slot->expected, op->result.data, op->result.bytes) == 0)
        return true;
    uint64_t at = 0;
    while (slot->expected[at] == op->result.data[at])
        at++;
    inspection_problem(slot->checker->inspection, 0, slot->step,
                       "step %" PRIu64 ": %s: byte %" PRIu64
                       " is not what producer %u made for sequence %" PRIu64,
                       slot->step, op->key, slot->offset + at, name->producer, name->sequence);
    return false;
}

/* The range in the answer is right so far. */
static bool check_range(struct slot *slot)
{
    struct inspection *inspection = slot->checker->inspection;
    const struct store_op *op = &slot->op;
    if (op->outcome != STORE_OK) {
        inspection_problem(inspection, 0, slot->step, "step %" PRIu64 ": %s cannot be read: %s",
                           slot->step, op->key, live_session_error(op));
        return false;
    }
    if (op->result.kind != BODY_BYTES || op->object_bytes != slot->entry->tgb_bytes ||
        (op->range_bytes != 0 && op->result.bytes != op->range_bytes)) {
        inspection_problem(inspection, 0, slot->step,
                           "step %" PRIu64 ": %s changed its size while it was read", slot->step,
                           op->key);
        return false;
    }
    XXH3_64bits_update(slot->hash, op->result.data, op->result.bytes);
    return slot->scan != NULL ? check_sliced(slot) : check_plain(slot);
}

static void finish_tgb(struct slot *slot)
{
    struct inspection *inspection = slot->checker->inspection;
    uint64_t wanted = slot->entry->tgb_checksum;
    if (wanted != 0 && XXH3_64bits_digest(slot->hash) != wanted) {
        inspection_problem(inspection, 0, slot->step,
                           "step %" PRIu64 ": the checksum of %s is not its entry's", slot->step,
                           slot->op.key);
        return;
    }
    inspection->checked++;
    inspection->checked_bytes += slot->entry->tgb_bytes;
}

static void on_range(struct store_op *op, void *context)
{
    struct slot *slot = context;
    bool right = check_range(slot);
    slot->offset += right ? op->result.bytes : 0;
    store_op_release(op);
    if (right && slot->offset < slot->entry->tgb_bytes) {
        ask_range(slot);
        return;
    }
    if (right)
        finish_tgb(slot);
    end_scan(slot);
    take_next(slot);
}

void inspect_payload(struct live_session *session, const struct inspect_options *options,
                     struct inspection *inspection)
{
    struct checker *checker = calloc(1, sizeof(*checker));
    assert(checker != NULL);
    checker->session = session;
    checker->inspection = inspection;
    checker->synthetic = payload_is_synthetic(inspection);
    if (!live_marker_mesh(inspection->marker, &checker->mesh))
        inspection_problem(inspection, 0, 0,
                           "%s names a mesh that this program does not know: slices are not looked "
                           "at",
                           LIVE_MARKER_KEY);
    checker->progress = progress_make(options->progress, "reading");
    checker->progress.unit = "TGBs";
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &checker->slots[i];
        store_op_init(&slot->op);
        slot->checker = checker;
        slot->op.done = on_range;
        slot->op.context = slot;
        slot->hash = XXH3_createState();
        slot->expected = malloc(RANGE_BYTES);
        assert(slot->hash != NULL && slot->expected != NULL);
        take_next(slot);
    }
    loop_run(live_session_loop(session), TIME_NEVER); /* until nothing is in flight */
    progress_clear(&checker->progress);
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &checker->slots[i];
        store_op_deinit(&slot->op);
        XXH3_freeState(slot->hash);
        free(slot->expected);
        end_scan(slot);
    }
    free(checker);
}
