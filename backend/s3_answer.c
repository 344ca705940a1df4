/* s3_answer.c - see s3_answer.h. Method: an answer gets one meaning (s3_meaning.h), by its S3 code
 * where that says more than the status; its row says what is to be done. Ours. */
#include "backend/s3_answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_meaning.h"
#include "backend/s3_text.h"

#define WHAT_MAX 320
#define ADVICE_MAX 320

struct reading {
    const struct s3_answer *answer;
    const struct s3_error *error;
    enum s3_xml document; /* of the body, as an <Error> */
};

static bool is_create(const struct s3_answer *answer)
{
    return answer->verb == STORE_PUT_IF_ABSENT;
}

/* A page for people where S3 would have answered. An object may be one, but then S3 says so. */
static bool is_page(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    const struct s3_headers *headers = answer->headers;
    static const char *const begins[] = {"<!doctype html", "<html"};
    bool typed = strncasecmp(headers->content_type, "text/html", strlen("text/html")) == 0;
    if (answer->body_bytes == 0)
        return false;
    if (answer->verb == STORE_GET && answer->status < 300)
        return typed && !headers->has_checksum && headers->request_id[0] == '\0';
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (answer->body_bytes >= strlen(begins[i]) &&
            strncasecmp((const char *)answer->body, begins[i], strlen(begins[i])) == 0)
            return true;
    return typed;
}

/* ---- by verb ---- */

static bool has_target(const struct reading *reading)
{
    const struct s3_error *error = reading->error;
    return reading->answer->headers->location[0] != '\0' || error->endpoint[0] != '\0' ||
           (error->region[0] != '\0' && strcmp(error->region, reading->answer->region) != 0);
}

/* A meaning that this verb, or this answer, gives another sense. */
static enum s3_meaning fit(const struct reading *reading, enum s3_meaning meaning)
{
    const struct s3_answer *answer = reading->answer;
    bool malformed = strcmp(reading->error->code, "AuthorizationHeaderMalformed") == 0;
    bool same_region = strcmp(reading->error->region, answer->region) == 0;
    if (meaning == S3_MEANS_ABSENT && is_page(reading))
        return S3_MEANS_NOT_S3;
    if (meaning == S3_MEANS_ABSENT && answer->verb == STORE_DELETE)
        return S3_MEANS_DONE;
    if (meaning == S3_MEANS_ABSENT && answer->verb != STORE_GET)
        return S3_MEANS_NO_BUCKET;
    /* Signed for the region that it names: its endpoint is another, which it is not for a client to
     * guess. */
    if (meaning == S3_MEANS_ELSEWHERE && same_region && (malformed || answer->status == 301))
        return S3_MEANS_STUCK;
    if (meaning == S3_MEANS_ELSEWHERE && !has_target(reading))
        return malformed ? S3_MEANS_OTHER : S3_MEANS_NOWHERE;
    if (meaning == S3_MEANS_UNSUPPORTED && is_create(answer))
        return S3_MEANS_NO_CREATES;
    if (meaning == S3_MEANS_BAD_RANGE) /* nothing of an object is at or behind its end */
        return answer->verb == STORE_GET && answer->range ? S3_MEANS_DONE : S3_MEANS_OTHER;
    if (meaning == S3_MEANS_FULL && is_create(answer) && answer->status >= 500)
        return S3_MEANS_UNSURE;
    return meaning;
}

/* ---- success ---- */

/* Without a length an answer may have been cut, within its head even: what libcurl 7.88 calls whole
 * then has a status and no body, though an <Error> or a listing was under way. */
static bool has_length(const struct s3_answer *answer)
{
    return answer->headers->content_length >= 0 || answer->headers->chunked ||
           answer->status == 204 || answer->status == 206; /* a part has that of its range */
}

static enum s3_meaning judge_object(const struct s3_answer *answer)
{
    const struct s3_headers *headers = answer->headers;
    bool part = answer->status == 206;
    int64_t bytes = (int64_t)answer->body_bytes;
    if (part && (!answer->range || headers->range_bytes < 0 || headers->object_bytes < 0))
        return S3_MEANS_BAD_RANGE;
    if (headers->content_length >= 0 && headers->content_length != bytes)
        return S3_MEANS_UNSURE;
    return part && headers->range_bytes != bytes ? S3_MEANS_UNSURE : S3_MEANS_DONE;
}

static bool is_encoded(const struct s3_headers *headers)
{
    static const char *const plain[] = {"", "identity", "aws-chunked"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcasecmp(headers->content_encoding, plain[i]) == 0)
            return false;
    return true;
}

