/* s3_xml_test.c - documents of S3, right, unusual and hostile. */
#include "backend/s3_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define NAMESPACE " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""
#define LIST(inside) DECLARATION "<ListBucketResult" NAMESPACE ">" inside "</ListBucketResult>"
#define WHOLE "<IsTruncated>false</IsTruncated>"
#define URL "<EncodingType>url</EncodingType>"
#define KEY(key, size)                                                                             \
    "<Contents><Key>" key "</Key><ETag>&quot;x&quot;</ETag><Size>" size "</Size></Contents>"

/* ---- errors ---- */

static void errors_are_read(void)
{
    static const char text[] =
        DECLARATION "<Error><Code>PermanentRedirect</Code><Message>The bucket\nis "
                    "elsewhere\x1f</Message><Endpoint>b.s3-eu-west-1.amazonaws.com</Endpoint>"
                    "<Bucket>b</Bucket><Region>eu-west-1</Region>"
                    "<ServerTime>2026-01-31T10:00:00Z</ServerTime>"
                    "<ActualObjectSize>10</ActualObjectSize>"
                    "<RequestId>4442587FB7D0A2F9</RequestId><HostId>h</HostId></Error>";
    struct s3_error error;
    char whole[sizeof(text)];
    memcpy(whole, text, sizeof(text));
    *strchr(whole, '\x1f') = '\t';
    CU_ASSERT_EQUAL(s3_xml_error((uint8_t *)whole, strlen(whole), &error), S3_XML_OK);
    CU_ASSERT_STRING_EQUAL(error.code, "PermanentRedirect");
    CU_ASSERT_STRING_EQUAL(error.message, "The bucket is elsewhere");
    CU_ASSERT_STRING_EQUAL(error.endpoint, "b.s3-eu-west-1.amazonaws.com");
    CU_ASSERT_STRING_EQUAL(error.region, "eu-west-1");
    CU_ASSERT_STRING_EQUAL(error.server_time, "2026-01-31T10:00:00Z");
    CU_ASSERT_STRING_EQUAL(error.request_id, "4442587FB7D0A2F9");
    CU_ASSERT_EQUAL(error.object_bytes, 10);
    /* Cut anywhere: what was read whole counts, and nothing else is made up. */
    for (size_t bytes = 0; bytes < strlen(whole); bytes++) {
        enum s3_xml result = s3_xml_error((uint8_t *)whole, bytes, &error);
        size_t root = (size_t)(strstr(whole, "<Error>") - whole) + strlen("<Error>");
        CU_ASSERT_EQUAL(result, bytes < root ? S3_XML_MALFORMED : S3_XML_OK);
        CU_ASSERT(error.code[0] == '\0' || strcmp(error.code, "PermanentRedirect") == 0);
        CU_ASSERT(error.region[0] == '\0' || strcmp(error.region, "eu-west-1") == 0);
    }
}

