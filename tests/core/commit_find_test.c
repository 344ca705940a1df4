/* commit_find_test.c - finding the newest version: pages, probes, and listings that go wrong. */
#include <stdlib.h>
#include <string.h>

#include "core/commit.h"
#include "tests/core/world.h"
#include "tests/harness.h"

#define FAR_AHEAD 47000

static void grow_chain(struct world *world, uint64_t versions)
{
    for (uint64_t i = 0; i < versions; i++)
        world_foreign_commit(world->store, world);
}

static void newest_is_found_page_by_page(void)
{
    struct world *world = world_open(1);
    grow_chain(world, FAR_AHEAD);
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->won, 1);
    CU_ASSERT_EQUAL(machine->detail.version, FAR_AHEAD + 2);
    CU_ASSERT(scripted_store_requests(world->store, LIST_NEWER) <= FAR_AHEAD / 1000 + 1);
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, READ_VERSION), 1);
    world_close(world);
}

/* Requests that an attempt by probing needs when the chain is `ahead`. */
static uint64_t probes_when_behind(uint64_t ahead)
{
    struct world *world = world_open(2);
    struct producer_options options = world_options(world, 0);
    options.commit.find = COMMIT_FIND_PROBE;
    options.batches_max = 1;
    struct machine *machine = world_start_with(world, &options, false);
    world_until_attempts(machine, 1);
    grow_chain(world, ahead);
    uint64_t before = scripted_store_requests(world->store, READ_VERSION);
    world_until_visible(machine, 1);
    CU_ASSERT_EQUAL(machine->won, 2);
    CU_ASSERT_EQUAL(machine->detail.version, 3 + ahead);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, ahead);
    CU_ASSERT(machine->attempt.window_ns <= machine->attempt.tau_ns - 10 * NS_PER_MS);
    uint64_t probes = scripted_store_requests(world->store, READ_VERSION) - before;
    world_close(world);
    return probes;
}

static void newest_is_found_by_a_logarithm_of_probes(void)
{
    CU_ASSERT_EQUAL(probes_when_behind(0), 1);
    for (uint64_t ahead = 1; ahead < 40; ahead++)
        CU_ASSERT(probes_when_behind(ahead) <= 14);
    CU_ASSERT(probes_when_behind(1000) <= 24);
    CU_ASSERT(probes_when_behind(FAR_AHEAD) <= 36);
}

/* A commit machine alone, with its first LIST on the way. */
struct alone {
    struct batch_queue queue;
    struct commit commit;
};

static void alone_init(struct alone *alone)
{
    struct commit_options options = {.producer = 0,
                                     .entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
                                     .active_versions = 8,
                                     .retry_ns = NS_PER_MS,
                                     .retry_max_ns = NS_PER_S};
    batch_queue_init(&alone->queue);
    commit_init(&alone->commit, &options, random_stream_make(1, 1), &alone->queue);
    struct commit_effect effect = commit_begin(&alone->commit, 0);
    CU_ASSERT_EQUAL(effect.kind, COMMIT_SUBMIT);
    CU_ASSERT_EQUAL(alone->commit.op.verb, STORE_LIST);
}

static void alone_deinit(struct alone *alone)
{
    commit_deinit(&alone->commit);
    batch_queue_deinit(&alone->queue);
}

static void answer_page(struct alone *alone, uint64_t first, uint64_t count)
{
    char key[STORE_KEY_MAX];
    for (uint64_t i = 0; i < count; i++) {
        name_version(key, first + i);
        list_page_add(&alone->commit.op.page, key, 1);
    }
    alone->commit.op.page.truncated = true;
    alone->commit.op.outcome = STORE_OK;
}

static void listing_in_circles_is_an_error(void)
{
    struct alone alone;
    alone_init(&alone);
    answer_page(&alone, 1, 5);
    CU_ASSERT_EQUAL(commit_answer(&alone.commit, 1).kind, COMMIT_SUBMIT);
    answer_page(&alone, 1, 5);
    CU_ASSERT_EQUAL(commit_answer(&alone.commit, 2).kind, COMMIT_ENDED);
    CU_ASSERT_EQUAL(alone.commit.end, COMMIT_END_STORE);
    CU_ASSERT_PTR_NOT_NULL(strstr(alone.commit.end_text, "circles"));
    alone_deinit(&alone);
}

static void names_that_are_not_ours_are_passed_over(void)
{
    struct alone alone;
    alone_init(&alone);
    answer_page(&alone, 1, 3);
    list_page_add(&alone.commit.op.page, "manifest/00000000000000000009x", 1);
    list_page_add(&alone.commit.op.page, "manifest/floor-", 1);
    list_page_add(&alone.commit.op.page, "manifest/zzz", 1);
    alone.commit.op.page.truncated = false;
    CU_ASSERT_EQUAL(commit_answer(&alone.commit, 1).kind, COMMIT_SUBMIT);
    CU_ASSERT_EQUAL(alone.commit.op.verb, STORE_GET);
    CU_ASSERT_STRING_EQUAL(alone.commit.op.key, "manifest/00000000000000000003");
    alone_deinit(&alone);
}

static void version_under_another_name_is_corrupt(void)
{
    struct alone alone;
    alone_init(&alone);
    answer_page(&alone, 1, 3);
    alone.commit.op.page.truncated = false;
    CU_ASSERT_EQUAL(commit_answer(&alone.commit, 1).kind, COMMIT_SUBMIT);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    alone.commit.op.outcome = STORE_OK;
    alone.commit.op.result = (struct body){.kind = BODY_MANIFEST, .manifest = genesis};
    CU_ASSERT_EQUAL(commit_answer(&alone.commit, 2).kind, COMMIT_ENDED);
    CU_ASSERT_EQUAL(alone.commit.end, COMMIT_END_CORRUPT);
    alone_deinit(&alone);
}

const struct harness_test commit_find_tests[] = {
    HARNESS_TEST(newest_is_found_page_by_page),
    HARNESS_TEST(newest_is_found_by_a_logarithm_of_probes),
    HARNESS_TEST(listing_in_circles_is_an_error),
    HARNESS_TEST(names_that_are_not_ours_are_passed_over),
    HARNESS_TEST(version_under_another_name_is_corrupt),
    {0},
};
