/* object_bound.c - see object_bound.h. Ours. */
#include "core/object_bound.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t bytes_max(const struct object_bound *bound)
{
    return bound->bytes_max != 0 ? bound->bytes_max : OBJECT_SMALL_BYTES;
}

bool object_bound_asks(const struct object_bound *bound, uint64_t bytes)
{
    return bound->claimed != NULL && bytes > OBJECT_SMALL_BYTES && bytes <= bytes_max(bound);
}

bool object_bound_fits(const struct object_bound *bound, uint64_t bytes, const uint8_t *head)
{
    if (bytes > bytes_max(bound))
        return false;
    return head == NULL || !object_bound_asks(bound, bytes) || bound->claimed(head) == bytes;
}

uint64_t object_bound_limit(const struct object_bound *bound, const uint8_t *head)
{
    uint64_t most = bytes_max(bound);
    if (bound->claimed == NULL || most <= OBJECT_SMALL_BYTES)
        return most;
    uint64_t claimed = head != NULL ? bound->claimed(head) : 0;
    return claimed > OBJECT_SMALL_BYTES && claimed <= most ? claimed : OBJECT_SMALL_BYTES;
}

void object_bound_text(const struct object_bound *bound, uint64_t bytes, const uint8_t *head,
                       char text[OBJECT_BOUND_TEXT_MAX])
{
    uint64_t claimed = head != NULL && object_bound_asks(bound, bytes) ? bound->claimed(head) : 0;
    if (bytes > bytes_max(bound))
        snprintf(text, OBJECT_BOUND_TEXT_MAX, "%" PRIu64 " bytes, of which %" PRIu64 " may be read",
                 bytes, bytes_max(bound));
    else if (claimed != 0)
        snprintf(text, OBJECT_BOUND_TEXT_MAX,
                 "%" PRIu64 " bytes, and %" PRIu64 " by its first ones", bytes, claimed);
    else
        snprintf(text, OBJECT_BOUND_TEXT_MAX,
                 "%" PRIu64 " bytes, and the first ones are none of its kind", bytes);
}
