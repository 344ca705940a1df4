/* consumer_test.c - a rank's life: what it follows and how often it looks, checkpoints, ends. */
#include "core/consumer.h"

#include <string.h>

#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

static void expect_end(struct rank *rank, enum consumer_end end, const char *text)
{
    rank_until_ended(rank);
    CU_ASSERT_EQUAL(rank->end, end);
    CU_ASSERT(strstr(rank->end_text, text) != NULL);
    if (strstr(rank->end_text, text) == NULL)
        printf("\n  %s: %s\n", consumer_end_name(rank->end), rank->end_text);
    rank_close(rank);
}

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
    struct consumer_options options = rig_options(&rig, 0);
    rank_open(&rank, &rig, &options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
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

static void missing_tgb_that_the_chain_names_is_lost(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    delete_tgb(&rig, 3);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    expect_end(&rank, CONSUMER_LOST, "(step 3) is named by version 2");
    CU_ASSERT(rank.taken <= 2);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, LIST_NUMBERS), 3);
    rig_deinit(&rig);
}

static void missing_tgb_of_a_taken_over_rank_is_no_loss(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    delete_tgb(&rig, 2);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .skip = 1, .times = 1});
    while (scripted_store_requests(rig.store, READ_TGB) == 0)
        manual_loop_step(&rig.loop);
    rig_put_own(&rig, WATERMARK_NUMBER, 2, 0);
    expect_end(&rank, CONSUMER_SUPERSEDED, "there is a number 2");
    rig_deinit(&rig);
}

static void missing_tgb_of_a_retired_rank_is_no_loss(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    delete_tgb(&rig, 2);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    while (scripted_store_requests(rig.store, READ_TGB) == 0)
        manual_loop_step(&rig.loop);
    rig_put_own(&rig, WATERMARK_NUMBER, 2, 0);
    rig_put_own(&rig, WATERMARK_NUMBER_RETIRED, 2, 0);
    expect_end(&rank, CONSUMER_RETIRED, "this rank was retired");
    rig_deinit(&rig);
}

static void missing_tgb_below_the_floor_names_step_and_floor(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    while (scripted_store_requests(rig.store, READ_TGB) == 0)
        manual_loop_step(&rig.loop);
    rig_reclaim(&rig, 5); /* against all rules */
    expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 5");
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
    expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 10");
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
    expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 1 was given up: the floor is at step 4");
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
    struct consumer_options options = rig_options(&rig, 0);
    rank_open(&rank, &rig, &options);
    rank.takes = RANK_TAKES_BY_HAND;
    rank_start(&rank);
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

static void numbers_that_cannot_be_listed_end_it(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_script(&rig, (struct rule){.kind = LIST_NUMBERS, .skip = 1, ANSWER(STORE_FAILED)});
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    expect_end(&rank, CONSUMER_STORE_FAILED, "list watermark/0000000002/: ");
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
    expect_end(&rank, CONSUMER_BELOW_FLOOR, "step 2 was given up: the floor is at step 4");
    rig_deinit(&rig);
}

static void start_below_the_intent_is_refused(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 6);
    rig.durable = (struct checkpoint_set){.count = 1, .items = {{.step = 1, .number = 1}}};
    char key[STORE_KEY_MAX];
    struct body empty = {.kind = BODY_BYTES};
    name_intent(key, 4);
    scripted_store_create(rig.store, key, &empty);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    expect_end(&rank, CONSUMER_REFUSED, "step 1 may already be reclaimed: steps below 4");
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
    expect_end(&damaged, CONSUMER_CORRUPT, key);
    rig.codec = true; /* as it is met live: bytes that do not decode */
    rank_begin(&damaged, &rig, 0);
    expect_end(&damaged, CONSUMER_CORRUPT, "is damaged");
    rig.codec = false;
    scripted_store_delete(rig.store, key);
    rig_script(&rig, (struct rule){.kind = LIST_NEWER, ANSWER(STORE_UNKNOWN)});
    struct rank silent;
    rank_begin(&silent, &rig, 0);
    expect_end(&silent, CONSUMER_STORE_FAILED, "was not answered");
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
    HARNESS_TEST(numbers_that_cannot_be_listed_end_it),
    HARNESS_TEST(floor_is_read_anew_after_a_404),
    HARNESS_TEST(start_below_the_intent_is_refused),
    HARNESS_TEST(damaged_version_and_silent_store_are_told_apart),
    HARNESS_TEST(stop_at_any_moment_ends_with_nothing_in_flight),
    {0},
};
