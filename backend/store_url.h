/* store_url.h - opens a store by its address: "file:///absolute/dir", "file://relative/dir" or
 * "s3://bucket/prefix". What follows the scheme is taken as it is: no host, no percent encoding. */
#ifndef BACKEND_STORE_URL_H
#define BACKEND_STORE_URL_H

#include "backend/directory_store.h"
#include "backend/live_loop.h"
#include "backend/result.h"
#include "backend/s3_store.h"
#include "core/store.h"

/* Zero is the default of every field. */
struct store_url_options {
    struct directory_options directory; /* for file:// */
    struct s3_options s3;               /* for s3:// */
};

/* What store_open_url refuses as OPEN_BAD_INPUT, without opening anything; else OPEN_OK. */
MUST_USE enum open_result store_url_check(const char *url, char error[STORE_ERROR_MAX]);

/* Blocks as the store's own open does; `options` may be NULL; the loop is borrowed. OPEN_BAD_INPUT:
 * not an address, or a scheme that is not supported; OPEN_FAILED: what the store's open says. */
MUST_USE enum open_result store_open_url(const char *url, const struct store_url_options *options,
                                         struct live_loop *loop, struct store **store,
                                         char error[STORE_ERROR_MAX]);

#endif
