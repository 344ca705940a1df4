/* credentials_target.c - shared credentials and config files: the first byte chooses which of the
 * two it is, and the profile. */
#include <stdbool.h>
#include <string.h>

#include "backend/s3_credentials.h"
#include "tests/fuzz/target.h"

void fuzz_credentials(const uint8_t *data, size_t size);

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
