/* wire.h - integers in the core's encodings: little endian, whatever the machine. Ours. */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include "core/base.h"

/* Write a value, and return where the next one goes. */
static inline uint8_t *wire_put32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    return out + 4;
}

static inline uint8_t *wire_put64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    return out + 8;
}

/* Read a value, and move on. */
static inline uint32_t wire_take32(const uint8_t **in)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)(*in)[i] << (8 * i);
    *in += 4;
    return value;
}

static inline uint64_t wire_take64(const uint8_t **in)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)(*in)[i] << (8 * i);
    *in += 8;
    return value;
}

#endif
