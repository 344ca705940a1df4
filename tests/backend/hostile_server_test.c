/* hostile_server_test.c - the hostile server does what its rules say, seen by a plain libcurl
 * handle that knows nothing of our client. */
#include "tests/hostile/hostile_server.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/sigv4.h"
#include "tests/harness.h"

#define ANSWER_MAX 65536

struct call {
    const char *method;
    const char *target;
    const char *headers[8]; /* ends at NULL */
    const char *body;       /* PUT */
    CURLcode result;
    long status;
    size_t bytes;
    char answer[ANSWER_MAX];
};

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct call *call = context;
    size_t bytes = size * count;
    if (call->bytes + bytes >= ANSWER_MAX)
        return 0;
    memcpy(call->answer + call->bytes, data, bytes);
    call->bytes += bytes;
    call->answer[call->bytes] = '\0';
    return bytes;
}

static void perform(CURL *handle, const struct hostile_server *server, struct call *call)
{
    char url[4200];
    snprintf(url, sizeof(url), "%s%s", hostile_server_url(server), call->target);
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    for (size_t i = 0; call->headers[i] != NULL; i++)
        list = curl_slist_append(list, call->headers[i]);
    call->bytes = 0;
    call->answer[0] = '\0';
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, call);
    if (call->body != NULL)
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call->body);
    call->result = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &call->status);
    curl_slist_free_all(list);
}

/* On a connection of its own. */
static void call_once(const struct hostile_server *server, struct call *call)
{
    CURL *handle = curl_easy_init();
    CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
    perform(handle, server, call);
    curl_easy_cleanup(handle);
}

static struct hostile_server *open_server(const struct hostile_options *options)
{
    struct hostile_options trusting = *options;
    trusting.trust = HOSTILE_TRUST_ANYONE;
    struct hostile_server *server = hostile_server_start(&trusting);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    return server;
}

static void an_honest_store_stores(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    struct call create = {
        .method = "PUT", .target = "/bucket/a%20b", .headers = {"If-None-Match: *"}, .body = "one"};
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.status, 200);
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.status, 412);
    CU_ASSERT_PTR_NOT_NULL(strstr(create.answer, "<Code>PreconditionFailed</Code>"));
    struct call get = {.method = "GET", .target = "/bucket/a%20b", .headers = {"Range: bytes=1-9"}};
    call_once(server, &get);
    CU_ASSERT_EQUAL(get.status, 206);
    CU_ASSERT_STRING_EQUAL(get.answer, "ne");
    get.headers[0] = "Range: bytes=3-";
    call_once(server, &get);
    CU_ASSERT_EQUAL(get.status, 416);
    struct call delete = {.method = "DELETE", .target = "/bucket/a%20b"};
    call_once(server, &delete);
    CU_ASSERT_EQUAL(delete.status, 204);
    call_once(server, &get);
    CU_ASSERT_EQUAL(get.status, 404);
    struct hostile_match creates = {HOSTILE_CREATE, "a b"};
    CU_ASSERT_EQUAL(hostile_server_count(server, creates, HOSTILE_WHATEVER), 2);
    CU_ASSERT_EQUAL(hostile_server_count(server, creates, 412), 1);
    hostile_server_stop(server);
}

