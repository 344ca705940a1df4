/* s3_cases_chain_test.c - the whole path where the chain is long, shrinks, is begun by many at
 * once, or is hard to reach: rows 6, 8 to 10, 20 and 29 of docs/s3.md. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/backend/s3_audit.h"
#include "tests/backend/s3_world.h"
#include "tests/harness.h"

#define OTHER 200 /* a producer that no world runs */

/* ---- row 6 ---- */

#define LONG_CHAIN 47000

/* A producer that is new to the chain lists it, 1,000 versions a page: 48 pages, and 2 listings
 * for each of its two commits. */
static void row_06_a_new_producer_lists_to_the_newest(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.batches = 1});
    const struct chain_options chain = {
        .versions = LONG_CHAIN, .producer = OTHER, .batches_max = 5};
    manifest_release(chain_store(world.server, &chain));
    world_run(&world);
    const struct world_producer *producer = &world.producers[0];
    CU_ASSERT_EQUAL(producer->end, PRODUCER_STOPPED);
    CU_ASSERT_EQUAL(producer->won, 2);
    CU_ASSERT_EQUAL(driver_producer(producer->driver)->commit.known->version, LONG_CHAIN + 2);
    size_t requests = producer->requests[STORE_LIST] + producer->requests[STORE_GET];
    CU_ASSERT_TRUE(requests <= 48 + 6);
    world_close(&world);
}

/* The chain runs away from a producer that knows its fencing, while its first batch is uploaded. */
static void run_away(struct world *world)
{
    if (world->watched > 0 || world_count(world, HOSTILE_PUT, NULL, 0) == 0)
        return;
    world->watched++;
    struct audit audit;
    audit_init(&audit, world->server);
    struct manifest *manifest = manifest_retain(audit.last);
    audit_deinit(&audit);
    for (uint32_t i = 0; i < LONG_CHAIN; i++)
        manifest = chain_grow(world->server, manifest, OTHER, i < 5 ? 1 : 0);
    manifest_release(manifest);
    hostile_server_release(world->server);
}

static void catch_up(enum commit_find find, size_t requests_max)
{
    struct world world;
    world_open(&world, &(struct world_options){.find = find, .batches = 1});
    world.watch = run_away;
    world_rule(&world, &(struct hostile_rule){
                           .match = {HOSTILE_PUT, NULL}, .times = 1, .hold = HOSTILE_HOLD_FIRST});
    world_run(&world);
    const struct world_producer *producer = &world.producers[0];
    CU_ASSERT_EQUAL(world.watched, 1);
    CU_ASSERT_EQUAL(producer->end, PRODUCER_STOPPED);
    CU_ASSERT_EQUAL(producer->batches, 1);
    size_t requests = producer->requests[STORE_LIST] + producer->requests[STORE_GET];
    CU_ASSERT_TRUE(requests <= requests_max);
    world_close(&world);
}

static void row_06_a_producer_left_behind_lists(void)
{
    catch_up(COMMIT_FIND_LIST, 48 + 6);
}

/* Doubling and halving: twice the logarithm. */
static void row_06_a_producer_left_behind_probes(void)
{
    catch_up(COMMIT_FIND_PROBE, 2 * 16 + 8);
}

/* ---- row 8 ---- */

/* A reclaimer raises the floor and deletes what is below it, while a reader is on its way. */
static void reclaim(struct world *world)
{
    struct hostile_match reads = {HOSTILE_GET, world_version(10)};
    if (world->watched > 0 || hostile_server_count(world->server, reads, 0) == 0)
        return;
    world->watched++;
    struct audit audit;
    char key[STORE_KEY_MAX], full[HOSTILE_KEY_MAX];
    audit_init(&audit, world->server);
    struct manifest *manifest = manifest_retain(audit.last);
    audit_deinit(&audit);
    manifest = chain_grow(world->server, manifest, OTHER, 1);
    manifest = chain_grow(world->server, manifest, OTHER, 1);
    name_floor(key, (struct floor){.version = 12, .step = 1});
    snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
    hostile_server_put(world->server, full, "", 0);
    for (uint64_t version = 1; version < 12; version++) {
        name_version(key, version);
        snprintf(full, sizeof(full), WORLD_PREFIX "/%s", key);
        CU_ASSERT_TRUE(hostile_server_delete(world->server, full));
    }
    manifest_release(manifest);
    hostile_server_release(world->server);
}

static void row_08_a_version_that_vanished_is_looked_for_again(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    manifest_release(
        chain_store(world.server, &(struct chain_options){.versions = 10, .producer = OTHER}));
    world.watch = reclaim;
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_GET, world_version(10)},
                                              .times = 1,
                                              .hold = HOSTILE_HOLD_FIRST});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world.watched, 1);
    CU_ASSERT_EQUAL(world_counters(&world).vanished, 1);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_GET, world_version(10), HOSTILE_WHATEVER), 1);
    world_close(&world);
}

