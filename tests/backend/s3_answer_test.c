/* s3_answer_test.c - what answers mean: one table, from the answer to what is done and said. */
#include "backend/s3_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

#define ERROR(code) "<Error><Code>" code "</Code><Message>m s g</Message></Error>"
#define HTML "<!DOCTYPE html><html><body>Hello</body></html>"
#define IS_HTML "Content-Type: text/html; charset=utf-8\r\n"
#define LENGTH(bytes) "Content-Length: " bytes "\r\n"

struct row {
    enum store_verb verb;
    int status;
    const char *headers; /* lines */
    const char *body;
    enum s3_step step;
    enum store_outcome outcome;
    const char *words; /* that the text must hold, parted by '|'; NULL: it is empty */
};

#define GET STORE_GET
#define RANGE STORE_VERB_COUNT /* a GET of a range */
#define PUT STORE_PUT
#define CREATE STORE_PUT_IF_ABSENT
#define LIST STORE_LIST
#define DELETE STORE_DELETE
#define DONE(outcome) S3_STEP_DONE, STORE_##outcome
#define AGAIN(outcome) S3_STEP_AGAIN, STORE_##outcome
#define HOLD_OFF S3_STEP_HOLD_OFF, STORE_THROTTLED

static const struct row rows[] = {
    /* Done. */
    {PUT, 200, LENGTH("0"), "", DONE(OK), NULL},
    {PUT, 201, LENGTH("0"), "", DONE(OK), NULL},
    {CREATE, 200, LENGTH("0") "ETag: \"x\"\r\n", "", DONE(OK), NULL},
    {CREATE, 200, "Transfer-Encoding: chunked\r\n", "", DONE(OK), NULL},
    {CREATE, 204, "", "", DONE(OK), NULL},
    {CREATE, 200, IS_HTML LENGTH("0"), "", DONE(OK), NULL}, /* some default to it */
    {DELETE, 204, "", "", DONE(OK), NULL},
    {DELETE, 200, LENGTH("0"), "", DONE(OK), NULL},
    {DELETE, 404, "", ERROR("NoSuchKey"), DONE(OK), NULL},
    {DELETE, 404, "", "", DONE(OK), NULL},
    {LIST, 200, LENGTH("19"), "<ListBucketResult/>", DONE(OK), NULL},
    /* Cut before its length was said. */
    {PUT, 200, "", "", AGAIN(UNKNOWN), "200 and a body of no length"},
    {CREATE, 200, "ETag: \"x\"\r\n", "", DONE(UNKNOWN), "no length|may have been applied"},
    {LIST, 200, "", "", AGAIN(UNKNOWN), "200 and a body of no length"},
    {DELETE, 200, "", "", AGAIN(UNKNOWN), "200 and a body of no length"},
    {GET, 200, LENGTH("4"), "data", DONE(OK), NULL},
    {GET, 200, LENGTH("0"), "", DONE(OK), NULL},
    {GET, 200, "Transfer-Encoding: chunked\r\n", "data", DONE(OK), NULL},
    {GET, 200, LENGTH("41"), ERROR("x"), AGAIN(UNKNOWN), "200 and 53 bytes of 41"},
    {GET, 200, LENGTH("53"), ERROR("x"), DONE(OK), NULL}, /* an object may hold anything */
    {GET, 200, LENGTH("46") IS_HTML "x-amz-request-id: 1\r\n", HTML, DONE(OK), NULL},
    {GET, 404, "", ERROR("NoSuchKey"), DONE(NOT_FOUND), NULL},
    {GET, 404, "", "", DONE(NOT_FOUND), NULL},
    /* Creates that lost, or must be sent again. */
    {CREATE, 412, "", ERROR("PreconditionFailed"), DONE(EXISTS), NULL},
    {CREATE, 412, "", "", DONE(EXISTS), NULL},
    {CREATE, 412, IS_HTML, HTML, DONE(EXISTS), NULL},
    {CREATE, 409, "", ERROR("ConditionalRequestConflict"), DONE(BUSY), NULL},
    {CREATE, 409, "", ERROR("OperationAborted"), DONE(BUSY), NULL},
    {CREATE, 409, "", "", DONE(BUSY), NULL},
    {CREATE, 409, "", ERROR("SomethingNew"), DONE(BUSY), NULL},
    {CREATE, 409, "", ERROR("InvalidBucketState"), DONE(FAILED), "409 InvalidBucketState|m s g"},
    {CREATE, 409, "", ERROR("ObjectParentIsFile"), DONE(FAILED), "folder"},
    {PUT, 409, "", ERROR("ExistingObjectIsDirectory"), DONE(FAILED), "folder"},
    {PUT, 409, "", ERROR("OperationAborted"), AGAIN(BUSY), NULL},
    {PUT, 412, "", ERROR("PreconditionFailed"), DONE(FAILED), "412 PreconditionFailed"},
    /* Row 5, 10: what may have been applied is read back; who is asked to slow down does. */
    {CREATE, 500, "", ERROR("InternalError"), DONE(UNKNOWN), "500 InternalError|may have been"},
    {CREATE, 500, "", ERROR("AccessDenied"), DONE(UNKNOWN), "500 AccessDenied"},
    {CREATE, 502, IS_HTML, HTML, DONE(UNKNOWN), "502 with HTML|may have been applied"},
    {CREATE, 504, "", "", DONE(UNKNOWN), "504 without an S3 error code"},
    {CREATE, 507, "", "", DONE(UNKNOWN), "507"},
    {CREATE, 520, "", "", DONE(UNKNOWN), "520"},
    {CREATE, 503, "", ERROR("SlowDown"), HOLD_OFF, NULL},
    {CREATE, 503, IS_HTML, HTML, HOLD_OFF, NULL},
    {CREATE, 503, "", ERROR("NotImplemented"), HOLD_OFF, NULL},
    {CREATE, 429, "", "", HOLD_OFF, NULL},
    {CREATE, 400, "", ERROR("RequestTimeout"), DONE(UNKNOWN), "400 RequestTimeout"},
    {CREATE, 400, "", ERROR("XAmzContentSHA256Mismatch"), DONE(UNKNOWN), "SHA256Mismatch"},
    {CREATE, 408, "", "", DONE(UNKNOWN), "408"},
    {GET, 500, "", ERROR("InternalError"), AGAIN(UNKNOWN), "get s3://bucket/run/manifest/1"},
    {PUT, 500, "", ERROR("SlowDown"), HOLD_OFF, NULL},
    {PUT, 400, "", ERROR("RequestTimeout"), AGAIN(UNKNOWN), "may have been applied"},
    {LIST, 502, IS_HTML, HTML, AGAIN(UNKNOWN), "502 with HTML"},
    {DELETE, 503, "", ERROR("ServiceUnavailable"), HOLD_OFF, NULL},
    {PUT, 507, "", "", DONE(FAILED), "507|is full"},
    {PUT, 403, "", ERROR("QuotaExceeded"), DONE(FAILED), "403 QuotaExceeded|quota"},
    {PUT, 413, IS_HTML, HTML, DONE(FAILED), "413 with HTML|too large"},
    /* Row 11: an error in a success. */
    {CREATE, 200, "", ERROR("InternalError"), DONE(UNKNOWN), "200 with an error: InternalError"},
    {CREATE, 200, "", ERROR("AccessDenied"), DONE(UNKNOWN), "AccessDenied"},
    {CREATE, 200, "", "<Error>", DONE(UNKNOWN), "may have been applied"},
    {CREATE, 200, LENGTH("2"), "ok", DONE(UNKNOWN), "200 and 2 bytes that S3 does not send"},
    {CREATE, 200, "", "\n<?xml version=\"1.0\"?>" ERROR("InternalError"), DONE(UNKNOWN), "bytes"},
    {PUT, 200, LENGTH("2"), "ok", AGAIN(UNKNOWN), "200 and 2 bytes that S3 does not send"},
    {PUT, 200, "", ERROR("InternalError"), AGAIN(UNKNOWN), "200 with an error: InternalError"},
    {PUT, 200, "", ERROR("SlowDown"), HOLD_OFF, NULL},
    {PUT, 200, "", ERROR("AccessDenied"), DONE(FAILED), "s3:PutObject"},
    {DELETE, 200, "", ERROR("AccessDenied"), DONE(FAILED), "s3:DeleteObject"},
    {LIST, 200, "", ERROR("InternalError"), AGAIN(UNKNOWN), "InternalError"},
    {LIST, 200, "", ERROR("NoSuchKey"), DONE(FAILED), "no bucket bucket"},
    /* Refused for good: who, why, what to do. */
    {CREATE, 501, "", ERROR("NotImplemented"), DONE(FAILED), "501 NotImplemented|If-None-Match"},
    {CREATE, 501, "", "", DONE(FAILED), "501|no conditional creates"},
    {CREATE, 400, "", ERROR("NotImplemented"), DONE(FAILED), "no conditional creates"},
    {PUT, 501, "", ERROR("NotImplemented"), DONE(FAILED), "cannot do this"},
    {CREATE, 403, "", ERROR("AccessDenied"), DONE(FAILED), "403 AccessDenied|s3:PutObject"},
    {GET, 403, "", ERROR("AccessDenied"), DONE(FAILED), "s3:GetObject|s3:ListBucket"},
    {LIST, 403, "", ERROR("AccessDenied"), DONE(FAILED), "s3:ListBucket"},
    {PUT, 403, "", ERROR("InvalidAccessKeyId"), DONE(FAILED), "does not know this access key"},
    {GET, 404, "", ERROR("XAdminUserNotFound"), DONE(FAILED), "does not know this access key"},
    {PUT, 403, "", ERROR("SignatureDoesNotMatch"), DONE(FAILED), "secret key right"},
    {PUT, 400, "", ERROR("InvalidToken"), DONE(FAILED), "session token"},
    {PUT, 403, "", "", DONE(FAILED), "403 without an S3 error code|firewall"},
    {PUT, 403, IS_HTML, HTML, DONE(FAILED), "403 with HTML|proxy"},
    {PUT, 401, "", "", DONE(FAILED), "401"},
    {PUT, 407, IS_HTML, HTML, DONE(FAILED), "407 with HTML|proxy"},
    {PUT, 511, IS_HTML, HTML, DONE(FAILED), "511"},
    {CREATE, 405, "", "", DONE(FAILED), "405|endpoint"},
    {GET, 400, "", "Client sent an HTTP request to an HTTPS server.\n", DONE(FAILED),
     "400 without an S3 error code|http or https"},
    {LIST, 404, "", ERROR("NoSuchBucket"), DONE(FAILED), "404 NoSuchBucket|no bucket bucket"},
    {GET, 404, "", ERROR("NoSuchBucket"), DONE(FAILED), "no bucket bucket"},
    {DELETE, 404, "", ERROR("NoSuchBucket"), DONE(FAILED), "no bucket bucket"},
    {PUT, 404, "", "", DONE(FAILED), "404|no bucket bucket"},
    {CREATE, 404, "", ERROR("NoSuchKey"), DONE(FAILED), "no bucket bucket"},
    {GET, 404, IS_HTML, HTML, DONE(FAILED), "404 with HTML|endpoint one of S3"},
    {GET, 404, "", HTML, DONE(FAILED), "404 with HTML"},
    {GET, 404, "", ERROR("NoSuchTenant"), DONE(FAILED), "404 NoSuchTenant|the store says: m s g"},
    {PUT, 400, "", ERROR("KeyTooLongError"), DONE(FAILED), "KeyTooLongError|m s g"},
    {PUT, 400, "", "<Error><Code>Odd</Code><Message/></Error>", DONE(FAILED), "region here"},
    /* Answers of somebody else. */
    {LIST, 200, IS_HTML, HTML, DONE(FAILED), "200 with HTML|login page"},
    {PUT, 200, IS_HTML, HTML, DONE(FAILED), "200 with HTML|login page"},
    {CREATE, 200, "", HTML, DONE(UNKNOWN), "200 with HTML|login page"},
    {GET, 200, LENGTH("46") IS_HTML, HTML, DONE(FAILED), "200 with HTML"},
    {GET, 302, "Location: http://login/\r\n", "", DONE(FAILED), "302|login page"},
    {CREATE, 302, "Location: http://login/\r\n", "", DONE(UNKNOWN), "302"},
    {CREATE, 304, "", "", DONE(UNKNOWN), "304"},
    {PUT, 202, "", "", DONE(FAILED), "202"},
    {CREATE, 202, "", "", DONE(UNKNOWN), "202"},
    {CREATE, 206, "", "", DONE(UNKNOWN), "206"},
    {LIST, 204, "", "", DONE(FAILED), "204"},
    /* Elsewhere, later, by another clock: surely not applied, so creates are sent again, too. */
    {CREATE, 307, "Location: http://other/bucket/k\r\n", ERROR("TemporaryRedirect"),
     S3_STEP_REDIRECT, STORE_FAILED, "307 TemporaryRedirect|http://other/bucket/k; set --endpoint"},
    {PUT, 307, "Location: http://other/b?X-Amz-Security-Token=abc\r\n", "", S3_STEP_REDIRECT,
     STORE_FAILED, "at http://other/b; set --endpoint"},
    {PUT, 308, "Location: http://me:secret@other/\r\n", "", S3_STEP_REDIRECT, STORE_FAILED,
     "an address with a user"},
    {CREATE, 301, "x-amz-bucket-region: eu-west-1\r\n", ERROR("PermanentRedirect"),
     S3_STEP_REDIRECT, STORE_FAILED, "301 PermanentRedirect|region eu-west-1, not here"},
    {GET, 301, "", "<Error><Code>PermanentRedirect</Code><Endpoint>e.x</Endpoint></Error>",
     S3_STEP_REDIRECT, STORE_FAILED, "the bucket is at e.x"},
    {GET, 400, "",
     "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>",
     S3_STEP_REDIRECT, STORE_FAILED, "region eu-west-1"},
    {GET, 400, "", ERROR("AuthorizationHeaderMalformed"), DONE(FAILED), "the store says: m s g"},
    {GET, 400, "", "<Error><Code>AuthorizationHeaderMalformed</Code><Region>here</Region></Error>",
     DONE(FAILED), "AuthorizationHeaderMalformed|region here, for which this was signed"},
    {CREATE, 301, "x-amz-bucket-region: here\r\n",
     "<Error><Code>PermanentRedirect</Code><Endpoint>e.x</Endpoint></Error>", DONE(FAILED),
     "301 PermanentRedirect|region here, for which this was signed; set --endpoint"},
    {PUT, 307, "x-amz-bucket-region: here\r\nLocation: http://other/b\r\n", "", S3_STEP_REDIRECT,
     STORE_FAILED, "at http://other/b; set --endpoint"},
    {GET, 301, "", "", DONE(FAILED), "does not say where to"},
    {CREATE, 400, "", ERROR("ExpiredToken"), S3_STEP_REFRESH, STORE_FAILED, "token has expired"},
    {LIST, 403, "", ERROR("RequestTimeTooSkewed"), S3_STEP_SKEW, STORE_FAILED, "clock"},
    {CREATE, 403, "", ERROR("RequestTimeTooSkewed"), S3_STEP_SKEW, STORE_FAILED, "clock"},
    /* Row 21, 27: ranges and bodies. */
    {RANGE, 206, LENGTH("4") "Content-Range: bytes 2-5/9\r\n", "data", DONE(OK), NULL},
    {RANGE, 206, "Content-Range: bytes 2-5/9\r\n", "data", DONE(OK), NULL},
    {RANGE, 206, "Content-Range: bytes 2-6/9\r\n", "data", AGAIN(UNKNOWN), "206 and 4 bytes of 5"},
    {RANGE, 206, LENGTH("4") "Content-Range: bytes 2-5/*\r\n", "data", DONE(FAILED), "ranges"},
    {RANGE, 206, LENGTH("4"), "data", DONE(FAILED), "ranges"},
    {GET, 206, LENGTH("4") "Content-Range: bytes 0-3/9\r\n", "data", DONE(FAILED), "ranges"},
    {RANGE, 200, LENGTH("4"), "data", DONE(OK), NULL},
    {RANGE, 416, "Content-Range: bytes */9\r\n", ERROR("InvalidRange"), DONE(OK), NULL},
    {RANGE, 416, "", "", DONE(OK), NULL},
    {GET, 416, "", ERROR("InvalidRange"), DONE(FAILED), "416 InvalidRange"},
    {GET, 200, "", "data", AGAIN(UNKNOWN), "200 and a body of no length"},
    {GET, 200, LENGTH("9"), "data", AGAIN(UNKNOWN), "200 and 4 bytes of 9|manifest/1"},
    {GET, 200, LENGTH("4") "Content-Encoding: gzip\r\n", "data", DONE(FAILED),
     "s3://bucket/run/manifest/1|compressed"},
    {GET, 200, LENGTH("4") "Content-Encoding: aws-chunked\r\n", "data", DONE(OK), NULL},
    {LIST, 200, "Content-Encoding: br\r\n", "xx", DONE(FAILED), "compressed"},
};

