/* s3_client_test.c - what libcurl and the network do to requests: once only, cut, late, too much.
 * All through the store, against a hostile server. */
#include "backend/s3_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/backend/s3_rig.h"
#include "tests/harness.h"

static enum store_outcome put(struct s3_rig *rig, enum store_verb verb, const char *key,
                              struct body body)
{
    char error[STORE_ERROR_MAX];
    return fixture_put(&rig->fixture, verb, key, body, error);
}

/* A request before, so that the next finds a connection that is kept alive. */
static void warm_up(struct s3_rig *rig)
{
    CU_ASSERT_EQUAL(fixture_delete(&rig->fixture, "warm"), STORE_OK);
}

static void expect_reused(struct s3_rig *rig, enum hostile_verb verb)
{
    static struct hostile_request request;
    for (size_t i = 0; hostile_server_request(rig->server, i, &request); i++)
        if (request.verb == verb)
            CU_ASSERT(request.on_connection > 1);
}

static void create_into(enum hostile_reply reply, enum hostile_early early, uint64_t bytes)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    warm_up(&rig);
    s3_rig_rule(&rig, &(struct hostile_rule){
                          .match = {HOSTILE_CREATE, NULL}, .reply = reply, .early = early});
    struct body body = {.kind = BODY_BYTES, .bytes = bytes, .data = calloc(1, bytes + 1)};
    CU_ASSERT_EQUAL(put(&rig, STORE_PUT_IF_ABSENT, "once", body), STORE_UNKNOWN);
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_CREATE), 1);
    CU_ASSERT_EQUAL(s3_rig_counters(&rig).resent, 0);
    expect_reused(&rig, HOSTILE_CREATE);
    body_release(&body);
    s3_rig_close(&rig);
}

static void a_create_on_a_dying_connection_is_sent_once(void)
{
    static const uint64_t sizes[] = {0, 1, 1000, 70000, 3000000};
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        create_into(HOSTILE_DROP, HOSTILE_EARLY_NOT, sizes[i]);
        create_into(HOSTILE_RESET, HOSTILE_EARLY_NOT, sizes[i]);
        create_into(HOSTILE_DROP, HOSTILE_EARLY_RUDE, sizes[i]);
        create_into(HOSTILE_RESET, HOSTILE_EARLY_RUDE, sizes[i]);
    }
}

/* libcurl finds the connection dead, and nobody to connect to again: that nothing could be sent the
 * second time does not mean that it never was. */
static void a_create_that_a_dying_server_read_is_not_sent_again(void)
{
    static const uint64_t sizes[] = {0, 1000, 100000};
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        struct s3_rig rig;
        struct s3_rig_op op;
        s3_rig_open(&rig, NULL, NULL);
        warm_up(&rig);
        s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                                 .hold = HOSTILE_HOLD_ANSWER});
        struct body body = {.kind = BODY_BYTES, .bytes = sizes[i], .data = calloc(1, sizes[i] + 1)};
        s3_rig_op_init(&op, STORE_PUT_IF_ABSENT, "once");
        op.op.body = body;
        s3_rig_submit(&rig, &op);
        struct loop *loop = live_loop_base(rig.fixture.loop);
        size_t bytes;
        uint8_t *stored = NULL;
        while (stored == NULL) {
            loop_run(loop, loop_now(loop) + NS_PER_MS);
            stored = hostile_server_get(rig.server, RIG_PREFIX "/once", &bytes);
        }
        free(stored);
        const struct hostile_options again = {.port = hostile_server_port(rig.server)};
        hostile_server_stop(rig.server);
        rig.server = NULL;
        s3_rig_run(&rig);
        CU_ASSERT_EQUAL(op.op.outcome, STORE_UNKNOWN);
        CU_ASSERT_EQUAL(s3_rig_counters(&rig).requests, 2);
        CU_ASSERT_EQUAL(s3_rig_counters(&rig).resent, 0);
        /* The next one is not taken for the rest of this one. */
        rig.server = hostile_server_start(&again);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rig.server);
        CU_ASSERT_EQUAL(put(&rig, STORE_PUT_IF_ABSENT, "next", body), STORE_OK);
        CU_ASSERT_EQUAL(s3_rig_counters(&rig).requests, 3);
        body_release(&body);
        store_op_deinit(&op.op);
        s3_rig_close(&rig);
    }
}

