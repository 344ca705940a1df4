/* s3_answer.c - see s3_answer.h. Method: an answer gets one meaning, by its S3 code where that says
 * more than the status; a meaning has one row that says what is to be done, for a create and for
 * the other verbs. Where a create may have been read, no row sends it again. Ours. */
#include "backend/s3_answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_text.h"

#define WHAT_MAX 320
#define ADVICE_MAX 320

/* meaning; step and outcome of the other verbs, then of a create; what to do. Advice that is NULL
 * depends on the answer. */
#define MEANINGS(X)                                                                                \
    X(DONE, DONE, OK, DONE, OK, "")                                                                \
    X(EXISTS, DONE, FAILED, DONE, EXISTS, NULL)                                                    \
    X(BUSY, AGAIN, BUSY, DONE, BUSY, "")                                                           \
    X(ABSENT, DONE, NOT_FOUND, DONE, FAILED, NULL)                                                 \
    X(UNSURE, AGAIN, UNKNOWN, DONE, UNKNOWN, NULL)                                                 \
    X(UNREAD, AGAIN, UNKNOWN, AGAIN, UNKNOWN, "is it running, and is the endpoint right?")         \
    X(THROTTLED, HOLD_OFF, THROTTLED, HOLD_OFF, THROTTLED, "")                                     \
    X(ELSEWHERE, REDIRECT, FAILED, REDIRECT, FAILED, NULL)                                         \
    X(NOWHERE, DONE, FAILED, DONE, FAILED,                                                         \
      "it redirects and does not say where to; "                                                   \
      "set region and endpoint")                                                                   \
    X(STUCK, DONE, FAILED, DONE, FAILED, NULL)                                                     \
    X(EXPIRED, REFRESH, FAILED, REFRESH, FAILED,                                                   \
      "the session token has expired; get new "                                                    \
      "credentials")                                                                               \
    X(SKEWED, SKEW, FAILED, SKEW, FAILED,                                                          \
      "this machine's clock differs from the server's; "                                           \
      "set it right")                                                                              \
    X(NO_CREATES, DONE, FAILED, DONE, FAILED,                                                      \
      "the store has no conditional creates "                                                      \
      "(If-None-Match); use another")                                                              \
    X(UNSUPPORTED, DONE, FAILED, DONE, FAILED, "the store cannot do this; use another")            \
    X(DENIED, DONE, FAILED, DONE, FAILED, NULL)                                                    \
    X(KEY_UNKNOWN, DONE, FAILED, DONE, FAILED,                                                     \
      "the store does not know this access key; do the "                                           \
      "credentials belong to it?")                                                                 \
    X(SIGNATURE, DONE, FAILED, DONE, FAILED, "is the secret key right, and the region?")           \
    X(TOKEN, DONE, FAILED, DONE, FAILED, "the session token is not one of this store's")           \
    X(FORBIDDEN, DONE, FAILED, DONE, FAILED,                                                       \
      "not in S3's words: is a proxy or firewall between, "                                        \
      "is it the right endpoint?")                                                                 \
    X(NO_BUCKET, DONE, FAILED, DONE, FAILED, NULL)                                                 \
    X(NOT_S3, DONE, FAILED, DONE, FAILED,                                                          \
      "not in S3's words: is the endpoint one of S3, and "                                         \
      "http or https right?")                                                                      \
    X(IMPOSTOR, DONE, FAILED, DONE, UNKNOWN,                                                       \
      "not S3's answer: a proxy's or a login page's? "                                             \
      "check the endpoint")                                                                        \
    X(FULL, DONE, FAILED, DONE, FAILED, "the store is full or a quota is used up; make room")      \
    X(TOO_BIG, DONE, FAILED, DONE, FAILED,                                                         \
      "the object is too large for the store or a proxy; "                                         \
      "make it smaller")                                                                           \
    X(NESTED, DONE, FAILED, DONE, FAILED,                                                          \
      "the store keeps keys as files, and one key is a folder of "                                 \
      "another; use other keys")                                                                   \
    X(ENCODED, DONE, FAILED, DONE, FAILED,                                                         \
      "stored or sent compressed, which was not asked for; "                                       \
      "who wrote it?")                                                                             \
    X(HUGE, DONE, FAILED, DONE, UNKNOWN,                                                           \
      "it is larger than it may be; does the store ignore "                                        \
      "Range?")                                                                                    \
    X(BAD_RANGE, DONE, FAILED, DONE, FAILED,                                                       \
      "ranges are not served as they must be; use another "                                        \
      "store")                                                                                     \
    X(TLS, DONE, FAILED, DONE, FAILED,                                                             \
      "trust its certificate (--ca-file), or is the port not "                                     \
      "one of https?")                                                                             \
    X(OTHER, DONE, FAILED, DONE, FAILED, NULL)