static void answer_init(struct s3_answer *answer, struct s3_headers *headers, const char *lines)
{
    s3_headers_clear(headers);
    while (*lines != '\0') {
        size_t bytes = (size_t)(strchr(lines, '\n') + 1 - lines);
        s3_headers_line(headers, lines, bytes);
        lines += bytes;
    }
    *answer = (struct s3_answer){
        .sent = S3_MAYBE_SENT,
        .headers = headers,
        .bucket = "bucket",
        .key = "run/manifest/1",
        .endpoint = "http://127.0.0.1:7480",
        .region = "here",
        .transport_text = "",
    };
}

static void answer_body(struct s3_answer *answer, const char *body)
{
    answer->body = (const uint8_t *)body;
    answer->body_bytes = strlen(body);
}

/* The text holds all words, and nothing that is not a line for people. */
static void check_text(const char *text, const char *words, size_t row)
{
    CU_ASSERT(strlen(text) < STORE_ERROR_MAX);
    for (const char *at = text; *at != '\0'; at++)
        CU_ASSERT(isprint((unsigned char)*at));
    CU_ASSERT_EQUAL(words == NULL, text[0] == '\0');
    while (words != NULL && *words != '\0') {
        char word[64];
        size_t bytes = strcspn(words, "|");
        snprintf(word, sizeof(word), "%.*s", (int)bytes, words);
        if (strstr(text, word) == NULL)
            fprintf(stderr, "\nrow %zu: '%s' lacks '%s'\n", row, text, word);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
        words += bytes + (words[bytes] == '|');
    }
}

