/* store.c - what all stores share: names of verbs and outcomes, bodies, listing pages. Ours. */
#include "core/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"

const char *store_verb_name(enum store_verb verb)
{
    static const char *const names[] = {
#define X(code, name) name,
        STORE_VERBS(X)
#undef X
    };
    assert(verb < STORE_VERB_COUNT);
    return names[verb];
}

const char *store_outcome_name(enum store_outcome outcome)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        STORE_OUTCOMES(X)
#undef X
    };
    assert(outcome < STORE_OUTCOME_COUNT);
    return names[outcome];
}

const char *store_outcome_text(enum store_outcome outcome)
{
    static const char *const texts[] = {
#define X(code, name, text) text,
        STORE_OUTCOMES(X)
#undef X
    };
    assert(outcome < STORE_OUTCOME_COUNT);
    return texts[outcome];
}

void store_op_init(struct store_op *op)
{
    memset(op, 0, sizeof(*op));
}

void store_op_prepare(struct store_op *op, enum store_verb verb)
{
    op->verb = verb;
    op->body = (struct body){.kind = BODY_NONE};
    op->range_offset = 0;
    op->range_bytes = 0;
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    op->entries_first = 0;
    op->entries_next = 0;
    op->bound = (struct object_bound){0};
    op->after[0] = '\0';
}

void store_op_release(struct store_op *op)
{
    body_release(&op->result);
    list_page_clear(&op->page);
    op->object_bytes = 0;
    op->damaged = false;
    op->error[0] = '\0';
}

void store_op_deinit(struct store_op *op)
{
    store_op_release(op);
    list_page_deinit(&op->page);
}

void store_op_copy_request(struct store_op *op, const struct store_op *from)
{
    op->verb = from->verb;
    op->body = from->body;
    op->range_offset = from->range_offset;
    op->range_bytes = from->range_bytes;
    op->list_keys_max = from->list_keys_max;
    op->entries_first = from->entries_first;
    op->entries_next = from->entries_next;
    op->bound = from->bound;
    op->body_checksum = 0;
    memcpy(op->key, from->key, sizeof(op->key));
    memcpy(op->after, from->after, sizeof(op->after));
}

void store_op_take_answer(struct store_op *op, struct store_op *from)
{
    struct list_page page = op->page;
    op->outcome = from->outcome;
    op->result = from->result;
    op->object_bytes = from->object_bytes;
    op->damaged = from->damaged;
    op->body_checksum = from->body_checksum;
    op->page = from->page;
    memcpy(op->error, from->error, sizeof(op->error));
    from->result = (struct body){.kind = BODY_NONE};
    from->page = page;
}

enum page_next store_op_next_page(struct store_op *op)
{
    const struct list_page *page = &op->page;
    if (!page->truncated || page->count == 0)
        return PAGE_WAS_LAST;
    const char *last = list_page_key(page, page->count - 1);
    if (strcmp(last, op->after) <= 0) {
        snprintf(op->error, sizeof(op->error),
                 "a listing of %.80s goes round in circles: the store repeats keys, %.80s is the "
                 "last of a page that was to begin behind it",
                 op->key[0] ? op->key : "all keys", last);
        return PAGE_REPEATS;
    }
    snprintf(op->after, sizeof(op->after), "%s", last);
    return PAGE_FOLLOWS;
}

struct body body_copy_range(const struct body *body, uint64_t offset, uint64_t bytes)
{
    struct body copy = {.kind = body->kind, .bytes = body->bytes};
    switch (body->kind) {
    case BODY_NONE:
    case BODY_LENGTH:
    case BODY_BYTES:
        offset = offset < body->bytes ? offset : body->bytes;
        copy.bytes = body->bytes - offset;
        if (bytes != 0 && bytes < copy.bytes)
            copy.bytes = bytes;
        if (body->kind == BODY_BYTES) {
            copy.data = malloc(copy.bytes > 0 ? copy.bytes : 1);
            assert(copy.data);
            if (copy.bytes > 0) /* an empty body need not have memory */
                memcpy(copy.data, body->data + offset, copy.bytes);
        }
        break;
    case BODY_MANIFEST:
        /* A range of a reference still refers to the whole: only its size on the wire is a part's.
         */
        copy.manifest = manifest_retain(body->manifest);
        if (bytes != 0 && bytes < copy.bytes)
            copy.bytes = bytes;
        break;
    }
    return copy;
}

void body_release(struct body *body)
{
    if (body->kind == BODY_BYTES)
        free(body->data);
    if (body->kind == BODY_MANIFEST)
        manifest_release(body->manifest);
    *body = (struct body){.kind = BODY_NONE};
}

void list_page_clear(struct list_page *page)
{
    page->count = 0;
    page->text_used = 0;
    page->truncated = false;
}

static void list_page_reserve(struct list_page *page, size_t text_bytes)
{
    if (page->count == page->capacity) {
        page->capacity = page->capacity ? 2 * page->capacity : 16;
        page->key_offset = realloc(page->key_offset, page->capacity * sizeof(*page->key_offset));
        page->object_bytes =
            realloc(page->object_bytes, page->capacity * sizeof(*page->object_bytes));
        assert(page->key_offset && page->object_bytes);
    }
    if (page->text_used + text_bytes > page->text_capacity) {
        page->text_capacity = 2 * (page->text_capacity + text_bytes);
        page->text = realloc(page->text, page->text_capacity);
        assert(page->text != NULL);
    }
}

void list_page_add(struct list_page *page, const char *key, uint64_t object_bytes)
{
    size_t text_bytes = strlen(key) + 1;
    assert(page->count < STORE_LIST_KEYS_MAX);
    assert(text_bytes <= STORE_KEY_MAX);
    list_page_reserve(page, text_bytes);
    page->key_offset[page->count] = (uint32_t)page->text_used;
    page->object_bytes[page->count] = object_bytes;
    memcpy(page->text + page->text_used, key, text_bytes);
    page->text_used += text_bytes;
    page->count++;
}

void list_page_deinit(struct list_page *page)
{
    free(page->key_offset);
    free(page->object_bytes);
    free(page->text);
    *page = (struct list_page){0};
}
