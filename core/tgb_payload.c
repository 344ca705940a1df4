/* tgb_payload.c - synthetic payloads: a counter-based stream of 64-bit words, little endian. */
#include "core/tgb_payload.h"

#include "core/random.h"
#include "core/wire.h"
#include "core/xxh3.h"

#define CHUNK_BYTES 4096

static uint64_t payload_word(uint64_t key, uint64_t index)
{
    return random_mix(key + index * UINT64_C(0x9e3779b97f4a7c15));
}

/* Whole words, in a loop that does nothing else: it is what checking a slice costs. */
static uint8_t *payload_words(uint64_t key, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        (void)wire_put64(out + 8 * i, payload_word(key, first + i));
    return out + 8 * count;
}

void tgb_payload_fill(uint32_t producer, uint64_t sequence, uint64_t offset, uint64_t count,
                      uint8_t *out)
{
    uint64_t key = random_stream_make(producer, sequence).key;
    uint64_t end = offset + count;
    while (offset < end) {
        uint64_t here = 8 - offset % 8;
        if (here == 8 && end - offset >= 8) {
            uint64_t words = (end - offset) / 8;
            out = payload_words(key, offset / 8, words, out);
            offset += words * 8;
            continue;
        }
        uint64_t word = payload_word(key, offset / 8) >> (8 * (offset % 8));
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
    uint8_t expected[CHUNK_BYTES];
    for (uint64_t offset = 0; offset < count; offset += sizeof(expected)) {
        uint64_t here = count - offset < sizeof(expected) ? count - offset : sizeof(expected);
        tgb_payload_fill(producer, sequence, offset, here, expected);
        for (uint64_t i = 0; i < here; i++)
            if (bytes[offset + i] != expected[i])
                return offset + i;
    }
    return count;
}

uint64_t tgb_payload_hash(uint32_t producer, uint64_t sequence, uint64_t offset, uint64_t count)
{
    uint8_t chunk[CHUNK_BYTES];
    XXH3_state_t *state = XXH3_createState();
    assert(state != NULL);
    XXH3_64bits_reset(state);
    for (uint64_t at = 0; at < count; at += sizeof(chunk)) {
        uint64_t here = count - at < sizeof(chunk) ? count - at : sizeof(chunk);
        tgb_payload_fill(producer, sequence, offset + at, here, chunk);
        XXH3_64bits_update(state, chunk, here);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}
