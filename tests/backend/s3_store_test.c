/* s3_store_test.c - what the store makes of answers: re-sends, hold-off, redirects, credentials,
 * skew, ranges, checksums; and opening and closing. Against a hostile server. */
#include "backend/s3_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/backend/s3_rig.h"
#include "tests/harness.h"

#define MANY 40

static enum store_outcome put(struct s3_rig *rig, const char *key, const char *text)
{
    char error[STORE_ERROR_MAX];
    return fixture_put(&rig->fixture, STORE_PUT, key, text_body(text), error);
}

/* What one operation ended as; its error stays in `error`. */
static enum store_outcome run_one(struct s3_rig *rig, enum store_verb verb, const char *key,
                                  char error[STORE_ERROR_MAX])
{
    struct s3_rig_op op;
    s3_rig_op_init(&op, verb, key);
    enum store_outcome outcome = s3_rig_do(rig, &op);
    memcpy(error, op.op.error, STORE_ERROR_MAX);
    store_op_deinit(&op.op);
    return outcome;
}

/* ---- requests ---- */

static void requests_carry_what_they_should(void)
{
    struct s3_rig rig;
    static struct hostile_request request;
    char value[128];
    s3_rig_open(&rig, NULL, NULL);
    struct body body = text_body("a body");
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT_IF_ABSENT, "a key", body, NULL), STORE_OK);
    CU_ASSERT_TRUE_FATAL(s3_rig_last(&rig, &request));
    CU_ASSERT_EQUAL(request.signature, HOSTILE_SIGNED);
    CU_ASSERT_PTR_NOT_NULL(strstr(request.target, "/bucket/run/a%20key"));
    CU_ASSERT_TRUE(hostile_request_header(&request, "If-None-Match", value, sizeof(value)));
    CU_ASSERT_STRING_EQUAL(value, "*");
    CU_ASSERT_TRUE(hostile_request_header(&request, "x-amz-meta-xxh3", value, sizeof(value)));
    CU_ASSERT_EQUAL(strlen(value), 16);
    CU_ASSERT_TRUE(hostile_request_header(&request, "Content-Length", value, sizeof(value)));
    CU_ASSERT_STRING_EQUAL(value, "6");
    CU_ASSERT_TRUE(hostile_request_header(&request, "x-amz-content-sha256", value, sizeof(value)));
    CU_ASSERT_STRING_EQUAL(value, request.body_hash);
    static const char *const never[] = {"Expect", "Transfer-Encoding", "Range"};
    for (size_t i = 0; i < HARNESS_COUNT(never); i++)
        CU_ASSERT_FALSE(hostile_request_header(&request, never[i], value, sizeof(value)));
    s3_rig_close(&rig);
}

static void large_bodies_arrive_whole(void)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    struct body body = whole_body_make(5, 3 << 20); /* hashed on a worker */
    struct body read;
    char error[STORE_ERROR_MAX];
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT, "large", body, NULL), STORE_OK);
    CU_ASSERT_EQUAL(fixture_get(&rig.fixture, "large", &read, error), STORE_OK);
    CU_ASSERT_EQUAL(whole_body_id(&read), 5);
    body_release(&read);
    body_release(&body);
    s3_rig_close(&rig);
}

static void received_bytes_are_heads_and_bodies(void)
{
    struct s3_rig rig;
    struct body read;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    CU_ASSERT_EQUAL(put(&rig, "key", "a body"), STORE_OK);
    uint64_t head = s3_store_counters(rig.fixture.store).received_bytes;
    CU_ASSERT_TRUE(head > strlen("HTTP/1.1 200 OK\r\n\r\n") && head < 1000);
    struct body large = whole_body_make(5, 100000);
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT, "large", large, NULL), STORE_OK);
    uint64_t before = s3_store_counters(rig.fixture.store).received_bytes;
    CU_ASSERT_TRUE(before < 2000);
    CU_ASSERT_EQUAL(fixture_get(&rig.fixture, "large", &read, error), STORE_OK);
    uint64_t got = s3_store_counters(rig.fixture.store).received_bytes - before;
    CU_ASSERT_TRUE(got > 100000 + 20 && got < 101000);
    body_release(&read);
    body_release(&large);
    s3_rig_close(&rig);
}

