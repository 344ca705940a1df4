/* hostile_signature.c - see hostile_signature.h. */
#include "tests/hostile/hostile_signature.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/hostile/hostile_text.h"

#define PARAMETERS_MAX 32

/* The three parts of the Authorization header, and what the credential is made of. */
struct claim {
    char access_key[160];
    char day[16];
    char region[64];
    char signed_headers[1024];
    char signature[128];
};

static bool part_of(const char *text, const char *name, const char *end, char *value,
                    size_t capacity)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        return false;
    at += strlen(name);
    size_t bytes = strcspn(at, end);
    snprintf(value, capacity, "%.*s", (int)bytes, at);
    return bytes > 0 && bytes < capacity;
}

static bool claim_parse(const char *authorization, struct claim *claim)
{
    char scope[256];
    if (strncmp(authorization, "AWS4-HMAC-SHA256 ", 17) != 0 ||
        !part_of(authorization, "Credential=", ",", scope, sizeof(scope)) ||
        !part_of(authorization, "SignedHeaders=", ",", claim->signed_headers,
                 sizeof(claim->signed_headers)) ||
        !part_of(authorization, "Signature=", ", ", claim->signature, sizeof(claim->signature)))
        return false;
    char service[32];
    int parsed = sscanf(scope, "%159[^/]/%15[^/]/%63[^/]/%31s", claim->access_key, claim->day,
                        claim->region, service);
    return parsed == 4 && strcmp(service, "s3/aws4_request") == 0;
}

static bool is_signed(const struct claim *claim, const char *name)
{
    char list[1100], one[160];
    snprintf(list, sizeof(list), ";%s;", claim->signed_headers);
    snprintf(one, sizeof(one), ";%s;", name);
    return strstr(list, one) != NULL;
}

/* Every x-amz header that was sent must be under the signature. */
static bool all_signed(const struct hostile_request *request, const struct claim *claim,
                       char why[256])
{
    static const char *const always[] = {"host", "x-amz-date", "x-amz-content-sha256"};
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (!is_signed(claim, always[i])) {
            snprintf(why, 256, "%s is not signed", always[i]);
            return false;
        }
    for (const char *line = strchr(request->head, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, "x-amz-", 6) != 0)
            continue;
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, ":"), line);
        for (char *c = name; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        if (!is_signed(claim, name)) {
            snprintf(why, 256, "%s is not signed", name);
            return false;
        }
    }
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_query(struct hostile_text *canonical, const char *query)
{
    char *parameters[PARAMETERS_MAX];
    size_t count = 0;
    while (query != NULL && *query != '\0') {
        size_t bytes = strcspn(query, "&");
        size_t name_bytes = strcspn(query, "=&");
        assert(count < PARAMETERS_MAX);
        struct hostile_text text = {0};
        char *name = hostile_text_decode(query, name_bytes);
        size_t skip = name_bytes < bytes ? name_bytes + 1 : bytes;
        char *value = hostile_text_decode(query + skip, bytes - skip);
        hostile_text_add_encoded(&text, name, HOSTILE_SLASH_ENCODE);
        hostile_text_add(&text, "=");
        hostile_text_add_encoded(&text, value, HOSTILE_SLASH_ENCODE);
        free(name);
        free(value);
        parameters[count++] = text.data;
        query += bytes + (query[bytes] == '&');
    }
    qsort(parameters, count, sizeof(parameters[0]), compare_texts);
    for (size_t i = 0; i < count; i++) {
        hostile_text_add(canonical, "%s%s", i == 0 ? "" : "&", parameters[i]);
        free(parameters[i]);
    }
    hostile_text_add(canonical, "\n");
}

/* A value with blanks trimmed and runs of them made one. */
static void add_value(struct hostile_text *canonical, const char *value)
{
    bool blank = true;
    size_t end = strlen(value);
    while (end > 0 && isspace((unsigned char)value[end - 1]))
        end--;
    for (size_t i = 0; i < end; i++) {
        bool is_blank = value[i] == ' ' || value[i] == '\t';
        if (!is_blank || !blank)
            hostile_text_add(canonical, "%c", is_blank ? ' ' : value[i]);
        blank = is_blank;
    }
}

