/* address_target.c - addresses of stores: what somebody typed, and where a server sends a client.
 * Lines: the address, the endpoint, the region, another region, a redirect's place, a key. */
#include <stdio.h>
#include <string.h>

#include "backend/s3_address.h"
#include "backend/store_url.h"
#include "tests/fuzz/target.h"

#define LINES 6
#define LINE_BYTES_MAX 1024

void fuzz_address(const uint8_t *data, size_t size);

static char lines[LINES][LINE_BYTES_MAX];

static void take_lines(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < LINES; i++) {
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        size_t bytes = end != NULL ? (size_t)(end - data) : size;
        size_t used = bytes < LINE_BYTES_MAX ? bytes : LINE_BYTES_MAX - 1;
        if (used > 0)
            memcpy(lines[i], data, used);
        lines[i][used] = '\0';
        bytes += end != NULL;
        data += bytes;
        size -= bytes;
    }
}

/* What may stand in a request's first line. */
static void check_encoded(const char *text, const char *more)
{
    for (; *text != '\0'; text++)
        assert((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
               (*text >= '0' && *text <= '9') || strchr("-_.~%", *text) != NULL ||
               strchr(more, *text) != NULL);
}

static void check_requests(const struct s3_address *address)
{
    static char path[S3_PATH_MAX];
    static char query[S3_QUERY_MAX];
    lines[5][STORE_KEY_MAX - 1] = '\0';
    s3_address_path(address, lines[5], path);
    assert(path[0] == '/');
    check_encoded(path, "/");
    s3_address_list_query(address, lines[5], lines[5], NULL, 1000, query);
    check_encoded(query, "=&");
    s3_address_list_query(address, lines[5], "", lines[4], 1000, query);
    check_encoded(query, "=&");
}

static void check_address(const struct s3_address *address)
{
    const char *scheme = address->tls ? "https://" : "http://";
    size_t bucket = strlen(address->bucket);
    assert(bucket >= 3 && bucket < S3_BUCKET_MAX);
    assert(memchr(address->prefix, '\0', sizeof(address->prefix)) != NULL);
    assert(memchr(address->host, '\0', sizeof(address->host)) != NULL);
    assert(memchr(address->endpoint, '\0', sizeof(address->endpoint)) != NULL);
    assert(strncmp(address->endpoint, scheme, strlen(scheme)) == 0);
    assert(address->host[0] != '\0' && address->region[0] != '\0');
    check_encoded(address->host, "[:]");
    check_encoded(address->region, "");
    if (address->virtual_host)
        assert(strncmp(address->host, address->bucket, bucket) == 0);
    check_requests(address);
}

/* By its own parts it is the same address. */
static void check_again(const struct s3_address *address)
{
    char text[S3_BUCKET_MAX + S3_PREFIX_MAX];
    char error[STORE_ERROR_MAX] = "";
    struct s3_address again;
    snprintf(text, sizeof(text), "%s%s%s", address->bucket, address->prefix[0] != '\0' ? "/" : "",
             address->prefix);
    enum s3_style style = address->virtual_host ? S3_STYLE_VIRTUAL : S3_STYLE_PATH;
    enum open_result result =
        s3_address_parse(text, address->endpoint, address->region, style, &again, error);
    assert(result == OPEN_OK && memcmp(&again, address, sizeof(again)) == 0);
}

/* Where a server may send a client: never from https to http, and never to another bucket. */
static void check_moves(const struct s3_address *address)
{
    struct s3_address moved = *address;
    if (s3_address_set_region(&moved, lines[3])) {
        assert(strcmp(moved.region, address->region) != 0);
        check_address(&moved);
    } else {
        assert(memcmp(&moved, address, sizeof(moved)) == 0);
    }
    moved = *address;
    if (s3_address_redirect(&moved, lines[4])) {
        assert(moved.tls || !address->tls);
        assert(strcmp(moved.bucket, address->bucket) == 0);
        assert(strcmp(moved.prefix, address->prefix) == 0);
        check_address(&moved);
    } else {
        assert(memcmp(&moved, address, sizeof(moved)) == 0);
    }
}

void fuzz_address(const uint8_t *data, size_t size)
{
    static const enum s3_style styles[] = {S3_STYLE_AUTO, S3_STYLE_PATH, S3_STYLE_VIRTUAL};
    char error[STORE_ERROR_MAX] = "";
    struct s3_address address;
    if (size == 0)
        return;
    take_lines(data + 1, size - 1);
    if (store_url_check(lines[0], error) != OPEN_OK)
        assert(error[0] != '\0');
    assert(strchr(error, '@') == NULL); /* what stands before it may be a password */
    error[0] = '\0';
    const char *rest = strncmp(lines[0], "s3://", 5) == 0 ? lines[0] + 5 : lines[0];
    enum s3_style style = styles[data[0] % 3];
    if (s3_address_parse(rest, lines[1], lines[2], style, &address, error) == OPEN_OK) {
        check_address(&address);
        check_again(&address);
        check_moves(&address);
    } else {
        assert(error[0] != '\0' && strchr(error, '@') == NULL);
    }
}
