/* s3_private.h - what the files of the S3 store share: the store, and an operation on its way
 * through it (a call). */
#ifndef BACKEND_S3_PRIVATE_H
#define BACKEND_S3_PRIVATE_H

#include <sys/queue.h>

#include "backend/s3_client.h"
#include "backend/s3_pace.h"
#include "backend/s3_request.h"
#include "backend/s3_store.h"

#define S3_WAITING_MAX 65536
#define S3_REDIRECTS_MAX 2
#define S3_EMPTY_PAGES_MAX 100 /* of a listing, in a row */

struct s3_store;
struct s3_call;

/* What one request under way needs; as many as there may be connections, made when needed. */
struct s3_slot {
    struct s3_exchange exchange; /* first */
    struct s3_request request;
    struct s3_call *call;
    struct s3_slot *next_free;
};

/* Where a call is. Each state but SENT and HASHING is a list of the store. */
enum s3_call_state {
    S3_CALL_WAITING, /* for a slot, the end of a hold-off, or credentials */
    S3_CALL_HASHING, /* has a slot; a worker hashes its body */
    S3_CALL_SENT,    /* has a slot */
    S3_CALL_SLEEPING,
    S3_CALL_ENDED, /* `done` is called next */
};

struct s3_call {
    struct work hash; /* first */
    struct s3_store *store;
    struct store_op *op;
    TAILQ_ENTRY(s3_call) link;
    enum s3_call_state state;
    struct s3_slot *slot;
    struct timer timer;  /* SENT: the attempt's deadline; SLEEPING: its end; else the operation's */
    int64_t body_ns;     /* what the body adds to deadlines */
    int64_t deadline_ns; /* no attempt begins after it */
    int64_t sent_ns;     /* the attempt's begin */
    uint32_t attempts;   /* begun */
    uint32_t failures;   /* in a row, without the server having asked for another request */
    uint32_t redirects;
    uint32_t empty_pages;
    uint32_t identity; /* number of the credentials that signed the attempt */
    bool refreshed;
    bool skewed;
    bool reread;    /* sent again because of a wrong checksum */
    bool size_only; /* a range was past the end: this attempt asks for the object's size */
    bool hashed;
    uint64_t checksum;
    char payload_hash[SIGV4_HASH_MAX];
    char range[S3_RANGE_MAX];
    char region[sizeof(((struct s3_address *)NULL)->region)]; /* that the attempt was signed for */
    char *token;                                              /* owned: continues a listing */
    struct s3_address *address; /* owned: after a redirect; NULL: the store's */
    enum store_outcome outcome; /* of the last attempt, should it be the last */
    char text[STORE_ERROR_MAX];
};

TAILQ_HEAD(s3_calls, s3_call);

/* Who signs; renewed on a worker. */
struct s3_identity {
    struct work work; /* first */
    struct credentials credentials;
    struct sigv4_key key;
    uint32_t number; /* of the credentials, from 1 on */
    char *profile;   /* NULL: the default */
    bool renewing;
    bool needed;          /* requests wait for it */
    int64_t try_after_ns; /* not before */
    enum open_result found;
    struct credentials fresh;
    char error[STORE_ERROR_MAX];
};

struct s3_store {
    struct store base;
    struct live_loop *loop;
    struct s3_options options; /* without its texts; no field is 0 but style, payload and seed */
    struct s3_client *client;
    struct s3_address address;
    bool region_switched;
    struct s3_identity identity;
    struct s3_pace pace;
    struct s3_counters counters;
    int64_t signing_skew_ns; /* added to the clock when signing */
    uint32_t slot_count;
    struct s3_slot **slots; /* made so far; room for options.connections */
    struct s3_slot *free_slots;
    struct s3_calls waiting;
    uint32_t waiting_count;
    struct s3_calls active; /* HASHING, SENT */
    struct s3_calls sleeping;
    struct s3_calls ended;
    struct timer hold_timer;  /* the end of a hold-off */
    struct timer ended_timer; /* calls `done` of one that ended without the loop's help */
};

/* ---- s3_call.c: an operation from submit to done ---- */

void s3_call_submit(struct s3_store *store, struct store_op *op);
/* Begins attempts, as slots and the pace allow. */
void s3_store_pump(struct s3_store *store);
/* Ends those that wait because their credentials have expired: there are no others. */
void s3_store_fail_expired(struct s3_store *store, const char *why);
/* Frees it, wherever it is, without calling `done`. */
void s3_call_drop(struct s3_call *call);
/* Of the store's timers. */
void s3_call_on_hold_end(struct timer *timer, void *store);
void s3_call_on_ended(struct timer *timer, void *store);

/* ---- s3_outcome.c: what an attempt's answer makes of a call ---- */

enum s3_next {
    S3_NEXT_DONE,     /* call->outcome and call->text say how */
    S3_NEXT_BACK_OFF, /* send again after a while */
    S3_NEXT_QUEUE,    /* send again as soon as slots, hold-off and credentials allow */
};

/* The slot's exchange has ended. May move results into the op. */
MUST_USE enum s3_next s3_outcome_take(struct s3_call *call, struct s3_slot *slot);

/* ---- s3_identity.c ---- */

/* Blocks. */
MUST_USE enum open_result s3_identity_open(struct s3_identity *identity, const char *profile,
                                           char error[STORE_ERROR_MAX]);
void s3_identity_close(struct s3_store *store);
/* Begins to renew if the credentials are about to expire. */
void s3_identity_look_ahead(struct s3_store *store, int64_t now_ns);
/* Begins to renew; requests wait until it ended. */
void s3_identity_need(struct s3_store *store);

#endif
