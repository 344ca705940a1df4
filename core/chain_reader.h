/* chain_reader.h - reads a version of the chain that counts, sans-I/O: find the newest, read it,
 * validate it by a floor that was read afterwards. What consumers, reclaimers and tools go by;
 * producers do the same inside core/commit.h.
 *
 * A read runs from chain_reader_begin until an effect other than SUBMIT and SLEEP; in between the
 * caller submits `op`, or waits, as each effect tells it, and comes back with chain_reader_answer
 * or chain_reader_wake. At most one operation is in flight. Requests: one LIST where nothing is
 * new, else LIST, GET, LIST. Source: the rule "validate" of docs/protocol.md (ours). */
#ifndef CORE_CHAIN_READER_H
#define CORE_CHAIN_READER_H

#include "core/chain_view.h"
#include "core/manifest.h"
#include "core/random.h"
#include "core/retry.h"
#include "core/store.h"

#define CHAIN_RETRIES_MAX 64  /* unanswered reads in a row before the store counts as failed */
#define CHAIN_RESTARTS_MAX 64 /* searches in one read after its first */

struct chain_reader_options {
    int64_t retry_ns; /* first back-off; doubles, full jitter */
    int64_t retry_max_ns;
};

enum chain_effect_kind {
    CHAIN_SUBMIT,  /* submit reader->op, then chain_reader_answer */
    CHAIN_SLEEP,   /* chain_reader_wake at until_ns */
    CHAIN_CHANGED, /* reader->known is validated, and newer than at begin or holds other entries */
    CHAIN_UNCHANGED, /* reader->known is still the one, and still validated */
    CHAIN_EMPTY,     /* there is no version yet */
    CHAIN_FAILED,    /* reader->failure and reader->error say why */
};

struct chain_effect {
    enum chain_effect_kind kind;
    int64_t until_ns;
};

enum chain_failure {
    CHAIN_SILENT,     /* not answered, too often in a row */
    CHAIN_REFUSED,    /* the store refused for good */
    CHAIN_DAMAGED,    /* what is stored is no version, or contradicts the one before */
    CHAIN_UNFINDABLE, /* what is listed cannot be read, or is not listed in order */
};

enum chain_phase {
    CHAIN_IDLE,
    CHAIN_LISTING,
    CHAIN_READING,
    CHAIN_VALIDATING,
};

struct chain_reader {
    struct chain_reader_options options;
    struct random_stream random;
    struct store_op op;
    enum chain_phase phase;
    struct manifest *known; /* the last one validated; stays until there is another; NULL: none */
    struct manifest *found; /* read, not yet validated */
    struct chain_view seen; /* .newest: by the search in progress, or by the last */
    /* Of the entries only those of these steps are needed: set by the user, before a begin. `known`
     * is read again, though it is the newest, when it holds fewer. next_step 0: all are. */
    struct manifest_part wanted;
    bool from_floor; /* the search in progress starts at the floor, not at `known` */
    struct retry retry;
    uint32_t restarts;
    uint64_t vanished;          /* versions listed, and gone when read, ever */
    uint64_t invalid;           /* validations that failed, ever */
    enum chain_failure failure; /* valid after CHAIN_FAILED */
    char error[STORE_ERROR_MAX];
};

/* The options are copied. Before the first begin the caller sets op.done and op.context. */
void chain_reader_init(struct chain_reader *reader, const struct chain_reader_options *options,
                       struct random_stream random);
void chain_reader_deinit(struct chain_reader *reader);
/* Starts a read; none may be in progress. Allowed after every end, CHAIN_FAILED too. */
MUST_USE struct chain_effect chain_reader_begin(struct chain_reader *reader);
/* The op was answered; its result is consumed. */
MUST_USE struct chain_effect chain_reader_answer(struct chain_reader *reader, int64_t now_ns);
/* The sleep is over. */
MUST_USE struct chain_effect chain_reader_wake(struct chain_reader *reader);

#endif
