/* commit_rebase_test.c - what a version means for a producer: fencing, being fenced, corruption. */
#include "core/commit_rebase.h"

#include <string.h>

#include "tests/core/world.h"
#include "tests/harness.h"

static void restarted_producer_fences_and_resumes_at_the_exact_offset(void)
{
    struct world *world = world_open(1);
    struct machine *first = world_start(world, 0);
    world_until_visible(first, 5);
    uint64_t committed = first->visible_sequence;
    world_crash(first);
    struct machine *second = world_start(world, 0);
    world_until_attempts(second, 1);
    CU_ASSERT_EQUAL(second->detail.epoch, 2);
    CU_ASSERT_EQUAL(second->detail.batches, 0);
    world_until_visible(second, 3);
    /* The history checks that sequences and offsets go on without a gap. */
    CU_ASSERT_EQUAL(second->visible_sequence - second->visible, committed);
    world_close(world);
}

static void fencing_attempt_without_an_answer_that_landed_is_won(void)
{
    struct world *world = world_open(2);
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 2, .times = 1, ANSWER(STORE_UNKNOWN)});
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->won, 1);
    CU_ASSERT_EQUAL(machine->detail.epoch, 1);
    CU_ASSERT_EQUAL(machine->counters.unknown, 1);
    world_until_visible(machine, 3);
    world_close(world);
}

static void take_over_and_move_on(struct scripted_store *store, void *world)
{
    world_take_over(store, world);
    world_chain_moves_on(store, world);
}

static void fencing_attempt_that_may_have_been_fenced_since_does_not_fence_back(void)
{
    struct world *world = world_open(8);
    /* Version 2 is mine; before it is read back somebody fences, and it is deleted. */
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 2, .times = 1, ANSWER(STORE_UNKNOWN)});
    world_script(world, (struct rule){READ_VERSION, .version = 2, .times = 1,
                                      .before = take_over_and_move_on});
    struct machine *machine = world_start(world, 0);
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_FENCED);
    CU_ASSERT_EQUAL(machine->won + machine->lost, 0);
    world_close(world);
}

static void lost_fencing_attempt_is_tried_again(void)
{
    struct world *world = world_open(3);
    world_script(world, (struct rule){CREATE_VERSION, .version = 2, .times = 1,
                                      .before = world_foreign_commit});
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->lost, 1);
    CU_ASSERT_EQUAL(machine->detail.epoch, 0);
    world_until_visible(machine, 3);
    world_close(world);
}

static void fencing_attempt_that_landed_below_the_floor_is_lost(void)
{
    struct world *world = world_open(9);
    world_script(world, (struct rule){CREATE_VERSION, .version = 2, .times = 1,
                                      .before = world_chain_moves_on});
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->lost, 1);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    world_until_visible(machine, 3);
    world_close(world);
}

static void higher_epoch_fences(void)
{
    struct world *world = world_open(4);
    struct machine *machine = world_start(world, 0);
    world_until_visible(machine, 3);
    world_take_over(world->store, world);
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_FENCED);
    CU_ASSERT_EQUAL(scripted_store_in_flight(world->store), 0);
    world_close(world);
}

static void fenced_between_search_and_create(void)
{
    struct world *world = world_open(5);
    struct machine *machine = world_start(world, 0);
    world_script(
        world, (struct rule){CREATE_VERSION, .version = 3, .times = 1, .before = world_take_over});
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_FENCED);
    CU_ASSERT_EQUAL(machine->lost, 1);
    CU_ASSERT_EQUAL(machine->visible, 0);
    world_close(world);
}

/* A state of producer 0 that no honest process would write; the history notices, which is right. */
static enum producer_end end_after(uint32_t epoch, bool mine, uint64_t sequence, uint64_t offset)
{
    struct world *world = world_open(6);
    struct machine *machine = world_start(world, 0);
    world_until_attempts(machine, 1);
    struct producer_state state = {.producer = 0,
                                   .epoch = epoch,
                                   .next_offset = offset,
                                   .last_sequence = sequence,
                                   .last_commit_ns = 1};
    if (mine)
        state.incarnation = machine->incarnation;
    world_commit_state(world, &state);
    world_until_ended(machine);
    enum producer_end end = machine->end;
    CU_ASSERT_STRING_NOT_EQUAL(world->history.problem, "");
    world->history.problem[0] = '\0';
    world_close(world);
    return end;
}

static void my_epoch_with_another_incarnation_fences(void)
{
    CU_ASSERT_EQUAL(end_after(1, false, 0, 0), PRODUCER_FENCED);
}

