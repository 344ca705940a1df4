/* hostile_objects.h - the objects of a hostile server: a sorted array in memory. Not locked: the
 * server does that. */
#ifndef TESTS_HOSTILE_HOSTILE_OBJECTS_H
#define TESTS_HOSTILE_HOSTILE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct hostile_object {
    char *key;
    uint8_t *data;
    size_t bytes;
    char *meta; /* lines of x-amz-meta headers, each with its CR LF; may be empty */
};

struct hostile_objects {
    size_t count;
    size_t capacity;
    struct hostile_object *items; /* in ascending byte order of keys */
};

void hostile_objects_deinit(struct hostile_objects *objects);
/* Index of the first whose key is at or after `key`. */
size_t hostile_objects_at(const struct hostile_objects *objects, const char *key);
/* NULL: there is none. */
struct hostile_object *hostile_objects_find(struct hostile_objects *objects, const char *key);
/* Copies all that it is given. Replaces what was there. */
void hostile_objects_put(struct hostile_objects *objects, const char *key, const void *data,
                         size_t bytes, const char *meta);
/* Whether there was one. */
int hostile_objects_delete(struct hostile_objects *objects, const char *key);

#endif
