/* s3_address.c - which host, path and query a request goes to. Ours, by AWS's rules for names of
 * buckets and for virtual hosts.
 *
 * `endpoint` holds scheme and authority without the bucket; the host is always derived from it, so
 * that a redirect and a change of region go the same way as opening. */
#include "backend/s3_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/sigv4.h"

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define AWS_DOMAIN ".amazonaws.com"
#define WRITE_ENDPOINT "write http://HOST[:PORT] or https://HOST[:PORT]"

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcasecmp(text + bytes - end_bytes, end) == 0;
}

const char *s3_address_shown(const char *text)
{
    return strchr(text, '@') == NULL ? text : "(not shown, it may hold a password)";
}

/* ---- bucket and prefix -------------------------------------------------------------------------
 */

static bool looks_like_ipv4(const char *text)
{
    struct in_addr ignored;
    return inet_pton(AF_INET, text, &ignored) == 1;
}

/* What is wrong with the bucket's name; NULL: nothing. */
static const char *bucket_wrong(const char *bucket, bool strict)
{
    static const char ends[] = LOWER UPPER DIGITS;
    size_t bytes = strlen(bucket);
    if (bytes == 0)
        return "names no bucket; write s3://BUCKET or s3://BUCKET/PREFIX";
    if (bytes < 3 || bytes >= S3_BUCKET_MAX)
        return "names of buckets have 3 to 63 characters";
    if (bucket[strspn(bucket, LOWER UPPER DIGITS "._-")] != '\0')
        return "names of buckets are made of letters, digits, '-' and '.'";
    if (strict && bucket[strspn(bucket, LOWER DIGITS ".-")] != '\0')
        return "on AWS and as a virtual host, names of buckets are made of lower-case letters, "
               "digits, '-' and '.'";
    if (strchr(ends, bucket[0]) == NULL || strchr(ends, bucket[bytes - 1]) == NULL)
        return "names of buckets begin and end with a letter or digit";
    if (strstr(bucket, "..") != NULL)
        return "names of buckets hold no two dots in a row";
    return looks_like_ipv4(bucket) ? "names of buckets do not look like IP addresses" : NULL;
}

/* NULL: nothing is wrong. */
static const char *prefix_wrong(const char *prefix)
{
    if (strlen(prefix) >= S3_PREFIX_MAX)
        return "the prefix has more than 511 bytes";
    for (const char *part = prefix;; part++) {
        size_t bytes = strcspn(part, "/");
        if (bytes == 0)
            return "the prefix has an empty component: many stores cannot hold such keys; leave "
                   "one of the slashes out";
        if (part[0] == '.' && (bytes == 1 || (bytes == 2 && part[1] == '.')))
            return "the prefix has a component \".\" or \"..\", which servers resolve away";
        for (size_t i = 0; i < bytes; i++)
            if ((unsigned char)part[i] < ' ' || part[i] == 0x7f)
                return "the prefix has a control character";
        part += bytes;
        if (*part == '\0')
            return NULL;
    }
}

static enum open_result split_address(const char *address, struct s3_address *parsed,
                                      char error[STORE_ERROR_MAX])
{
    char prefix[S3_PREFIX_MAX + 2] = ""; /* room to see that it is too long */
    size_t bytes = strcspn(address, "/");
    const char *wrong = NULL;
    snprintf(parsed->bucket, sizeof(parsed->bucket), "%.*s", (int)(bytes < 256 ? bytes : 256),
             address);
    if (bytes >= S3_BUCKET_MAX)
        wrong = "names of buckets have 3 to 63 characters";
    else
        wrong = bucket_wrong(parsed->bucket, false);
    if (wrong == NULL && address[bytes] == '/' && address[bytes + 1] != '\0') {
        int length = snprintf(prefix, sizeof(prefix), "%s", address + bytes + 1);
        if (length > 1 && length < (int)sizeof(prefix) && prefix[length - 1] == '/')
            prefix[length - 1] = '\0';
        wrong = prefix_wrong(prefix);
    }
    if (wrong != NULL) {
        snprintf(error, STORE_ERROR_MAX, "s3://%.100s: %s", s3_address_shown(address), wrong);
        return OPEN_BAD_INPUT;
    }
    memcpy(parsed->prefix, prefix, strlen(prefix) + 1);
    return OPEN_OK;
}