static void position_that_was_never_uploaded_is_corrupt(void)
{
    CU_ASSERT_EQUAL(end_after(1, true, 7777, 777700), PRODUCER_CORRUPT);
    CU_ASSERT_EQUAL(end_after(1, true, 0, 50), PRODUCER_CORRUPT);
}

/* Version 3 says that this very process made it, as another producer. */
static void plant_claim(struct scripted_store *store, void *context)
{
    struct world *world = context;
    (void)store;
    struct producer_state state = {
        .producer = 7, .epoch = 1, .incarnation = world->machines[0].incarnation};
    world_commit_state(world, &state);
}

/* Found by fuzzing: while fencing, an assert failed. */
static void version_of_mine_under_another_producer_is_corrupt(void)
{
    for (uint64_t version = 2; version <= 3; version++) {
        struct world *world = world_open(9);
        struct machine *machine = world_start(world, 0);
        world_script(world,
                     (struct rule){CREATE_VERSION, .version = version, .before = plant_claim});
        world_until_ended(machine);
        CU_ASSERT_EQUAL(machine->end, PRODUCER_CORRUPT);
        CU_ASSERT_PTR_NOT_NULL(strstr(machine->end_text, "not as producer 0"));
        world->history.problem[0] = '\0';
        world_close(world);
    }
}

/* The chain moves on to version 6; 3 is a zombie that says that somebody took over. */
static void plant_zombie(struct scripted_store *store, void *context)
{
    struct world *world = context;
    struct manifest *base = scripted_store_version(store, 2);
    world_foreign_commit(store, world);
    world_chain_moves_on(store, world);
    struct manifest_change change = {.author = {.producer = 0, .epoch = 9},
                                     .state = {.producer = 0, .epoch = 9}};
    change.state.last_commit_version = 3;
    struct manifest *zombie = manifest_append(base, &change);
    bool created = scripted_store_create_version(store, zombie);
    assert(created);
    manifest_release(zombie);
    manifest_release(base);
}

static void zombie_version_does_not_fence(void)
{
    struct world *world = world_open(7);
    struct producer_options options = world_options(world, 0);
    options.commit.find = COMMIT_FIND_PROBE; /* finds 3, not 4: the newest, as far as it can see */
    struct machine *machine = world_start_with(world, &options, false);
    world_until_attempts(machine, 1);
    world_script(world,
                 (struct rule){READ_VERSION, .version = 3, .times = 1, .before = plant_zombie});
    world_until_visible(machine, 1);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    CU_ASSERT_EQUAL(machine->counters.invalid, 1);
    world_until_attempts(machine, 5); /* what the zombie said is forgotten */
    CU_ASSERT_FALSE(machine->ended);
    world_close(world);
}

static void of_two_incarnations_exactly_one_survives(void)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct world *world = world_open(seed);
        struct machine *a = world_start(world, 0);
        struct machine *b = NULL;
        world_until_ns(world, (int64_t)(seed * 7) * NS_PER_MS);
        b = world_start(world, 0);
        while (!a->ended && !b->ended)
            CU_ASSERT_TRUE_FATAL(manual_loop_step(&world->loop));
        struct machine *fenced = a->ended ? a : b;
        struct machine *survivor = a->ended ? b : a;
        CU_ASSERT_EQUAL(fenced->end, PRODUCER_FENCED);
        world_until_visible(survivor, survivor->visible + 5);
        CU_ASSERT_FALSE(survivor->ended);
        world_close(world);
    }
}

const struct harness_test commit_rebase_tests[] = {
    HARNESS_TEST(restarted_producer_fences_and_resumes_at_the_exact_offset),
    HARNESS_TEST(fencing_attempt_without_an_answer_that_landed_is_won),
    HARNESS_TEST(fencing_attempt_that_may_have_been_fenced_since_does_not_fence_back),
    HARNESS_TEST(lost_fencing_attempt_is_tried_again),
    HARNESS_TEST(fencing_attempt_that_landed_below_the_floor_is_lost),
    HARNESS_TEST(higher_epoch_fences),
    HARNESS_TEST(fenced_between_search_and_create),
    HARNESS_TEST(my_epoch_with_another_incarnation_fences),
    HARNESS_TEST(position_that_was_never_uploaded_is_corrupt),
    HARNESS_TEST(version_of_mine_under_another_producer_is_corrupt),
    HARNESS_TEST(zombie_version_does_not_fence),
    HARNESS_TEST(of_two_incarnations_exactly_one_survives),
    {0},
};
