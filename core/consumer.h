/* consumer.h - one rank as a sans-I/O machine: its number, the steps it follows, its slices ahead
 * of time, its checkpoints.
 *
 * In the manner of producer.h: an event and the time go in, a bounded list of effects comes out;
 * core/consumer_driver.h performs them. A life: take a number (core/membership.h), then follow the
 * chain (core/chain_reader.h), fetch this rank's slice of each step by one range request, as many
 * steps ahead as the budget holds, and hand them over in step order, each once. A step is fetched
 * only when a validated version names it. How often the chain is looked at adapts (ours): never
 * while enough known steps lie ahead; else at the observed pace at which news came, backing off
 * while there is none. */
#ifndef CORE_CONSUMER_H
#define CORE_CONSUMER_H

#include "core/chain_reader.h"
#include "core/membership.h"
#include "core/tgb.h"

/* Retries of one slice whose bytes are damaged: an outage passes, what is damaged mostly stays so.
 */
#define CONSUMER_DAMAGED_MAX 8
#define CONSUMER_FETCHES_MAX 64
#define CONSUMER_ENTRIES_MAX 65536                 /* of a version, in memory: the next steps */
#define CONSUMER_RAW_BYTES_MAX (UINT64_C(1) << 30) /* of a compressed slice */
/* What live ranks poll by (docs/data_plane.md, "polling"). */
#define CONSUMER_POLL_SMOOTHING 8
#define CONSUMER_POLL_EARLY 8
#define CONSUMER_POLL_JITTER 0.1
#define CONSUMER_END_TEXT_MAX (STORE_ERROR_MAX + 384)

struct consumer_options {
    struct membership_options membership;
    struct checkpoint_set checkpoints; /* found durable at start */
    struct random_stream random;       /* jitter and back-off; the identity is the caller's */
    uint32_t slices; /* of a TGB: D x C; 0: TGBs are plain, a step is all of one */
    uint32_t slice;  /* mine */
    /* Of slices fetched or being fetched, on the wire; one at least. The one that is handed over is
     * expanded beside it. */
    uint64_t prefetch_bytes;
    uint32_t fetches_max;   /* 1..CONSUMER_FETCHES_MAX in flight or waiting to be taken */
    uint64_t steps_max;     /* fetched, from the first one on; 0: all */
    uint32_t fetch_retries; /* of one slice: unanswered, or damaged (CONSUMER_DAMAGED_MAX) */
    uint32_t lookahead; /* known steps not yet taken, below which the chain is looked at; >= 1 */
    /* The chain is looked at when its next version is due, at the pace at which versions come. */
    int64_t poll_min_ns; /* > 0 */
    int64_t poll_max_ns;
    uint32_t poll_smoothing; /* >= 1: a version's weight in the pace is one in so many */
    uint32_t poll_early; /* >= 1: the look is one part in so many of the pace before it is due */
    double poll_jitter;  /* 0..1: its time varies uniformly by this share, up and down */
    int64_t retry_ns;    /* first back-off; doubles, full jitter */
    int64_t retry_max_ns;
    uint32_t checkpoints_kept; /* 1..CHECKPOINTS_MAX */
};

#define CONSUMER_ENDS(X)                                                                           \
    X(CONSUMER_STOPPED, "stopped", "stopped as asked")                                             \
    X(CONSUMER_REFUSED, "refused", "its first step may already be reclaimed")                      \
    X(CONSUMER_BELOW_FLOOR, "below_floor", "its next step was given up")                           \
    X(CONSUMER_SUPERSEDED, "superseded", "another process took over this rank")                    \
    X(CONSUMER_RETIRED, "retired", "this rank was retired")                                        \
    X(CONSUMER_LOST, "lost", "a TGB that the chain names is not there")                            \
    X(CONSUMER_CORRUPT, "corrupt", "a slice or a version is damaged")                              \
    X(CONSUMER_STORE_FAILED, "store_failed", "the store refused for good, or for too long")

enum consumer_end {
#define X(code, name, text) code,
    CONSUMER_ENDS(X)
#undef X
    CONSUMER_END_COUNT
};

const char *consumer_end_name(enum consumer_end end);
const char *consumer_end_text(enum consumer_end end);

