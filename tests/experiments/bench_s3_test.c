/* bench_s3_test.c - the sides of `bench s3` and its server that does nothing: every request counts,
 * and one that fails is told. No figure is tested. */
#include "experiments/bench_s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/tgb_object.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define BYTES UINT64_C(100000)
#define REQUESTS 20

static const uint8_t data[BYTES];

struct rig {
    struct bench_null server;
    struct bench_client *client;
    struct bench_peer *peer;
};

static void rig_open_on(struct rig *rig, const uint8_t *object, uint64_t bytes)
{
    char error[STORE_ERROR_MAX];
    setenv("AWS_ACCESS_KEY_ID", "bench", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "bench", 1);
    CU_ASSERT_TRUE_FATAL(bench_null_start(&rig->server, object, bytes));
    const struct s3_options options = {.endpoint = rig->server.endpoint, .region = "us-east-1"};
    CU_ASSERT_TRUE_FATAL(bench_client_open("s3://bench", &options, &rig->client, error));
    CU_ASSERT_TRUE_FATAL(bench_peer_open("s3://bench", &options, &rig->peer, error));
}

/* The server answers a GET with as much of the data as `stored` says. */
static void rig_open(struct rig *rig, uint64_t stored)
{
    rig_open_on(rig, data, stored);
}

static void rig_close(struct rig *rig)
{
    bench_peer_close(rig->peer);
    bench_client_close(rig->client);
    bench_null_stop(&rig->server);
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
}

/* What fails is the same on both sides. */
static void run(struct rig *rig, enum store_verb verb, uint64_t bad)
{
    const struct bench_load load = {.verb = verb,
                                    .count = REQUESTS,
                                    .concurrency = 3,
                                    .data = data,
                                    .bytes = BYTES,
                                    .prefix = "a/"};
    struct bench_cost cost;
    bench_client_run(rig->client, &load, &cost);
    CU_ASSERT_EQUAL(cost.bad, bad);
    CU_ASSERT_EQUAL(cost.why[0] != '\0', bad > 0);
    CU_ASSERT_TRUE(cost.wall_s > 0);
    bench_peer_run(rig->peer, &load, &cost);
    CU_ASSERT_EQUAL(cost.bad, bad);
    CU_ASSERT_EQUAL(cost.why[0] != '\0', bad > 0);
}

static void both_sides_carry_a_load(void)
{
    struct rig rig;
    rig_open(&rig, BYTES);
    run(&rig, STORE_PUT_IF_ABSENT, 0);
    run(&rig, STORE_GET, 0);
    run(&rig, STORE_PUT, 0);
    run(&rig, STORE_GET, 0);
    rig_close(&rig);
}

static void what_fails_is_counted(void)
{
    struct rig rig;
    rig_open(&rig, BYTES - 1);
    run(&rig, STORE_GET, REQUESTS);
    rig_close(&rig);
}

/* Two slices of a small TGB, read in turns; the second one's last byte is another. */
static void slices_are_read_by_range_and_examined(void)
{
    struct rig rig;
    struct bench_cost cost;
    int64_t latency_ns[REQUESTS];
    static uint8_t bytes[BYTES];
    struct tgb_object object = {.mesh = {2, 1}, .name = bench_tgb_name(1), .bytes = bytes};
    struct bench_slices slices = {.objects = 1};
    CU_ASSERT_EQUAL_FATAL(tgb_layout_make(BYTES, 2, &object.layout), TGB_OK);
    slices.layout = object.layout;
    tgb_object_fill(&object);
    bytes[BYTES - 1] ^= 1;
    const struct bench_load load = {.verb = STORE_GET,
                                    .count = REQUESTS,
                                    .concurrency = 3,
                                    .bytes = slices.layout.slot_bytes,
                                    .prefix = "a/",
                                    .slices = &slices,
                                    .latency_ns = latency_ns};
    rig_open_on(&rig, bytes, BYTES);
    bench_client_run(rig.client, &load, &cost);
    CU_ASSERT_EQUAL(cost.bad, REQUESTS / 2);
    CU_ASSERT_STRING_EQUAL(cost.why, tgb_error_text(TGB_BAD_CHECKSUM));
    CU_ASSERT_TRUE(latency_ns[REQUESTS - 1] > 0 && cost.check_s > 0);
    bench_peer_run(rig.peer, &load, &cost);
    CU_ASSERT_EQUAL(cost.bad, 0);
    rig_close(&rig);
}

/* Beside rclone, in a bucket that is missing: one line says so, before anything is written. */
static void a_missing_bucket_is_said_once(void)
{
    char text[4096] = "";
    struct bench bench = {0};
    struct hostile_options server_options = {0};
    struct hostile_server *server = hostile_server_start(&server_options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    const struct s3_options options = {.endpoint = hostile_server_url(server)};
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    unsetenv("AWS_SESSION_TOKEN");
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CU_ASSERT_FALSE(bench_rclone(&bench, "s3://missing", &options, 1));
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    CU_ASSERT_TRUE(bytes > 0);
    CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + bytes - 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "NoSuchBucket"));
    CU_ASSERT_EQUAL(hostile_server_count(server, (struct hostile_match){HOSTILE_DELETE, NULL},
                                         HOSTILE_WHATEVER),
                    0);
    fclose(file);
    hostile_server_stop(server);
}

static void the_median_is_in_the_middle(void)
{
    double odd[] = {9, 1, 5}, even[] = {4, 1, 9, 2}, one[] = {7};
    CU_ASSERT_EQUAL(bench_median(odd, 3), 5.0);
    CU_ASSERT_EQUAL(bench_median(even, 4), 3.0);
    CU_ASSERT_EQUAL(bench_median(one, 1), 7.0);
}

const struct harness_test bench_s3_tests[] = {HARNESS_TEST(both_sides_carry_a_load),
                                              HARNESS_TEST(what_fails_is_counted),
                                              HARNESS_TEST(slices_are_read_by_range_and_examined),
                                              HARNESS_TEST(a_missing_bucket_is_said_once),
                                              HARNESS_TEST(the_median_is_in_the_middle),
                                              {0}};
