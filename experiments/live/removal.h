/* removal.h - takes a run's prefix away: first a survey of what is there, then its deletion.
 *
 * In this order, so that what an interruption leaves never looks like a run, and is known for what
 * it is: run/removing is put, with what run/format says; run/format is deleted, after which nobody
 * adds to the prefix or goes on with it; then the versions, the lowest first, so that no shorter
 * chain is left that would be whole; then all else; and run/removing as the last. Done again, it
 * goes on.
 *
 * Ours. Everything blocks. A signal's usual effect does no harm. */
#ifndef EXPERIMENTS_REMOVAL_H
#define EXPERIMENTS_REMOVAL_H

#include <jansson.h>

#include "core/watermark.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_session.h"
#include "experiments/trials/progress.h"

#define REMOVAL_AT_ONCE 32             /* DELETEs in flight */
#define REMOVAL_LOOK_NS (3 * NS_PER_S) /* during which a run that is used may show it */

enum removal_marker {
    REMOVAL_RUN,    /* run/format is there */
    REMOVAL_BEGUN,  /* run/removing is: an earlier removal did not end */
    REMOVAL_NO_RUN, /* neither */
};

/* What is below a prefix. */
struct removal {
    enum removal_marker kind;
    json_t *marker; /* owned; NULL: none that can be read */
    struct live_identity run;
    uint64_t objects;
    uint64_t bytes;
    uint64_t versions;
    uint64_t tgbs;
    uint64_t unknown;                /* of no kind that this program makes */
    char unknown_key[STORE_KEY_MAX]; /* the first of them, harmless for a terminal */
    uint64_t newest;                 /* version; 0: none */
    uint64_t newest_bytes;
    uint64_t digest;                  /* of all keys and sizes but those below watermark/ */
    uint64_t watermark_digest;        /* ... and of those */
    struct watermark_tally consumers; /* who holds steps; none is declared */
    int64_t looked_ns;
    int64_t committed_ns; /* Unix time of the newest version; 0: not known */
};

/* Only reads. False: the store did not answer; `error` says why. The removal is to be deinit'ed
 * either way. */
MUST_USE bool removal_survey(struct live_session *session, FILE *progress, struct removal *removal,
                             char error[STORE_ERROR_MAX]);
void removal_deinit(struct removal *removal);

/* Lists all once more, not before the survey was REMOVAL_LOOK_NS ago. Fills in what keys and sizes
 * say; nothing of `now` is to be deinit'ed. */
MUST_USE bool removal_look(struct live_session *session, const struct removal *removal,
                           FILE *progress, struct removal *now, char error[STORE_ERROR_MAX]);

enum removal_change {
    REMOVAL_AT_REST,
    REMOVAL_READ,    /* consumers took numbers, ended or moved what they hold: no more than that */
    REMOVAL_WRITTEN, /* anything else, whoever reads: written to, reclaimed, removed */
};

/* What happened between two looks, by every key and size, since one object may come as another of
 * its size goes. What is not seen: an upload that takes longer than the time between them, and who
 * pauses for as long. */
enum removal_change removal_changed(const struct removal *before, const struct removal *after);

/* Whether consumers hold steps of the run, or have not said what they hold: they run, or are to go
 * on from what they keep. */
static inline bool removal_is_held(const struct removal *removal)
{
    return removal->consumers.consumers > 0 || removal->consumers.missing > 0;
}

/* Deletes. False: not all; `error` says why, and what was done so far stands. *deleted: objects, in
 * either case, without run/removing where this call put it. */
MUST_USE bool removal_run(struct live_session *session, const struct removal *removal,
                          FILE *progress, uint64_t *deleted, char error[STORE_ERROR_MAX]);

#endif
