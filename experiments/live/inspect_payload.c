/* inspect_payload.c - see inspect_payload.h: a few TGBs at a time, each in ranges, so that memory
 * is bounded whatever their size. Ours. */
#include "experiments/live/inspect_payload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/tgb_payload.h"
#include "core/xxh3.h"

#define SLOTS 8
#define RANGE_BYTES (UINT64_C(1) << 20)

struct slot {
    struct store_op op;
    struct checker *checker;
    const struct manifest_entry *entry;
    uint64_t step;
    uint64_t offset;
    XXH3_state_t *hash;
    uint8_t *expected; /* RANGE_BYTES */
};

struct checker {
    struct live_session *session;
    struct inspection *inspection;
    struct progress progress;
    bool synthetic;
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

static void take_next(struct slot *slot)
{
    struct checker *checker = slot->checker;
    const struct inspection *inspection = checker->inspection;
    while (checker->next < inspection->entry_count && !readable(inspection, checker->next))
        checker->next++;
    inspect_progress(&checker->progress, checker->next, inspection->entry_count);
    if (checker->next == inspection->entry_count)
        return;
    slot->step = inspection->base_step + checker->next;
    slot->entry = &inspection->entries[checker->next++];
    slot->offset = 0;
    XXH3_64bits_reset(slot->hash);
    name_tgb(slot->op.key, &slot->entry->tgb);
    ask_range(slot);
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
    if (!slot->checker->synthetic)
        return true;
    const struct tgb_name *name = &slot->entry->tgb;
    tgb_payload_fill(name->producer, name->sequence, slot->offset, op->result.bytes,
                     slot->expected);
    if (memcmp(slot->expected, op->result.data, op->result.bytes) == 0)
        return true;
    uint64_t at = 0;
    while (slot->expected[at] == op->result.data[at])
        at++;
    inspection_problem(inspection, 0, slot->step,
                       "step %" PRIu64 ": %s: byte %" PRIu64
                       " is not what producer %u made for sequence %" PRIu64,
                       slot->step, op->key, slot->offset + at, name->producer, name->sequence);
    return false;
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
    }
    free(checker);
}
