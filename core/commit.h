/* commit.h - the commit protocol of one producer, sans-I/O: find newest, read, rebase, conditional
 * create, judge, validate. At most one operation is in flight.
 *
 * Method: the paper's optimistic concurrency on a manifest chain; the rules against lost answers,
 * late writes and stale incarnations are ours (docs/protocol.md). An attempt runs from commit_begin
 * until an effect says COMMIT_DECIDED or COMMIT_ENDED; in between the caller submits `op`, or
 * waits, as each effect tells it, and comes back with commit_answer or commit_wake. */
#ifndef CORE_COMMIT_H
#define CORE_COMMIT_H

#include "core/base.h"
#include "core/batch_queue.h"
#include "core/chain_view.h"
#include "core/manifest.h"
#include "core/policy.h"
#include "core/random.h"
#include "core/retry.h"
#include "core/store.h"

#define COMMIT_BUSY_MAX 16     /* 409s in a row before the stored version is read */
#define COMMIT_RESENDS_MAX 3   /* of the same bytes before the newest version is looked for again */
#define COMMIT_RETRIES_MAX 64  /* unanswered reads in a row before the store counts as failed */
#define COMMIT_RESTARTS_MAX 64 /* searches in one attempt after its first */

enum commit_find {
    COMMIT_FIND_LIST,  /* one LIST after the last known version */
    COMMIT_FIND_PROBE, /* one-byte GETs of last known + 1, + 2, + 4 ..., then bisection */
};

struct commit_options {
    uint32_t producer;
    uint32_t entry_bytes; /* for a genesis made by this producer; else the chain's own counts */
    struct incarnation incarnation;
    enum commit_find find;
    uint64_t
        active_versions; /* A: a producer is active if it committed within the last A versions */
    int64_t retry_ns;    /* first back-off; doubles, full jitter */
    int64_t retry_max_ns;
};

/* Counted apart from won and lost, never hidden, and fed to no estimator. */
struct commit_counters {
    uint64_t busy;      /* 409 on a create */
    uint64_t unknown;   /* creates without a trustworthy answer */
    uint64_t throttled; /* 503 or 429, any verb */
    uint64_t resent;    /* creates sent again with the same bytes */
    uint64_t retried;   /* reads sent again */
    uint64_t vanished;  /* 404 on a version that had been seen */
    uint64_t invalid;   /* validations that failed: the floor had passed what was read or created */
};

/* What one decided attempt did, beside what the policy is told. */
struct attempt_detail {
    int64_t started_ns;
    int64_t visible_ns; /* won: when the create was answered OK, or when it was found stored */
    uint64_t version;   /* newest version known at the decision; won: the one that holds it */
    uint64_t batches;   /* committed by it; 0 when lost or fencing */
    uint64_t bytes;
    uint32_t epoch;                  /* 0 while not yet fenced */
    struct commit_counters counters; /* of this attempt alone */
};

enum commit_effect_kind {
    COMMIT_SUBMIT,  /* submit commit->op, then commit_answer */
    COMMIT_SLEEP,   /* commit_wake at until_ns */
    COMMIT_DECIDED, /* commit->attempt and commit->detail describe it */
    COMMIT_ENDED,   /* final: commit->end says why */
};

struct commit_effect {
    enum commit_effect_kind kind;
    int64_t until_ns;
};

enum commit_end {
    COMMIT_END_NONE,
    COMMIT_END_FENCED,
    COMMIT_END_CORRUPT,
    COMMIT_END_STORE,
};

enum commit_phase {
    COMMIT_IDLE,
    COMMIT_LISTING,
    COMMIT_PROBING,
    COMMIT_READING,
    COMMIT_CREATING_GENESIS,
    COMMIT_CREATING,
    COMMIT_JUDGING,
    COMMIT_VALIDATING,
};

/* What a validation is for. */
enum commit_intent {
    COMMIT_INTENT_WON,
    COMMIT_INTENT_LOST,
    COMMIT_INTENT_END,
};

struct commit {
    struct commit_options options;
    struct random_stream random;
    struct batch_queue *queue; /* borrowed from the producer */

    enum commit_phase phase;
    enum commit_intent intent;
    struct manifest *known; /* newest version held; validated between attempts */
    uint64_t search_after;  /* where a search starts while nothing is known */
    uint64_t probe_missing; /* lowest version the probe found absent; 0: none */
    uint64_t lowest_used;   /* a validation holds if the floor is at or below this */
    struct chain_view seen; /* .newest: by the search in progress */
    uint32_t epoch;         /* 0 until the fencing version is committed */
    uint64_t attempts;
    uint64_t committed_sequence;
    uint64_t committed_offset;
    int64_t committed_ns; /* commit time of my last decided version: bounds the next from below */
    uint64_t decided_version; /* newest known at the last decision */
    int64_t decided_ns;

    /* The attempt in progress. */
    struct manifest *sent; /* the create in progress, or undecided; NULL: none */
    enum store_outcome create_outcome;
    uint32_t busy_row;
    uint32_t resends;
    struct retry retry; /* of all but creates of versions */
    uint32_t restarts;
    int64_t started_ns;
    int64_t found_sent_ns;
    int64_t probe_sent_ns;
    int64_t answered_ns;

    /* Results. */
    struct attempt attempt;
    struct attempt_detail detail;
    enum commit_end end;
    char end_text[STORE_ERROR_MAX];

    struct store_op op;
};

void commit_init(struct commit *commit, const struct commit_options *options,
                 struct random_stream random, struct batch_queue *queue);
void commit_deinit(struct commit *commit);

/* Starts an attempt; none may be in progress. While the epoch is 0 it is the fencing attempt, which
 * commits no batch; afterwards at least one batch must be ready. */
MUST_USE struct commit_effect commit_begin(struct commit *commit, int64_t now_ns);
/* The op was answered; its result is consumed. */
MUST_USE struct commit_effect commit_answer(struct commit *commit, int64_t now_ns);
/* The sleep is over. */
MUST_USE struct commit_effect commit_wake(struct commit *commit, int64_t now_ns);

#endif
