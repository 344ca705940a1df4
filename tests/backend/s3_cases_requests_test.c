/* s3_cases_requests_test.c - what is sent, and to whom: rows 12, 16 to 19, 22, 23
 * and 25 of docs/s3.md. That every request is plain (rows 12, 13, 25) is asserted of all the
 * rows: world_close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/backend/s3_world.h"
#include "tests/harness.h"

static struct hostile_match create_of(uint64_t version)
{
    return (struct hostile_match){HOSTILE_CREATE, world_version(version)};
}

/* ---- rows 12, 25 ---- */

/* Bodies above a mebibyte are those before which libcurl would ask by Expect. */
static void row_12_large_bodies_are_sent_plain(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.batch_bytes = 3 << 20, .batches = 2});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_PUT, NULL, 200), 2);
    world_close(&world);
}

static void row_12_payloads_may_be_unsigned_over_https(void)
{
    struct world world;
    struct hostile_request *request = malloc(sizeof(*request));
    char hash[128];
    world_open(&world, &(struct world_options){.server = {.transport = HOSTILE_HTTPS},
                                               .s3 = {.payload = S3_PAYLOAD_UNSIGNED}});
    world_run_well(&world);
    for (size_t i = 0; hostile_server_request(world.server, i, request); i++)
        if (request->verb == HOSTILE_PUT || request->verb == HOSTILE_CREATE) {
            CU_ASSERT_TRUE(
                hostile_request_header(request, "x-amz-content-sha256", hash, sizeof(hash)));
            CU_ASSERT_STRING_EQUAL(hash, "UNSIGNED-PAYLOAD");
        }
    free(request);
    world_close(&world);
}

static void row_25_the_star_is_bare(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 2});
    world_run_well(&world); /* a quoted one would be answered 501 */
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_CREATE, NULL, 200) >= 5);
    world_close(&world);
}

/* ---- row 16 ---- */

static const struct {
    const char *key;
    const char *target;
} odd_keys[] = {
    {"a b", "/bucket/run/a%20b"},
    {"a+b", "/bucket/run/a%2Bb"},
    {"a=b", "/bucket/run/a%3Db"},
    {"100%", "/bucket/run/100%25"},
    {"%2F%41", "/bucket/run/%252F%2541"},
    {"a&b?c#d", "/bucket/run/a%26b%3Fc%23d"},
    {"\xc3\xbc\xe6\x97\xa5", "/bucket/run/%C3%BC%E6%97%A5"},
    {"~-._", "/bucket/run/~-._"},
    {"x//y", "/bucket/run/x//y"},
    {"a/../b/./c", "/bucket/run/a/../b/./c"},
    {"(a)*!'$,;:@", "/bucket/run/%28a%29%2A%21%27%24%2C%3B%3A%40"},
};

struct seen_keys {
    uint32_t count;
    bool seen[HARNESS_COUNT(odd_keys)];
};

static void see_key(const char *key, void *context)
{
    struct seen_keys *seen = context;
    seen->count++;
    for (size_t i = 0; i < HARNESS_COUNT(odd_keys); i++)
        seen->seen[i] |= strcmp(key, odd_keys[i].key) == 0;
}

static void row_16_odd_keys_round_trip(void)
{
    struct world world;
    struct seen_keys seen = {0};
    struct hostile_request *request = malloc(sizeof(*request));
    world_open(&world, &(struct world_options){0});
    struct fixture fixture = {.loop = world.loop, .store = world.bytes};
    for (size_t i = 0; i < HARNESS_COUNT(odd_keys); i++) {
        const char *key = odd_keys[i].key;
        char full[HOSTILE_KEY_MAX];
        size_t bytes = 0;
        struct body body;
        CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT_IF_ABSENT, key, text_body("odd"), NULL),
                        STORE_OK);
        CU_ASSERT_TRUE(hostile_server_request(world.server, 2 * i, request));
        CU_ASSERT_STRING_EQUAL(request->target, odd_keys[i].target);
        snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
        free(hostile_server_get(world.server, full, &bytes));
        CU_ASSERT_EQUAL(bytes, 3);
        CU_ASSERT_EQUAL(fixture_get(&fixture, key, &body, NULL), STORE_OK);
        CU_ASSERT_EQUAL(body.bytes, 3);
        body_release(&body);
    }
    fixture_list(&fixture, "", see_key, &seen);
    CU_ASSERT_EQUAL(seen.count, HARNESS_COUNT(odd_keys));
    for (size_t i = 0; i < HARNESS_COUNT(odd_keys); i++) {
        CU_ASSERT_TRUE(seen.seen[i]);
        CU_ASSERT_EQUAL(fixture_delete(&fixture, odd_keys[i].key), STORE_OK);
    }
    char key[HOSTILE_KEY_MAX];
    CU_ASSERT_FALSE(hostile_server_next_key(world.server, "", "", key));
    free(request);
    world_close(&world);
}

