/* hostile_answer.c - see hostile_answer.h. */
#include "tests/hostile/hostile_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEYS_MAX 1000

void hostile_answer_free(struct hostile_answer *answer)
{
    hostile_text_free(&answer->headers);
    hostile_text_free(&answer->body);
}

void hostile_answer_error(struct hostile_answer *answer, int status, const char *code,
                          const char *message)
{
    answer->status = status;
    hostile_text_add(&answer->headers, "Content-Type: application/xml\r\n");
    hostile_text_add(&answer->body,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code>"
                     "<Message>%s</Message><RequestId>hostile-request</RequestId></Error>",
                     code, message);
}

/* ---- reading the target ---- */

char *hostile_answer_parameter(const char *target, const char *name)
{
    const char *at = strchr(target, '?');
    size_t name_bytes = strlen(name);
    while (at != NULL) {
        at++;
        if (strncmp(at, name, name_bytes) == 0 && at[name_bytes] == '=') {
            const char *value = at + name_bytes + 1;
            return hostile_text_decode(value, strcspn(value, "&"));
        }
        at = strchr(at, '&');
    }
    return NULL;
}

static enum hostile_verb verb_of(const struct hostile_request *request, int listed)
{
    char value[256];
    if (strcmp(request->method, "GET") == 0 && listed)
        return strstr(request->target, "list-type=2") != NULL ? HOSTILE_LIST : HOSTILE_OTHER;
    if (request->key[0] == '\0')
        return HOSTILE_OTHER;
    if (strcmp(request->method, "GET") == 0)
        return HOSTILE_GET;
    if (strcmp(request->method, "DELETE") == 0)
        return HOSTILE_DELETE;
    if (strcmp(request->method, "PUT") != 0)
        return HOSTILE_OTHER;
    bool condition = hostile_request_header(request, "if-none-match", value, sizeof(value));
    return condition ? HOSTILE_CREATE : HOSTILE_PUT;
}

/* Path style, or the bucket in front of the host. */
void hostile_answer_classify(struct hostile_request *request, const char *bucket)
{
    char host[256] = "";
    (void)hostile_request_header(request, "host", host, sizeof(host));
    char *path = hostile_text_decode(request->target, strcspn(request->target, "?"));
    const char *below = path + (path[0] == '/');
    size_t bytes = strlen(bucket);
    const char *key = "";
    bool listed = strncmp(below, bucket, bytes) == 0 && below[bytes] == '\0';
    if (strncmp(host, bucket, bytes) == 0 && host[bytes] == '.') {
        key = below;
        listed = key[0] == '\0';
    } else if (strncmp(below, bucket, bytes) == 0 && below[bytes] == '/') {
        key = below + bytes + 1;
    }
    snprintf(request->key, sizeof(request->key), "%s", key);
    request->verb = verb_of(request, listed);
    free(path);
    if (request->verb != HOSTILE_LIST)
        return;
    char *prefix = hostile_answer_parameter(request->target, "prefix");
    snprintf(request->key, sizeof(request->key), "%s", prefix != NULL ? prefix : "");
    free(prefix);
}

/* ---- GET ---- */

/* False: the range cannot be satisfied. Without a range, the whole. */
static bool range_of(const struct hostile_request *request, size_t size, size_t *first,
                     size_t *bytes, bool *ranged)
{
    char value[128];
    uint64_t from, to;
    *first = 0;
    *bytes = size;
    *ranged = hostile_request_header(request, "range", value, sizeof(value));
    if (!*ranged)
        return true;
    int parsed = sscanf(value, "bytes=%" SCNu64 "-%" SCNu64, &from, &to);
    assert(parsed >= 1); /* suffixes are not used */
    if (from >= size)
        return false;
    if (parsed == 1 || to >= size)
        to = size - 1;
    *first = from;
    *bytes = to - from + 1;
    return true;
}

