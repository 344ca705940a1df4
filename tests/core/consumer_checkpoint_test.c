/* consumer_checkpoint_test.c - checkpoints, restarts and rollbacks: the same steps again, and the
 * order of what is made durable and what is published. */
#include "core/consumer.h"
#include "core/digest_chain.h"
#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

/* Takes so many steps by hand, one after the other. */
static void take(struct rank *rank, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        rank_until_ready(rank);
        rank_take(rank);
    }
}

static void open_by_hand(struct rank *rank, struct rig *rig, const struct consumer_options *options)
{
    rank_open(rank, rig, options);
    rank->takes = RANK_TAKES_BY_HAND;
    rank->saves = RANK_SAVES_BY_HAND;
    rank_start(rank);
}

static void until_asked(struct rank *rank)
{
    for (int i = 0; i < 1000 && rank->asked == NULL; i++)
        manual_loop_step(&rank->rig->loop);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rank->asked);
}

/* Twenty steps and a rank that keeps one checkpoint: it took five, and asks for one to be saved. */
static void open_asking(struct rank *rank, struct rig *rig)
{
    rig_init(rig, mesh_4, BODY_BYTES);
    rig_commit(rig, 20);
    struct consumer_options options = rig_options(rig, 1);
    options.checkpoints_kept = 1;
    open_by_hand(rank, rig, &options);
    take(rank, 5);
    consumer_driver_checkpoint(rank->driver);
    until_asked(rank);
}

static void checkpoint_is_durable_before_it_is_published(void)
{
    struct rig rig;
    struct rank rank;
    open_asking(&rank, &rig);
    CU_ASSERT_EQUAL_FATAL(rank.asked->count, 1);
    CU_ASSERT_EQUAL(rank.asked->items[0].step, 6);
    CU_ASSERT_EQUAL(rank.asked->items[0].number, 1);
    CU_ASSERT_EQUAL(rank.asked->items[0].digest, rig_digest(&rig, 0, 1, 6, 1));
    rig_until_ns(&rig, rig.loop.now_ns + NS_PER_S);
    CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 1));
    CU_ASSERT_FALSE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 6));
    CU_ASSERT_EQUAL(rank.checkpointed, 0);
    rank_save(&rank);
    rank_until_checkpointed(&rank, 6);
    CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 6));
    CU_ASSERT_FALSE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 1));
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void checkpoint_waits_for_the_one_in_progress(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 20);
    struct consumer_options options = rig_options(&rig, 1);
    options.checkpoints_kept = 3;
    struct rank rank;
    open_by_hand(&rank, &rig, &options);
    for (int i = 0; i < 5; i++) { /* before steps 2, 3, 4, 5, 6 */
        take(&rank, 1);
        consumer_driver_checkpoint(rank.driver);
    }
    consumer_driver_checkpoint(rank.driver); /* twice at one place is once */
    until_asked(&rank);
    CU_ASSERT_EQUAL(rank.asked->count, 1);
    CU_ASSERT_EQUAL(rank.asked->items[0].step, 2);
    rank_save(&rank);
    until_asked(&rank);
    CU_ASSERT_EQUAL(rank.checkpointed, 2);
    CU_ASSERT_EQUAL_FATAL(rank.asked->count, 3);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(rank.asked->items[i].step, 4 + i);
    rank_save(&rank);
    rank_until_checkpointed(&rank, 6);
    CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 4));
    CU_ASSERT_EQUAL(rank_machine(&rank)->counters.checkpoints, 2);
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void crash_between_save_and_publish_holds_more_not_less(void)
{
    struct rig rig;
    struct rank rank;
    open_asking(&rank, &rig);
    rank_save(&rank);
    rank_crash(&rank);
    CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 1, 1));
    struct rank next;
    rank_begin(&next, &rig, 1);
    rank_until_taken(&next, 15);
    CU_ASSERT_EQUAL(next.running_from, 6);
    CU_ASSERT_EQUAL(rank_machine(&next)->digest, rig_digest(&rig, 0, 1, 21, 1));
    CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 2, 6));
    rank_stop(&next);
    rig_deinit(&rig);
}

static void crash_at_any_moment_loses_and_repeats_nothing(void)
{
    for (uint32_t moment = 5; moment < 160; moment += 3) {
        struct rig rig;
        rig_init(&rig, mesh_4, BODY_LENGTH);
        rig_commit(&rig, 30);
        uint32_t lives = 0;
        struct rank rank;
        do {
            struct consumer_options options = rig_options(&rig, 3);
            rank_open(&rank, &rig, &options);
            rank.checkpoint_every = 4;
            rank_start(&rank);
            for (uint32_t i = 0; i < moment && rank.running_from + rank.taken < 31; i++)
                manual_loop_step(&rig.loop);
            if (rank.running_from + rank.taken == 31)
                break;
            rank_crash(&rank);
        } while (++lives < 3);
        if (lives == 3)
            rank_begin(&rank, &rig, 3);
        while (rank.running_from + rank.taken < 31)
            manual_loop_step(&rig.loop);
        CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, 31, 3));
        rank_stop(&rank);
        rig_deinit(&rig);
    }
}