static void an_unsigned_payload_needs_https(void)
{
    struct s3_rig rig;
    static struct hostile_request request;
    char value[128];
    const struct hostile_options server = {.transport = HOSTILE_HTTPS};
    const struct s3_options options = {.payload = S3_PAYLOAD_UNSIGNED};
    s3_rig_open(&rig, &server, &options);
    CU_ASSERT_EQUAL(put(&rig, "key", "text"), STORE_OK);
    CU_ASSERT_TRUE_FATAL(s3_rig_last(&rig, &request));
    CU_ASSERT_TRUE(hostile_request_header(&request, "x-amz-content-sha256", value, sizeof(value)));
    CU_ASSERT_STRING_EQUAL(value, "UNSIGNED-PAYLOAD");
    const struct s3_options plain = {.payload = S3_PAYLOAD_UNSIGNED,
                                     .endpoint = "http://127.0.0.1:9"};
    struct store *store = NULL;
    char error[STORE_ERROR_MAX];
    CU_ASSERT_EQUAL(s3_store_open("bucket", &plain, rig.fixture.loop, &store, error),
                    OPEN_BAD_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "https"));
    s3_rig_close(&rig);
}

static void more_operations_than_connections_wait(void)
{
    struct s3_rig rig;
    static struct s3_rig_op ops[MANY];
    const struct s3_options options = {.connections = 2};
    s3_rig_open(&rig, NULL, &options);
    for (int i = 0; i < MANY; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key/%d", i);
        s3_rig_op_init(&ops[i], STORE_PUT_IF_ABSENT, key);
        s3_rig_submit(&rig, &ops[i]);
    }
    s3_rig_run(&rig);
    for (int i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(ops[i].done, 1);
        CU_ASSERT_EQUAL(ops[i].op.outcome, STORE_OK);
    }
    CU_ASSERT_EQUAL(hostile_server_connections(rig.server), 2);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).connections, 2);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).requests, MANY);
    s3_rig_close(&rig);
}

/* ---- again, and not again ---- */

static void server_errors_are_tried_again_but_not_for_creates(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    hostile_server_put(rig.server, RIG_PREFIX "/key", "x", 1);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 500, .times = 2});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_GET, "key", error), STORE_OK);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).resent, 2);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 500, .times = 1});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "new", error), STORE_UNKNOWN);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).resent, 2);
    s3_rig_close(&rig);
}

static void the_budget_ends_resending(void)
{
    struct s3_rig rig;
    static struct s3_rig_op ops[MANY];
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 500});
    for (int i = 0; i < MANY; i++) {
        s3_rig_op_init(&ops[i], STORE_DELETE, "key");
        s3_rig_submit(&rig, &ops[i]);
    }
    s3_rig_run(&rig); /* far less than the operation's time */
    for (int i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(ops[i].op.outcome, STORE_UNKNOWN);
    CU_ASSERT(s3_rig_counters(&rig).resent >= 50);
    CU_ASSERT(s3_rig_counters(&rig).resent < 100);
    s3_rig_close(&rig);
}

static void a_throttle_holds_everything_off(void)
{
    struct s3_rig rig;
    static struct s3_rig_op ops[MANY];
    static struct hostile_request first, later;
    const struct s3_options options = {.connections = 1};
    s3_rig_open(&rig, NULL, &options);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY,
                                             .status = 503,
                                             .headers = "Retry-After: 1\r\n",
                                             .times = 1});
    for (int i = 0; i < MANY; i++) {
        s3_rig_op_init(&ops[i], STORE_PUT_IF_ABSENT, i == 0 ? "first" : "other");
        s3_rig_submit(&rig, &ops[i]);
    }
    s3_rig_run(&rig);
    CU_ASSERT_EQUAL(ops[0].op.outcome, STORE_THROTTLED);
    CU_ASSERT_EQUAL(ops[1].op.outcome, STORE_OK);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).holdoffs, 1);
    CU_ASSERT_TRUE(hostile_server_request(rig.server, 0, &first));
    CU_ASSERT_TRUE(hostile_server_request(rig.server, 1, &later));
    CU_ASSERT(later.at_ns - first.at_ns >= NS_PER_S);
    s3_rig_close(&rig);
}

static void throttled_reads_get_through_after_the_hold_off(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    hostile_server_put(rig.server, RIG_PREFIX "/key", "x", 1);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 429, .times = 2});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_GET, "key", error), STORE_OK);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).holdoffs, 2);
    s3_rig_close(&rig);
}