static void get(struct hostile_objects *objects, const struct hostile_request *request,
                struct hostile_answer *answer)
{
    const struct hostile_object *object = hostile_objects_find(objects, request->key);
    if (object == NULL) {
        hostile_answer_error(answer, 404, "NoSuchKey", "The specified key does not exist.");
        return;
    }
    size_t first, bytes;
    bool ranged;
    if (!range_of(request, object->bytes, &first, &bytes, &ranged)) {
        hostile_text_add(&answer->headers, "Content-Range: bytes */%zu\r\n", object->bytes);
        hostile_answer_error(answer, 416, "InvalidRange", "The requested range is not satisfiable");
        return;
    }
    answer->status = ranged ? 206 : 200;
    if (ranged)
        hostile_text_add(&answer->headers, "Content-Range: bytes %zu-%zu/%zu\r\n", first,
                         first + bytes - 1, object->bytes);
    hostile_text_add(&answer->headers, "Content-Type: application/octet-stream\r\n%s",
                     object->meta);
    hostile_text_add_bytes(&answer->body, object->data + first, bytes);
}

/* ---- PUT ---- */

/* The x-amz-meta headers, as lines. */
static void add_meta(struct hostile_text *meta, const struct hostile_request *request)
{
    hostile_text_add(meta, "%s", "");
    for (const char *line = strchr(request->head, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, "x-amz-meta-", 11) == 0)
            hostile_text_add(meta, "%.*s\r\n", (int)strcspn(line, "\r\n"), line);
    }
}

static void put(struct hostile_objects *objects, const struct hostile_request *request,
                const struct hostile_rule *rule, const uint8_t *body, struct hostile_answer *answer)
{
    char condition[64];
    bool conditional =
        hostile_request_header(request, "if-none-match", condition, sizeof(condition));
    if (conditional && strcmp(condition, "*") != 0) {
        hostile_answer_error(answer, 501, "NotImplemented", "only the bare star is understood");
        return;
    }
    bool there = hostile_objects_find(objects, request->key) != NULL;
    bool ignored = rule != NULL && rule->apply == HOSTILE_APPLY_ALWAYS;
    if (conditional && there && !ignored) {
        hostile_answer_error(answer, 412, "PreconditionFailed",
                             "At least one of the pre-conditions you specified did not hold");
        return;
    }
    struct hostile_text meta = {0};
    add_meta(&meta, request);
    hostile_objects_put(objects, request->key, body, request->body_bytes, meta.data);
    hostile_text_free(&meta);
    answer->status = 200;
    hostile_text_add(&answer->headers, "ETag: \"%.32s\"\r\n", request->body_hash);
}

/* ---- LIST ---- */

/* As AWS: percent-encoded, a blank as '+'. */
static void add_listed_key(struct hostile_text *body, const char *key)
{
    struct hostile_text encoded = {0};
    hostile_text_add(&encoded, "%s", "");
    hostile_text_add_encoded(&encoded, key, HOSTILE_SLASH_KEEP);
    for (char *c = encoded.data; *c != '\0'; c++) {
        if (strncmp(c, "%20", 3) == 0) {
            hostile_text_add(body, "+");
            c += 2;
        } else {
            hostile_text_add_bytes(body, c, 1);
        }
    }
    hostile_text_free(&encoded);
}

/* A token is the key before the page, in hex: opaque, and of plain characters. */
static void add_token(struct hostile_text *body, const char *key)
{
    hostile_text_add(body, "<NextContinuationToken>");
    for (const char *c = key; *c != '\0'; c++)
        hostile_text_add(body, "%02x", (unsigned char)*c);
    hostile_text_add(body, "</NextContinuationToken>");
}

static char *token_key(const char *token)
{
    struct hostile_text key = {0};
    hostile_text_add(&key, "%s", "");
    for (const char *c = token; c[0] != '\0'; c += 2) {
        unsigned value;
        int parsed = sscanf(c, "%2x", &value);
        assert(parsed == 1 && c[1] != '\0');
        hostile_text_add(&key, "%c", (int)value);
    }
    return key.data;
}

struct listing {
    char *prefix;
    char *after;
    size_t keys_max;
    const char *first_key; /* below the prefix: of a token that is repeated */
    const char *last_key;  /* on the page */
    size_t count;
    bool truncated;
};

