/* tgb_payload.h - the payload of a synthetic TGB: deterministic by (producer, sequence), so that
 * any byte of a run can be checked later without having kept it. Of a sliced TGB, slice i holds
 * payload bytes [i * raw, (i + 1) * raw), raw being what one slot holds (tgb.h). Ours. */
#ifndef CORE_TGB_PAYLOAD_H
#define CORE_TGB_PAYLOAD_H

#include "core/base.h"

/* Fills bytes [offset, offset + count) of the payload. */
void tgb_payload_fill(uint32_t producer, uint64_t sequence, uint64_t offset, uint64_t count,
                      uint8_t *out);
/* Index of the first byte that differs from the payload; `count` if none does. */
uint64_t tgb_payload_check(uint32_t producer, uint64_t sequence, uint64_t count,
                           const uint8_t *bytes);
/* XXH3-64 of bytes [offset, offset + count) of the payload, without holding them. */
uint64_t tgb_payload_hash(uint32_t producer, uint64_t sequence, uint64_t offset, uint64_t count);

#endif