static void answers_mean_what_the_table_says(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_headers headers;
        struct s3_answer answer;
        struct s3_verdict verdict;
        char text[STORE_ERROR_MAX];
        answer_init(&answer, &headers, rows[i].headers);
        answer_body(&answer, rows[i].body);
        answer.range = rows[i].verb == RANGE;
        answer.verb = answer.range ? GET : rows[i].verb;
        answer.status = rows[i].status;
        s3_answer_judge(&answer, &verdict, text);
        if (verdict.step != rows[i].step || verdict.outcome != rows[i].outcome)
            fprintf(stderr, "\nrow %zu (%d): step %d, %s: %s\n", i, answer.status, verdict.step,
                    store_outcome_name(verdict.outcome), text);
        CU_ASSERT_EQUAL(verdict.step, rows[i].step);
        CU_ASSERT_EQUAL(verdict.outcome, rows[i].outcome);
        check_text(text, rows[i].words, i);
    }
}

static void silence_is_never_taken_for_an_answer(void)
{
    static const struct {
        enum store_verb verb;
        enum s3_transport transport;
        enum s3_sent sent;
        int status;
        const char *headers;
        const char *body;
        enum s3_step step;
        enum store_outcome outcome;
        const char *words;
    } cases[] = {
        {CREATE, S3_TRANSPORT_TIMEOUT, S3_MAYBE_SENT, 0, "", "", DONE(UNKNOWN),
         "no answer in time (wo rds)|may have been applied"},
        {CREATE, S3_TRANSPORT_TIMEOUT, S3_NOT_SENT, 0, "", "", AGAIN(UNKNOWN), "is it running"},
        {CREATE, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 0, "", "", DONE(UNKNOWN),
         "a broken connection"},
        {CREATE, S3_TRANSPORT_BROKEN, S3_NOT_SENT, 0, "", "", AGAIN(UNKNOWN), "is it running"},
        {CREATE, S3_TRANSPORT_REFUSED, S3_NOT_SENT, 0, "", "", AGAIN(UNKNOWN),
         "no connection (wo rds)|from http://127.0.0.1:7480"},
        {GET, S3_TRANSPORT_REFUSED, S3_NOT_SENT, 0, "", "", AGAIN(UNKNOWN), "is it running"},
        {GET, S3_TRANSPORT_TIMEOUT, S3_MAYBE_SENT, 0, "", "", AGAIN(UNKNOWN), "in time"},
        {PUT, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 0, "", "", AGAIN(UNKNOWN), "may have been"},
        {LIST, S3_TRANSPORT_TLS, S3_NOT_SENT, 0, "", "", DONE(FAILED), "secure|--ca-file"},
        {CREATE, S3_TRANSPORT_TLS, S3_NOT_SENT, 0, "", "", DONE(FAILED), "--ca-file"},
        {CREATE, S3_TRANSPORT_TLS, S3_MAYBE_SENT, 0, "", "", DONE(UNKNOWN), "secure"},
        {GET, S3_TRANSPORT_TOO_LARGE, S3_MAYBE_SENT, 200, "", "", DONE(FAILED),
         "too large an answer (wo rds)|damaged, or another"},
        {CREATE, S3_TRANSPORT_TOO_LARGE, S3_MAYBE_SENT, 200, "", "", DONE(UNKNOWN), "too large"},
        {CREATE, S3_TRANSPORT_OK, S3_MAYBE_SENT, 0, "", "", DONE(UNKNOWN), "broken"},
        {CREATE, S3_TRANSPORT_OK, S3_MAYBE_SENT, 100, "", "", DONE(UNKNOWN), "broken"},
        /* A success that was cut says nothing; nor does a refusal that was. */
        {CREATE, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 200, LENGTH("0"), "", DONE(UNKNOWN),
         "a broken connection"},
        {GET, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 200, LENGTH("9"), "data", AGAIN(UNKNOWN),
         "a broken connection"},
        {CREATE, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 403, LENGTH("50"), "<Error><Code>Acc",
         DONE(UNKNOWN), "a broken connection"},
        {GET, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 404, LENGTH("50"), "<Error>", AGAIN(UNKNOWN),
         "a broken connection"},
        /* Row 13: a final answer while the body is still being sent counts, if it is whole. */
        {CREATE, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 412, LENGTH("50"), "<Err", DONE(EXISTS), NULL},
        {CREATE, S3_TRANSPORT_TIMEOUT, S3_MAYBE_SENT, 412, "", "", DONE(EXISTS), NULL},
        {PUT, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 403, LENGTH("90"), ERROR("AccessDenied"),
         DONE(FAILED), "403 AccessDenied|s3:PutObject"},
        {PUT, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 403, LENGTH("0"), "", DONE(FAILED), "403"},
        {CREATE, S3_TRANSPORT_BROKEN, S3_MAYBE_SENT, 500, LENGTH("0"), "", DONE(UNKNOWN), "500"},
        {PUT, S3_TRANSPORT_TIMEOUT, S3_MAYBE_SENT, 503, "", ERROR("SlowDown"), HOLD_OFF, NULL},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct s3_headers headers;
        struct s3_answer answer;
        struct s3_verdict verdict;
        char text[STORE_ERROR_MAX];
        answer_init(&answer, &headers, cases[i].headers);
        answer_body(&answer, cases[i].body);
        answer.verb = cases[i].verb;
        answer.transport = cases[i].transport;
        answer.sent = cases[i].sent;
        answer.status = cases[i].status;
        answer.transport_text = "wo\x1b\nrds";
        s3_answer_judge(&answer, &verdict, text);
        if (verdict.step != cases[i].step || verdict.outcome != cases[i].outcome)
            fprintf(stderr, "\nsilence %zu: step %d, %s: %s\n", i, verdict.step,
                    store_outcome_name(verdict.outcome), text);
        CU_ASSERT_EQUAL(verdict.step, cases[i].step);
        CU_ASSERT_EQUAL(verdict.outcome, cases[i].outcome);
        check_text(text, cases[i].words, i);
    }
}

