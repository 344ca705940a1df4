/* live_group.c - see live_group.h. Messages are JSON; a result's is followed by the recorder. */
#include "experiments/live/live_group.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiments/live/live_access.h"
#include "experiments/live/live_request.h"
#include "experiments/live/live_wait.h"
#include "experiments/trials/progress.h"

#define NAMED_MAX 8 /* missing ranks that are named */
#define MISSING_MAX 128

void live_group_draw_id(char id[LIVE_GROUP_ID_MAX])
{
    uint8_t bytes[(LIVE_GROUP_ID_MAX - 1) / 2];
    ssize_t drawn = getrandom(bytes, sizeof(bytes), 0);
    assert(drawn == (ssize_t)sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- objects ---- */

/* One visit of the store. */
struct visit {
    struct live_group *group;
    struct live_session session;
    struct live_wait wait;
    char *text; /* for errors, LIVE_GROUP_TEXT_MAX */
};

static bool visit_open(struct visit *visit, struct live_group *group, char *text)
{
    struct live_session_options options = live_access_of(group->config);
    char error[STORE_ERROR_MAX];
    *visit = (struct visit){.group = group, .text = text};
    options.workers = 1;
    if (live_session_open(group->url, &options, &visit->session, error) != OPEN_OK) {
        snprintf(text, LIVE_GROUP_TEXT_MAX, "%s", error);
        return false;
    }
    visit->wait = live_wait_begin(&visit->session, group->signals, group->config->live.patience_ns);
    return true;
}

static int64_t visit_now(const struct visit *visit)
{
    return loop_now(live_session_loop(&visit->session));
}

static void set_key(const struct visit *visit, const char *name, uint32_t rank, struct store_op *op)
{
    snprintf(op->key, sizeof(op->key), "run/group-%s/%s-%u", visit->group->id, name, rank);
}

static bool say_failed(const struct visit *visit, const struct store_op *op)
{
    snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s: %s", visit->group->url, live_session_error(op));
    return false;
}

static bool put(struct visit *visit, const char *name, uint32_t rank, const struct body *body)
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

/* Takes the reference. */
static bool put_json(struct visit *visit, const char *name, uint32_t rank, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    assert(text != NULL);
    json_decref(message);
    struct body body = {.kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)text};
    bool done = put(visit, name, rank, &body);
    free(text);
    return done;
}

enum found {
    FOUND,
    FOUND_NOTHING,
    FOUND_ERROR,
};

/* On FOUND the op holds the object, and is the caller's to deinit in any case. */
static enum found get(struct visit *visit, const char *name, uint32_t rank, struct store_op *op)
{
    store_op_init(op);
    op->verb = STORE_GET;
    set_key(visit, name, rank, op);
    live_request(&visit->session, op);
    if (op->outcome == STORE_NOT_FOUND)
        return FOUND_NOTHING;
    if (op->outcome == STORE_OK)
        return FOUND;
    say_failed(visit, op);
    return FOUND_ERROR;
}

/* The JSON at the object's start; *used bytes long. NULL: the text says that it is damaged. */
static json_t *parse(const struct visit *visit, const struct store_op *op, size_t *used)
{
    json_error_t reason;
    json_t *message = json_loadb((const char *)op->result.data, op->result.bytes,
                                 JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &reason);
    if (message == NULL)
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s: %s is damaged: %.100s", visit->group->url,
                 op->key, reason.text);
    else
        *used = (size_t)reason.position;
    return message;
}

/* "ranks 2, 5 and 3 more"; `got` holds those that are not missing. */
static void name_missing(const struct live_ranks *ranks, const bool *got, char text[MISSING_MAX])
{
    uint32_t missing = 0;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t rank = 1; rank < ranks->count; rank++) {
        if (got[rank] || missing++ >= NAMED_MAX)
            continue;
        used += (size_t)snprintf(text + used, MISSING_MAX - used, "%s%u",
                                 missing > 1 ? ", " : "rank ", rank);
    }
    if (missing > NAMED_MAX)
        snprintf(text + used, MISSING_MAX - used, " and %u more", missing - NAMED_MAX);
}

/* Before the next look for something that was not there. DONE: look again. FAILED: it was waited
 * for long enough, and the text says so and what follows. */