static void row_08_a_version_that_is_only_listed_has_an_end(void)
{
    struct world world;
    world_open(&world, &(struct world_options){0});
    manifest_release(
        chain_store(world.server, &(struct chain_options){.versions = 10, .producer = OTHER}));
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_GET, world_version(10)},
                                              .reply = HOSTILE_SAY,
                                              .status = 404});
    world_run_to(&world, PRODUCER_STORE_FAILED, "listed that cannot be read");
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_GET, NULL, 404) <= COMMIT_RESTARTS_MAX + 1);
    world_close(&world);
}

/* ---- row 9 ---- */

#define STARTERS 32

static void row_09_many_start_on_an_empty_prefix(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = STARTERS, .batches = 1});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_CREATE, world_version(1), 200), 1);
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_CREATE, world_version(1), HOSTILE_WHATEVER) <=
                   STARTERS);
    /* Every version that is not the genesis was won by one of them, fencing or one batch. */
    struct audit audit;
    audit_init(&audit, world.server);
    CU_ASSERT_EQUAL(audit.versions, 1 + world_won(&world));
    CU_ASSERT_EQUAL(world_won(&world), 2 * STARTERS);
    CU_ASSERT_EQUAL(audit.batches, STARTERS);
    audit_deinit(&audit);
    world_close(&world);
}

struct starter {
    struct hostile_server *server;
    uint32_t id;
    int gate[2]; /* hangs up when all are there */
};

static int starter_main(void *context)
{
    const struct starter *starter = context;
    struct world world;
    char nothing;
    world_open_on(&world, starter->server,
                  &(struct world_options){.batches = 1, .first = starter->id});
    close(starter->gate[1]);
    ssize_t got = read(starter->gate[0], &nothing, 1);
    assert(got == 0);
    world_run_producers(&world);
    const struct world_producer *producer = &world.producers[0];
    if (producer->end != PRODUCER_STOPPED)
        fprintf(stderr, "producer %u: %s\n", producer->id, producer->text);
    bool well = producer->end == PRODUCER_STOPPED && producer->won == 2;
    world_leave(&world);
    return well ? 0 : 1;
}

