/* live_place.c - see live_place.h. Ours. */
#include "experiments/live/live_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiments/trials/progress.h"

#define NAME_TRIES_MAX 100
#define MARKER_BYTES_MAX 65536
#define STORE_TRIES_MAX 8 /* of an answer that says nothing */
#define IDENTITY_MAX 33

/* ---- the marker ---- */

/* Once more while the store gives no answer that says anything. */
static void do_surely(struct live_session *session, struct store_op *op)
{
    for (int tries = 1;; tries++) {
        live_session_do(session, session->bytes, op);
        bool answered = op->outcome != STORE_UNKNOWN && op->outcome != STORE_BUSY &&
                        op->outcome != STORE_THROTTLED;
        if (answered || tries == STORE_TRIES_MAX)
            return;
        store_op_release(op);
    }
}

static enum live_marker parse_marker(const struct body *body, json_t **marker,
                                     char error[STORE_ERROR_MAX])
{
    json_error_t reason;
    json_t *parsed =
        json_loadb((const char *)body->data, body->bytes, JSON_REJECT_DUPLICATES, &reason);
    if (json_is_integer(json_object_get(parsed, "format")) &&
        json_is_integer(json_object_get(parsed, "entry_bytes")) &&
        json_is_string(json_object_get(parsed, "payload"))) {
        *marker = parsed;
        return LIVE_MARKER_FOUND;
    }
    snprintf(error, STORE_ERROR_MAX, "%s is damaged: %.100s", LIVE_MARKER_KEY,
             parsed != NULL ? "it lacks format, entry_bytes or payload" : reason.text);
    json_decref(parsed);
    return LIVE_MARKER_DAMAGED;
}

enum live_marker live_marker_read(struct live_session *session, json_t **marker,
                                  char error[STORE_ERROR_MAX])
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_GET;
    op.range_bytes = MARKER_BYTES_MAX; /* whatever its size is */
    snprintf(op.key, sizeof(op.key), "%s", LIVE_MARKER_KEY);
    do_surely(session, &op);
    enum live_marker result = LIVE_MARKER_FAILED;
    if (op.outcome == STORE_OK)
        result = parse_marker(&op.result, marker, error);
    else if (op.outcome == STORE_NOT_FOUND)
        result = LIVE_MARKER_MISSING;
    else
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return result;
}

static char *marker_text(const struct live_place_options *options, const char *identity,
                         const char *started)
{
    const struct config *config = &options->arm->config;
    json_t *marker = json_object();
    json_object_set_new(marker, "format", json_integer(LIVE_FORMAT));
    json_object_set_new(marker, "layout", json_string("full"));
    json_object_set_new(marker, "entry_bytes", json_integer((json_int_t)config->entry_bytes));
    json_object_set_new(marker, "payload", json_string("synthetic"));
    json_object_set_new(marker, "identity", json_string(identity));
    json_object_set_new(marker, "experiment", json_string(options->experiment->name));
    json_object_set_new(marker, "arm", json_string(options->arm->name));
    json_object_set_new(marker, "seed", json_integer((json_int_t)options->seed));
    json_object_set_new(marker, "producers", json_integer((json_int_t)config->workload.producers));
    json_object_set_new(marker, "started", json_string(started));
    char *text = json_dumps(marker, JSON_INDENT(2));
    assert(text != NULL);
    json_decref(marker);
    return text;
}

/* ---- claiming ---- */

enum claim {
    CLAIMED,
    CLAIM_TAKEN,
    CLAIM_FAILED,
};

/* Whether anything is below the prefix already. */
static enum claim check_empty(struct live_session *session, char error[STORE_ERROR_MAX])
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_LIST;
    op.list_keys_max = 1;
    do_surely(session, &op);
    enum claim claim = CLAIM_FAILED;
    if (op.outcome == STORE_OK)
        claim = op.page.count > 0 ? CLAIM_TAKEN : CLAIMED;
    else
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return claim;
}

