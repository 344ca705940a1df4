/* stored_objects.c - a sorted array. Ours. */
#include "tests/core/stored_objects.h"

#include <stdlib.h>
#include <string.h>

void stored_objects_deinit(struct stored_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        body_release(&objects->items[i]->body);
        free(objects->items[i]);
    }
    free(objects->items);
    *objects = (struct stored_objects){0};
}

size_t stored_objects_at(const struct stored_objects *objects, const char *key)
{
    size_t low = 0;
    size_t high = objects->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(objects->items[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct stored_object *stored_objects_find(const struct stored_objects *objects, const char *key)
{
    size_t index = stored_objects_at(objects, key);
    bool found = index < objects->count && strcmp(objects->items[index]->key, key) == 0;
    return found ? objects->items[index] : NULL;
}

struct stored_object *stored_objects_create(struct stored_objects *objects, const char *key,
                                            const struct body *body)
{
    size_t index = stored_objects_at(objects, key);
    if (index < objects->count && strcmp(objects->items[index]->key, key) == 0)
        return NULL;
    if (objects->count == objects->capacity) {
        objects->capacity = objects->capacity ? 2 * objects->capacity : 64;
        objects->items = realloc(objects->items, objects->capacity * sizeof(*objects->items));
        assert(objects->items != NULL);
    }
    struct stored_object *object = malloc(sizeof(*object));
    assert(object != NULL && strlen(key) < sizeof(object->key));
    memcpy(object->key, key, strlen(key) + 1);
    object->body = body_copy_range(body, 0, 0);
    memmove(objects->items + index + 1, objects->items + index,
            (objects->count - index) * sizeof(*objects->items));
    objects->items[index] = object;
    objects->count++;
    return object;
}

void stored_objects_delete(struct stored_objects *objects, const char *key)
{
    size_t index = stored_objects_at(objects, key);
    if (index == objects->count || strcmp(objects->items[index]->key, key) != 0)
        return;
    body_release(&objects->items[index]->body);
    free(objects->items[index]);
    objects->count--;
    memmove(objects->items + index, objects->items + index + 1,
            (objects->count - index) * sizeof(*objects->items));
}

uint64_t stored_objects_count(const struct stored_objects *objects, const char *prefix)
{
    uint64_t count = 0;
    for (size_t i = stored_objects_at(objects, prefix); i < objects->count; i++, count++)
        if (strncmp(objects->items[i]->key, prefix, strlen(prefix)) != 0)
            break;
    return count;
}

void stored_objects_list(const struct stored_objects *objects, struct store_op *op)
{
    size_t prefix = strlen(op->key);
    const char *first = strcmp(op->after, op->key) > 0 ? op->after : op->key;
    for (size_t i = stored_objects_at(objects, first); i < objects->count; i++) {
        const struct stored_object *object = objects->items[i];
        if (strncmp(object->key, op->key, prefix) != 0)
            break;
        if (strcmp(object->key, op->after) <= 0)
            continue;
        if (op->page.count == op->list_keys_max) {
            op->page.truncated = true;
            break;
        }
        list_page_add(&op->page, object->key, object->body.bytes);
    }
}
