/* retirement.h - ends a consumer or a producer that will not come back, by a human's word, or a
 * process's own number at its end: what holds storage for it no longer does. Everything blocks.
 * Ours (docs/data_plane.md). */
#ifndef EXPERIMENTS_RETIREMENT_H
#define EXPERIMENTS_RETIREMENT_H

#include "experiments/config/config.h"
#include "experiments/live/live_session.h"

#define RETIREMENT_TEXT_MAX 512

enum retirement {
    RETIREMENT_DONE,
    RETIREMENT_UNKNOWN, /* there is nobody of that name; `text` says so */
    RETIREMENT_FAILED,  /* the store, or somebody else at work as the same; `text` says why */
};

/* Below `declared` a consumer may be retired that never came; others are UNKNOWN then. Takes a new
 * number of this consumer, and ends it. A process that still runs as it ends soon. */
MUST_USE enum retirement retirement_of_consumer(struct live_session *session, uint32_t consumer,
                                                uint32_t declared, char text[RETIREMENT_TEXT_MAX]);

/* The end of a process that had this number of the consumer, and will not come back to what it
 * held: only that number ends, never that of a process which took the consumer over. May be done
 * again. */
MUST_USE enum retirement retirement_of_number(struct live_session *session, uint32_t consumer,
                                              uint64_t number, char text[RETIREMENT_TEXT_MAX]);

/* Commits an epoch of its own for this producer, and nothing in it: what the producer uploaded and
 * did not commit never will be, and a process that still runs as it is fenced. *epoch: that one.
 * The config says how commits are tried. */
MUST_USE enum retirement retirement_of_producer(struct live_session *session,
                                                const struct config *config, uint32_t producer,
                                                uint32_t *epoch, char text[RETIREMENT_TEXT_MAX]);

#endif
