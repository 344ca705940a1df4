/* live_place.h - where a live run goes: a prefix of its own below live.store, claimed by its
 * marker.
 *
 * The marker is the object run/format, made by create-if-absent before anything else: JSON that
 * says which format this is, what all producers must agree on, and which run made it. */
#ifndef EXPERIMENTS_LIVE_PLACE_H
#define EXPERIMENTS_LIVE_PLACE_H

#include <jansson.h>

#include "experiments/config/experiment.h"
#include "experiments/live/live_session.h"

#define LIVE_URL_MAX 1024
#define LIVE_PLACE_TEXT_MAX 1536
#define LIVE_MARKER_KEY "run/format"
#define LIVE_FORMAT 1

struct live_place_options {
    const struct experiment *experiment;
    const struct arm *arm;
    uint64_t seed;
};

/* Chooses a prefix below the config's live.store and claims it: <store>/<experiment>/<arm>/
 * seed-<seed>-<UTC time>, with a number behind it where that is taken. Blocks on the store. On
 * OPEN_OK the marker is durable; else `error` says what, where, and what to do. */
MUST_USE enum open_result live_place_claim(const struct live_place_options *options,
                                           char url[LIVE_URL_MAX], char error[LIVE_PLACE_TEXT_MAX]);

/* Which run a marker names; from outside, but harmless for a terminal. */
struct live_identity {
    char experiment[CONFIG_NAME_MAX]; /* empty: the marker does not say */
    char arm[2 * CONFIG_NAME_MAX];
    uint64_t seed;
};

/* Reads which run the prefix holds. */
MUST_USE enum open_result live_place_identify(const char *url, struct live_identity *identity,
                                              char error[LIVE_PLACE_TEXT_MAX]);

/* Checks that the prefix holds a run that this config can go on with. */
MUST_USE enum open_result live_place_resume(const struct live_place_options *options,
                                            const char *url, char error[LIVE_PLACE_TEXT_MAX]);

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

#endif
