/* s3_request.h - one signed request as it goes out: host, target and header lines, in memory of its
 * own, so that building one allocates nothing (but for a session token). */
#ifndef BACKEND_S3_REQUEST_H
#define BACKEND_S3_REQUEST_H

#include <curl/curl.h>

#include "backend/s3_address.h"
#include "backend/s3_credentials.h"
#include "backend/sigv4.h"
#include "core/store.h"

#define S3_TARGET_MAX (S3_PATH_MAX + S3_QUERY_MAX)
#define S3_RANGE_MAX 64
#define S3_LINE_MAX 96
#define S3_HASH_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* All borrowed, for the time of the call only. */
struct s3_request_input {
    const struct store_op *op;
    const struct s3_address *address;
    const struct credentials *credentials;
    struct sigv4_key *key;
    int64_t time_ns;          /* by the server's clock */
    const char *payload_hash; /* of the body, or SIGV4_UNSIGNED */
    uint64_t checksum;        /* PUT: XXH3-64 of the body */
    const char *range;        /* GET: "bytes=0-9"; empty: the whole object */
    const char *token;        /* LIST: continues a page; NULL: by op->after */
};

/* Zero before first use. */
struct s3_request {
    bool tls;
    char host[S3_HOST_MAX];
    char target[S3_TARGET_MAX];
    struct curl_slist *headers; /* the lines below, linked; libcurl only reads them */

    struct curl_slist nodes[SIGV4_HEADERS_MAX];
    size_t node_count;
    struct sigv4_header signed_headers[SIGV4_HEADERS_MAX];
    size_t signed_count;
    char authorization[SIGV4_AUTHORIZATION_MAX + 16];
    char date[S3_LINE_MAX];
    char hash[S3_LINE_MAX];
    char checksum[S3_LINE_MAX];
    char range[S3_LINE_MAX];
    char *session_token; /* owned */
};

void s3_request_build(struct s3_request *request, const struct s3_request_input *input);
/* Wipes and frees the session token. */
void s3_request_deinit(struct s3_request *request);

#endif