__attribute__((format(printf, 2, 3))) static enum live_group_end look_later(struct visit *visit,
                                                                            const char *format, ...)
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

/* ---- the barrier ---- */

static json_t *with_clock(const struct visit *visit)
{
    json_t *message = json_object();
    json_object_set_new(message, "rank", json_integer(visit->group->ranks.rank));
    json_object_set_new(message, "now_ns", json_integer((json_int_t)visit_now(visit)));
    return message;
}

static int64_t integer(const json_t *message, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(message, key));
}

/* Looks once for those that were not there before. */
static bool look_for_ready(struct visit *visit, bool *got, uint32_t *count)
{
    struct live_group *group = visit->group;
    for (uint32_t rank = 1; rank < group->ranks.count; rank++) {
        if (got[rank])
            continue;
        struct store_op op;
        size_t used;
        json_t *message = NULL;
        enum found found = get(visit, "ready", rank, &op);
        int64_t now_ns = visit_now(visit);
        if (found == FOUND)
            message = parse(visit, &op, &used);
        store_op_deinit(&op);
        if (found == FOUND_ERROR || (found == FOUND && message == NULL))
            return false;
        if (found == FOUND_NOTHING)
            continue;
        got[rank] = true;
        (*count)++;
        group->heard_ns[rank] = now_ns - integer(message, "now_ns");
        const char *failure = json_string_value(json_object_get(message, "failure"));
        if (failure != NULL)
            snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank %u: %.400s", rank, failure);
        json_decref(message);
        if (failure != NULL)
            return false;
    }
    return true;
}

static enum live_group_end wait_for_ready(struct visit *visit)
{
    const struct live_ranks *ranks = &visit->group->ranks;
    bool *got = calloc(ranks->count, sizeof(*got));
    assert(got != NULL);
    uint32_t count = 1;
    enum live_group_end end = LIVE_GROUP_DONE;
    while (count < ranks->count && end == LIVE_GROUP_DONE) {
        char missing[MISSING_MAX];
        if (!look_for_ready(visit, got, &count))
            end = LIVE_GROUP_FAILED;
        name_missing(ranks, got, missing);
        if (count < ranks->count && end == LIVE_GROUP_DONE)
            end = look_later(visit, "%s of %u did not stand ready: see what it printed", missing,
                             ranks->count);
    }
    free(got);
    return end;
}

/* Rank 0: says when, or why not. */
static enum live_group_end open_barrier(struct visit *visit, int64_t *start_ns)
{
    enum live_group_end end = wait_for_ready(visit);
    char why[LIVE_GROUP_TEXT_MAX];
    *start_ns = visit_now(visit) + visit->group->config->live.lead_ns;
    json_t *message = with_clock(visit);
    json_object_set_new(message, "start_ns", json_integer((json_int_t)*start_ns));
    snprintf(why, sizeof(why), "%s", end == LIVE_GROUP_ASKED ? "it was stopped" : visit->text);
    if (end != LIVE_GROUP_DONE)
        json_object_set_new(message, "failure", json_string(why));
    if (!put_json(visit, "start", 0, message))
        return LIVE_GROUP_FAILED;
    if (end == LIVE_GROUP_FAILED)
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "%s", why);
    return end;
}

/* A start that is far off by this clock is one by another clock. */
static enum live_group_end check_clock(const struct visit *visit, int64_t wait_ns)
{
    int64_t lead_ns = visit->group->config->live.lead_ns;
    if (wait_ns >= -lead_ns && wait_ns <= 2 * lead_ns)
        return LIVE_GROUP_DONE;
    snprintf(
        visit->text, LIVE_GROUP_TEXT_MAX,
        "the run starts %.1f s %s now by this machine's clock, but %.1f s after rank 0 said "
        "so: the clocks differ, or the store is slow; set the clocks (NTP), or raise live.lead",
        fabs((double)wait_ns) / 1e9, wait_ns < 0 ? "before" : "after", (double)lead_ns / 1e9);
    return LIVE_GROUP_FAILED;
}