/* Whether the stored marker is the one that this process sent: decides after EXISTS and UNKNOWN. */
static enum claim check_mine(struct live_session *session, const char *identity,
                             char error[STORE_ERROR_MAX])
{
    json_t *marker = NULL;
    switch (live_marker_read(session, &marker, error)) {
    case LIVE_MARKER_FOUND:
        break;
    case LIVE_MARKER_DAMAGED:
        return CLAIM_TAKEN;
    case LIVE_MARKER_MISSING:
        snprintf(error, STORE_ERROR_MAX, "%s could not be made", LIVE_MARKER_KEY);
        return CLAIM_FAILED;
    case LIVE_MARKER_FAILED:
        return CLAIM_FAILED;
    }
    const char *stored = json_string_value(json_object_get(marker, "identity"));
    bool mine = stored != NULL && strcmp(stored, identity) == 0;
    json_decref(marker);
    return mine ? CLAIMED : CLAIM_TAKEN;
}

static enum claim make_marker(struct live_session *session, const char *text, const char *identity,
                              char error[STORE_ERROR_MAX])
{
    enum claim claim = check_empty(session, error);
    if (claim != CLAIMED)
        return claim;
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT_IF_ABSENT;
    op.body = (struct body){
        .kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)(uintptr_t)text};
    snprintf(op.key, sizeof(op.key), "%s", LIVE_MARKER_KEY);
    do_surely(session, &op);
    if (op.outcome == STORE_FAILED) {
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
        claim = CLAIM_FAILED;
    } else if (op.outcome != STORE_OK) {
        claim = check_mine(session, identity, error);
    }
    store_op_deinit(&op);
    return claim;
}