static void error_documents_of_all_kinds(void)
{
    static const struct {
        const char *body;
        enum s3_xml result;
        const char *code;
        const char *message;
    } cases[] = {
        {"", S3_XML_MALFORMED, "", ""},
        {"Forbidden\n", S3_XML_MALFORMED, "", ""},
        {"<html><body>502 Bad Gateway</body></html>", S3_XML_OTHER, "", ""},
        {"<!DOCTYPE html><html></html>", S3_XML_MALFORMED, "", ""},
        {"<ListBucketResult><Error><Code>X</Code></Error></ListBucketResult>", S3_XML_OTHER, "",
         ""},
        {"<Error/>", S3_XML_OK, "", ""},
        {"<Error><Code>SlowDown</Code><Message/></Error>", S3_XML_OK, "SlowDown", ""},
        {"<s3:Error xmlns:s3=\"urn:x\"><s3:Code>SlowDown</s3:Code></s3:Error>", S3_XML_OK,
         "SlowDown", ""},
        {"<Error><Detail><Code>Inner</Code></Detail></Error>", S3_XML_OK, "", ""},
        {"<Error><Code>A&amp;B &#27;[2J</Code></Error>", S3_XML_OK, "", ""}, /* no XML character */
        {"<Error><Code>A&lt;B</Code><Message>&#128169;</Message></Error>", S3_XML_OK, "A<B", "?"},
        {"<!DOCTYPE Error [<!ENTITY a \"b\">]><Error><Code>&a;</Code></Error>", S3_XML_MALFORMED,
         "", ""},
        {"<Error><Code>&undefined;</Code></Error>", S3_XML_OK, "", ""},
        {"<Error><Message>token "
         "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4 is bad</Message></Error>",
         S3_XML_OK, "", "token [...] is bad"},
        {"<?xml version=\"1.0\" encoding=\"UTF-7\"?><Error/>", S3_XML_MALFORMED, "", ""},
        {"<Error><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><Code>X</Code>", S3_XML_OK, "",
         ""},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct s3_error error;
        const uint8_t *body = (const uint8_t *)cases[i].body;
        CU_ASSERT_EQUAL(s3_xml_error(body, strlen(cases[i].body), &error), cases[i].result);
        CU_ASSERT_STRING_EQUAL(error.code, cases[i].code);
        CU_ASSERT_STRING_EQUAL(error.message, cases[i].message);
        CU_ASSERT_EQUAL(error.object_bytes, -1);
    }
}

static void addresses_are_whole_or_missing(void)
{
    char body[1024];
    struct s3_error error;
    snprintf(body, sizeof(body), "<Error><Region>%070d</Region><Endpoint>%0300d</Endpoint></Error>",
             1, 1);
    CU_ASSERT_EQUAL(s3_xml_error((uint8_t *)body, strlen(body), &error), S3_XML_OK);
    CU_ASSERT_STRING_EQUAL(error.region, "");
    CU_ASSERT_STRING_EQUAL(error.endpoint, "");
}

/* ---- listings ---- */

struct listing {
    struct list_page page;
    struct s3_list_result result;
    char why[STORE_ERROR_MAX];
};

static enum s3_xml list_text(struct listing *listing, const char *prefix, const char *body)
{
    return s3_xml_list((const uint8_t *)body, strlen(body), prefix, &listing->page,
                       &listing->result, listing->why);
}

static void listings_are_read(void)
{
    struct listing listing = {0};
    enum s3_xml result = list_text(
        &listing, "run 1/",
        LIST("<Name>b</Name><Prefix>run+1/</Prefix><KeyCount>3</KeyCount>" URL
             "<IsTruncated>true</IsTruncated>" KEY("run+1/", "0") KEY("run+1/a%2Bb", "0")
                 KEY("run%201/a%C3%BC/~", "17") KEY(
                     "run+1/b%26%25&amp;", "9223372036854775807") "<NextContinuationToken>1/x==&gt;"
                                                                  "</NextContinuationToken>"));
    CU_ASSERT_EQUAL(result, S3_XML_OK);
    CU_ASSERT_STRING_EQUAL(listing.why, "");
    CU_ASSERT_EQUAL_FATAL(listing.page.count, 3);
    CU_ASSERT_STRING_EQUAL(list_page_key(&listing.page, 0), "a+b");
    CU_ASSERT_STRING_EQUAL(list_page_key(&listing.page, 1), "a\xc3\xbc/~");
    CU_ASSERT_STRING_EQUAL(list_page_key(&listing.page, 2), "b&%&");
    CU_ASSERT_EQUAL(listing.page.object_bytes[1], 17);
    CU_ASSERT_EQUAL(listing.page.object_bytes[2], INT64_MAX);
    CU_ASSERT(listing.result.truncated);
    CU_ASSERT_STRING_EQUAL(listing.result.token, "1/x==>");
    /* The next page goes on in order, or not at all. */
    CU_ASSERT_EQUAL(list_text(&listing, "run 1/", LIST(WHOLE KEY("run 1/c", "1"))), S3_XML_OK);
    CU_ASSERT_EQUAL(listing.page.count, 4);
    CU_ASSERT_FALSE(listing.result.truncated);
    CU_ASSERT_EQUAL(list_text(&listing, "run 1/", LIST(WHOLE KEY("run 1/c", "1"))),
                    S3_XML_MALFORMED);
    CU_ASSERT_PTR_NOT_NULL(strstr(listing.why, "ascending order"));
    list_page_deinit(&listing.page);
}

