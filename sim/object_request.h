/* object_request.h - what one request does to the objects, whenever it is applied: no time, and no
 * randomness. Nothing blocks. */
#ifndef SIM_OBJECT_REQUEST_H
#define SIM_OBJECT_REQUEST_H

#include <stdbool.h>

#include "sim/object_table.h"

static inline bool object_request_is_put(enum store_verb verb)
{
    return verb == STORE_PUT || verb == STORE_PUT_IF_ABSENT;
}

static inline bool object_request_is_read(enum store_verb verb)
{
    return verb == STORE_GET || verb == STORE_LIST;
}

/* Of an object of `object_bytes`, those that a GET's range selects. */
uint64_t object_request_range_bytes(const struct store_op *op, uint64_t object_bytes);
/* Up, or down once it was applied. */
uint64_t object_request_moved_bytes(const struct store_op *op);
/* `hash`: object_table_hash of op->key. Fills in op->result, op->page and op->object_bytes, which
 * are the caller's; what it returns is to be op->outcome. */
enum store_outcome object_request_apply(struct store_op *op, uint64_t hash,
                                        struct object_table *objects);

#endif
