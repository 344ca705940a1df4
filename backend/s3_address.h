/* s3_address.h - from bucket, prefix, endpoint, region and style to the parts of a request. Pure.
 * Ours, by AWS's rules for names of buckets and for virtual hosts. */
#ifndef BACKEND_S3_ADDRESS_H
#define BACKEND_S3_ADDRESS_H

#include <stdbool.h>

#include "backend/result.h"
#include "backend/s3_store.h"
#include "core/store.h"

#define S3_BUCKET_MAX 64 /* bytes with the NUL, as all of these */
#define S3_PREFIX_MAX 512
#define S3_HOST_MAX 256
#define S3_KEY_MAX (S3_PREFIX_MAX + STORE_KEY_MAX)
#define S3_PATH_MAX (3 * S3_KEY_MAX + 3 * S3_BUCKET_MAX + 8) /* encoded */
#define S3_QUERY_MAX (3 * S3_KEY_MAX * 2 + 3 * 1024 + 128)

struct s3_address {
    char bucket[S3_BUCKET_MAX];
    char prefix[S3_PREFIX_MAX]; /* without a slash at its end; empty: the whole bucket */
    char region[64];
    bool tls;
    bool aws;               /* the endpoint is AWS's own */
    bool virtual_host;      /* decided: AUTO is resolved */
    char host[S3_HOST_MAX]; /* the Host header, and the URL's authority: without :80 for http, :443
                               for https, with the bucket where virtual_host */
    char endpoint[S3_HOST_MAX + 8]; /* for messages: scheme and authority as given, no bucket */
};

/* `address` is "bucket[/prefix]"; one slash at its end does not count. Endpoint and region are
 * resolved already ("" endpoint: AWS's of the region). OPEN_BAD_INPUT says which part is wrong:
 * bucket names as AWS's rules have them (upper case and '_' are let through for other stores in
 * path style), an endpoint with a path, query, user or unknown scheme (one slash at its end does
 * not count), a prefix too long or with an empty component ("a//b": many stores cannot hold such
 * keys) or "." or "..", which some clients and servers resolve away. A text with an '@' is never
 * repeated: what stands before it may be a password. */
MUST_USE enum open_result s3_address_parse(const char *address, const char *endpoint,
                                           const char *region, enum s3_style style,
                                           struct s3_address *parsed, char error[STORE_ERROR_MAX]);
/* What may be repeated of it in a message: the text, or, if it has an '@', that it is not shown. */
const char *s3_address_shown(const char *text);
/* The encoded path of the object `key` below the prefix; for "" the bucket's own (for LIST). */
void s3_address_path(const struct s3_address *address, const char *key, char path[S3_PATH_MAX]);
/* The full key: prefix, slash, key. */
void s3_address_key(const struct s3_address *address, const char *key, char full[S3_KEY_MAX]);
/* The canonical query of a ListObjectsV2 page: prefix and start-after are keys of the store (below
 * its prefix); `token` continues a page, NULL for the first. Keys come back url-encoded
 * (encoding-type=url). */
void s3_address_list_query(const struct s3_address *address, const char *prefix, const char *after,
                           const char *token, uint32_t keys_max, char query[S3_QUERY_MAX]);
/* After a redirect to `location`: a URL, or the host of an <Endpoint> element. Takes over scheme,
 * host, port, style, and on AWS the region that the host names. False, and nothing changed: it
 * names no host that could be followed: not http or https, http after https, a user, or an address
 * that does not hold the bucket. */
MUST_USE bool s3_address_redirect(struct s3_address *address, const char *location);
/* After the store said that the bucket is in another region: of AWS, the host follows. False, and
 * nothing changed: not a region's name, the same as before, or AWS's host cannot be derived. */
MUST_USE bool s3_address_set_region(struct s3_address *address, const char *region);

#endif
