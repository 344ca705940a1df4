/* s3_credentials_file.c - reads the text of a shared credentials or config file. Method: the format
 * as the AWS reference "Shared config and credentials files" describes it, read strictly: what
 * AWS's tools read in different ways is refused with its line. Texts of the file never go into a
 * message.
 *
 *   [default]                        [profile NAME] in the config file
 *   aws_access_key_id = AKIA...      a comment begins with # or ;, after a value with a blank
 * before s3 = max_concurrent_requests = 5    indented deeper: belongs to the line above, skipped */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_credentials_private.h"

#define BLANKS " \t"
#define NO_PROPERTY SIZE_MAX

/* A part of the file's text. */
struct span {
    const char *text;
    size_t bytes;
};

/* What a profile may say that is read. The last ones are only refused. */
enum property {
    PROPERTY_ACCESS_KEY,
    PROPERTY_SECRET_KEY,
    PROPERTY_TOKEN,
    PROPERTY_REGION,
    PROPERTY_ENDPOINT,
    PROPERTY_ROLE,
    PROPERTY_WEB_IDENTITY,
    PROPERTY_PROCESS,
    PROPERTY_SSO_URL,
    PROPERTY_SSO_SESSION,
    PROPERTY_COUNT,
    PROPERTY_OTHER = PROPERTY_COUNT,
};

static const char *const property_names[PROPERTY_COUNT] = {
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "region",
    "endpoint_url",
    "role_arn",
    "web_identity_token_file",
    "credential_process",
    "sso_start_url",
    "sso_session",
};