static void listings_have_pages(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    hostile_server_put(server, "p/1 +&", "x", 1);
    hostile_server_put(server, "p/2", "xy", 2);
    hostile_server_put(server, "p/3", "", 0);
    hostile_server_put(server, "q", "", 0);
    struct call list = {.method = "GET",
                        .target = "/bucket?list-type=2&max-keys=2&prefix=p%2F&encoding-type=url"};
    call_once(server, &list);
    CU_ASSERT_PTR_NOT_NULL(strstr(list.answer, "<Key>p/1+%2B%26</Key>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(list.answer, "<IsTruncated>true</IsTruncated>"));
    const char *token = strstr(list.answer, "<NextContinuationToken>");
    CU_ASSERT_PTR_NOT_NULL_FATAL(token);
    char next[256];
    snprintf(next, sizeof(next),
             "/bucket?list-type=2&max-keys=2&prefix=p%%2F&continuation-token=%.6s", token + 23);
    list.target = next;
    call_once(server, &list);
    CU_ASSERT_PTR_NULL(strstr(list.answer, "<Key>p/2</Key>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(list.answer, "<Key>p/3</Key>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(list.answer, "<IsTruncated>false</IsTruncated>"));
    hostile_server_stop(server);
}

static void an_answer_is_lost_as_the_rule_says(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    const struct hostile_rule drop = {
        .match = {HOSTILE_CREATE, "k*"}, .times = 1, .reply = HOSTILE_DROP};
    const struct hostile_rule refuse = {.match = {HOSTILE_CREATE, "k*"},
                                        .times = 1,
                                        .apply = HOSTILE_APPLY_NOT,
                                        .reply = HOSTILE_RESET};
    const struct hostile_rule ignore = {
        .match = {HOSTILE_CREATE, "k*"}, .times = 1, .apply = HOSTILE_APPLY_ALWAYS};
    hostile_server_rule(server, &drop);
    hostile_server_rule(server, &refuse);
    hostile_server_rule(server, &ignore);
    struct call create = {
        .method = "PUT", .target = "/bucket/k", .headers = {"If-None-Match: *"}, .body = "one"};
    size_t bytes = 0;
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.result, CURLE_GOT_NOTHING);
    free(hostile_server_get(server, "k", &bytes));
    CU_ASSERT_EQUAL(bytes, 3);
    CU_ASSERT_TRUE(hostile_server_delete(server, "k"));
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.result, CURLE_RECV_ERROR);
    CU_ASSERT_FALSE(hostile_server_delete(server, "k"));
    hostile_server_put(server, "k", "other", 5);
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.status, 200);
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.status, 412);
    hostile_server_stop(server);
}

static void answers_are_spoiled_as_the_rule_says(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    static const struct hostile_rule rules[] = {
        {.match = {HOSTILE_GET, "say"}, .reply = HOSTILE_SAY, .status = 418, .body = "tea"},
        {.match = {HOSTILE_GET, "cut"}, .cut_bytes = -2},
        {.match = {HOSTILE_GET, "beheaded"}, .cut_bytes = 60},
        {.match = {HOSTILE_GET, "long"}, .length_off = 5, .close_after = true},
        {.match = {HOSTILE_GET, "chunked"}, .coding = HOSTILE_CHUNKED, .split_bytes = 40},
        {.match = {HOSTILE_GET, "end"}, .coding = HOSTILE_UNTIL_END},
        {.match = {HOSTILE_GET, "gzip"}, .coding = HOSTILE_GZIP},
        {.match = {HOSTILE_GET, "flip"}, .flip = true},
        {.match = {HOSTILE_GET, "interim"}, .interim = "HTTP/1.1 100 Continue\r\n\r\n"},
        {.match = {HOSTILE_GET, "redirect"},
         .reply = HOSTILE_SAY,
         .status = 307,
         .redirect = "http://127.0.0.2:1"},
    };
    static const struct {
        const char *target;
        CURLcode result;
        long status;
        const char *answer;
    } cases[] = {
        {"/bucket/say", CURLE_OK, 418, "tea"},
        {"/bucket/cut", CURLE_PARTIAL_FILE, 200, "hel"},
        {"/bucket/beheaded", CURLE_OK, 200, ""}, /* old libcurl calls that an answer */
        {"/bucket/long", CURLE_PARTIAL_FILE, 200, "hello"},
        {"/bucket/chunked", CURLE_OK, 200, "hello"},
        {"/bucket/end", CURLE_OK, 200, "hello"},
        {"/bucket/gzip", CURLE_OK, 200, "hello"},
        {"/bucket/flip", CURLE_OK, 200, "hemlo"},
        {"/bucket/interim", CURLE_OK, 200, "hello"},
        {"/bucket/redirect", CURLE_OK, 307, ""},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++) {
        hostile_server_put(server, rules[i].match.key, "hello", 5);
        hostile_server_rule(server, &rules[i]);
    }
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct call call = {.method = "GET", .target = cases[i].target};
        CURL *handle = curl_easy_init();
        curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
        perform(handle, server, &call);
        CU_ASSERT_EQUAL(call.result, cases[i].result);
        CU_ASSERT_EQUAL(call.status, cases[i].status);
        if (cases[i].answer != NULL)
            CU_ASSERT_STRING_EQUAL(call.answer, cases[i].answer);
        curl_easy_cleanup(handle);
    }
    hostile_server_stop(server);
}

