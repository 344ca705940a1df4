/* live_marker.h - the object run/format, made by create-if-absent before anything else of a run:
 * JSON that says which format this is, what all producers must agree on, and which run made it.
 * While a run is being removed, run/removing stands in its place (removal.h). */
#ifndef EXPERIMENTS_LIVE_MARKER_H
#define EXPERIMENTS_LIVE_MARKER_H

#include <jansson.h>

#include "experiments/config/config.h"
#include "experiments/live/live_session.h"

#define LIVE_MARKER_KEY "run/format"
#define LIVE_REMOVING_KEY "run/removing"
/* Before a token: where ranks with it start that keep no checkpoint (consume_start.h). */
#define LIVE_CONSUME_PREFIX "run/consume-"
#define LIVE_FORMAT 1
#define LIVE_MARKER_TEXT_MAX 1536
/* What batches hold: bytes by (producer, sequence), or files that were given. */
#define LIVE_PAYLOAD_SYNTHETIC "synthetic"
#define LIVE_PAYLOAD_FILES "files"

enum live_marker {
    LIVE_MARKER_FOUND,
    LIVE_MARKER_MISSING,
    LIVE_MARKER_DAMAGED, /* not JSON, or without what it must say */
    LIVE_MARKER_FAILED,  /* the store did not answer */
};

/* Reads a marker; on FOUND *marker is the caller's reference, and holds the integers "format" and
 * "entry_bytes" and the text "payload". */
MUST_USE enum live_marker live_marker_read(struct live_session *session, json_t **marker,
                                           char error[STORE_ERROR_MAX]);

/* The same of another key: LIVE_REMOVING_KEY holds a copy. */
MUST_USE enum live_marker live_marker_read_key(struct live_session *session, const char *key,
                                               json_t **marker, char error[STORE_ERROR_MAX]);

/* How the run's TGBs are sliced; a marker that says nothing is of plain ones. False: it says what
 * this program does not know. */
MUST_USE bool live_marker_mesh(const json_t *marker, struct tgb_mesh *mesh);

/* What a marker says. Texts are borrowed. */
struct live_marker_options {
    const char *experiment;
    const char *arm;
    const char *payload; /* LIVE_PAYLOAD_* */
    uint64_t seed;
    uint64_t producers;
    uint64_t entry_bytes;
    struct tgb_mesh mesh;
};

enum live_claim {
    LIVE_CLAIMED,
    LIVE_CLAIM_TAKEN, /* something is below the prefix already */
    LIVE_CLAIM_FAILED,
};

/* Claims the session's prefix for a new run: durable on CLAIMED. Blocks on the store. */
MUST_USE enum live_claim live_marker_make(struct live_session *session,
                                          const struct live_marker_options *options,
                                          char error[STORE_ERROR_MAX]);

/* Whether a run of these options can go on below `url`, which has this marker. OPEN_BAD_INPUT: the
 * error says in what they differ, and what to do. */
MUST_USE enum open_result live_marker_agrees(const json_t *marker,
                                             const struct live_marker_options *options,
                                             const char *url, char error[LIVE_MARKER_TEXT_MAX]);

/* Which run a marker names; from outside, but harmless for a terminal. */
struct live_identity {
    char experiment[CONFIG_NAME_MAX]; /* empty: the marker does not say */
    char arm[2 * CONFIG_NAME_MAX];
    char started[CONFIG_NAME_MAX];
    uint64_t seed;
};

/* Of any text from outside: cut to the capacity; what could move a cursor becomes '?'. NULL is
 * empty. */
void live_marker_copy_harmless(char *copy, size_t capacity, const char *text);

/* Random lower-case hex digits that fill the capacity, at most 32 and a NUL: what nobody else has
 * drawn. */
void live_marker_draw(char *identity, size_t capacity);

void live_marker_identify(const json_t *marker, struct live_identity *identity);

#endif