struct parse {
    const struct credentials_file *file;
    const char *profile;
    struct credentials *credentials;
    struct credentials_profile *found;
    char *error;
    unsigned line;         /* the one that is read, from 1 */
    unsigned profile_line; /* where the profile begins; 0: not seen yet */
    bool in_section;
    bool in_profile;
    size_t indent; /* of the last property; NO_PROPERTY: none in this section */
    enum property last;
    unsigned seen; /* bits of enum property, with a value */
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct parse *parse,
                                                         const char *format, ...)
{
    char what[STORE_ERROR_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    snprintf(parse->error, STORE_ERROR_MAX, "%.120s:%u: %s", parse->file->name, parse->line, what);
    return false;
}

/* ---- spans -------------------------------------------------------------------------------------
 */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct span span_trim(struct span span)
{
    while (span.bytes > 0 && is_blank(span.text[0])) {
        span.text++;
        span.bytes--;
    }
    while (span.bytes > 0 && is_blank(span.text[span.bytes - 1]))
        span.bytes--;
    return span;
}

static bool span_is(struct span span, const char *text)
{
    return span.bytes == strlen(text) && memcmp(span.text, text, span.bytes) == 0;
}

static bool is_comment(char byte)
{
    return byte == '#' || byte == ';';
}

/* Without a comment that follows a blank. */
static struct span span_uncommented(struct span span)
{
    for (size_t i = 1; i < span.bytes; i++)
        if (is_comment(span.text[i]) && is_blank(span.text[i - 1]))
            span.bytes = i;
    return span_trim(span);
}

const char *credentials_take(const char *text, size_t bytes, char *field, size_t capacity)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return "holds a blank, or a character that is not ASCII";
    if (bytes >= capacity)
        return "is longer than such a text can be";
    if (bytes >= 2 && (text[0] == '"' || text[0] == '\'') && text[bytes - 1] == text[0])
        return "stands in quotes; leave them out";
    memcpy(field, text, bytes);
    field[bytes] = '\0';
    return NULL;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* The profile's name in a section's title; bytes 0: not a profile. */
static struct span profile_name(const struct parse *parse, struct span title)
{
    static const char word[] = "profile";
    const size_t word_bytes = sizeof(word) - 1;
    if (!parse->file->prefixed || span_is(title, "default"))
        return title;
    if (title.bytes <= word_bytes || memcmp(title.text, word, word_bytes) != 0 ||
        !is_blank(title.text[word_bytes]))
        return (struct span){.text = title.text};
    struct span name = span_trim(
        (struct span){.text = title.text + word_bytes, .bytes = title.bytes - word_bytes});
    bool quoted = name.bytes >= 2 && (name.text[0] == '"' || name.text[0] == '\'') &&
                  name.text[name.bytes - 1] == name.text[0];
    return quoted ? (struct span){.text = name.text + 1, .bytes = name.bytes - 2} : name;
}

static bool read_section(struct parse *parse, struct span line)
{
    const char *end = memchr(line.text, ']', line.bytes);
    if (end == NULL)
        return refuse(parse, "a section has no ']'");
    struct span title = {.text = line.text + 1, .bytes = (size_t)(end - line.text) - 1};
    struct span rest = {.text = end + 1, .bytes = line.bytes - title.bytes - 2};
    rest = span_trim(rest);
    if (rest.bytes > 0 && !is_comment(rest.text[0]))
        return refuse(parse, "something follows a section's ']'");
    title = span_trim(title);
    if (title.bytes == 0)
        return refuse(parse, "a section has no name");
    parse->in_section = true;
    parse->indent = NO_PROPERTY;
    parse->last = PROPERTY_OTHER;
    parse->in_profile = span_is(profile_name(parse, title), parse->profile);
    if (!parse->in_profile)
        return true;
    if (parse->profile_line != 0)
        return refuse(parse, "profile \"%.60s\" stands in line %u already; keep one of them",
                      parse->profile, parse->profile_line);
    parse->profile_line = parse->line;
    return true;
}

static const char *take_value(struct parse *parse, enum property property, struct span value)
{
    struct credentials *credentials = parse->credentials;
    struct credentials_profile *found = parse->found;
    switch (property) {
    case PROPERTY_ACCESS_KEY:
        return credentials_take(value.text, value.bytes, credentials->access_key,
                                sizeof(credentials->access_key));
    case PROPERTY_SECRET_KEY:
        return credentials_take(value.text, value.bytes, credentials->secret_key,
                                sizeof(credentials->secret_key));
    case PROPERTY_TOKEN:
        return credentials_take(value.text, value.bytes, credentials->session_token,
                                sizeof(credentials->session_token));
    case PROPERTY_REGION:
        return credentials_take(value.text, value.bytes, found->region, sizeof(found->region));
    case PROPERTY_ENDPOINT:
        return credentials_take(value.text, value.bytes, found->endpoint, sizeof(found->endpoint));
    case PROPERTY_ROLE:
    case PROPERTY_WEB_IDENTITY:
    case PROPERTY_PROCESS:
    case PROPERTY_SSO_URL:
    case PROPERTY_SSO_SESSION:
    case PROPERTY_OTHER:
        return NULL;
    }
    return NULL;
}

static enum property find_property(struct span name)
{
    for (enum property i = 0; i < PROPERTY_COUNT; i++)
        if (strlen(property_names[i]) == name.bytes &&
            strncasecmp(property_names[i], name.text, name.bytes) == 0)
            return i;
    return PROPERTY_OTHER;
}

static bool read_property(struct parse *parse, struct span line)
{
    const char *sign = memchr(line.text, '=', line.bytes);
    if (sign == NULL)
        return refuse(parse, "neither a section, nor NAME = VALUE, nor a comment");
    struct span name = {.text = line.text, .bytes = (size_t)(sign - line.text)};
    struct span value = {.text = sign + 1, .bytes = line.bytes - name.bytes - 1};
    name = span_trim(name);
    value = span_trim(value);
    if (name.bytes == 0)
        return refuse(parse, "no name before '='");
    if (!parse->in_section)
        return refuse(parse, "a value stands before the first section; write %s above it",
                      parse->file->prefixed ? "[default] or [profile NAME]"
                                            : "[default] or [NAME]");
    parse->last = parse->in_profile ? find_property(name) : PROPERTY_OTHER;
    value = value.bytes > 0 && is_comment(value.text[0]) ? (struct span){.text = value.text}
                                                         : span_uncommented(value);
    if (parse->last == PROPERTY_OTHER || value.bytes == 0)
        return true;
    if (parse->seen & 1U << parse->last)
        return refuse(parse, "%s stands twice in this profile", property_names[parse->last]);
    parse->seen |= 1U << parse->last;
    const char *wrong = take_value(parse, parse->last, value);
    return wrong == NULL || refuse(parse, "%s %s", property_names[parse->last], wrong);
}

static bool read_line(struct parse *parse, struct span line)
{
    size_t indent = 0;
    while (indent < line.bytes && is_blank(line.text[indent]))
        indent++;
    if (line.bytes > 0 && line.text[line.bytes - 1] == '\r')
        line.bytes--;
    for (size_t i = 0; i < line.bytes; i++)
        if ((unsigned char)line.text[i] < ' ' && line.text[i] != '\t')
            return refuse(parse, "a control character: this is not a text file of credentials");
    line = span_trim(line);
    if (line.bytes == 0 || is_comment(line.text[0]))
        return true;
    if (line.text[0] == '[')
        return read_section(parse, line);
    if (parse->indent != NO_PROPERTY && indent > parse->indent) {
        if (parse->last == PROPERTY_OTHER)
            return true;
        return refuse(parse,
                      "%s goes on in a line of its own; write it in one, or do not indent "
                      "what follows",
                      property_names[parse->last]);
    }
    parse->indent = indent;
    return read_property(parse, line);
}

static bool read_lines(struct parse *parse)
{
    static const char mark[] = "\xef\xbb\xbf";
    struct span rest = {.text = parse->file->text, .bytes = parse->file->bytes};
    if (rest.bytes >= 3 && memcmp(rest.text, mark, 3) == 0)
        rest = (struct span){.text = rest.text + 3, .bytes = rest.bytes - 3};
    while (rest.bytes > 0) {
        const char *end = memchr(rest.text, '\n', rest.bytes);
        struct span line = {.text = rest.text,
                            .bytes = end == NULL ? rest.bytes : (size_t)(end - rest.text)};
        parse->line++;
        if (!read_line(parse, line))
            return false;
        size_t used = line.bytes + (end != NULL);
        rest = (struct span){.text = rest.text + used, .bytes = rest.bytes - used};
    }
    return true;
}

/* ---- the verdict -------------------------------------------------------------------------------
 */

static enum credentials_parsed judge(struct parse *parse)
{
    static const unsigned keys = 1U << PROPERTY_ACCESS_KEY | 1U << PROPERTY_SECRET_KEY;
    if (parse->profile_line == 0)
        return CREDENTIALS_NO_PROFILE;
    parse->line = parse->profile_line;
    for (enum property i = PROPERTY_ROLE; i < PROPERTY_COUNT; i++)
        if (parse->seen & 1U << i) {
            (void)refuse(parse,
                         "profile \"%.60s\" has %s: single sign-on, roles and processes are not "
                         "supported; give keys, with a session token if need be",
                         parse->profile, property_names[i]);
            return CREDENTIALS_UNSUPPORTED;
        }
    if ((parse->seen & keys) == keys)
        return CREDENTIALS_PARSED;
    if ((parse->seen & keys) == 0)
        return CREDENTIALS_NO_KEYS;
    bool no_secret = parse->seen & 1U << PROPERTY_ACCESS_KEY;
    (void)refuse(parse, "profile \"%.60s\" has no %s", parse->profile,
                 property_names[no_secret ? PROPERTY_SECRET_KEY : PROPERTY_ACCESS_KEY]);
    return CREDENTIALS_MALFORMED;
}

enum credentials_parsed credentials_parse(const struct credentials_file *file, const char *profile,
                                          struct credentials *credentials,
                                          struct credentials_profile *found,
                                          char error[STORE_ERROR_MAX])
{
    struct parse parse = {.file = file,
                          .profile = profile,
                          .credentials = credentials,
                          .found = found,
                          .error = error,
                          .indent = NO_PROPERTY,
                          .last = PROPERTY_OTHER};
    memset(credentials, 0, sizeof(*credentials));
    memset(found, 0, sizeof(*found));
    error[0] = '\0';
    enum credentials_parsed parsed = read_lines(&parse) ? judge(&parse) : CREDENTIALS_MALFORMED;
    if (parsed != CREDENTIALS_PARSED) {
        credentials_wipe(credentials);
        return parsed;
    }
    credentials->expires_ns = TIME_NEVER;
    snprintf(credentials->source, sizeof(credentials->source), "%s", file->name);
    return CREDENTIALS_PARSED;
}
