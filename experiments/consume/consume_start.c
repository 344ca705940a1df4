/* consume_start.c - see consume_start.h. Ours. */
#include "experiments/consume/consume_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/name.h"
#include "core/watermark.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"

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

/* ---- who holds ---- */

struct hold_search {
    struct watermark_scan scan;
    struct watermark hold;
};

static void take_number(void *context, const char *key)
{
    struct hold_search *search = context;
    (void)watermark_scan_add(&search->scan, key, &search->hold);
}

/* What a rank needs by its highest number. */
static enum open_result find_hold(struct live_session *session, uint32_t rank,
                                  struct watermark *hold, char text[CONSUME_JOB_TEXT_MAX])
{
    struct hold_search search = {.hold = {0}};
    char prefix[STORE_KEY_MAX];
    name_consumer(prefix, rank);
    watermark_scan_init(&search.scan, 0);
    if (!live_list(session, prefix, take_number, &search, text))
        return OPEN_FAILED;
    (void)watermark_scan_end(&search.scan, &search.hold);
    *hold = search.hold;
    return OPEN_OK;
}

enum open_result consume_start_check_held(struct live_session *session,
                                          const struct consume_job *job, uint32_t first,
                                          uint32_t count, char text[CONSUME_JOB_TEXT_MAX])
{
    for (uint32_t rank = first; rank < first + count; rank++) {
        struct watermark hold;
        enum open_result found = find_hold(session, rank, &hold, text);
        if (found != OPEN_OK)
            return found;
        if (hold.state == WATERMARK_NONE && hold.highest > 0) {
            snprintf(text, CONSUME_JOB_TEXT_MAX,
                     "--from %" PRIu64 ": number %" PRIu64
                     " of rank %u has not said yet what it holds: wait for it, or let go first by "
                     "lakestream gc --retire-consumer %u",
                     job->from, hold.highest, rank, rank);
            return OPEN_BAD_INPUT;
        }
        if (hold.state != WATERMARK_HELD || hold.step >= job->from)
            continue;
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "--from %" PRIu64 ": rank %u is held at step %" PRIu64 " by number %" PRIu64
                 ", which a start there would let go of: go on with its --checkpoints, or let go "
                 "first by lakestream gc --retire-consumer %u",
                 job->from, rank, hold.step, hold.counted, rank);
        return OPEN_BAD_INPUT;
    }
    return OPEN_OK;
}

/* ---- agreeing ---- */

enum said {
    SAID_NOTHING,
    SAID_PLACE, /* a step >= 1 */
    SAID_DAMAGED,
    SAID_FAILED,
};

static struct consume_agreed agreed_of(const struct consume_job *job,
                                       const struct consume_place *place)
{
    return (struct consume_agreed){.place = *place,
                                   .every = job->checkpoints != NULL ? job->checkpoint_every : 0,
                                   .steps = job->steps};
}

static void set_key(struct store_op *op, const char *token)
{
    snprintf(op->key, sizeof(op->key), "%s%s", LIVE_CONSUME_PREFIX, token);
}

void consume_start_print(const struct consume_agreed *agreed, char text[CONSUME_START_BYTES_MAX])
{
    int chars = snprintf(text, CONSUME_START_BYTES_MAX,
                         "{\"from\": %" PRIu64 ", \"kept\": %s, \"every\": %" PRIu64
                         ", \"steps\": %" PRIu64 "}",
                         agreed->place.step, agreed->place.beginning ? "false" : "true",
                         agreed->every, agreed->steps);
    assert(chars > 0 && chars < CONSUME_START_BYTES_MAX);
}