/* A step in the hands of the application, until it is taken. */
struct consumer_delivery {
    uint64_t step;
    struct manifest_entry entry;
    struct body slice;       /* borrowed: the slice's raw bytes, or only their number (simulator) */
    uint64_t slice_checksum; /* what enters the digest chain (core/digest_chain.h) */
    int64_t ready_ns;        /* when it had arrived */
};

/* Requests by what they are for, and bytes of their answers; LISTs count no bytes. */
enum consumer_request {
    CONSUMER_REQUEST_CONTROL, /* numbers, values, intents */
    CONSUMER_REQUEST_CHAIN,   /* listings and manifests */
    CONSUMER_REQUEST_SLICE,
    CONSUMER_REQUEST_COUNT,
};

/* Read amplification is bytes[SLICE] / slice_bytes; manifests are bytes[CHAIN] beside it. */
struct consumer_counters {
    uint64_t requests[CONSUMER_REQUEST_COUNT]; /* answered */
    uint64_t bytes[CONSUMER_REQUEST_COUNT];
    uint64_t steps;       /* taken */
    uint64_t slice_bytes; /* raw, of the steps taken */
    uint64_t polls;       /* reads of the chain */
    uint64_t polls_idle;  /* ... that found nothing new */
    uint64_t retried;     /* slices asked for again: unanswered */
    uint64_t damaged;     /* ... because what came was damaged */
    uint64_t missing;     /* 404 on a slice */
    uint64_t checkpoints; /* durable and published */
};

enum consumer_event_kind {
    CONSUMER_START,
    CONSUMER_STOP,
    CONSUMER_CONTROL_ANSWER, /* of membership.op */
    CONSUMER_CONTROL_TIMER,
    CONSUMER_CHAIN_ANSWER, /* of chain.op */
    CONSUMER_CHAIN_TIMER,
    CONSUMER_FETCH_ANSWER, /* slot; of fetches[slot].op */
    CONSUMER_FETCH_TIMER,  /* slot */
    CONSUMER_SAVED,        /* what CONSUMER_EFFECT_SAVE asked for is durable */
    CONSUMER_SAVE_REFUSED, /* ... is not: a newer process of this consumer saves there */
    CONSUMER_TAKE,         /* the delivery was used; the next one may follow */
    /* Keep the place before the step that would be taken next. Refused never: while one is in
     * progress the next waits. Allowed between RUNNING and the end. */
    CONSUMER_CHECKPOINT,
};

struct consumer_event {
    enum consumer_event_kind kind;
    uint32_t slot;
};

enum consumer_effect_kind {
    CONSUMER_EFFECT_SUBMIT_CONTROL,
    CONSUMER_EFFECT_SUBMIT_CHAIN,
    CONSUMER_EFFECT_SUBMIT_FETCH,  /* slot */
    CONSUMER_EFFECT_CONTROL_TIMER, /* set, at at_ns */
    CONSUMER_EFFECT_CHAIN_TIMER,   /* set or moved, at at_ns */
    CONSUMER_EFFECT_FETCH_TIMER,   /* slot, at_ns */
    /* Make membership.checkpoints durable as a whole, and drop what it no longer holds; then
     * CONSUMER_SAVED. What was durable before stays valid until then. Where two processes could
     * save to one place, a set whose highest number is below the highest that is durable must be
     * refused: CONSUMER_SAVE_REFUSED. */
    CONSUMER_EFFECT_SAVE,
    CONSUMER_EFFECT_RUNNING,      /* allowed to run; the first step will be `cursor` */
    CONSUMER_EFFECT_READY,        /* consumer_delivery has a step; until CONSUMER_TAKE */
    CONSUMER_EFFECT_CHECKPOINTED, /* `saved_step` and older ones are durable and published */
    CONSUMER_EFFECT_ENDED,        /* nothing is in flight; timers may be cancelled */
};

struct consumer_effect {
    enum consumer_effect_kind kind;
    uint32_t slot;
    int64_t at_ns;
};

#define CONSUMER_EFFECTS_MAX (CONSUMER_FETCHES_MAX + 8)

