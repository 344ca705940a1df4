/* sigv4_test.c - signatures against those that AWS has published: the S3 examples of
 * "Authenticating Requests: Using the Authorization Header", and the general SigV4 test suite where
 * S3's rules (a path is encoded once and never normalised) say the same. */
#include "backend/sigv4.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define PUT_HASH "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
#define FORM_HASH "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"
#define SECRET "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define SUITE_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

struct vector {
    const char *name;
    const char *method;
    const char *path;
    const char *query;
    struct sigv4_header headers[6];
    const char *payload_hash;
    const char *signed_names;
    const char *signature;
};

static void check(const struct vector *vector, const char *service, const char *time)
{
    bool suite = strcmp(service, "s3") != 0;
    struct sigv4_request request = {.service = service,
                                    .method = vector->method,
                                    .path = vector->path,
                                    .query = vector->query,
                                    .headers = vector->headers,
                                    .payload_hash = vector->payload_hash};
    struct sigv4_key key = {0};
    char authorization[SIGV4_AUTHORIZATION_MAX], wanted[SIGV4_AUTHORIZATION_MAX];
    const char *access_key = suite ? "AKIDEXAMPLE" : "AKIAIOSFODNN7EXAMPLE";
    while (request.header_count < 6 && vector->headers[request.header_count].name != NULL)
        request.header_count++;
    memcpy(request.time, time, SIGV4_TIME_MAX);
    sigv4_sign(&key, access_key, suite ? SUITE_SECRET : SECRET, "us-east-1", &request,
               authorization);
    snprintf(wanted, sizeof(wanted),
             "AWS4-HMAC-SHA256 Credential=%s/%.8s/us-east-1/%s/aws4_request, "
             "SignedHeaders=%s, Signature=%s",
             access_key, time, service, vector->signed_names, vector->signature);
    CU_ASSERT_STRING_EQUAL(authorization, wanted);
    if (strcmp(authorization, wanted) != 0)
        printf("%s: %s\n", vector->name, authorization);
    sigv4_key_wipe(&key);
}

#define S3_HOST                                                                                    \
    {                                                                                              \
        "host", "examplebucket.s3.amazonaws.com"                                                   \
    }
#define S3_DATE                                                                                    \
    {                                                                                              \
        "x-amz-date", "20130524T000000Z"                                                           \
    }
#define S3_EMPTY                                                                                   \
    {                                                                                              \
        "x-amz-content-sha256", EMPTY_HASH                                                         \
    }
#define S3_NAMES "host;x-amz-content-sha256;x-amz-date"

