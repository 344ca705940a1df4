/* fuzz_store.c - objects and answers; what others do to them is in fuzz_change.c. */
#include "tests/fuzz/fuzz_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects ---- */

static size_t position(const struct fuzz_store *store, const char *key)
{
    size_t low = 0;
    size_t high = store->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(store->objects[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fuzz_object *fuzz_store_find(struct fuzz_store *store, const char *key)
{
    size_t at = position(store, key);
    bool found = at < store->count && strcmp(store->objects[at].key, key) == 0;
    return found ? &store->objects[at] : NULL;
}

static uint8_t *copy_bytes(const uint8_t *data, uint64_t bytes)
{
    if (data == NULL)
        return NULL;
    uint8_t *copy = malloc(bytes + 1);
    assert(copy != NULL);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

void fuzz_store_put(struct fuzz_store *store, const char *key, const uint8_t *data, uint64_t bytes)
{
    assert(key[0] != '\0' && strlen(key) < STORE_KEY_MAX);
    uint8_t *copy = copy_bytes(data, bytes);
    size_t at = position(store, key);
    bool found = at < store->count && strcmp(store->objects[at].key, key) == 0;
    if (!found && store->count == FUZZ_OBJECTS_MAX) {
        free(copy);
        return;
    }
    struct fuzz_object *object = &store->objects[at];
    if (found) {
        free(object->data);
    } else {
        memmove(object + 1, object, (store->count - at) * sizeof(*object));
        store->count++;
        snprintf(object->key, sizeof(object->key), "%s", key);
    }
    object->data = copy;
    object->bytes = bytes;
}

void fuzz_store_remove(struct fuzz_store *store, struct fuzz_object *object)
{
    size_t at = (size_t)(object - store->objects);
    free(object->data);
    store->count--;
    memmove(object, object + 1, (store->count - at) * sizeof(*object));
}

/* ---- answers ---- */

static enum store_outcome do_get(struct fuzz_store *store, struct store_op *op)
{
    const struct fuzz_object *object = fuzz_store_find(store, op->key);
    if (object == NULL)
        return STORE_NOT_FOUND;
    struct body body = {.kind = object->data != NULL ? BODY_BYTES : BODY_LENGTH,
                        .bytes = object->bytes,
                        .data = object->data};
    op->object_bytes = object->bytes;
    op->result = body_copy_range(&body, op->range_offset, op->range_bytes);
    return STORE_OK;
}

static enum store_outcome do_list(struct fuzz_store *store, struct store_op *op)
{
    size_t prefix = strlen(op->key);
    list_page_clear(&op->page);
    op->page.truncated = false;
    for (size_t i = 0; i < store->count; i++) {
        const struct fuzz_object *object = &store->objects[i];
        if (strncmp(object->key, op->key, prefix) != 0 || strcmp(object->key, op->after) <= 0)
            continue;
        if (op->page.count == op->list_keys_max) {
            op->page.truncated = true;
            break;
        }
        list_page_add(&op->page, object->key, object->bytes);
    }
    return STORE_OK;
}

static void do_delete(struct fuzz_store *store, const char *key)
{
    struct fuzz_object *object = fuzz_store_find(store, key);
    if (object != NULL)
        fuzz_store_remove(store, object);
}

/* What a store would do and answer. */
static enum store_outcome apply(struct fuzz_store *store, struct store_op *op)
{
    switch (op->verb) {
    case STORE_GET:
        return do_get(store, op);
    case STORE_LIST:
        return do_list(store, op);
    case STORE_DELETE:
        do_delete(store, op->key);
        return STORE_OK;
    case STORE_PUT_IF_ABSENT:
        if (fuzz_store_find(store, op->key) != NULL)
            return STORE_EXISTS;
        break;
    case STORE_PUT:
    case STORE_VERB_COUNT:
        break;
    }
    fuzz_store_put(store, op->key, op->body.kind == BODY_BYTES ? op->body.data : NULL,
                   op->body.bytes);
    return STORE_OK;
}

/* Applies nothing yet: the write lands after the next answer. */
static void postpone(struct fuzz_store *store, const struct store_op *op)
{
    bool write = op->verb == STORE_PUT || op->verb == STORE_PUT_IF_ABSENT;
    if (!write || store->late.key[0] != '\0')
        return;
    snprintf(store->late.key, sizeof(store->late.key), "%s", op->key);
    store->late.data =
        copy_bytes(op->body.kind == BODY_BYTES ? op->body.data : NULL, op->body.bytes);
    store->late.bytes = op->body.bytes;
}

static void land_late(struct fuzz_store *store)
{
    if (store->late.key[0] == '\0')
        return;
    if (fuzz_store_find(store, store->late.key) == NULL)
        fuzz_store_put(store, store->late.key, store->late.data, store->late.bytes);
    free(store->late.data);
    store->late = (struct fuzz_object){0};
}

static void damage_bytes(struct fuzz_store *store, struct store_op *op)
{
    struct body *result = &op->result;
    if (result->kind != BODY_BYTES || result->bytes > FUZZ_OBJECT_BYTES_MAX)
        return;
    result->data = realloc(result->data, result->bytes + 64);
    assert(result->data != NULL);
    result->bytes = fuzz_patch(store, result->data, result->bytes);
}

/* Keys that are not there, in any order, and a page that ends too early or never. */
static void damage_page(struct fuzz_store *store, struct store_op *op)
{
    uint8_t form = fuzz_byte(store->input);
    if (form & 1)
        list_page_clear(&op->page);
    for (unsigned i = 0; i < (form >> 1) % 4; i++) {
        char key[STORE_KEY_MAX];
        fuzz_key(store, key);
        list_page_add(&op->page, key, fuzz_number(store->input));
    }
    op->page.truncated = form & 16;
}

static enum store_outcome damaged(struct fuzz_store *store, struct store_op *op)
{
    enum store_outcome outcome = apply(store, op);
    if (op->verb == STORE_LIST)
        damage_page(store, op);
    else if (op->verb == STORE_GET && outcome == STORE_OK)
        damage_bytes(store, op);
    return outcome;
}

static enum store_outcome any_outcome(struct fuzz_store *store, struct store_op *op, uint8_t byte)
{
    enum store_outcome outcome = (enum store_outcome)(byte % STORE_OUTCOME_COUNT);
    if (outcome == STORE_UNKNOWN || outcome == STORE_FAILED)
        snprintf(op->error, sizeof(op->error), "made up after %llu answers",
                 (unsigned long long)store->served);
    bool read = op->verb == STORE_GET || op->verb == STORE_LIST;
    /* A read that is OK has a result; by contract only a real one can be given. */
    return outcome == STORE_OK && read ? apply(store, op) : outcome;
}

static enum store_outcome answer(struct fuzz_store *store, struct store_op *op, uint8_t control)
{
    switch (control & 15) {
    case 8:
        return any_outcome(store, op, STORE_UNKNOWN);
    case 9: /* applied, and its answer is lost */
        (void)apply(store, op);
        store_op_release(op);
        return any_outcome(store, op, STORE_UNKNOWN);
    case 10:
        return STORE_BUSY;
    case 11:
        return STORE_THROTTLED;
    case 12:
        return any_outcome(store, op, fuzz_byte(store->input));
    case 13:
        return damaged(store, op);
    case 14:
        fuzz_change(store);
        return apply(store, op);
    case 15:
        postpone(store, op);
        return any_outcome(store, op, STORE_UNKNOWN);
    default:
        return apply(store, op);
    }
}

static void fire(struct timer *timer, void *context)
{
    struct fuzz_request *request = context;
    struct fuzz_store *store = request->store;
    struct store_op *op = request->op;
    (void)timer;
    request->op = NULL;
    store->served++;
    op->error[0] = '\0';
    op->outcome = answer(store, op, request->control);
    land_late(store);
    op->done(op, op->context);
}

static void submit(struct store *base, struct store_op *op)
{
    struct fuzz_store *store = (struct fuzz_store *)base;
    size_t free_at = 0;
    while (free_at < FUZZ_REQUESTS_MAX && store->requests[free_at].op != NULL)
        free_at++;
    assert(free_at < FUZZ_REQUESTS_MAX);
    struct fuzz_request *request = &store->requests[free_at];
    request->op = op;
    request->store = store;
    request->control = fuzz_byte(store->input);
    timer_init(&request->timer, fire, request);
    int64_t delay_ns = store->delay_ns * (1 + request->control / 16);
    loop_timer_set(store->loop, &request->timer, loop_now(store->loop) + delay_ns);
}

static void close_store(struct store *base)
{
    struct fuzz_store *store = (struct fuzz_store *)base;
    for (size_t i = 0; i < FUZZ_REQUESTS_MAX; i++)
        if (store->requests[i].op != NULL)
            loop_timer_cancel(store->loop, &store->requests[i].timer);
    for (size_t i = 0; i < store->count; i++)
        free(store->objects[i].data);
    free(store->late.data);
    free(store);
}

static const struct store_ops fuzz_ops = {.submit = submit, .close = close_store};

struct fuzz_store *fuzz_store_open(struct loop *loop, struct fuzz_input *input)
{
    struct fuzz_store *store = calloc(1, sizeof(*store));
    assert(store != NULL);
    store->store.ops = &fuzz_ops;
    store->loop = loop;
    store->input = input;
    return store;
}
