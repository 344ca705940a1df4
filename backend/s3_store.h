/* s3_store.h - a store on anything that speaks S3: AWS, MinIO, Ceph RGW, VersityGW.
 *
 * Method: HTTP/1.1 over libcurl's multi interface inside the live loop, requests signed by
 * backend/sigv4.h, an answer judged by backend/s3_answer.h. Nothing blocks but open and close.
 *
 * What an outcome means, and who sends again:
 *   - PUT_IF_ABSENT is sent once. OK: answered 200 to this request. EXISTS: answered 412. BUSY:
 *     answered 409. UNKNOWN: the request may have been read: a deadline, a reset, a 5xx, an answer
 *     that is not S3's. THROTTLED: 503 or 429. Only a create that was surely refused unread (a
 *     connection never made, a redirect, an expired token, a skewed clock) is sent again here;
 *     libcurl is kept from sending one twice by itself.
 *   - The other verbs are sent again by the store, with full jitter, until the operation's time or
 *     the store's budget of retries is spent; then the last answer is the outcome.
 *   - 503 and 429 hold off every request of the store, not only the one that met it
 *     (backend/s3_pace.h has the bounds).
 *   - FAILED and damaged: an object, by its length or its first bytes, does not fit its bound
 *     (core/object_bound.h). It is hung up on at once, and not asked for again.
 *   - FAILED: refused for good. The text is one line: what, where (bucket, key, endpoint, region),
 *     status, code and request id, and what to do. It never holds a secret.
 *
 * https goes through the environment's proxy (HTTPS_PROXY, NO_PROXY), http never through one.
 * Bodies carry x-amz-meta-xxh3, the XXH3-64 of their bytes; whoever reads a whole object that has
 * one gets it right, or FAILED.
 *
 * A store belongs to the loop's thread and must not be used after fork. Bodies are BODY_BYTES;
 * other kinds are a programmer's error. store_close may be called with operations in flight: they
 * are dropped, `done` is called for none of them. */
#ifndef BACKEND_S3_STORE_H
#define BACKEND_S3_STORE_H

#include <stdbool.h>

#include "backend/live_loop.h"
#include "backend/result.h"
#include "core/base.h"
#include "core/random.h"
#include "core/store.h"

#define S3_CONNECTIONS_DEFAULT 64
#define S3_CONNECT_NS (5 * NS_PER_S)
#define S3_ATTEMPT_NS (15 * NS_PER_S)
#define S3_ATTEMPT_RATE 1e6 /* bytes/s that a body gets on top of S3_ATTEMPT_NS */
#define S3_OPERATION_NS (60 * NS_PER_S)
#define S3_IDLE_NS (3 * NS_PER_S) /* below the 4 s after which some servers hang up */

enum s3_style {
    S3_STYLE_AUTO, /* virtual host on AWS for buckets without a dot; else path */
    S3_STYLE_PATH,
    S3_STYLE_VIRTUAL,
};

enum s3_payload {
    S3_PAYLOAD_SIGNED,   /* SHA-256 of every body */
    S3_PAYLOAD_UNSIGNED, /* UNSIGNED-PAYLOAD; refused over http */
};

/* Zero is the default of every field. Texts are borrowed during open only. */
struct s3_options {
    /* NULL or empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url, else AWS's
     * of the region. "http://127.0.0.1:7480", "https://host". */
    const char *endpoint;
    const char
        *region; /* NULL or empty: AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1 */
    const char *profile; /* NULL or empty: AWS_PROFILE, else "default" */
    const char *ca_file; /* NULL or empty: AWS_CA_BUNDLE, else the system's. PEM */
    enum s3_style style;
    enum s3_payload payload;
    uint32_t
        connections;    /* at once; 0: S3_CONNECTIONS_DEFAULT. More operations wait in the store */
    int64_t connect_ns; /* 0: S3_CONNECT_NS */
    int64_t attempt_ns; /* 0: S3_ATTEMPT_NS; a body adds its time at S3_ATTEMPT_RATE */
    int64_t operation_ns; /* 0: S3_OPERATION_NS: all attempts of an operation that is sent again */
    /* 0: S3_IDLE_NS: a connection unused for longer is not used again. Whole seconds; below 2 s no
     * connection is used twice. */
    int64_t idle_ns;
    uint64_t seed; /* of the jitter; 0: drawn */
};

struct s3_counters {
    uint64_t requests; /* sent, those sent again included */
    uint64_t resent;   /* by the store itself */
    uint64_t holdoffs;
    uint64_t redirected;
    uint64_t refreshed;      /* credentials */
    uint64_t connections;    /* made */
    uint64_t received_bytes; /* of answers as they came over HTTP/1.1: heads and bodies */
    int64_t skew_ns;         /* the server's clock less ours, as last seen; 0 before any answer */
};

/* `address` is what follows "s3://": "bucket" or "bucket/prefix", the prefix without a slash at its
 * end; every key is below it. Blocks for the credentials (files, at most one request to IMDS with
 * short timeouts). Makes no request to the store. OPEN_BAD_INPUT: the address or an option makes no
 * sense; OPEN_FAILED: no credentials, a CA file that cannot be read. */
MUST_USE enum open_result s3_store_open(const char *address, const struct s3_options *options,
                                        struct live_loop *loop, struct store **store,
                                        char error[STORE_ERROR_MAX]);
/* What s3_store_open refuses as OPEN_BAD_INPUT, without looking at the machine; else OPEN_OK. */
MUST_USE enum open_result s3_address_check(const char *address, char error[STORE_ERROR_MAX]);

struct s3_counters s3_store_counters(const struct store *store);
/* Where it was told to ask, for people: "http://127.0.0.1:7480". Lives as long as the store. */
const char *s3_store_endpoint(const struct store *store);

#endif