enum meaning {
#define X(name, step, outcome, create_step, create_outcome, advice) MEANS_##name,
    MEANINGS(X)
#undef X
};

static const struct {
    enum s3_step step;
    enum store_outcome outcome;
    enum s3_step create_step;
    enum store_outcome create_outcome;
    const char *advice;
} meanings[] = {
#define X(name, step, outcome, create_step, create_outcome, advice)                                \
    {S3_STEP_##step, STORE_##outcome, S3_STEP_##create_step, STORE_##create_outcome, advice},
    MEANINGS(X)
#undef X
};

/* Codes that say more than their status. */
static const struct {
    const char *code;
    enum meaning meaning;
} codes[] = {
    {"PreconditionFailed", MEANS_EXISTS},
    {"ConditionalRequestConflict", MEANS_BUSY},
    {"OperationAborted", MEANS_BUSY},
    {"ConcurrentModification", MEANS_BUSY},
    {"NoSuchKey", MEANS_ABSENT},
    {"NoSuchVersion", MEANS_ABSENT},
    {"NotFound", MEANS_ABSENT},
    {"NoSuchBucket", MEANS_NO_BUCKET},
    {"InvalidBucketName", MEANS_NO_BUCKET},
    {"InvalidBucketState", MEANS_OTHER},
    {"BucketAlreadyExists", MEANS_OTHER},
    {"BucketAlreadyOwnedByYou", MEANS_OTHER},
    {"BucketNotEmpty", MEANS_OTHER},
    {"InternalError", MEANS_UNSURE},
    {"RequestTimeout", MEANS_UNSURE},
    {"IncompleteBody", MEANS_UNSURE},
    {"BadDigest", MEANS_UNSURE},
    {"XAmzContentSHA256Mismatch", MEANS_UNSURE},
    {"SlowDown", MEANS_THROTTLED},
    {"SlowDownRead", MEANS_THROTTLED},
    {"SlowDownWrite", MEANS_THROTTLED},
    {"ServiceUnavailable", MEANS_THROTTLED},
    {"RequestLimitExceeded", MEANS_THROTTLED},
    {"BandwidthLimitExceeded", MEANS_THROTTLED},
    {"TooManyRequests", MEANS_THROTTLED},
    {"Throttling", MEANS_THROTTLED},
    {"ThrottlingException", MEANS_THROTTLED},
    {"RequestThrottled", MEANS_THROTTLED},
    {"NotImplemented", MEANS_UNSUPPORTED},
    {"PermanentRedirect", MEANS_ELSEWHERE},
    {"TemporaryRedirect", MEANS_ELSEWHERE},
    {"Redirect", MEANS_ELSEWHERE},
    {"AuthorizationHeaderMalformed", MEANS_ELSEWHERE},
    {"IllegalLocationConstraintException", MEANS_ELSEWHERE},
    {"ExpiredToken", MEANS_EXPIRED},
    {"ExpiredTokenException", MEANS_EXPIRED},
    {"TokenRefreshRequired", MEANS_EXPIRED},
    {"RequestTimeTooSkewed", MEANS_SKEWED},
    {"AccessDenied", MEANS_DENIED},
    {"AllAccessDisabled", MEANS_DENIED},
    {"AccountProblem", MEANS_DENIED},
    {"NotSignedUp", MEANS_DENIED},
    {"InvalidAccessKeyId", MEANS_KEY_UNKNOWN},
    {"XAdminUserNotFound", MEANS_KEY_UNKNOWN}, /* VersityGW's, with 404 */
    {"SignatureDoesNotMatch", MEANS_SIGNATURE},
    {"InvalidToken", MEANS_TOKEN},
    {"InvalidRange", MEANS_BAD_RANGE},
    {"QuotaExceeded", MEANS_FULL},
    {"StorageFull", MEANS_FULL},
    {"XMinioStorageFull", MEANS_FULL},
    {"EntityTooLarge", MEANS_TOO_BIG},
    {"ObjectParentIsFile", MEANS_NESTED},
    {"ExistingObjectIsDirectory", MEANS_NESTED},
    {"XMinioParentIsObject", MEANS_NESTED},
    {"XMinioObjectExistsAsDirectory", MEANS_NESTED},
};

/* Statuses without a code that is known; all others mean OTHER, above 500 UNSURE. */
static const struct {
    int status;
    enum meaning meaning;
} statuses[] = {
    {301, MEANS_ELSEWHERE}, {302, MEANS_IMPOSTOR},    {303, MEANS_IMPOSTOR},
    {304, MEANS_IMPOSTOR},  {307, MEANS_ELSEWHERE},   {308, MEANS_ELSEWHERE},
    {400, MEANS_NOT_S3},    {401, MEANS_FORBIDDEN},   {403, MEANS_FORBIDDEN},
    {404, MEANS_ABSENT},    {405, MEANS_NOT_S3},      {407, MEANS_FORBIDDEN},
    {408, MEANS_UNSURE},    {409, MEANS_BUSY},        {412, MEANS_EXISTS},
    {413, MEANS_TOO_BIG},   {416, MEANS_BAD_RANGE},   {425, MEANS_UNSURE},
    {429, MEANS_THROTTLED}, {501, MEANS_UNSUPPORTED}, {503, MEANS_THROTTLED},
    {507, MEANS_FULL},      {509, MEANS_THROTTLED},   {511, MEANS_FORBIDDEN},
};

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

static bool meaning_of_code(const char *code, enum meaning *meaning)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (strcmp(codes[i].code, code) == 0) {
            *meaning = codes[i].meaning;
            return true;
        }
    return false;
}

