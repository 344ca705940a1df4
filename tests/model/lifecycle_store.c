/* lifecycle_store.c - an object store as a set of keys. Ours. */
#include "tests/model/lifecycle_store.h"

#include <string.h>

#include "tests/model/lifecycle_hash.h"

bool lifecycle_store_has(const struct lifecycle_store *store, uint32_t key)
{
    return store->present[key / 64] >> (key % 64) & 1;
}

static void set(struct lifecycle_store *store, uint32_t key)
{
    store->present[key / 64] |= UINT64_C(1) << (key % 64);
}

static void unset(struct lifecycle_store *store, uint32_t key)
{
    store->present[key / 64] &= ~(UINT64_C(1) << (key % 64));
}

struct floor lifecycle_store_floor(const struct lifecycle_store *store)
{
    for (uint32_t i = keys_after(NAME_FLOOR_PREFIX); i < keys_count(); i++) {
        uint32_t key = keys_in_order(i);
        if (keys_at(key)->kind != KEY_FLOOR)
            break;
        if (lifecycle_store_has(store, key))
            return keys_at(key)->floor;
    }
    return (struct floor){0};
}

uint64_t lifecycle_store_given_up(const struct lifecycle_store *store)
{
    uint64_t step = 0;
    for (uint32_t i = keys_after(NAME_FLOOR_PREFIX); i < keys_count(); i++) {
        uint32_t key = keys_in_order(i);
        if (keys_at(key)->kind != KEY_FLOOR)
            break;
        if (lifecycle_store_has(store, key) && keys_at(key)->floor.step > step)
            step = keys_at(key)->floor.step;
    }
    return step;
}

/* ---- writes ---- */

static struct incarnation *number_at(struct lifecycle_store *store, const struct key *key)
{
    assert(key->watermark.consumer < LIFECYCLE_CONSUMERS_MAX);
    assert(key->watermark.number <= LIFECYCLE_NUMBERS_MAX);
    return &store->numbers[key->watermark.consumer][key->watermark.number];
}

static bool is_number(const struct key *key)
{
    return key->kind == KEY_WATERMARK && key->watermark.part == WATERMARK_NUMBER;
}

static void put(struct lifecycle_store *store, struct applied *applied)
{
    const struct key *key = keys_at(applied->key);
    applied->changed = !lifecycle_store_has(store, applied->key);
    if (key->kind == KEY_VERSION) {
        assert(key->version <= LIFECYCLE_VERSIONS_MAX && applied->changed);
        store->versions[key->version] = manifest_retain(applied->content.manifest);
    }
    if (is_number(key))
        *number_at(store, key) = applied->content.identity;
    set(store, applied->key);
}

static void delete (struct lifecycle_store *store, struct applied *applied)
{
    const struct key *key = keys_at(applied->key);
    applied->changed = lifecycle_store_has(store, applied->key);
    unset(store, applied->key);
    if (key->kind == KEY_VERSION) {
        manifest_release(store->versions[key->version]);
        store->versions[key->version] = NULL;
    }
    if (is_number(key))
        *number_at(store, key) = (struct incarnation){0};
}

static enum store_outcome write(struct lifecycle_store *store, struct applied *applied)
{
    applied->changed = false;
    if (applied->verb == STORE_PUT_IF_ABSENT && lifecycle_store_has(store, applied->key))
        return STORE_EXISTS;
    if (applied->verb == STORE_DELETE)
        delete (store, applied);
    else
        put(store, applied);
    return STORE_OK;
}

static struct content content_of(const struct store_op *op)
{
    struct content content = {0};
    if (op->body.kind == BODY_MANIFEST)
        content.manifest = op->body.manifest;
    if (op->body.kind == BODY_BYTES && op->body.bytes == INCARNATION_BYTES)
        memcpy(content.identity.bytes, op->body.data, INCARNATION_BYTES);
    return content;
}

void lifecycle_store_delay(struct lifecycle_store *store, const struct store_op *op)
{
    assert(store->late_count < LIFECYCLE_LATE_MAX);
    struct late_write *late = &store->late[store->late_count++];
    *late = (struct late_write){
        .key = keys_number(op->key), .verb = op->verb, .content = content_of(op)};
    if (late->content.manifest)
        manifest_retain(late->content.manifest);
}

