/* consumer_chain_test.c - how often a rank looks at the chain, and what it makes of what is
 * missing.
 */
#include <string.h>

#include "core/consumer.h"
#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

/* ---- how often it looks ---- */

static void silence_is_looked_at_ever_more_rarely(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    rig_commit(&rig, 1);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_until_taken(&rank, 1);
    uint64_t polls = rank_machine(&rank)->counters.polls;
    rig_until_ns(&rig, 100 * NS_PER_S);
    polls = rank_machine(&rank)->counters.polls - polls;
    CU_ASSERT(polls >= 40); /* at most poll_max = 2 s, jittered, apart */
    CU_ASSERT(polls <= 80);
    CU_ASSERT_EQUAL(rank.answers[CONSUMER_REQUEST_CHAIN],
                    rank_machine(&rank)->counters.requests[CONSUMER_REQUEST_CHAIN]);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* A version a second, whatever the rank does; the first ones are for learning. */
static void pace_of_the_news_is_learned(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    uint64_t requests = 0;
    int64_t late_ns = 0;
    for (int64_t second = 1; second <= 60; second++) {
        rig_until_ns(&rig, second * NS_PER_S);
        if (second == 20) {
            requests = rank.answers[CONSUMER_REQUEST_CHAIN];
            rank.taken_ns = 0;
            late_ns = 0;
        }
        rig_commit(&rig, 1);
        late_ns -= second * NS_PER_S;
    }
    rig_until_ns(&rig, 61 * NS_PER_S);
    CU_ASSERT_EQUAL(rank.taken, 60);
    requests = rank.answers[CONSUMER_REQUEST_CHAIN] - requests;
    late_ns += rank.taken_ns;
    CU_ASSERT(requests <= 41 * 4); /* LIST, GET, LIST, and less than one in vain */
    CU_ASSERT(late_ns <= 41 * (NS_PER_S / 5));
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* The timer has fired: an hour less on the clock must not become an hour more of waiting. */
static void clock_that_jumps_back_does_not_put_off_the_next_look(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    rig_commit(&rig, 1);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rig_until_ns(&rig, 7200 * NS_PER_S);
    while (!rank_machine(&rank)->poll_armed)
        manual_loop_step(&rig.loop);
    struct consumer_effects effects;
    struct consumer_event event = {.kind = CONSUMER_CHAIN_TIMER};
    struct consumer *machine = (struct consumer *)rank_machine(&rank);
    consumer_step(machine, rig.loop.now_ns - 3600 * NS_PER_S, event, &effects);
    CU_ASSERT_EQUAL(effects.count, 1);
    CU_ASSERT_EQUAL(effects.items[0].kind, CONSUMER_EFFECT_SUBMIT_CHAIN);
    rank_crash(&rank);
    rig_deinit(&rig);
}

static void clock_that_jumps_does_not_spoil_the_pace(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    for (int second = 1; second <= 20; second++) {
        rig_until_ns(&rig, second * NS_PER_S);
        rig_commit(&rig, 1);
    }
    struct consumer *machine = (struct consumer *)rank_machine(&rank);
    machine->news_ns += 3600 * NS_PER_S; /* the clock went back since */
    rank_until_taken(&rank, 20);
    CU_ASSERT(machine->pace_ns > NS_PER_S / 2);
    machine->news_ns -= 3600 * NS_PER_S; /* ... and forth again */
    rig_commit(&rig, 1);
    rank_until_taken(&rank, 21);
    CU_ASSERT(machine->pace_ns < 2 * NS_PER_S);
    rank_stop(&rank);
    rig_deinit(&rig);
}

static void chain_is_not_looked_at_while_enough_is_known(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    rig_commit(&rig, 100);
    struct rank rank;
    rank_begin_by_hand(&rank, &rig, 0);
    for (uint64_t step = 1; step <= 93; step++) {
        rank_until_ready(&rank);
        rig_until_ns(&rig, rig.loop.now_ns + NS_PER_S);
        if (step == 93)
            CU_ASSERT_EQUAL(rank_machine(&rank)->counters.polls, 1);
        rank_take(&rank);
    }
    rig_until_ns(&rig, rig.loop.now_ns + NS_PER_S);
    CU_ASSERT(rank_machine(&rank)->counters.polls > 1); /* 7 are known, 8 the least */
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* Of a version with many steps only the next ones are held; when they run out it is read again. */
static void long_version_is_held_in_parts(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    uint64_t steps = CONSUMER_ENTRIES_MAX + 2048;
    for (uint64_t step = 0; step < steps; step += RIG_STEPS_MAX)
        rig_commit(&rig, RIG_STEPS_MAX);
    rig_encode(&rig);
    rig.codec = true;
    struct rank rank;
    rank_begin(&rank, &rig, 1);
    rank_until_taken(&rank, 100);
    const struct chain_reader *chain = &rank_machine(&rank)->chain;
    CU_ASSERT_EQUAL(chain->known->held.first_step, 1);
    CU_ASSERT_EQUAL(chain->known->held.next_step, 1 + CONSUMER_ENTRIES_MAX);
    rank_until_taken(&rank, steps);
    CU_ASSERT_EQUAL(chain->known->held.next_step, chain->known->next_step);
    CU_ASSERT(chain->known->held.first_step > CONSUMER_ENTRIES_MAX - 16);
    CU_ASSERT_EQUAL(rank_machine(&rank)->digest, rig_digest(&rig, 0, 1, steps + 1, 1));
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, READ_VERSION), 2);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* ---- what is missing ---- */

static void delete_tgb(struct rig *rig, uint64_t step)
{
    char key[STORE_KEY_MAX];
    rig_key(rig, step, key);
    scripted_store_delete(rig->store, key);
}

/* Of six steps the first slices were just asked for. */
static void begin_asking(struct rank *rank, struct rig *rig)
{
    rig_init(rig, mesh_4, BODY_BYTES);
    rig_commit(rig, 6);
    rank_begin(rank, rig, 0);
    while (scripted_store_requests(rig->store, READ_TGB) == 0)
        manual_loop_step(&rig->loop);
}

static void missing_tgb_that_the_chain_names_is_lost(void)
{
    struct rig rig;
    struct rank rank;
    begin_asking(&rank, &rig);
    delete_tgb(&rig, 3);
    rank_expect_end(&rank, CONSUMER_LOST,
                    "(step 3) is named by version 2 and is not there: was it deleted by hand? "
                    "Restore it, or start behind it, at step 4");
    CU_ASSERT(rank.taken <= 2);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, LIST_NUMBERS), 3);
    rig_deinit(&rig);
}

