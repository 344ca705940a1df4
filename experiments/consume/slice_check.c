/* slice_check.c - see slice_check.h. Ours. */
#include "experiments/consume/slice_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/tgb.h"
#include "core/tgb_payload.h"

#define PIECE_BYTES 4096
#define PLAIN_BYTES_MAX (UINT64_C(16) << 30) /* of workload.tgb */

/* The rest that no slot takes is less than a byte for each slice. */
uint64_t slice_check_tgb_max(uint32_t slices)
{
    if (slices == 0)
        return PLAIN_BYTES_MAX;
    return tgb_layout_object_bytes(slices, UINT32_MAX) + slices - 1;
}

bool slice_expected_of(const struct slice_check *check, uint32_t producer, uint64_t sequence,
                       uint64_t tgb_bytes, struct slice_expected *expected)
{
    struct tgb_layout layout;
    *expected = (struct slice_expected){.bytes = tgb_bytes};
    if (check->slices > 0) {
        if (tgb_layout_make(tgb_bytes, check->slices, &layout) != TGB_OK)
            return false;
        expected->bytes = tgb_layout_capacity(&layout);
        expected->offset = check->slice * expected->bytes;
    }
    expected->checksum = tgb_payload_hash(producer, sequence, expected->offset, expected->bytes);
    return true;
}

/* Index of the first byte that differs; `bytes` if none does. */
static uint64_t first_wrong(const struct consumer_delivery *delivery,
                            const struct slice_expected *expected)
{
    uint8_t piece[PIECE_BYTES];
    const struct tgb_name *tgb = &delivery->entry.tgb;
    for (uint64_t at = 0; at < expected->bytes; at += PIECE_BYTES) {
        uint64_t left = expected->bytes - at;
        uint64_t count = left < PIECE_BYTES ? left : PIECE_BYTES;
        tgb_payload_fill(tgb->producer, tgb->sequence, expected->offset + at, count, piece);
        for (uint64_t i = 0; i < count; i++)
            if (delivery->slice.data[at + i] != piece[i])
                return at + i;
    }
    return expected->bytes;
}

bool slice_check_run(const struct slice_check *check, const struct consumer_delivery *delivery,
                     char error[SLICE_CHECK_TEXT_MAX])
{
    const struct manifest_entry *entry = &delivery->entry;
    struct slice_expected expected;
    char key[STORE_KEY_MAX];
    if (!check->synthetic)
        return true;
    name_tgb(key, &entry->tgb);
    if (!slice_expected_of(check, entry->tgb.producer, entry->tgb.sequence, entry->tgb_bytes,
                           &expected) ||
        expected.bytes != delivery->slice.bytes) {
        snprintf(error, SLICE_CHECK_TEXT_MAX,
                 "step %" PRIu64 ": %s gave %" PRIu64 " bytes, but %" PRIu64 " were made",
                 delivery->step, key, delivery->slice.bytes, expected.bytes);
        return false;
    }
    if (delivery->slice_checksum == expected.checksum)
        return true;
    snprintf(error, SLICE_CHECK_TEXT_MAX,
             "step %" PRIu64 ": %s: byte %" PRIu64
             " of the slice is not what producer %u made for sequence %" PRIu64,
             delivery->step, key, first_wrong(delivery, &expected), entry->tgb.producer,
             entry->tgb.sequence);
    return false;
}