static void other_verbs_are_sent_again(void)
{
    static const enum store_verb verbs[] = {STORE_GET, STORE_PUT, STORE_LIST, STORE_DELETE};
    for (size_t i = 0; i < 2 * HARNESS_COUNT(verbs); i++) {
        struct s3_rig rig;
        struct s3_rig_op op;
        s3_rig_open(&rig, NULL, NULL);
        hostile_server_put(rig.server, RIG_PREFIX "/again", "text", 4);
        warm_up(&rig);
        s3_rig_rule(&rig, &(struct hostile_rule){.reply = i % 2 == 0 ? HOSTILE_DROP : HOSTILE_RESET,
                                                 .times = 2});
        s3_rig_op_init(&op, verbs[i / 2], "again");
        CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_OK);
        CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 4); /* with the one before */
        store_op_deinit(&op.op);
        s3_rig_close(&rig);
    }
}

static void nobody_listens(void)
{
    struct s3_rig rig;
    const struct s3_options options = {.endpoint = "http://127.0.0.1:1",
                                       .operation_ns = 400 * NS_PER_MS};
    s3_rig_open(&rig, NULL, &options);
    struct s3_rig_op op;
    s3_rig_op_init(&op, STORE_PUT_IF_ABSENT, "key");
    /* Surely not read: sent again, though it is a create. */
    CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_UNKNOWN);
    CU_ASSERT(s3_rig_counters(&rig).resent > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(op.op.error, "127.0.0.1:1"));
    store_op_deinit(&op.op);
    s3_rig_close(&rig);
}

static void silence_ends_at_the_deadline(void)
{
    struct s3_rig rig;
    const struct s3_options options = {.attempt_ns = 60 * NS_PER_MS,
                                       .operation_ns = 300 * NS_PER_MS};
    s3_rig_open(&rig, NULL, &options);
    s3_rig_rule(&rig, &(struct hostile_rule){.reply = HOSTILE_SILENT});
    struct s3_rig_op create, get;
    s3_rig_op_init(&create, STORE_PUT_IF_ABSENT, "key");
    s3_rig_op_init(&get, STORE_GET, "key");
    s3_rig_submit(&rig, &create);
    s3_rig_submit(&rig, &get);
    s3_rig_run(&rig);
    CU_ASSERT_EQUAL(create.op.outcome, STORE_UNKNOWN);
    CU_ASSERT_EQUAL(get.op.outcome, STORE_UNKNOWN);
    CU_ASSERT_PTR_NOT_NULL(strstr(create.op.error, "no answer in time"));
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_CREATE), 1);
    CU_ASSERT(s3_rig_count(&rig, HOSTILE_GET) > 1);
    store_op_deinit(&create.op);
    store_op_deinit(&get.op);
    s3_rig_close(&rig);
}

/* However an answer is cut: a body is whole or was not read, a create was applied once and says so
 * or does not know. */
static bool cut_at(int64_t at)
{
    struct s3_rig rig;
    struct body body;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    hostile_server_put(rig.server, RIG_PREFIX "/text", "0123456789", 10);
    s3_rig_rule(&rig,
                &(struct hostile_rule){.match = {HOSTILE_GET, NULL}, .times = 1, .cut_bytes = at});
    s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL}, .cut_bytes = at});
    CU_ASSERT_EQUAL(fixture_get(&rig.fixture, "text", &body, error), STORE_OK);
    CU_ASSERT_EQUAL_FATAL(body.bytes, 10);
    CU_ASSERT_EQUAL(memcmp(body.data, "0123456789", 10), 0);
    body_release(&body);
    enum store_outcome outcome = put(&rig, STORE_PUT_IF_ABSENT, "create", text_body("x"));
    CU_ASSERT(outcome == STORE_OK || outcome == STORE_UNKNOWN);
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_CREATE), 1);
    s3_rig_close(&rig);
    return outcome == STORE_OK;
}

static void answers_cut_at_every_byte(void)
{
    int64_t at = 1;
    while (!cut_at(at))
        at++;
    CU_ASSERT(at > 100);
}

