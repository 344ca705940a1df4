/* object_table.h - the objects of a virtual store: exact keys by hash, listings by sorted indexes.
 *
 * The table owns keys and bodies. One index per first path component ("manifest/", "tgb/"); new
 * keys go to an unsorted tail, which is sorted and merged when somebody lists. A removed object
 * stays in its index, marked, until half of the index is marked. Pointers to objects are valid
 * until the object is removed. Running out of memory ends the program. Method: open addressing with
 * linear probing and backward-shift deletion; XXH3 of the key. */
#ifndef SIM_OBJECT_TABLE_H
#define SIM_OBJECT_TABLE_H

#include <stdbool.h>

#include "core/base.h"
#include "core/store.h"

#define OBJECT_TABLE_MAX (UINT32_C(1) << 30) /* objects */
#define OBJECT_CHUNK 256                     /* objects made at once, of one component */
#define KEY_CLASS_BYTES 8
#define KEY_CLASSES (STORE_KEY_MAX / KEY_CLASS_BYTES + 1)

struct object { /* one cache line */
    _Alignas(64) char *key;
    struct body body; /* owned */
    uint32_t hash;
    uint32_t index; /* of its component */
    uint32_t id;
    bool removed;
};

struct object_stock {
    uint64_t objects;
    uint64_t bytes;
};

struct object_slot {
    uint32_t hash;
    uint32_t id_plus_one; /* 0: empty */
};

struct object_index {
    char *component; /* with its slash; "" for keys without one */
    size_t component_bytes;
    uint32_t *ids;
    uint32_t count;
    uint32_t sorted; /* the first so many are in key order */
    uint32_t removed;
    uint64_t bytes; /* of the bodies of its objects; kept by object_table_fill and remove */
    uint32_t capacity;
    uint32_t cursor; /* of the listing in progress */
    /* New objects and keys come from memory of the component's own, so that a listing reads on. */
    uint32_t next_id;
    uint32_t ids_left;
    char *key_next;
    size_t key_left; /* bytes */
};

struct object_table {
    struct object_slot *slots;
    uint32_t slot_mask;
    uint32_t count; /* live objects */
    struct object **chunks;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint32_t *spare; /* ids to be used again */
    uint32_t spare_count;
    uint32_t spare_capacity;
    struct object_index *indexes;
    uint32_t index_count;
    uint32_t index_last; /* used last */
    uint32_t *scratch;
    uint32_t scratch_capacity;
    struct key_block *blocks; /* memory of the keys */
    void *key_free[KEY_CLASSES];
};

void object_table_init(struct object_table *table);
void object_table_deinit(struct object_table *table);

uint64_t object_table_hash(const char *key);
/* NULL if absent. `hash` is the key's. */
struct object *object_table_find(const struct object_table *table, const char *key, uint64_t hash);
/* Hints that the key will be looked for: first its slot, a little later its object. */
void object_table_prefetch_slot(const struct object_table *table, uint64_t hash);
void object_table_prefetch_object(const struct object_table *table, uint64_t hash);
/* The key must be absent. The body is empty. */
struct object *object_table_add(struct object_table *table, const char *key, uint64_t hash);
/* Gives the object a copy of the body. */
void object_table_fill(struct object_table *table, struct object *object, const struct body *body);
void object_table_remove(struct object_table *table, struct object *object);
/* Of the objects of one component, "tgb/" for example. */
struct object_stock object_table_stock(const struct object_table *table, const char *component);
/* Fills the page with up to `keys_max` keys that begin with `prefix` and are greater than `after`.
 */
void object_table_list(struct object_table *table, const char *prefix, const char *after,
                       uint32_t keys_max, struct list_page *page);

#endif