static void draw_identity(char identity[IDENTITY_MAX])
{
    uint8_t bytes[(IDENTITY_MAX - 1) / 2];
    ssize_t drawn = getrandom(bytes, sizeof(bytes), 0);
    assert(drawn == (ssize_t)sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(identity + 2 * i, 3, "%02x", bytes[i]);
}

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

static struct live_session_options session_options(const struct config *config)
{
    return (struct live_session_options){
        .access = DIRECTORY_WRITE,
        .sync = config->live.sync == TOGGLE_ON ? DIRECTORY_SYNC : DIRECTORY_NO_SYNC,
        .workers = 1,
    };
}

enum open_result live_place_claim(const struct live_place_options *options, char url[LIVE_URL_MAX],
                                  char error[LIVE_PLACE_TEXT_MAX])
{
    struct live_session_options open_options = session_options(&options->arm->config);
    char started[PROGRESS_TEXT_MAX];
    char identity[IDENTITY_MAX];
    char reason[STORE_ERROR_MAX] = "";
    progress_time_text(started);
    draw_identity(identity);
    char *text = marker_text(options, identity, started);
    enum claim claim = CLAIM_TAKEN;
    enum open_result result = OPEN_OK;
    for (int i = 1; i <= NAME_TRIES_MAX && claim == CLAIM_TAKEN && result == OPEN_OK; i++) {
        struct live_session session;
        choose_url(options, started, i, url);
        result = live_session_open(url, &open_options, &session, reason);
        if (result != OPEN_OK)
            break;
        claim = make_marker(&session, text, identity, reason);
        live_session_close(&session);
    }
    free(text);
    if (result == OPEN_OK && claim == CLAIMED)
        return OPEN_OK;
    snprintf(error, LIVE_PLACE_TEXT_MAX, "%s",
             claim == CLAIM_TAKEN && result == OPEN_OK ? "every name for the run is taken"
                                                       : reason);
    return result != OPEN_OK ? result : OPEN_FAILED;
}

/* ---- resuming ---- */

static enum open_result check_agreement(const struct live_place_options *options, const char *url,
                                        const json_t *marker, char error[LIVE_PLACE_TEXT_MAX])
{
    long long format = json_integer_value(json_object_get(marker, "format"));
    long long entry = json_integer_value(json_object_get(marker, "entry_bytes"));
    const char *payload = json_string_value(json_object_get(marker, "payload"));
    uint64_t wanted = options->arm->config.entry_bytes;
    if (format != LIVE_FORMAT || strcmp(payload, "synthetic") != 0) {
        snprintf(error, LIVE_PLACE_TEXT_MAX,
                 "%s was made by another version of this program (format %lld, payload %.20s); go "
                 "on with that version, or start a new run without --resume",
                 url, format, payload);
        return OPEN_BAD_INPUT;
    }
    if ((uint64_t)entry != wanted) {
        snprintf(error, LIVE_PLACE_TEXT_MAX,
                 "%s has manifest entries of %lld B, the config says %llu B; add --set "
                 "manifest.entry=%lldB to go on there",
                 url, entry, (unsigned long long)wanted, entry);
        return OPEN_BAD_INPUT;
    }
    return OPEN_OK;
}

/* On OPEN_OK *marker is the caller's reference. */
static enum open_result read_marker(const char *url, json_t **marker,
                                    char error[LIVE_PLACE_TEXT_MAX])
{
    /* What is not there is not to be made. */
    struct live_session_options options = {.access = DIRECTORY_READ, .workers = 1};
    struct live_session session;
    char reason[STORE_ERROR_MAX] = "";
    enum open_result result = live_session_open(url, &options, &session, reason);
    if (result != OPEN_OK) {
        snprintf(error, LIVE_PLACE_TEXT_MAX, "%s", reason);
        return result;
    }
    enum live_marker found = live_marker_read(&session, marker, reason);
    live_session_close(&session);
    switch (found) {
    case LIVE_MARKER_FOUND:
        return OPEN_OK;
    case LIVE_MARKER_MISSING:
        snprintf(error, LIVE_PLACE_TEXT_MAX,
                 "%s holds no run to go on with: there is no %s; give the folder of one run, as "
                 "lakestream live printed it",
                 url, LIVE_MARKER_KEY);
        return OPEN_BAD_INPUT;
    case LIVE_MARKER_DAMAGED:
    case LIVE_MARKER_FAILED:
        break;
    }
    snprintf(error, LIVE_PLACE_TEXT_MAX, "%s: %s", url, reason);
    return OPEN_FAILED;
}

/* Cut to the capacity; what could move a cursor becomes '?'. */
static void copy_harmless(char *copy, size_t capacity, const char *text)
{
    snprintf(copy, capacity, "%s", text != NULL ? text : "");
    for (; *copy != '\0'; copy++)
        if ((unsigned char)*copy < 0x20 || *copy == 0x7f)
            *copy = '?';
}

enum open_result live_place_identify(const char *url, struct live_identity *identity,
                                     char error[LIVE_PLACE_TEXT_MAX])
{
    json_t *marker = NULL;
    enum open_result result = read_marker(url, &marker, error);
    *identity = (struct live_identity){0};
    if (result != OPEN_OK)
        return result;
    const json_t *seed = json_object_get(marker, "seed");
    const char *arm = json_string_value(json_object_get(marker, "arm"));
    if (arm != NULL && json_is_integer(seed) && json_integer_value(seed) >= 0) {
        copy_harmless(identity->experiment, sizeof(identity->experiment),
                      json_string_value(json_object_get(marker, "experiment")));
        copy_harmless(identity->arm, sizeof(identity->arm), arm);
        identity->seed = (uint64_t)json_integer_value(seed);
    }
    json_decref(marker);
    return OPEN_OK;
}

enum open_result live_place_resume(const struct live_place_options *options, const char *url,
                                   char error[LIVE_PLACE_TEXT_MAX])
{
    json_t *marker = NULL;
    enum open_result result = read_marker(url, &marker, error);
    if (result != OPEN_OK)
        return result;
    result = check_agreement(options, url, marker, error);
    json_decref(marker);
    return result;
}
