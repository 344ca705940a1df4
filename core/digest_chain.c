/* digest_chain.c - see digest_chain.h. Ours. */
#include "core/digest_chain.h"

#include "core/wire.h"
#include "core/xxh3.h"

uint64_t digest_chain_next(uint64_t digest, uint64_t step, uint64_t slice_checksum)
{
    uint8_t bytes[24];
    uint8_t *end = wire_put64(wire_put64(wire_put64(bytes, digest), step), slice_checksum);
    assert(end == bytes + sizeof(bytes));
    return XXH3_64bits(bytes, sizeof(bytes));
}

uint64_t digest_chain_slice(const uint8_t *bytes, uint64_t count)
{
    return XXH3_64bits(bytes, count);
}

uint64_t digest_chain_length(const struct tgb_name *tgb, uint32_t slice, uint64_t bytes)
{
    uint8_t text[28];
    uint8_t *out = wire_put32(wire_put32(text, tgb->producer), tgb->epoch);
    uint8_t *end = wire_put64(wire_put32(wire_put64(out, tgb->sequence), slice), bytes);
    assert(end == text + sizeof(text));
    return XXH3_64bits(text, sizeof(text));
}