struct held {
    struct hostile_server *server;
    struct call call;
};

static void *hold_on(void *context)
{
    struct held *held = context;
    call_once(held->server, &held->call);
    return NULL;
}

static void what_is_held_goes_on_when_the_condition_holds(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    const struct hostile_rule until = {.match = {HOSTILE_PUT, "a"},
                                       .hold = HOSTILE_HOLD_ANSWER,
                                       .until = {HOSTILE_GET, "a"},
                                       .until_count = 1};
    const struct hostile_rule released = {.match = {HOSTILE_PUT, "b"}, .hold = HOSTILE_HOLD_FIRST};
    hostile_server_rule(server, &until);
    hostile_server_rule(server, &released);
    struct held a = {.server = server,
                     .call = {.method = "PUT", .target = "/bucket/a", .body = "x"}};
    struct held b = {.server = server,
                     .call = {.method = "PUT", .target = "/bucket/b", .body = "x"}};
    struct call get = {.method = "GET", .target = "/bucket/a"};
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, hold_on, &a);
    pthread_create(&threads[1], NULL, hold_on, &b);
    do
        call_once(server, &get);
    while (get.status == 404); /* applied, though not answered */
    call_once(server, &get);   /* the one before may have come in before the PUT did */
    pthread_join(threads[0], NULL);
    CU_ASSERT_EQUAL(a.call.status, 200);
    while (hostile_server_count(server, (struct hostile_match){HOSTILE_PUT, "b"}, 0) == 0)
        call_once(server, &get);
    get.target = "/bucket/b";
    call_once(server, &get);
    CU_ASSERT_EQUAL(get.status, 404);
    hostile_server_release(server);
    pthread_join(threads[1], NULL);
    CU_ASSERT_EQUAL(b.call.status, 200);
    hostile_server_stop(server);
}

static void early_answers_do_not_wait_for_the_body(void)
{
    struct hostile_server *server = open_server(&(struct hostile_options){0});
    const struct hostile_rule early = {.match = {HOSTILE_CREATE, NULL},
                                       .early = HOSTILE_EARLY_POLITE,
                                       .reply = HOSTILE_SAY,
                                       .status = 412};
    hostile_server_rule(server, &early);
    char *body = calloc(1, 300001);
    memset(body, 'x', 300000);
    struct call create = {
        .method = "PUT", .target = "/bucket/k", .headers = {"If-None-Match: *"}, .body = body};
    call_once(server, &create);
    CU_ASSERT_EQUAL(create.status, 412);
    struct hostile_request request;
    CU_ASSERT_TRUE_FATAL(hostile_server_request(server, 0, &request));
    CU_ASSERT_STRING_EQUAL(request.body_hash, "");
    CU_ASSERT_FALSE(request.applied);
    free(body);
    hostile_server_stop(server);
}

static void https_shows_a_certificate_of_its_own(void)
{
    struct hostile_server *server =
        open_server(&(struct hostile_options){.transport = HOSTILE_HTTPS});
    hostile_server_put(server, "k", "hello", 5);
    struct call get = {.method = "GET", .target = "/bucket/k"};
    call_once(server, &get);
    CU_ASSERT_EQUAL(get.result, CURLE_PEER_FAILED_VERIFICATION);
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_CAINFO, hostile_server_ca_file(server));
    perform(handle, server, &get);
    CU_ASSERT_EQUAL(get.result, CURLE_OK);
    CU_ASSERT_STRING_EQUAL(get.answer, "hello");
    curl_easy_cleanup(handle);
    hostile_server_stop(server);
}

