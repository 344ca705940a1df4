/* s3_receive.c - the answer of an exchange as it comes in, and where it stops: headers, an error's
 * document and a body are each held against what they may be before they are kept, so that no
 * server, and no object, costs more memory than that. Ours, on libcurl's callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_client_private.h"

#define ANSWER_BYTES_FIRST ((uint64_t)4 << 10)
#define ANSWER_BYTES_TRUSTED ((uint64_t)64 << 20) /* allocated because a server said so */

static const struct object_bound any_object = {.bytes_max = S3_OBJECT_BYTES_MAX};

int s3_receive_status(const struct s3_exchange *exchange)
{
    long status = 0;
    CURLcode code = curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    assert(code == CURLE_OK);
    return status > 0 && status < 1000 ? (int)status : 0;
}

static bool succeeds(const struct s3_exchange *exchange)
{
    return exchange->status / 100 == 2;
}

/* The whole of an object of which a part was asked for. */
static bool is_cut(const struct s3_exchange *exchange)
{
    return exchange->status == 200 && (exchange->skip_bytes > 0 || exchange->keep_bytes > 0);
}

/* Ends it: `bytes` came, or would. False. */
static bool refuse(struct s3_exchange *exchange, const struct object_bound *bound, uint64_t bytes,
                   const uint8_t *head)
{
    object_bound_text(bound, bytes, head, exchange->refused);
    exchange->too_large = true;
    return false;
}

/* ---- headers ---- */

static void take_date(struct s3_exchange *exchange, const char *line, size_t bytes)
{
    struct s3_client *client = exchange->client;
    if (bytes != client->date_bytes || memcmp(line, client->date, bytes) != 0) {
        s3_headers_line(&exchange->answer_headers, line, bytes);
        client->date_ns = exchange->answer_headers.date_ns;
        client->date_bytes = bytes;
        memcpy(client->date, line, bytes);
    }
    exchange->answer_headers.date_ns = client->date_ns;
}

/* The headers are over. False: what they say that follows may not. */
static bool begin_body(struct s3_exchange *exchange)
{
    int64_t length = exchange->answer_headers.content_length;
    exchange->status = s3_receive_status(exchange);
    exchange->answer_limit = S3_ERROR_BYTES_MAX;
    if (!succeeds(exchange))
        return true;
    exchange->answer_limit = object_bound_limit(&exchange->bound, NULL);
    if (is_cut(exchange) && exchange->keep_bytes > 0)
        exchange->answer_limit = exchange->keep_bytes;
    const struct object_bound *bound = is_cut(exchange) ? &any_object : &exchange->bound;
    return length < 0 || object_bound_fits(bound, (uint64_t)length, NULL) ||
           refuse(exchange, bound, (uint64_t)length, NULL);
}

size_t s3_receive_header(char *line, size_t size, size_t count, void *context)
{
    struct s3_exchange *exchange = context;
    size_t bytes = size * count;
    exchange->header_bytes += bytes;
    if (exchange->header_bytes > S3_HEADER_BYTES_MAX) {
        snprintf(exchange->refused, sizeof(exchange->refused), "more than %zu bytes of headers",
                 S3_HEADER_BYTES_MAX);
        exchange->too_large = true;
        return 0;
    }
    if (bytes > 5 && memcmp(line, "HTTP/", 5) == 0)
        exchange->status = 0; /* an interim answer (100) may have come before */
    if (bytes > 5 && bytes <= S3_DATE_BYTES_MAX && strncasecmp(line, "Date:", 5) == 0)
        take_date(exchange, line, bytes);
    else
        s3_headers_line(&exchange->answer_headers, line, bytes);
    bool blank = bytes > 0 && (line[0] == '\r' || line[0] == '\n');
    if (blank && exchange->status == 0 && !begin_body(exchange))
        return 0;
    return bytes;
}

/* ---- the body ---- */

/* Grown from small ones, a long answer would leave all of these in the heap, about as much as half
 * of it; a first piece as long as is trusted is mapped, and grows without being copied. */
static void reserve_answer(struct s3_exchange *exchange, uint64_t bytes)
{
    if (bytes <= exchange->answer_capacity)
        return;
    int64_t length = exchange->answer_headers.content_length;
    uint64_t trusted = length > 0 ? (uint64_t)length : 0;
    if (length < 0 && exchange->judged && exchange->answer_limit > OBJECT_SMALL_BYTES)
        trusted = exchange->answer_limit;
    if (trusted > ANSWER_BYTES_TRUSTED)
        trusted = ANSWER_BYTES_TRUSTED;
    uint64_t capacity = trusted >= bytes ? trusted : 2 * exchange->answer_capacity;
    if (capacity < ANSWER_BYTES_FIRST)
        capacity = ANSWER_BYTES_FIRST;
    while (capacity < bytes)
        capacity *= 2;
    if (capacity > exchange->answer_limit)
        capacity = exchange->answer_limit;
    assert(capacity >= bytes);
    exchange->answer = realloc(exchange->answer, capacity);
    assert(exchange->answer != NULL);
    exchange->answer_capacity = capacity;
}