static void encoding_counts_wherever_it_is_said(void)
{
    struct listing listing = {0};
    CU_ASSERT_EQUAL(list_text(&listing, "", LIST(WHOLE KEY("a+b%20c", "1"))), S3_XML_OK);
    CU_ASSERT_STRING_EQUAL(list_page_key(&listing.page, 0), "a+b%20c");
    list_page_clear(&listing.page);
    CU_ASSERT_EQUAL(list_text(&listing, "", LIST(KEY("a+b%20c", "1") WHOLE URL)), S3_XML_OK);
    CU_ASSERT_STRING_EQUAL(list_page_key(&listing.page, 0), "a b c");
    list_page_deinit(&listing.page);
}

static void bad_listings_are_refused(void)
{
    static const struct {
        const char *body;
        enum s3_xml result;
        const char *why;
    } cases[] = {
        {"", S3_XML_MALFORMED, "no element"},
        {"<html><body>Please log in</body></html>", S3_XML_OTHER, "<html>"},
        {"<Error><Code>X</Code></Error>", S3_XML_OTHER, "<Error>"},
        {LIST(WHOLE) "x", S3_XML_MALFORMED, "after document element"},
        {"<ListBucketResult>" WHOLE, S3_XML_MALFORMED, "no element"},
        {LIST(""), S3_XML_MALFORMED, "whether more"},
        {LIST("<IsTruncated>maybe</IsTruncated>"), S3_XML_MALFORMED, "whether more"},
        {LIST("<IsTruncated>true</IsTruncated>"), S3_XML_MALFORMED, "no token"},
        {LIST(WHOLE KEY("q/a", "1")), S3_XML_MALFORMED, "q/a, which is not below p/"},
        {LIST(WHOLE KEY("p", "1")), S3_XML_MALFORMED, "not below"},
        {LIST(WHOLE KEY("p/b", "1") KEY("p/a", "1")), S3_XML_MALFORMED, "p/a comes late"},
        {LIST(WHOLE KEY("p/a", "1") KEY("p/a", "1")), S3_XML_MALFORMED, "p/a comes late"},
        {LIST(WHOLE KEY("p/a", "")), S3_XML_MALFORMED, "not a number"},
        {LIST(WHOLE KEY("p/a", "-1")), S3_XML_MALFORMED, "not a number"},
        {LIST(WHOLE KEY("p/a", "9223372036854775808")), S3_XML_MALFORMED, "not a number"},
        {LIST(WHOLE "<Contents><Key>p/a</Key></Contents>"), S3_XML_MALFORMED, "no size"},
        {LIST(WHOLE "<Contents><Size>1</Size></Contents>"), S3_XML_MALFORMED, "no key"},
        {LIST(WHOLE "<Contents><Key>p/a</Key><Key>p/b</Key><Size>1</Size></Contents>"),
         S3_XML_MALFORMED, "two of <Key>"},
        {LIST(WHOLE URL KEY("p/a%", "1")), S3_XML_MALFORMED, "not url-encoded"},
        {LIST(WHOLE URL KEY("p/a%2", "1")), S3_XML_MALFORMED, "not url-encoded"},
        {LIST(WHOLE URL KEY("p/a%zz", "1")), S3_XML_MALFORMED, "not url-encoded"},
        {LIST(WHOLE URL KEY("p/a%00", "1")), S3_XML_MALFORMED, "not url-encoded"},
        {LIST("<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"), S3_XML_MALFORMED, "nested"},
        {"<!DOCTYPE ListBucketResult SYSTEM \"file:///etc/passwd\">" LIST(WHOLE), S3_XML_MALFORMED,
         "document type"},
        {"<!DOCTYPE x [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><ListBucketResult>&b;"
         "</ListBucketResult>",
         S3_XML_MALFORMED, "document type"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct listing listing = {0};
        CU_ASSERT_EQUAL(list_text(&listing, "p/", cases[i].body), cases[i].result);
        if (strstr(listing.why, cases[i].why) == NULL)
            fprintf(stderr, "\n'%s' lacks '%s'\n", listing.why, cases[i].why);
        CU_ASSERT_PTR_NOT_NULL(strstr(listing.why, cases[i].why));
        list_page_deinit(&listing.page);
    }
}

/* A document with one element of `bytes` bytes of text in it; freed by the caller. */
static char *long_listing(const char *before, size_t bytes, const char *after)
{
    size_t capacity = strlen(before) + bytes + strlen(after) + 1;
    char *body = malloc(capacity);
    CU_ASSERT_PTR_NOT_NULL_FATAL(body);
    snprintf(body, capacity, "%s%0*d%s", before, (int)bytes, 7, after);
    return body;
}

static void limits_hold_at_their_edges(void)
{
#define OPEN "<ListBucketResult>" WHOLE
#define CLOSE "</ListBucketResult>"
    static const struct {
        const char *before;
        const char *after;
        size_t bytes; /* the most that is taken */
        const char *why;
    } cases[] = {
        {OPEN "<Contents><Key>", "</Key><Size>1</Size></Contents>" CLOSE, STORE_KEY_MAX - 1,
         "longer than any key"},
        {OPEN "<NextContinuationToken>", "</NextContinuationToken>" CLOSE, S3_TOKEN_MAX - 1,
         "token is longer"},
        {OPEN "<Other>", "</Other>" CLOSE, S3_XML_TEXT_MAX, "bytes of text"},
        {OPEN "<!--", "-->" CLOSE,
         S3_XML_BYTES_MAX -
             sizeof(OPEN "<!--"
                         "-->" CLOSE) +
             1,
         "larger than"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++)
        for (size_t more = 0; more < 2; more++) {
            struct listing listing = {0};
            char *body = long_listing(cases[i].before, cases[i].bytes + more, cases[i].after);
            CU_ASSERT_EQUAL(list_text(&listing, "", body),
                            more == 0 ? S3_XML_OK : S3_XML_MALFORMED);
            CU_ASSERT_EQUAL(strstr(listing.why, cases[i].why) != NULL, more == 1);
            list_page_deinit(&listing.page);
            free(body);
        }
}

static void a_page_takes_a_thousand_keys(void)
{
    struct listing listing = {0};
    for (int keys = STORE_LIST_KEYS_MAX; keys <= STORE_LIST_KEYS_MAX + 1; keys++) {
        char *body = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&body, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
        fprintf(stream, OPEN);
        for (int i = 0; i < keys; i++)
            fprintf(stream, "<Contents><Key>%05d</Key><Size>%d</Size></Contents>", i, i);
        fprintf(stream, CLOSE);
        fclose(stream);
        bool fits = keys == STORE_LIST_KEYS_MAX;
        CU_ASSERT_EQUAL(list_text(&listing, "", body), fits ? S3_XML_OK : S3_XML_MALFORMED);
        CU_ASSERT_EQUAL(listing.page.count, fits ? STORE_LIST_KEYS_MAX : 0);
        list_page_clear(&listing.page);
        free(body);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(listing.why, "more keys than were asked for"));
    list_page_deinit(&listing.page);
}

const struct harness_test s3_xml_tests[] = {HARNESS_TEST(errors_are_read),
                                            HARNESS_TEST(error_documents_of_all_kinds),
                                            HARNESS_TEST(addresses_are_whole_or_missing),
                                            HARNESS_TEST(listings_are_read),
                                            HARNESS_TEST(encoding_counts_wherever_it_is_said),
                                            HARNESS_TEST(bad_listings_are_refused),
                                            HARNESS_TEST(limits_hold_at_their_edges),
                                            HARNESS_TEST(a_page_takes_a_thousand_keys),
                                            {0}};
