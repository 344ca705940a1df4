/* s3_meaning.h - what an S3 code or an HTTP status means, and what a meaning leads to. Tables only;
 * s3_answer.c judges by them. Ours, by the S3 reference's list of error codes and by what servers
 * were seen to do. */
#ifndef BACKEND_S3_MEANING_H
#define BACKEND_S3_MEANING_H

#include <stdbool.h>

#include "backend/s3_answer.h"

/* Where a create may have been read, no row sends it again.
 * Meaning; step and outcome of the other verbs, then of a create; what to do. Advice that is NULL
 * depends on the answer. */
#define S3_MEANINGS(X)                                                                             \
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
    X(HUGE, DONE, FAILED, DONE, UNKNOWN, NULL)                                                     \
    X(BAD_RANGE, DONE, FAILED, DONE, FAILED,                                                       \
      "ranges are not served as they must be; use another "                                        \
      "store")                                                                                     \
    X(TLS, DONE, FAILED, DONE, FAILED,                                                             \
      "trust its certificate (--ca-file), or is the port not "                                     \
      "one of https?")                                                                             \
    X(OTHER, DONE, FAILED, DONE, FAILED, NULL)

enum s3_meaning {
#define X(name, step, outcome, create_step, create_outcome, advice) S3_MEANS_##name,
    S3_MEANINGS(X)
#undef X
};

struct s3_meaning_row {
    enum s3_step step;
    enum store_outcome outcome;
    enum s3_step create_step;
    enum store_outcome create_outcome;
    const char *advice; /* NULL: depends on the answer */
};

/* Valid for ever. */
const struct s3_meaning_row *s3_meaning_row(enum s3_meaning meaning);
/* Of a code that says more than its status. False: it is none, and *meaning is as it was. */
bool s3_meaning_of_code(const char *code, enum s3_meaning *meaning);
/* Without a code that is known. */
enum s3_meaning s3_meaning_of_status(int status);

#endif
