/* s3_request.c - see s3_request.h. Everything that decides what the request does is signed, the
 * condition too: a middlebox that takes If-None-Match away makes the signature wrong. Ours. */
#include "backend/s3_request.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_line(struct s3_request *request, char *line)
{
    assert(request->node_count < SIGV4_HEADERS_MAX);
    struct curl_slist *node = &request->nodes[request->node_count];
    *node = (struct curl_slist){.data = line};
    if (request->node_count > 0)
        request->nodes[request->node_count - 1].next = node;
    request->node_count++;
    request->headers = request->nodes;
}

/* `line` is "name: value", the name in lower case. */
static void add_signed(struct s3_request *request, const char *name, char *line)
{
    assert(request->signed_count < SIGV4_HEADERS_MAX);
    request->signed_headers[request->signed_count++] =
        (struct sigv4_header){.name = name, .value = line + strlen(name) + 2};
    add_line(request, line);
}

/* "name: value". */
static void write_line(char line[S3_LINE_MAX], const char *name, const char *value)
{
    size_t name_bytes = strlen(name), value_bytes = strlen(value);
    assert(name_bytes + 2 + value_bytes < S3_LINE_MAX);
    memcpy(line, name, name_bytes);
    memcpy(line + name_bytes, ": ", 2);
    memcpy(line + name_bytes + 2, value, value_bytes + 1);
}

/* Sixteen digits. */
static void write_hex(uint64_t value, char text[17])
{
    for (size_t i = 16; i-- > 0; value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
    text[16] = '\0';
}

static void forget_token(struct s3_request *request)
{
    if (request->session_token != NULL)
        OPENSSL_cleanse(request->session_token, strlen(request->session_token));
    free(request->session_token);
    request->session_token = NULL;
}

static void add_session_token(struct s3_request *request, const char *token)
{
    static const char name[] = "x-amz-security-token";
    forget_token(request);
    if (token[0] == '\0')
        return;
    int bytes = asprintf(&request->session_token, "%s: %s", name, token);
    assert(bytes > 0);
    add_signed(request, name, request->session_token);
}

static const char *method_of(enum store_verb verb)
{
    static const char *const methods[STORE_VERB_COUNT] = {
        [STORE_GET] = "GET",  [STORE_PUT] = "PUT",       [STORE_PUT_IF_ABSENT] = "PUT",
        [STORE_LIST] = "GET", [STORE_DELETE] = "DELETE",
    };
    assert(verb < STORE_VERB_COUNT);
    return methods[verb];
}

/* Lines that libcurl only reads, though its type does not say so. */
static char *constant_line(const char *line)
{
    return (char *)(uintptr_t)line;
}

/* libcurl looks through the lines for each header that it would add itself: these come first. */
static void take_away_headers(struct s3_request *request, enum store_verb verb)
{
    add_line(request, constant_line("Accept:"));
    if (verb == STORE_PUT || verb == STORE_PUT_IF_ABSENT)
        add_line(request, constant_line("Expect:"));
}

static void add_headers(struct s3_request *request, const struct s3_request_input *input,
                        const char time[SIGV4_TIME_MAX])
{
    const struct store_op *op = input->op;
    request->node_count = 0;
    take_away_headers(request, op->verb);
    request->signed_headers[0] = (struct sigv4_header){"host", input->address->host};
    request->signed_count = 1; /* libcurl sends it, the same as in the URL */
    write_line(request->date, "x-amz-date", time);
    add_signed(request, "x-amz-date", request->date);
    write_line(request->hash, "x-amz-content-sha256", input->payload_hash);
    add_signed(request, "x-amz-content-sha256", request->hash);
    add_session_token(request, input->credentials->session_token);
    if (op->verb == STORE_PUT || op->verb == STORE_PUT_IF_ABSENT) {
        char checksum[17];
        write_hex(input->checksum, checksum);
        write_line(request->checksum, "x-amz-meta-xxh3", checksum);
        add_signed(request, "x-amz-meta-xxh3", request->checksum);
    }
    if (op->verb == STORE_PUT_IF_ABSENT)
        add_signed(request, "if-none-match", constant_line("if-none-match: *"));
    if (input->range[0] != '\0') {
        write_line(request->range, "range", input->range);
        add_signed(request, "range", request->range);
    }
}

static void write_target(struct s3_request *request, const char *path, const char *query)
{
    size_t path_bytes = strlen(path), query_bytes = strlen(query);
    assert(path_bytes + 1 + query_bytes < sizeof(request->target));
    memcpy(request->target, path, path_bytes + 1);
    if (query_bytes == 0)
        return;
    request->target[path_bytes] = '?';
    memcpy(request->target + path_bytes + 1, query, query_bytes + 1);
}

void s3_request_build(struct s3_request *request, const struct s3_request_input *input)
{
    const struct store_op *op = input->op;
    const struct s3_address *address = input->address;
    char path[S3_PATH_MAX];
    char query[S3_QUERY_MAX];
    query[0] = '\0'; /* and not all of it */
    s3_address_path(address, op->verb == STORE_LIST ? "" : op->key, path);
    if (op->verb == STORE_LIST)
        s3_address_list_query(address, op->key, op->after, input->token, op->list_keys_max, query);
    request->tls = address->tls;
    memcpy(request->host, address->host, sizeof(request->host));
    write_target(request, path, query);

    struct sigv4_request to_sign = {
        .method = method_of(op->verb),
        .path = path,
        .query = query,
        .headers = request->signed_headers,
        .payload_hash = input->payload_hash,
    };
    sigv4_time(input->time_ns, to_sign.time);
    add_headers(request, input, to_sign.time);
    to_sign.header_count = request->signed_count;
    static const char name[] = "authorization: ";
    memcpy(request->authorization, name, sizeof(name));
    sigv4_sign(input->key, input->credentials->access_key, input->credentials->secret_key,
               address->region, &to_sign, request->authorization + sizeof(name) - 1);
    add_line(request, request->authorization);
}

void s3_request_deinit(struct s3_request *request)
{
    forget_token(request);
}