/* ---- elsewhere ---- */

static void a_redirect_is_followed_and_signed_anew(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    struct hostile_server *other = hostile_server_start(&(struct hostile_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY,
                                             .apply = HOSTILE_APPLY_NOT,
                                             .status = 307,
                                             .redirect = hostile_server_url(other)});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_OK);
    size_t bytes;
    uint8_t *stored = hostile_server_get(other, RIG_PREFIX "/key", &bytes);
    CU_ASSERT_PTR_NOT_NULL(stored);
    CU_ASSERT_EQUAL(bytes, strlen("a body"));
    free(stored);
    /* Not for all: the next one asks at home. */
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_EXISTS);
    CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 2);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).redirected, 2);
    s3_rig_close(&rig);
    hostile_server_stop(other);
}

static void redirects_end(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY,
                                             .apply = HOSTILE_APPLY_NOT,
                                             .status = 307,
                                             .redirect = hostile_server_url(rig.server)});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_FAILED);
    CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 3);
    s3_rig_close(&rig);
}

static void a_region_is_corrected_for_the_whole_store(void)
{
    struct s3_rig rig;
    static struct hostile_request request;
    char error[STORE_ERROR_MAX], value[512];
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_rule(&rig,
                &(struct hostile_rule){.reply = HOSTILE_SAY,
                                       .apply = HOSTILE_APPLY_NOT,
                                       .status = 400,
                                       .body = "<Error><Code>AuthorizationHeaderMalformed</Code>"
                                               "<Region>eu-west-3</Region></Error>",
                                       .times = 1});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_OK);
    CU_ASSERT_EQUAL(put(&rig, "key", "text"), STORE_OK);
    CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 3);
    CU_ASSERT_TRUE(s3_rig_last(&rig, &request));
    CU_ASSERT_TRUE(hostile_request_header(&request, "Authorization", value, sizeof(value)));
    CU_ASSERT_PTR_NOT_NULL(strstr(value, "/eu-west-3/s3/"));
    s3_rig_close(&rig);
}

/* ---- credentials and clocks ---- */

static void expired_credentials_are_renewed_once_for_all(void)
{
    struct s3_rig rig;
    static struct s3_rig_op ops[MANY];
    const struct hostile_options server = {.session_token = "first-token"};
    s3_rig_open(&rig, &server, NULL);
    CU_ASSERT_EQUAL(put(&rig, "key", "text"), STORE_OK);
    hostile_server_require_token(rig.server, "second-token");
    s3_rig_environment("second-token");
    for (int i = 0; i < MANY; i++) {
        s3_rig_op_init(&ops[i], STORE_PUT, "key");
        s3_rig_submit(&rig, &ops[i]);
    }
    s3_rig_run(&rig);
    for (int i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(ops[i].op.outcome, STORE_OK);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).refreshed, 1);
    s3_rig_close(&rig);
}

static void credentials_that_stay_expired_fail(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    const struct hostile_options server = {.session_token = "first-token"};
    s3_rig_open(&rig, &server, NULL);
    hostile_server_require_token(rig.server, "second-token");
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "expired"));
    CU_ASSERT_PTR_NULL(strstr(error, "first-token"));
    CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 2);
    unsetenv("AWS_ACCESS_KEY_ID"); /* and now there are none at all */
    unsetenv("AWS_SECRET_ACCESS_KEY");
    CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no new ones"));
    s3_rig_close(&rig);
}

static void a_skewed_clock_is_corrected(void)
{
    static const int64_t ahead_ns[] = {3600 * NS_PER_S, -7200 * NS_PER_S};
    for (size_t i = 0; i < HARNESS_COUNT(ahead_ns); i++) {
        struct s3_rig rig;
        char error[STORE_ERROR_MAX];
        const struct hostile_options server = {.clock_ahead_ns = ahead_ns[i]};
        s3_rig_open(&rig, &server, NULL);
        CU_ASSERT_EQUAL(run_one(&rig, STORE_PUT_IF_ABSENT, "key", error), STORE_OK);
        CU_ASSERT_EQUAL(put(&rig, "key", "text"), STORE_OK);
        CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 3);
        int64_t off_ns = s3_rig_counters(&rig).skew_ns - ahead_ns[i];
        CU_ASSERT(off_ns > -60 * NS_PER_S && off_ns < 60 * NS_PER_S);
        s3_rig_close(&rig);
    }
}