static enum meaning meaning_of_status(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status)
            return statuses[i].meaning;
    return status >= 500 ? MEANS_UNSURE : MEANS_OTHER;
}

/* ---- by verb ---- */

static bool has_target(const struct reading *reading)
{
    const struct s3_error *error = reading->error;
    return reading->answer->headers->location[0] != '\0' || error->endpoint[0] != '\0' ||
           (error->region[0] != '\0' && strcmp(error->region, reading->answer->region) != 0);
}

/* A meaning that this verb, or this answer, gives another sense. */
static enum meaning fit(const struct reading *reading, enum meaning meaning)
{
    const struct s3_answer *answer = reading->answer;
    bool malformed = strcmp(reading->error->code, "AuthorizationHeaderMalformed") == 0;
    bool same_region = strcmp(reading->error->region, answer->region) == 0;
    if (meaning == MEANS_ABSENT && is_page(reading))
        return MEANS_NOT_S3;
    if (meaning == MEANS_ABSENT && answer->verb == STORE_DELETE)
        return MEANS_DONE;
    if (meaning == MEANS_ABSENT && answer->verb != STORE_GET)
        return MEANS_NO_BUCKET;
    /* Signed for the region that it names: its endpoint is another, which it is not for a client to
     * guess. */
    if (meaning == MEANS_ELSEWHERE && same_region && (malformed || answer->status == 301))
        return MEANS_STUCK;
    if (meaning == MEANS_ELSEWHERE && !has_target(reading))
        return malformed ? MEANS_OTHER : MEANS_NOWHERE;
    if (meaning == MEANS_UNSUPPORTED && is_create(answer))
        return MEANS_NO_CREATES;
    if (meaning == MEANS_BAD_RANGE) /* nothing of an object is at or behind its end */
        return answer->verb == STORE_GET && answer->range ? MEANS_DONE : MEANS_OTHER;
    if (meaning == MEANS_FULL && is_create(answer) && answer->status >= 500)
        return MEANS_UNSURE;
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

static enum meaning judge_object(const struct s3_answer *answer)
{
    const struct s3_headers *headers = answer->headers;
    bool part = answer->status == 206;
    int64_t bytes = (int64_t)answer->body_bytes;
    if (part && (!answer->range || headers->range_bytes < 0 || headers->object_bytes < 0))
        return MEANS_BAD_RANGE;
    if (headers->content_length >= 0 && headers->content_length != bytes)
        return MEANS_UNSURE;
    return part && headers->range_bytes != bytes ? MEANS_UNSURE : MEANS_DONE;
}

static bool is_encoded(const struct s3_headers *headers)
{
    static const char *const plain[] = {"", "identity", "aws-chunked"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcasecmp(headers->content_encoding, plain[i]) == 0)
            return false;
    return true;
}

static enum meaning judge_success(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    bool reads = answer->verb == STORE_GET || answer->verb == STORE_LIST;
    bool usual = answer->status == 200 || (answer->status == 206 && answer->verb == STORE_GET) ||
                 ((answer->status == 201 || answer->status == 204) && !reads);
    enum meaning meaning = MEANS_UNSURE;
    if (reading->document == S3_XML_OK) {
        (void)meaning_of_code(reading->error->code, &meaning);
        return is_create(answer) ? MEANS_UNSURE : fit(reading, meaning);
    }
    if (!usual || is_page(reading))
        return MEANS_IMPOSTOR;
    /* What S3 says of a PUT that was stored is in the headers. */
    if (answer->body_bytes > 0 && (answer->verb == STORE_PUT || is_create(answer)))
        return MEANS_UNSURE;
    if (reads && is_encoded(answer->headers))
        return MEANS_ENCODED;
    if (!has_length(answer))
        return MEANS_UNSURE;
    return answer->verb == STORE_GET ? judge_object(answer) : MEANS_DONE;
}

/* ---- refusals ---- */

static enum meaning judge_refusal(const struct reading *reading)
{
    const struct s3_answer *answer = reading->answer;
    enum meaning meaning = MEANS_OTHER;
    bool known = meaning_of_code(reading->error->code, &meaning);
    /* Above 500 a server does not know what it did, whatever it says; only that it is too busy. */
    if (answer->status >= 500 && meaning != MEANS_THROTTLED)
        meaning = meaning_of_status(answer->status);
    else if (!known && reading->error->code[0] == '\0')
        meaning = meaning_of_status(answer->status);
    else if (!known && (answer->status == 409 || answer->status == 412 || answer->status == 429))
        meaning = meaning_of_status(answer->status);
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

static enum meaning judge_transport(const struct s3_answer *answer)
{
    bool unread = answer->sent == S3_NOT_SENT;
    switch (answer->transport) {
    case S3_TRANSPORT_TLS:
        return unread ? MEANS_TLS : MEANS_UNSURE;
    case S3_TRANSPORT_TOO_LARGE:
        return MEANS_HUGE;
    case S3_TRANSPORT_OK:
    case S3_TRANSPORT_TIMEOUT:
    case S3_TRANSPORT_REFUSED:
    case S3_TRANSPORT_BROKEN:
        break;
    }
    return unread ? MEANS_UNREAD : MEANS_UNSURE;
}

static enum meaning judge(const struct reading *reading)
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

static void say_what(const struct reading *reading, enum meaning meaning, char what[WHAT_MAX])
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
    else if (answer->status < 300 && meaning == MEANS_UNSURE &&
             (answer->verb == STORE_PUT || is_create(answer)) && answer->body_bytes > 0)
        snprintf(what, WHAT_MAX, "%d and %zu bytes that S3 does not send", answer->status,
                 answer->body_bytes);
    else if (answer->status < 300 && meaning == MEANS_UNSURE && length < 0)
        snprintf(what, WHAT_MAX, "%d and a body of no length", answer->status);
    else if (answer->status < 300 && meaning == MEANS_UNSURE)
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

static void advise(const struct reading *reading, enum meaning meaning, char advice[ADVICE_MAX])
{
    const struct s3_answer *answer = reading->answer;
    const struct s3_error *error = reading->error;
    bool writes = answer->verb != STORE_GET && answer->verb != STORE_LIST;
    advice[0] = '\0';
    if (meanings[meaning].advice != NULL)
        snprintf(advice, ADVICE_MAX, "%s", meanings[meaning].advice);
    else if (meaning == MEANS_DENIED)
        snprintf(advice, ADVICE_MAX, "the credentials lack %s here, or the bucket forbids it",
                 permission(answer->verb));
    else if (meaning == MEANS_NO_BUCKET)
        snprintf(advice, ADVICE_MAX, "there is no bucket %.63s; make it, or correct the address",
                 answer->bucket);
    else if (meaning == MEANS_ELSEWHERE)
        advise_elsewhere(reading, advice);
    else if (meaning == MEANS_STUCK)
        snprintf(advice, ADVICE_MAX,
                 "the bucket is in region %s, for which this was signed; set --endpoint to that "
                 "region's",
                 error->region);
    else if (meaning == MEANS_UNSURE)
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
    enum meaning meaning = judge(&reading);
    bool create = is_create(answer);
    verdict->step = create ? meanings[meaning].create_step : meanings[meaning].step;
    verdict->outcome = create ? meanings[meaning].create_outcome : meanings[meaning].outcome;
    text[0] = '\0';
    if (verdict->outcome != STORE_UNKNOWN && verdict->outcome != STORE_FAILED)
        return;
    char what[WHAT_MAX], advice[ADVICE_MAX];
    say_what(&reading, meaning, what);
    advise(&reading, meaning, advice);
    s3_answer_text(answer, verdict->error.request_id, what, advice, text);
}