static void odd_but_whole_answers_are_read(void)
{
    static const struct hostile_rule rules[] = {
        {.split_bytes = 1},
        {.split_bytes = 20},
        {.interim = "HTTP/1.1 100 Continue\r\n\r\n"},
        {.interim = "HTTP/1.1 100 Continue\r\nx-amz-meta-xxh3: 0000000000000000\r\n\r\n"},
        {.coding = HOSTILE_CHUNKED},
        {.twice = true},
        {.close_after = true},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++) {
        struct s3_rig rig;
        struct s3_rig_op list;
        struct body body;
        char error[STORE_ERROR_MAX];
        s3_rig_open(&rig, NULL, NULL);
        s3_rig_rule(&rig, &rules[i]);
        CU_ASSERT_EQUAL(put(&rig, STORE_PUT_IF_ABSENT, "key", text_body("body")), STORE_OK);
        CU_ASSERT_EQUAL(fixture_get(&rig.fixture, "key", &body, error), STORE_OK);
        CU_ASSERT_EQUAL(body.bytes, 4);
        body_release(&body);
        s3_rig_op_init(&list, STORE_LIST, "");
        CU_ASSERT_EQUAL(s3_rig_do(&rig, &list), STORE_OK);
        CU_ASSERT_EQUAL(list.op.page.count, 1);
        store_op_deinit(&list.op);
        s3_rig_close(&rig);
    }
}

/* A name of 16 bytes, a line of 1 KiB, so often that it is too much. */
static char *header_lines(size_t count)
{
    char *lines = malloc(count * 1024 + 1);
    assert(lines != NULL);
    for (size_t i = 0; i < count; i++) {
        memset(lines + i * 1024, 'x', 1024);
        memcpy(lines + i * 1024, "x-many-headers: ", 16);
        memcpy(lines + i * 1024 + 1022, "\r\n", 2);
    }
    lines[count * 1024] = '\0';
    return lines;
}

static void too_much_is_refused(void)
{
    struct s3_rig rig;
    struct s3_rig_op op;
    const struct s3_options options = {.operation_ns = 200 * NS_PER_MS};
    s3_rig_open(&rig, NULL, &options);
    char *lines = header_lines(1000);
    s3_rig_rule(&rig, &(struct hostile_rule){.headers = lines});
    s3_rig_op_init(&op, STORE_PUT_IF_ABSENT, "key");
    enum store_outcome outcome = s3_rig_do(&rig, &op);
    CU_ASSERT(outcome == STORE_UNKNOWN || outcome == STORE_FAILED);
    store_op_deinit(&op.op);
    hostile_server_rules_clear(rig.server);
    /* It says that a gigabyte follows, and closes. */
    s3_rig_rule(&rig, &(struct hostile_rule){.length_off = (int64_t)1 << 30, .close_after = true});
    s3_rig_op_init(&op, STORE_GET, "key");
    CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_FAILED);
    store_op_deinit(&op.op);
    s3_rig_op_init(&op, STORE_GET, "key");
    op.op.bound.bytes_max = (uint64_t)1 << 31; /* it may come: it does not */
    CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_UNKNOWN);
    store_op_deinit(&op.op);
    s3_rig_op_init(&op, STORE_LIST, "");
    CU_ASSERT_NOT_EQUAL(s3_rig_do(&rig, &op), STORE_OK);
    store_op_deinit(&op.op);
    s3_rig_close(&rig);
    free(lines);
}

static void an_answer_without_an_end_is_not_trusted(void)
{
    struct s3_rig rig;
    struct s3_rig_op op;
    const struct s3_options options = {.operation_ns = 150 * NS_PER_MS};
    s3_rig_open(&rig, NULL, &options);
    hostile_server_put(rig.server, RIG_PREFIX "/key", "0123456789", 10);
    s3_rig_rule(&rig, &(struct hostile_rule){.coding = HOSTILE_UNTIL_END});
    s3_rig_op_init(&op, STORE_GET, "key");
    CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_UNKNOWN);
    store_op_deinit(&op.op);
    s3_rig_close(&rig);
}

/* Row 13: the answer comes before the body was taken. Where the reset destroys it, nothing is
 * known; "exists" is never made up, and "created" neither. */
