/* hostile_objects.c - see hostile_objects.h. */
#include "tests/hostile/hostile_objects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void object_free(struct hostile_object *object)
{
    free(object->key);
    free(object->data);
    free(object->meta);
}

void hostile_objects_deinit(struct hostile_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        object_free(&objects->items[i]);
    free(objects->items);
    *objects = (struct hostile_objects){0};
}

size_t hostile_objects_at(const struct hostile_objects *objects, const char *key)
{
    size_t low = 0;
    size_t high = objects->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(objects->items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct hostile_object *hostile_objects_find(struct hostile_objects *objects, const char *key)
{
    size_t at = hostile_objects_at(objects, key);
    if (at == objects->count || strcmp(objects->items[at].key, key) != 0)
        return NULL;
    return &objects->items[at];
}

static struct hostile_object *insert(struct hostile_objects *objects, const char *key)
{
    size_t at = hostile_objects_at(objects, key);
    if (objects->count == objects->capacity) {
        objects->capacity = objects->capacity == 0 ? 64 : 2 * objects->capacity;
        objects->items = realloc(objects->items, objects->capacity * sizeof(*objects->items));
        assert(objects->items != NULL);
    }
    struct hostile_object *object = &objects->items[at];
    memmove(object + 1, object, (objects->count - at) * sizeof(*object));
    objects->count++;
    *object = (struct hostile_object){.key = strdup(key)};
    assert(object->key != NULL);
    return object;
}

void hostile_objects_put(struct hostile_objects *objects, const char *key, const void *data,
                         size_t bytes, const char *meta)
{
    struct hostile_object *object = hostile_objects_find(objects, key);
    if (object == NULL)
        object = insert(objects, key);
    free(object->data);
    free(object->meta);
    object->data = malloc(bytes > 0 ? bytes : 1);
    object->meta = strdup(meta);
    assert(object->data != NULL && object->meta != NULL);
    if (bytes > 0)
        memcpy(object->data, data, bytes);
    object->bytes = bytes;
}

int hostile_objects_delete(struct hostile_objects *objects, const char *key)
{
    struct hostile_object *object = hostile_objects_find(objects, key);
    if (object == NULL)
        return 0;
    object_free(object);
    size_t after = objects->count - (size_t)(object - objects->items) - 1;
    memmove(object, object + 1, after * sizeof(*object));
    objects->count--;
    return 1;
}