static void missing_tgb_of_a_taken_over_rank_is_no_loss(void)
{
    struct rig rig;
    struct rank rank;
    begin_asking(&rank, &rig);
    delete_tgb(&rig, 2);
    rig_put_own(&rig, WATERMARK_NUMBER, 2, 0);
    rank_expect_end(&rank, CONSUMER_SUPERSEDED, "there is a number 2");
    rig_deinit(&rig);
}

static void missing_tgb_of_a_retired_rank_is_no_loss(void)
{
    struct rig rig;
    struct rank rank;
    begin_asking(&rank, &rig);
    delete_tgb(&rig, 2);
    rig_put_own(&rig, WATERMARK_NUMBER, 2, 0);
    rig_put_own(&rig, WATERMARK_NUMBER_RETIRED, 2, 0);
    rank_expect_end(&rank, CONSUMER_RETIRED, "this rank was retired");
    rig_deinit(&rig);
}

static void missing_tgb_below_the_floor_names_step_and_floor(void)
{
    struct rig rig;
    struct rank rank;
    begin_asking(&rank, &rig);
    rig_reclaim(&rig, 5); /* against all rules */
    rank_expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 5");
    CU_ASSERT_EQUAL(rank.taken, 0);
    rig_deinit(&rig);
}

/* Nothing is missing yet: the listing that finds the next version shows the floor. */
static void floor_above_the_cursor_is_noticed_before_anything_is_missing(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rig_until_ns(&rig, NS_PER_S);
    rig_commit(&rig, 20);
    rig_reclaim(&rig, 10);
    rig_commit(&rig, 1);
    rank_expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 10");
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, READ_TGB), 0);
    rig_deinit(&rig);
}

static void version_that_was_trimmed_above_the_cursor_is_enough(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    rig.floor.step = 4;
    rig_commit(&rig, 1);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 4");
    rig_deinit(&rig);
}

static void raise_the_floor(struct scripted_store *store, void *context)
{
    struct rig *rig = context;
    struct floor floor = {.version = rig->newest->version, .step = 3};
    scripted_store_raise_floor(store, floor);
}

/* Steps 1 and 2 had arrived when the floor passed them; while that is looked into they are taken.
 */
