/* s3_address_test.c - where requests go: hosts, paths, queries, redirects. */
#include "backend/s3_address.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

static enum open_result parse(const char *address, const char *endpoint, enum s3_style style,
                              struct s3_address *parsed)
{
    char error[STORE_ERROR_MAX] = "";
    enum open_result result =
        s3_address_parse(address, endpoint, "eu-west-3", style, parsed, error);
    CU_ASSERT_EQUAL(result != OPEN_OK, error[0] != '\0');
    return result;
}

/* s3-cases 17 and 18 */
static void hosts_follow_endpoint_bucket_and_style(void)
{
    static const struct {
        const char *address, *endpoint;
        enum s3_style style;
        const char *host, *path;
        bool tls;
    } rows[] = {
        {"bkt", "http://h:80", S3_STYLE_AUTO, "h", "/bkt/k", false},
        {"bkt", "http://h:443", S3_STYLE_AUTO, "h:443", "/bkt/k", false},
        {"bkt", "https://h:443/", S3_STYLE_AUTO, "h", "/bkt/k", true},
        {"bkt", "https://h:80", S3_STYLE_AUTO, "h:80", "/bkt/k", true},
        {"bkt", "HTTPS://h:8443", S3_STYLE_AUTO, "h:8443", "/bkt/k", true},
        {"bkt", "http://127.0.0.1:7480/", S3_STYLE_AUTO, "127.0.0.1:7480", "/bkt/k", false},
        {"bkt", "http://[::1]:80", S3_STYLE_AUTO, "[::1]", "/bkt/k", false},
        {"bkt", "http://[fe80::80]", S3_STYLE_PATH, "[fe80::80]", "/bkt/k", false},
        {"bkt", "http://h:7480", S3_STYLE_VIRTUAL, "bkt.h:7480", "/k", false},
        {"b.k.t", "http://h", S3_STYLE_AUTO, "h", "/b.k.t/k", false},
        {"b.k.t", "https://h", S3_STYLE_VIRTUAL, "b.k.t.h", "/k", true},
        {"Bk_t", "http://h", S3_STYLE_AUTO, "h", "/Bk_t/k", false},
        {"bkt", "", S3_STYLE_AUTO, "bkt.s3.eu-west-3.amazonaws.com", "/k", true},
        {"bkt", "", S3_STYLE_PATH, "s3.eu-west-3.amazonaws.com", "/bkt/k", true},
        {"b.k.t", "", S3_STYLE_AUTO, "s3.eu-west-3.amazonaws.com", "/b.k.t/k", true},
        {"bkt", "https://s3.amazonaws.com:443", S3_STYLE_AUTO, "bkt.s3.amazonaws.com", "/k", true},
        {"bkt", "https://s3.amazonaws.com.example", S3_STYLE_AUTO, "s3.amazonaws.com.example",
         "/bkt/k", true},
        {"bkt/a/b", "http://h", S3_STYLE_AUTO, "h", "/bkt/a/b/k", false},
        {"bkt/a b/", "", S3_STYLE_AUTO, "bkt.s3.eu-west-3.amazonaws.com", "/a%20b/k", true},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_address parsed;
        char path[S3_PATH_MAX];
        enum open_result result = parse(rows[i].address, rows[i].endpoint, rows[i].style, &parsed);
        CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
        CU_ASSERT_STRING_EQUAL(parsed.host, rows[i].host);
        CU_ASSERT_EQUAL(parsed.tls, rows[i].tls);
        s3_address_path(&parsed, "k", path);
        CU_ASSERT_STRING_EQUAL(path, rows[i].path);
    }
}

static void china_has_its_own_domain(void)
{
    struct s3_address parsed;
    char error[STORE_ERROR_MAX];
    enum open_result result =
        s3_address_parse("bkt", "", "cn-north-1", S3_STYLE_AUTO, &parsed, error);
    CU_ASSERT_EQUAL(result, OPEN_OK);
    CU_ASSERT_STRING_EQUAL(parsed.host, "bkt.s3.cn-north-1.amazonaws.com.cn");
}