/* Whatever comes back: a create that may have been read is judged, never simply sent again, and
 * only success in S3's form is OK. */
static void no_answer_repeats_or_invents_a_create(void)
{
    static const char *const bodies[] = {"",
                                         HTML,
                                         "<Error/>",
                                         ERROR("InternalError"),
                                         ERROR("AccessDenied"),
                                         ERROR("NoSuchKey"),
                                         ERROR("SlowDown"),
                                         "<ListBucketResult/>"};
    static const enum s3_transport transports[] = {S3_TRANSPORT_OK, S3_TRANSPORT_TIMEOUT,
                                                   S3_TRANSPORT_BROKEN, S3_TRANSPORT_TLS,
                                                   S3_TRANSPORT_TOO_LARGE};
    for (int status = 0; status < 1000; status++)
        for (size_t b = 0; b < HARNESS_COUNT(bodies); b++)
            for (size_t t = 0; t < HARNESS_COUNT(transports); t++) {
                struct s3_headers headers;
                struct s3_answer answer;
                struct s3_verdict verdict;
                char text[STORE_ERROR_MAX];
                answer_init(&answer, &headers,
                            "Location: http://x/\r\nTransfer-Encoding: chunked\r\n");
                answer_body(&answer, bodies[b]);
                answer.verb = CREATE;
                answer.transport = transports[t];
                answer.status = status;
                s3_answer_judge(&answer, &verdict, text);
                bool ok = transports[t] == S3_TRANSPORT_OK && bodies[b][0] == '\0' &&
                          (status == 200 || status == 201 || status == 204);
                CU_ASSERT_EQUAL(verdict.outcome == STORE_OK, ok);
                CU_ASSERT_NOT_EQUAL(verdict.step, S3_STEP_AGAIN);
                CU_ASSERT(verdict.outcome != STORE_FAILED || (status >= 300 && status < 500) ||
                          status == 501 || status == 511);
                CU_ASSERT(verdict.outcome != STORE_NOT_FOUND);
            }
}

