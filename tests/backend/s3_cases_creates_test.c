/* s3_cases_creates_test.c - the whole path where the answer to a conditional create is lost, wrong
 * or late: rows 1 to 5, 7 and 11 of docs/s3.md, and their siblings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/backend/s3_audit.h"
#include "tests/backend/s3_world.h"
#include "tests/harness.h"

/* Of a producer that is alone: the genesis, its fencing, its first batches. */
#define GENESIS 1
#define FENCING 2
#define BATCHES 3

static struct hostile_match create_of(uint64_t version)
{
    return (struct hostile_match){HOSTILE_CREATE, world_version(version)};
}

/* Creates of that version; the bodies must all be the same bytes. */
static size_t creates_of(struct world *world, uint64_t version)
{
    struct hostile_request *request = malloc(sizeof(*request));
    char hash[65] = "";
    size_t count = 0;
    for (size_t i = 0; hostile_server_request(world->server, i, request); i++) {
        if (request->verb != HOSTILE_CREATE || strcmp(request->key, world_version(version)) != 0)
            continue;
        if (request->body_hash[0] != '\0' && hash[0] != '\0')
            CU_ASSERT_STRING_EQUAL(request->body_hash, hash);
        memcpy(hash, request->body_hash, sizeof(hash));
        count++;
    }
    free(request);
    return count;
}

/* ---- row 1 ---- */

static void lose_answer(uint64_t version, enum hostile_reply reply)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world,
               &(struct hostile_rule){.match = create_of(version), .times = 1, .reply = reply});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    CU_ASSERT_EQUAL(world_counters(&world).resent, 0);
    /* It was stored: nobody sends it again, not the machine, not libcurl on a new connection. */
    CU_ASSERT_EQUAL(creates_of(&world, version), 1);
    world_close(&world);
}

static void row_01_lost_answer_is_committed(void)
{
    lose_answer(GENESIS, HOSTILE_DROP);
    lose_answer(FENCING, HOSTILE_DROP);
    lose_answer(BATCHES, HOSTILE_DROP);
    lose_answer(GENESIS, HOSTILE_RESET);
    lose_answer(FENCING, HOSTILE_RESET);
    lose_answer(BATCHES, HOSTILE_RESET);
}

static void row_01_every_answer_is_lost(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 3});
    world_rule(&world,
               &(struct hostile_rule){.match = {HOSTILE_CREATE, NULL}, .reply = HOSTILE_RESET});
    world_run_well(&world);
    CU_ASSERT_TRUE(world_counters(&world).unknown >= world_won(&world));
    world_close(&world);
}

/* The connection was used before, so that libcurl could take the loss for one that idled out. */
static void row_01_lost_on_a_connection_in_use(void)
{
    struct world world;
    struct hostile_request *request = malloc(sizeof(*request));
    world_open(&world, &(struct world_options){.s3 = {.connections = 1}});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .times = 1,
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_DROP});
    world_run_well(&world);
    size_t creates = 0;
    for (size_t i = 0; hostile_server_request(world.server, i, request); i++)
        if (request->verb == HOSTILE_CREATE && strcmp(request->key, world_version(BATCHES)) == 0 &&
            creates++ == 0)
            CU_ASSERT_TRUE(request->on_connection > 1);
    CU_ASSERT_EQUAL(creates, 2);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    CU_ASSERT_EQUAL(world_counters(&world).resent, 1);
    free(request);
    world_close(&world);
}

/* ---- row 2 ---- */

/* The read that follows a lost answer does not see the version yet, so it is sent again, and meets
 * itself. */
static void row_02_refused_by_itself_is_committed(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){
                           .match = create_of(BATCHES), .times = 1, .reply = HOSTILE_RESET});
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_GET, world_version(BATCHES)},
                                              .times = 1,
                                              .reply = HOSTILE_SAY,
                                              .status = 404});
    world_run_well(&world);
    CU_ASSERT_EQUAL(creates_of(&world, BATCHES), 2);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(BATCHES), 412), 1);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    CU_ASSERT_EQUAL(world_counters(&world).resent, 1);
    world_close(&world);
}

/* The first lands only after the deadline, when the second is on its way. */
static void row_02_late_create_and_its_copy_are_one_commit(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.s3 = {.attempt_ns = NS_PER_S}});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_FIRST,
                                              .until = create_of(BATCHES),
                                              .until_count = 1});
    world_run_well(&world);
    CU_ASSERT_EQUAL(creates_of(&world, BATCHES), 2);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(BATCHES), 200), 1);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(BATCHES), 412), 1);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    world_close(&world);
}

/* It was stored in time; the answer comes when the producer has given it up and read it back. */
static void row_02_late_answer_is_one_commit(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.s3 = {.attempt_ns = NS_PER_S}});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_ANSWER,
                                              .until = {HOSTILE_GET, world_version(BATCHES)},
                                              .until_count = 1});
    world_run_well(&world);
    CU_ASSERT_EQUAL(creates_of(&world, BATCHES), 1);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    world_close(&world);
}

/* ---- row 3 ---- */