static enum live_group_end take_start(struct visit *visit, const json_t *message, int64_t *start_ns)
{
    const char *failure = json_string_value(json_object_get(message, "failure"));
    *start_ns = integer(message, "start_ns");
    visit->group->start_heard_ns = visit_now(visit) - integer(message, "now_ns");
    if (failure == NULL)
        return check_clock(visit, *start_ns - visit_now(visit));
    snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank 0 did not start the run: %.300s", failure);
    return LIVE_GROUP_FAILED;
}

/* The others: say that they are ready, and wait for the start. */
static enum live_group_end wait_for_start(struct visit *visit, int64_t *start_ns)
{
    if (!put_json(visit, "ready", visit->group->ranks.rank, with_clock(visit)))
        return LIVE_GROUP_FAILED;
    visit->group->stood_ready = true;
    for (;;) {
        struct store_op op;
        size_t used;
        json_t *message = NULL;
        enum found found = get(visit, "start", 0, &op);
        if (found == FOUND)
            message = parse(visit, &op, &used);
        store_op_deinit(&op);
        enum live_group_end end = LIVE_GROUP_FAILED;
        if (message != NULL)
            end = take_start(visit, message, start_ns);
        json_decref(message);
        if (found != FOUND_NOTHING)
            return end;
        end = look_later(visit, "rank 0 had not started the run: it is gone, or it waits for "
                                "others and has more patience");
        if (end != LIVE_GROUP_DONE)
            return end;
    }
}

enum live_group_end live_group_start(struct live_group *group, int64_t *start_ns, int64_t *wait_ns,
                                     char text[LIVE_GROUP_TEXT_MAX])
{
    struct visit visit;
    if (!visit_open(&visit, group, text))
        return LIVE_GROUP_FAILED;
    enum live_group_end end =
        group->ranks.rank == 0 ? open_barrier(&visit, start_ns) : wait_for_start(&visit, start_ns);
    *wait_ns = *start_ns - visit_now(&visit);
    live_session_close(&visit.session);
    return end;
}

/* ---- results ---- */

/* Counts are uint64_t only; they go by their place, as the recorder's: all ranks run one build. */
static_assert(sizeof(struct live_counts) % sizeof(uint64_t) == 0, "nothing but uint64_t");
#define COUNTS (sizeof(struct live_counts) / sizeof(uint64_t))

static json_t *json_of_counts(const struct live_counts *counts)
{
    uint64_t values[COUNTS];
    json_t *array = json_array();
    memcpy(values, counts, sizeof(values));
    for (size_t i = 0; i < COUNTS; i++)
        json_array_append_new(array, json_integer((json_int_t)values[i]));
    return array;
}

