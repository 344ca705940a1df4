/* fuzz_store.h - a store whose content and answers the input decides: objects in memory, changed by
 * others behind the client's back, and answers that are lost, late, refused, damaged or made up.
 *
 * Once the input has ended it answers as a store should. It keeps to the contract of core/store.h
 * and to nothing else. */
#ifndef TESTS_FUZZ_FUZZ_STORE_H
#define TESTS_FUZZ_FUZZ_STORE_H

#include "core/base.h"
#include "core/loop.h"
#include "core/store.h"
#include "core/tgb.h"
#include "tests/fuzz/input.h"

#define FUZZ_OBJECTS_MAX 256
#define FUZZ_REQUESTS_MAX 128
#define FUZZ_OBJECT_BYTES_MAX 65536

struct fuzz_object {
    char key[STORE_KEY_MAX];
    uint8_t *data; /* NULL: only a length */
    uint64_t bytes;
};

struct fuzz_request {
    struct timer timer;
    struct fuzz_store *store;
    struct store_op *op; /* NULL: free */
    uint8_t control;
};

struct fuzz_store {
    struct store store;
    struct loop *loop;
    struct fuzz_input *input; /* borrowed */
    int64_t delay_ns;         /* of an answer, at least */
    struct incarnation mine;  /* of the client: others may claim it */
    struct tgb_mesh mesh;     /* of the batches that others commit, where they are large enough */
    bool consumers;           /* others are consumers and reclaimers, too */
    uint64_t served;
    size_t count;
    struct fuzz_object objects[FUZZ_OBJECTS_MAX]; /* ascending by key */
    struct fuzz_request requests[FUZZ_REQUESTS_MAX];
    struct fuzz_object late; /* written after the next answer; empty key: nothing */
};

/* Borrows the loop and the input. Closed by store_close; requests in flight are forgotten. */
struct fuzz_store *fuzz_store_open(struct loop *loop, struct fuzz_input *input);

/* NULL: there is none. Valid until the store changes. */
struct fuzz_object *fuzz_store_find(struct fuzz_store *store, const char *key);
/* Copies the bytes; `data` NULL: only a length. Replaces. Nothing happens where the store is full.
 */
void fuzz_store_put(struct fuzz_store *store, const char *key, const uint8_t *data, uint64_t bytes);
void fuzz_store_remove(struct fuzz_store *store, struct fuzz_object *object);

/* One change by somebody else, as the input says: a commit, damage, a floor, a deletion ... */
void fuzz_change(struct fuzz_store *store);
/* Damages a manifest where its fields are, and seals it again. Returns the new size, at most
 * `bytes` + 64, for which there must be room. */
uint64_t fuzz_patch(struct fuzz_store *store, uint8_t *data, uint64_t bytes);
/* A key that the input makes up: of a version, a floor, a TGB, or any text; with `consumers` also
 * of an intent, a number or its value. */
void fuzz_key(struct fuzz_store *store, char key[STORE_KEY_MAX]);

#endif
