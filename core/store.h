/* store.h - the first seam: an object store. Filled by sim/ (virtual) and backend/ (directory, S3);
 * wrappers (codec, meter, fault, shape) are stores too.
 *
 * The caller owns a struct store_op, fills its request part, and submits it. The store borrows it
 * until it calls op->done exactly once, from inside the loop and never from inside submit.
 * Afterwards the caller reads the answer part and calls store_op_release before it uses the op
 * again. Nothing blocks. Closing a store with operations in flight is a programmer's error unless
 * the store says otherwise. */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include <stdbool.h>

#include "core/base.h"
#include "core/object_bound.h"

#define STORE_KEY_MAX 160 /* bytes, with the final NUL */
#define STORE_ERROR_MAX 256
#define STORE_LIST_KEYS_MAX 1000 /* as S3: keys in one page */

/* verb, name */
#define STORE_VERBS(X)                                                                             \
    X(STORE_GET, "get")                                                                            \
    X(STORE_PUT, "put")                                                                            \
    X(STORE_PUT_IF_ABSENT, "put_if_absent")                                                        \
    X(STORE_LIST, "list")                                                                          \
    X(STORE_DELETE, "delete")

enum store_verb {
#define X(code, name) code,
    STORE_VERBS(X)
#undef X
    STORE_VERB_COUNT
};

/* Outcomes are answers, not errors. Conflict means a lost attempt and is not an outcome of a store.
 */
#define STORE_OUTCOMES(X)                                                                          \
    X(STORE_OK, "ok", "done")                                                                      \
    X(STORE_EXISTS, "exists", "412: the key exists")                                               \
    X(STORE_BUSY, "busy", "409: another operation on the key is in flight, send again")            \
    X(STORE_NOT_FOUND, "not_found", "404: no such key")                                            \
    X(STORE_UNKNOWN, "unknown", "no answer that can be trusted: it may have been applied")         \
    X(STORE_THROTTLED, "throttled", "503 or 429: hold off; a create may have been applied")        \
    X(STORE_FAILED, "failed", "refused for good: the error text says why")

enum store_outcome {
#define X(code, name, text) code,
    STORE_OUTCOMES(X)
#undef X
    STORE_OUTCOME_COUNT
};

struct manifest;

/* A body is bytes, or only a length (the simulator moves no payload), or a reference to an
 * immutable manifest (the simulator does not encode). `bytes` is always the exact size on the wire.
 */
enum body_kind {
    BODY_NONE,
    BODY_BYTES,
    BODY_LENGTH,
    BODY_MANIFEST,
};

struct body {
    enum body_kind kind;
    uint64_t bytes;
    uint8_t *data;             /* BODY_BYTES */
    struct manifest *manifest; /* BODY_MANIFEST */
};

/* One page of a listing: keys in ascending byte order, with their sizes. Memory is kept over reuse.
 */
struct list_page {
    size_t count;
    size_t capacity;
    uint32_t *key_offset; /* into `text` */
    uint64_t *object_bytes;
    char *text; /* NUL-terminated keys, one after the other */
    size_t text_used;
    size_t text_capacity;
    bool truncated; /* more keys follow the last one */
};

/* What every request touches comes first, and together. */
struct store_op {
    void (*done)(struct store_op *op, void *context); /* request */
    void *context;                                    /* request */
    void *store_private;                              /* for the store that holds the op */
    enum store_outcome outcome;                       /* answer */

    /* Request: set by the caller, untouched by the store. */
    enum store_verb verb;
    struct body body;        /* PUT, PUT_IF_ABSENT: borrowed until done */
    char key[STORE_KEY_MAX]; /* LIST: the prefix, may be empty */
    uint64_t range_offset;   /* GET */
    uint64_t range_bytes;    /* GET: 0 means to the end of the object, within `bound` */
    uint32_t list_keys_max;  /* LIST: 1..STORE_LIST_KEYS_MAX */
    /* GET of a whole version through a codec: only the entries of the steps [first, next) need be
     * decoded, which bounds memory. Both 0: all. */
    uint64_t entries_first;
    uint64_t entries_next;
    /* GET without range_bytes: what may be read at most. Of more nothing is given, FAILED and
     * damaged: a store of bytes reads none of it, or stops. Zero: what is small. */
    struct object_bound bound;
    char after[STORE_KEY_MAX]; /* LIST: only keys greater than this; may be empty */

    /* Answer: valid from `done` until store_op_release. */
    struct body result;          /* GET: owned by the op; an empty range is BODY_BYTES of 0 bytes */
    uint64_t object_bytes;       /* GET: size of the whole object */
    uint64_t body_checksum;      /* PUT through a codec: XXH3-64 of the bytes written; else 0 */
    struct list_page page;       /* LIST */
    bool damaged;                /* FAILED: what is stored does not decode, or fit its bound */
    char error[STORE_ERROR_MAX]; /* what, which key, what to do; empty unless UNKNOWN or FAILED */
};

struct store;

struct store_ops {
    void (*submit)(struct store *store, struct store_op *op);
    void (*close)(struct store *store);
};

struct store {
    const struct store_ops *ops;
};

static inline void store_submit(struct store *store, struct store_op *op)
{
    store->ops->submit(store, op);
}

/* Frees the store. */
static inline void store_close(struct store *store)
{
    store->ops->close(store);
}

/* False: it holds nothing to be freed, so that a plain copy is a copy. */
static inline bool body_owns(const struct body *body)
{
    return body->kind == BODY_BYTES || body->kind == BODY_MANIFEST;
}

const char *store_verb_name(enum store_verb verb);
const char *store_outcome_name(enum store_outcome outcome);
const char *store_outcome_text(enum store_outcome outcome);

/* Zeroes the op; call once before first use. */
void store_op_init(struct store_op *op);
/* Sets all of the request but `done`, `context` and `key` for a plain operation: no body, the whole
 * object if it is small, a page as long as can be. */
void store_op_prepare(struct store_op *op, enum store_verb verb);
/* Drops the result (frees bytes, releases a manifest), empties the page but keeps its memory. */
void store_op_release(struct store_op *op);
/* Drops everything. */
void store_op_deinit(struct store_op *op);

/* For stores: a full copy of a body whose memory is the result's (bytes are copied, a manifest is
 * referenced), restricted to a range of a bytes body. */
struct body body_copy_range(const struct body *body, uint64_t offset, uint64_t bytes);
void body_release(struct body *body);

/* For wrappers, which send an operation of their own. The request without `done`, `context` and the
 * private field; a body and its memory stay the first one's. The answer with its outcome: results
 * change hands, and so do the pages' memories. */
void store_op_copy_request(struct store_op *op, const struct store_op *from);
void store_op_take_answer(struct store_op *op, struct store_op *from);

/* What follows a page of a listing that is read to its end. */
enum page_next {
    PAGE_FOLLOWS,  /* `after` has moved behind the page: release the op, then submit it again */
    PAGE_WAS_LAST, /* that was all */
    PAGE_REPEATS,  /* the listing does not move forward, so it is never over: `error` says so */
};

/* For those who list: the op holds a page that was answered OK. */
MUST_USE enum page_next store_op_next_page(struct store_op *op);

/* For stores: pages. list_page_key is valid until the page is changed. */
void list_page_clear(struct list_page *page);
void list_page_add(struct list_page *page, const char *key, uint64_t object_bytes);
void list_page_deinit(struct list_page *page);
static inline const char *list_page_key(const struct list_page *page, size_t index)
{
    assert(index < page->count);
    return page->text + page->key_offset[index];
}

#endif