static void an_early_answer_is_read_or_unknown(void)
{
    struct body body = whole_body_make(1, 4 << 20);
    for (int i = 0; i < 10; i++) {
        struct s3_rig rig;
        s3_rig_open(&rig, NULL, NULL);
        s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                                 .early = i % 2 == 0 ? HOSTILE_EARLY_POLITE
                                                                     : HOSTILE_EARLY_RUDE,
                                                 .reply = HOSTILE_SAY,
                                                 .status = 412,
                                                 .apply = HOSTILE_APPLY_NOT});
        enum store_outcome outcome = put(&rig, STORE_PUT_IF_ABSENT, "key", body);
        if (i % 2 == 0)
            CU_ASSERT_EQUAL(outcome, STORE_EXISTS);
        CU_ASSERT(outcome == STORE_EXISTS || outcome == STORE_UNKNOWN);
        CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_CREATE), 1);
        s3_rig_close(&rig);
    }
    body_release(&body);
}

/* ---- TLS ---- */

static void https_is_verified(void)
{
    struct s3_rig rig;
    struct s3_rig_op op;
    const struct hostile_options server = {.transport = HOSTILE_HTTPS};
    s3_rig_open(&rig, &server, NULL);
    CU_ASSERT_EQUAL(put(&rig, STORE_PUT_IF_ABSENT, "key", text_body("body")), STORE_OK);
    s3_rig_close(&rig);
    /* By the certificates of the system, which do not know it. */
    const struct s3_options unknown = {.ca_file = "/etc/ssl/certs/ca-certificates.crt"};
    if (access(unknown.ca_file, R_OK) != 0)
        HARNESS_SKIP("no certificates of the system (ca-certificates)");
    s3_rig_open(&rig, &server, &unknown);
    s3_rig_op_init(&op, STORE_PUT_IF_ABSENT, "key");
    CU_ASSERT_EQUAL(s3_rig_do(&rig, &op), STORE_FAILED);
    CU_ASSERT_EQUAL(hostile_server_requests(rig.server), 0);
    store_op_deinit(&op.op);
    s3_rig_close(&rig);
}

static void https_connections_die_without_a_signal(void)
{
    struct s3_rig rig;
    const struct hostile_options server = {.transport = HOSTILE_HTTPS};
    s3_rig_open(&rig, &server, NULL);
    struct body body = whole_body_make(2, 2 << 20);
    s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                             .early = HOSTILE_EARLY_RUDE,
                                             .reply = HOSTILE_RESET,
                                             .apply = HOSTILE_APPLY_NOT});
    s3_rig_rule(&rig, &(struct hostile_rule){.match = {HOSTILE_PUT, NULL},
                                             .times = 3,
                                             .early = HOSTILE_EARLY_RUDE,
                                             .reply = HOSTILE_RESET,
                                             .apply = HOSTILE_APPLY_NOT});
    CU_ASSERT_EQUAL(put(&rig, STORE_PUT_IF_ABSENT, "created", body), STORE_UNKNOWN);
    CU_ASSERT_EQUAL(s3_rig_count(&rig, HOSTILE_CREATE), 1);
    CU_ASSERT_EQUAL(put(&rig, STORE_PUT, "put", body), STORE_OK);
    body_release(&body);
    s3_rig_close(&rig);
}

const struct harness_test s3_client_tests[] = {
    HARNESS_TEST(a_create_on_a_dying_connection_is_sent_once),
    HARNESS_TEST(a_create_that_a_dying_server_read_is_not_sent_again),
    HARNESS_TEST(other_verbs_are_sent_again),
    HARNESS_TEST(nobody_listens),
    HARNESS_TEST(silence_ends_at_the_deadline),
    HARNESS_TEST(answers_cut_at_every_byte),
    HARNESS_TEST(odd_but_whole_answers_are_read),
    HARNESS_TEST(too_much_is_refused),
    HARNESS_TEST(an_answer_without_an_end_is_not_trusted),
    HARNESS_TEST(an_early_answer_is_read_or_unknown),
    HARNESS_TEST(https_is_verified),
    HARNESS_TEST(https_connections_die_without_a_signal),
    {0}};
