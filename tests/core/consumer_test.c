/* consumer_test.c - a rank's life: what it follows and how often it looks, checkpoints, ends. */
#include "core/consumer.h"

#include <string.h>

#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

/* ---- what it follows ---- */

static void steps_are_followed_as_versions_come(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    struct rank rank;
    rank_begin(&rank, &rig, 2);
    for (uint64_t version = 1; version <= 10; version++) {
        rig_commit(&rig, version % 3 + 1);
        rank_until_taken(&rank, rig.newest->next_step - 1);
    }
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, rig.newest->next_step, 2));
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void chain_that_does_not_exist_yet_is_waited_for(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    char key[STORE_KEY_MAX];
    name_version(key, MANIFEST_GENESIS_VERSION);
    scripted_store_delete(rig.store, key);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rig_until_ns(&rig, 10 * NS_PER_S);
    CU_ASSERT_EQUAL(rank.taken, 0);
    CU_ASSERT(rank_machine(&rank)->counters.polls_idle >= 5);
    scripted_store_create_version(rig.store, rig.newest);
    rig_commit(&rig, 1);
    rank_until_taken(&rank, 1);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* Between the listing and the read the chain moves on, version 2 is deleted, and a late create
 * lands on its name. */
static void replace_by_a_zombie(struct scripted_store *store, void *context)
{
    struct rig *rig = context;
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_entry entry = {.tgb = {.sequence = 1, .producer = 66, .epoch = 1},
                                   .tgb_bytes = rig->object_bytes};
    struct manifest_change change = {.author = {.producer = 66, .epoch = 1},
                                     .state = {.producer = 66, .epoch = 1, .last_sequence = 1},
                                     .entry_count = 1,
                                     .entries = &entry};
    struct manifest *zombie = manifest_append(genesis, &change);
    rig_commit(rig, 1);
    rig_reclaim(rig, 1);
    CU_ASSERT_TRUE(scripted_store_create_version(store, zombie));
    manifest_release(zombie);
    manifest_release(genesis);
}

static void version_below_the_floor_is_not_believed(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 2);
    rig_script(&rig, (struct rule){.kind = READ_VERSION,
                                   .times = 1,
                                   .before = replace_by_a_zombie,
                                   .context = &rig});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_until_taken(&rank, 3);
    CU_ASSERT_EQUAL(rank_machine(&rank)->chain.invalid, 1);
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.missing, 0);
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 4, 0));
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void start_below_the_intent_is_refused(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    rig.durable = (struct checkpoint_set){.count = 1, .items = {{.step = 1, .number = 1}}};
    scripted_store_put_intent(rig.store, 4);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_expect_end(&rank, CONSUMER_REFUSED, "step 1 may already be reclaimed: steps below 4");
    CU_ASSERT_EQUAL(rank.running_from, 0);
    rig_deinit(&rig);
}

/* ---- the store ---- */

static void damaged_version_and_silent_store_are_told_apart(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 1);
    char key[STORE_KEY_MAX];
    struct body text = {.kind = BODY_BYTES, .bytes = 3, .data = (uint8_t[]){'a', 'b', 'c'}};
    name_version(key, 3);
    scripted_store_create(rig.store, key, &text);
    struct rank damaged;
    rank_begin(&damaged, &rig, 0);
    rank_expect_end(&damaged, CONSUMER_CORRUPT, key);
    rig.codec = true; /* as it is met live: bytes that do not decode */
    rank_begin(&damaged, &rig, 0);
    rank_expect_end(&damaged, CONSUMER_CORRUPT, "is damaged");
    rig.codec = false;
    scripted_store_delete(rig.store, key);
    rig_script(&rig, (struct rule){.kind = LIST_NEWER, ANSWER(STORE_UNKNOWN)});
    struct rank silent;
    rank_begin(&silent, &rig, 0);
    rank_expect_end(&silent, CONSUMER_STORE_FAILED, "not answered");
    rig_deinit(&rig);
}

static void stop_at_any_moment_ends_with_nothing_in_flight(void)
{
    for (uint32_t moment = 0; moment < 90; moment++) {
        struct rig rig;
        rig_init(&rig, mesh_4, BODY_BYTES);
        rig_commit(&rig, 12);
        rig_script(&rig,
                   (struct rule){.kind = READ_TGB, .skip = 1, .times = 2, ANSWER(STORE_UNKNOWN)});
        rig_script(&rig, (struct rule){.kind = LIST_NEWER, .times = 1, ANSWER(STORE_THROTTLED)});
        rig_script(&rig,
                   (struct rule){.kind = PUT_VALUE, .skip = 1, .times = 1, ANSWER(STORE_UNKNOWN)});
        struct rank rank;
        struct consumer_options options = rig_options(&rig, 0);
        rank_open(&rank, &rig, &options);
        rank.checkpoint_every = 2;
        rank_start(&rank);
        for (uint32_t i = 0; i < moment; i++)
            manual_loop_step(&rig.loop);
        consumer_driver_stop(rank.driver);
        rank_until_ended(&rank);
        CU_ASSERT_EQUAL(rank.end, CONSUMER_STOPPED);
        CU_ASSERT_EQUAL(scripted_store_in_flight(rig.store), 0);
        consumer_driver_stop(rank.driver); /* once more changes nothing */
        CU_ASSERT_FALSE(manual_loop_step(&rig.loop));
        rank_close(&rank);
        rig_deinit(&rig);
    }
}

const struct harness_test consumer_tests[] = {
    HARNESS_TEST(steps_are_followed_as_versions_come),
    HARNESS_TEST(chain_that_does_not_exist_yet_is_waited_for),
    HARNESS_TEST(version_below_the_floor_is_not_believed),
    HARNESS_TEST(start_below_the_intent_is_refused),
    HARNESS_TEST(damaged_version_and_silent_store_are_told_apart),
    HARNESS_TEST(stop_at_any_moment_ends_with_nothing_in_flight),
    {0},
};