enum open_result s3_address_check(const char *address, char error[STORE_ERROR_MAX])
{
    struct s3_address parsed;
    return split_address(address, &parsed, error);
}

/* ---- hosts -------------------------------------------------------------------------------------
 */

/* The parts of "scheme://authority/path", borrowed from the text. */
struct url {
    bool tls;
    const char *authority;
    size_t host_bytes; /* without the port; with the brackets of IPv6 */
    size_t authority_bytes;
    const char *rest; /* from the slash on, or the end */
};

static bool ipv6_valid(const char *text, size_t bytes)
{
    char inner[INET6_ADDRSTRLEN];
    struct in6_addr ignored;
    if (bytes < 4 || bytes - 2 >= sizeof(inner) || text[bytes - 1] != ']')
        return false;
    memcpy(inner, text + 1, bytes - 2);
    inner[bytes - 2] = '\0';
    return inet_pton(AF_INET6, inner, &ignored) == 1;
}

static bool name_valid(const char *text, size_t bytes)
{
    static const char letters[] = LOWER UPPER DIGITS "-_.";
    char before = '.';
    if (bytes == 0)
        return false;
    for (size_t i = 0; i < bytes; before = text[i++])
        if (text[i] == '\0' || strchr(letters, text[i]) == NULL ||
            (text[i] == '.' && before == '.'))
            return false;
    return before != '.' && text[0] != '-';
}

