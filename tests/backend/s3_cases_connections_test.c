/* s3_cases_connections_test.c - the whole path where connections end, say too early or say nothing:
 * rows 13 to 15 of docs/s3.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/backend/s3_audit.h"
#include "tests/backend/s3_world.h"
#include "tests/harness.h"

#define OTHER 200 /* a producer that no world runs */

static struct hostile_match create_of(uint64_t version)
{
    return (struct hostile_match){HOSTILE_CREATE, world_version(version)};
}

/* ---- row 13 ---- */

#define LARGE_ENTRY 4096 /* makes manifests of a quarter of a mebibyte */
#define LARGE_CHAIN 60

static void open_large(struct world *world, const struct world_options *options)
{
    world_open(world, options);
    const struct chain_options chain = {
        .versions = LARGE_CHAIN, .entry_bytes = LARGE_ENTRY, .producer = OTHER};
    manifest_release(chain_store(world->server, &chain));
}

/* The 412 is there before the body is, and it says that the key exists, which is not so yet. */
static void row_13_an_early_412_is_read_and_honoured(void)
{
    struct world world;
    open_large(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){.match = create_of(LARGE_CHAIN + 1),
                                              .times = 1,
                                              .early = HOSTILE_EARLY_POLITE,
                                              .reply = HOSTILE_SAY,
                                              .status = 412});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    CU_ASSERT_EQUAL(world_counters(&world).vanished, 1);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    world_close(&world);
}

/* The loser is told on its head alone: the first create is applied when the second comes in, and
 * the second is answered when the first producer has gone on to validate. */
static void row_13_an_early_412_of_a_race_is_one_loser(void)
{
    static const enum hostile_early early[] = {HOSTILE_EARLY_POLITE, HOSTILE_EARLY_RUDE};
    for (size_t i = 0; i < HARNESS_COUNT(early); i++) {
        struct world world;
        open_large(&world, &(struct world_options){.producers = 2, .batches = 1});
        world_rule(&world, &(struct hostile_rule){.match = create_of(LARGE_CHAIN + 1),
                                                  .times = 1,
                                                  .hold = HOSTILE_HOLD_FIRST,
                                                  .until = create_of(LARGE_CHAIN + 1),
                                                  .until_count = 1});
        world_rule(&world, &(struct hostile_rule){.match = create_of(LARGE_CHAIN + 1),
                                                  .early = early[i],
                                                  .reply = HOSTILE_SAY,
                                                  .status = 412,
                                                  .hold = HOSTILE_HOLD_FIRST,
                                                  .until = {HOSTILE_LIST, "run/manifest/floor-"},
                                                  .until_count = 1});
        world_run_well(&world);
        CU_ASSERT_TRUE(world_lost(&world) >= 1);
        CU_ASSERT_EQUAL(world_won(&world), 4);
        world_close(&world);
    }
}

/* The reset has destroyed the answer, or comes without one. */
static void row_13_a_reset_while_sending_is_read_back(void)
{
    static const struct hostile_rule rules[] = {
        {.early = HOSTILE_EARLY_RUDE, .reply = HOSTILE_SAY, .status = 412},
        {.early = HOSTILE_EARLY_RUDE, .reply = HOSTILE_RESET},
        {.early = HOSTILE_EARLY_RUDE, .reply = HOSTILE_DROP},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++) {
        struct world world;
        struct hostile_rule rule = rules[i];
        open_large(&world, &(struct world_options){0});
        rule.match = create_of(LARGE_CHAIN + 1);
        rule.times = 1;
        world_rule(&world, &rule);
        world_run_well(&world);
        CU_ASSERT_EQUAL(world_lost(&world), 0);
        CU_ASSERT_TRUE(world_counters(&world).unknown == 1 || rule.reply == HOSTILE_SAY);
        CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(LARGE_CHAIN + 1), 200),
                        1);
        world_close(&world);
    }
}

/* ---- row 14 ---- */

/* Two seconds are the least time for which a connection is kept, three the gap. */
static void row_14_idle_connections_are_not_used_again(void)
{
    struct world world;
    struct hostile_request *request = malloc(sizeof(*request));
    world_open(&world, &(struct world_options){.s3 = {.idle_ns = 2 * NS_PER_S},
                                               .gap_ns = 3 * NS_PER_S + NS_PER_S / 2,
                                               .batches = 1});
    world_run_well(&world);
    int64_t last_ns[64] = {0};
    uint32_t reused = 0;
    for (size_t i = 0; hostile_server_request(world.server, i, request); i++) {
        CU_ASSERT_FATAL(request->connection < HARNESS_COUNT(last_ns));
        int64_t *last = &last_ns[request->connection];
        reused += *last != 0;
        CU_ASSERT_TRUE(*last == 0 || request->at_ns - *last < 3 * NS_PER_S);
        *last = request->at_ns;
    }
    CU_ASSERT_TRUE(reused >= 3); /* within an attempt they are */
    free(request);
    world_close(&world);
}

static void spoil(const struct hostile_rule *spoiled)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 2});
    world_rule(&world, spoiled);
    world_run_well(&world);
    world_close(&world);
}

static void row_14_a_server_that_always_hangs_up(void)
{
    spoil(&(struct hostile_rule){.close_after = true});
}