/* ---- reading ---- */

static void get(struct s3_rig *rig, uint64_t offset, uint64_t bytes, const char *expected)
{
    struct s3_rig_op op;
    s3_rig_op_init(&op, STORE_GET, "key");
    op.op.range_offset = offset;
    op.op.range_bytes = bytes;
    CU_ASSERT_EQUAL_FATAL(s3_rig_do(rig, &op), STORE_OK);
    CU_ASSERT_EQUAL_FATAL(op.op.result.bytes, strlen(expected));
    CU_ASSERT_EQUAL(memcmp(op.op.result.data, expected, strlen(expected)), 0);
    CU_ASSERT_EQUAL(op.op.object_bytes, 10);
    store_op_deinit(&op.op);
}

static void ranges_are_what_was_asked_for(void)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    hostile_server_put(rig.server, RIG_PREFIX "/key", "0123456789", 10);
    get(&rig, 2, 3, "234");
    get(&rig, 8, 100, "89");
    get(&rig, 10, 0, "");
    get(&rig, UINT64_MAX, UINT64_MAX, "");
    /* A server that knows no ranges. */
    s3_rig_rule(&rig,
                &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 200, .body = "0123456789"});
    get(&rig, 2, 3, "234");
    get(&rig, 8, 100, "89");
    get(&rig, 12, 1, "");
    s3_rig_close(&rig);
}

static void another_range_is_refused(void)
{
    static const char *const ranges[] = {
        "Content-Range: bytes 3-5/10\r\n", "Content-Range: bytes 2-3/10\r\n",
        "Content-Range: bytes 2-4/3\r\n", "Content-Range: junk\r\n", ""};
    for (size_t i = 0; i < HARNESS_COUNT(ranges); i++) {
        struct s3_rig rig;
        struct s3_rig_op op;
        const struct s3_options options = {.operation_ns = 100 * NS_PER_MS};
        s3_rig_open(&rig, NULL, &options);
        s3_rig_rule(&rig,
                    &(struct hostile_rule){
                        .reply = HOSTILE_SAY, .status = 206, .headers = ranges[i], .body = "234"});
        s3_rig_op_init(&op, STORE_GET, "key");
        op.op.range_offset = 2;
        op.op.range_bytes = 3;
        enum store_outcome outcome = s3_rig_do(&rig, &op);
        CU_ASSERT(outcome == STORE_FAILED || outcome == STORE_UNKNOWN);
        store_op_deinit(&op.op);
        s3_rig_close(&rig);
    }
}

/* 416, and not a word about the object's size: it is asked for. */
static void a_size_that_is_not_said_is_asked_for(void)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    hostile_server_put(rig.server, RIG_PREFIX "/key", "0123456789", 10);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY,
                                             .status = 416,
                                             .body = "<Error><Code>InvalidRange</Code></Error>",
                                             .times = 1});
    get(&rig, 20, 5, "");
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_GET), 2);
    s3_rig_close(&rig);
}

static void a_wrong_bit_is_seen(void)
{
    struct s3_rig rig;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    CU_ASSERT_EQUAL(put(&rig, "key", "0123456789"), STORE_OK);
    s3_rig_rule(&rig,
                &(struct hostile_rule){.match = {HOSTILE_GET, NULL}, .times = 1, .flip = true});
    get(&rig, 0, 0, "0123456789");
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_GET), 2);
    s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_GET, NULL}, .flip = true});
    CU_ASSERT_EQUAL(run_one(&rig, STORE_GET, "key", error), STORE_FAILED);
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_GET), 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, RIG_PREFIX "/key"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "checksum"));
    s3_rig_close(&rig);
}

/* ---- closing ---- */

static void closing_drops_what_is_in_flight(void)
{
    struct s3_rig rig;
    static struct s3_rig_op ops[MANY];
    const struct s3_options options = {.connections = 8};
    struct body large = whole_body_make(1, 2 << 20);
    s3_rig_open(&rig, NULL, &options);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SAY, .status = 500, .times = 2});
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SILENT});
    for (int i = 0; i < MANY; i++) {
        s3_rig_op_init(&ops[i], i % 2 == 0 ? STORE_GET : STORE_PUT, "key");
        if (i % 4 == 1)
            ops[i].op.body = large;
        s3_rig_submit(&rig, &ops[i]);
    }
    struct loop *loop = live_loop_base(rig.fixture.loop);
    loop_run(loop, loop_now(loop) + 30 * NS_PER_MS);
    s3_rig_close(&rig);
    for (int i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(ops[i].done, 0);
        CU_ASSERT_PTR_NULL(ops[i].op.store_private);
    }
    body_release(&large);
}

