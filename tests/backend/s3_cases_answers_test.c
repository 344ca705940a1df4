/* s3_cases_answers_test.c - answers that are damaged, foreign, refusing or oddly framed: rows 21,
 * 24 and 26 to 28 of docs/s3.md, and siblings of all rows. */
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

/* ---- row 21 ---- */

struct part {
    uint64_t offset;
    uint64_t bytes;
    const char *expected;
};

static void on_done(struct store_op *op, void *context)
{
    (void)op;
    live_loop_stop(((struct world *)context)->loop);
}

static void get_part(struct world *world, const char *key, const struct part *part)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_GET;
    op.range_offset = part->offset;
    op.range_bytes = part->bytes;
    op.done = on_done;
    op.context = world;
    snprintf(op.key, sizeof(op.key), "%s", key);
    store_submit(world->bytes, &op);
    loop_run(live_loop_base(world->loop), TIME_NEVER);
    CU_ASSERT_EQUAL_FATAL(op.outcome, STORE_OK);
    CU_ASSERT_EQUAL_FATAL(op.result.bytes, strlen(part->expected));
    CU_ASSERT_EQUAL(memcmp(op.result.data, part->expected, op.result.bytes), 0);
    store_op_deinit(&op);
}

static void row_21_ranges_past_the_end_are_empty(void)
{
    static const struct part parts[] = {{0, 4, "0123"}, {6, 0, "6789"},      {6, 100, "6789"},
                                        {9, 1, "9"},    {10, 1, ""},         {10, 0, ""},
                                        {1000, 10, ""}, {0, 0, "0123456789"}};
    static const struct part of_nothing[] = {{0, 0, ""}, {0, 1, ""}, {5, 0, ""}, {5, 5, ""}};
    struct world world;
    world_open(&world, &(struct world_options){0});
    hostile_server_put(world.server, WORLD_PREFIX "/ten", "0123456789", 10);
    hostile_server_put(world.server, WORLD_PREFIX "/none", "", 0);
    for (size_t i = 0; i < HARNESS_COUNT(parts); i++)
        get_part(&world, "ten", &parts[i]);
    for (size_t i = 0; i < HARNESS_COUNT(of_nothing); i++)
        get_part(&world, "none", &of_nothing[i]);
    world_close(&world);
}

/* ---- row 24, row 28: what such a store does; the probe refuses it (tests/experiments) ---- */

struct race {
    struct world *world;
    uint32_t left;
    uint32_t won;
    uint32_t refused;
};

static void on_raced(struct store_op *op, void *context)
{
    struct race *race = context;
    race->won += op->outcome == STORE_OK;
    race->refused += op->outcome == STORE_EXISTS;
    if (--race->left == 0)
        live_loop_stop(race->world->loop);
}

/* 32 creates of one key, under way together; even ones by the first store, odd by the second. */
static struct race race_creates(struct world *world, struct store *const stores[2])
{
    static struct store_op ops[32];
    struct race race = {.world = world, .left = HARNESS_COUNT(ops)};
    for (size_t i = 0; i < HARNESS_COUNT(ops); i++) {
        store_op_init(&ops[i]);
        ops[i].verb = STORE_PUT_IF_ABSENT;
        ops[i].body = text_body("x");
        ops[i].done = on_raced;
        ops[i].context = &race;
        snprintf(ops[i].key, sizeof(ops[i].key), "raced");
    }
    for (size_t i = 0; i < HARNESS_COUNT(ops); i++)
        store_submit(stores[i % 2], &ops[i]);
    loop_run(live_loop_base(world->loop), TIME_NEVER);
    for (size_t i = 0; i < HARNESS_COUNT(ops); i++)
        store_op_deinit(&ops[i]);
    return race;
}

static void row_24_an_honest_store_has_one_winner(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    struct store *const stores[2] = {world.bytes, world.bytes};
    struct race race = race_creates(&world, stores);
    CU_ASSERT_EQUAL(race.won, 1);
    CU_ASSERT_EQUAL(race.refused, 31);
    world_close(&world);
}

