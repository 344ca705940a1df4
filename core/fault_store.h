/* fault_store.h - a store over any store that loses, delays, reorders, refuses and damages.
 *
 * The contract stays honest: what is answered is what the inner store said, or UNKNOWN, BUSY,
 * THROTTLED or FAILED; an OK, EXISTS or NOT_FOUND is never made up, and a create that is answered
 * FAILED is not applied. Bytes are damaged only of objects that the options name. A request is
 * copied when it is submitted, so that it may be applied long after its sender gave it up or died.
 * Faults come from a plan with a random stream, hit the n-th operation, or, refusals, all of some
 * requests from some moment on. Serves the simulator and live runs alike. */
#ifndef CORE_FAULT_STORE_H
#define CORE_FAULT_STORE_H

#include "core/loop.h"
#include "core/random.h"
#include "core/store.h"

/* code, name, verbs, what happens. FAULT_NONE is not a fault. */
#define FAULT_KINDS(X)                                                                             \
    X(FAULT_NONE, "none", ANY, "nothing")                                                          \
    X(FAULT_LOST_REQUEST, "lost_request", ANY, "never applied; UNKNOWN after the timeout")         \
    X(FAULT_LOST_ANSWER, "lost_answer", ANY, "applied; UNKNOWN after the timeout")                 \
    X(FAULT_LATE, "late", WRITE, "UNKNOWN after the timeout; applied later, or much later")        \
    X(FAULT_DELAY, "delay", ANY, "applied later, and answered truly")                              \
    X(FAULT_REORDER, "reorder", ANY, "held until a later operation is answered, then as usual")    \
    X(FAULT_SHORT_PAGE, "short_page", LISTING,                                                     \
      "a page that ends after a few keys, as a store may")                                         \
    X(FAULT_BUSY, "busy", CREATE, "409: not applied")                                              \
    X(FAULT_ERROR, "error", ANY, "5xx, not applied: UNKNOWN at once")                              \
    X(FAULT_ERROR_APPLIED, "error_applied", WRITE, "5xx, applied: UNKNOWN")                        \
    X(FAULT_THROTTLED, "throttled", ANY, "503, not applied")                                       \
    X(FAULT_THROTTLED_APPLIED, "throttled_applied", CREATE,                                        \
      "503 after the body went out, applied")                                                      \
    X(FAULT_REFUSED, "refused", ANY, "403 and the like, not applied: FAILED")                      \
    X(FAULT_REFUSED_APPLIED, "refused_applied", REPEATED,                                          \
      "applied, and refused when the store's client sent it again: FAILED")                        \
    X(FAULT_DAMAGED, "damaged", READ, "a bit of the bytes read is wrong")                          \
    X(FAULT_CUT, "cut", READ, "the bytes read end early")

/* Before these, whoever was hit may ask again; they are the end. */
#define FAULT_FIRST_FINAL FAULT_REFUSED
/* Those from here on meet only reads of what the options name. */
#define FAULT_FIRST_OF_DAMAGE FAULT_DAMAGED

enum fault_kind {
#define X(code, name, verbs, text) code,
    FAULT_KINDS(X)
#undef X
    FAULT_KIND_COUNT
};

/* A storm of one kind, of the whole store: in each period it starts at a random moment, for a
 * random time. Depends on the time and the seed only, so that all clients meet it together. */
struct fault_storm {
    enum fault_kind kind; /* FAULT_NONE: no storm */
    double probability;   /* that an operation is hit while it lasts */
    int64_t period_ns;
    int64_t longest_ns; /* below the period */
    uint64_t seed;
};

#define FAULT_STORMS_MAX 3

/* All probabilities 0, no storm: no fault. */
struct fault_plan {
    double probability[STORE_VERB_COUNT][FAULT_KIND_COUNT]; /* a verb's add up to at most 1 */
    struct fault_storm storms[FAULT_STORMS_MAX];
    int64_t timeout_ns;  /* after sending, UNKNOWN is answered if no answer is to come */
    int64_t delay_ns;    /* longest delay, and longest time that a reordered one is held */
    int64_t late_min_ns; /* after sending; 1 or more */
    int64_t late_max_ns; /* drawn so that every order of magnitude is as likely */
};

/* One operation that is hit, counted over all stores that share the shot. Only operations that the
 * kind can hit are counted. */
struct fault_shot {
    enum fault_kind kind;
    uint64_t operation; /* counts from 1; 0: none */
    uint64_t seen;
};

/* Requests of these verbs (a mask, 1 << verb) for keys that begin so are refused, as by a policy
 * that was changed. What a store's client may send twice was applied the first time, or not. */
struct fault_refusal {
    unsigned verbs;     /* 0: none */
    const char *prefix; /* borrowed */
};

enum fault_moment {
    FAULT_SUBMITTED, /* `kind` is what will happen to it */
    FAULT_ANSWERED,  /* op->outcome is set; before `done` */
    FAULT_LANDED,    /* a late one, or one whose sender died, was answered by the inner store */
};

/* `op` is the sender's, but the copy for FAULT_LANDED. */
typedef void (*fault_watch)(void *context, enum fault_moment moment, enum fault_kind kind,
                            const struct store_op *op);

struct fault_store_options {
    struct store *inner;           /* borrowed, not closed */
    struct loop *loop;             /* borrowed: of delays and landings */
    struct loop *client_loop;      /* borrowed: answers come from it; NULL: `loop` */
    const struct fault_plan *plan; /* borrowed, and read at every submit: it may be changed */
    struct fault_shot *shot;       /* borrowed; NULL: none */
    struct random_stream random;
    const char *damage_prefix; /* borrowed: of keys whose bytes may be damaged; NULL: of none */
    fault_watch watch;         /* NULL: none */
    void *watch_context;
};

struct fault_counters {
    uint64_t submitted;
    uint64_t answered;
    uint64_t landed; /* that nobody waited for any more */
    uint64_t hit[FAULT_KIND_COUNT];
};

const char *fault_kind_name(enum fault_kind kind);
/* Whether that kind of fault can hit that verb; damage, if it may meet the key. */
bool fault_kind_hits(enum fault_kind kind, enum store_verb verb);

/* Closed by store_close, with nothing in flight or after `inner` was closed. */
struct store *fault_store_open(const struct fault_store_options *options);
/* From now on, and for what is submitted from now on. */
void fault_store_refuse(struct store *store, const struct fault_refusal *refusal);
/* The sender has died: its operations are never answered nor touched again; what is on its way may
 * still be applied. Nothing may be submitted afterwards. */
void fault_store_cut(struct store *store);
struct fault_counters fault_store_counters(const struct store *store);

#endif