void lifecycle_store_land(struct lifecycle_store *store, uint32_t index, struct applied *applied)
{
    assert(index < store->late_count);
    struct late_write late = store->late[index];
    store->late[index] = store->late[--store->late_count];
    store->late[store->late_count] = (struct late_write){0};
    *applied = (struct applied){.key = late.key, .verb = late.verb, .content = late.content};
    enum store_outcome outcome = write(store, applied);
    (void)outcome; /* nobody waits for it */
}

/* ---- reads ---- */

static void list(const struct lifecycle_store *store, struct store_op *op)
{
    size_t prefix = strlen(op->key);
    uint32_t keys_max = op->list_keys_max;
    if (store->page_keys != 0 && store->page_keys < keys_max)
        keys_max = store->page_keys;
    const char *after = strcmp(op->after, op->key) > 0 ? op->after : op->key;
    list_page_clear(&op->page);
    for (uint32_t i = keys_after(after); i < keys_count(); i++) {
        uint32_t key = keys_in_order(i);
        if (strncmp(keys_at(key)->text, op->key, prefix) != 0)
            break;
        if (!lifecycle_store_has(store, key))
            continue;
        if (op->page.count == keys_max) {
            op->page.truncated = true;
            break;
        }
        list_page_add(&op->page, keys_at(key)->text, keys_at(key)->kind == KEY_TGB ? 10 : 0);
    }
}

static enum store_outcome get(struct lifecycle_store *store, struct store_op *op)
{
    uint32_t number = keys_number(op->key);
    const struct key *key = keys_at(number);
    if (!lifecycle_store_has(store, number))
        return STORE_NOT_FOUND;
    if (key->kind == KEY_VERSION) {
        op->result = (struct body){.kind = BODY_MANIFEST,
                                   .bytes = 1,
                                   .manifest = manifest_retain(store->versions[key->version])};
    } else if (is_number(key)) {
        struct body body = {
            .kind = BODY_BYTES, .bytes = INCARNATION_BYTES, .data = number_at(store, key)->bytes};
        op->result = body_copy_range(&body, 0, 0);
    } else {
        op->result = (struct body){.kind = BODY_LENGTH, .bytes = 10};
    }
    op->object_bytes = op->result.bytes;
    return STORE_OK;
}

enum store_outcome lifecycle_store_apply(struct lifecycle_store *store, struct store_op *op,
                                         struct applied *applied)
{
    *applied = (struct applied){.verb = op->verb};
    switch (op->verb) {
    case STORE_LIST:
        list(store, op);
        return STORE_OK;
    case STORE_GET:
        return get(store, op);
    case STORE_PUT:
    case STORE_PUT_IF_ABSENT:
    case STORE_DELETE:
        applied->key = keys_number(op->key);
        applied->content = content_of(op);
        return write(store, applied);
    case STORE_VERB_COUNT:
        break;
    }
    assert(op->verb < STORE_VERB_COUNT);
    return STORE_FAILED;
}

/* ---- copying, hashing ---- */

void lifecycle_store_copy(struct lifecycle_store *to, const struct lifecycle_store *from)
{
    *to = *from;
    for (uint32_t version = 0; version <= LIFECYCLE_VERSIONS_MAX; version++)
        if (from->versions[version])
            manifest_retain(from->versions[version]);
    for (uint32_t i = 0; i < from->late_count; i++)
        if (from->late[i].content.manifest)
            manifest_retain(from->late[i].content.manifest);
}

void lifecycle_store_close(struct lifecycle_store *store)
{
    for (uint32_t version = 0; version <= LIFECYCLE_VERSIONS_MAX; version++)
        manifest_release(store->versions[version]);
    for (uint32_t i = 0; i < store->late_count; i++)
        manifest_release(store->late[i].content.manifest);
}

uint64_t lifecycle_store_hash(const struct lifecycle_store *store)
{
    uint64_t late = 0; /* in any order */
    uint64_t hash = hash_bytes(2, store->present, sizeof(store->present));
    hash = hash_bytes(hash, store->numbers, sizeof(store->numbers));
    for (uint32_t version = 1; version <= LIFECYCLE_VERSIONS_MAX; version++)
        if (store->versions[version])
            hash = hash_manifest(hash, store->versions[version]);
    for (uint32_t i = 0; i < store->late_count; i++) {
        const struct late_write *write = &store->late[i];
        uint64_t one = hash_mix(write->key, write->verb);
        one = hash_bytes(one, write->content.identity.bytes, INCARNATION_BYTES);
        late += hash_manifest(one, write->content.manifest);
    }
    return hash_mix(hash, late);
}
