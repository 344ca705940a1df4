/* scripted_store.h - an in-memory store whose answers a script bends.
 *
 * Every machine has a port of its own, a store. A request is applied after half of the latency and
 * answered after the rest. The first rule that fits a request decides what becomes of it: which
 * outcome is answered, whether it is applied, or only later, and what happens just before. */
#ifndef TESTS_CORE_SCRIPTED_STORE_H
#define TESTS_CORE_SCRIPTED_STORE_H

#include <stdbool.h>

#include "core/manifest.h"
#include "core/store.h"
#include "tests/core/manual_loop.h"
#include "tests/core/store_script.h"

/* Told of every object when it comes into being; `manifest` is NULL for others than versions. */
struct store_watch {
    void *context;
    void (*created)(void *context, const char *key, const struct manifest *manifest,
                    struct floor floor);
};

/* Borrows the loop, which must outlive it. */
struct scripted_store *scripted_store_open(struct manual_loop *loop, int64_t latency_ns);
void scripted_store_close(struct scripted_store *store);
/* From here on latencies are random, and faults happen. */
void scripted_store_disturb(struct scripted_store *store, const struct store_faults *faults,
                            struct random_stream random);
void scripted_store_calm(struct scripted_store *store);
void scripted_store_watch(struct scripted_store *store, const struct store_watch *watch);
void scripted_store_script(struct scripted_store *store, const struct rule *rule);

/* The next port; owned by the store. */
struct store *scripted_store_port(struct scripted_store *store);
/* The machine behind the port has died: what it sent may still be applied, nothing is answered. */
void scripted_store_cut(struct scripted_store *store, uint32_t port);

/* Behind everybody's back, at once. Create returns false if the key exists. */
bool scripted_store_create(struct scripted_store *store, const char *key, const struct body *body);
bool scripted_store_create_version(struct scripted_store *store, struct manifest *manifest);
void scripted_store_delete(struct scripted_store *store, const char *key);
void scripted_store_put_empty(struct scripted_store *store, const char *key);
void scripted_store_raise_floor(struct scripted_store *store, struct floor floor);
void scripted_store_put_intent(struct scripted_store *store, uint64_t step);
void scripted_store_put_watermark(struct scripted_store *store, const struct watermark_name *name);
void scripted_store_delete_below_floor(struct scripted_store *store);

/* Applies at once what waits to be applied late. */
void scripted_store_apply_late(struct scripted_store *store);

/* NULL if there is none. A reference of the caller's own. */
struct manifest *scripted_store_version(const struct scripted_store *store, uint64_t version);
uint64_t scripted_store_newest(const struct scripted_store *store);
struct floor scripted_store_floor(const struct scripted_store *store);
/* The stored body, to be changed in place; NULL if there is none. */
struct body *scripted_store_body(struct scripted_store *store, const char *key);
bool scripted_store_has(const struct scripted_store *store, const char *key);
bool scripted_store_has_watermark(const struct scripted_store *store,
                                  const struct watermark_name *name);
/* Objects whose key begins so. */
uint64_t scripted_store_count(const struct scripted_store *store, const char *prefix);
uint64_t scripted_store_requests(const struct scripted_store *store, enum request_kind kind);
uint32_t scripted_store_in_flight(const struct scripted_store *store);
/* Requests that wait to be applied late. */
uint32_t scripted_store_late(const struct scripted_store *store);

#endif
