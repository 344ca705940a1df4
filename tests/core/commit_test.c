/* commit_test.c - judging: whatever the store answers, the stored and validated version decides.
 *
 * Version 1 is the genesis, 2 fences producer 0, 3 is its first commit of batches. */
#include "core/commit.h"

#include "tests/core/world.h"
#include "tests/harness.h"

/* Each refusal is followed by a search, which is answered: the back-off grows all the same. */
static void genesis_that_is_refused_backs_off_ever_longer(void)
{
    struct world *world = world_open(5);
    world_script(world, (struct rule){.kind = CREATE_VERSION,
                                      .version = 1,
                                      .times = 40,
                                      ANSWER(STORE_BUSY),
                                      .application = DROP});
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->won, 1);
    CU_ASSERT_EQUAL(machine->counters.busy, 40);
    /* 40 times LIST and PUT, and as often half of the longest back-off. */
    CU_ASSERT(world->loop.now_ns > 40 * (20 + 15) * NS_PER_MS);
    world_close(world);
}

static void genesis_race_ends_with_one_version_1(void)
{
    struct world *world = world_open(1);
    for (uint32_t i = 0; i < 32; i++) {
        struct producer_options options = world_options(world, i);
        options.policy_values[0] = 0.5;
        options.gap_jitter = 0.9;
        world_start_with(world, &options, false);
    }
    for (uint32_t i = 0; i < 32; i++)
        world_until_visible(&world->machines[i], 1);
    uint64_t attempts = 0;
    for (uint32_t i = 0; i < 32; i++)
        attempts += world->machines[i].won + world->machines[i].lost;
    CU_ASSERT(attempts < 32 * 20);
    world_close(world);
}

static void make_genesis_of_larger_entries(struct scripted_store *store, void *context)
{
    (void)context;
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN + 96);
    bool created = scripted_store_create_version(store, genesis);
    CU_ASSERT_TRUE(created);
    manifest_release(genesis);
}

/* Whatever becomes of the own create: it exists, or there is no answer. */
static void genesis_of_another_config_is_built_on(void)
{
    static const struct rule rules[] = {
        {.kind = CREATE_VERSION, .version = 1, .before = make_genesis_of_larger_entries},
        {.kind = CREATE_VERSION,
         .version = 1,
         .before = make_genesis_of_larger_entries,
         ANSWER(STORE_UNKNOWN)},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++) {
        struct world *world = world_open(6);
        world_script(world, rules[i]);
        world_until_visible(world_start(world, 0), 1);
        for (uint64_t version = 1; version <= 3; version++) {
            struct manifest *manifest = scripted_store_version(world->store, version);
            CU_ASSERT_PTR_NOT_NULL_FATAL(manifest);
            CU_ASSERT_EQUAL(manifest->entry_bytes, MANIFEST_ENTRY_BYTES_MIN + 96);
            manifest_release(manifest);
        }
        world_close(world);
    }
}

static void plain_win_costs_four_requests(void)
{
    struct world *world = world_open(2);
    struct machine *machine = world_start_fenced(world, 1);
    uint64_t before = scripted_store_requests(world->store, ANY_REQUEST);
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    CU_ASSERT_EQUAL(machine->detail.batches, 1);
    CU_ASSERT_EQUAL(machine->detail.bytes, BATCH_BYTES);
    /* The batch, LIST, PUT, LIST: my own version needs no GET. */
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, ANY_REQUEST) - before, 4);
    CU_ASSERT_EQUAL(machine->attempt.window_ns, 20 * NS_PER_MS);
    CU_ASSERT_EQUAL(machine->attempt.tau_ns, 30 * NS_PER_MS);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, 0);
    world_close(world);
}

static void foreign_versions_are_counted_once_each(void)
{
    struct world *world = world_open(3);
    struct machine *machine = world_start_fenced(world, 1);
    for (int i = 0; i < 3; i++)
        world_foreign_commit(world->store, world);
    world_until_visible(machine, 1);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, 3);
    CU_ASSERT_EQUAL(machine->attempt.producers_active, 2);
    CU_ASSERT_EQUAL(machine->detail.version, 6);
    CU_ASSERT_EQUAL(machine->attempt.window_ns, 30 * NS_PER_MS);
    CU_ASSERT_EQUAL(machine->attempt.tau_ns, 40 * NS_PER_MS);
    world_close(world);
}

static void foreign_version_under_my_name_is_a_conflict(void)
{
    struct world *world = world_open(4);
    struct machine *machine = world_start_fenced(world, 1);
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 3, .before = world_foreign_commit});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 1, 1);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, 1);
    CU_ASSERT_EQUAL(machine->detail.batches, 0);
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 1);
    CU_ASSERT_EQUAL(machine->detail.version, 4);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, 0);
    world_close(world);
}

