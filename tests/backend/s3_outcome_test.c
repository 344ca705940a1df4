/* s3_outcome_test.c - what the store makes of answers: re-sends, hold-off, redirects, credentials,
 * skew, ranges, checksums. Against a hostile server. */
#include <stdlib.h>
#include <string.h>

#include "backend/s3_store.h"
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

const struct harness_test s3_outcome_tests[] = {
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
    {0},
};
