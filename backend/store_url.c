/* store_url.c - from an address to a store: one row per scheme. Ours. */
#include "backend/store_url.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backend/s3_address.h"

#define SUPPORTED "file:///absolute/dir, file://relative/dir, s3://bucket/prefix"

struct scheme {
    const char *prefix;
    const char *names; /* what must follow it */
    enum open_result (*check)(const char *rest, char error[STORE_ERROR_MAX]); /* NULL: anything */
    enum open_result (*open)(const char *rest, const struct store_url_options *options,
                             struct live_loop *loop, struct store **store,
                             char error[STORE_ERROR_MAX]);
};

static enum open_result open_file(const char *rest, const struct store_url_options *options,
                                  struct live_loop *loop, struct store **store,
                                  char error[STORE_ERROR_MAX])
{
    return directory_store_open(rest, options == NULL ? NULL : &options->directory, loop, store,
                                error);
}

static enum open_result open_s3(const char *rest, const struct store_url_options *options,
                                struct live_loop *loop, struct store **store,
                                char error[STORE_ERROR_MAX])
{
    return s3_store_open(rest, options == NULL ? NULL : &options->s3, loop, store, error);
}

static const struct scheme schemes[] = {
    {"file://", "directory", NULL, open_file},
    {"s3://", "bucket", s3_address_check, open_s3},
};

/* NULL: refused. *rest: what follows the scheme. */
static const struct scheme *find_scheme(const char *url, const char **rest,
                                        char error[STORE_ERROR_MAX])
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t bytes = strlen(schemes[i].prefix);
        if (strncmp(url, schemes[i].prefix, bytes) != 0)
            continue;
        *rest = url + bytes;
        if (**rest == '\0') {
            snprintf(error, STORE_ERROR_MAX, "%s: names no %s; write " SUPPORTED, url,
                     schemes[i].names);
            return NULL;
        }
        bool good = schemes[i].check == NULL || schemes[i].check(*rest, error) == OPEN_OK;
        return good ? &schemes[i] : NULL;
    }
    const char *separator = strstr(url, "://");
    if (separator == NULL || memchr(url, '@', (size_t)(separator - url)) != NULL)
        snprintf(error, STORE_ERROR_MAX, "\"%.80s\": not a store's address; supported: " SUPPORTED,
                 s3_address_shown(url));
    else
        snprintf(error, STORE_ERROR_MAX,
                 "\"%.80s\": there are no stores of the kind %.*s://; supported: " SUPPORTED,
                 s3_address_shown(url), (int)(separator - url < 32 ? separator - url : 32), url);
    return NULL;
}

enum open_result store_url_check(const char *url, char error[STORE_ERROR_MAX])
{
    const char *rest;
    return find_scheme(url, &rest, error) != NULL ? OPEN_OK : OPEN_BAD_INPUT;
}

enum open_result store_open_url(const char *url, const struct store_url_options *options,
                                struct live_loop *loop, struct store **store,
                                char error[STORE_ERROR_MAX])
{
    const char *rest;
    const struct scheme *scheme = find_scheme(url, &rest, error);
    return scheme != NULL ? scheme->open(rest, options, loop, store, error) : OPEN_BAD_INPUT;
}
