/* input.h - bytes of an input read as decisions: past the end they are all zero. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stdbool.h>

#include "core/base.h"

struct fuzz_input {
    const uint8_t *data;
    size_t size;
    size_t at;
};

static inline bool fuzz_ended(const struct fuzz_input *input)
{
    return input->at == input->size;
}

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
    return input->at < input->size ? input->data[input->at++] : 0;
}

/* A number: mostly small, else at an edge, or eight bytes as they are. */
static inline uint64_t fuzz_number(struct fuzz_input *input)
{
    uint8_t form = fuzz_byte(input);
    if (form < 0xe0)
        return form;
    uint64_t value = 0;
    if (form < 0xf0) { /* near a power of two */
        uint8_t shift = fuzz_byte(input);
        return (UINT64_C(1) << (shift % 64)) + (uint64_t)(form - 0xe8);
    }
    if (form < 0xf8)
        return UINT64_MAX - (uint64_t)(form - 0xf0);
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)fuzz_byte(input) << (8 * i);
    return value;
}

/* The next bytes, borrowed: as many as a length byte says and as there are. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *input, size_t *size)
{
    size_t left;
    *size = fuzz_byte(input);
    left = input->size - input->at;
    if (*size > left)
        *size = left;
    const uint8_t *bytes = input->data + input->at;
    input->at += *size;
    return bytes;
}

#endif
