/* violations.h - what checkers found: how often, and the first in words. */
#ifndef SIM_VIOLATIONS_H
#define SIM_VIOLATIONS_H

#include "core/base.h"

#define VIOLATION_TEXT_MAX 320

struct violations {
    uint64_t count;
    char first[VIOLATION_TEXT_MAX]; /* with its time and actor; empty: none */
};

/* Counts, and keeps the text of the first. `now_ns` and `actor`: when it was seen, whose operation.
 */
__attribute__((format(printf, 4, 5))) void violations_add(struct violations *violations,
                                                          int64_t now_ns, uint32_t actor,
                                                          const char *format, ...);

#endif
