/* s3_answer_headers_test.c - header lines: what is read of them, and what is not believed. */
#include <stdio.h>
#include <string.h>

#include "backend/s3_answer.h"
#include "tests/harness.h"

static void header_lines_are_read(void)
{
    static const char *const lines[] = {
        "HTTP/1.1 206 Partial: Content\r\n",
        "content-LENGTH:10\r\n",
        "Content-Range: bytes 20-29/100\r\n",
        "Date: Sat, 31 Jan 2026 10:00:00 GMT\r\n",
        "Retry-After:  7 \r\n",
        "X-Amz-Request-Id: abc\r\n",
        "x-amz-bucket-region: eu-west-1\r\n",
        "Location: http://h/p?q\r\n",
        "Content-Type: application/xml\r\n",
        "Content-Encoding: gzip\r\n",
        "ETag: \"0a1b\"\r\n",
        "x-amz-meta-xxh3: 0123456789abcDEF\r\n",
        "Transfer-Encoding: Chunked\r\n",
        "X-Other: 1\r\n",
        ": x\r\n",
        "nothing\r\n",
        "\r\n",
    };
    struct s3_headers headers;
    s3_headers_clear(&headers);
    for (size_t i = 0; i < HARNESS_COUNT(lines); i++)
        s3_headers_line(&headers, lines[i], strlen(lines[i]));
    CU_ASSERT_EQUAL(headers.content_length, 10);
    CU_ASSERT_EQUAL(headers.range_offset, 20);
    CU_ASSERT_EQUAL(headers.range_bytes, 10);
    CU_ASSERT_EQUAL(headers.object_bytes, 100);
    CU_ASSERT_EQUAL(headers.date_ns, INT64_C(1769853600) * NS_PER_S);
    CU_ASSERT_EQUAL(headers.retry_after_ns, 7 * NS_PER_S);
    CU_ASSERT_STRING_EQUAL(headers.request_id, "abc");
    CU_ASSERT_STRING_EQUAL(headers.region, "eu-west-1");
    CU_ASSERT_STRING_EQUAL(headers.location, "http://h/p?q");
    CU_ASSERT_STRING_EQUAL(headers.content_type, "application/xml");
    CU_ASSERT_STRING_EQUAL(headers.content_encoding, "gzip");
    CU_ASSERT_STRING_EQUAL(headers.etag, "0a1b");
    CU_ASSERT(headers.has_checksum);
    CU_ASSERT_EQUAL(headers.checksum, UINT64_C(0x0123456789abcdef));
    CU_ASSERT(headers.chunked);
    /* An answer after an interim one begins anew. */
    s3_headers_line(&headers, "HTTP/1.1 200 OK\r\n", 17);
    CU_ASSERT_EQUAL(headers.content_length, -1);
    CU_ASSERT_STRING_EQUAL(headers.etag, "");
}

static void odd_header_values_are_absent(void)
{
    static const char *const lines[] = {
        "Content-Length: -1\r\n",
        "Content-Length: 9223372036854775808\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length:\r\n",
        "Content-Length : 1\r\n",
        "Content-Range: bytes 5-4/9\r\n",
        "Content-Range: bytes 0-9/9\r\n",
        "Content-Range: items 0-1/9\r\n",
        "Content-Range: bytes 0-1\r\n",
        "Content-Range: bytes */\r\n",
        "Content-Range: bytes **/9\r\n",
        "Content-Range: bytes 0-9223372036854775807/9223372036854775807\r\n",
        "Date: yesterday\r\n",
        "Date: Fri, 11 Apr 2262 23:47:16 GMT\r\n",
        "Retry-After: -3\r\n",
        "Retry-After: 99999999999999\r\n",
        "Location: http://h/\x01x\r\n",
        "x-amz-bucket-region: eu west\x7f 1\r\n",
        "x-amz-meta-xxh3: 0123456789abcde\r\n",
        "x-amz-meta-xxh3: 0123456789abcdeg\r\n",
    };
    struct s3_headers clear;
    s3_headers_clear(&clear);
    for (size_t i = 0; i < HARNESS_COUNT(lines); i++) {
        struct s3_headers headers;
        s3_headers_clear(&headers);
        s3_headers_line(&headers, lines[i], strlen(lines[i]));
        bool absent = headers.content_length == -1 && headers.range_offset == -1 &&
                      headers.range_bytes == -1 && headers.object_bytes == -1 &&
                      headers.date_ns == -1 && headers.retry_after_ns == -1 &&
                      headers.location[0] == '\0' && headers.region[0] == '\0' &&
                      !headers.has_checksum;
        if (!absent)
            fprintf(stderr, "\n%s", lines[i]);
        CU_ASSERT(absent);
    }
    static const char *const etags[][2] = {
        {"ETag: \"a\"\r\n", "a"}, {"ETag: a\r\n", "a"},   {"ETag: W/\"a\"\r\n", "a"},
        {"ETag: \"\r\n", "\""},   {"ETag: \"\"\r\n", ""}, {"ETag: \"a-2\"\r\n", "a-2"}};
    for (size_t i = 0; i < HARNESS_COUNT(etags); i++) {
        s3_headers_line(&clear, etags[i][0], strlen(etags[i][0]));
        CU_ASSERT_STRING_EQUAL(clear.etag, etags[i][1]);
    }
}

const struct harness_test s3_answer_headers_tests[] = {
    HARNESS_TEST(header_lines_are_read),
    HARNESS_TEST(odd_header_values_are_absent),
    {0},
};