static void row_03_another_producers_body_is_a_conflict(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 2});
    world_rule(&world, &(struct hostile_rule){.match = create_of(FENCING),
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_FIRST,
                                              .until = create_of(FENCING),
                                              .until_count = 1});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(FENCING), 412), 1);
    CU_ASSERT_TRUE(world_lost(&world) >= 1);
    world_close(&world);
}

/* The winner's answer is lost, the loser's 412 is not: the first create waits for the second to
 * come in, the second until the winner reads its own back. */
static void row_03_one_loser_where_the_winner_was_not_answered(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 2});
    world_rule(&world, &(struct hostile_rule){.match = create_of(FENCING),
                                              .times = 1,
                                              .reply = HOSTILE_RESET,
                                              .hold = HOSTILE_HOLD_FIRST,
                                              .until = create_of(FENCING),
                                              .until_count = 1});
    world_rule(&world, &(struct hostile_rule){.match = create_of(FENCING),
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_FIRST,
                                              .until = {HOSTILE_GET, world_version(FENCING)},
                                              .until_count = 1});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(FENCING), 412), 1);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    CU_ASSERT_TRUE(world_lost(&world) >= 1);
    world_close(&world);
}

/* ---- row 4 ---- */

#define BUSY                                                                                       \
    "<Error><Code>ConditionalRequestConflict</Code><Message>The conditional request cannot "       \
    "succeed due to a conflicting operation against this resource.</Message></Error>"

static void row_04_busy_is_sent_again_until_it_is_committed(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .times = 5,
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = 409,
                                              .body = BUSY});
    world_run_well(&world);
    CU_ASSERT_EQUAL(creates_of(&world, BATCHES), 6);
    CU_ASSERT_EQUAL(world_counters(&world).busy, 5);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    world_close(&world);
}

static void row_04_busy_for_ever_has_an_end(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.retry_max_ns = NS_PER_US});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = 409,
                                              .body = BUSY});
    world_run_to(&world, PRODUCER_STORE_FAILED, "could not be created");
    size_t most = (COMMIT_BUSY_MAX + 1 + COMMIT_RESENDS_MAX) * (COMMIT_RESTARTS_MAX + 1);
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_CREATE, world_version(BATCHES), 409) <= most);
    CU_ASSERT_EQUAL(world.producers[0].batches, 0);
    world_close(&world);
}

/* ---- row 5 ---- */

static void answer_once(uint64_t version, int status, enum hostile_apply apply)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){.match = create_of(version),
                                              .times = 1,
                                              .apply = apply,
                                              .reply = HOSTILE_SAY,
                                              .status = status});
    world_run_well(&world);
    struct commit_counters counters = world_counters(&world);
    CU_ASSERT_EQUAL(counters.unknown + counters.throttled, 1);
    CU_ASSERT_EQUAL(world_lost(&world), 0);
    CU_ASSERT_EQUAL(creates_of(&world, version), apply == HOSTILE_APPLY ? 1 : 2);
    world_close(&world);
}

static void row_05_server_errors_are_read_back(void)
{
    static const int statuses[] = {500, 502, 503, 504, 429};
    for (size_t i = 0; i < HARNESS_COUNT(statuses); i++) {
        answer_once(BATCHES, statuses[i], HOSTILE_APPLY);
        answer_once(BATCHES, statuses[i], HOSTILE_APPLY_NOT);
    }
    answer_once(GENESIS, 500, HOSTILE_APPLY);
    answer_once(GENESIS, 503, HOSTILE_APPLY_NOT);
    answer_once(FENCING, 503, HOSTILE_APPLY);
}

struct refusal {
    int status;
    const char *headers;
    const char *body;
    const char *word; /* that the text must hold */
};

static void refuse_for_good(const struct refusal *refusal)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world_rule(&world, &(struct hostile_rule){.match = create_of(BATCHES),
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = refusal->status,
                                              .headers = refusal->headers,
                                              .body = refusal->body});
    world_run_to(&world, PRODUCER_STORE_FAILED, refusal->word);
    CU_ASSERT_EQUAL(world.producers[0].batches, 0);
    CU_ASSERT_EQUAL(world.producers[0].won, 1); /* the fencing */
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_CREATE, world_version(BATCHES), HOSTILE_WHATEVER) <=
                   3);
    world_close(&world);
}