/* s3-cases 16 */
static void odd_keys_keep_their_slashes(void)
{
    struct s3_address parsed;
    char path[S3_PATH_MAX], key[S3_KEY_MAX];
    enum open_result result = parse("bkt/p=q", "http://h", S3_STYLE_AUTO, &parsed);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    s3_address_path(&parsed, "a b+c=d%e&f//\xc3\xa9~/../", path);
    CU_ASSERT_STRING_EQUAL(path, "/bkt/p%3Dq/a%20b%2Bc%3Dd%25e%26f//%C3%A9~/../");
    s3_address_key(&parsed, "a b//", key);
    CU_ASSERT_STRING_EQUAL(key, "p=q/a b//");
    s3_address_path(&parsed, "", path);
    CU_ASSERT_STRING_EQUAL(path, "/bkt");
    result = parse("bkt/p", "", S3_STYLE_AUTO, &parsed);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    s3_address_path(&parsed, "", path);
    CU_ASSERT_STRING_EQUAL(path, "/");
}

static void the_longest_key_fits(void)
{
    struct s3_address parsed;
    char address[8 + S3_PREFIX_MAX], key[STORE_KEY_MAX], path[S3_PATH_MAX], query[S3_QUERY_MAX];
    memset(address, '+', sizeof(address));
    memcpy(address, "bkt/", 4);
    address[4 + S3_PREFIX_MAX - 1] = '\0';
    memset(key, '+', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    enum open_result result = parse(address, "http://h", S3_STYLE_AUTO, &parsed);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    s3_address_path(&parsed, key, path);
    CU_ASSERT_EQUAL(strlen(path), 5 + 3 * (S3_PREFIX_MAX - 1) + 1 + 3 * (sizeof(key) - 1));
    s3_address_list_query(&parsed, key, key, NULL, 1000, query);
    CU_ASSERT_PTR_NOT_NULL(strstr(query, "&start-after=%2B"));
    address[4 + S3_PREFIX_MAX - 1] = 'x';
    address[4 + S3_PREFIX_MAX] = '\0';
    CU_ASSERT_EQUAL(parse(address, "http://h", S3_STYLE_AUTO, &parsed), OPEN_BAD_INPUT);
}

static void list_queries_are_canonical(void)
{
    struct s3_address whole, part;
    char query[S3_QUERY_MAX];
    enum open_result result = parse("bkt", "http://h", S3_STYLE_AUTO, &whole);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    result = parse("bkt/run 1", "http://h", S3_STYLE_AUTO, &part);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    s3_address_list_query(&whole, "", "", NULL, 1000, query);
    CU_ASSERT_STRING_EQUAL(query, "encoding-type=url&list-type=2&max-keys=1000");
    s3_address_list_query(&part, "manifest/", "manifest/07", NULL, 2, query);
    CU_ASSERT_STRING_EQUAL(query, "encoding-type=url&list-type=2&max-keys=2&prefix=run%201%2F"
                                  "manifest%2F&start-after=run%201%2Fmanifest%2F07");
    s3_address_list_query(&part, "", "a", "t/+=", 2, query);
    CU_ASSERT_STRING_EQUAL(query, "continuation-token=t%2F%2B%3D&encoding-type=url&list-type=2&"
                                  "max-keys=2&prefix=run%201%2F");
}

static void bad_addresses_say_what_is_wrong(void)
{
    static const struct {
        const char *address, *said;
    } rows[] = {{"", "no bucket"},
                {"/prefix", "no bucket"},
                {"ab", "3 to 63"},
                {"0123456789012345678901234567890123456789012345678901234567890123", "3 to 63"},
                {"b c", "letters"},
                {"-bkt", "begin and end"},
                {"bkt-", "begin and end"},
                {"b..t", "two dots"},
                {"10.0.0.1", "IP addresses"},
                {"arn:aws:s3:::bkt", "letters"},
                {"bkt//", "empty component"},
                {"bkt//a", "empty component"},
                {"bkt/a//b", "empty component"},
                {"bkt/a//", "empty component"},
                {"bkt/a/../b", "resolve away"},
                {"bkt/.", "resolve away"},
                {"bkt/a\nb", "control character"},
                {"key:secret@bkt/p", "letters"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char error[STORE_ERROR_MAX] = "";
        CU_ASSERT_EQUAL(s3_address_check(rows[i].address, error), OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].said));
        CU_ASSERT_PTR_NULL(strstr(error, "secret"));
    }
    char error[STORE_ERROR_MAX] = "";
    CU_ASSERT_EQUAL(s3_address_check("bkt/..a/b.", error), OPEN_OK);
}

