/* sigv4.c - AWS Signature Version 4 on OpenSSL's digests and MACs. Method: the AWS reference
 * "Authenticating Requests (AWS Signature Version 4)"; the canonical request goes into the digest
 * piece by piece and is never held. Neither the paper's nor ours. */
#include "backend/sigv4.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define DIGEST_BYTES 32
#define SECRET_MAX 512 /* bytes with the NUL */
#define ALGORITHM "AWS4-HMAC-SHA256"
#define SCOPE_END "aws4_request"
#define SCOPE_MAX (9 + SIGV4_REGION_MAX + 1 + SIGV4_SERVICE_MAX + 1 + sizeof(SCOPE_END))

/* Looked up once: OpenSSL searches its providers each time that it is asked by name. They live
 * until the process ends. */
static EVP_MD *sha256;
static EVP_MAC *hmac;
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

static void fetch(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    assert(sha256 != NULL);
    assert(hmac != NULL);
}

static void write_hex(const uint8_t *bytes, size_t count, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * count] = '\0';
}

void sigv4_hash(const void *data, size_t bytes, char hash[SIGV4_HASH_MAX])
{
    uint8_t digest[DIGEST_BYTES];
    pthread_once(&fetched, fetch);
    int done = EVP_Digest(data, bytes, digest, NULL, sha256, NULL);
    assert(done == 1);
    write_hex(digest, sizeof(digest), hash);
}

/* ---- text --------------------------------------------------------------------------------------
 */

static void write_decimal(int value, size_t digits, char *text)
{
    for (size_t i = digits; i-- > 0; value /= 10)
        text[i] = (char)('0' + value % 10);
}

void sigv4_time(int64_t unix_ns, char time[SIGV4_TIME_MAX])
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm utc;
    assert(unix_ns >= 0);
    const struct tm *broken_down = gmtime_r(&seconds, &utc);
    assert(broken_down != NULL);
    memcpy(time, "YYYYMMDDTHHMMSSZ", SIGV4_TIME_MAX);
    write_decimal(utc.tm_year + 1900, 4, time);
    write_decimal(utc.tm_mon + 1, 2, time + 4);
    write_decimal(utc.tm_mday, 2, time + 6);
    write_decimal(utc.tm_hour, 2, time + 9);
    write_decimal(utc.tm_min, 2, time + 11);
    write_decimal(utc.tm_sec, 2, time + 13);
}

static bool unreserved(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

size_t sigv4_encode(const char *text, enum sigv4_slash slash, char *encoded, size_t capacity)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t length = 0;
    bool cut = capacity == 0;
    if (!cut)
        encoded[0] = '\0';
    for (size_t used = 0; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = unreserved(byte) || (byte == '/' && slash == SIGV4_KEEP_SLASH);
        size_t needed = plain ? 1 : 3;
        length += needed;
        cut = cut || used + needed >= capacity;
        if (cut)
            continue;
        if (plain) {
            encoded[used] = (char)byte;
        } else {
            encoded[used] = '%';
            encoded[used + 1] = digits[byte >> 4];
            encoded[used + 2] = digits[byte & 15];
        }
        used += needed;
        encoded[used] = '\0';
    }
    return length;
}

/* Text that is put together in a buffer of the caller; what does not fit is a programmer's error.
 */
struct line {
    char *text;
    size_t used;
    size_t capacity;
};

static void line_add(struct line *line, const char *text)
{
    size_t bytes = strlen(text);
    assert(bytes < line->capacity - line->used);
    memcpy(line->text + line->used, text, bytes + 1);
    line->used += bytes;
}

/* ---- the key -----------------------------------------------------------------------------------
 */

static void digest_add(EVP_MD_CTX *digest, const char *text, size_t bytes)
{
    int done = EVP_DigestUpdate(digest, text, bytes);
    assert(done == 1);
}

static void digest_start(EVP_MD_CTX *digest)
{
    int done = EVP_DigestInit_ex2(digest, sha256, NULL);
    assert(done == 1);
}

static void digest_end(EVP_MD_CTX *digest, uint8_t result[DIGEST_BYTES])
{
    int done = EVP_DigestFinal_ex(digest, result, NULL);
    assert(done == 1);
}

/* Without a key, with the one that it has already. */
static void mac_compute(EVP_MAC_CTX *mac, const void *key, size_t key_bytes, const char *text,
                        uint8_t result[DIGEST_BYTES])
{
    size_t bytes = 0;
    int done = EVP_MAC_init(mac, key, key_bytes, NULL);
    assert(done == 1);
    done = EVP_MAC_update(mac, (const unsigned char *)text, strlen(text));
    assert(done == 1);
    done = EVP_MAC_final(mac, result, &bytes, DIGEST_BYTES);
    assert(done == 1);
    assert(bytes == DIGEST_BYTES);
}

static void key_open(struct sigv4_key *key)
{
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0),
        OSSL_PARAM_construct_end()};
    pthread_once(&fetched, fetch);
    key->digest = EVP_MD_CTX_new();
    key->mac = EVP_MAC_CTX_new(hmac);
    assert(key->digest != NULL);
    assert(key->mac != NULL);
    int done = EVP_MAC_CTX_set_params(key->mac, parameters);
    assert(done == 1);
}

void sigv4_key_wipe(struct sigv4_key *key)
{
    EVP_MD_CTX_free(key->digest);
    EVP_MAC_CTX_free(key->mac); /* cleanses the key in it */
    OPENSSL_cleanse(key, sizeof(*key));
}

