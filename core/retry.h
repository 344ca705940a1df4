/* retry.h - what an unanswered request leads to: the same one again after a back-off with full
 * jitter, and the end if there is no answer too often in a row. Ours, as usual.
 *
 * For requests that may be repeated whatever became of them: reads, listings, deletions, writes of
 * what is fixed, and creates that are judged by what is stored then. Not for the create of a
 * version, whose bounds and next steps are its own (core/commit.c), nor for a slice, where damage
 * counts as well (core/consumer_fetch.c). */
#ifndef CORE_RETRY_H
#define CORE_RETRY_H

#include "core/random.h"
#include "core/store.h"

struct retry {
    int64_t first_ns; /* back-off after one failure; doubles */
    int64_t max_ns;
    uint32_t row_max; /* so often the request is sent again */
    uint32_t row;     /* unanswered in a row; to be set to 0 where another one begins */
    uint64_t total;   /* sent again, ever */
};

enum retry_verdict {
    RETRY_ANSWERED, /* the store has said what its state is; `row` is over */
    RETRY_LATER,    /* send it again at retry_at_ns */
    RETRY_REFUSED,  /* for good */
    RETRY_SILENT,   /* no answer, once more than row_max in a row */
};

/* Whether the outcome leaves open what the store's state is, and asking again may tell. */
static inline bool retry_is_open(enum store_outcome outcome)
{
    return outcome == STORE_UNKNOWN || outcome == STORE_BUSY || outcome == STORE_THROTTLED;
}

/* Judges the answer that the op holds. That a key is there answers a create only, and that it is
 * not a read or deletion only: to anything else they are refusals. `error` is written if the
 * verdict is REFUSED or SILENT: what was asked for, and what the store said. */
MUST_USE enum retry_verdict retry_judge(struct retry *retry, const struct store_op *op,
                                        char error[STORE_ERROR_MAX]);
/* When to send again after so many failures, of which `row` are one measure: now_ns and a uniform
 * part of the bound that backoff_bound_ns gives. Draws once. */
MUST_USE int64_t retry_at_ns(const struct retry *retry, uint32_t failures,
                             struct random_stream *random, int64_t now_ns);

#endif