static void bad_endpoints_say_what_is_wrong(void)
{
    static const struct {
        const char *endpoint, *said;
    } rows[] = {{"localhost:9000", "scheme"},
                {"ftp://h", "scheme"},
                {"https:/h", "scheme"},
                {"http://", "names no host"},
                {"http://:80", "names no host"},
                {"http://h:", "port"},
                {"http://h:0", "port"},
                {"http://h:65536", "port"},
                {"http://h:8o", "port"},
                {"http://h/bkt", "behind the host"},
                {"http://h?x", "behind the host"},
                {"http://h//", "behind the host"},
                {"http://::1:80", "brackets"},
                {"http://[::g]", "IPv6"},
                {"http://[::1", "IPv6"},
                {"http://[::1]x", "port"},
                {"http://a..b", "names no host"},
                {"http://a b", "names no host"},
                {"http://-a", "names no host"},
                {"http://key:secret@h", "user"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_address parsed;
        char error[STORE_ERROR_MAX] = "";
        enum open_result result =
            s3_address_parse("bkt", rows[i].endpoint, "eu-west-3", S3_STYLE_AUTO, &parsed, error);
        CU_ASSERT_EQUAL(result, OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].said));
        CU_ASSERT_PTR_NULL(strstr(error, "secret"));
    }
}

static void what_does_not_go_together_is_refused(void)
{
    static const struct {
        const char *address, *endpoint, *region;
        enum s3_style style;
        const char *said;
    } rows[] = {{"Bkt", "", "eu-west-3", S3_STYLE_AUTO, "lower-case"},
                {"b_kt", "http://h", "eu-west-3", S3_STYLE_VIRTUAL, "lower-case"},
                {"bkt", "http://127.0.0.1:80", "eu-west-3", S3_STYLE_VIRTUAL, "numbers"},
                {"bkt", "http://[::1]", "eu-west-3", S3_STYLE_VIRTUAL, "numbers"},
                {"bkt", "http://h", "", S3_STYLE_AUTO, "region"},
                {"bkt", "http://h", "a/b", S3_STYLE_AUTO, "region"},
                {"bkt", "", "evil.example/", S3_STYLE_AUTO, "region"},
                {"bkt", "", "Eu.west", S3_STYLE_AUTO, "region"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_address parsed;
        char error[STORE_ERROR_MAX] = "";
        enum open_result result = s3_address_parse(rows[i].address, rows[i].endpoint,
                                                   rows[i].region, rows[i].style, &parsed, error);
        CU_ASSERT_EQUAL(result, OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].said));
    }
}

/* s3-cases 19 */
static void redirects_are_followed_where_they_can_be(void)
{
    static const char path[] = "http://h:7480", tls[] = "https://h";
    static const struct {
        const char *endpoint, *location;
        const char *host; /* NULL: not followed */
        const char *path;
    } rows[] = {
        {path, "http://other:80/bkt/p/k?x=1", "other", "/bkt/p/k"},
        {path, "https://other/bkt", "other", "/bkt/p/k"},
        {path, "http://other:81", "other:81", "/bkt/p/k"},
        {path, "http://[::1]:81/bkt/p/k", "[::1]:81", "/bkt/p/k"},
        {path, "http://bkt.other:81/p/k", "bkt.other:81", "/p/k"},
        {path, "other:81", "other:81", "/bkt/p/k"},
        {tls, "bkt.other", "bkt.other", "/p/k"},
        {"", "https://bkt.s3-us-west-2.amazonaws.com/k", "bkt.s3-us-west-2.amazonaws.com", "/p/k"},
        {"", "bkt.s3.us-west-2.amazonaws.com", "bkt.s3.us-west-2.amazonaws.com", "/p/k"},
        {"", "s3.us-west-2.amazonaws.com", "s3.us-west-2.amazonaws.com", "/bkt/p/k"},
        {tls, "http://other/bkt/p/k", NULL, NULL},
        {path, "ftp://other/bkt/p/k", NULL, NULL},
        {path, "http://user:secret@other/bkt/p/k", NULL, NULL},
        {path, "http://login.example/portal", NULL, NULL},
        {path, "http://other/bktx", NULL, NULL},
        {path, "http:///bkt", NULL, NULL},
        {path, "", NULL, NULL},
        {path, "/bkt/p/k", NULL, NULL},
        {path, "http://other:99999/bkt", NULL, NULL},
        {path, "http://bkt./bkt", NULL, NULL},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_address parsed, before;
        char got[S3_PATH_MAX];
        enum open_result result = parse("bkt/p", rows[i].endpoint, S3_STYLE_AUTO, &parsed);
        CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
        before = parsed;
        bool followed = s3_address_redirect(&parsed, rows[i].location);
        CU_ASSERT_EQUAL(followed, rows[i].host != NULL);
        if (!followed) {
            CU_ASSERT_EQUAL(memcmp(&parsed, &before, sizeof(parsed)), 0);
            continue;
        }
        s3_address_path(&parsed, "k", got);
        CU_ASSERT_STRING_EQUAL(parsed.host, rows[i].host);
        CU_ASSERT_STRING_EQUAL(got, rows[i].path);
        bool west = strstr(rows[i].location, "us-west-2") != NULL;
        CU_ASSERT_STRING_EQUAL(parsed.region, west ? "us-west-2" : "eu-west-3");
    }
}