static void key_derive(struct sigv4_key *key, const char *secret)
{
    char first[SECRET_MAX + 4] = "AWS4";
    struct line line = {.text = first, .used = 4, .capacity = sizeof(first)};
    uint8_t step[DIGEST_BYTES], next[DIGEST_BYTES];
    line_add(&line, secret);
    mac_compute(key->mac, first, line.used, key->day, step);
    mac_compute(key->mac, step, sizeof(step), key->region, next);
    mac_compute(key->mac, next, sizeof(next), key->service, step);
    mac_compute(key->mac, step, sizeof(step), SCOPE_END, next);
    int done = EVP_MAC_init(key->mac, next, sizeof(next), NULL);
    assert(done == 1);
    OPENSSL_cleanse(first, sizeof(first));
    OPENSSL_cleanse(step, sizeof(step));
    OPENSSL_cleanse(next, sizeof(next));
    key->derived = true;
}

/* Makes the key that of this day, region, service and secret. */
static void key_set(struct sigv4_key *key, const char *secret, const char *region,
                    const struct sigv4_request *request)
{
    const char *service = request->service != NULL ? request->service : "s3";
    uint8_t digest[DIGEST_BYTES];
    if (key->digest == NULL)
        key_open(key);
    digest_start(key->digest);
    digest_add(key->digest, secret, strlen(secret));
    digest_end(key->digest, digest);
    if (key->derived && memcmp(key->day, request->time, 8) == 0 &&
        strcmp(key->region, region) == 0 && strcmp(key->service, service) == 0 &&
        memcmp(key->secret_digest, digest, sizeof(digest)) == 0)
        return;
    assert(strlen(region) < sizeof(key->region));
    assert(strlen(service) < sizeof(key->service));
    memcpy(key->day, request->time, 8);
    memcpy(key->region, region, strlen(region) + 1);
    memcpy(key->service, service, strlen(service) + 1);
    memcpy(key->secret_digest, digest, sizeof(digest));
    key_derive(key, secret);
}

/* ---- a request ---------------------------------------------------------------------------------
 */

/* By name; those of one name stay in their order. */
static void sort_headers(const struct sigv4_request *request,
                         const struct sigv4_header *sorted[SIGV4_HEADERS_MAX])
{
    assert(request->header_count > 0);
    assert(request->header_count <= SIGV4_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        size_t at = i;
        for (; at > 0 && strcmp(sorted[at - 1]->name, request->headers[i].name) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &request->headers[i];
    }
}

/* Without blanks at the ends, and with one for each run of them. */
static void digest_add_value(EVP_MD_CTX *digest, const char *value)
{
    value += strspn(value, " ");
    while (*value != '\0') {
        size_t word = strcspn(value, " ");
        size_t gap = strspn(value + word, " ");
        digest_add(digest, value, value[word + gap] == '\0' ? word : word + (gap > 0));
        value += word + gap;
    }
}

static void digest_add_line(EVP_MD_CTX *digest, const char *text)
{
    digest_add(digest, text, strlen(text));
    digest_add(digest, "\n", 1);
}

/* The canonical request's hash. Writes the names of the signed headers, too. */
static void hash_request(EVP_MD_CTX *digest, const struct sigv4_request *request,
                         struct line *names, char hash[SIGV4_HASH_MAX])
{
    const struct sigv4_header *sorted[SIGV4_HEADERS_MAX];
    uint8_t bytes[DIGEST_BYTES];
    const char *before = "";
    sort_headers(request, sorted);
    digest_start(digest);
    digest_add_line(digest, request->method);
    digest_add_line(digest, request->path);
    digest_add(digest, request->query, strlen(request->query));
    for (size_t i = 0; i < request->header_count; i++) {
        const char *name = sorted[i]->name;
        if (strcmp(name, before) == 0) {
            digest_add(digest, ",", 1);
        } else {
            digest_add(digest, "\n", 1);
            digest_add(digest, name, strlen(name));
            digest_add(digest, ":", 1);
            line_add(names, i > 0 ? ";" : "");
            line_add(names, name);
        }
        digest_add_value(digest, sorted[i]->value);
        before = name;
    }
    digest_add(digest, "\n\n", 2);
    digest_add_line(digest, names->text);
    digest_add(digest, request->payload_hash, strlen(request->payload_hash));
    digest_end(digest, bytes);
    write_hex(bytes, sizeof(bytes), hash);
}

void sigv4_sign(struct sigv4_key *key, const char *access_key, const char *secret_key,
                const char *region, const struct sigv4_request *request,
                char authorization[SIGV4_AUTHORIZATION_MAX])
{
    char hash[SIGV4_HASH_MAX], scope[SCOPE_MAX], names[SIGV4_AUTHORIZATION_MAX];
    char string[sizeof(ALGORITHM) + SIGV4_TIME_MAX + SCOPE_MAX + SIGV4_HASH_MAX];
    uint8_t signature[DIGEST_BYTES];
    assert(request->path[0] == '/');
    assert(strlen(request->time) == SIGV4_TIME_MAX - 1);
    key_set(key, secret_key, region, request);

    struct line line = {.text = scope, .capacity = sizeof(scope)};
    const char *const parts[] = {key->day, "/", key->region, "/", key->service, "/", SCOPE_END};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        line_add(&line, parts[i]);
    line = (struct line){.text = names, .capacity = sizeof(names)};
    hash_request(key->digest, request, &line, hash);

    line = (struct line){.text = string, .capacity = sizeof(string)};
    const char *const lines[] = {ALGORITHM, "\n", request->time, "\n", scope, "\n", hash};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        line_add(&line, lines[i]);
    mac_compute(key->mac, NULL, 0, string, signature);
    write_hex(signature, sizeof(signature), hash);

    line = (struct line){.text = authorization, .capacity = SIGV4_AUTHORIZATION_MAX};
    const char *const words[] = {
        ALGORITHM " Credential=", access_key, "/", scope, ", SignedHeaders=", names,
        ", Signature=",           hash};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        line_add(&line, words[i]);
}
