/* s3_answer.h - what an HTTP answer, or its absence, means for an operation: the one place where
 * status codes and S3's error codes are judged. Pure. Ours, by the S3 reference's list of error
 * codes and by what servers were seen to do. */
#ifndef BACKEND_S3_ANSWER_H
#define BACKEND_S3_ANSWER_H

#include <stdbool.h>

#include "backend/s3_xml.h"
#include "core/store.h"

/* How far a request got when it ended. */
enum s3_sent {
    S3_NOT_SENT,  /* no connection was made: surely not applied */
    S3_MAYBE_SENT /* some of it may have been read */
};

/* What the transport says. */
enum s3_transport {
    S3_TRANSPORT_OK,       /* an answer came, whole */
    S3_TRANSPORT_TIMEOUT,  /* the attempt's deadline */
    S3_TRANSPORT_REFUSED,  /* nobody listens, no route, no name */
    S3_TRANSPORT_BROKEN,   /* reset, closed before or within the answer, a rewind was asked for */
    S3_TRANSPORT_TLS,      /* a certificate that does not verify, no TLS on that port */
    S3_TRANSPORT_TOO_LARGE /* the answer is larger than it may be */
};

/* Headers that decide something. Empty or negative where absent. */
struct s3_headers {
    int64_t content_length;
    int64_t object_bytes; /* of Content-Range's total */
    int64_t range_offset; /* of Content-Range's first byte */
    int64_t range_bytes;  /* from Content-Range's first byte to its last */
    int64_t date_ns;      /* Date as Unix time; negative: none */
    int64_t retry_after_ns;
    char request_id[64]; /* x-amz-request-id */
    char region[64];     /* x-amz-bucket-region */
    char location[1024]; /* whole or empty */
    char content_type[64];
    char content_encoding[32];
    char etag[80];     /* without quotes */
    uint64_t checksum; /* x-amz-meta-xxh3: 16 hexadecimal digits */
    bool has_checksum;
    bool chunked;
};

/* Takes one header line ("Name: value\r\n", any case, hostile). A status line clears all: what an
 * interim answer said does not count. */
void s3_headers_line(struct s3_headers *headers, const char *line, size_t bytes);
void s3_headers_clear(struct s3_headers *headers);

/* What is to be done with the operation now. */
enum s3_step {
    S3_STEP_DONE,     /* `outcome` is the answer */
    S3_STEP_AGAIN,    /* send again after a back-off: never for a create that may have been read */
    S3_STEP_HOLD_OFF, /* as AGAIN (DONE for a create), and the whole store holds off */
    S3_STEP_REDIRECT, /* to headers.location, or error.endpoint, or error.region */
    S3_STEP_REFRESH,  /* the token has expired: get credentials anew, send again, once */
    S3_STEP_SKEW,     /* sign by the server's clock, send again, once */
};

/* All borrowed. */
struct s3_answer {
    enum store_verb verb;
    enum s3_transport transport;
    enum s3_sent sent;
    int status; /* of HTTP; 0: none */
    const struct s3_headers *headers;
    const uint8_t *body; /* of an object that came nothing is looked at but how long it is */
    size_t body_bytes;
    /* For the text of an error. */
    const char *bucket;
    const char *key; /* full */
    const char *endpoint;
    const char *region;
    const char *transport_text; /* libcurl's words; may be empty */
    bool range;                 /* a GET asked for a range */
};

struct s3_verdict {
    enum s3_step step;
    enum store_outcome
        outcome; /* DONE: the answer; else: what it is if nothing is tried any more */
    /* Also set: request_id and region from the headers where the body has none. */
    struct s3_error error;
};

/* `text` gets the line for UNKNOWN and FAILED: what, which key, where, status, code, request id,
 * what to do; else it is empty. It holds no control characters.
 *
 * OK for a GET means by status: 206, the body is headers.range_bytes from headers.range_offset of
 * an object of headers.object_bytes; whether that is what was asked for is the caller's to check.
 * 200, it is the whole object, also where a range was asked for. 416, nothing of the object is
 * within the range and the body is an error's; its size is headers.object_bytes, or
 * error.object_bytes, where either is not negative. OK for a LIST says only that it is no error. */
void s3_answer_judge(const struct s3_answer *answer, struct s3_verdict *verdict,
                     char text[STORE_ERROR_MAX]);

/* The same line for what only the caller can see (a checksum, a listing that cannot be read): what
 * went wrong, as "the checksum is wrong", and advice, which may be empty; both in short. */
void s3_answer_text(const struct s3_answer *answer, const char *request_id, const char *what,
                    const char *advice, char text[STORE_ERROR_MAX]);

#endif