static void close_store(struct store_op *op, void *context)
{
    (void)op;
    struct s3_rig *rig = context;
    store_close(rig->fixture.store);
}

static void a_store_may_be_closed_inside_done(void)
{
    struct s3_rig rig;
    struct s3_rig_op last, other;
    s3_rig_open(&rig, NULL, NULL);
    s3_rig_op_init(&last, STORE_GET, "key");
    s3_rig_op_init(&other, STORE_GET, "other");
    s3_rig_rule(&rig,
                &(struct hostile_rule){.match = {HOSTILE_GET, "*other"}, .reply = HOSTILE_SILENT});
    last.op.done = close_store;
    last.op.context = &rig;
    store_submit(rig.fixture.store, &other.op);
    store_submit(rig.fixture.store, &last.op);
    s3_rig_run(&rig);
    CU_ASSERT_EQUAL(other.done, 0);
    live_loop_close(rig.fixture.loop);
    hostile_server_stop(rig.server);
}

/* ---- opening ---- */

static void opening_says_what_is_wrong(void)
{
    static const struct {
        struct s3_options options;
        const char *address;
        enum open_result result;
        const char *words;
    } cases[] = {
        {{.endpoint = "http://127.0.0.1:9"}, "", OPEN_BAD_INPUT, "bucket"},
        {{.endpoint = "ftp://127.0.0.1"}, "bucket", OPEN_BAD_INPUT, "ftp"},
        {{.region = "no region"}, "bucket", OPEN_BAD_INPUT, "no region"},
        {{.endpoint = "http://127.0.0.1:9", .profile = "nobody"}, "bucket", OPEN_FAILED, "nobody"},
        {{.endpoint = "https://127.0.0.1:9", .ca_file = "/dev/null"},
         "bucket",
         OPEN_FAILED,
         "/dev/null"},
    };
    char error[STORE_ERROR_MAX];
    struct live_loop *loop = NULL;
    s3_rig_environment(NULL);
    CU_ASSERT_EQUAL_FATAL(live_loop_open(NULL, &loop, error), OPEN_OK);
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct store *store = NULL;
        enum open_result result =
            s3_store_open(cases[i].address, &cases[i].options, loop, &store, error);
        CU_ASSERT_EQUAL(result, cases[i].result);
        CU_ASSERT_PTR_NULL(store);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, cases[i].words));
    }
    live_loop_close(loop);
}

const struct harness_test s3_store_tests[] = {
    HARNESS_TEST(requests_carry_what_they_should),
    HARNESS_TEST(large_bodies_arrive_whole),
    HARNESS_TEST(received_bytes_are_heads_and_bodies),
    HARNESS_TEST(an_unsigned_payload_needs_https),
    HARNESS_TEST(more_operations_than_connections_wait),
    HARNESS_TEST(server_errors_are_tried_again_but_not_for_creates),
    HARNESS_TEST(the_budget_ends_resending),
    HARNESS_TEST(a_throttle_holds_everything_off),
    HARNESS_TEST(throttled_reads_get_through_after_the_hold_off),
    HARNESS_TEST(a_redirect_is_followed_and_signed_anew),
    HARNESS_TEST(redirects_end),
    HARNESS_TEST(a_region_is_corrected_for_the_whole_store),
    HARNESS_TEST(expired_credentials_are_renewed_once_for_all),
    HARNESS_TEST(credentials_that_stay_expired_fail),
    HARNESS_TEST(a_skewed_clock_is_corrected),
    HARNESS_TEST(ranges_are_what_was_asked_for),
    HARNESS_TEST(another_range_is_refused),
    HARNESS_TEST(a_size_that_is_not_said_is_asked_for),
    HARNESS_TEST(a_wrong_bit_is_seen),
    HARNESS_TEST(closing_drops_what_is_in_flight),
    HARNESS_TEST(a_store_may_be_closed_inside_done),
    HARNESS_TEST(opening_says_what_is_wrong),
    {0}};