/* One create of version 3 is answered as the rule says; then all is well: won, nothing lost. */
static struct commit_counters won_after(struct rule rule)
{
    struct world *world = world_open(5);
    struct machine *machine = world_start_fenced(world, 1);
    rule.kind = CREATE_VERSION;
    rule.version = 3;
    world_script(world, rule);
    world_until_ended(machine);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_STOPPED);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    CU_ASSERT(machine->detail.visible_ns >= machine->detail.started_ns + 20 * NS_PER_MS);
    struct commit_counters counters = machine->counters;
    world_close(world);
    return counters;
}

static void unknown_that_was_applied_is_won(void)
{
    struct commit_counters c = won_after((struct rule){.times = 1, ANSWER(STORE_UNKNOWN)});
    CU_ASSERT_EQUAL(c.unknown, 1);
    CU_ASSERT_EQUAL(c.resent, 0);
}

static void unknown_that_was_lost_is_sent_again(void)
{
    struct commit_counters c =
        won_after((struct rule){.times = 1, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(c.unknown, 1);
    CU_ASSERT_EQUAL(c.resent, 1);
}

static void exists_that_is_my_own_earlier_create_is_won(void)
{
    struct commit_counters c =
        won_after((struct rule){.times = 1,
                                ANSWER(STORE_UNKNOWN),
                                .application = APPLY_LATE,
                                .late_requests = 2}); /* the read-back, and the second create */
    CU_ASSERT_EQUAL(c.unknown, 1);
    CU_ASSERT_EQUAL(c.resent, 1);
}

static void create_that_lands_after_its_successor_changes_nothing(void)
{
    struct commit_counters c = won_after((struct rule){
        .times = 1, ANSWER(STORE_UNKNOWN), .application = APPLY_LATE, .late_requests = 3});
    CU_ASSERT_EQUAL(c.resent, 1);
}

static void busy_is_sent_again_and_counted_apart(void)
{
    struct commit_counters c =
        won_after((struct rule){.times = 5, ANSWER(STORE_BUSY), .application = DROP});
    CU_ASSERT_EQUAL(c.busy, 5);
    CU_ASSERT_EQUAL(c.resent, 0);
    CU_ASSERT_EQUAL(c.unknown, 0);
}

/* The bound is on a row: as many again in the next attempt are as few. */
static void busy_rows_of_two_attempts_do_not_add_up(void)
{
    struct world *world = world_open(3);
    for (uint64_t version = 2; version <= 3; version++)
        world_script(world,
                     (struct rule){CREATE_VERSION, .version = version, .times = COMMIT_BUSY_MAX,
                                   ANSWER(STORE_BUSY), .application = DROP});
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 2);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->counters.busy, 2 * COMMIT_BUSY_MAX);
    CU_ASSERT(machine->counters.unknown == 0 && machine->counters.resent == 0);
    world_close(world);
}

static void throttled_create_is_read_back(void)
{
    struct commit_counters c = won_after((struct rule){.times = 1, ANSWER(STORE_THROTTLED)});
    CU_ASSERT_EQUAL(c.throttled, 1);
    CU_ASSERT_EQUAL(c.resent, 0);
    c = won_after((struct rule){.times = 1, ANSWER(STORE_THROTTLED), .application = DROP});
    CU_ASSERT_EQUAL(c.throttled, 1);
    CU_ASSERT_EQUAL(c.resent, 1);
}

static void unknown_and_the_name_is_taken_by_another_is_lost(void)
{
    struct world *world = world_open(6);
    struct machine *machine = world_start_fenced(world, 1);
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = 1,
                                      ANSWER(STORE_UNKNOWN), .application = DROP});
    world_script(world, (struct rule){READ_VERSION, .version = 3, .times = 1,
                                      .before = world_foreign_commit});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 1, 1);
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 1);
    world_close(world);
}

static void apply_late(struct scripted_store *store, void *context)
{
    (void)context;
    scripted_store_apply_late(store);
}

static void apply_late_and_build_on_it(struct scripted_store *store, void *world)
{
    scripted_store_apply_late(store);
    world_foreign_commit(store, world);
}

/* The first create of version 3 lands only when a later one, with more batches, is on its way. */
static void older_bytes_land(struct world *world)
{
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 3, .times = 1, ANSWER(STORE_UNKNOWN),
                               .application = APPLY_LATE, .late_requests = VERY_LATE});
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = COMMIT_RESENDS_MAX,
                                      ANSWER(STORE_UNKNOWN), .application = DROP});
}

static void what_is_stored_is_adopted_not_what_was_sent_last(void)
{
    struct world *world = world_open(7);
    struct machine *machine = world_start_fenced(world, 0);
    older_bytes_land(world);
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 3, .times = 1, .before = apply_late});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    CU_ASSERT_EQUAL(machine->visible, machine->detail.batches);
    CU_ASSERT(driver_producer(machine->driver)->queue.ready > machine->visible);
    world_until_visible(machine, 20);
    CU_ASSERT_EQUAL(machine->lost, 0);
    world_close(world);
}