static void row_24_what_a_store_does_is_told_as_it_is(void)
{
    static const struct {
        struct hostile_rule rule;
        uint32_t won;
    } cases[] = {
        {{.match = {HOSTILE_CREATE, NULL}, .apply = HOSTILE_APPLY_ALWAYS}, 32},
        {{.match = {HOSTILE_CREATE, NULL}, .apply = HOSTILE_APPLY_ALWAYS, .skip = 7, .times = 1},
         2},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct world world;
        world_open(&world, &(struct world_options){.s3 = {.connections = 1}});
        world_rule(&world, &cases[i].rule);
        struct store *const stores[2] = {world.bytes, world.bytes};
        CU_ASSERT_EQUAL(race_creates(&world, stores).won, cases[i].won);
        world_close(&world);
    }
}

static void row_24_no_conditional_creates_is_said_so(void)
{
    static const char *const bodies[] = {
        "<Error><Code>NotImplemented</Code><Message>A header you provided implies functionality "
        "that is not implemented.</Message></Error>",
        ""};
    for (size_t i = 0; i < HARNESS_COUNT(bodies); i++) {
        struct world world;
        world_open(&world, &(struct world_options){0});
        world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                                  .apply = HOSTILE_APPLY_NOT,
                                                  .reply = HOSTILE_SAY,
                                                  .status = 501,
                                                  .body = bodies[i]});
        world_run_to(&world, PRODUCER_STORE_FAILED, "no conditional creates");
        CU_ASSERT_EQUAL(hostile_server_requests(world.server), 2);
        world_close(&world);
    }
}

/* Two endpoints that do not share what they hold. */
static void row_28_two_endpoints_have_two_winners(void)
{
    struct world first, second;
    world_open(&first, &(struct world_options){0});
    world_open(&second, &(struct world_options){0});
    struct store *other;
    char error[STORE_ERROR_MAX];
    struct store_url_options options = {.s3 = {.endpoint = hostile_server_url(second.server)}};
    CU_ASSERT_EQUAL_FATAL(store_open_url("s3://bucket/run", &options, first.loop, &other, error),
                          OPEN_OK);
    struct store *const stores[2] = {first.bytes, other};
    struct race race = race_creates(&first, stores);
    CU_ASSERT_EQUAL(race.won, 2);
    CU_ASSERT_EQUAL(race.refused, 30);
    store_close(other);
    world_close(&first);
    world_close(&second);
}

/* ---- row 26 ---- */

struct strange {
    int status;
    const char *headers;
    const char *body;
    const char *words; /* parted by '|' */
};

static void check_words(const char *text, const char *words)
{
    while (*words != '\0') {
        char word[64];
        size_t bytes = strcspn(words, "|");
        snprintf(word, sizeof(word), "%.*s", (int)bytes, words);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
        if (strstr(text, word) == NULL)
            fprintf(stderr, "\"%s\" is not in: %s\n", word, text);
        words += bytes + (words[bytes] == '|');
    }
}

#define PROXY_PAGE                                                                                 \
    "<html>\n<head><title>Blocked \x1b[31m</title></head>\r\n<body>Ask your admin</body></html>"

