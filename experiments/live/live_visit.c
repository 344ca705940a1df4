/* live_visit.c - see live_visit.h. Ours. */
#include "experiments/live/live_visit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/live_access.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"
#include "experiments/trials/progress.h"

#define NAMED_MAX 8 /* missing ranks that are named */

bool live_visit_open(struct live_visit *visit, struct live_group *group,
                     char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_session_options options = live_access_of(group->config);
    char error[STORE_ERROR_MAX];
    *visit = (struct live_visit){.group = group, .text = text};
    text[0] = '\0';
    options.workers = 1;
    if (live_session_open(group->url, &options, &visit->session, error) != OPEN_OK) {
        snprintf(text, LIVE_GROUP_TEXT_MAX, "%s", error);
        return false;
    }
    visit->wait = live_wait_begin(&visit->session, group->signals, group->config->live.patience_ns);
    return true;
}

void live_visit_close(struct live_visit *visit)
{
    live_session_close(&visit->session);
}

int64_t live_visit_now(const struct live_visit *visit)
{
    return loop_now(live_session_loop(&visit->session));
}

static void set_key(const struct live_visit *visit, const char *name, uint32_t rank,
                    struct store_op *op)
{
    snprintf(op->key, sizeof(op->key), "run/group-%s/%s-%u", visit->group->id, name, rank);
}

static bool say_failed(const struct live_visit *visit, const struct store_op *op)
{
    snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s: %s", visit->group->url, live_session_error(op));
    return false;
}

bool live_visit_put(struct live_visit *visit, const char *name, uint32_t rank,
                    const struct body *body)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT;
    op.body = *body;
    set_key(visit, name, rank, &op);
    live_request(&visit->session, &op);
    bool done = op.outcome == STORE_OK || say_failed(visit, &op);
    store_op_deinit(&op);
    return done;
}

bool live_visit_put_json(struct live_visit *visit, const char *name, uint32_t rank, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    assert(text != NULL);
    json_decref(message);
    struct body body = {.kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)text};
    bool done = live_visit_put(visit, name, rank, &body);
    free(text);
    return done;
}

enum live_found live_visit_get(struct live_visit *visit, const char *name, uint32_t rank,
                               uint64_t bytes_max, struct store_op *op)
{
    assert(bytes_max > 0); /* 0 would be all */
    store_op_init(op);
    op->verb = STORE_GET;
    op->range_bytes = bytes_max;
    set_key(visit, name, rank, op);
    live_request(&visit->session, op);
    if (op->outcome == STORE_NOT_FOUND)
        return LIVE_FOUND_NOTHING;
    if (op->outcome == STORE_OK)
        return LIVE_FOUND;
    say_failed(visit, op);
    return LIVE_FOUND_ERROR;
}

json_t *live_visit_parse(const struct live_visit *visit, const struct store_op *op, size_t *used)
{
    json_error_t reason;
    json_t *message = json_loadb((const char *)op->result.data, op->result.bytes,
                                 JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &reason);
    if (message != NULL) {
        *used = (size_t)reason.position;
        return message;
    }
    char harmless[101]; /* the reason quotes what it read */
    live_marker_copy_harmless(harmless, sizeof(harmless), reason.text);
    snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s: %s is damaged: %s", visit->group->url, op->key,
             harmless);
    return NULL;
}

void live_visit_missing(const struct live_ranks *ranks, const bool *got,
                        char text[LIVE_MISSING_MAX])
{
    uint32_t missing = 0;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t rank = 1; rank < ranks->count; rank++) {
        if (got[rank] || missing++ >= NAMED_MAX)
            continue;
        used += (size_t)snprintf(text + used, LIVE_MISSING_MAX - used, "%s%u",
                                 missing > 1 ? ", " : "rank ", rank);
    }
    if (missing > NAMED_MAX)
        snprintf(text + used, LIVE_MISSING_MAX - used, " and %u more", missing - NAMED_MAX);
}

enum live_group_end live_visit_later(struct live_visit *visit, const char *format, ...)
{
    char patience[PROGRESS_TEXT_MAX];
    char what[LIVE_GROUP_TEXT_MAX - 64];
    va_list arguments;
    switch (live_wait_more(&visit->wait)) {
    case LIVE_WAIT_LOOK:
        return LIVE_GROUP_DONE;
    case LIVE_WAIT_ASKED:
        return LIVE_GROUP_ASKED;
    case LIVE_WAIT_OVER:
        break;
    }
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    progress_duration_text((double)visit->wait.patience_ns / 1e9, patience);
    snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "after %s (live.patience) %s", patience, what);
    return LIVE_GROUP_FAILED;
}

json_t *live_visit_message(const struct live_visit *visit)
{
    json_t *message = json_object();
    json_object_set_new(message, "rank", json_integer(visit->group->ranks.rank));
    json_object_set_new(message, "now_ns", json_integer((json_int_t)live_visit_now(visit)));
    return message;
}

static bool take_within(const json_t *value, int64_t least_ns, int64_t most_ns, int64_t *taken_ns)
{
    int64_t value_ns = (int64_t)json_integer_value(value);
    if (!json_is_integer(value) || value_ns < least_ns || value_ns > most_ns)
        return false;
    *taken_ns = value_ns;
    return true;
}

bool live_visit_time(const struct live_visit *visit, const json_t *message, const char *key,
                     int64_t *taken_ns)
{
    int64_t most_ns = 2 * live_visit_now(visit);
    return take_within(json_object_get(message, key), 0, most_ns, taken_ns);
}

bool live_visit_difference(const struct live_visit *visit, const json_t *message, const char *key,
                           int64_t *taken_ns)
{
    int64_t most_ns = 2 * live_visit_now(visit);
    return take_within(json_object_get(message, key), -most_ns, most_ns, taken_ns);
}