static void append(struct s3_exchange *exchange, const uint8_t *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    reserve_answer(exchange, exchange->answer_bytes + bytes);
    memcpy(exchange->answer + exchange->answer_bytes, data, bytes);
    exchange->answer_bytes += bytes;
}

/* Judges the body by its head, once that is there: in the first piece, or among what came before.
 */
static bool judge_head(struct s3_exchange *exchange, const uint8_t *data, uint64_t bytes)
{
    const struct object_bound *bound = &exchange->bound;
    int64_t length = exchange->answer_headers.content_length;
    const uint8_t *head = exchange->answer_bytes == 0 ? data : exchange->answer;
    uint64_t head_bytes = exchange->answer_bytes == 0 ? bytes : exchange->answer_bytes;
    if (bound->claimed == NULL || exchange->judged || head_bytes < OBJECT_HEAD_BYTES)
        return true;
    exchange->judged = true;
    exchange->answer_limit = object_bound_limit(bound, head);
    return length < 0 || object_bound_fits(bound, (uint64_t)length, head) ||
           refuse(exchange, bound, (uint64_t)length, head);
}

static bool take_body(struct s3_exchange *exchange, const uint8_t *data, uint64_t bytes)
{
    if (!judge_head(exchange, data, bytes))
        return false;
    if (bytes > exchange->answer_limit - exchange->answer_bytes) {
        const uint8_t *head = exchange->judged ? exchange->answer : NULL;
        return refuse(exchange, &exchange->bound, exchange->answer_bytes + bytes, head);
    }
    append(exchange, data, bytes);
    return true;
}

/* Of a piece of the whole object, what lies in the part. */
static bool take_cut(struct s3_exchange *exchange, const uint8_t *data, uint64_t bytes)
{
    uint64_t begin = exchange->came_bytes - bytes;
    if (!object_bound_fits(&any_object, exchange->came_bytes, NULL))
        return refuse(exchange, &any_object, exchange->came_bytes, NULL);
    uint64_t skip = exchange->skip_bytes > begin ? exchange->skip_bytes - begin : 0;
    if (skip >= bytes)
        return true;
    uint64_t kept = bytes - skip;
    if (exchange->keep_bytes > 0 && kept > exchange->keep_bytes - exchange->answer_bytes)
        kept = exchange->keep_bytes - exchange->answer_bytes;
    return take_body(exchange, data + skip, kept);
}

static bool take_error(struct s3_exchange *exchange, const uint8_t *data, uint64_t bytes)
{
    uint64_t room = S3_ERROR_BYTES_MAX - exchange->answer_bytes;
    append(exchange, data, bytes < room ? bytes : room);
    if (exchange->came_bytes <= S3_ERROR_BYTES_READ)
        return true;
    snprintf(exchange->refused, sizeof(exchange->refused), "an error of more than %llu bytes",
             (unsigned long long)S3_ERROR_BYTES_READ);
    return false;
}

size_t s3_receive_body(char *text, size_t size, size_t count, void *context)
{
    struct s3_exchange *exchange = context;
    const uint8_t *data = (const uint8_t *)text;
    uint64_t bytes = size * count;
    bool taken;
    if (exchange->status == 0 && !begin_body(exchange))
        return 0;
    exchange->came_bytes += bytes;
    if (!succeeds(exchange))
        taken = take_error(exchange, data, bytes);
    else if (is_cut(exchange))
        taken = take_cut(exchange, data, bytes);
    else
        taken = take_body(exchange, data, bytes);
    return taken ? bytes : 0;
}

void s3_receive_clear(struct s3_exchange *exchange)
{
    exchange->status = 0;
    exchange->text[0] = '\0';
    exchange->refused[0] = '\0';
    exchange->too_large = false;
    exchange->judged = false;
    exchange->answer_bytes = 0;
    exchange->answer_limit = 0;
    exchange->came_bytes = 0;
    exchange->header_bytes = 0;
    s3_headers_clear(&exchange->answer_headers);
    if (exchange->answer_capacity > S3_ANSWER_BYTES_KEPT) {
        free(exchange->answer);
        exchange->answer = NULL;
        exchange->answer_capacity = 0;
    }
}
