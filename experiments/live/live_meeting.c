/* live_meeting.c - see live_meeting.h. A call is JSON, made by create-if-absent: a token that was
 * used before is noticed, and no other rank 0 can take part. */
#include "experiments/live/live_meeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/live_access.h"
#include "experiments/live/live_request.h"
#include "experiments/live/live_wait.h"
#include "experiments/trials/progress.h"

#define CALL_BYTES_MAX 8192

static bool open_session(const struct live_meeting *meeting, struct live_session *session,
                         char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_session_options options = live_access_of(meeting->config);
    const char *base = meeting->config->live.store;
    size_t base_bytes = strlen(base);
    char url[LIVE_URL_MAX];
    char error[STORE_ERROR_MAX];
    snprintf(url, sizeof(url), "%s%smeetings/%s-%s", base,
             base_bytes > 0 && base[base_bytes - 1] == '/' ? "" : "/", meeting->experiment,
             meeting->ranks->token);
    options.workers = 1;
    if (live_session_open(url, &options, session, error) == OPEN_OK)
        return true;
    snprintf(text, LIVE_GROUP_TEXT_MAX, "%s", error);
    return false;
}

static void set_key(const struct live_meeting *meeting, struct store_op *op)
{
    snprintf(op->key, sizeof(op->key), "run-%llu", (unsigned long long)meeting->number);
}

char *live_meeting_print(const struct live_ranks *ranks, const struct live_call *call)
{
    json_t *message = json_object();
    json_object_set_new(message, "ranks", json_integer(ranks->count));
    json_object_set_new(message, "over", json_boolean(call->over));
    json_object_set_new(message, "failed", json_boolean(call->failed));
    json_object_set_new(message, "group", json_string(call->group));
    if (!call->over) {
        json_object_set_new(message, "url", json_string(call->url));
        json_object_set_new(message, "arm", json_string(call->arm));
        json_object_set_new(message, "hash", json_string(call->hash));
        json_object_set_new(message, "seed", json_integer((json_int_t)call->seed));
    }
    char *text = json_dumps(message, JSON_COMPACT);
    assert(text != NULL);
    json_decref(message);
    return text;
}

/* Whether what is stored is what was sent: after EXISTS, which may be about a request of its own
 * whose answer was lost. */
static bool is_stored(struct live_session *session, const struct store_op *sent)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_GET;
    snprintf(op.key, sizeof(op.key), "%s", sent->key);
    live_request(session, &op);
    bool same = op.outcome == STORE_OK && op.result.bytes == sent->body.bytes &&
                memcmp(op.result.data, sent->body.data, sent->body.bytes) == 0;
    store_op_deinit(&op);
    return same;
}

bool live_meeting_call(struct live_meeting *meeting, const struct live_call *call,
                       char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_session session;
    assert(!meeting->lost);
    meeting->lost = true;
    if (!open_session(meeting, &session, text))
        return false;
    struct store_op op;
    store_op_init(&op);
    meeting->number++;
    char *sent = live_meeting_print(meeting->ranks, call);
    op.verb = STORE_PUT_IF_ABSENT;
    op.body = (struct body){.kind = BODY_BYTES, .bytes = strlen(sent), .data = (uint8_t *)sent};
    set_key(meeting, &op);
    live_request(&session, &op);
    bool done = op.outcome == STORE_OK || is_stored(&session, &op);
    meeting->lost = !done;
    if (!done && op.outcome == STORE_EXISTS)
        snprintf(text, LIVE_GROUP_TEXT_MAX,
                 "the token %s was used before on this store, by a run of %s; give all ranks "
                 "another one: --token WORD",
                 meeting->ranks->token, meeting->experiment);
    else if (!done)
        snprintf(text, LIVE_GROUP_TEXT_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    live_session_close(&session);
    free(sent);
    return done;
}

static bool copy_text(const json_t *message, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(message, key));
    if (value == NULL || strlen(value) >= size)
        return false;
    live_marker_copy_harmless(text, size, value);
    return true;
}

/* As live_group_draw_id makes it: it goes into keys. */
static bool is_group(const char *group)
{
    size_t digits = strspn(group, "0123456789abcdef");
    return digits == LIVE_GROUP_ID_MAX - 1 && group[digits] == '\0';
}

