/* store_url.c - from an address to a store: one row per scheme. Ours. */
#include "backend/store_url.h"

#include <stdio.h>
#include <string.h>

#define SUPPORTED "file:///absolute/dir, file://relative/dir"

static enum open_result open_file(const char *rest, const struct store_url_options *options,
                                  struct live_loop *loop, struct store **store,
                                  char error[STORE_ERROR_MAX])
{
    if (rest[0] == '\0') {
        snprintf(error, STORE_ERROR_MAX, "file://: names no directory; write " SUPPORTED);
        return OPEN_BAD_INPUT;
    }
    return directory_store_open(rest, options == NULL ? NULL : &options->directory, loop, store,
                                error);
}

struct scheme {
    const char *prefix;
    enum open_result (*open)(const char *rest, const struct store_url_options *options,
                             struct live_loop *loop, struct store **store,
                             char error[STORE_ERROR_MAX]);
};

static const struct scheme schemes[] = {
    {"file://", open_file},
};

enum open_result store_open_url(const char *url, const struct store_url_options *options,
                                struct live_loop *loop, struct store **store,
                                char error[STORE_ERROR_MAX])
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t bytes = strlen(schemes[i].prefix);
        if (strncmp(url, schemes[i].prefix, bytes) == 0)
            return schemes[i].open(url + bytes, options, loop, store, error);
    }
    const char *separator = strstr(url, "://");
    if (separator == NULL)
        snprintf(error, STORE_ERROR_MAX, "\"%.80s\": not a store's address; supported: " SUPPORTED,
                 url);
    else
        snprintf(error, STORE_ERROR_MAX,
                 "\"%.80s\": there are no stores of the kind %.*s://; supported: " SUPPORTED, url,
                 (int)(separator - url < 32 ? separator - url : 32), url);
    return OPEN_BAD_INPUT;
}