/* ---- row 17 ---- */

/* Host as the server saw it; every other header is signed together with it. */
static void check_host(const struct hostile_options *server, const char *endpoint,
                       const char *expected)
{
    struct world world;
    struct hostile_request *request = malloc(sizeof(*request));
    char host[128] = "";
    world_credentials(NULL);
    struct hostile_server *started = hostile_server_start(server);
    CU_ASSERT_PTR_NOT_NULL_FATAL(started);
    world_open_on(&world, started,
                  &(struct world_options){.server = *server, .s3 = {.endpoint = endpoint}});
    world_run_well(&world);
    CU_ASSERT_TRUE(hostile_server_request(started, 0, request));
    CU_ASSERT_TRUE(hostile_request_header(request, "host", host, sizeof(host)));
    CU_ASSERT_STRING_EQUAL(host, expected);
    free(request);
    world_close(&world);
}

static bool can_listen(const char *host, uint16_t port)
{
    struct hostile_server *server =
        hostile_server_start(&(struct hostile_options){.host = host, .port = port});
    if (server != NULL)
        hostile_server_stop(server);
    return server != NULL;
}

static void row_17_the_default_port_is_not_named(void)
{
    static const char *const host = "127.0.0.117";
    if (!can_listen(host, 80) || !can_listen(host, 443))
        HARNESS_SKIP("ports 80 and 443 of 127.0.0.117 cannot be listened on");
    const struct hostile_options http = {.host = host, .port = 80};
    const struct hostile_options https = {.host = host, .port = 443, .transport = HOSTILE_HTTPS};
    check_host(&http, "http://127.0.0.117", host);
    check_host(&http, "http://127.0.0.117:80", host);
    check_host(&https, "https://127.0.0.117", host);
    check_host(&https, "https://127.0.0.117:443", host);
}

static void row_17_another_port_is_named(void)
{
    static const enum hostile_transport transports[] = {HOSTILE_HTTP, HOSTILE_HTTPS};
    for (size_t i = 0; i < HARNESS_COUNT(transports); i++) {
        struct world world;
        struct hostile_request *request = malloc(sizeof(*request));
        char host[128] = "", expected[64];
        world_open(&world, &(struct world_options){.server = {.transport = transports[i]}});
        world_run_well(&world);
        snprintf(expected, sizeof(expected), "127.0.0.1:%u", hostile_server_port(world.server));
        CU_ASSERT_TRUE(hostile_server_request(world.server, 0, request));
        CU_ASSERT_TRUE(hostile_request_header(request, "host", host, sizeof(host)));
        CU_ASSERT_STRING_EQUAL(host, expected);
        free(request);
        world_close(&world);
    }
}

/* ---- row 18 ---- */

static void check_style(const char *bucket, const char *host, enum s3_style style,
                        const char *target)
{
    struct world world;
    struct hostile_request *request = malloc(sizeof(*request));
    char endpoint[128];
    world_credentials(NULL);
    struct hostile_options options = {.bucket = bucket};
    struct hostile_server *server = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    snprintf(endpoint, sizeof(endpoint), "http://%s:%u", host, hostile_server_port(server));
    world_open_on(
        &world, server,
        &(struct world_options){.bucket = bucket, .s3 = {.endpoint = endpoint, .style = style}});
    world_run_well(&world);
    CU_ASSERT_TRUE(hostile_server_request(server, 1, request));
    CU_ASSERT_STRING_EQUAL(request->method, "PUT");
    CU_ASSERT_STRING_EQUAL(request->target, target);
    free(request);
    world_close(&world);
}

static void row_18_dotted_buckets_and_styles(void)
{
    check_style("my.bucket", "127.0.0.1", S3_STYLE_AUTO,
                "/my.bucket/run/manifest/00000000000000000001");
    check_style("bucket", "127.0.0.1", S3_STYLE_AUTO, "/bucket/run/manifest/00000000000000000001");
    /* Names below localhost are this machine (RFC 6761). */
    check_style("bucket", "localhost", S3_STYLE_VIRTUAL, "/run/manifest/00000000000000000001");
}

/* ---- row 19 ---- */

