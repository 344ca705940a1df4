/* s3_target.c - what an S3 server sends: documents, header lines, and the verdict on both. */
#include <string.h>

#include "backend/s3_answer.h"
#include "backend/s3_xml.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define PREFIX "run/"

void fuzz_s3_xml(const uint8_t *data, size_t size);
void fuzz_s3_headers(const uint8_t *data, size_t size);

static void check_line(const char *text, size_t capacity)
{
    assert(memchr(text, '\0', capacity) != NULL);
    for (; *text != '\0'; text++)
        assert(*text >= ' ' && *text <= '~');
}

static void check_error(const struct s3_error *error)
{
    check_line(error->code, sizeof(error->code));
    check_line(error->message, sizeof(error->message));
    check_line(error->request_id, sizeof(error->request_id));
    check_line(error->region, sizeof(error->region));
    check_line(error->endpoint, sizeof(error->endpoint));
    check_line(error->server_time, sizeof(error->server_time));
    assert(error->object_bytes >= -1);
}

static void check_page(const struct list_page *page)
{
    assert(page->count <= STORE_LIST_KEYS_MAX);
    for (size_t i = 0; i < page->count; i++) {
        const char *key = list_page_key(page, i);
        assert(key[0] != '\0' && strlen(key) < STORE_KEY_MAX);
        assert(i == 0 || strcmp(list_page_key(page, i - 1), key) < 0);
        assert(page->object_bytes[i] <= INT64_MAX);
    }
}

void fuzz_s3_xml(const uint8_t *data, size_t size)
{
    struct s3_error error;
    struct list_page page = {0};
    struct s3_list_result result;
    char why[STORE_ERROR_MAX];
    enum s3_xml read = s3_xml_error(data, size, &error);
    assert(read == S3_XML_OK || error.code[0] == '\0');
    check_error(&error);
    read = s3_xml_list(data, size, PREFIX, &page, &result, why);
    assert((read == S3_XML_OK) == (why[0] == '\0'));
    assert(read != S3_XML_OK || !result.truncated || result.token[0] != '\0');
    check_page(&page);
    /* The same page again, behind the first: never in order, unless there was nothing. */
    if (read == S3_XML_OK && page.count > 0) {
        read = s3_xml_list(data, size, PREFIX, &page, &result, why);
        assert(read == S3_XML_MALFORMED);
        check_page(&page);
    }
    list_page_deinit(&page);
}

static void check_verdict(const struct s3_answer *answer)
{
    struct s3_verdict verdict;
    char text[STORE_ERROR_MAX];
    s3_answer_judge(answer, &verdict, text);
    check_line(text, sizeof(text));
    check_error(&verdict.error);
    bool told = verdict.outcome == STORE_UNKNOWN || verdict.outcome == STORE_FAILED;
    assert(told == (text[0] != '\0'));
    if (answer->verb != STORE_PUT_IF_ABSENT)
        return;
    assert(verdict.step != S3_STEP_AGAIN || answer->sent == S3_NOT_SENT);
    assert(verdict.outcome != STORE_OK ||
           (answer->transport == S3_TRANSPORT_OK && answer->status / 100 == 2));
    assert(verdict.outcome != STORE_FAILED || answer->sent == S3_NOT_SENT ||
           answer->status / 100 != 2);
}

/* Three bytes of the answer, then header lines to an empty one, then the body. */
void fuzz_s3_headers(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.data = data, .size = size};
    struct s3_headers headers;
    s3_headers_clear(&headers);
    uint8_t form = fuzz_byte(&input);
    struct s3_answer answer = {
        .verb = form % STORE_VERB_COUNT,
        .sent = form & 0x40 ? S3_NOT_SENT : S3_MAYBE_SENT,
        .range = (form & 0x80) != 0,
        .headers = &headers,
        .bucket = "bucket",
        .key = PREFIX "key",
        .endpoint = "http://h",
        .region = "here",
        .transport_text = "",
    };
    answer.transport = fuzz_byte(&input) % (S3_TRANSPORT_TOO_LARGE + 1);
    answer.status = 2 * fuzz_byte(&input) + 100 + (form >> 5) % 2;
    while (!fuzz_ended(&input)) {
        const uint8_t *line = data + input.at;
        const uint8_t *end = memchr(line, '\n', size - input.at);
        size_t bytes = end != NULL ? (size_t)(end + 1 - line) : size - input.at;
        input.at += bytes;
        s3_headers_line(&headers, (const char *)line, bytes);
        if (bytes <= 2)
            break;
    }
    assert(headers.content_length >= -1 && headers.object_bytes >= -1);
    assert((headers.range_offset < 0) == (headers.range_bytes < 0));
    assert(headers.range_bytes < 0 || headers.range_bytes > 0);
    assert(headers.date_ns >= -1 && headers.retry_after_ns >= -1);
    check_line(headers.request_id, sizeof(headers.request_id));
    check_line(headers.location, sizeof(headers.location));
    check_line(headers.content_type, sizeof(headers.content_type));
    answer.body = data + input.at;
    answer.body_bytes = size - input.at;
    check_verdict(&answer);
}
