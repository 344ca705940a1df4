/* reclaim.h - gives storage back, sans-I/O: the floor is raised before anything is deleted, and
 * nothing is deleted that a consumer may still ask for. Any process may run it, at any time,
 * several at once, and die anywhere.
 *
 * Method: ours (docs/data_plane.md, "reclaimer"), for the paper's watermarks: F = the minimum of
 * the consumers' watermarks; write intent F; list the watermarks again; S = min(F, those); read and
 * validate the newest version N; write floor (V, S), V a few below N; then delete the versions
 * below V that a listing shows, and TGBs by one rule: listed, at or below their producer's (epoch,
 * sequence) in N, and not named there at a step at or above S. Without a consumer, or while one's
 * watermark is unknown, nothing is given up; what was given up before is still deleted.
 *
 * In the manner of producer.h: an event and the time go in, a bounded list of effects comes out
 * (core/reclaim_driver.h performs them). A round runs from RECLAIM_ROUND until
 * RECLAIM_ROUND_ENDED. Listings are read page by page and never held. Memory: a manifest, 32 to 64
 * bytes for each of its entries, one page, and the operations. Nothing blocks. */
#ifndef CORE_RECLAIM_H
#define CORE_RECLAIM_H

#include "core/chain_reader.h"
#include "core/live_set.h"
#include "core/watermark.h"

#define RECLAIM_DELETES_MAX 64
#define RECLAIM_RETRIES_MAX 64       /* of a listing or a marker; then the round is given up */
#define RECLAIM_MARKERS_KEPT 64      /* floors, and intents, that stay whatever their age */
#define RECLAIM_DELETE_RETRIES_MAX 8 /* then the object is left to a later round */
#define RECLAIM_UNDECIDED_MAX 32     /* producers that a report names */

enum reclaim_mode {
    RECLAIM_DELETE,
    RECLAIM_DRY_RUN, /* writes and deletes nothing: counts what a round would delete */
};

struct reclaim_options {
    struct random_stream random;
    int64_t retry_ns; /* first back-off; doubles, full jitter */
    int64_t retry_max_ns;
    enum reclaim_mode mode;
    uint32_t ranks;  /* declared consumers 0..ranks-1: one without a watermark blocks; 0: any */
    uint64_t behind; /* V = N - behind: for readers that are about to read one */
    /* A TGB whose bucket ended later than this ago is left for later. Not needed for safety, so
     * that a clock that jumps does no harm. */
    int64_t grace_ns;
    /* A floor or intent below the highest is deleted once that was seen so long ago, or once there
     * are RECLAIM_MARKERS_KEPT higher ones. Longer than any listing takes: one that misses the new
     * marker must still show the old. TIME_NEVER: they stay, and are not listed. */
    int64_t marker_grace_ns;
    /* So often all TGBs are listed; in the rounds between only those in buckets up to the one where
     * the live steps begin. The first round is a full one; 1: every round. */
    uint32_t full_every;
    uint32_t deletes_max; /* in flight, 1..RECLAIM_DELETES_MAX */
};

/* code, name, text */
#define RECLAIM_ENDS(X)                                                                            \
    X(RECLAIM_DONE, "done", "all that may be deleted was asked to be")                             \
    X(RECLAIM_EMPTY, "empty", "there is no version yet")                                           \
    X(RECLAIM_GIVEN_UP, "given_up",                                                                \
      "the store did not answer, or the chain kept moving, too often")                             \
    X(RECLAIM_REFUSED, "refused", "the store refused for good, or a version is damaged")           \
    X(RECLAIM_STOPPED, "stopped", "stopped as asked")

enum reclaim_end {
#define X(code, name, text) code,
    RECLAIM_ENDS(X)
#undef X
    RECLAIM_END_COUNT
};

const char *reclaim_end_name(enum reclaim_end end);
const char *reclaim_end_text(enum reclaim_end end);

/* TGBs of one producer that no version has decided yet. */
struct reclaim_undecided {
    uint32_t producer;
    uint64_t tgbs;
    uint64_t bytes;
    uint64_t oldest_bucket; /* in units of TGB_BUCKET_NS */
};

/* What a round found and did. Of a dry run, what it would have deleted. */
struct reclaim_report {
    enum reclaim_end end;
    uint64_t newest;    /* N; 0: none */
    uint64_t next_step; /* of N */
    struct floor floor; /* in force: written, or as found; a dry run: as it would be written */
    uint64_t watermark; /* F; 0: none */
    uint32_t holder;    /* the consumer whose watermark is F */
    int64_t held_ns;    /* so long this process has seen F stay as it is */
    /* When the TGB of the lowest step that is not given up was made, in units of TGB_BUCKET_NS; 0:
     * there is none. What shows an abandoned watermark to a process that sees one round alone. */
    uint64_t oldest_bucket;
    uint32_t consumers; /* that hold */
    uint32_t retired;
    uint32_t missing;       /* consumers that block: ranks that never came, or without a value */
    uint32_t first_missing; /* the lowest of them */
    bool full;              /* all TGBs were listed */
    uint64_t versions;      /* deleted, as all below */
    uint64_t version_bytes;
    uint64_t tgbs; /* orphans included */
    uint64_t tgb_bytes;
    uint64_t orphans; /* of tgbs: of an incarnation that another one fenced, or lost to */
    uint64_t orphan_bytes;
    uint64_t markers;      /* old floors and intents */
    uint64_t live;         /* TGBs listed that stay: named */
    uint64_t young;        /* ... could go, but for the grace */
    uint64_t young_bucket; /* the newest of those: far ahead where a clock was */
    uint64_t undecided;    /* ... above their producer's state: to be committed, or of a dead one */
    uint64_t undecided_bytes;
    uint32_t undecided_count; /* producers, the one with the oldest TGB first */
    struct reclaim_undecided undecided_of[RECLAIM_UNDECIDED_MAX];
    uint64_t foreign;   /* keys that are nobody's: left alone */
    uint64_t abandoned; /* deletions that were not answered */
    uint64_t retried;   /* requests sent again */
};

