/* object_bound.h - how long an object may be whose bytes a reader takes: a store holds what it
 * finds against it before it reads on, so that no object, and no answer, costs more memory than its
 * reader has use for. Ours.
 *
 * What is small is read in any case, and judged by its reader. What is longer must be of a kind
 * whose first bytes say how long it is, and be as long, or be allowed by its length alone. */
#ifndef CORE_OBJECT_BOUND_H
#define CORE_OBJECT_BOUND_H

#include <stdbool.h>

#include "core/base.h"

#define OBJECT_SMALL_BYTES ((uint64_t)1 << 20) /* markers, marks, numbers and their like */
#define OBJECT_HEAD_BYTES 96
#define OBJECT_BOUND_TEXT_MAX 112

/* Zero: OBJECT_SMALL_BYTES. */
struct object_bound {
    uint64_t bytes_max; /* 0: OBJECT_SMALL_BYTES */
    /* How long an object is by its first OBJECT_HEAD_BYTES; 0: none begins so. Asked of those that
     * have more than OBJECT_SMALL_BYTES; NULL: bytes_max alone counts. */
    uint64_t (*claimed)(const uint8_t *head);
};

/* Whether so many bytes may be read; head NULL: it is not known yet, and not what decides. */
bool object_bound_fits(const struct object_bound *bound, uint64_t bytes, const uint8_t *head);
/* Whether it takes the head to tell that so many bytes fit. */
bool object_bound_asks(const struct object_bound *bound, uint64_t bytes);
/* For what comes without a length: how much may come; head NULL: so far. */
uint64_t object_bound_limit(const struct object_bound *bound, const uint8_t *head);
/* What is wrong with an object that has so many bytes, or more, and does not fit: both sizes, for a
 * message. */
void object_bound_text(const struct object_bound *bound, uint64_t bytes, const uint8_t *head,
                       char text[OBJECT_BOUND_TEXT_MAX]);

#endif
