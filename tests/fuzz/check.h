/* check.h - what must hold of every text that a decoder makes of bytes from outside. */
#ifndef TESTS_FUZZ_CHECK_H
#define TESTS_FUZZ_CHECK_H

#include <string.h>

#include "core/base.h"

/* It ends within its capacity, and holds nothing that a terminal obeys: no control character, no
 * C1 as UTF-8. */
static inline void check_harmless(const char *text, size_t capacity)
{
    size_t length = strnlen(text, capacity);
    assert(length < capacity);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        unsigned char next = (unsigned char)text[i + 1];
        assert(byte >= ' ' && byte != 0x7f);
        assert(byte != 0xc2 || (next & 0xe0) != 0x80);
    }
}

/* The same of a text that must say something. */
static inline void check_told(const char *text, size_t capacity)
{
    assert(text[0] != '\0');
    check_harmless(text, capacity);
}

#endif
