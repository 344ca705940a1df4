/* s3_outcome.c - what an attempt's answer makes of a call: s3_answer.h says what the answer means;
 * here it meets what the call has already tried, the store's pace, and what was asked for. Ours.
 *
 * A create that may have been read is never sent again here: asserted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/s3_private.h"
#include "core/xxh3.h"

struct attempt {
    struct s3_call *call;
    struct s3_exchange *exchange;
    struct s3_answer answer;
    struct s3_verdict verdict;
    int64_t now_ns;
    char full_key[S3_KEY_MAX];
};

static enum s3_next fail(struct attempt *attempt, const char *what, const char *advice)
{
    struct s3_call *call = attempt->call;
    call->outcome = STORE_FAILED;
    s3_answer_text(&attempt->answer, attempt->verdict.error.request_id, what, advice, call->text);
    return S3_NEXT_DONE;
}

/* ---- objects ---- */

static enum s3_next give_object(struct attempt *attempt, uint64_t bytes, uint64_t object_bytes)
{
    struct store_op *op = attempt->call->op;
    assert(bytes <= attempt->exchange->answer_bytes);
    uint8_t *data = s3_exchange_take(attempt->exchange);
    op->result = (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = data};
    op->object_bytes = object_bytes;
    return S3_NEXT_DONE;
}

/* Nothing of the object is within the range. Its size is part of the answer, and where the server
 * does not say it, a second request does: for its first byte, which an empty object does not have.
 */
static enum s3_next take_nothing(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    int64_t bytes = attempt->answer.headers->object_bytes;
    if (bytes < 0)
        bytes = attempt->verdict.error.object_bytes;
    if (bytes < 0 && !call->size_only) {
        call->size_only = true;
        return S3_NEXT_QUEUE;
    }
    return give_object(attempt, 0, bytes < 0 ? 0 : (uint64_t)bytes);
}

static enum s3_next take_part(struct attempt *attempt)
{
    const struct store_op *op = attempt->call->op;
    const struct s3_headers *headers = attempt->answer.headers;
    assert(headers->object_bytes >= 0 && headers->range_offset >= 0);
    uint64_t object_bytes = (uint64_t)headers->object_bytes;
    if (attempt->call->size_only)
        return give_object(attempt, 0, object_bytes);
    uint64_t offset = (uint64_t)headers->range_offset;
    uint64_t left = object_bytes - offset;
    uint64_t expected = op->range_bytes > 0 && op->range_bytes < left ? op->range_bytes : left;
    if (offset != op->range_offset || attempt->exchange->answer_bytes != expected)
        return fail(attempt, "another range than was asked for", "the store cannot be read");
    return give_object(attempt, expected, object_bytes);
}

/* The whole object came, maybe where a part was asked for and is all that was kept. */
static enum s3_next take_whole(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    const struct s3_headers *headers = attempt->answer.headers;
    uint64_t object_bytes = attempt->exchange->came_bytes;
    uint64_t bytes = attempt->exchange->answer_bytes;
    if (headers->has_checksum && bytes == object_bytes &&
        XXH3_64bits(attempt->exchange->answer, bytes) != headers->checksum) {
        (void)fail(attempt, "the checksum is wrong",
                   "the object is damaged, or something on the way changes it");
        if (call->reread || attempt->now_ns >= call->deadline_ns)
            return S3_NEXT_DONE;
        call->reread = true;
        return S3_NEXT_BACK_OFF;
    }
    return give_object(attempt, call->size_only ? 0 : bytes, object_bytes);
}

static enum s3_next take_object(struct attempt *attempt)
{
    if (attempt->answer.status == 416)
        return take_nothing(attempt);
    return attempt->answer.status == 206 ? take_part(attempt) : take_whole(attempt);
}

