/* membership.h - a consumer's number, sans-I/O: taken at its start, allowed or refused, its value
 * raised at checkpoints. What keeps a reclaimer from a consumer's steps. The rules are ours
 * (docs/data_plane.md, "start" and "checkpoint"); they are searched by tests/model.
 *
 * Three calls begin something: membership_start once, membership_publish after each checkpoint
 * that was made durable, membership_check when what should be there is missing. Each runs until an
 * effect other than SUBMIT, SLEEP and SAVE; in between the caller submits `op`, waits, or saves,
 * and comes back with membership_answer, membership_wake or membership_saved. At most one
 * operation is in flight. */
#ifndef CORE_MEMBERSHIP_H
#define CORE_MEMBERSHIP_H

#include "core/checkpoint.h"
#include "core/membership_view.h"
#include "core/random.h"
#include "core/retry.h"
#include "core/store.h"

#define MEMBERSHIP_RETRIES_MAX 64 /* of one request, without an answer in a row */
/* In one start: numbers that others took first, and intents that passed its first step. */
#define MEMBERSHIP_RESTARTS_MAX 64

enum membership_mode {
    MEMBERSHIP_RUN,
    /* For a human, of a consumer that will not come back: takes a new number and puts "retired" on
     * it. membership_start ends with DONE, or REFUSED where there is no such consumer. */
    MEMBERSHIP_RETIRE,
    /* The same for a rank that was declared, and need never have come. */
    MEMBERSHIP_RETIRE_DECLARED,
    /* For a process that has ended, and will not come back to what it held: puts "retired" on its
     * own number, options.number. Whoever took a higher one meanwhile is not touched. Nothing is
     * listed or taken; it may be done again. membership_start ends with DONE, or FAILED. */
    MEMBERSHIP_RETIRE_OWN,
};

struct membership_options {
    uint32_t consumer;
    enum membership_mode mode;
    struct incarnation identity; /* 128 random bits of this process: the body of its number */
    int64_t retry_ns;            /* first back-off; doubles, full jitter */
    int64_t retry_max_ns;
    /* Where to start without a checkpoint, as the ranks of a job agreed; 0: at the first step that
     * nobody is giving up. */
    uint64_t start_step;
    /* Of the kept checkpoints start at the newest at or below this one, and discard those above
     * once that is allowed: a rollback. 0: the newest. */
    uint64_t rollback_step;
    uint64_t number; /* RETIRE_OWN: that the process had */
};

enum membership_effect_kind {
    MEMBERSHIP_SUBMIT, /* submit membership->op, then membership_answer */
    MEMBERSHIP_SLEEP,  /* membership_wake at until_ns */
    /* Make membership->checkpoints durable, then membership_saved. */
    MEMBERSHIP_SAVE,
    MEMBERSHIP_ALLOWED, /* start: run, from `first_step` on */
    MEMBERSHIP_DONE,    /* publish, check: still the one; retire: retired */
    MEMBERSHIP_REFUSED, /* start: the steps may be reclaimed; `error` says which, and what to do */
    MEMBERSHIP_SUPERSEDED, /* another process took a higher number of this consumer */
    MEMBERSHIP_ENDED,      /* a human retired this consumer */
    MEMBERSHIP_FAILED,     /* the store; `error` says why */
};

struct membership_effect {
    enum membership_effect_kind kind;
    int64_t until_ns; /* SLEEP */
};

enum membership_phase {
    MEMBERSHIP_IDLE,
    MEMBERSHIP_FINDING,  /* LIST own numbers: the highest */
    MEMBERSHIP_TAKING,   /* PUT_IF_ABSENT the next number */
    MEMBERSHIP_JUDGING,  /* GET it: it exists, and may be mine */
    MEMBERSHIP_FLOOR,    /* LIST the floor: where to start without a checkpoint */
    MEMBERSHIP_ASKING,   /* LIST the intent, before a number is taken */
    MEMBERSHIP_VALUING,  /* PUT the value */
    MEMBERSHIP_LISTING,  /* LIST own numbers again: what became of them */
    MEMBERSHIP_INTENT,   /* LIST the intent, once the value is published */
    MEMBERSHIP_SAVING,   /* the checkpoints, stamped */
    MEMBERSHIP_REFUSING, /* PUT "retired" */
    MEMBERSHIP_CHECKING, /* LIST own numbers, running */
    MEMBERSHIP_SWEEPING, /* DELETE the value before the last */
};

struct membership {
    struct membership_options options;
    struct random_stream random;
    /* While TAKING, op.body points at options.identity: a copy of the machine points there anew. */
    struct store_op op;
    enum membership_phase phase;
    bool running;                      /* start ended with ALLOWED */
    uint64_t number;                   /* mine; 0: none yet */
    uint64_t before;                   /* the highest number found, if it has not ended; 0: none */
    uint64_t first_step;               /* of this run */
    uint64_t published;                /* last value that is surely stored; 0: none */
    uint64_t publishing;               /* the value that is being stored */
    uint64_t outdated;                 /* the value before it, to be deleted; 0: none */
    struct checkpoint_set checkpoints; /* kept; the caller adds to it before membership_publish */
    struct checkpoint_set found;       /* as durable at start */
    struct membership_view view;
    uint64_t marked;     /* the highest step that a listing of floors or intents showed */
    bool intent_checked; /* start had to ask for the intent */
    struct retry retry;
    uint32_t restarts;
    char error[STORE_ERROR_MAX];
};

/* Options and checkpoints are copied. Before start the caller sets op.done and op.context. */
void membership_init(struct membership *membership, const struct membership_options *options,
                     const struct checkpoint_set *durable, struct random_stream random);
void membership_deinit(struct membership *membership);

/* Once. Ends with ALLOWED, REFUSED, SUPERSEDED, ENDED or FAILED; mode RETIRE: see there. */
MUST_USE struct membership_effect membership_start(struct membership *membership);
/* After the checkpoints that membership->checkpoints holds, one at least, are durable: publishes
 * the oldest one's step. Ends with DONE, SUPERSEDED, ENDED or FAILED. */
MUST_USE struct membership_effect membership_publish(struct membership *membership);
/* Lists the own numbers. Ends with DONE, SUPERSEDED, ENDED or FAILED. */
MUST_USE struct membership_effect membership_check(struct membership *membership);

/* The op was answered; its result is consumed. */
MUST_USE struct membership_effect membership_answer(struct membership *membership, int64_t now_ns);
/* The sleep is over. */
MUST_USE struct membership_effect membership_wake(struct membership *membership);
/* The checkpoints are durable. */
MUST_USE struct membership_effect membership_saved(struct membership *membership);

#endif