static void row_26_errors_without_words_name_what_they_can(void)
{
    static const struct strange cases[] = {
        {400, NULL,
         "<Error><Code>InvalidArgument</Code><Message></Message><RequestId>id-7</RequestId>"
         "</Error>",
         "400|InvalidArgument|id-7|run/manifest/00000000000000000003"},
        {403, "Content-Type: text/html\r\n", PROXY_PAGE,
         "403|HTML|hostile-|run/manifest/00000000000000000003"},
        {405, NULL, "", "405|hostile-|run/manifest/00000000000000000003"},
        {418, NULL, "<Error><Code>Teapot</Code></Error>", "418|Teapot|hostile-|run/manifest/"},
        {401, "Content-Type: text/html\r\nWWW-Authenticate: Basic\r\n", PROXY_PAGE, "401|HTML"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct world world;
        world_open(&world, &(struct world_options){0});
        world_rule(&world, &(struct hostile_rule){.match = create_of(3),
                                                  .apply = HOSTILE_APPLY_NOT,
                                                  .reply = HOSTILE_SAY,
                                                  .status = cases[i].status,
                                                  .headers = cases[i].headers,
                                                  .body = cases[i].body});
        world_run_to(&world, PRODUCER_STORE_FAILED, "3");
        check_words(world.producers[0].text, cases[i].words);
        CU_ASSERT_PTR_NULL(strchr(world.producers[0].text, '\x1b'));
        world_close(&world);
    }
}

/* A proxy's page under 200 is neither a listing nor a commit. */
static void row_26_html_under_200_is_no_success(void)
{
    static const struct hostile_rule page = {.apply = HOSTILE_APPLY_NOT,
                                             .reply = HOSTILE_SAY,
                                             .status = 200,
                                             .headers = "Content-Type: text/html\r\n",
                                             .body = PROXY_PAGE};
    struct world world;
    struct hostile_rule rule = page;
    world_open(&world, &(struct world_options){0});
    rule.match = create_of(3);
    rule.times = 1;
    world_rule(&world, &rule);
    world_run_well(&world); /* read back, and sent again */
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    hostile_server_rules_clear(world.server);
    rule = page;
    rule.match.verb = HOSTILE_LIST;
    world_rule(&world, &rule);
    world_run_to(&world, PRODUCER_STORE_FAILED, "HTML");
    world_close(&world);
}

/* ---- row 27 ---- */

/* The newest version, which a producer that starts must read; the chain was made by a client, so
 * that its objects carry checksums. */
static void spoil_newest(const struct hostile_rule *spoiled, const char *words)
{
    struct world world;
    struct hostile_rule rule = *spoiled;
    world_open(&world, &(struct world_options){.batches = 1});
    world_run_well(&world);
    rule.match = (struct hostile_match){HOSTILE_GET, world_version(3)};
    world_rule(&world, &rule);
    if (words == NULL) {
        world_run_well(&world);
    } else {
        world_run_to(&world, PRODUCER_STORE_FAILED, "00000000000000000003");
        check_words(world.producers[0].text, words);
    }
    world_close(&world);
}

static void row_27_damage_is_found_and_named(void)
{
    spoil_newest(&(struct hostile_rule){.coding = HOSTILE_GZIP}, "compressed");
    spoil_newest(&(struct hostile_rule){.flip = true}, "checksum");
    spoil_newest(&(struct hostile_rule){.length_off = -5}, "checksum");
}

/* It is not read to its end, and not again. */
static void row_27_a_version_of_no_version_s_length_is_named(void)
{
    static char text[(2 << 20) + 1];
    memset(text, 'x', sizeof(text) - 1);
    struct hostile_rule rule = {.reply = HOSTILE_SAY, .status = 200, .body = text};
    spoil_newest(&rule, "2097152 bytes, and the first ones are none of its kind|restore it");
    rule.coding = HOSTILE_CHUNKED;
    spoil_newest(&rule, "the first ones are none of its kind|restore it");
}

static void row_27_damage_that_passes_is_read_again(void)
{
    spoil_newest(&(struct hostile_rule){.times = 1, .flip = true}, NULL);
    spoil_newest(&(struct hostile_rule){.times = 1, .length_off = -5}, NULL);
    spoil_newest(&(struct hostile_rule){.times = 2, .length_off = 5, .close_after = true}, NULL);
}

/* Objects that another client wrote carry no checksum of ours: the manifest has one of its own. */
static void row_27_damage_of_a_foreign_object_is_found(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    manifest_release(
        chain_store(world.server, &(struct chain_options){.versions = 10, .producer = OTHER}));
    world_rule(&world,
               &(struct hostile_rule){.match = {HOSTILE_GET, world_version(10)}, .flip = true});
    world_run_to(&world, PRODUCER_STORE_FAILED, "manifest/00000000000000000010");
    world_close(&world);
}

/* ---- siblings: framing ---- */

/* Two producers over a store all of whose answers are so. */
static void frame_all(const struct hostile_rule *rule)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 2});
    world_rule(&world, rule);
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    world_close(&world);
}

static void sibling_answers_in_two_segments(void)
{
    frame_all(&(struct hostile_rule){.split_bytes = 1});
    frame_all(&(struct hostile_rule){.split_bytes = 70});
}

static void sibling_interim_answers_nobody_asked_for(void)
{
    frame_all(&(struct hostile_rule){.interim = "HTTP/1.1 100 Continue\r\n\r\n"});
    frame_all(&(struct hostile_rule){.interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                                                "HTTP/1.1 100 Continue\r\n\r\n"});
}

static void sibling_chunked_answers(void)
{
    frame_all(&(struct hostile_rule){.coding = HOSTILE_CHUNKED});
}

