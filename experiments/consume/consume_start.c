/* consume_start.c - see consume_start.h. Ours. */
#include "experiments/consume/consume_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/name.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"

#define BYTES_MAX 64

/* Whether a step that a flag or an object says, as `from` tells in words, is in the chain. */
static enum open_result check_from(struct live_session *session, const struct consume_job *job,
                                   const char *from, char text[CONSUME_JOB_TEXT_MAX])
{
    uint64_t next_step;
    enum open_result result = consume_job_end(session, job, &next_step, text);
    if (result != OPEN_OK || job->from <= next_step)
        return result;
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "%s %" PRIu64 " is beyond the end of %s, whose next step is %" PRIu64
             ": take a step that is there, or that one",
             from, job->from, job->url, next_step);
    return OPEN_BAD_INPUT;
}

enum open_result consume_start_check(struct live_session *session, const struct consume_job *job,
                                     char text[CONSUME_JOB_TEXT_MAX])
{
    return check_from(session, job, "--from", text);
}

/* ---- agreeing ---- */

static void set_key(struct store_op *op, const char *token)
{
    snprintf(op->key, sizeof(op->key), "%s%s", LIVE_CONSUME_PREFIX, token);
}

/* Where nobody has, says job->from. False: the store failed. */
static bool propose(struct live_session *session, const char *token, const struct consume_job *job,
                    char text[CONSUME_JOB_TEXT_MAX])
{
    char sent[BYTES_MAX];
    struct store_op op;
    store_op_init(&op);
    set_key(&op, token);
    snprintf(sent, sizeof(sent), "{\"from\": %" PRIu64 "}", job->from);
    op.verb = STORE_PUT_IF_ABSENT;
    op.body = (struct body){.kind = BODY_BYTES, .bytes = strlen(sent), .data = (uint8_t *)sent};
    live_request(session, &op);
    bool said = op.outcome == STORE_OK || op.outcome == STORE_EXISTS;
    if (!said)
        snprintf(text, CONSUME_JOB_TEXT_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return said;
}

/* Outside input. 0: damaged. */
static uint64_t parse(const struct body *body)
{
    json_error_t reason;
    json_t *said =
        json_loadb((const char *)body->data, body->bytes, JSON_REJECT_DUPLICATES, &reason);
    json_int_t from = json_integer_value(json_object_get(said, "from"));
    json_decref(said);
    return from >= 1 && (uint64_t)from < NAME_COUNT_MAX ? (uint64_t)from : 0;
}

enum open_result consume_start_agree(struct live_session *session, const char *token,
                                     struct consume_job *job, char text[CONSUME_JOB_TEXT_MAX])
{
    struct store_op op;
    uint64_t agreed = 0;
    enum open_result result = OPEN_BAD_INPUT;
    if (!propose(session, token, job, text))
        return OPEN_FAILED;
    store_op_init(&op);
    set_key(&op, token);
    op.verb = STORE_GET;
    op.range_bytes = BYTES_MAX;
    live_request(session, &op);
    if (op.outcome == STORE_OK)
        agreed = parse(&op.result);
    if (op.outcome != STORE_OK) {
        result = OPEN_FAILED;
        snprintf(text, CONSUME_JOB_TEXT_MAX, "%s", live_session_error(&op));
    } else if (agreed == 0) {
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s: %s%s is damaged; start all ranks with another --token", job->url,
                 LIVE_CONSUME_PREFIX, token);
    } else if (agreed < job->from) {
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "the ranks with --token %s start at step %" PRIu64
                 ", and what is below step %" PRIu64
                 " has been given up since; start all ranks with another --token",
                 token, agreed, job->from);
    } else {
        char from[STORE_KEY_MAX];
        job->from = agreed;
        snprintf(from, sizeof(from), "what %s%s says:", LIVE_CONSUME_PREFIX, token);
        result = check_from(session, job, from, text);
    }
    store_op_deinit(&op);
    return result;
}