/* Outside input: every field is checked. */
bool live_meeting_parse(const struct live_ranks *ranks, const struct body *body,
                        struct live_call *call, char text[LIVE_GROUP_TEXT_MAX])
{
    json_error_t reason;
    json_t *message =
        json_loadb((const char *)body->data, body->bytes, JSON_REJECT_DUPLICATES, &reason);
    json_int_t count = json_integer_value(json_object_get(message, "ranks"));
    const json_t *seed = json_object_get(message, "seed");
    bool whole = true;
    *call = (struct live_call){
        .over = json_is_true(json_object_get(message, "over")),
        .failed = json_is_true(json_object_get(message, "failed")),
    };
    if (!call->over)
        whole = copy_text(message, "url", call->url, sizeof(call->url)) &&
                copy_text(message, "arm", call->arm, sizeof(call->arm)) &&
                copy_text(message, "hash", call->hash, sizeof(call->hash)) &&
                copy_text(message, "group", call->group, sizeof(call->group)) &&
                is_group(call->group) && json_is_integer(seed) && json_integer_value(seed) >= 0;
    call->seed = whole && !call->over ? (uint64_t)json_integer_value(seed) : 0;
    json_decref(message);
    if (whole && count == ranks->count)
        return true;
    if (whole && count > 0)
        snprintf(text, LIVE_GROUP_TEXT_MAX,
                 "rank 0 was told of %lld ranks, this one of %u: start all of them by one command",
                 (long long)count, ranks->count);
    else
        snprintf(text, LIVE_GROUP_TEXT_MAX, "what rank 0 said in the meeting %s is damaged",
                 ranks->token);
    return false;
}

enum look {
    LOOK_HEARD,
    LOOK_AGAIN,
    LOOK_FAILED,
};

static enum look look(const struct live_meeting *meeting, struct live_session *session,
                      struct live_call *call, char text[LIVE_GROUP_TEXT_MAX])
{
    struct store_op op;
    enum look found = LOOK_FAILED;
    store_op_init(&op);
    op.verb = STORE_GET;
    op.range_bytes = CALL_BYTES_MAX;
    set_key(meeting, &op);
    live_request(session, &op);
    if (op.outcome == STORE_NOT_FOUND)
        found = LOOK_AGAIN;
    else if (op.outcome != STORE_OK)
        snprintf(text, LIVE_GROUP_TEXT_MAX, "%s", live_session_error(&op));
    else if (live_meeting_parse(meeting->ranks, &op.result, call, text))
        found = LOOK_HEARD;
    store_op_deinit(&op);
    return found;
}

static enum live_group_end listen(const struct live_meeting *meeting, struct live_session *session,
                                  struct live_call *call, char text[LIVE_GROUP_TEXT_MAX])
{
    /* Rank 0 may itself wait for a missing rank before it says what comes next. */
    int64_t patience_ns = 2 * meeting->config->live.patience_ns;
    struct live_wait wait = live_wait_begin(session, meeting->signals, patience_ns);
    char patience[PROGRESS_TEXT_MAX];
    enum live_waited waited = LIVE_WAIT_LOOK;
    while (waited == LIVE_WAIT_LOOK) {
        enum look found = look(meeting, session, call, text);
        if (found != LOOK_AGAIN)
            return found == LOOK_HEARD ? LIVE_GROUP_DONE : LIVE_GROUP_FAILED;
        waited = live_wait_more(&wait);
    }
    if (waited == LIVE_WAIT_ASKED)
        return LIVE_GROUP_ASKED;
    progress_duration_text((double)patience_ns / 1e9, patience);
    snprintf(text, LIVE_GROUP_TEXT_MAX,
             "after %s (twice live.patience) rank 0 had not said in the meeting %s of %s what to "
             "do: it is gone, or has another --token or live.store",
             patience, meeting->ranks->token, meeting->config->live.store);
    return LIVE_GROUP_FAILED;
}

enum live_group_end live_meeting_hear(struct live_meeting *meeting, struct live_call *call,
                                      char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_session session;
    if (!open_session(meeting, &session, text))
        return LIVE_GROUP_FAILED;
    meeting->number++;
    enum live_group_end end = listen(meeting, &session, call, text);
    live_session_close(&session);
    return end;
}
