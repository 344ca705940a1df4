/* object_index.h - inside of object_table: the sorted indexes that listings read. */
#ifndef SIM_OBJECT_INDEX_H
#define SIM_OBJECT_INDEX_H

#include "sim/object_table.h"

static inline struct object *object_table_at(const struct object_table *table, uint32_t id)
{
    return &table->chunks[id / OBJECT_CHUNK][id % OBJECT_CHUNK];
}

/* Frees the key of a removed object that no index names any more, and its id. */
void object_table_recycle(struct object_table *table, uint32_t id);

/* Number of the index of the key's component; made if it is new. */
uint32_t object_index_of(struct object_table *table, const char *key);
void object_index_add(struct object_table *table, const struct object *object);
/* The object is marked as removed already. */
void object_index_remove(struct object_table *table, const struct object *object);

#endif
