/* consumer_start_test.c - a rank without checkpoints begins where a floor or an intent says, if the
 * chain bears that out. */
#include "core/consumer.h"
#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

static void put_floor(struct rig *rig, uint64_t step)
{
    scripted_store_raise_floor(rig->store, (struct floor){.version = 1, .step = step});
}

static void expect_no_start(struct rig *rig, const char *text)
{
    struct rank rank;
    rank_begin(&rank, rig, 0);
    rank_expect_end(&rank, CONSUMER_CORRUPT, text);
    CU_ASSERT_EQUAL(rank.running_from, 0);
    CU_ASSERT_FALSE(rig_has_own(rig, WATERMARK_NUMBER, 1, 0)); /* holds nothing, ends nobody */
}

static void expect_start(struct rig *rig, uint64_t step)
{
    struct rank rank;
    rank_begin(&rank, rig, 0);
    while (rank.running_from == 0 && !rank.ended)
        manual_loop_step(&rig->loop);
    rig_commit(rig, 1);
    rank_until_taken(&rank, rig->newest->next_step - step);
    CU_ASSERT_EQUAL(rank.running_from, step);
    CU_ASSERT_TRUE(rig_has_own(rig, WATERMARK_NUMBER_VALUE, 1, step));
    rank_stop(&rank);
}

static void floor_beyond_the_chain_starts_nobody(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    rig_encode(&rig);
    rig.codec = true;
    put_floor(&rig, UINT64_C(1000000000000000));
    expect_no_start(&rig, "manifest/floor-*-18445744073709551615 gives up the steps below "
                          "1000000000000000, and the chain ends before step 5: ");
    rig_deinit(&rig);
}

static void intent_beyond_the_chain_starts_nobody(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    put_floor(&rig, 3);
    scripted_store_put_intent(rig.store, 6);
    expect_no_start(&rig, "intent/18446744073709551609 gives up the steps below 6, and the chain "
                          "ends before step 5: ");
    rig_deinit(&rig);
}

static void mark_without_any_version_starts_nobody(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    char key[STORE_KEY_MAX];
    name_version(key, MANIFEST_GENESIS_VERSION);
    scripted_store_delete(rig.store, key);
    scripted_store_put_intent(rig.store, 2);
    expect_no_start(&rig, "the chain ends before step 1: ");
    rig_deinit(&rig);
}

static void mark_at_the_end_of_the_chain_is_where_it_starts(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    put_floor(&rig, 2);
    scripted_store_put_intent(rig.store, 5);
    expect_start(&rig, 5);
    rig_deinit(&rig);
}

/* Reclaimers go on while it starts: what it held a mark against must not be older than the mark. */
static void chain_grows_by_four_and_all_is_given_up(struct scripted_store *store, void *context)
{
    struct rig *rig = context;
    (void)store;
    rig_commit(rig, 4);
    scripted_store_put_intent(rig->store, rig->newest->next_step);
    rig_reclaim(rig, rig->newest->next_step);
}

static void chain_is_read_after_the_mark(void)
{
    static const enum request_kind kinds[] = {LIST_FLOOR, LIST_INTENT, LIST_NEWER, READ_VERSION};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct rig rig;
        rig_init(&rig, mesh_4, BODY_BYTES);
        rig_commit(&rig, 4);
        put_floor(&rig, 2);
        rig_script(&rig, (struct rule){.kind = kinds[i],
                                       .times = 1,
                                       .before = chain_grows_by_four_and_all_is_given_up,
                                       .context = &rig});
        expect_start(&rig, 9);
        rig_deinit(&rig);
    }
}

/* The intent is asked for a second time once the value is published. */
static void stray_intent_appears(struct scripted_store *store, void *context)
{
    (void)context;
    scripted_store_put_intent(store, 1000);
}

static void intent_that_rises_meanwhile_is_held_against_the_chain_too(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    rig_script(&rig, (struct rule){.kind = LIST_INTENT,
                                   .skip = 1,
                                   .times = 1,
                                   .before = stray_intent_appears,
                                   .context = &rig});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_expect_end(&rank, CONSUMER_CORRUPT, "gives up the steps below 1000, ");
    CU_ASSERT_EQUAL(rank.running_from, 0);
    CU_ASSERT_FALSE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 1000));
    CU_ASSERT_FALSE(rig_has_own(&rig, WATERMARK_NUMBER_RETIRED, 1, 0));
    rig_deinit(&rig);
}

static void chain_that_is_not_answered_is_asked_for_again(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    put_floor(&rig, 3);
    rig_script(&rig, (struct rule){.kind = LIST_NEWER, .times = 3, ANSWER(STORE_UNKNOWN)});
    expect_start(&rig, 3);
    rig_deinit(&rig);
}

static void stop_while_the_chain_is_read_takes_no_number(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    put_floor(&rig, 3);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    while (rank_machine(&rank)->chain_state != CONSUMER_MACHINE_FLYING)
        manual_loop_step(&rig.loop);
    rank_stop(&rank);
    CU_ASSERT_FALSE(rig_has_own(&rig, WATERMARK_NUMBER, 1, 0));
    rig_deinit(&rig);
}

const struct harness_test consumer_start_tests[] = {
    HARNESS_TEST(floor_beyond_the_chain_starts_nobody),
    HARNESS_TEST(intent_beyond_the_chain_starts_nobody),
    HARNESS_TEST(mark_without_any_version_starts_nobody),
    HARNESS_TEST(mark_at_the_end_of_the_chain_is_where_it_starts),
    HARNESS_TEST(chain_is_read_after_the_mark),
    HARNESS_TEST(intent_that_rises_meanwhile_is_held_against_the_chain_too),
    HARNESS_TEST(chain_that_is_not_answered_is_asked_for_again),
    HARNESS_TEST(stop_while_the_chain_is_read_takes_no_number),
    {0},
};