static enum s3_meaning judge_success(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    bool reads = answer->verb == STORE_GET || answer->verb == STORE_LIST;
    bool usual = answer->status == 200 || (answer->status == 206 && answer->verb == STORE_GET) ||
                 ((answer->status == 201 || answer->status == 204) && !reads);
    enum s3_meaning meaning = S3_MEANS_UNSURE;
    if (reading->document == S3_XML_OK) {
        (void)s3_meaning_of_code(reading->error->code, &meaning);
        return is_create(answer) ? S3_MEANS_UNSURE : fit(reading, meaning);
    }
    if (!usual || is_page(reading))
        return S3_MEANS_IMPOSTOR;
    /* What S3 says of a PUT that was stored is in the headers. */
    if (answer->body_bytes > 0 && (answer->verb == STORE_PUT || is_create(answer)))
        return S3_MEANS_UNSURE;
    if (reads && is_encoded(answer->headers))
        return S3_MEANS_ENCODED;
    if (!has_length(answer))
        return S3_MEANS_UNSURE;
    return answer->verb == STORE_GET ? judge_object(answer) : S3_MEANS_DONE;
}

/* ---- refusals ---- */

static enum s3_meaning judge_refusal(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    enum s3_meaning meaning = S3_MEANS_OTHER;
    bool known = s3_meaning_of_code(reading->error->code, &meaning);
    /* Above 500 a server does not know what it did, whatever it says; only that it is too busy. */
    if (answer->status >= 500 && meaning != S3_MEANS_THROTTLED)
        meaning = s3_meaning_of_status(answer->status);
    else if (!known && reading->error->code[0] == '\0')
        meaning = s3_meaning_of_status(answer->status);
    else if (!known && (answer->status == 409 || answer->status == 412 || answer->status == 429))
        meaning = s3_meaning_of_status(answer->status);
    return fit(reading, meaning);
}

/* ---- no answer ---- */

/* The connection broke, or time ran out, while the request was still being sent: what the server
 * had said by then counts if it is a refusal that is whole. */
static bool refused_early(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    bool ended =
        answer->transport == S3_TRANSPORT_BROKEN || answer->transport == S3_TRANSPORT_TIMEOUT;
    return ended && answer->status >= 400 &&
           (answer->status == 412 || reading->error->code[0] != '\0' ||
            answer->headers->content_length == (int64_t)answer->body_bytes);
}

static enum s3_meaning judge_transport(const struct s3_answer *answer)
{
    bool unread = answer->sent == S3_NOT_SENT;
    switch (answer->transport) {
    case S3_TRANSPORT_TLS:
        return unread ? S3_MEANS_TLS : S3_MEANS_UNSURE;
    case S3_TRANSPORT_TOO_LARGE:
        return S3_MEANS_HUGE;
    case S3_TRANSPORT_OK:
    case S3_TRANSPORT_TIMEOUT:
    case S3_TRANSPORT_REFUSED:
    case S3_TRANSPORT_BROKEN:
        break;
    }
    return unread ? S3_MEANS_UNREAD : S3_MEANS_UNSURE;
}

static enum s3_meaning judge(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    bool whole = answer->transport == S3_TRANSPORT_OK && answer->status >= 200;
    if (!whole && !refused_early(reading))
        return judge_transport(answer);
    return answer->status < 300 ? judge_success(reading) : judge_refusal(reading);
}

/* ---- words ---- */

static const char *transport_words(enum s3_transport transport)
{
    switch (transport) {
    case S3_TRANSPORT_TIMEOUT:
        return "no answer in time";
    case S3_TRANSPORT_REFUSED:
        return "no connection";
    case S3_TRANSPORT_TLS:
        return "no secure connection";
    case S3_TRANSPORT_TOO_LARGE:
        return "too large an answer";
    case S3_TRANSPORT_OK:
    case S3_TRANSPORT_BROKEN:
        break;
    }
    return "a broken connection";
}

static void say_what(const struct reading *reading, enum s3_meaning meaning, char what[WHAT_MAX])
{
    const struct s3_answer *answer = reading->answer;
    const char *code = reading->error->code;
    int64_t length =
        answer->status == 206 ? answer->headers->range_bytes : answer->headers->content_length;
    bool answered =
        answer->status >= 200 && (answer->transport == S3_TRANSPORT_OK || refused_early(reading));
    if (!answered && answer->transport_text[0] != '\0')
        snprintf(what, WHAT_MAX, "%s (%s)", transport_words(answer->transport),
                 answer->transport_text);
    else if (!answered)
        snprintf(what, WHAT_MAX, "%s", transport_words(answer->transport));
    else if (code[0] != '\0')
        snprintf(what, WHAT_MAX, "%d%s %s", answer->status,
                 answer->status < 300 ? " with an error:" : "", code);
    else if (is_page(reading))
        snprintf(what, WHAT_MAX, "%d with HTML", answer->status);
    else if (answer->status < 300 && meaning == S3_MEANS_UNSURE &&
             (answer->verb == STORE_PUT || is_create(answer)) && answer->body_bytes > 0)
        snprintf(what, WHAT_MAX, "%d and %zu bytes that S3 does not send", answer->status,
                 answer->body_bytes);
    else if (answer->status < 300 && meaning == S3_MEANS_UNSURE && length < 0)
        snprintf(what, WHAT_MAX, "%d and a body of no length", answer->status);
    else if (answer->status < 300 && meaning == S3_MEANS_UNSURE)
        snprintf(what, WHAT_MAX, "%d and %zu bytes of %lld", answer->status, answer->body_bytes,
                 (long long)length);
    else
        snprintf(what, WHAT_MAX, "%d%s", answer->status,
                 answer->status < 300 ? "" : " without an S3 error code");
}