static void row_14_an_answer_that_is_cut(void)
{
    static const struct hostile_match matches[] = {{HOSTILE_LIST, "run/manifest/"},
                                                   {HOSTILE_LIST, "run/manifest/floor-"},
                                                   {HOSTILE_GET, NULL},
                                                   {HOSTILE_PUT, NULL},
                                                   {HOSTILE_CREATE, NULL}};
    static const int64_t cuts[] = {1, 9, 20, 60, -40, -1};
    for (size_t i = 0; i < HARNESS_COUNT(matches); i++)
        for (size_t j = 0; j < HARNESS_COUNT(cuts); j++)
            spoil(&(struct hostile_rule){
                .match = matches[i], .skip = 1, .times = 2, .cut_bytes = cuts[j]});
}

/* The end of the connection crosses the request. */
static void row_14_a_connection_that_ends_as_it_is_used(void)
{
    static const struct hostile_match matches[] = {
        {HOSTILE_LIST, NULL}, {HOSTILE_GET, NULL}, {HOSTILE_PUT, NULL}, {HOSTILE_CREATE, NULL}};
    static const enum hostile_reply replies[] = {HOSTILE_DROP, HOSTILE_RESET};
    for (size_t i = 0; i < HARNESS_COUNT(matches); i++)
        for (size_t j = 0; j < HARNESS_COUNT(replies); j++)
            spoil(&(struct hostile_rule){.match = matches[i],
                                         .skip = 1,
                                         .times = 2,
                                         .apply = HOSTILE_APPLY_NOT,
                                         .reply = replies[j]});
}

/* ---- row 15 ---- */

static void be_silent(const struct hostile_rule *silent)
{
    struct world world;
    world_open(&world, &(struct world_options){.s3 = {.attempt_ns = NS_PER_S}, .batches = 1});
    world_rule(&world, silent);
    int64_t begun_ns = loop_now(live_loop_base(world.loop));
    world_run_well(&world);
    CU_ASSERT_TRUE(loop_now(live_loop_base(world.loop)) - begun_ns < 10 * NS_PER_S);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    if (silent->match.verb == HOSTILE_CREATE)
        CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    world_close(&world);
}

static void row_15_silence_has_a_deadline(void)
{
    be_silent(
        &(struct hostile_rule){.match = {HOSTILE_LIST, NULL}, .times = 1, .reply = HOSTILE_SILENT});
    be_silent(
        &(struct hostile_rule){.match = {HOSTILE_PUT, NULL}, .times = 1, .reply = HOSTILE_SILENT});
}

static void row_15_silence_after_a_create_is_read_back(void)
{
    be_silent(&(struct hostile_rule){.match = create_of(3), .times = 1, .reply = HOSTILE_SILENT});
    be_silent(&(struct hostile_rule){
        .match = create_of(3), .times = 1, .apply = HOSTILE_APPLY_NOT, .reply = HOSTILE_SILENT});
}

/* It accepts connections and nothing else: plain, and where TLS is expected. */
static void row_15_a_mute_server_has_a_deadline(void)
{
    static const char *const schemes[] = {"http", "https"};
    for (size_t i = 0; i < HARNESS_COUNT(schemes); i++) {
        struct world world;
        char endpoint[64], error[STORE_ERROR_MAX];
        struct body body;
        world_credentials(NULL);
        struct hostile_server *server =
            hostile_server_start(&(struct hostile_options){.transport = HOSTILE_MUTE});
        CU_ASSERT_PTR_NOT_NULL_FATAL(server);
        snprintf(endpoint, sizeof(endpoint), "%s://127.0.0.1:%u", schemes[i],
                 hostile_server_port(server));
        world_open_on(&world, server,
                      &(struct world_options){.s3 = {.endpoint = endpoint,
                                                     .connect_ns = NS_PER_S / 4,
                                                     .attempt_ns = NS_PER_S / 4,
                                                     .operation_ns = NS_PER_S}});
        struct fixture fixture = {.loop = world.loop, .store = world.bytes};
        int64_t begun_ns = loop_now(live_loop_base(world.loop));
        CU_ASSERT_EQUAL(fixture_get(&fixture, "k", &body, error), STORE_UNKNOWN);
        CU_ASSERT_TRUE(loop_now(live_loop_base(world.loop)) - begun_ns < 5 * NS_PER_S);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "run/k"));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, endpoint));
        world_leave(&world);
        hostile_server_stop(server);
    }
}

const struct harness_test s3_cases_connections_tests[] = {
    HARNESS_TEST(row_13_an_early_412_is_read_and_honoured),
    HARNESS_TEST(row_13_an_early_412_of_a_race_is_one_loser),
    HARNESS_TEST(row_13_a_reset_while_sending_is_read_back),
    HARNESS_TEST(row_14_idle_connections_are_not_used_again),
    HARNESS_TEST(row_14_a_server_that_always_hangs_up),
    HARNESS_TEST(row_14_an_answer_that_is_cut),
    HARNESS_TEST(row_14_a_connection_that_ends_as_it_is_used),
    HARNESS_TEST(row_15_silence_has_a_deadline),
    HARNESS_TEST(row_15_silence_after_a_create_is_read_back),
    HARNESS_TEST(row_15_a_mute_server_has_a_deadline),
    {0},
};