static void row_19_redirects_are_followed_and_signed_again(void)
{
    struct world world;
    world_credentials(NULL);
    struct hostile_server *first = hostile_server_start(&(struct hostile_options){0});
    struct hostile_server *second = hostile_server_start(&(struct hostile_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    hostile_server_rule(first, &(struct hostile_rule){.apply = HOSTILE_APPLY_NOT,
                                                      .reply = HOSTILE_SAY,
                                                      .status = 307,
                                                      .redirect = hostile_server_url(second)});
    world_open_on(
        &world, second,
        &(struct world_options){.producers = 2, .s3 = {.endpoint = hostile_server_url(first)}});
    world_run_well(&world);
    CU_ASSERT_EQUAL(hostile_server_requests(first), hostile_server_requests(second));
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    CU_ASSERT_EQUAL(s3_store_counters(world.bytes).redirected, hostile_server_requests(first));
    world_close(&world);
    hostile_server_stop(first);
}

static void row_19_redirects_in_a_circle_have_an_end(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){.apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = 307,
                                              .redirect = hostile_server_url(world.server)});
    world_run_to(&world, PRODUCER_STORE_FAILED, "307");
    CU_ASSERT_EQUAL(hostile_server_requests(world.server), 3);
    world_close(&world);
}

/* ---- row 22 ---- */

static void row_22_etags_are_not_needed(void)
{
    static const char *const headers[] = {"ETag: abc\r\n", "ETag: \"abc\"\r\n",
                                          "ETag: W/\"abc\"\r\n", "ETag:\r\n", NULL};
    for (size_t i = 0; i < HARNESS_COUNT(headers); i++) {
        struct world world;
        world_open(&world, &(struct world_options){0});
        world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                                  .reply = HOSTILE_SAY,
                                                  .status = 200,
                                                  .headers = headers[i]});
        world_run_well(&world);
        CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
        world_close(&world);
    }
}

/* ---- row 23 ---- */

static void write_token(const char *path, const char *token)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file,
            "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n"
            "aws_session_token = %s\n",
            HOSTILE_ACCESS_KEY, HOSTILE_SECRET_KEY, token);
    fclose(file);
}

static void row_23_an_expired_token_is_renewed_once(void)
{
    struct world world;
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 16];
    scratch_make(folder);
    snprintf(path, sizeof(path), "%s/credentials", folder);
    write_token(path, "token-1");
    world_credentials(NULL);
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    struct hostile_server *server =
        hostile_server_start(&(struct hostile_options){.session_token = "token-1"});
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    world_open_on(&world, server, &(struct world_options){.producers = 2});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_ANY, NULL, 400), 0);
    hostile_server_require_token(server, "token-2");
    write_token(path, "token-2");
    world_run_well(&world);
    CU_ASSERT_EQUAL(s3_store_counters(world.bytes).refreshed, 1);
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_ANY, NULL, 400) <= 2); /* one a producer */
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    /* No new one is there: fatal, at once. */
    hostile_server_require_token(server, "token-3");
    world_run_to(&world, PRODUCER_STORE_FAILED, "expired");
    CU_ASSERT_PTR_NULL(strstr(world.producers[0].text, "token-2"));
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_ANY, NULL, 400) <= 2 + 4);
    world_close(&world);
    scratch_remove(folder);
}

/* In the middle of a life, on a create: surely unread, so that the store itself sends it again. */
static void row_23_a_create_with_an_expired_token_is_sent_again(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.server = {.session_token = "token"}});
    world_rule(&world, &(struct hostile_rule){
                           .match = create_of(3),
                           .times = 1,
                           .apply = HOSTILE_APPLY_NOT,
                           .reply = HOSTILE_SAY,
                           .status = 400,
                           .body = "<Error><Code>ExpiredToken</Code><Message/></Error>"});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(3), HOSTILE_WHATEVER), 2);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    world_close(&world);
}

const struct harness_test s3_cases_requests_tests[] = {
    HARNESS_TEST(row_12_large_bodies_are_sent_plain),
    HARNESS_TEST(row_12_payloads_may_be_unsigned_over_https),
    HARNESS_TEST(row_16_odd_keys_round_trip),
    HARNESS_TEST(row_17_the_default_port_is_not_named),
    HARNESS_TEST(row_17_another_port_is_named),
    HARNESS_TEST(row_18_dotted_buckets_and_styles),
    HARNESS_TEST(row_19_redirects_are_followed_and_signed_again),
    HARNESS_TEST(row_19_redirects_in_a_circle_have_an_end),
    HARNESS_TEST(row_22_etags_are_not_needed),
    HARNESS_TEST(row_23_an_expired_token_is_renewed_once),
    HARNESS_TEST(row_23_a_create_with_an_expired_token_is_sent_again),
    HARNESS_TEST(row_25_the_star_is_bare),
    {0},
};
