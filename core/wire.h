/* wire.h - integers in the core's encodings: little endian, whatever the machine. Ours. */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include "core/base.h"

/* Write a value, and return where the next one goes. Byte by byte and without a loop: at -O2 gcc
 * makes one store of it, and of a loop eight. */
static inline uint8_t *wire_put32(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    out[2] = (uint8_t)(value >> 16);
    out[3] = (uint8_t)(value >> 24);
    return out + 4;
}

static inline uint8_t *wire_put64(uint8_t *out, uint64_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    out[2] = (uint8_t)(value >> 16);
    out[3] = (uint8_t)(value >> 24);
    out[4] = (uint8_t)(value >> 32);
    out[5] = (uint8_t)(value >> 40);
    out[6] = (uint8_t)(value >> 48);
    out[7] = (uint8_t)(value >> 56);
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
