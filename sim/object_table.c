/* object_table.c - hash table of objects and the memory of their keys. Ours; xxhash supplies XXH3.
 */
#include "sim/object_table.h"

#include <string.h>
#include <xxhash.h>

#include "sim/memory.h"
#include "sim/object_index.h"

#define SLOTS_FIRST 1024
#define KEY_BLOCK_BYTES ((size_t)1 << 14)

struct key_block {
    struct key_block *next;
    char bytes[];
};

/* ---- keys: blocks, and free lists by size ---- */

static size_t key_class(size_t key_bytes)
{
    size_t class = (key_bytes + KEY_CLASS_BYTES - 1) / KEY_CLASS_BYTES;
    assert(class < KEY_CLASSES);
    return class;
}

static char *key_make(struct object_table *table, struct object_index *index, size_t size)
{
    if (index->key_left < size) {
        struct key_block *block = memory_resize(NULL, 1, sizeof(*block) + KEY_BLOCK_BYTES);
        block->next = table->blocks;
        table->blocks = block;
        index->key_next = block->bytes;
        index->key_left = KEY_BLOCK_BYTES;
    }
    char *key = index->key_next;
    index->key_next += size;
    index->key_left -= size;
    return key;
}

static char *key_copy(struct object_table *table, struct object_index *index, const char *key)
{
    size_t key_bytes = strlen(key) + 1;
    size_t class = key_class(key_bytes);
    char *copy = table->key_free[class];
    if (copy != NULL)
        memcpy(&table->key_free[class], copy, sizeof(void *));
    else
        copy = key_make(table, index, class * KEY_CLASS_BYTES);
    return memcpy(copy, key, key_bytes);
}

static void key_free(struct object_table *table, char *key)
{
    size_t class = key_class(strlen(key) + 1);
    memcpy(key, &table->key_free[class], sizeof(void *));
    table->key_free[class] = key;
}

/* ---- objects ---- */

static uint32_t object_make(struct object_table *table, struct object_index *index)
{
    if (table->spare_count > 0)
        return table->spare[--table->spare_count];
    if (index->ids_left == 0) {
        assert(table->chunk_count < OBJECT_TABLE_MAX / OBJECT_CHUNK);
        if (table->chunk_count == table->chunk_capacity) {
            table->chunk_capacity = table->chunk_capacity == 0 ? 64 : table->chunk_capacity * 2;
            table->chunks =
                memory_resize(table->chunks, table->chunk_capacity, sizeof(*table->chunks));
        }
        index->next_id = table->chunk_count * OBJECT_CHUNK;
        index->ids_left = OBJECT_CHUNK;
        table->chunks[table->chunk_count++] =
            memory_make_aligned(_Alignof(struct object), OBJECT_CHUNK, sizeof(struct object));
    }
    index->ids_left--;
    return index->next_id++;
}

void object_table_recycle(struct object_table *table, uint32_t id)
{
    struct object *object = object_table_at(table, id);
    assert(object->removed);
    key_free(table, object->key);
    if (table->spare_count == table->spare_capacity) {
        table->spare_capacity = table->spare_capacity == 0 ? 256 : table->spare_capacity * 2;
        table->spare = memory_resize(table->spare, table->spare_capacity, sizeof(*table->spare));
    }
    table->spare[table->spare_count++] = id;
}

/* ---- hash table ---- */

static void slots_make(struct object_table *table, uint32_t slots)
{
    table->slots = memory_make(slots, sizeof(*table->slots));
    table->slot_mask = slots - 1;
}

static void slot_put(struct object_table *table, struct object_slot slot)
{
    uint32_t at = slot.hash & table->slot_mask;
    while (table->slots[at].id_plus_one != 0)
        at = (at + 1) & table->slot_mask;
    table->slots[at] = slot;
}

static void slots_grow(struct object_table *table)
{
    struct object_slot *old = table->slots;
    uint32_t old_count = table->slot_mask + 1;
    assert(old_count <= OBJECT_TABLE_MAX);
    slots_make(table, old_count * 2);
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].id_plus_one != 0)
            slot_put(table, old[i]);
    free(old);
}

