/* object_request.c - see object_request.h. Ours. */
#include "sim/object_request.h"

#include <stdio.h>

static enum store_outcome apply_put(struct object_table *objects, const struct store_op *op,
                                    uint64_t hash)
{
    struct object *object = object_table_find(objects, op->key, hash);
    if (object != NULL && op->verb == STORE_PUT_IF_ABSENT)
        return STORE_EXISTS;
    if (object == NULL)
        object = object_table_add(objects, op->key, hash);
    object_table_fill(objects, object, &op->body);
    return STORE_OK;
}

uint64_t object_request_range_bytes(const struct store_op *op, uint64_t object_bytes)
{
    if (op->range_offset >= object_bytes)
        return 0;
    uint64_t rest = object_bytes - op->range_offset;
    return op->range_bytes != 0 && op->range_bytes < rest ? op->range_bytes : rest;
}

/* Only bytes cost memory. */
static bool is_too_long(struct store_op *op, const struct body *body)
{
    if (body->kind != BODY_BYTES || op->range_bytes != 0)
        return false;
    uint64_t bytes = object_request_range_bytes(op, body->bytes);
    const uint8_t *head = body->bytes >= OBJECT_HEAD_BYTES ? body->data : NULL;
    if (object_bound_fits(&op->bound, bytes, head))
        return false;
    char text[OBJECT_BOUND_TEXT_MAX];
    object_bound_text(&op->bound, bytes, head, text);
    snprintf(op->error, sizeof(op->error), "%.120s: %s", op->key, text);
    op->damaged = true;
    return true;
}

static enum store_outcome apply_get(struct object_table *objects, struct store_op *op,
                                    uint64_t hash)
{
    struct object *object = object_table_find(objects, op->key, hash);
    if (object == NULL)
        return STORE_NOT_FOUND;
    if (is_too_long(op, &object->body))
        return STORE_FAILED;
    op->object_bytes = object->body.bytes;
    op->result = body_copy_range(&object->body, op->range_offset, op->range_bytes);
    op->result.bytes = object_request_range_bytes(op, object->body.bytes);
    return STORE_OK;
}

static enum store_outcome apply_delete(struct object_table *objects, const struct store_op *op,
                                       uint64_t hash)
{
    struct object *object = object_table_find(objects, op->key, hash);
    if (object != NULL)
        object_table_remove(objects, object);
    return STORE_OK;
}

enum store_outcome object_request_apply(struct store_op *op, uint64_t hash,
                                        struct object_table *objects)
{
    switch (op->verb) {
    case STORE_GET:
        return apply_get(objects, op, hash);
    case STORE_PUT:
    case STORE_PUT_IF_ABSENT:
        return apply_put(objects, op, hash);
    case STORE_LIST:
        object_table_list(objects, op->key, op->after, op->list_keys_max, &op->page);
        return STORE_OK;
    case STORE_DELETE:
        return apply_delete(objects, op, hash);
    case STORE_VERB_COUNT:
        break;
    }
    return STORE_FAILED;
}

uint64_t object_request_moved_bytes(const struct store_op *op)
{
    return object_request_is_put(op->verb) ? op->body.bytes : op->result.bytes;
}