/* ---- listings ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Ascending keys are the decoder's business; that they were asked for is ours. */
static bool was_asked_for(const struct store_op *op)
{
    const struct list_page *page = &op->page;
    if (page->count == 0)
        return true;
    const char *first = list_page_key(page, 0);
    return starts_with(first, op->key) &&
           starts_with(list_page_key(page, page->count - 1), op->key) &&
           (op->after[0] == '\0' || strcmp(first, op->after) > 0);
}

/* A page without a key says nothing about where to go on, but its token does. */
static enum s3_next follow_token(struct attempt *attempt, const char *token)
{
    struct s3_call *call = attempt->call;
    bool repeated = call->token != NULL && strcmp(call->token, token) == 0;
    if (token[0] == '\0' || repeated || ++call->empty_pages > S3_EMPTY_PAGES_MAX)
        return fail(attempt, "a listing that does not go on", "the store cannot be listed");
    free(call->token);
    call->token = strdup(token);
    assert(call->token != NULL);
    return S3_NEXT_QUEUE;
}

static enum s3_next take_page(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    struct store_op *op = call->op;
    struct list_page *page = &op->page;
    struct s3_list_result result;
    char prefix[S3_KEY_MAX];
    char why[STORE_ERROR_MAX] = "";
    s3_address_key(&call->store->address, "", prefix);
    list_page_clear(page);
    enum s3_xml read = s3_xml_list(attempt->exchange->answer, attempt->exchange->answer_bytes,
                                   prefix, page, &result, why);
    if (read != S3_XML_OK) {
        list_page_clear(page);
        return fail(attempt, why[0] != '\0' ? why : "not a listing", "is this an S3 store?");
    }
    if (!was_asked_for(op)) {
        list_page_clear(page);
        return fail(attempt, "keys that were not asked for",
                    "the store ignores prefix or start-after; use another");
    }
    page->truncated = result.truncated;
    if (page->count > op->list_keys_max) {
        page->count = op->list_keys_max;
        page->truncated = true;
    }
    if (page->count == 0 && page->truncated)
        return follow_token(attempt, result.token);
    return S3_NEXT_DONE;
}

/* ---- sending again ---- */

static bool is_create(const struct s3_call *call)
{
    return call->op->verb == STORE_PUT_IF_ABSENT;
}

/* Within the operation's time and the store's budget. */
static bool may_resend(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    return attempt->now_ns < call->deadline_ns &&
           s3_pace_resend(&call->store->pace, attempt->now_ns);
}

static enum s3_next redirect(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    struct s3_store *store = call->store;
    const struct s3_error *error = &attempt->verdict.error;
    const char *location = attempt->answer.headers->location;
    if (call->redirects == S3_REDIRECTS_MAX)
        return S3_NEXT_DONE;
    if (error->region[0] != '\0' && strcmp(error->region, call->region) != 0) {
        /* For the whole store, once; another call may have been faster. */
        bool switched = strcmp(store->address.region, error->region) == 0;
        if (!switched &&
            (store->region_switched || !s3_address_set_region(&store->address, error->region)))
            return S3_NEXT_DONE;
        store->region_switched = true;
        free(call->address);
        call->address = NULL;
    } else {
        struct s3_address target = call->address != NULL ? *call->address : store->address;
        if (!s3_address_redirect(&target, location[0] != '\0' ? location : error->endpoint))
            return S3_NEXT_DONE;
        if (call->address == NULL)
            call->address = malloc(sizeof(*call->address));
        assert(call->address != NULL);
        *call->address = target;
    }
    call->redirects++;
    store->counters.redirected++;
    return S3_NEXT_QUEUE;
}

static enum s3_next refresh(struct s3_call *call)
{
    if (call->refreshed)
        return S3_NEXT_DONE;
    call->refreshed = true;
    if (call->identity == call->store->identity.number)
        s3_identity_need(call->store);
    return S3_NEXT_QUEUE;
}