static const struct vector s3_examples[] = {
    {"get object",
     "GET",
     "/test.txt",
     "",
     {S3_DATE, {"range", "bytes=0-9"}, S3_EMPTY, S3_HOST},
     EMPTY_HASH,
     "host;range;x-amz-content-sha256;x-amz-date",
     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {"put object",
     "PUT",
     "/test%24file.text",
     "",
     {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
      S3_DATE,
      {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
      S3_HOST,
      {"x-amz-content-sha256", PUT_HASH}},
     PUT_HASH,
     "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {"get bucket lifecycle",
     "GET",
     "/",
     "lifecycle=",
     {S3_HOST, S3_DATE, S3_EMPTY},
     EMPTY_HASH,
     S3_NAMES,
     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {"list objects",
     "GET",
     "/",
     "max-keys=2&prefix=J",
     {S3_HOST, S3_DATE, S3_EMPTY},
     EMPTY_HASH,
     S3_NAMES,
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
};

static void signs_the_published_s3_examples(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(s3_examples); i++)
        check(&s3_examples[i], "s3", "20130524T000000Z");
}

#define HOST                                                                                       \
    {                                                                                              \
        "host", "example.amazonaws.com"                                                            \
    }
#define DATE                                                                                       \
    {                                                                                              \
        "x-amz-date", "20150830T123600Z"                                                           \
    }
#define NAMES "host;x-amz-date"
#define UNRESERVED "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define TOKEN                                                                                      \
    "AQoDYXdzEPT//////////"                                                                        \
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPf"                     \
    "IeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/"                                                         \
    "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7W"                                    \
    "Z0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"          \
    "scqKmlzm8F"                                                                                   \
    "DrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct vector suite[] = {
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     "Param1=value1&Param2=value2",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-unreserved",
     "GET",
     "/" UNRESERVED,
     "",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-utf8",
     "GET",
     "/%E1%88%B4",
     "",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-space",
     "GET",
     "/example%20space/",
     "",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/",
     UNRESERVED "=" UNRESERVED,
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-utf8-query",
     "GET",
     "/",
     "%E1%88%B4=bar",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"get-header-key-duplicate",
     "GET",
     "/",
     "",
     {HOST, {"my-header1", "value2"}, {"my-header1", "value2"}, {"my-header1", "value1"}, DATE},
     EMPTY_HASH,
     "host;my-header1;x-amz-date",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-trim",
     "GET",
     "/",
     "",
     {{"my-header2", " \"a   b   c\"  "}, DATE, {"my-header1", " value1"}, HOST},
     EMPTY_HASH,
     "host;my-header1;my-header2;x-amz-date",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"post-vanilla",
     "POST",
     "/",
     "",
     {HOST, DATE},
     EMPTY_HASH,
     NAMES,
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-sts-header-before",
     "POST",
     "/",
     "",
     {HOST, DATE, {"x-amz-security-token", TOKEN}},
     EMPTY_HASH,
     "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     "",
     {{"content-type", "application/x-www-form-urlencoded"}, HOST, DATE},
     FORM_HASH,
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
};

static void signs_the_published_suite(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(suite); i++)
        check(&suite[i], "service", "20150830T123600Z");
}

static void sign_with(struct sigv4_key *key, const char *secret, const char *region,
                      const char *time, char authorization[SIGV4_AUTHORIZATION_MAX])
{
    static const struct sigv4_header headers[] = {HOST};
    struct sigv4_request request = {.method = "GET",
                                    .path = "/",
                                    .query = "",
                                    .headers = headers,
                                    .header_count = 1,
                                    .payload_hash = SIGV4_UNSIGNED};
    memcpy(request.time, time, SIGV4_TIME_MAX);
    sigv4_sign(key, "AKIDEXAMPLE", secret, region, &request, authorization);
}

/* A key that signed for another day, region or secret signs as a fresh one does. */
static void a_kept_key_follows_day_region_and_secret(void)
{
    static const struct {
        const char *secret, *region, *time;
    } rows[] = {{"one", "us-east-1", "20260131T235959Z"}, {"one", "us-east-1", "20260131T000000Z"},
                {"one", "us-east-1", "20260201T000000Z"}, {"one", "eu-west-3", "20260201T000000Z"},
                {"two", "eu-west-3", "20260201T000000Z"}, {"one", "us-east-1", "20260131T235959Z"}};
    struct sigv4_key kept = {0};
    char first[SIGV4_AUTHORIZATION_MAX] = "", before[SIGV4_AUTHORIZATION_MAX] = "";
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct sigv4_key fresh = {0};
        char wanted[SIGV4_AUTHORIZATION_MAX], got[SIGV4_AUTHORIZATION_MAX];
        sign_with(&fresh, rows[i].secret, rows[i].region, rows[i].time, wanted);
        sign_with(&kept, rows[i].secret, rows[i].region, rows[i].time, got);
        CU_ASSERT_STRING_EQUAL(got, wanted);
        CU_ASSERT_STRING_NOT_EQUAL(got, before);
        memcpy(i == 0 ? first : before, got, sizeof(got));
        sigv4_key_wipe(&fresh);
    }
    CU_ASSERT_STRING_EQUAL(before, first);
    sigv4_key_wipe(&kept);
}

static void a_wiped_key_is_empty_and_usable(void)
{
    static const struct sigv4_key empty;
    struct sigv4_key key = {0};
    char before[SIGV4_AUTHORIZATION_MAX], after[SIGV4_AUTHORIZATION_MAX];
    sigv4_key_wipe(&key);
    sign_with(&key, "secret", "us-east-1", "20260131T235959Z", before);
    CU_ASSERT_TRUE(key.derived);
    sigv4_key_wipe(&key);
    CU_ASSERT_EQUAL(memcmp(&key, &empty, sizeof(key)), 0);
    sign_with(&key, "secret", "us-east-1", "20260131T235959Z", after);
    CU_ASSERT_STRING_EQUAL(after, before);
    sigv4_key_wipe(&key);
}

static void times_are_written(void)
{
    static const struct {
        int64_t unix_ns;
        const char *text;
    } rows[] = {{0, "19700101T000000Z"},
                {NS_PER_S - 1, "19700101T000000Z"},
                {951782400 * NS_PER_S, "20000229T000000Z"},
                {1369353600 * NS_PER_S, "20130524T000000Z"},
                {1769903999 * NS_PER_S + 999999999, "20260131T235959Z"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char text[SIGV4_TIME_MAX];
        sigv4_time(rows[i].unix_ns, text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
    }
}

static void hashes_are_written(void)
{
    char hash[SIGV4_HASH_MAX];
    sigv4_hash("", 0, hash);
    CU_ASSERT_STRING_EQUAL(hash, EMPTY_HASH);
    sigv4_hash(NULL, 0, hash);
    CU_ASSERT_STRING_EQUAL(hash, EMPTY_HASH);
    sigv4_hash("Welcome to Amazon S3.", 21, hash);
    CU_ASSERT_STRING_EQUAL(hash, PUT_HASH);
    sigv4_hash("Param1=value1", 13, hash);
    CU_ASSERT_STRING_EQUAL(hash, FORM_HASH);
}

/* s3-cases 16 */
static void odd_texts_are_encoded_once(void)
{
    static const struct {
        const char *text;
        enum sigv4_slash slash;
        const char *encoded;
    } rows[] = {{"", SIGV4_KEEP_SLASH, ""},
                {UNRESERVED, SIGV4_KEEP_SLASH, UNRESERVED},
                {"a b+c=d%e&f", SIGV4_KEEP_SLASH, "a%20b%2Bc%3Dd%25e%26f"},
                {"a//b/./../c/", SIGV4_KEEP_SLASH, "a//b/./../c/"},
                {"a//b", SIGV4_ENCODE_SLASH, "a%2F%2Fb"},
                {"%2F%20", SIGV4_KEEP_SLASH, "%252F%2520"},
                {"\xe1\x88\xb4~\xff\x01\x7f", SIGV4_KEEP_SLASH, "%E1%88%B4~%FF%01%7F"},
                {"!\"#$'()*,:;<>?@[\\]^`{|}", SIGV4_KEEP_SLASH,
                 "%21%22%23%24%27%28%29%2A%2C%3A%3B%3C%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char encoded[256];
        size_t length = sigv4_encode(rows[i].text, rows[i].slash, encoded, sizeof(encoded));
        CU_ASSERT_STRING_EQUAL(encoded, rows[i].encoded);
        CU_ASSERT_EQUAL(length, strlen(rows[i].encoded));
    }
}

/* Whatever the capacity: nothing is written behind it, and no escape is cut in two. */
static void encoding_is_cut_to_its_buffer(void)
{
    static const char wanted[] = "a%20b%2Fc";
    for (size_t capacity = 0; capacity <= sizeof(wanted); capacity++) {
        char *encoded = malloc(capacity > 0 ? capacity : 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(encoded);
        size_t length = sigv4_encode("a b/c", SIGV4_ENCODE_SLASH, encoded, capacity);
        CU_ASSERT_EQUAL(length, sizeof(wanted) - 1);
        if (capacity > 0) {
            size_t kept = strlen(encoded);
            CU_ASSERT_TRUE(kept < capacity);
            CU_ASSERT_EQUAL(strncmp(encoded, wanted, kept), 0);
            CU_ASSERT_TRUE(kept == 0 || encoded[kept - 1] != '%');
        }
        free(encoded);
    }
}

const struct harness_test sigv4_tests[] = {HARNESS_TEST(signs_the_published_s3_examples),
                                           HARNESS_TEST(signs_the_published_suite),
                                           HARNESS_TEST(a_kept_key_follows_day_region_and_secret),
                                           HARNESS_TEST(a_wiped_key_is_empty_and_usable),
                                           HARNESS_TEST(times_are_written),
                                           HARNESS_TEST(hashes_are_written),
                                           HARNESS_TEST(odd_texts_are_encoded_once),
                                           HARNESS_TEST(encoding_is_cut_to_its_buffer),
                                           {0}};
