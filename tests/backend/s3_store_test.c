/* s3_store_test.c - what goes out, opening and closing. Against a hostile server. */
#include "backend/s3_store.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/backend/s3_rig.h"
#include "tests/harness.h"

#define MANY 40

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

/* Longer than is allocated on a server's word, and read again and again: a rank's memory is bounded
 * by its slices, so pieces of them that are free must not pile up in the heap. */
static void long_answers_leave_no_holes_in_the_heap(void)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    struct body body = whole_body_make(5, 70 << 20);
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT, "long", body, NULL), STORE_OK);
    body_release(&body);
    (void)malloc_trim(0);
    size_t heap_bytes = mallinfo2().arena;
    for (int i = 0; i < 3; i++) {
        char error[STORE_ERROR_MAX];
        struct body read;
        CU_ASSERT_EQUAL(fixture_get(&rig.fixture, "long", &read, error), STORE_OK);
        CU_ASSERT_EQUAL(whole_body_id(&read), 5);
        CU_ASSERT_TRUE(HARNESS_MEMORY_IS_SANITIZED || mallinfo2().arena < heap_bytes + (4 << 20));
        body_release(&read);
    }
    s3_rig_close(&rig);
}

static void received_bytes_are_heads_and_bodies(void)
{
    struct s3_rig rig;
    struct body read;
    char error[STORE_ERROR_MAX];
    s3_rig_open(&rig, NULL, NULL);
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT, "key", text_body("a body"), NULL),
                    STORE_OK);
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
    CU_ASSERT_EQUAL(fixture_put(&rig.fixture, STORE_PUT, "key", text_body("text"), NULL), STORE_OK);
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
    HARNESS_TEST(long_answers_leave_no_holes_in_the_heap),
    HARNESS_TEST(received_bytes_are_heads_and_bodies),
    HARNESS_TEST(an_unsigned_payload_needs_https),
    HARNESS_TEST(more_operations_than_connections_wait),
    HARNESS_TEST(closing_drops_what_is_in_flight),
    HARNESS_TEST(a_store_may_be_closed_inside_done),
    HARNESS_TEST(opening_says_what_is_wrong),
    {0},
};