static enum s3_next correct_skew(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    if (call->skewed || attempt->answer.headers->date_ns < 0)
        return S3_NEXT_DONE;
    call->skewed = true;
    call->store->signing_skew_ns = call->store->counters.skew_ns;
    return S3_NEXT_QUEUE;
}

static enum s3_next done(struct attempt *attempt)
{
    const struct s3_call *call = attempt->call;
    if (call->outcome == STORE_OK && call->op->verb == STORE_GET)
        return take_object(attempt);
    if (call->outcome == STORE_OK && call->op->verb == STORE_LIST)
        return take_page(attempt);
    return S3_NEXT_DONE;
}

static enum s3_next take_step(struct attempt *attempt)
{
    switch (attempt->verdict.step) {
    case S3_STEP_DONE:
        return done(attempt);
    case S3_STEP_AGAIN:
        assert(!is_create(attempt->call) || attempt->answer.sent == S3_NOT_SENT);
        return may_resend(attempt) ? S3_NEXT_BACK_OFF : S3_NEXT_DONE;
    case S3_STEP_HOLD_OFF:
        return !is_create(attempt->call) && may_resend(attempt) ? S3_NEXT_QUEUE : S3_NEXT_DONE;
    case S3_STEP_REDIRECT:
        return redirect(attempt);
    case S3_STEP_REFRESH:
        return refresh(attempt->call);
    case S3_STEP_SKEW:
        return correct_skew(attempt);
    }
    assert(false);
    return S3_NEXT_DONE;
}

/* ---- the answer ---- */

static void note_answer(struct attempt *attempt)
{
    struct s3_call *call = attempt->call;
    struct s3_store *store = call->store;
    const struct s3_headers *headers = attempt->answer.headers;
    if (attempt->verdict.step == S3_STEP_HOLD_OFF)
        store->counters.holdoffs += s3_pace_throttled(&store->pace, attempt->now_ns, call->sent_ns,
                                                      headers->retry_after_ns);
    else if (attempt->answer.status > 0)
        s3_pace_answered(&store->pace, call->sent_ns);
    store->counters.connections += attempt->exchange->connected;
    store->counters.received_bytes +=
        attempt->exchange->header_bytes + attempt->exchange->came_bytes;
    /* Dates are cut to whole seconds: half of one more is right on average. */
    if (headers->date_ns >= 0)
        store->counters.skew_ns = headers->date_ns + NS_PER_S / 2 - attempt->now_ns;
}

enum s3_next s3_outcome_take(struct s3_call *call, struct s3_slot *slot)
{
    struct s3_store *store = call->store;
    struct s3_exchange *exchange = &slot->exchange;
    const struct s3_address *address = call->address != NULL ? call->address : &store->address;
    struct attempt attempt = {
        .call = call,
        .exchange = exchange,
        .now_ns = loop_now(live_loop_base(store->loop)),
    };
    bool object = call->op->verb == STORE_GET && exchange->status < 300;
    bool fits = exchange->transport != S3_TRANSPORT_TOO_LARGE;
    s3_address_key(address, call->op->key, attempt.full_key);
    attempt.answer = (struct s3_answer){
        .verb = call->op->verb,
        .transport = exchange->transport,
        .sent = exchange->sent,
        .status = exchange->status,
        .headers = &exchange->answer_headers,
        .body = exchange->answer,
        .body_bytes = object ? exchange->came_bytes : exchange->answer_bytes,
        .bucket = address->bucket,
        .key = attempt.full_key,
        .endpoint = address->endpoint,
        .region = call->region,
        .transport_text = exchange->text,
        .range = call->range[0] != '\0',
    };
    s3_answer_judge(&attempt.answer, &attempt.verdict, call->text);
    call->outcome = attempt.verdict.outcome;
    call->op->damaged = object && !fits && exchange->keep_bytes == 0 &&
                        exchange->header_bytes <= S3_HEADER_BYTES_MAX;
    note_answer(&attempt);
    return take_step(&attempt);
}