/* A second copy of an answer must not be taken for that of the next request. */
static void sibling_answers_sent_twice(void)
{
    frame_all(&(struct hostile_rule){.twice = true});
    frame_all(&(struct hostile_rule){.twice = true, .coding = HOSTILE_CHUNKED});
}

/* Creates without a length are undecided, and read back. */
static void sibling_answers_that_end_with_the_connection(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.batches = 1});
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL},
                                              .coding = HOSTILE_UNTIL_END});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 3);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    world_close(&world);
}

/* ---- siblings: the bucket goes away ---- */

static void sibling_a_bucket_that_vanishes(void)
{
    static const struct hostile_match matches[] = {
        {HOSTILE_LIST, NULL}, {HOSTILE_PUT, NULL}, {HOSTILE_CREATE, NULL}, {HOSTILE_GET, NULL}};
    for (size_t i = 0; i < HARNESS_COUNT(matches); i++) {
        struct world world;
        world_open(&world, &(struct world_options){.batches = 1});
        world_run_well(&world); /* the next life has a version to read */
        world_rule(&world, &(struct hostile_rule){
                               .match = matches[i],
                               .apply = HOSTILE_APPLY_NOT,
                               .reply = HOSTILE_SAY,
                               .status = 404,
                               .body = "<Error><Code>NoSuchBucket</Code><Message>The specified "
                                       "bucket does not exist</Message></Error>"});
        world_run_to(&world, PRODUCER_STORE_FAILED, "there is no bucket bucket");
        CU_ASSERT_TRUE(world_count(&world, HOSTILE_ANY, NULL, 404) <= 8);
        world_close(&world);
    }
}

/* A bare 404 for a key says that it is not there, and no more. */
static void sibling_a_bare_404_is_an_absent_key(void)
{
    struct world world;
    struct body body;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){
                           .match = {HOSTILE_GET, NULL}, .reply = HOSTILE_SAY, .status = 404});
    struct fixture fixture = {.loop = world.loop, .store = world.bytes};
    CU_ASSERT_EQUAL(fixture_get(&fixture, "k", &body, NULL), STORE_NOT_FOUND);
    world_close(&world);
}

/* ---- siblings: clocks ---- */

/* The machine's clock and the server's are an hour apart: corrected once, by the server's Date. */
static void sibling_a_skewed_clock_is_corrected(void)
{
    static const int64_t ahead_ns[] = {3600 * NS_PER_S, -3600 * NS_PER_S};
    for (size_t i = 0; i < HARNESS_COUNT(ahead_ns); i++) {
        struct world world;
        world_open(&world, &(struct world_options){.server = {.clock_ahead_ns = ahead_ns[i]}});
        world_run_well(&world);
        CU_ASSERT_EQUAL(world_count(&world, HOSTILE_ANY, NULL, 403), 1);
        CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
        world_close(&world);
    }
}

const struct harness_test s3_cases_answers_tests[] = {
    HARNESS_TEST(row_21_ranges_past_the_end_are_empty),
    HARNESS_TEST(row_24_an_honest_store_has_one_winner),
    HARNESS_TEST(row_24_what_a_store_does_is_told_as_it_is),
    HARNESS_TEST(row_24_no_conditional_creates_is_said_so),
    HARNESS_TEST(row_26_errors_without_words_name_what_they_can),
    HARNESS_TEST(row_26_html_under_200_is_no_success),
    HARNESS_TEST(row_27_damage_is_found_and_named),
    HARNESS_TEST(row_27_a_version_of_no_version_s_length_is_named),
    HARNESS_TEST(row_27_damage_that_passes_is_read_again),
    HARNESS_TEST(row_27_damage_of_a_foreign_object_is_found),
    HARNESS_TEST(row_28_two_endpoints_have_two_winners),
    HARNESS_TEST(sibling_answers_in_two_segments),
    HARNESS_TEST(sibling_interim_answers_nobody_asked_for),
    HARNESS_TEST(sibling_chunked_answers),
    HARNESS_TEST(sibling_answers_sent_twice),
    HARNESS_TEST(sibling_answers_that_end_with_the_connection),
    HARNESS_TEST(sibling_a_bucket_that_vanishes),
    HARNESS_TEST(sibling_a_bare_404_is_an_absent_key),
    HARNESS_TEST(sibling_a_skewed_clock_is_corrected),
    {0},
};
