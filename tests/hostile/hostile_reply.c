/* hostile_reply.c - see hostile_reply.h. */
#include "tests/hostile/hostile_reply.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK_BYTES 1000
#define STORED_MAX 65535

static const struct hostile_rule honest;

static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 204:
        return "No Content";
    case 206:
        return "Partial Content";
    case 412:
        return "Precondition Failed";
    default:
        return "Whatever";
    }
}

/* ---- gzip, of stored blocks (RFC 1951, 1952) ---- */

static uint32_t crc32_of(const char *data, size_t bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= (uint8_t)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

static void add_little(struct hostile_text *text, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        hostile_text_add(text, "%c", (int)(value >> (8 * i) & 0xff));
}

static void add_gzip(struct hostile_text *zipped, const struct hostile_text *plain)
{
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    hostile_text_add_bytes(zipped, head, sizeof(head));
    size_t at = 0;
    do {
        size_t bytes = plain->bytes - at < STORED_MAX ? plain->bytes - at : STORED_MAX;
        hostile_text_add(zipped, "%c", at + bytes == plain->bytes ? 1 : 0);
        add_little(zipped, (uint32_t)bytes, 2);
        add_little(zipped, ~(uint32_t)bytes, 2);
        hostile_text_add_bytes(zipped, plain->data + at, bytes);
        at += bytes;
    } while (at < plain->bytes);
    add_little(zipped, crc32_of(plain->data, plain->bytes), 4);
    add_little(zipped, (uint32_t)plain->bytes, 4);
}

static void add_chunks(struct hostile_text *chunked, const struct hostile_text *plain)
{
    for (size_t at = 0; at < plain->bytes; at += CHUNK_BYTES) {
        size_t bytes = plain->bytes - at < CHUNK_BYTES ? plain->bytes - at : CHUNK_BYTES;
        hostile_text_add(chunked, "%zx\r\n", bytes);
        hostile_text_add_bytes(chunked, plain->data + at, bytes);
        hostile_text_add(chunked, "\r\n");
    }
    hostile_text_add(chunked, "0\r\n\r\n");
}

/* ---- the whole ---- */

static void add_date(struct hostile_text *bytes, int64_t clock_ahead_ns)
{
    char date[64];
    time_t now = time(NULL) + (time_t)(clock_ahead_ns / NS_PER_S);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    hostile_text_add(bytes, "Date: %s\r\n", date);
}

static void add_coded(struct hostile_text *bytes, const struct hostile_rule *rule,
                      const struct hostile_text *body)
{
    struct hostile_text coded = {0};
    switch (rule->coding) {
    case HOSTILE_LENGTH:
        hostile_text_add_bytes(&coded, body->data, body->bytes);
        break;
    case HOSTILE_CHUNKED:
        hostile_text_add(bytes, "Transfer-Encoding: chunked\r\n\r\n");
        add_chunks(&coded, body);
        break;
    case HOSTILE_GZIP:
        hostile_text_add(bytes, "Content-Encoding: gzip\r\n");
        add_gzip(&coded, body);
        break;
    case HOSTILE_UNTIL_END:
        hostile_text_add(bytes, "\r\n");
        hostile_text_add_bytes(&coded, body->data, body->bytes);
        break;
    }
    if (rule->coding == HOSTILE_LENGTH || rule->coding == HOSTILE_GZIP)
        hostile_text_add(bytes, "Content-Length: %" PRId64 "\r\n\r\n",
                         (int64_t)coded.bytes + rule->length_off);
    hostile_text_add_bytes(bytes, coded.data, coded.bytes);
    hostile_text_free(&coded);
}

void hostile_reply_add(struct hostile_text *bytes, const struct hostile_reply_frame *frame,
                       const struct hostile_answer *answer)
{
    const struct hostile_rule *rule = frame->rule != NULL ? frame->rule : &honest;
    struct hostile_text body = {0};
    hostile_text_add_bytes(&body, answer->body.data, answer->body.bytes);
    if (rule->flip && body.bytes > 0)
        body.data[body.bytes / 2] ^= 1;
    hostile_text_add(bytes, "HTTP/1.1 %d %s\r\nServer: hostile\r\n", answer->status,
                     reason_of(answer->status));
    add_date(bytes, frame->clock_ahead_ns);
    hostile_text_add(bytes, "x-amz-request-id: hostile-%" PRIu64 "\r\n", frame->number);
    hostile_text_add_bytes(bytes, answer->headers.data, answer->headers.bytes);
    if (rule->headers != NULL)
        hostile_text_add(bytes, "%s", rule->headers);
    if (rule->redirect != NULL)
        hostile_text_add(bytes, "Location: %s%s\r\n", rule->redirect, frame->target);
    if (frame->closing)
        hostile_text_add(bytes, "Connection: close\r\n");
    if (answer->status == 204)
        hostile_text_add(bytes, "\r\n");
    else
        add_coded(bytes, rule, &body);
    hostile_text_free(&body);
}
