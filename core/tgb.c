/* tgb.c - synthetic payloads: a counter-based stream of 64-bit words, little endian. */
#include "core/tgb.h"

#include "core/random.h"

static uint64_t payload_word(uint64_t key, uint64_t index)
{
    return random_mix(key + index * UINT64_C(0x9e3779b97f4a7c15));
}

void tgb_payload_fill(uint32_t producer, uint64_t sequence, uint64_t offset, uint64_t count,
                      uint8_t *out)
{
    uint64_t key = random_stream_make(producer, sequence).key;
    uint64_t end = offset + count;
    while (offset < end) {
        uint64_t word = payload_word(key, offset / 8) >> (8 * (offset % 8));
        uint64_t here = 8 - offset % 8;
        if (here > end - offset)
            here = end - offset;
        for (uint64_t i = 0; i < here; i++)
            *out++ = (uint8_t)(word >> (8 * i));
        offset += here;
    }
}

uint64_t tgb_payload_check(uint32_t producer, uint64_t sequence, uint64_t count,
                           const uint8_t *bytes)
{
    uint8_t expected[4096];
    for (uint64_t offset = 0; offset < count; offset += sizeof(expected)) {
        uint64_t here = count - offset < sizeof(expected) ? count - offset : sizeof(expected);
        tgb_payload_fill(producer, sequence, offset, here, expected);
        for (uint64_t i = 0; i < here; i++)
            if (bytes[offset + i] != expected[i])
                return offset + i;
    }
    return count;
}