/* Five kept places; whatever came before, each replays the same. */
static void rollback_to_any_kept_checkpoint_replays_the_same(void)
{
    for (uint64_t back = 4; back <= 20; back += 4) {
        struct rig rig;
        rig_init(&rig, mesh_4, BODY_BYTES);
        rig_commit(&rig, 22);
        struct consumer_options options = rig_options(&rig, 2);
        options.checkpoints_kept = 5;
        struct rank rank;
        rank_open(&rank, &rig, &options);
        rank.checkpoint_every = 4;
        rank_start(&rank);
        rank_until_taken(&rank, 22);
        rank_until_checkpointed(&rank, 20);
        CU_ASSERT_EQUAL(rig.durable.count, 5);
        uint64_t digest = rank_machine(&rank)->digest;
        rank_crash(&rank);
        rig_reclaim(&rig, 4);
        rig_commit(&rig, 4);
        options = rig_options(&rig, 2);
        options.checkpoints_kept = 5;
        options.membership.rollback_step = back + 3;
        struct rank again;
        rank_open(&again, &rig, &options);
        rank_start(&again);
        rank_until_taken(&again, 23 - back);
        CU_ASSERT_EQUAL(again.running_from, back);
        CU_ASSERT_EQUAL(rank_machine(&again)->membership.checkpoints.count, back / 4);
        while (again.running_from + again.taken < 23)
            manual_loop_step(&rig.loop);
        rank_until_taken(&again, 27 - back);
        CU_ASSERT_EQUAL(rank_machine(&again)->digest, rig_digest(&rig, digest, 23, 27, 2));
        CU_ASSERT_TRUE(rig_has_own(&rig, WATERMARK_NUMBER_VALUE, 2, 4));
        rank_stop(&again);
        rig_deinit(&rig);
    }
}

static void checkpoint_of_another_run_is_told(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 3);
    rig.durable = (struct checkpoint_set){.count = 1, .items = {{.step = 50, .number = 1}}};
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_expect_end(&rank, CONSUMER_CORRUPT, "at step 50, and the chain ends before step 4");
    rig_deinit(&rig);
}

/* ---- two processes ---- */

static void older_process_ends_at_its_next_checkpoint(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 20);
    struct rank older;
    rank_begin_by_hand(&older, &rig, 0);
    take(&older, 5);
    struct rank newer;
    rank_begin(&newer, &rig, 0);
    rank_until_taken(&newer, 20);
    take(&older, 5);
    consumer_driver_checkpoint(older.driver);
    rank_until_ended(&older);
    CU_ASSERT_EQUAL(older.end, CONSUMER_SUPERSEDED);
    CU_ASSERT_EQUAL(older.checkpointed, 0);
    rank_close(&older);
    rank_stop(&newer);
    rig_deinit(&rig);
}

static void refused_save_ends_the_process(void)
{
    struct rig rig;
    struct rank rank;
    open_asking(&rank, &rig);
    uint64_t values = scripted_store_requests(rig.store, PUT_VALUE);
    consumer_driver_save_refused(rank.driver);
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(rank.end, CONSUMER_SUPERSEDED);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, PUT_VALUE), values);
    rank_close(&rank);
    rig_deinit(&rig);
}

static void stop_does_not_wait_for_a_save(void)
{
    struct rig rig;
    struct rank rank;
    open_asking(&rank, &rig);
    consumer_driver_stop(rank.driver);
    rank_until_ended(&rank);
    rank_save(&rank); /* too late: nothing follows */
    CU_ASSERT_EQUAL(scripted_store_in_flight(rig.store), 0);
    rank_close(&rank);
    rig_deinit(&rig);
}

const struct harness_test consumer_checkpoint_tests[] = {
    HARNESS_TEST(checkpoint_is_durable_before_it_is_published),
    HARNESS_TEST(checkpoint_waits_for_the_one_in_progress),
    HARNESS_TEST(crash_between_save_and_publish_holds_more_not_less),
    HARNESS_TEST(crash_at_any_moment_loses_and_repeats_nothing),
    HARNESS_TEST(rollback_to_any_kept_checkpoint_replays_the_same),
    HARNESS_TEST(checkpoint_of_another_run_is_told),
    HARNESS_TEST(older_process_ends_at_its_next_checkpoint),
    HARNESS_TEST(refused_save_ends_the_process),
    HARNESS_TEST(stop_does_not_wait_for_a_save),
    {0},
};