static void add_counts(struct live_counts *sum, const json_t *array)
{
    struct live_counts counts;
    uint64_t values[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        values[i] = (uint64_t)json_integer_value(json_array_get(array, i));
    memcpy(&counts, values, sizeof(counts));
    live_counts_add(sum, &counts);
}

static json_t *result_message(const struct visit *visit, const struct live_group_result *result)
{
    json_t *message = with_clock(visit);
    json_object_set_new(message, "failure", json_string(result->failure));
    json_object_set_new(message, "counts", json_of_counts(&result->counts));
    json_object_set_new(message, "restarts", json_integer(result->restarts));
    json_object_set_new(message, "start_heard_ns",
                        json_integer((json_int_t)visit->group->start_heard_ns));
    return message;
}

static bool put_result(struct visit *visit, const struct live_group_result *result)
{
    json_t *message = result_message(visit, result);
    char *json = json_dumps(message, JSON_COMPACT);
    assert(json != NULL);
    json_decref(message);
    size_t json_bytes = strlen(json);
    size_t record_bytes = 0;
    uint8_t *record =
        result->recorder != NULL ? recorder_serialize(result->recorder, &record_bytes) : NULL;
    uint8_t *bytes = malloc(json_bytes + record_bytes);
    assert(bytes != NULL);
    memcpy(bytes, json, json_bytes);
    if (record_bytes > 0)
        memcpy(bytes + json_bytes, record, record_bytes);
    struct body body = {.kind = BODY_BYTES, .bytes = json_bytes + record_bytes, .data = bytes};
    bool done = put(visit, "result", visit->group->ranks.rank, &body);
    free(bytes);
    free(record);
    free(json);
    return done;
}

enum live_group_end live_group_tell(struct live_group *group,
                                    const struct live_group_result *result,
                                    char text[LIVE_GROUP_TEXT_MAX])
{
    struct visit visit;
    bool done = true;
    assert(group->ranks.rank > 0);
    if (!visit_open(&visit, group, text))
        return LIVE_GROUP_FAILED;
    if (!group->stood_ready) { /* rank 0 waits at the barrier */
        json_t *message = with_clock(&visit);
        json_object_set_new(message, "failure", json_string(result->failure));
        done = put_json(&visit, "ready", group->ranks.rank, message);
    }
    done = done && put_result(&visit, result);
    live_session_close(&visit.session);
    return done ? LIVE_GROUP_DONE : LIVE_GROUP_FAILED;
}

/* d: rank 0 heard the other's clock d late, the other heard rank 0's e late; both hold the
 * difference of the clocks, once each way, and a delay that is not negative. */
static void add_skew(struct live_group_sum *sum, int64_t d_ns, int64_t e_ns)
{
    double skew_s = fabs((double)(d_ns - e_ns)) / 2e9;
    double bound_s = fabs((double)(d_ns + e_ns)) / 2e9;
    sum->skew_s = skew_s > sum->skew_s ? skew_s : sum->skew_s;
    sum->skew_bound_s = bound_s > sum->skew_bound_s ? bound_s : sum->skew_bound_s;
}

/* False: the text says what is wrong with it, or how that rank failed. */
static bool add_result(const struct visit *visit, uint32_t rank, const struct store_op *op,
                       struct live_group_sum *sum)
{
    size_t used = 0;
    json_t *message = parse(visit, op, &used);
    if (message == NULL)
        return false;
    const char *failure = json_string_value(json_object_get(message, "failure"));
    bool added = failure != NULL && failure[0] == '\0';
    if (!added)
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank %u: %.400s", rank,
                 failure != NULL ? failure : "its result does not say how it ended");
    if (op->result.bytes > used) {
        enum recorder_merge_error merged =
            recorder_merge(sum->recorder, op->result.data + used, op->result.bytes - used);
        if (merged != RECORDER_MERGED && added) {
            snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                     "rank %u: its record is %s; do all ranks "
                     "run the same build?",
                     rank, recorder_merge_text(merged));
            added = false;
        }
    }
    add_counts(&sum->counts, json_object_get(message, "counts"));
    sum->restarts += (uint32_t)integer(message, "restarts");
    add_skew(sum, visit->group->heard_ns[rank], integer(message, "start_heard_ns"));
    json_decref(message);
    return added;
}

/* Looks once. False: one of them failed, or the store did. */
static bool look_for_results(struct visit *visit, bool *got, uint32_t *count,
                             struct live_group_sum *sum)
{
    bool fine = true;
    for (uint32_t rank = 1; rank < visit->group->ranks.count && fine; rank++) {
        if (got[rank])
            continue;
        struct store_op op;
        enum found found = get(visit, "result", rank, &op);
        fine = found != FOUND_ERROR;
        if (found == FOUND) {
            got[rank] = true;
            (*count)++;
            fine = add_result(visit, rank, &op, sum);
        }
        store_op_deinit(&op);
    }
    return fine;
}

enum live_group_end live_group_gather(struct live_group *group, struct live_group_sum *sum,
                                      char text[LIVE_GROUP_TEXT_MAX])
{
    struct visit visit;
    const struct live_ranks *ranks = &group->ranks;
    assert(ranks->rank == 0);
    if (!visit_open(&visit, group, text))
        return LIVE_GROUP_FAILED;
    bool *got = calloc(ranks->count, sizeof(*got));
    assert(got != NULL);
    uint32_t count = 1;
    enum live_group_end end = LIVE_GROUP_DONE;
    while (count < ranks->count && end == LIVE_GROUP_DONE) {
        char missing[MISSING_MAX];
        if (!look_for_results(&visit, got, &count, sum))
            end = LIVE_GROUP_FAILED;
        name_missing(ranks, got, missing);
        if (count < ranks->count && end == LIVE_GROUP_DONE)
            end = look_later(&visit,
                             "%s of %u did not tell its results: it is gone; what its producers "
                             "committed is in the chain",
                             missing, ranks->count);
    }
    free(got);
    live_session_close(&visit.session);
    return end;
}