static void row_05_refusals_are_fatal_and_say_why(void)
{
    static const struct refusal refusals[] = {
        {403, NULL, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
         "AccessDenied"},
        {403, NULL, "", "403"},
        {301, "x-amz-bucket-region: eu-north-1\r\n",
         "<Error><Code>PermanentRedirect</Code><Message>wrong place</Message>"
         "<Endpoint>bucket.s3.eu-north-1.example.org</Endpoint></Error>",
         "eu-north-1"},
        {400, "x-amz-bucket-region: eu-north-1\r\n",
         "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message>"
         "<Region>eu-north-1</Region></Error>",
         "eu-north-1"},
        {307, NULL, "", "307"},
        {501, NULL, "<Error><Code>NotImplemented</Code><Message>no</Message></Error>", "501"},
        {404, NULL, "<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>", "bucket"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(refusals); i++)
        refuse_for_good(&refusals[i]);
}

/* It was stored though it was refused. The next life finds the batches of the one before. */
static void row_05_refused_but_stored_is_not_lost(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.batches = 1});
    world_rule(&world,
               &(struct hostile_rule){
                   .match = create_of(BATCHES), .times = 1, .reply = HOSTILE_SAY, .status = 403});
    world_run_to(&world, PRODUCER_STORE_FAILED, "403");
    world_run_well(&world); /* a new incarnation: one more batch, at the next sequence */
    struct audit audit;
    audit_init(&audit, world.server);
    CU_ASSERT_STRING_EQUAL(audit.problem, "");
    CU_ASSERT_EQUAL(audit.batches, 2);
    audit_deinit(&audit);
    world_close(&world);
}

/* ---- row 7 ---- */

/* While the create is undecided, what it names stays; producers delete nothing in any case
 * (world_run asserts that for every row). */
static void look_while_undecided(struct world *world)
{
    struct hostile_match reads = {HOSTILE_GET, world_version(BATCHES)};
    char key[HOSTILE_KEY_MAX];
    if (world->watched > 0 || hostile_server_count(world->server, reads, 0) == 0)
        return;
    world->watched++;
    CU_ASSERT_TRUE(hostile_server_next_key(world->server, "run/tgb/", "", key));
    hostile_server_release(world->server);
}

static void row_07_nothing_is_deleted_while_undecided(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    world.watch = look_while_undecided;
    world_rule(&world, &(struct hostile_rule){
                           .match = create_of(BATCHES), .times = 1, .reply = HOSTILE_DROP});
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_GET, world_version(BATCHES)},
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_FIRST});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world.watched, 1);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
    world_close(&world);
}

/* ---- row 11 ---- */

static void row_11_an_error_in_a_200_is_no_success(void)
{
    static const enum hostile_apply applied[] = {HOSTILE_APPLY, HOSTILE_APPLY_NOT};
    for (size_t i = 0; i < HARNESS_COUNT(applied); i++) {
        struct world world;
        world_open(&world, &(struct world_options){0});
        world_rule(&world, &(struct hostile_rule){
                               .match = create_of(BATCHES),
                               .times = 1,
                               .apply = applied[i],
                               .reply = HOSTILE_SAY,
                               .status = 200,
                               .body = "<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code>"
                                       "<Message>try again</Message></Error>"});
        world_run_well(&world);
        CU_ASSERT_EQUAL(world_counters(&world).unknown, 1);
        CU_ASSERT_EQUAL(creates_of(&world, BATCHES), applied[i] == HOSTILE_APPLY ? 1 : 2);
        world_close(&world);
    }
}

/* For an upload and a listing too. */
static void row_11_an_error_in_a_200_is_tried_again(void)
{
    static const struct hostile_match matches[] = {{HOSTILE_PUT, "run/tgb/*"},
                                                   {HOSTILE_LIST, "run/manifest/"},
                                                   {HOSTILE_LIST, "run/manifest/floor-"}};
    for (size_t i = 0; i < HARNESS_COUNT(matches); i++) {
        struct world world;
        world_open(&world, &(struct world_options){0});
        world_rule(&world, &(struct hostile_rule){
                               .match = matches[i],
                               .times = 2,
                               .apply = HOSTILE_APPLY_NOT,
                               .reply = HOSTILE_SAY,
                               .status = 200,
                               .body = "<Error><Code>InternalError</Code><Message/></Error>"});
        world_run_well(&world);
        CU_ASSERT_EQUAL(world_lost(&world), 0);
        world_close(&world);
    }
}

const struct harness_test s3_cases_creates_tests[] = {
    HARNESS_TEST(row_01_lost_answer_is_committed),
    HARNESS_TEST(row_01_every_answer_is_lost),
    HARNESS_TEST(row_01_lost_on_a_connection_in_use),
    HARNESS_TEST(row_02_refused_by_itself_is_committed),
    HARNESS_TEST(row_02_late_create_and_its_copy_are_one_commit),
    HARNESS_TEST(row_02_late_answer_is_one_commit),
    HARNESS_TEST(row_03_another_producers_body_is_a_conflict),
    HARNESS_TEST(row_03_one_loser_where_the_winner_was_not_answered),
    HARNESS_TEST(row_04_busy_is_sent_again_until_it_is_committed),
    HARNESS_TEST(row_04_busy_for_ever_has_an_end),
    HARNESS_TEST(row_05_server_errors_are_read_back),
    HARNESS_TEST(row_05_refusals_are_fatal_and_say_why),
    HARNESS_TEST(row_05_refused_but_stored_is_not_lost),
    HARNESS_TEST(row_07_nothing_is_deleted_while_undecided),
    HARNESS_TEST(row_11_an_error_in_a_200_is_no_success),
    HARNESS_TEST(row_11_an_error_in_a_200_is_tried_again),
    {0},
};
