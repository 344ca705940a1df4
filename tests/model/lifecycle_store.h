/* lifecycle_store.h - the store of the lifecycle world: which keys exist, what the versions and the
 * numbers of consumers hold, and the writes that were given up and may still land. A value: copied
 * by lifecycle_store_copy. */
#ifndef TESTS_MODEL_LIFECYCLE_STORE_H
#define TESTS_MODEL_LIFECYCLE_STORE_H

#include "core/manifest.h"
#include "tests/model/lifecycle_keys.h"

#define LIFECYCLE_VERSIONS_MAX 20
#define LIFECYCLE_CONSUMERS_MAX 2
#define LIFECYCLE_NUMBERS_MAX 8
#define LIFECYCLE_LATE_MAX 4

/* What a write carries beside its key. */
struct content {
    struct manifest *manifest;   /* a version's; a reference */
    struct incarnation identity; /* a number's */
};

struct late_write {
    uint32_t key;
    enum store_verb verb;
    struct content content;
};

struct lifecycle_store {
    uint64_t present[KEYS_WORDS];
    struct manifest *versions[LIFECYCLE_VERSIONS_MAX + 1]; /* what is stored: own references */
    struct incarnation numbers[LIFECYCLE_CONSUMERS_MAX][LIFECYCLE_NUMBERS_MAX + 1];
    struct late_write late[LIFECYCLE_LATE_MAX];
    uint32_t late_count;
    uint32_t page_keys; /* of a listing's page at most; 0: as many as are asked for */
};

/* A write that was applied. */
struct applied {
    uint32_t key;
    enum store_verb verb;
    bool changed; /* it made a key, or removed one */
    struct content content;
};

void lifecycle_store_copy(struct lifecycle_store *to, const struct lifecycle_store *from);
void lifecycle_store_close(struct lifecycle_store *store);
uint64_t lifecycle_store_hash(const struct lifecycle_store *store);

bool lifecycle_store_has(const struct lifecycle_store *store, uint32_t key);
/* The floor that a listing shows first; zero: none. */
struct floor lifecycle_store_floor(const struct lifecycle_store *store);

/* The highest step of any floor. */
uint64_t lifecycle_store_given_up(const struct lifecycle_store *store);

/* Applies the operation and fills its answer. Of a write, *applied says what happened; its content
 * is borrowed from the operation. */
MUST_USE enum store_outcome lifecycle_store_apply(struct lifecycle_store *store,
                                                  struct store_op *op, struct applied *applied);
/* The write is on its way, and given up. */
void lifecycle_store_delay(struct lifecycle_store *store, const struct store_op *op);
/* A late write lands, and is no longer late. Its content is the caller's to release. */
void lifecycle_store_land(struct lifecycle_store *store, uint32_t index, struct applied *applied);

#endif
