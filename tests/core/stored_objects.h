/* stored_objects.h - what an in-memory store holds: keys in order, each with its body. */
#ifndef TESTS_CORE_STORED_OBJECTS_H
#define TESTS_CORE_STORED_OBJECTS_H

#include "core/store.h"

struct stored_object {
    char key[STORE_KEY_MAX];
    struct body body;
};

/* Zeroed at first. */
struct stored_objects {
    struct stored_object **items; /* by ascending key */
    size_t count;
    size_t capacity;
};

void stored_objects_deinit(struct stored_objects *objects);
/* The index of the first whose key is at or after `key`. */
size_t stored_objects_at(const struct stored_objects *objects, const char *key);
/* NULL: there is none. Valid until it is deleted. */
struct stored_object *stored_objects_find(const struct stored_objects *objects, const char *key);
/* Copies the body. NULL: the key is taken, and nothing has changed. */
struct stored_object *stored_objects_create(struct stored_objects *objects, const char *key,
                                            const struct body *body);
void stored_objects_delete(struct stored_objects *objects, const char *key);
/* How many keys begin so. */
uint64_t stored_objects_count(const struct stored_objects *objects, const char *prefix);
/* The page that a LIST asks for. */
void stored_objects_list(const struct stored_objects *objects, struct store_op *op);

#endif