void object_table_init(struct object_table *table)
{
    *table = (struct object_table){0};
    slots_make(table, SLOTS_FIRST);
}

void object_table_deinit(struct object_table *table)
{
    for (uint32_t id = 0; id < table->chunk_count * OBJECT_CHUNK; id++)
        body_release(&object_table_at(table, id)->body);
    for (uint32_t i = 0; i < table->chunk_count; i++)
        free(table->chunks[i]);
    for (uint32_t i = 0; i < table->index_count; i++) {
        free(table->indexes[i].component);
        free(table->indexes[i].ids);
    }
    while (table->blocks != NULL) {
        struct key_block *block = table->blocks;
        table->blocks = block->next;
        free(block);
    }
    free(table->slots);
    free(table->chunks);
    free(table->spare);
    free(table->indexes);
    free(table->scratch);
    *table = (struct object_table){0};
}

uint64_t object_table_hash(const char *key)
{
    return XXH3_64bits(key, strlen(key));
}

struct object *object_table_find(const struct object_table *table, const char *key, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & table->slot_mask;
    for (; table->slots[at].id_plus_one != 0; at = (at + 1) & table->slot_mask) {
        if (table->slots[at].hash != (uint32_t)hash)
            continue;
        struct object *object = object_table_at(table, table->slots[at].id_plus_one - 1);
        if (strcmp(object->key, key) == 0)
            return object;
    }
    return NULL;
}

void object_table_prefetch_slot(const struct object_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[(uint32_t)hash & table->slot_mask]);
}

void object_table_prefetch_object(const struct object_table *table, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & table->slot_mask;
    for (; table->slots[at].id_plus_one != 0; at = (at + 1) & table->slot_mask) {
        if (table->slots[at].hash == (uint32_t)hash) {
            __builtin_prefetch(object_table_at(table, table->slots[at].id_plus_one - 1));
            return;
        }
    }
}

struct object *object_table_add(struct object_table *table, const char *key, uint64_t hash)
{
    if (table->count >= table->slot_mask / 2)
        slots_grow(table);
    uint32_t number = object_index_of(table, key);
    struct object_index *index = &table->indexes[number];
    uint32_t id = object_make(table, index);
    struct object *object = object_table_at(table, id);
    *object = (struct object){
        .key = key_copy(table, index, key), .hash = (uint32_t)hash, .index = number, .id = id};
    slot_put(table, (struct object_slot){(uint32_t)hash, id + 1});
    object_index_add(table, object);
    table->count++;
    return object;
}

void object_table_fill(struct object_table *table, struct object *object, const struct body *body)
{
    uint64_t *bytes = &table->indexes[object->index].bytes;
    *bytes -= object->body.bytes;
    body_release(&object->body);
    object->body = body_owns(body) ? body_copy_range(body, 0, 0) : *body;
    *bytes += object->body.bytes;
}

static void slot_clear(struct object_table *table, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & table->slot_mask; table->slots[at].id_plus_one != 0;
         at = (at + 1) & table->slot_mask) {
        uint32_t home = table->slots[at].hash & table->slot_mask;
        /* The entry may move back if its home does not lie between the hole and it. */
        if (((at - home) & table->slot_mask) >= ((at - hole) & table->slot_mask)) {
            table->slots[hole] = table->slots[at];
            hole = at;
        }
    }
    table->slots[hole] = (struct object_slot){0};
}

void object_table_remove(struct object_table *table, struct object *object)
{
    assert(!object->removed);
    uint32_t at = object->hash & table->slot_mask;
    while (table->slots[at].id_plus_one != object->id + 1)
        at = (at + 1) & table->slot_mask;
    slot_clear(table, at);
    table->indexes[object->index].bytes -= object->body.bytes;
    body_release(&object->body);
    object->removed = true;
    table->count--;
    object_index_remove(table, object);
}

struct object_stock object_table_stock(const struct object_table *table, const char *component)
{
    for (uint32_t i = 0; i < table->index_count; i++) {
        const struct object_index *index = &table->indexes[i];
        if (strcmp(index->component, component) == 0)
            return (struct object_stock){.objects = index->count - index->removed,
                                         .bytes = index->bytes};
    }
    return (struct object_stock){0};
}
