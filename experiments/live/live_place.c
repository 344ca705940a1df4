/* live_place.c - see live_place.h. Ours. */
#include "experiments/live/live_place.h"

#include <stdio.h>
#include <string.h>

#include "experiments/live/live_access.h"
#include "experiments/trials/progress.h"

#define NAME_TRIES_MAX 100

/* ---- claiming ---- */

/* One component of a path: what is not plain becomes '-'. */
static void append_component(char *url, size_t capacity, const char *name)
{
    size_t used = strlen(url);
    for (size_t i = 0; name[i] != '\0' && used + 2 < capacity; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '_' || (c == '.' && i > 0);
        url[used++] = plain ? c : '-';
    }
    url[used++] = '/';
    url[used] = '\0';
}

static void choose_url(const struct live_place_options *options, const char *started, int number,
                       char url[LIVE_URL_MAX])
{
    char time[PROGRESS_TEXT_MAX];
    size_t used = 0;
    for (const char *at = started; *at != '\0' && used + 1 < sizeof(time); at++)
        if (*at != '-' && *at != ':')
            time[used++] = *at;
    time[used] = '\0';
    const char *base = options->arm->config.live.store;
    size_t base_bytes = strlen(base);
    snprintf(url, LIVE_URL_MAX, "%s%s", base,
             base_bytes > 0 && base[base_bytes - 1] == '/' ? "" : "/");
    append_component(url, LIVE_URL_MAX - 96, options->experiment->name);
    append_component(url, LIVE_URL_MAX - 96, options->arm->name);
    size_t at = strlen(url);
    snprintf(url + at, LIVE_URL_MAX - at, "seed-%llu-%s", (unsigned long long)options->seed, time);
    at = strlen(url);
    if (number > 1)
        snprintf(url + at, LIVE_URL_MAX - at, "-%d", number);
}

/* One process asks little, and says soon when nobody answers. */
static struct live_session_options session_options(const struct config *config)
{
    struct live_session_options options = live_access_of(config);
    options.workers = 1;
    options.s3.operation_ns = config->live.deadline_ns;
    return options;
}

static struct live_marker_options marker_options(const struct live_place_options *options)
{
    const struct config *config = &options->arm->config;
    return (struct live_marker_options){
        .experiment = options->experiment->name,
        .arm = options->arm->name,
        .payload = LIVE_PAYLOAD_SYNTHETIC,
        .seed = options->seed,
        .producers = config->workload.producers,
        .entry_bytes = config->entry_bytes,
        .mesh = config->mesh,
    };
}

static void take_endpoint(struct live_place *place, const struct live_session *session)
{
    place->endpoint[0] = '\0';
    if (strncmp(place->url, "s3://", strlen("s3://")) == 0)
        snprintf(place->endpoint, sizeof(place->endpoint), "%s", s3_store_endpoint(session->bytes));
}

enum open_result live_place_claim(const struct live_place_options *options,
                                  struct live_place *place, char error[LIVE_PLACE_TEXT_MAX])
{
    struct live_session_options open_options = session_options(&options->arm->config);
    struct live_marker_options marker = marker_options(options);
    char started[PROGRESS_TEXT_MAX];
    char reason[STORE_ERROR_MAX] = "every name for the run is taken";
    progress_time_text(started);
    enum live_claim claim = LIVE_CLAIM_TAKEN;
    for (int i = 1; i <= NAME_TRIES_MAX && claim == LIVE_CLAIM_TAKEN; i++) {
        struct live_session session;
        char found[STORE_ERROR_MAX];
        choose_url(options, started, i, place->url);
        enum open_result result = live_session_open(place->url, &open_options, &session, found);
        if (result != OPEN_OK) {
            snprintf(error, LIVE_PLACE_TEXT_MAX, "%s", found);
            return result;
        }
        claim = live_marker_make(&session, &marker, found);
        take_endpoint(place, &session);
        live_session_close(&session);
        if (claim == LIVE_CLAIM_FAILED)
            memcpy(reason, found, sizeof(reason));
    }
    if (claim == LIVE_CLAIMED)
        return OPEN_OK;
    snprintf(error, LIVE_PLACE_TEXT_MAX, "%s", reason);
    return OPEN_FAILED;
}

/* ---- resuming ---- */

/* On OPEN_OK *marker is the caller's reference. */
static enum open_result read_marker(const struct config *config, struct live_place *place,
                                    json_t **marker, char error[LIVE_PLACE_TEXT_MAX])
{
    struct live_session_options options = session_options(config);
    options.access = DIRECTORY_READ; /* what is not there is not to be made */
    struct live_session session;
    char reason[STORE_ERROR_MAX] = "";
    enum open_result result = live_session_open(place->url, &options, &session, reason);
    if (result != OPEN_OK) {
        snprintf(error, LIVE_PLACE_TEXT_MAX, "%s", reason);
        return result;
    }
    enum live_marker found = live_marker_read(&session, marker, reason);
    take_endpoint(place, &session);
    live_session_close(&session);
    switch (found) {
    case LIVE_MARKER_FOUND:
        return OPEN_OK;
    case LIVE_MARKER_MISSING:
        snprintf(error, LIVE_PLACE_TEXT_MAX,
                 "%s holds no run to go on with: there is no %s; give the folder of one run, as "
                 "lakestream live printed it",
                 place->url, LIVE_MARKER_KEY);
        return OPEN_BAD_INPUT;
    case LIVE_MARKER_DAMAGED:
    case LIVE_MARKER_FAILED:
        break;
    }
    snprintf(error, LIVE_PLACE_TEXT_MAX, "%s: %s", place->url, reason);
    return OPEN_FAILED;
}

enum open_result live_place_identify(const struct config *config, const char *url,
                                     struct live_identity *identity,
                                     char error[LIVE_PLACE_TEXT_MAX])
{
    struct live_place place;
    json_t *marker = NULL;
    snprintf(place.url, sizeof(place.url), "%s", url);
    enum open_result result = read_marker(config, &place, &marker, error);
    if (result == OPEN_OK)
        live_marker_identify(marker, identity);
    json_decref(marker);
    return result;
}

enum open_result live_place_resume(const struct live_place_options *options, const char *url,
                                   struct live_place *place, char error[LIVE_PLACE_TEXT_MAX])
{
    struct live_marker_options wanted = marker_options(options);
    json_t *marker = NULL;
    snprintf(place->url, sizeof(place->url), "%s", url);
    enum open_result result = read_marker(&options->arm->config, place, &marker, error);
    if (result == OPEN_OK)
        result = live_marker_agrees(marker, &wanted, url, error);
    json_decref(marker);
    return result;
}
