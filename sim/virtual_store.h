/* virtual_store.h - an object store in virtual time: one namespace, one `struct store` per client.
 *
 * An operation is applied at one instant, atomically, and answered later. With L its latency
 * (latency.h) and f the apply fraction:
 *
 * - PUT, PUT_IF_ABSENT: applied at the later of f L after sending and the end of the upload on the
 *   client's and the store's link; answered (1-f) L later. Creates that contend may be held up
 *   before and after: create_queue.h, off by default.
 *
 * - GET: applied at f times the latency of its first byte (that of 0 bytes); its data then starts
 *   on both links; answered at the later of L after sending and the end of both transfers.
 *
 * - LIST, DELETE: applied at f L, answered at L; they carry no data.
 *
 * - Where requests share processors (station.h, off by default), the share f of a request's work
 * lies before it is applied and the rest after; what others hold it up is added to both. The bytes
 * of a GET are those that its object has as it is sent.
 *
 * - Over the request rate: answered STORE_THROTTLED and never applied. GET and LIST draw on one
 *   rate, the other verbs on the other; both hold what a second brings.
 *
 * Bodies are kept as they come: bytes are copied, a manifest is referenced, a length is a number.
 * Closing a client's store drops its operations in flight: they are never answered, and their
 * `done` is never called; those that were not applied yet never will be. All clients are closed
 * before the virtual store is. Links: bandwidth.h. Running out of memory ends the program. */
#ifndef SIM_VIRTUAL_STORE_H
#define SIM_VIRTUAL_STORE_H

#include "core/store.h"
#include "sim/bandwidth.h"
#include "sim/create_queue.h"
#include "sim/latency.h"
#include "sim/object_table.h"
#include "sim/station.h"
#include "sim/virtual_loop.h"

/* Told when an operation takes effect, or is refused; from inside the loop. `op` is complete but
 * for its outcome field and must not be changed. */
struct virtual_store_observer {
    void *context;
    void (*applied)(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                    enum store_outcome outcome);
};

struct virtual_store_options {
    struct virtual_loop *loop; /* borrowed */
    uint64_t seed;
    struct latency_options latency[STORE_VERB_COUNT];
    double apply_fraction; /* f, 0..1 */
    double read_fraction;  /* f of GET and LIST, 0..1; 0: as the others' */
    struct create_queue_options create_queue;
    struct station_options station;
    double client_bytes_per_s; /* capacity of each client's link; 0: unlimited */
    double store_bytes_per_s;  /* of the store's; 0: unlimited */
    double puts_per_s;         /* request rates of the whole store; 0: unlimited */
    double gets_per_s;
    enum link_kind link_kind;
    struct virtual_store_observer observer; /* `applied` may be NULL */
};

struct virtual_store_counters {
    uint64_t requests[STORE_VERB_COUNT]; /* applied or refused */
    uint64_t bytes[STORE_VERB_COUNT];    /* moved by those that succeeded */
    uint64_t throttled;
};

#define VIRTUAL_STORE_PEEK_MAX 32

struct virtual_store_key {
    char text[STORE_KEY_MAX];
};

struct virtual_store;

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *virtual_store_options_check(const struct virtual_store_options *options);
/* Copies the options, which must have passed the check. */
struct virtual_store *virtual_store_open(const struct virtual_store_options *options);
void virtual_store_close(struct virtual_store *store);

/* A store whose random streams come from (seed, actor), with a link of its own. Closed by
 * store_close. */
struct store *virtual_store_client(struct virtual_store *store, uint32_t actor);

struct virtual_store_counters virtual_store_counters(const struct virtual_store *store);
uint32_t virtual_store_objects(const struct virtual_store *store);
/* What is stored below one first path component: "tgb/", "manifest/". */
struct object_stock virtual_store_stock(const struct virtual_store *store, const char *component);
/* The object's body as it is now, borrowed until the loop runs on; NULL if there is none. */
const struct body *virtual_store_peek(const struct virtual_store *store, const char *key);
/* The same for several keys at once, which hides the waits for memory. */
void virtual_store_peek_many(const struct virtual_store *store,
                             const struct virtual_store_key *keys, size_t count,
                             const struct body **bodies);

#endif
