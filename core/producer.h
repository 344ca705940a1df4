/* producer.h - one producer as a sans-I/O machine: production, uploads, and when to commit.
 *
 * An event and the time go in, a bounded list of effects comes out. The machine fills the
 * operations that the driver submits (core/driver.h), and reads their answers in place. Nothing
 * blocks. A life: first gap, fencing attempts until one is won, then batches are made at the
 * offered rate, uploaded, and committed whenever the policy's gap is over and at least one is
 * ready. */
#ifndef CORE_PRODUCER_H
#define CORE_PRODUCER_H

#include "core/base.h"
#include "core/batch_queue.h"
#include "core/commit.h"
#include "core/policy.h"
#include "core/random.h"
#include "core/retry.h"
#include "core/store.h"

#define PRODUCER_UPLOADS_MAX 64
#define PRODUCER_UPLOAD_RETRIES_MAX 64
#define PRODUCER_END_TEXT_MAX (STORE_ERROR_MAX + 64)

enum producer_mode {
    PRODUCER_INLINE,     /* commit I/O pauses production: what an overhead budget is about */
    PRODUCER_BACKGROUND, /* production goes on */
};

struct producer_options {
    struct commit_options commit;
    struct random_stream random; /* jitter and back-off; the incarnation is drawn by the caller */
    enum producer_mode mode;
    int64_t first_gap_ns; /* the first attempt starts uniformly in [0, first_gap) */
    int64_t gap_min_ns;   /* clamps of the policy's gap, before jitter */
    int64_t gap_max_ns;
    double gap_jitter;    /* gap *= uniform [1 - jitter, 1 + jitter) */
    uint64_t batch_bytes; /* size of one TGB */
    int64_t batch_ns;     /* time to make one: batch_bytes / offered rate */
    double batch_jitter;  /* the same for batch_ns */
    uint32_t uploads_max; /* 1..PRODUCER_UPLOADS_MAX; production waits when all are in use */
    uint64_t batches_max; /* end once so many batches of this life are visible; 0: no limit */
    /* Batches that are not all alike: `sizes[0]` is that of the sequence `sizes_first` of this
     * producer's stream (0: of the first batch of this life), each at least 1. The producer ends
     * once the last of them is visible, at once if it is already. Borrowed; NULL: batch_bytes each.
     */
    const uint64_t *sizes;
    uint64_t size_count;
    uint64_t sizes_first;
    const struct policy_kind *policy_kind;
    double policy_values[POLICY_PARAMETERS_MAX];
};

/* Why a producer ended. */
#define PRODUCER_ENDS(X)                                                                           \
    X(PRODUCER_STOPPED, "stopped", "stopped as asked")                                             \
    X(PRODUCER_FENCED, "fenced", "a newer incarnation of this producer took over")                 \
    X(PRODUCER_CORRUPT, "corrupt", "the chain contradicts what this producer knows")               \
    X(PRODUCER_STORE_FAILED, "store_failed", "the store refused for good, or for too long")

enum producer_end {
#define X(code, name, text) code,
    PRODUCER_ENDS(X)
#undef X
    PRODUCER_END_COUNT
};

const char *producer_end_name(enum producer_end end);
const char *producer_end_text(enum producer_end end);

enum producer_event_kind {
    PRODUCER_START,
    PRODUCER_STOP,
    PRODUCER_COMMIT_ANSWER,
    PRODUCER_COMMIT_TIMER,
    PRODUCER_BATCH_TIMER,
    PRODUCER_UPLOAD_ANSWER, /* slot */
    PRODUCER_UPLOAD_TIMER,  /* slot */
};

struct producer_event {
    enum producer_event_kind kind;
    uint32_t slot;
};

enum producer_effect_kind {
    EFFECT_SUBMIT_COMMIT,
    EFFECT_SUBMIT_UPLOAD, /* slot */
    EFFECT_COMMIT_TIMER,  /* set, at at_ns */
    EFFECT_BATCH_TIMER,
    EFFECT_BATCH_TIMER_CANCEL,
    EFFECT_UPLOAD_TIMER, /* slot, at_ns */
    EFFECT_ATTEMPT, /* commit.attempt and commit.detail: report them, then take what is visible */
    EFFECT_ENDED,
};

struct producer_effect {
    enum producer_effect_kind kind;
    uint32_t slot;
    int64_t at_ns;
};

#define PRODUCER_EFFECTS_MAX 8

struct producer_effects {
    uint32_t count;
    struct producer_effect items[PRODUCER_EFFECTS_MAX];
};

enum upload_state {
    UPLOAD_FREE,
    UPLOAD_SENT,
    UPLOAD_WAITING, /* for its timer */
};

struct upload {
    uint64_t sequence;
    struct retry retry;
    enum upload_state state;
    struct store_op op;
};

enum producer_phase {
    PRODUCER_NEW,
    PRODUCER_WAITING, /* between attempts */
    PRODUCER_COMMITTING,
    PRODUCER_STOPPING, /* until nothing is in flight */
    PRODUCER_DONE,
};

struct producer {
    struct producer_options options;
    struct batch_queue queue;
    enum producer_phase phase;
    bool gap_over;
    int64_t gap_ns;        /* in force before the next attempt, without jitter */
    bool commit_in_flight; /* an operation or a back-off of the commit machine */
    uint32_t uploads_busy;
    uint32_t uploads_free_count;
    uint8_t uploads_free[PRODUCER_UPLOADS_MAX];

    bool making;        /* a batch is being made */
    bool paused;        /* ... but its time does not run */
    int64_t made_at_ns; /* when it will be ready */
    int64_t remaining_ns;
    uint64_t next_sequence;
    uint64_t next_offset;
    uint64_t first_sequence; /* of this life; 0: not known yet */
    uint64_t last_sequence;  /* to be made */

    struct commit commit;
    struct policy policy;
    struct random_stream policy_random;

    enum producer_end end;
    char end_text[PRODUCER_END_TEXT_MAX];
    struct upload uploads[]; /* options.uploads_max */
};

/* The options are copied. */
struct producer *producer_open(const struct producer_options *options);
void producer_close(struct producer *producer);
void producer_step(struct producer *producer, int64_t now_ns, struct producer_event event,
                   struct producer_effects *effects);
/* After EFFECT_ATTEMPT: batches that became visible, oldest first; false when there is no more. */
bool producer_take_visible(struct producer *producer, struct batch *batch);

#endif
