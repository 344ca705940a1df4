/* live_place.h - where a live run goes: a prefix of its own below live.store, claimed by its marker
 * (live_marker.h). */
#ifndef EXPERIMENTS_LIVE_PLACE_H
#define EXPERIMENTS_LIVE_PLACE_H

#include "experiments/config/experiment.h"
#include "experiments/live/live_marker.h"

#define LIVE_URL_MAX 1024
#define LIVE_ENDPOINT_MAX 300
#define LIVE_PLACE_TEXT_MAX LIVE_MARKER_TEXT_MAX

/* A run's own prefix. */
struct live_place {
    char url[LIVE_URL_MAX];
    char endpoint[LIVE_ENDPOINT_MAX]; /* that it was found at; empty where the URL says all */
};

struct live_place_options {
    const struct experiment *experiment;
    const struct arm *arm;
    uint64_t seed;
};

/* Chooses a prefix below the config's live.store and claims it: <store>/<experiment>/<arm>/
 * seed-<seed>-<UTC time>, with a number behind it where that is taken. Blocks on the store. On
 * OPEN_OK the marker is durable; else `error` says what, where, and what to do. */
MUST_USE enum open_result live_place_claim(const struct live_place_options *options,
                                           struct live_place *place,
                                           char error[LIVE_PLACE_TEXT_MAX]);

/* Reads which run the prefix holds; the config says how its store is reached. */
MUST_USE enum open_result live_place_identify(const struct config *config, const char *url,
                                              struct live_identity *identity,
                                              char error[LIVE_PLACE_TEXT_MAX]);

/* Checks that the prefix holds a run that this config can go on with. */
MUST_USE enum open_result live_place_resume(const struct live_place_options *options,
                                            const char *url, struct live_place *place,
                                            char error[LIVE_PLACE_TEXT_MAX]);

#endif