/* An operation of the machine. Slot RECLAIM_SLOT_CHAIN reads the chain, RECLAIM_SLOT_CONTROL lists
 * and writes markers, those from RECLAIM_SLOT_DELETES on delete. */
enum {
    RECLAIM_SLOT_CHAIN,
    RECLAIM_SLOT_CONTROL,
    RECLAIM_SLOT_DELETES,
};
#define RECLAIM_SLOTS_MAX (RECLAIM_SLOT_DELETES + RECLAIM_DELETES_MAX)

enum reclaim_event_kind {
    RECLAIM_ROUND, /* starts a round; none may be in progress */
    /* Nothing new, for good: a round in progress ends when nothing is in flight any more. */
    RECLAIM_STOP,
    RECLAIM_ANSWER, /* slot: its operation was answered */
    RECLAIM_TIMER,  /* slot */
};

struct reclaim_event {
    enum reclaim_event_kind kind;
    uint32_t slot;
};

enum reclaim_effect_kind {
    RECLAIM_SUBMIT,      /* slot: submit reclaim_op(slot) */
    RECLAIM_SLEEP,       /* slot: RECLAIM_TIMER at at_ns */
    RECLAIM_ROUND_ENDED, /* reclaim->report says how */
};

struct reclaim_effect {
    enum reclaim_effect_kind kind;
    uint32_t slot;
    int64_t at_ns;
};

#define RECLAIM_EFFECTS_MAX (RECLAIM_SLOTS_MAX + 1)

struct reclaim_effects {
    uint32_t count;
    struct reclaim_effect items[RECLAIM_EFFECTS_MAX];
};

enum reclaim_phase {
    RECLAIM_IDLE,
    RECLAIM_READING,        /* the chain: floor, and how far there are steps */
    RECLAIM_LISTING,        /* watermarks: F */
    RECLAIM_INTENDING,      /* PUT intent F */
    RECLAIM_LISTING_AGAIN,  /* watermarks: S */
    RECLAIM_READING_AGAIN,  /* the chain: N */
    RECLAIM_RAISING,        /* PUT floor (V, S) */
    RECLAIM_SWEEPING_CHAIN, /* versions below V */
    RECLAIM_SWEEPING_TGBS,
    RECLAIM_SWEEPING_FLOORS, /* lower ones */
    RECLAIM_SWEEPING_INTENTS,
    RECLAIM_ENDING, /* until nothing is in flight */
};

enum reclaim_slot_state {
    RECLAIM_SLOT_FREE,
    RECLAIM_SLOT_SENT,
    RECLAIM_SLOT_WAITING, /* for its timer */
};

/* What a deletion is counted as. */
enum reclaim_object {
    RECLAIM_OBJECT_VERSION,
    RECLAIM_OBJECT_TGB,
    RECLAIM_OBJECT_ORPHAN,
    RECLAIM_OBJECT_MARKER,
};

struct reclaim_delete {
    struct store_op op;
    enum reclaim_slot_state state;
    struct retry retry;
    enum reclaim_object object;
    uint64_t bytes; /* of the object */
};

struct reclaim {
    struct reclaim_options options;
    struct chain_reader chain;
    struct store_op control;
    enum reclaim_slot_state lead; /* of the chain's or the control's operation: one at most works */
    enum reclaim_phase phase;
    struct retry control_retry;
    bool stopped;
    uint64_t rounds;

    /* The round in progress. */
    struct floor floor; /* in force: stored, surely */
    uint64_t needed;    /* S */
    struct watermark_scan scan;
    struct watermark_tally tally;
    struct live_set live;
    uint64_t bucket_max; /* TGBs of later buckets are not listed */
    bool page_held;      /* control.page is being judged: its keys from page_next on */
    size_t page_next;
    uint32_t deletes_busy;

    /* Kept from round to round: the markers seen highest, and when; F, and since when. */
    struct floor seen_floor;
    int64_t seen_floor_ns;
    uint64_t seen_intent;
    int64_t seen_intent_ns;
    uint64_t held;
    int64_t held_since_ns;
    struct floor old_floor; /* lower ones may go; version 0: none */
    uint64_t old_intent;    /* 0: none */
    uint32_t marks;      /* floors, or intents, of the sweep in progress; the first are highest */
    uint64_t marks_step; /* the highest step of those kept */

    struct reclaim_report report;
    char error[STORE_ERROR_MAX];     /* how a round failed; else empty */
    struct reclaim_delete deletes[]; /* options.deletes_max */
};

/* The options are copied. Before the first event the caller sets done and context of each
 * operation. */
struct reclaim *reclaim_open(const struct reclaim_options *options);
void reclaim_close(struct reclaim *reclaim);
/* The operation of a slot below RECLAIM_SLOT_DELETES + options.deletes_max. */
struct store_op *reclaim_op(struct reclaim *reclaim, uint32_t slot);
void reclaim_step(struct reclaim *reclaim, int64_t now_ns, struct reclaim_event event,
                  struct reclaim_effects *effects);

#endif