/* Signed by the client's signer, checked by the server's. */
static long signed_status(const struct hostile_server *server, const char *path, int64_t at_ns,
                          const char *secret)
{
    char host[64], time[SIGV4_TIME_MAX], hash[SIGV4_HASH_MAX];
    char authorization[SIGV4_AUTHORIZATION_MAX];
    char lines[4][SIGV4_AUTHORIZATION_MAX + 32];
    snprintf(host, sizeof(host), "127.0.0.1:%u", hostile_server_port(server));
    sigv4_time(at_ns, time);
    sigv4_hash("", 0, hash);
    const struct sigv4_header headers[] = {
        {"host", host}, {"x-amz-content-sha256", hash}, {"x-amz-date", time}};
    struct sigv4_request request = {.method = "GET",
                                    .path = path,
                                    .query = "",
                                    .headers = headers,
                                    .header_count = HARNESS_COUNT(headers),
                                    .payload_hash = hash};
    memcpy(request.time, time, sizeof(time));
    struct sigv4_key key = {0};
    sigv4_sign(&key, HOSTILE_ACCESS_KEY, secret, "us-east-1", &request, authorization);
    sigv4_key_wipe(&key);
    snprintf(lines[0], sizeof(lines[0]), "x-amz-content-sha256: %s", hash);
    snprintf(lines[1], sizeof(lines[1]), "x-amz-date: %s", time);
    snprintf(lines[2], sizeof(lines[2]), "Authorization: %s", authorization);
    struct call call = {.method = "GET", .target = path, .headers = {lines[0], lines[1], lines[2]}};
    call_once(server, &call);
    return call.status;
}

static void signatures_are_checked(void)
{
    const struct hostile_options options = {0};
    struct hostile_server *server = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    hostile_server_put(server, "a b/c+d~", "x", 1);
    struct call bare = {.method = "GET", .target = "/bucket/k"};
    call_once(server, &bare);
    CU_ASSERT_EQUAL(bare.status, 403);
    int64_t now_ns = (int64_t)time(NULL) * NS_PER_S;
    const char *path = "/bucket/a%20b/c%2Bd~";
    CU_ASSERT_EQUAL(signed_status(server, path, now_ns, HOSTILE_SECRET_KEY), 200);
    CU_ASSERT_EQUAL(signed_status(server, path, now_ns, "another"), 403);
    CU_ASSERT_EQUAL(signed_status(server, "/bucket/a%2520b", now_ns, HOSTILE_SECRET_KEY), 404);
    CU_ASSERT_EQUAL(signed_status(server, "/bucket/a%2bb", now_ns, HOSTILE_SECRET_KEY), 403);
    int64_t old_ns = now_ns - 3600 * NS_PER_S;
    CU_ASSERT_EQUAL(signed_status(server, path, old_ns, HOSTILE_SECRET_KEY), 403);
    hostile_server_require_token(server, "fresh");
    CU_ASSERT_EQUAL(signed_status(server, path, now_ns, HOSTILE_SECRET_KEY), 400);
    hostile_server_stop(server);
}

const struct harness_test hostile_server_tests[] = {
    HARNESS_TEST(an_honest_store_stores),
    HARNESS_TEST(listings_have_pages),
    HARNESS_TEST(an_answer_is_lost_as_the_rule_says),
    HARNESS_TEST(answers_are_spoiled_as_the_rule_says),
    HARNESS_TEST(what_is_held_goes_on_when_the_condition_holds),
    HARNESS_TEST(early_answers_do_not_wait_for_the_body),
    HARNESS_TEST(https_shows_a_certificate_of_its_own),
    HARNESS_TEST(signatures_are_checked),
    {0},
};
