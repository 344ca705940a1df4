/* memory.h - allocation that does not fail: running out of memory ends the program, by assert. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "core/base.h"

/* Zeroed; freed with free. */
static inline void *memory_make(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    assert(memory != NULL);
    return memory;
}

static inline void *memory_make_aligned(size_t alignment, size_t count, size_t bytes)
{
    assert(bytes % alignment == 0 && bytes <= SIZE_MAX / count);
    void *memory = aligned_alloc(alignment, count * bytes);
    assert(memory != NULL);
    return memset(memory, 0, count * bytes);
}

/* As realloc; what is new is not zeroed. */
static inline void *memory_resize(void *memory, size_t count, size_t bytes)
{
    assert(count > 0 && bytes <= SIZE_MAX / count);
    memory = realloc(memory, count * bytes);
    assert(memory != NULL);
    return memory;
}

#endif