static void listing_open(struct listing *listing, const char *target, size_t page_keys)
{
    *listing = (struct listing){.keys_max = page_keys > 0 ? page_keys : KEYS_MAX};
    listing->prefix = hostile_answer_parameter(target, "prefix");
    listing->after = hostile_answer_parameter(target, "start-after");
    char *token = hostile_answer_parameter(target, "continuation-token");
    char *keys_max = hostile_answer_parameter(target, "max-keys");
    if (token != NULL) { /* goes before start-after */
        free(listing->after);
        listing->after = token_key(token);
    }
    if (keys_max != NULL) {
        size_t asked = strtoul(keys_max, NULL, 10);
        listing->keys_max = asked < listing->keys_max ? asked : listing->keys_max;
    }
    free(token);
    free(keys_max);
}

static void listing_fill(struct listing *listing, const struct hostile_objects *objects,
                         struct hostile_text *body)
{
    const char *prefix = listing->prefix != NULL ? listing->prefix : "";
    const char *after = listing->after != NULL ? listing->after : "";
    size_t prefix_bytes = strlen(prefix);
    size_t at = hostile_objects_at(objects, prefix);
    if (at < objects->count)
        listing->first_key = objects->items[at].key;
    if (strcmp(after, prefix) > 0)
        at = hostile_objects_at(objects, after);
    for (; at < objects->count; at++) {
        const struct hostile_object *object = &objects->items[at];
        if (strncmp(object->key, prefix, prefix_bytes) != 0)
            break;
        if (strcmp(object->key, after) <= 0)
            continue;
        if (listing->count == listing->keys_max) {
            listing->truncated = true;
            break;
        }
        hostile_text_add(body, "<Contents><Key>");
        add_listed_key(body, object->key);
        hostile_text_add(body,
                         "</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                         "<ETag>&quot;0&quot;</ETag><Size>%zu</Size>"
                         "<StorageClass>STANDARD</StorageClass></Contents>",
                         object->bytes);
        listing->count++;
        listing->last_key = object->key;
    }
}

static void list(const struct hostile_objects *objects, const struct hostile_request *request,
                 const struct hostile_rule *rule, size_t page_keys, struct hostile_answer *answer)
{
    enum hostile_token token = rule != NULL ? rule->token : HOSTILE_TOKEN_TRUE;
    struct listing listing;
    listing_open(&listing, request->target, page_keys);
    struct hostile_text *body = &answer->body;
    hostile_text_add(body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
                           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                           "<EncodingType>url</EncodingType>");
    if (token == HOSTILE_TOKEN_EMPTY)
        listing.keys_max = 0;
    listing_fill(&listing, objects, body);
    hostile_text_add(body, "<KeyCount>%zu</KeyCount><MaxKeys>%zu</MaxKeys>", listing.count,
                     listing.keys_max);
    const char *next = token == HOSTILE_TOKEN_TRUE ? listing.last_key : listing.first_key;
    bool truncated = listing.truncated || (token != HOSTILE_TOKEN_TRUE && next != NULL);
    hostile_text_add(body, "<IsTruncated>%s</IsTruncated>", truncated ? "true" : "false");
    if (truncated && token != HOSTILE_TOKEN_MISSING)
        add_token(body, next);
    hostile_text_add(body, "</ListBucketResult>");
    hostile_text_add(&answer->headers, "Content-Type: application/xml\r\n");
    answer->status = 200;
    free(listing.prefix);
    free(listing.after);
}

void hostile_answer_make(struct hostile_objects *objects, const struct hostile_request *request,
                         const struct hostile_rule *rule, const uint8_t *body, size_t page_keys,
                         struct hostile_answer *answer)
{
    switch (request->verb) {
    case HOSTILE_GET:
        get(objects, request, answer);
        return;
    case HOSTILE_PUT:
    case HOSTILE_CREATE:
        put(objects, request, rule, body, answer);
        return;
    case HOSTILE_LIST:
        list(objects, request, rule, page_keys, answer);
        return;
    case HOSTILE_DELETE:
        (void)hostile_objects_delete(objects, request->key);
        answer->status = 204;
        return;
    case HOSTILE_OTHER:
        hostile_answer_error(answer, 404, "NoSuchBucket", "The specified bucket does not exist");
        return;
    case HOSTILE_ANY:
        break;
    }
    assert(request->verb != HOSTILE_ANY);
}
