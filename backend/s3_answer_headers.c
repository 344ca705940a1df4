/* s3_answer_headers.c - header lines of an answer (s3_answer.h). One row for each header that
 * decides something; dates are libcurl's to read. Ours. */
#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_answer.h"
#include "backend/s3_text.h"

#define VALUE_MAX 2048 /* longer ones are cut */
#define SECONDS_MAX (INT64_MAX / NS_PER_S)
#define DATE_SECONDS_MAX INT64_C(7258118400) /* 2200: times are added to it */

static void take_number(const char *value, size_t bytes, uint64_t max, int64_t *number)
{
    uint64_t read;
    *number = s3_text_number(value, bytes, max, &read) ? (int64_t)read : -1;
}

static void take_length(struct s3_headers *headers, const char *value)
{
    take_number(value, strlen(value), INT64_MAX, &headers->content_length);
}

/* "bytes 0-9/10", "bytes 0-9/" and a star, or "bytes", a star and "/10". */
static void take_range(struct s3_headers *headers, const char *value)
{
    static const char unit[] = "bytes ";
    headers->range_offset = headers->range_bytes = headers->object_bytes = -1;
    const char *slash = strchr(value, '/');
    if (strncasecmp(value, unit, sizeof(unit) - 1) != 0 || slash == NULL)
        return;
    value += sizeof(unit) - 1;
    int64_t total, first, last;
    take_number(slash + 1, strlen(slash + 1), INT64_MAX, &total);
    const char *dash = memchr(value, '-', (size_t)(slash - value));
    if (dash != NULL) {
        take_number(value, (size_t)(dash - value), INT64_MAX, &first);
        take_number(dash + 1, (size_t)(slash - dash - 1), INT64_MAX - 1, &last);
        if (first < 0 || last < first || (total >= 0 && last >= total))
            return;
        headers->range_offset = first;
        headers->range_bytes = last - first + 1;
    } else if (slash != value + 1 || *value != '*') {
        return;
    }
    headers->object_bytes = total;
}

static void take_date(struct s3_headers *headers, const char *value)
{
    time_t seconds = curl_getdate(value, NULL);
    headers->date_ns = seconds < 0 || seconds > DATE_SECONDS_MAX ? -1 : seconds * NS_PER_S;
}

static void take_retry_after(struct s3_headers *headers, const char *value)
{
    int64_t seconds;
    take_number(value, strlen(value), (uint64_t)SECONDS_MAX, &seconds);
    headers->retry_after_ns = seconds < 0 ? -1 : seconds * NS_PER_S;
}

static void take_request_id(struct s3_headers *headers, const char *value)
{
    s3_text_copy_whole(value, strlen(value), headers->request_id, sizeof(headers->request_id));
}

static void take_region(struct s3_headers *headers, const char *value)
{
    s3_text_copy_whole(value, strlen(value), headers->region, sizeof(headers->region));
}

static void take_location(struct s3_headers *headers, const char *value)
{
    s3_text_copy_whole(value, strlen(value), headers->location, sizeof(headers->location));
}

static void take_content_type(struct s3_headers *headers, const char *value)
{
    s3_text_copy(value, strlen(value), headers->content_type, sizeof(headers->content_type));
}

static void take_content_encoding(struct s3_headers *headers, const char *value)
{
    s3_text_copy(value, strlen(value), headers->content_encoding,
                 sizeof(headers->content_encoding));
}

static void take_transfer_encoding(struct s3_headers *headers, const char *value)
{
    headers->chunked = strcasecmp(value, "chunked") == 0;
}

static void take_etag(struct s3_headers *headers, const char *value)
{
    size_t bytes = strlen(value);
    if (strncmp(value, "W/", 2) == 0) {
        value += 2;
        bytes -= 2;
    }
    if (bytes >= 2 && value[0] == '"' && value[bytes - 1] == '"') {
        value++;
        bytes -= 2;
    }
    s3_text_copy_whole(value, bytes, headers->etag, sizeof(headers->etag));
}

static void take_checksum(struct s3_headers *headers, const char *value)
{
    headers->checksum = 0;
    headers->has_checksum = strlen(value) == 16;
    for (; headers->has_checksum && *value != '\0'; value++) {
        int digit = s3_text_digit(*value);
        headers->has_checksum = digit >= 0;
        headers->checksum = headers->checksum << 4 | (uint64_t)(digit >= 0 ? digit : 0);
    }
}

static const struct {
    const char *name;
    void (*take)(struct s3_headers *headers, const char *value);
} rows[] = {
    {"content-length", take_length},
    {"content-range", take_range},
    {"date", take_date},
    {"retry-after", take_retry_after},
    {"x-amz-request-id", take_request_id},
    {"x-amz-bucket-region", take_region},
    {"location", take_location},
    {"content-type", take_content_type},
    {"content-encoding", take_content_encoding},
    {"transfer-encoding", take_transfer_encoding},
    {"etag", take_etag},
    {"x-amz-meta-xxh3", take_checksum},
};

void s3_headers_clear(struct s3_headers *headers)
{
    *headers = (struct s3_headers){
        .content_length = -1,
        .object_bytes = -1,
        .range_offset = -1,
        .range_bytes = -1,
        .date_ns = -1,
        .retry_after_ns = -1,
    };
}

/* Without the blanks around it. */
static void copy_value(const char *text, size_t bytes, char value[VALUE_MAX])
{
    while (bytes > 0 && (unsigned char)text[bytes - 1] <= ' ')
        bytes--;
    while (bytes > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        bytes--;
    }
    bytes = bytes < VALUE_MAX ? bytes : VALUE_MAX - 1;
    memcpy(value, text, bytes);
    value[bytes] = '\0';
}

void s3_headers_line(struct s3_headers *headers, const char *line, size_t bytes)
{
    static const char status[] = "HTTP/";
    if (bytes >= sizeof(status) - 1 && memcmp(line, status, sizeof(status) - 1) == 0) {
        s3_headers_clear(headers);
        return;
    }
    const char *colon = bytes > 0 ? memchr(line, ':', bytes) : NULL;
    if (colon == NULL)
        return;
    size_t name_bytes = (size_t)(colon - line);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i].name) != name_bytes || strncasecmp(line, rows[i].name, name_bytes) != 0)
            continue;
        char value[VALUE_MAX];
        copy_value(colon + 1, bytes - name_bytes - 1, value);
        rows[i].take(headers, value);
        return;
    }
}