static void older_bytes_under_a_foreign_version_are_won_too(void)
{
    struct world *world = world_open(8);
    struct machine *machine = world_start_fenced(world, 0);
    older_bytes_land(world);
    world_script(world, (struct rule){LIST_NEWER, .skip = 1, .times = 1,
                                      .before = apply_late_and_build_on_it});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    CU_ASSERT_EQUAL(machine->attempt.foreign_versions, 1);
    world_until_visible(machine, 20);
    world_close(world);
}

/* A rule that holds for ever ends the producer, after a bounded number of requests. */
static void ends_bounded(struct rule rule)
{
    struct world *world = world_open(9);
    struct machine *machine = world_start(world, 0);
    world_script(world, rule);
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_STORE_FAILED);
    CU_ASSERT_EQUAL(machine->lost, 0);
    CU_ASSERT(strlen(machine->end_text) > 20);
    CU_ASSERT(scripted_store_requests(world->store, CREATE_VERSION) < 3000);
    CU_ASSERT(scripted_store_requests(world->store, READ_VERSION) < 3000);
    CU_ASSERT(scripted_store_requests(world->store, LIST_NEWER) < 3000);
    CU_ASSERT_EQUAL(scripted_store_in_flight(world->store), 0);
    world_close(world);
}

static void no_answer_is_waited_for_without_end(void)
{
    static const enum store_outcome outcomes[] = {STORE_BUSY, STORE_UNKNOWN, STORE_THROTTLED};
    for (size_t i = 0; i < HARNESS_COUNT(outcomes); i++) {
        for (uint64_t version = 1; version <= 3; version++)
            ends_bounded((struct rule){CREATE_VERSION, .version = version, ANSWER(outcomes[i]),
                                       .application = DROP});
        ends_bounded((struct rule){LIST_NEWER, ANSWER(outcomes[i])});
        ends_bounded((struct rule){LIST_FLOOR, ANSWER(outcomes[i])});
        ends_bounded((struct rule){PUT_TGB, ANSWER(outcomes[i])});
    }
    ends_bounded(
        (struct rule){CREATE_VERSION, .version = 1, ANSWER(STORE_EXISTS), .application = DROP});
    ends_bounded(
        (struct rule){CREATE_VERSION, .version = 3, ANSWER(STORE_EXISTS), .application = DROP});
    ends_bounded((struct rule){LIST_NEWER, ANSWER(STORE_NOT_FOUND)});
}

static void refusal_is_final_and_never_a_commit(void)
{
    ends_bounded((struct rule){CREATE_VERSION, ANSWER(STORE_FAILED), .application = DROP});
    ends_bounded((struct rule){LIST_NEWER, ANSWER(STORE_FAILED)});
    ends_bounded((struct rule){PUT_TGB, ANSWER(STORE_FAILED)});
    ends_bounded((struct rule){PUT_TGB, ANSWER(STORE_NOT_FOUND)});
}

static void bursts_of_503_and_lost_answers_pass(void)
{
    struct world *world = world_open(10);
    struct machine *machine = world_start_fenced(world, 0);
    world_script(world, (struct rule){ANY_REQUEST, .times = 30, ANSWER(STORE_THROTTLED)});
    world_script(world, (struct rule){LIST_NEWER, .times = 20, ANSWER(STORE_THROTTLED)});
    world_script(world, (struct rule){LIST_FLOOR, .times = 5, ANSWER(STORE_UNKNOWN)});
    world_until_visible(machine, 10);
    CU_ASSERT_EQUAL(machine->lost, 0);
    CU_ASSERT(machine->counters.throttled > 0);
    CU_ASSERT(machine->counters.retried >= 5);
    world_close(world);
}

const struct harness_test commit_tests[] = {
    HARNESS_TEST(genesis_race_ends_with_one_version_1),
    HARNESS_TEST(genesis_that_is_refused_backs_off_ever_longer),
    HARNESS_TEST(genesis_of_another_config_is_built_on),
    HARNESS_TEST(plain_win_costs_four_requests),
    HARNESS_TEST(foreign_versions_are_counted_once_each),
    HARNESS_TEST(foreign_version_under_my_name_is_a_conflict),
    HARNESS_TEST(unknown_that_was_applied_is_won),
    HARNESS_TEST(unknown_that_was_lost_is_sent_again),
    HARNESS_TEST(exists_that_is_my_own_earlier_create_is_won),
    HARNESS_TEST(create_that_lands_after_its_successor_changes_nothing),
    HARNESS_TEST(busy_is_sent_again_and_counted_apart),
    HARNESS_TEST(busy_rows_of_two_attempts_do_not_add_up),
    HARNESS_TEST(throttled_create_is_read_back),
    HARNESS_TEST(unknown_and_the_name_is_taken_by_another_is_lost),
    HARNESS_TEST(what_is_stored_is_adopted_not_what_was_sent_last),
    HARNESS_TEST(older_bytes_under_a_foreign_version_are_won_too),
    HARNESS_TEST(no_answer_is_waited_for_without_end),
    HARNESS_TEST(refusal_is_final_and_never_a_commit),
    HARNESS_TEST(bursts_of_503_and_lost_answers_pass),
    {0},
};
