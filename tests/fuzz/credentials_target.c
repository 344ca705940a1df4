/* credentials_target.c - where credentials come from: shared credentials and config files, whose
 * first byte chooses which of the two it is, and the profile; and a metadata service. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/s3_credentials_private.h"
#include "tests/fuzz/target.h"

void fuzz_credentials(const uint8_t *data, size_t size);
void fuzz_imds(const uint8_t *data, size_t size);

/* What may be put into a header. */
static void check_text(const char *text, size_t capacity)
{
    size_t length = strnlen(text, capacity);
    assert(length < capacity);
    for (size_t i = 0; i < length; i++)
        assert(text[i] > ' ' && text[i] <= '~');
}

static void check_keys(const struct credentials *credentials)
{
    assert(credentials->access_key[0] != '\0');
    assert(credentials->secret_key[0] != '\0');
    assert(credentials->expires_ns == TIME_NEVER);
    check_text(credentials->access_key, sizeof(credentials->access_key));
    check_text(credentials->secret_key, sizeof(credentials->secret_key));
    check_text(credentials->session_token, sizeof(credentials->session_token));
}

static bool is_alphanumeric(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

/* Overwrites the letters and digits of every value, and of lines that are neither a value nor a
 * section. What is wrong with a file does not depend on them. */
static void mask(char *text, size_t bytes)
{
    bool masked = true;
    for (size_t i = 0; i < bytes; i++) {
        if (i == 0 || text[i - 1] == '\n') {
            const char *end = memchr(text + i, '\n', bytes - i);
            size_t line = end == NULL ? bytes - i : (size_t)(end - text) - i;
            masked = memchr(text + i, '=', line) == NULL && memchr(text + i, '[', line) == NULL;
        }
        if (masked && is_alphanumeric(text[i]))
            text[i] = 'x';
        masked = masked || text[i] == '=';
    }
}

/* So that no secret can be in it: the error is the same without them. */
static void check_error(const struct credentials_file *file, const char *profile,
                        enum credentials_parsed parsed, const char *error)
{
    static char text[2 * FUZZ_INPUT_MAX];
    struct credentials credentials;
    struct credentials_profile found;
    struct credentials_file masked = *file;
    char again[STORE_ERROR_MAX];
    assert(strncmp(error, "FILE:", 5) == 0);
    for (size_t i = 0; error[i] != '\0'; i++)
        assert(error[i] >= ' ' && error[i] <= '~');
    if (file->bytes > sizeof(text))
        return;
    memcpy(text, file->text, file->bytes);
    mask(text, file->bytes);
    masked.text = text;
    enum credentials_parsed parsed_again =
        credentials_parse(&masked, profile, &credentials, &found, again);
    assert(parsed_again == parsed);
    assert(strcmp(again, error) == 0);
}

void fuzz_credentials(const uint8_t *data, size_t size)
{
    static const char *const profiles[] = {"default", "x", "a b", ""};
    static const struct credentials empty;
    struct credentials credentials;
    struct credentials_profile found;
    char error[STORE_ERROR_MAX];
    if (size == 0)
        return;
    struct credentials_file file = {
        .text = (const char *)data + 1, .bytes = size - 1, .name = "FILE", .prefixed = data[0] & 1};
    const char *profile = profiles[data[0] / 2 % 4];
    enum credentials_parsed parsed = credentials_parse(&file, profile, &credentials, &found, error);
    check_text(found.region, sizeof(found.region));
    check_text(found.endpoint, sizeof(found.endpoint));
    if (parsed == CREDENTIALS_PARSED)
        check_keys(&credentials);
    else
        assert(memcmp(&credentials, &empty, sizeof(empty)) == 0);
    if (parsed == CREDENTIALS_MALFORMED || parsed == CREDENTIALS_UNSUPPORTED)
        check_error(&file, profile, parsed, error);
    else
        assert(error[0] == '\0');
}

/* ---- the metadata service ---- */

/* Times that are written as the service does are read as the same. */
static void check_expiry(int64_t expires_ns)
{
    char document[160];
    char text[32];
    struct credentials again;
    time_t seconds = (time_t)(expires_ns / NS_PER_S);
    struct tm utc;
    assert(expires_ns >= 0 && expires_ns % NS_PER_S == 0);
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(document, sizeof(document),
             "{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Token\":\"c\","
             "\"Expiration\":\"%s\"}",
             text);
    const char *wrong = imds_parse_keys(document, strlen(document), &again);
    assert(wrong == NULL && again.expires_ns == expires_ns);
}

/* The first byte: a line, or the keys. What is wrong is one of few texts, so that no secret can be
 * in it. */
void fuzz_imds(const uint8_t *data, size_t size)
{
    static const struct credentials empty;
    char line[129];
    struct credentials credentials = {0};
    if (size == 0)
        return;
    const char *answer = (const char *)data + 1;
    if (data[0] % 2 == 0) {
        if (!imds_parse_line(answer, size - 1, line, sizeof(line)))
            return;
        check_text(line, sizeof(line));
        assert(line[0] != '\0' && memcmp(line, answer, strlen(line)) == 0);
        return;
    }
    const char *wrong = imds_parse_keys(answer, size - 1, &credentials);
    if (wrong != NULL) {
        assert(strncmp(wrong, "gave ", 5) == 0 || strncmp(wrong, "says ", 5) == 0);
        assert(memcmp(&credentials, &empty, sizeof(empty)) == 0);
        return;
    }
    assert(credentials.access_key[0] != '\0' && credentials.secret_key[0] != '\0');
    assert(credentials.session_token[0] != '\0' && strcmp(credentials.source, "IMDS") == 0);
    check_text(credentials.access_key, sizeof(credentials.access_key));
    check_text(credentials.secret_key, sizeof(credentials.secret_key));
    check_text(credentials.session_token, sizeof(credentials.session_token));
    check_expiry(credentials.expires_ns);
}
