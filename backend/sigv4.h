/* sigv4.h - AWS Signature Version 4 in its form for S3: the path is encoded once, never twice, and
 * the payload's hash is a header of its own. Source: the AWS reference "Authenticating Requests".
 */
#ifndef BACKEND_SIGV4_H
#define BACKEND_SIGV4_H

#include <stdbool.h>

#include "core/base.h"

#define SIGV4_HASH_MAX 65 /* bytes with the NUL, as all of these */
#define SIGV4_TIME_MAX 17 /* 20260131T235959Z */
#define SIGV4_AUTHORIZATION_MAX 640
#define SIGV4_REGION_MAX 64
#define SIGV4_SERVICE_MAX 16
#define SIGV4_HEADERS_MAX 16
#define SIGV4_UNSIGNED "UNSIGNED-PAYLOAD"

struct sigv4_header {
    const char *name;  /* lower case */
    const char *value; /* blanks at its ends and runs of blanks do not count */
};

/* All borrowed. `headers` holds every header that is to be signed, in any order (several of one
 * name: in the order in which they are sent): host, x-amz-content-sha256, x-amz-date, and what else
 * the request sends that must not be changed. */
struct sigv4_request {
    const char *service; /* NULL: "s3" */
    const char *method;
    const char *path;  /* encoded, from the slash on */
    const char *query; /* canonical: encoded, sorted, without '?'; "" for none */
    const struct sigv4_header *headers;
    size_t header_count;
    const char *payload_hash; /* hex, or SIGV4_UNSIGNED */
    char time[SIGV4_TIME_MAX];
};

/* The derived key of one day, with what OpenSSL needs to use it; derived again when the day, the
 * region, the service or the secret changes. Zero before first use; belongs to one thread. Holds a
 * secret and memory: sigv4_key_wipe frees both and leaves it zero. */
struct sigv4_key {
    char day[9];
    char region[SIGV4_REGION_MAX];
    char service[SIGV4_SERVICE_MAX];
    uint8_t secret_digest[32]; /* of the secret that it was derived from */
    struct evp_md_ctx_st *digest;
    struct evp_mac_ctx_st *mac; /* keyed */
    bool derived;
};

/* Writes the value of the Authorization header. Allocates nothing but when the key is derived.
 * Region, access key and names of headers at most as long as fits (asserted). */
void sigv4_sign(struct sigv4_key *key, const char *access_key, const char *secret_key,
                const char *region, const struct sigv4_request *request,
                char authorization[SIGV4_AUTHORIZATION_MAX]);
void sigv4_key_wipe(struct sigv4_key *key);

/* Seconds are cut, not rounded. From 1970 to 9999 (asserted). */
void sigv4_time(int64_t unix_ns, char time[SIGV4_TIME_MAX]);
/* SHA-256 in lower-case hex. */
void sigv4_hash(const void *data, size_t bytes, char hash[SIGV4_HASH_MAX]);

/* Percent-encodes as AWS does: all but letters, digits, '-', '.', '_', '~', in upper-case hex;
 * '/' stays as it is where keep_slash. Returns the length that it has or would have; what does not
 * fit in `capacity` is cut, always NUL-terminated. */
enum sigv4_slash {
    SIGV4_ENCODE_SLASH,
    SIGV4_KEEP_SLASH
};
size_t sigv4_encode(const char *text, enum sigv4_slash slash, char *encoded, size_t capacity);

#endif