static void row_09_many_processes_start_on_an_empty_prefix(void)
{
    struct starter starter;
    pid_t pids[STARTERS];
    world_credentials(NULL);
    starter.server = hostile_server_start(&(struct hostile_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(starter.server);
    CU_ASSERT_EQUAL_FATAL(pipe2(starter.gate, O_CLOEXEC), 0);
    for (uint32_t i = 0; i < STARTERS; i++) {
        starter.id = i;
        pids[i] = child_start(starter_main, &starter);
    }
    close(starter.gate[1]);
    for (uint32_t i = 0; i < STARTERS; i++)
        CU_ASSERT_EQUAL(child_wait(pids[i]), 0);
    close(starter.gate[0]);
    struct audit audit;
    audit_init(&audit, starter.server);
    CU_ASSERT_STRING_EQUAL(audit.problem, "");
    CU_ASSERT_EQUAL(audit.versions, 1 + 2 * STARTERS);
    CU_ASSERT_EQUAL(audit.batches, STARTERS);
    struct hostile_match genesis = {HOSTILE_CREATE, world_version(1)};
    CU_ASSERT_EQUAL(hostile_server_count(starter.server, genesis, 200), 1);
    audit_deinit(&audit);
    hostile_server_stop(starter.server);
}

/* ---- row 10 ---- */

#define SLOW_DOWN                                                                                  \
    "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
#define SLOW_DOWNS 12

/* Between two answers of the burst there is a time in which nobody asks anything. */
static int64_t longest_silence_ns(struct world *world)
{
    struct hostile_request *request = malloc(sizeof(*request));
    int64_t last_ns = 0, longest_ns = 0;
    for (size_t i = 0; hostile_server_request(world->server, i, request); i++) {
        if (last_ns != 0 && request->at_ns - last_ns > longest_ns)
            longest_ns = request->at_ns - last_ns;
        last_ns = request->at_ns;
    }
    free(request);
    return longest_ns;
}

static void slow_down(uint32_t skip)
{
    struct world world;
    world_open(&world, &(struct world_options){.producers = 4});
    world_rule(&world, &(struct hostile_rule){.skip = skip,
                                              .times = SLOW_DOWNS,
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = 503,
                                              .body = SLOW_DOWN});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_count(&world, HOSTILE_ANY, NULL, 503), SLOW_DOWNS);
    struct s3_counters counters = s3_store_counters(world.bytes);
    CU_ASSERT_TRUE(counters.holdoffs >= 1);
    CU_ASSERT_TRUE(counters.holdoffs < SLOW_DOWNS); /* one for all that were under way */
    CU_ASSERT_TRUE(longest_silence_ns(&world) >= 40 * NS_PER_MS);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    /* The next lives start in a burst, too. */
    hostile_server_rules_clear(world.server);
    world_rule(&world, &(struct hostile_rule){.times = SLOW_DOWNS,
                                              .apply = HOSTILE_APPLY_NOT,
                                              .reply = HOSTILE_SAY,
                                              .status = 503,
                                              .body = SLOW_DOWN});
    world_run_well(&world);
    world_close(&world);
}

static void row_10_slow_down_holds_off_all_and_passes(void)
{
    slow_down(0);
    slow_down(9);
}

/* ---- row 20 ---- */

static void row_20_a_listing_of_many_pages_is_whole(void)
{
    struct world world;
    world_open(&world, &(struct world_options){.server = {.page_keys = 97}});
    manifest_release(chain_store(
        world.server,
        &(struct chain_options){.versions = 1001, .producer = OTHER, .batches_max = 3}));
    world_run_well(&world);
    CU_ASSERT_EQUAL(driver_producer(world.producers[0].driver)->commit.known->version,
                    1001 + world_won(&world));
    world_close(&world);
}

static void list_oddly(enum hostile_token token)
{
    struct world world;
    world_open(&world, &(struct world_options){.server = {.page_keys = 97}, .batches = 1});
    manifest_release(
        chain_store(world.server,
                    &(struct chain_options){.versions = 300, .producer = OTHER, .batches_max = 3}));
    world_rule(&world, &(struct hostile_rule){.match = {HOSTILE_LIST, NULL}, .token = token});
    world_run(&world);
    const struct world_producer *producer = &world.producers[0];
    /* Right, or refused in so many words; never a loop, never a page left out. */
    bool whole = producer->end == PRODUCER_STOPPED &&
                 driver_producer(producer->driver)->commit.known->version == 302;
    bool refused = producer->end == PRODUCER_STORE_FAILED && strstr(producer->text, "list") != NULL;
    CU_ASSERT_TRUE(whole || refused);
    CU_ASSERT_TRUE(token != HOSTILE_TOKEN_EMPTY || producer->end == PRODUCER_STORE_FAILED);
    CU_ASSERT_TRUE(world_count(&world, HOSTILE_LIST, NULL, HOSTILE_WHATEVER) <= 30);
    world_close(&world);
}

static void row_20_a_token_repeated_or_missing_is_no_loop(void)
{
    list_oddly(HOSTILE_TOKEN_REPEATED);
    list_oddly(HOSTILE_TOKEN_MISSING);
    list_oddly(HOSTILE_TOKEN_EMPTY);
}

/* ---- row 29 ---- */

/* A third of a second, so that the test is short; a create that nobody disputes takes 2 ms. */
static void row_29_slow_contended_creates_are_answered(void)
{
    struct world world;
    world_open(&world, &(struct world_options){
                           .server = {.create_ns = 2 * NS_PER_MS, .contended_ns = NS_PER_S / 3},
                           .producers = 3,
                           .batches = 1,
                           .policy = "dac"});
    world_run_well(&world);
    CU_ASSERT_EQUAL(world_counters(&world).unknown, 0);
    CU_ASSERT_EQUAL(world_counters(&world).resent, 0);
    struct audit audit;
    audit_init(&audit, world.server);
    CU_ASSERT_EQUAL(audit.versions, 1 + world_won(&world));
    audit_deinit(&audit);
    world_close(&world);
}

const struct harness_test s3_cases_chain_tests[] = {
    HARNESS_TEST(row_06_a_new_producer_lists_to_the_newest),
    HARNESS_TEST(row_06_a_producer_left_behind_lists),
    HARNESS_TEST(row_06_a_producer_left_behind_probes),
    HARNESS_TEST(row_08_a_version_that_vanished_is_looked_for_again),
    HARNESS_TEST(row_08_a_version_that_is_only_listed_has_an_end),
    HARNESS_TEST(row_09_many_start_on_an_empty_prefix),
    HARNESS_TEST(row_09_many_processes_start_on_an_empty_prefix),
    HARNESS_TEST(row_10_slow_down_holds_off_all_and_passes),
    HARNESS_TEST(row_20_a_listing_of_many_pages_is_whole),
    HARNESS_TEST(row_20_a_token_repeated_or_missing_is_no_loop),
    HARNESS_TEST(row_29_slow_contended_creates_are_answered),
    {0},
};