/* Where nobody has, says where to start. False: the store failed. */
static bool propose(struct live_session *session, const char *token,
                    const struct consume_agreed *agreed, char text[CONSUME_JOB_TEXT_MAX])
{
    char sent[CONSUME_START_BYTES_MAX];
    struct store_op op;
    store_op_init(&op);
    set_key(&op, token);
    consume_start_print(agreed, sent);
    op.verb = STORE_PUT_IF_ABSENT;
    op.body = (struct body){.kind = BODY_BYTES, .bytes = strlen(sent), .data = (uint8_t *)sent};
    live_request(session, &op);
    bool said = op.outcome == STORE_OK || op.outcome == STORE_EXISTS;
    if (!said)
        snprintf(text, CONSUME_JOB_TEXT_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return said;
}

static bool take_count(const json_t *said, const char *name, uint64_t *count)
{
    const json_t *value = json_object_get(said, name);
    json_int_t number = json_integer_value(value);
    *count = number >= 0 ? (uint64_t)number : 0;
    return json_is_integer(value) && number >= 0 && *count < NAME_COUNT_MAX;
}

/* Outside input. */
struct consume_agreed consume_start_parse(const struct body *body)
{
    json_error_t reason;
    json_t *said =
        json_loadb((const char *)body->data, body->bytes, JSON_REJECT_DUPLICATES, &reason);
    const json_t *kept = json_object_get(said, "kept");
    struct consume_agreed agreed = {.place.beginning = !json_is_true(kept)};
    if ((kept != NULL && !json_is_boolean(kept)) || !take_count(said, "from", &agreed.place.step) ||
        !take_count(said, "every", &agreed.every) || !take_count(said, "steps", &agreed.steps))
        agreed.place.step = 0;
    json_decref(said);
    return agreed;
}

static enum said listen(struct live_session *session, const char *token, const char *url,
                        struct consume_agreed *agreed, char text[CONSUME_JOB_TEXT_MAX])
{
    struct store_op op;
    enum said said = SAID_NOTHING;
    *agreed = (struct consume_agreed){0};
    store_op_init(&op);
    set_key(&op, token);
    op.verb = STORE_GET;
    op.range_bytes = CONSUME_START_BYTES_MAX;
    live_request(session, &op);
    if (op.outcome == STORE_OK) {
        *agreed = consume_start_parse(&op.result);
        said = agreed->place.step > 0 ? SAID_PLACE : SAID_DAMAGED;
    } else if (op.outcome != STORE_NOT_FOUND) {
        said = SAID_FAILED;
        snprintf(text, CONSUME_JOB_TEXT_MAX, "%s", live_session_error(&op));
    }
    if (said == SAID_DAMAGED)
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s: %s%s is damaged; start all ranks with another --token", url,
                 LIVE_CONSUME_PREFIX, token);
    store_op_deinit(&op);
    return said;
}

/* The files are only looked at by who comes first: the others may find what those that run already
 * have saved and dropped since. */
static enum open_result find_agreed(struct live_session *session, const char *token,
                                    const struct consume_job *job, uint32_t ranks,
                                    struct consume_agreed *agreed, char text[CONSUME_JOB_TEXT_MAX])
{
    enum said said = listen(session, token, job->url, agreed, text);
    if (said == SAID_NOTHING) {
        struct consume_place place;
        enum open_result found = consume_place_find(job, ranks, &place, text);
        if (place.step == 0)
            place = (struct consume_place){.step = job->from, .beginning = true};
        *agreed = agreed_of(job, &place);
        if (found == OPEN_OK && !propose(session, token, agreed, text))
            return OPEN_FAILED;
        char reason[CONSUME_JOB_TEXT_MAX];
        said = listen(session, token, job->url, agreed, found == OPEN_OK ? text : reason);
        if (said == SAID_NOTHING && found == OPEN_OK)
            snprintf(text, CONSUME_JOB_TEXT_MAX, "%s: %s%s was deleted by other hands", job->url,
                     LIVE_CONSUME_PREFIX, token);
    }
    if (said == SAID_DAMAGED)
        return OPEN_BAD_INPUT;
    return said == SAID_PLACE ? OPEN_OK : OPEN_FAILED;
}

/* Ranks that keep other steps than each other soon have none in common, and one that ends before
 * the others is waited for. */
static enum open_result check_alike(const char *token, const struct consume_job *job,
                                    const struct consume_agreed *agreed,
                                    char text[CONSUME_JOB_TEXT_MAX])
{
    struct consume_agreed own = agreed_of(job, &agreed->place);
    if (own.every == agreed->every && (own.every == 0 || own.steps == agreed->steps))
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "the ranks with --token %s were started with --checkpoint-every %" PRIu64
             " and --steps %" PRIu64 " (0: none), and this one with %" PRIu64 " and %" PRIu64
             ": give all ranks of a job the same --checkpoints, --checkpoint-every and --steps",
             token, agreed->every, agreed->steps, own.every, own.steps);
    return OPEN_BAD_INPUT;
}

enum open_result consume_start_agree(struct live_session *session, const char *token,
                                     uint32_t ranks, struct consume_job *job,
                                     char text[CONSUME_JOB_TEXT_MAX])
{
    struct consume_agreed agreed;
    char from[STORE_KEY_MAX];
    const uint64_t first = job->from;
    const struct consume_place *place = &agreed.place;
    enum open_result result = find_agreed(session, token, job, ranks, &agreed, text);
    if (result == OPEN_OK)
        result = check_alike(token, job, &agreed, text);
    if (result != OPEN_OK)
        return result;
    if (place->step < first) {
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "the ranks with --token %s start at step %" PRIu64
                 ", and what is below step %" PRIu64
                 " has been given up since; start all ranks with another --token",
                 token, place->step, first);
        return OPEN_BAD_INPUT;
    }
    job->from = place->step;
    snprintf(from, sizeof(from), "what %s%s says:", LIVE_CONSUME_PREFIX, token);
    result = check_from(session, job, from, text);
    consume_place_take(place, job);
    return result;
}