/* ---- text ---- */

static void texts_keep_what_matters_when_all_is_long(void)
{
    struct s3_headers headers;
    struct s3_answer answer;
    struct s3_verdict verdict;
    char text[STORE_ERROR_MAX], key[700], endpoint[250];
    snprintf(key, sizeof(key), "%0500d/manifest/%020d", 1, 17);
    snprintf(endpoint, sizeof(endpoint), "https://%0200d.example.com:8443", 1);
    answer_init(&answer, &headers,
                "x-amz-request-id: tx00000f2a3b4c5d6e7f8091a2b-0065f0c8d3-10bb-default\r\n");
    answer_body(&answer, ERROR("RequestTimeTooSkewedByFarTooMuchToBeTrue"));
    answer.verb = CREATE;
    answer.status = 403;
    answer.key = key;
    answer.endpoint = endpoint;
    s3_answer_judge(&answer, &verdict, text);
    check_text(text,
               "put_if_absent ...|/manifest/00000000000000000017: 403 RequestTimeTooSkew|"
               " from https://0000|, request tx00000f2a3b4c5d6e7f|: the store says: m s g",
               0);
    CU_ASSERT_EQUAL(strlen(text), STORE_ERROR_MAX - 1);
}

static void texts_hold_the_request_and_no_secret(void)
{
    struct s3_headers headers;
    struct s3_answer answer;
    struct s3_verdict verdict;
    char text[STORE_ERROR_MAX];
    answer_init(&answer, &headers, "x-amz-request-id: in-header\r\n");
    answer.verb = GET;
    answer.status = 403;
    answer_body(&answer,
                "<Error><Code>SignatureDoesNotMatch</Code><Message>m</Message>"
                "<AWSAccessKeyId>AKIDEXAMPLE</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256"
                "</StringToSign><SignatureProvided>5d672d79c15b13162d9279b0855cfba6"
                "</SignatureProvided><RequestId>in-body</RequestId></Error>");
    s3_answer_judge(&answer, &verdict, text);
    check_text(text, "request in-body", 0);
    CU_ASSERT_PTR_NULL(strstr(text, "AWS4"));
    CU_ASSERT_PTR_NULL(strstr(text, "AKID"));
    CU_ASSERT_PTR_NULL(strstr(text, "5d672d79"));
    answer_body(&answer,
                "<Error><Code>OddCode</Code><Message>token\n"
                "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4</Message></Error>");
    s3_answer_judge(&answer, &verdict, text);
    check_text(text, "403 OddCode|request in-header|the store says: token [...]", 1);
    s3_answer_text(&answer, "", "the checksum is wrong", "", text);
    CU_ASSERT_STRING_EQUAL(text, "get s3://bucket/run/manifest/1: the checksum is wrong from "
                                 "http://127.0.0.1:7480");
}

const struct harness_test s3_answer_tests[] = {
    HARNESS_TEST(answers_mean_what_the_table_says),
    HARNESS_TEST(silence_is_never_taken_for_an_answer),
    HARNESS_TEST(no_answer_repeats_or_invents_a_create),
    HARNESS_TEST(texts_keep_what_matters_when_all_is_long),
    HARNESS_TEST(texts_hold_the_request_and_no_secret),
    {0},
};