struct consumer_effects {
    uint32_t count;
    struct consumer_effect items[CONSUMER_EFFECTS_MAX];
};

enum fetch_state {
    FETCH_FREE,
    FETCH_SENT,
    FETCH_WAITING, /* for its timer */
    FETCH_MISSING, /* 404: the numbers and the chain say what that means */
    FETCH_ARRIVED,
};

struct fetch {
    struct store_op op;
    enum fetch_state state;
    uint32_t retries;
    uint32_t damaged;    /* of the answers; they count among the retries, too */
    uint64_t wire_bytes; /* of the range asked for */
    struct consumer_delivery delivery;
    struct tgb_slice slice; /* as its header says; of a plain TGB zero */
    uint8_t *expanded;      /* owned; NULL: the slice lies in op.result */
};

enum consumer_phase {
    CONSUMER_NEW,
    CONSUMER_STARTING,
    CONSUMER_RUNNING,
    CONSUMER_STOPPING, /* until nothing is in flight */
    CONSUMER_DONE,
};

/* Of the membership and of the chain machine. */
enum consumer_machine {
    CONSUMER_MACHINE_IDLE,
    CONSUMER_MACHINE_FLYING, /* its operation */
    CONSUMER_MACHINE_SLEEPING,
    CONSUMER_MACHINE_SAVING, /* the caller makes the checkpoints durable */
    CONSUMER_MACHINE_HELD,   /* its operation is not sent before the chain was read */
};

/* What the membership machine is busy for, while the consumer runs. */
enum consumer_control {
    CONSUMER_CONTROL_NONE,
    CONSUMER_CONTROL_CHECKPOINT,
    CONSUMER_CONTROL_CHECK,
};

/* After a 404, or a floor above the cursor: what it takes to say why. */
enum consumer_doubt {
    CONSUMER_DOUBT_NONE,
    CONSUMER_DOUBT_NUMBERS, /* list the own numbers */
    CONSUMER_DOUBT_CHAIN,   /* read the chain anew */
};

struct consumer {
    struct consumer_options options;
    struct membership membership;
    struct chain_reader chain;
    struct consumer_counters counters;
    enum consumer_phase phase;
    enum consumer_machine control_state;
    enum consumer_control control;
    enum consumer_machine chain_state; /* IDLE: no read is in progress */

    uint64_t cursor;         /* the step to be taken next; the order of delivery */
    uint64_t next_fetch;     /* the first step that was not asked for */
    uint64_t digest;         /* of the steps before the cursor */
    uint64_t window_bytes;   /* on the wire, in flight or waiting to be taken */
    uint32_t fetches_flying; /* operations in flight */
    bool offered;            /* READY was said for the cursor */

    /* At or below the chain's end: a first step that floors or intents gave. 0: none was. */
    uint64_t borne_out_step;

    struct checkpoint_set waiting; /* asked for while one is in progress */
    uint64_t saved_step;           /* of the newest checkpoint that is durable and published */

    enum consumer_doubt doubt;
    bool doubt_reread; /* the read in progress began after the doubt */

    bool poll_armed;        /* the chain timer is set for the next read */
    int64_t poll_at_ns;     /* the next read is not before this */
    int64_t pace_ns;        /* between versions, smoothed; 0: not known yet */
    int64_t news_ns;        /* when the last news was read */
    uint64_t news_version;  /* ... and the version that was */
    uint32_t polls_in_vain; /* in a row */

    enum consumer_end end;
    char end_text[CONSUMER_END_TEXT_MAX];
    struct fetch fetches[]; /* options.fetches_max; step s has the slot s % fetches_max */
};

/* The options are copied. Before CONSUMER_START the caller sets `done` and `context` of the
 * operations: membership.op, chain.op, fetches[].op. */
struct consumer *consumer_open(const struct consumer_options *options);
/* With nothing in flight, or when the store was closed before. */
void consumer_close(struct consumer *consumer);
void consumer_step(struct consumer *consumer, int64_t now_ns, struct consumer_event event,
                   struct consumer_effects *effects);
/* The step that is ready and not yet taken; NULL: none. Valid until CONSUMER_TAKE. */
const struct consumer_delivery *consumer_delivery(const struct consumer *consumer);

#endif