/* ":1" to ":65535", or nothing. */
static bool port_valid(const char *text, size_t bytes)
{
    unsigned port = 0;
    if (bytes == 0)
        return true;
    if (bytes < 2 || bytes > 6 || text[0] != ':' || text[1] == '0')
        return false;
    for (size_t i = 1; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    return port <= 65535;
}

/* What is wrong with the authority; NULL: nothing. */
static const char *split_authority(const char *authority, struct url *url)
{
    url->authority = authority;
    url->authority_bytes = strcspn(authority, "/?#");
    url->rest = authority + url->authority_bytes;
    if (memchr(authority, '@', url->authority_bytes) != NULL)
        return "it holds a user; give keys in the environment or in ~/.aws/credentials";
    if (authority[0] == '[') {
        const char *bracket = memchr(authority, ']', url->authority_bytes);
        url->host_bytes = bracket == NULL ? 0 : (size_t)(bracket - authority) + 1;
        if (!ipv6_valid(authority, url->host_bytes))
            return "between the brackets stands no IPv6 address";
    } else {
        const char *colon = memchr(authority, ':', url->authority_bytes);
        url->host_bytes = colon == NULL ? url->authority_bytes : (size_t)(colon - authority);
        if (!name_valid(authority, url->host_bytes))
            return "it names no host (an IPv6 address stands in brackets); " WRITE_ENDPOINT;
    }
    if (!port_valid(authority + url->host_bytes, url->authority_bytes - url->host_bytes))
        return "after the host comes nothing, or ':' and a port from 1 to 65535";
    return url->authority_bytes >= S3_HOST_MAX ? "the host is too long" : NULL;
}

static const char *split_url(const char *text, struct url *url)
{
    const char *separator = strstr(text, "://");
    if (separator == NULL)
        return "it has no scheme; " WRITE_ENDPOINT;
    size_t bytes = (size_t)(separator - text);
    url->tls = bytes == 5 && strncasecmp(text, "https", bytes) == 0;
    if (!url->tls && (bytes != 4 || strncasecmp(text, "http", bytes) != 0))
        return "its scheme is not supported; " WRITE_ENDPOINT;
    return split_authority(separator + 3, url);
}

/* Derives the host from the endpoint, the bucket and the style. False: too long. */
static bool derive_host(struct s3_address *address)
{
    const char *authority = strstr(address->endpoint, "://") + 3;
    const char *port = address->tls ? ":443" : ":80";
    int bytes = (int)strlen(authority);
    if (ends_with(authority, port))
        bytes -= (int)strlen(port);
    int length = snprintf(address->host, sizeof(address->host), "%s%s%.*s",
                          address->virtual_host ? address->bucket : "",
                          address->virtual_host ? "." : "", bytes, authority);
    return length < (int)sizeof(address->host);
}

static bool host_is_aws(const char *endpoint)
{
    char host[S3_HOST_MAX];
    const char *authority = strstr(endpoint, "://") + 3;
    snprintf(host, sizeof(host), "%.*s", (int)strcspn(authority, ":"), authority);
    return ends_with(host, AWS_DOMAIN) || ends_with(host, AWS_DOMAIN ".cn");
}

static bool region_valid(const char *region, bool aws)
{
    size_t bytes = strspn(region, aws ? LOWER DIGITS "-" : LOWER UPPER DIGITS "-_.");
    return bytes > 0 && region[bytes] == '\0' &&
           bytes < sizeof(((struct s3_address *)NULL)->region);
}

static void set_aws_endpoint(struct s3_address *address, const char *kind, const char *region)
{
    snprintf(address->endpoint, sizeof(address->endpoint), "%s://s3.%s%s" AWS_DOMAIN "%s",
             address->tls ? "https" : "http", kind, region,
             strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static enum open_result parse_endpoint(const char *endpoint, struct s3_address *parsed,
                                       struct url *url, char error[STORE_ERROR_MAX])
{
    const char *wrong = split_url(endpoint, url);
    if (wrong == NULL && url->rest[0] != '\0' && strcmp(url->rest, "/") != 0)
        wrong = "it goes on behind the host; the bucket belongs into s3://BUCKET/PREFIX";
    if (wrong != NULL) {
        snprintf(error, STORE_ERROR_MAX, "endpoint \"%.80s\": %s", s3_address_shown(endpoint),
                 wrong);
        return OPEN_BAD_INPUT;
    }
    parsed->tls = url->tls;
    snprintf(parsed->endpoint, sizeof(parsed->endpoint), "%s://%.*s", url->tls ? "https" : "http",
             (int)url->authority_bytes, url->authority);
    parsed->aws = host_is_aws(parsed->endpoint);
    return OPEN_OK;
}

/* Whether the endpoint can have a bucket before its name. */
static bool host_is_number(const struct url *url)
{
    char host[S3_HOST_MAX];
    snprintf(host, sizeof(host), "%.*s", (int)url->host_bytes, url->authority);
    return host[0] == '[' || looks_like_ipv4(host);
}

static enum open_result decide_style(enum s3_style style, const struct url *url,
                                     struct s3_address *parsed, char error[STORE_ERROR_MAX])
{
    bool dotted = strchr(parsed->bucket, '.') != NULL;
    parsed->virtual_host =
        style == S3_STYLE_VIRTUAL || (style == S3_STYLE_AUTO && parsed->aws && !dotted);
    const char *wrong = bucket_wrong(parsed->bucket, parsed->aws || parsed->virtual_host);
    if (wrong != NULL) {
        snprintf(error, STORE_ERROR_MAX, "bucket \"%s\": %s", parsed->bucket, wrong);
        return OPEN_BAD_INPUT;
    }
    if (parsed->virtual_host && url->authority != NULL && host_is_number(url)) {
        snprintf(error, STORE_ERROR_MAX,
                 "endpoint \"%.80s\": no bucket can stand before an address in numbers; give a "
                 "host's name, or use path style",
                 parsed->endpoint);
        return OPEN_BAD_INPUT;
    }
    if (!derive_host(parsed)) {
        snprintf(error, STORE_ERROR_MAX, "endpoint \"%.80s\": the host is too long",
                 parsed->endpoint);
        return OPEN_BAD_INPUT;
    }
    return OPEN_OK;
}

enum open_result s3_address_parse(const char *address, const char *endpoint, const char *region,
                                  enum s3_style style, struct s3_address *parsed,
                                  char error[STORE_ERROR_MAX])
{
    struct url url = {0};
    memset(parsed, 0, sizeof(*parsed));
    enum open_result result = split_address(address, parsed, error);
    if (result == OPEN_OK && endpoint[0] != '\0')
        result = parse_endpoint(endpoint, parsed, &url, error);
    if (result != OPEN_OK)
        return result;
    parsed->aws = parsed->aws || endpoint[0] == '\0';
    if (!region_valid(region, parsed->aws)) {
        snprintf(error, STORE_ERROR_MAX,
                 "region \"%.64s\": not a region's name, such as us-east-1 or eu-west-3",
                 s3_address_shown(region));
        return OPEN_BAD_INPUT;
    }
    memcpy(parsed->region, region, strlen(region) + 1);
    if (endpoint[0] == '\0') {
        parsed->tls = true;
        set_aws_endpoint(parsed, "", region);
    }
    return decide_style(style, &url, parsed, error);
}

/* ---- requests ----------------------------------------------------------------------------------
 */

void s3_address_key(const struct s3_address *address, const char *key, char full[S3_KEY_MAX])
{
    size_t prefix_bytes = strlen(address->prefix), key_bytes = strlen(key);
    size_t used = 0;
    assert(prefix_bytes + 1 + key_bytes < S3_KEY_MAX);
    if (prefix_bytes > 0) {
        memcpy(full, address->prefix, prefix_bytes);
        full[prefix_bytes] = '/';
        used = prefix_bytes + 1;
    }
    memcpy(full + used, key, key_bytes + 1);
}

void s3_address_path(const struct s3_address *address, const char *key, char path[S3_PATH_MAX])
{
    char full[S3_KEY_MAX];
    size_t used = 0;
    path[used++] = '/';
    path[used] = '\0';
    if (!address->virtual_host)
        used += sigv4_encode(address->bucket, SIGV4_ENCODE_SLASH, path + used, S3_PATH_MAX - used);
    if (key[0] == '\0')
        return;
    if (!address->virtual_host)
        path[used++] = '/';
    s3_address_key(address, key, full);
    used += sigv4_encode(full, SIGV4_KEEP_SLASH, path + used, S3_PATH_MAX - used);
    assert(used < S3_PATH_MAX);
}

/* "&name=value", the value encoded; without the '&' at the beginning. */
static size_t query_add(char query[S3_QUERY_MAX], size_t used, const char *name, const char *value)
{
    used += (size_t)snprintf(query + used, S3_QUERY_MAX - used, "%s%s=", used > 0 ? "&" : "", name);
    assert(used < S3_QUERY_MAX);
    used += sigv4_encode(value, SIGV4_ENCODE_SLASH, query + used, S3_QUERY_MAX - used);
    assert(used < S3_QUERY_MAX);
    return used;
}

void s3_address_list_query(const struct s3_address *address, const char *prefix, const char *after,
                           const char *token, uint32_t keys_max, char query[S3_QUERY_MAX])
{
    char full[S3_KEY_MAX], number[16];
    size_t used = 0;
    if (token != NULL)
        used = query_add(query, used, "continuation-token", token);
    used = query_add(query, used, "encoding-type", "url");
    used = query_add(query, used, "list-type", "2");
    snprintf(number, sizeof(number), "%u", keys_max);
    used = query_add(query, used, "max-keys", number);
    s3_address_key(address, prefix, full);
    if (full[0] != '\0')
        used = query_add(query, used, "prefix", full);
    if (token == NULL && after[0] != '\0') {
        s3_address_key(address, after, full);
        query_add(query, used, "start-after", full);
    }
}

/* ---- going elsewhere ---------------------------------------------------------------------------
 */

/* AWS's hosts, without the bucket: s3.REGION, s3-REGION, s3.dualstack.REGION, all followed by the
 * domain. Points at the region in the endpoint; NULL: it names none (s3, s3-external-1). */
static const char *aws_region(const char *endpoint, size_t *bytes, const char **kind)
{
    const char *host = strstr(endpoint, "://") + 3;
    static const char dualstack[] = "dualstack.";
    *kind = "";
    if (strncasecmp(host, "s3", 2) != 0 || (host[2] != '.' && host[2] != '-'))
        return NULL;
    host += 3;
    if (strncasecmp(host, dualstack, strlen(dualstack)) == 0) {
        *kind = dualstack;
        host += strlen(dualstack);
    }
    *bytes = strcspn(host, ".");
    const char *dash = memchr(host, '-', *bytes);
    if (dash == NULL || memchr(dash + 1, '-', *bytes - (size_t)(dash + 1 - host)) == NULL)
        return NULL;
    return strncasecmp(host + *bytes, AWS_DOMAIN, strlen(AWS_DOMAIN)) == 0 ? host : NULL;
}

bool s3_address_set_region(struct s3_address *address, const char *region)
{
    struct s3_address moved = *address;
    if (!region_valid(region, address->aws) || strcmp(region, address->region) == 0)
        return false;
    memcpy(moved.region, region, strlen(region) + 1);
    if (address->aws) {
        size_t bytes;
        const char *kind;
        const char *authority = strstr(address->endpoint, "://") + 3;
        if (aws_region(address->endpoint, &bytes, &kind) == NULL &&
            strncasecmp(authority, "s3" AWS_DOMAIN, strlen("s3" AWS_DOMAIN)) != 0)
            return false;
        set_aws_endpoint(&moved, kind, region);
        if (!derive_host(&moved))
            return false;
    }
    *address = moved;
    return true;
}

enum bucket_place {
    BUCKET_NOWHERE,
    BUCKET_IN_HOST,
    BUCKET_IN_PATH,
};

static enum bucket_place find_bucket(const struct s3_address *address, const struct url *url)
{
    size_t bytes = strlen(address->bucket);
    bool in_host = url->host_bytes > bytes + 1 && url->authority[bytes] == '.' &&
                   strncasecmp(url->authority, address->bucket, bytes) == 0;
    bool in_path = url->rest[0] == '/' && strncmp(url->rest + 1, address->bucket, bytes) == 0 &&
                   strchr("/?#", url->rest[1 + bytes]) != NULL;
    if (in_host && in_path)
        return address->virtual_host ? BUCKET_IN_HOST : BUCKET_IN_PATH;
    if (in_host)
        return BUCKET_IN_HOST;
    return in_path || url->rest[0] == '\0' || strcmp(url->rest, "/") == 0 ? BUCKET_IN_PATH
                                                                          : BUCKET_NOWHERE;
}

bool s3_address_redirect(struct s3_address *address, const char *location)
{
    struct s3_address moved = *address;
    struct url url = {.tls = address->tls};
    const char *wrong = strstr(location, "://") != NULL ? split_url(location, &url)
                                                        : split_authority(location, &url);
    if (wrong != NULL || (address->tls && !url.tls))
        return false;
    enum bucket_place place = find_bucket(address, &url);
    if (place == BUCKET_NOWHERE)
        return false;
    size_t skipped = place == BUCKET_IN_HOST ? strlen(address->bucket) + 1 : 0;
    moved.tls = url.tls;
    moved.virtual_host = place == BUCKET_IN_HOST;
    snprintf(moved.endpoint, sizeof(moved.endpoint), "%s://%.*s", url.tls ? "https" : "http",
             (int)(url.authority_bytes - skipped), url.authority + skipped);
    moved.aws = host_is_aws(moved.endpoint);
    if (moved.aws) {
        size_t bytes;
        const char *kind;
        const char *region = aws_region(moved.endpoint, &bytes, &kind);
        if (region != NULL && bytes < sizeof(moved.region))
            snprintf(moved.region, sizeof(moved.region), "%.*s", (int)bytes, region);
    }
    if (!derive_host(&moved))
        return false;
    *address = moved;
    return true;
}