static bool add_headers(struct hostile_text *canonical, const struct hostile_request *request,
                        const struct claim *claim)
{
    const char *name = claim->signed_headers;
    while (*name != '\0') {
        char one[128], value[8192];
        size_t bytes = strcspn(name, ";");
        snprintf(one, sizeof(one), "%.*s", (int)bytes, name);
        if (!hostile_request_header(request, one, value, sizeof(value)))
            return false;
        hostile_text_add(canonical, "%s:", one);
        add_value(canonical, value);
        hostile_text_add(canonical, "\n");
        name += bytes + (name[bytes] == ';');
    }
    hostile_text_add(canonical, "\n%s\n", claim->signed_headers);
    return true;
}

static bool add_canonical(struct hostile_text *canonical, const struct hostile_request *request,
                          const struct claim *claim)
{
    char hash[128];
    size_t path_bytes = strcspn(request->target, "?");
    char *path = hostile_text_decode(request->target, path_bytes);
    const char *query = request->target + path_bytes;
    hostile_text_add(canonical, "%s\n", request->method);
    hostile_text_add_encoded(canonical, path, HOSTILE_SLASH_KEEP);
    hostile_text_add(canonical, "\n");
    add_query(canonical, *query == '?' ? query + 1 : NULL);
    free(path);
    bool whole = add_headers(canonical, request, claim) &&
                 hostile_request_header(request, "x-amz-content-sha256", hash, sizeof(hash));
    hostile_text_add(canonical, "%s", whole ? hash : "");
    return whole;
}

static void hex_of(const uint8_t digest[32], char hex[65])
{
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void hmac(const void *key, size_t key_bytes, const char *text, uint8_t digest[32])
{
    unsigned bytes = 32;
    const uint8_t *done = HMAC(EVP_sha256(), key, (int)key_bytes, (const uint8_t *)text,
                               strlen(text), digest, &bytes);
    assert(done != NULL && bytes == 32);
}

static void sign(const struct claim *claim, const char *time, const char *canonical, char hex[65])
{
    uint8_t digest[32];
    char hash[65], secret[128], to_sign[512];
    SHA256((const uint8_t *)canonical, strlen(canonical), digest);
    hex_of(digest, hash);
    snprintf(to_sign, sizeof(to_sign), "AWS4-HMAC-SHA256\n%s\n%s/%s/s3/aws4_request\n%s", time,
             claim->day, claim->region, hash);
    snprintf(secret, sizeof(secret), "AWS4%s", HOSTILE_SECRET_KEY);
    uint8_t key[32], next[32];
    hmac(secret, strlen(secret), claim->day, key);
    hmac(key, 32, claim->region, next);
    hmac(next, 32, "s3", key);
    hmac(key, 32, "aws4_request", next);
    hmac(next, 32, to_sign, digest);
    hex_of(digest, hex);
}

enum hostile_signature hostile_signature_check(const struct hostile_request *request, char why[256])
{
    char authorization[2048], time[32], expected[65];
    struct claim claim = {0};
    if (!hostile_request_header(request, "authorization", authorization, sizeof(authorization))) {
        snprintf(why, 256, "no Authorization header");
        return HOSTILE_UNSIGNED;
    }
    if (!claim_parse(authorization, &claim) ||
        !hostile_request_header(request, "x-amz-date", time, sizeof(time)) ||
        strncmp(time, claim.day, 8) != 0) {
        snprintf(why, 256, "not a claim of Signature Version 4");
        return HOSTILE_FORGED;
    }
    if (!all_signed(request, &claim, why))
        return HOSTILE_FORGED;
    struct hostile_text canonical = {0};
    bool whole = add_canonical(&canonical, request, &claim);
    if (whole)
        sign(&claim, time, canonical.data, expected);
    hostile_text_free(&canonical);
    if (!whole || strcmp(claim.access_key, HOSTILE_ACCESS_KEY) != 0 ||
        strcmp(claim.signature, expected) != 0) {
        snprintf(why, 256, "the signature is not that of the request");
        return HOSTILE_FORGED;
    }
    return HOSTILE_SIGNED;
}