static void step_that_had_arrived_is_not_given_up(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 2);
    struct rank rank;
    rank_begin_by_hand(&rank, &rig, 0);
    rank_until_ready(&rank);
    raise_the_floor(rig.store, &rig);
    while (rank_machine(&rank)->doubt == CONSUMER_DOUBT_NONE)
        manual_loop_step(&rig.loop);
    rank_take(&rank);
    rank_until_ready(&rank);
    rank_take(&rank);
    rig_commit(&rig, 1);
    rank_until_ready(&rank);
    CU_ASSERT_EQUAL(rank.ready->step, 3);
    CU_ASSERT_EQUAL(rank_machine(&rank)->doubt, CONSUMER_DOUBT_NONE);
    rank_stop(&rank);
    rig_deinit(&rig);
}

/* It may be of a version that was not read yet, or nobody's: only something missing makes it count.
 */
static void floor_above_the_chain_ends_nobody(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 4);
    struct floor floor = {.version = 1, .step = 1000};
    scripted_store_raise_floor(rig.store, floor);
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 0);
    options.membership.start_step = 1;
    rank_open(&rank, &rig, &options);
    rank_start(&rank);
    rank_until_taken(&rank, 4);
    CU_ASSERT_EQUAL(rank_machine(&rank)->doubt, CONSUMER_DOUBT_NONE);
    rig_commit(&rig, 1);
    delete_tgb(&rig, 5);
    rank_expect_end(&rank, CONSUMER_BELOW_FLOOR, "the floor is at step 1000");
    rig_deinit(&rig);
}

static void numbers_that_cannot_be_listed_end_it(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_script(&rig, (struct rule){.kind = LIST_NUMBERS, .skip = 1, ANSWER(STORE_FAILED)});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rank_expect_end(&rank, CONSUMER_STORE_FAILED, "list watermark/0000000002/: ");
    rig_deinit(&rig);
}

/* A read that began before the 404 says nothing about it: the floor may have passed since. */
static void floor_is_read_anew_after_a_404(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 2);
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 0);
    options.fetches_max = 1;
    rank_open(&rank, &rig, &options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
    rank_until_ready(&rank);
    rig_commit(&rig, 1);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .times = 1, ANSWER(STORE_NOT_FOUND)});
    while (rank_machine(&rank)->chain_state != CONSUMER_MACHINE_FLYING)
        manual_loop_step(&rig.loop);
    int64_t sent_ns = rig.loop.now_ns;
    rank_take(&rank); /* and the next one is asked for, beside LIST, GET and LIST */
    rig_until_ns(&rig, sent_ns + 26 * NS_PER_MS);
    CU_ASSERT_EQUAL(rank_machine(&rank)->doubt, CONSUMER_DOUBT_CHAIN);
    CU_ASSERT_EQUAL(rank_machine(&rank)->chain.phase, CHAIN_VALIDATING);
    rig_reclaim(&rig, 4);
    rank_expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 2 was given up: the floor is at step 4");
    rig_deinit(&rig);
}

const struct harness_test consumer_chain_tests[] = {
    HARNESS_TEST(silence_is_looked_at_ever_more_rarely),
    HARNESS_TEST(pace_of_the_news_is_learned),
    HARNESS_TEST(clock_that_jumps_back_does_not_put_off_the_next_look),
    HARNESS_TEST(clock_that_jumps_does_not_spoil_the_pace),
    HARNESS_TEST(chain_is_not_looked_at_while_enough_is_known),
    HARNESS_TEST(long_version_is_held_in_parts),
    HARNESS_TEST(missing_tgb_that_the_chain_names_is_lost),
    HARNESS_TEST(missing_tgb_of_a_taken_over_rank_is_no_loss),
    HARNESS_TEST(missing_tgb_of_a_retired_rank_is_no_loss),
    HARNESS_TEST(missing_tgb_below_the_floor_names_step_and_floor),
    HARNESS_TEST(floor_above_the_cursor_is_noticed_before_anything_is_missing),
    HARNESS_TEST(version_that_was_trimmed_above_the_cursor_is_enough),
    HARNESS_TEST(step_that_had_arrived_is_not_given_up),
    HARNESS_TEST(floor_above_the_chain_ends_nobody),
    HARNESS_TEST(numbers_that_cannot_be_listed_end_it),
    HARNESS_TEST(floor_is_read_anew_after_a_404),
    {0},
};
