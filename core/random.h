/* random.h - counter-based random streams.
 *
 * A stream is (key, counter); value n of a stream does not depend on who else drew. Streams are
 * passed explicitly and made from (seed, actor), so that adding an actor changes no other actor's
 * draws. Method: the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over key + n * odd constant.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include "core/base.h"

struct random_stream {
    uint64_t key;
    uint64_t counter;
};

/* Well-mixed 64 bits of the input; also used to derive keys. */
static inline uint64_t random_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static inline struct random_stream random_stream_make(uint64_t seed, uint64_t actor)
{
    uint64_t key = random_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    key = random_mix(key ^ random_mix(actor + UINT64_C(0xd1b54a32d192ed03)));
    return (struct random_stream){.key = key, .counter = 0};
}

static inline uint64_t random_next(struct random_stream *stream)
{
    stream->counter++;
    return random_mix(stream->key + stream->counter * UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform in [0, 1), 53 bits. */
static inline double random_unit(struct random_stream *stream)
{
    return (double)(random_next(stream) >> 11) * 0x1.0p-53;
}

/* Uniform in [1 - spread, 1 + spread); spread 0 gives exactly 1. */
static inline double random_factor(struct random_stream *stream, double spread)
{
    return 1.0 + spread * (2.0 * random_unit(stream) - 1.0);
}

static inline struct incarnation random_incarnation(struct random_stream *stream)
{
    struct incarnation result;
    for (size_t i = 0; i < INCARNATION_BYTES; i += 8) {
        uint64_t word = random_next(stream);
        for (size_t j = 0; j < 8; j++)
            result.bytes[i + j] = (uint8_t)(word >> (8 * j));
    }
    return result;
}

#endif
