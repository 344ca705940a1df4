/* object_index.c - one sorted array of ids per first path component, with an unsorted tail. Ours.
 *
 * Keys that arrive in order (versions of the chain) are appended to the sorted part at once. A
 * listing usually asks for what is newest, so its start is sought from the end, in growing steps.
 */
#include "sim/object_index.h"

#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

#define PURGE_MIN 64 /* removed ids in an index before it is worth a sweep */

static const char *key_at(const struct object_table *table, const struct object_index *index,
                          uint32_t position)
{
    return object_table_at(table, index->ids[position])->key;
}

static size_t component_of(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash == NULL ? 0 : (size_t)(slash - key) + 1;
}

static bool is_component(const struct object_index *index, const char *key, size_t bytes)
{
    return index->component_bytes == bytes && memcmp(index->component, key, bytes) == 0;
}

uint32_t object_index_of(struct object_table *table, const char *key)
{
    size_t bytes = component_of(key);
    uint32_t last = table->index_last;
    if (last < table->index_count && is_component(&table->indexes[last], key, bytes))
        return last;
    for (uint32_t i = 0; i < table->index_count; i++)
        if (is_component(&table->indexes[i], key, bytes))
            return table->index_last = i;
    table->indexes = memory_resize(table->indexes, table->index_count + 1, sizeof(*table->indexes));
    char *component = strndup(key, bytes);
    assert(component != NULL);
    table->indexes[table->index_count] = (struct object_index){
        .component = component,
        .component_bytes = bytes,
    };
    return table->index_last = table->index_count++;
}

void object_index_add(struct object_table *table, const struct object *object)
{
    struct object_index *index = &table->indexes[object->index];
    if (index->count == index->capacity) {
        index->capacity = index->capacity == 0 ? 64 : index->capacity * 2;
        index->ids = memory_resize(index->ids, index->capacity, sizeof(*index->ids));
    }
    bool in_order =
        index->sorted == index->count &&
        (index->count == 0 || strcmp(key_at(table, index, index->count - 1), object->key) < 0);
    index->ids[index->count++] = object->id;
    index->sorted += in_order ? 1 : 0;
}

static void purge(struct object_table *table, struct object_index *index)
{
    uint32_t kept = 0;
    uint32_t sorted = 0;
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t id = index->ids[i];
        if (object_table_at(table, id)->removed) {
            object_table_recycle(table, id);
            continue;
        }
        index->ids[kept++] = id;
        sorted += i < index->sorted ? 1 : 0;
    }
    index->count = kept;
    index->sorted = sorted;
    index->removed = 0;
}

void object_index_remove(struct object_table *table, const struct object *object)
{
    struct object_index *index = &table->indexes[object->index];
    index->removed++;
    if (index->removed >= PURGE_MIN && index->removed > index->count / 2)
        purge(table, index);
}

static int compare_ids(const void *left, const void *right, void *context)
{
    const struct object_table *table = context;
    return strcmp(object_table_at(table, *(const uint32_t *)left)->key,
                  object_table_at(table, *(const uint32_t *)right)->key);
}

/* Sorts the tail and merges it from the back, so that only what lies behind it moves. */
static void sort_index(struct object_table *table, struct object_index *index)
{
    uint32_t tail = index->count - index->sorted;
    if (tail == 0)
        return;
    if (table->scratch_capacity < tail) {
        table->scratch_capacity = tail * 2;
        table->scratch =
            memory_resize(table->scratch, table->scratch_capacity, sizeof(*table->scratch));
    }
    memcpy(table->scratch, index->ids + index->sorted, tail * sizeof(*table->scratch));
    qsort_r(table->scratch, tail, sizeof(*table->scratch), compare_ids, table);
    uint32_t head = index->sorted;
    uint32_t to = index->count;
    while (tail > 0) {
        bool from_head =
            head > 0 && compare_ids(&index->ids[head - 1], &table->scratch[tail - 1], table) > 0;
        index->ids[--to] = from_head ? index->ids[--head] : table->scratch[--tail];
    }
    index->sorted = index->count;
}

/* True if the key comes before what the listing may hold. */
static bool too_early(const char *key, const char *prefix, const char *after)
{
    return strcmp(key, prefix) < 0 || strcmp(key, after) <= 0;
}

static uint32_t listing_start(const struct object_table *table, const struct object_index *index,
                              const char *prefix, const char *after)
{
    uint32_t high = index->count; /* everything from here on may be listed */
    uint32_t low = 0;             /* everything below may not */
    for (uint32_t step = 1; low < high; step *= 2) {
        uint32_t probe = high - low > step ? high - step : low;
        if (too_early(key_at(table, index, probe), prefix, after)) {
            low = probe + 1;
            break;
        }
        high = probe;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (too_early(key_at(table, index, middle), prefix, after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next live object of the index that begins with the prefix; NULL: no more. */
static struct object *cursor_object(const struct object_table *table, struct object_index *index,
                                    const char *prefix, size_t prefix_bytes)
{
    bool all_begin = prefix_bytes == index->component_bytes; /* as index_may_hold has found */
    for (; index->cursor < index->count; index->cursor++) {
        struct object *object = object_table_at(table, index->ids[index->cursor]);
        if (!all_begin && strncmp(object->key, prefix, prefix_bytes) != 0)
            return NULL;
        if (!object->removed)
            return object;
    }
    return NULL;
}

static bool index_may_hold(const struct object_index *index, const char *prefix)
{
    size_t bytes = component_of(prefix);
    return bytes == 0 || is_component(index, prefix, bytes);
}

void object_table_list(struct object_table *table, const char *prefix, const char *after,
                       uint32_t keys_max, struct list_page *page)
{
    assert(keys_max >= 1 && keys_max <= STORE_LIST_KEYS_MAX);
    size_t prefix_bytes = strlen(prefix);
    list_page_clear(page);
    uint32_t from = table->index_count; /* the indexes that may hold something */
    uint32_t to = 0;
    for (uint32_t i = 0; i < table->index_count; i++) {
        struct object_index *index = &table->indexes[i];
        index->cursor = index->count;
        if (!index_may_hold(index, prefix))
            continue;
        sort_index(table, index);
        index->cursor = listing_start(table, index, prefix, after);
        from = i < from ? i : from;
        to = i + 1;
    }
    for (;;) {
        struct object *first = NULL;
        for (uint32_t i = from; i < to; i++) {
            struct object_index *index = &table->indexes[i];
            struct object *object = cursor_object(table, index, prefix, prefix_bytes);
            if (object != NULL && (first == NULL || strcmp(object->key, first->key) < 0))
                first = object;
        }
        if (first == NULL)
            return;
        if (page->count == keys_max) {
            page->truncated = true;
            return;
        }
        list_page_add(page, first->key, first->body.bytes);
        table->indexes[first->index].cursor++;
    }
}