/* A host that holds the bucket, and a path that holds it, too: the style stays as it was. */
static void an_ambiguous_redirect_keeps_the_style(void)
{
    static const enum s3_style styles[] = {S3_STYLE_PATH, S3_STYLE_VIRTUAL};
    for (size_t i = 0; i < 2; i++) {
        struct s3_address parsed;
        enum open_result result = parse("bkt", "http://h", styles[i], &parsed);
        CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
        CU_ASSERT_TRUE(s3_address_redirect(&parsed, "http://bkt.other/bkt/k"));
        CU_ASSERT_EQUAL(parsed.virtual_host, styles[i] == S3_STYLE_VIRTUAL);
        CU_ASSERT_STRING_EQUAL(parsed.host, "bkt.other");
    }
}

static void regions_move_hosts_of_aws_only(void)
{
    static const struct {
        const char *endpoint, *region;
        const char *host; /* NULL: refused */
    } rows[] = {
        {"", "us-west-2", "bkt.s3.us-west-2.amazonaws.com"},
        {"", "cn-north-1", "bkt.s3.cn-north-1.amazonaws.com.cn"},
        {"https://s3.amazonaws.com", "us-west-2", "bkt.s3.us-west-2.amazonaws.com"},
        {"https://s3.dualstack.eu-west-3.amazonaws.com", "us-west-2",
         "bkt.s3.dualstack.us-west-2.amazonaws.com"},
        {"https://bucket.vpce-1a.s3.eu-west-3.vpce.amazonaws.com", "us-west-2", NULL},
        {"", "eu-west-3", NULL},
        {"", "evil.example/", NULL},
        {"http://h:7480", "default", "h:7480"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct s3_address parsed;
        enum open_result result = parse("bkt", rows[i].endpoint, S3_STYLE_AUTO, &parsed);
        CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
        bool moved = s3_address_set_region(&parsed, rows[i].region);
        CU_ASSERT_EQUAL(moved, rows[i].host != NULL);
        if (moved)
            CU_ASSERT_STRING_EQUAL(parsed.host, rows[i].host);
        CU_ASSERT_STRING_EQUAL(parsed.region, moved ? rows[i].region : "eu-west-3");
    }
}

const struct harness_test s3_address_tests[] = {
    HARNESS_TEST(hosts_follow_endpoint_bucket_and_style),
    HARNESS_TEST(china_has_its_own_domain),
    HARNESS_TEST(odd_keys_keep_their_slashes),
    HARNESS_TEST(the_longest_key_fits),
    HARNESS_TEST(list_queries_are_canonical),
    HARNESS_TEST(bad_addresses_say_what_is_wrong),
    HARNESS_TEST(bad_endpoints_say_what_is_wrong),
    HARNESS_TEST(what_does_not_go_together_is_refused),
    HARNESS_TEST(redirects_are_followed_where_they_can_be),
    HARNESS_TEST(an_ambiguous_redirect_keeps_the_style),
    HARNESS_TEST(regions_move_hosts_of_aws_only),
    {0}};