static const char *permission(enum store_verb verb)
{
    switch (verb) {
    case STORE_GET:
        return "s3:GetObject, and s3:ListBucket to tell missing keys";
    case STORE_LIST:
        return "s3:ListBucket";
    case STORE_DELETE:
        return "s3:DeleteObject";
    case STORE_PUT:
    case STORE_PUT_IF_ABSENT:
    case STORE_VERB_COUNT:
        break;
    }
    return "s3:PutObject";
}

static void advise_elsewhere(const struct reading *reading, char advice[ADVICE_MAX])
{
    const struct s3_error *error = reading->error;
    const char *place =
        error->endpoint[0] != '\0' ? error->endpoint : reading->answer->headers->location;
    if (error->region[0] != '\0' && strcmp(error->region, reading->answer->region) != 0)
        snprintf(advice, ADVICE_MAX, "the bucket is in region %s, not %s; set --region",
                 error->region, reading->answer->region);
    else if (strchr(place, '@') == NULL) /* what stands before it may be a password */
        snprintf(advice, ADVICE_MAX, "the bucket is at %.*s; set --endpoint",
                 (int)strcspn(place, "?"), place);
    else
        snprintf(advice, ADVICE_MAX, "it redirects to an address with a user; set --endpoint");
}

static void advise(const struct reading *reading, enum s3_meaning meaning, char advice[ADVICE_MAX])
{
    const struct s3_answer *answer = reading->answer;
    const struct s3_error *error = reading->error;
    bool writes = answer->verb != STORE_GET && answer->verb != STORE_LIST;
    advice[0] = '\0';
    if (s3_meaning_row(meaning)->advice != NULL)
        snprintf(advice, ADVICE_MAX, "%s", s3_meaning_row(meaning)->advice);
    else if (meaning == S3_MEANS_DENIED)
        snprintf(advice, ADVICE_MAX, "the credentials lack %s here, or the bucket forbids it",
                 permission(answer->verb));
    else if (meaning == S3_MEANS_NO_BUCKET)
        snprintf(advice, ADVICE_MAX, "there is no bucket %.63s; make it, or correct the address",
                 answer->bucket);
    else if (meaning == S3_MEANS_ELSEWHERE)
        advise_elsewhere(reading, advice);
    else if (meaning == S3_MEANS_STUCK)
        snprintf(advice, ADVICE_MAX,
                 "the bucket is in region %s, for which this was signed; set --endpoint to that "
                 "region's",
                 error->region);
    else if (meaning == S3_MEANS_HUGE)
        snprintf(advice, ADVICE_MAX, "%s",
                 answer->verb == STORE_GET && !answer->range
                     ? "damaged, or another version's: restore it"
                     : "is it a store of S3, or a proxy before one?");
    else if (meaning == S3_MEANS_UNSURE)
        snprintf(advice, ADVICE_MAX, "%s",
                 writes ? "it may have been applied" : "is it well, and http or https right?");
    else if (error->message[0] != '\0')
        snprintf(advice, ADVICE_MAX, "the store says: %s", error->message);
    else
        snprintf(advice, ADVICE_MAX, "refused; check endpoint, region %.32s and bucket",
                 answer->region);
}

void s3_answer_judge(const struct s3_answer *answer, struct s3_verdict *verdict,
                     char text[STORE_ERROR_MAX])
{
    struct reading reading = {.answer = answer, .error = &verdict->error};
    assert(answer->verb < STORE_VERB_COUNT);
    *verdict = (struct s3_verdict){.error = {.object_bytes = -1}};
    bool object = answer->verb == STORE_GET && answer->status < 300;
    reading.document =
        object ? S3_XML_OTHER : s3_xml_error(answer->body, answer->body_bytes, &verdict->error);
    if (verdict->error.request_id[0] == '\0')
        memcpy(verdict->error.request_id, answer->headers->request_id,
               sizeof(verdict->error.request_id));
    if (verdict->error.region[0] == '\0')
        memcpy(verdict->error.region, answer->headers->region, sizeof(verdict->error.region));
    enum s3_meaning meaning = judge(&reading);
    bool create = is_create(answer);
    const struct s3_meaning_row *row = s3_meaning_row(meaning);
    verdict->step = create ? row->create_step : row->step;
    verdict->outcome = create ? row->create_outcome : row->outcome;
    text[0] = '\0';
    if (verdict->outcome != STORE_UNKNOWN && verdict->outcome != STORE_FAILED)
        return;
    char what[WHAT_MAX], advice[ADVICE_MAX];
    say_what(&reading, meaning, what);
    advise(&reading, meaning, advice);
    s3_answer_text(answer, verdict->error.request_id, what, advice, text);
}
