/* commit_floor_test.c - floors that move while a producer commits, zombies below them, and trims.
 */
#include <stdio.h>

#include "core/commit.h"
#include "tests/core/world.h"
#include "tests/harness.h"

static void version_that_vanished_is_searched_again_from_the_floor(void)
{
    struct world *world = world_open(11);
    struct machine *machine = world_start_fenced(world, 1);
    world_foreign_commit(world->store, world);
    world_script(world, (struct rule){READ_VERSION, .times = 1, .before = world_chain_moves_on});
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->counters.vanished, 1);
    CU_ASSERT_EQUAL(machine->detail.version, 7);
    world_close(world);
}

static void batches_made_while_searching_again_are_committed(void)
{
    struct world *world = world_open(12);
    struct machine *machine = world_start_fenced(world, 0);
    world_foreign_commit(world->store, world);
    world_script(world, (struct rule){READ_VERSION, .times = 1, .before = world_chain_moves_on});
    world_script(world, (struct rule){LIST_NEWER, .skip = 1, .times = 6, ANSWER(STORE_UNKNOWN)});
    world_until_visible(machine, 10);
    world_check_counts(machine, machine->won, 0);
    world_close(world);
}

static void floor_past_the_base_after_a_create_leaves_it_to_my_state(void)
{
    struct world *world = world_open(13);
    struct machine *machine = world_start_fenced(world, 1);
    /* Version 3 is mine and living; the chain moves on before the validation. */
    world_script(world, (struct rule){LIST_FLOOR, .times = 1, .before = world_chain_moves_on});
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->counters.invalid, 1);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    CU_ASSERT_EQUAL(world->history.zombies, 0);
    world_close(world);
}

static void create_below_the_floor_is_a_zombie_and_lost(void)
{
    struct world *world = world_open(14);
    struct machine *machine = world_start_fenced(world, 1);
    /* The chain moves on just before version 3 is created, on a name that was deleted meanwhile. */
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = 1,
                                      .before = world_chain_moves_on});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 1, 1);
    CU_ASSERT_EQUAL(machine->counters.invalid, 1);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 1);
    world_close(world);
}

static void raise_to(struct scripted_store *store, void *version)
{
    struct floor floor = {.version = *(const uint64_t *)version, .step = 1};
    scripted_store_raise_floor(store, floor);
}

/* How many validations of the create of version 3, on version 2, fail with the floor there. */
static uint64_t invalid_with_floor(uint64_t version)
{
    struct world *world = world_open(19);
    struct machine *machine = world_start_fenced(world, 1);
    world_script(world,
                 (struct rule){LIST_FLOOR, .times = 1, .before = raise_to, .context = &version});
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->detail.version, 3);
    uint64_t invalid = machine->counters.invalid;
    world_close(world);
    return invalid;
}

static void floor_at_the_base_leaves_a_create_valid_and_one_above_does_not(void)
{
    CU_ASSERT_EQUAL(invalid_with_floor(2), 0);
    CU_ASSERT_EQUAL(invalid_with_floor(3), 1);
}

/* The floor is raised to the newest version, then a version lands that was sent long ago. */
struct passing {
    struct world *world;
    struct manifest *late; /* NULL: what the script holds back */
};

static void chain_passes(struct scripted_store *store, void *context)
{
    struct passing *passing = context;
    world_foreign_commit(store, passing->world);
    world_floor_to_newest(store, passing->world);
    if (passing->late == NULL)
        scripted_store_apply_late(store);
    else
        CU_ASSERT(scripted_store_create_version(store, passing->late));
}

/* Version 3 of mine has no answer and does not come; another's is listed; what is read is mine, of
 * a version right below the floor. */
static void own_version_right_below_the_floor_is_not_won(void)
{
    struct world *world = world_open(20);
    struct machine *machine = world_start_fenced(world, 0);
    struct passing passing = {.world = world};
    world_script(world,
                 (struct rule){CREATE_VERSION, .version = 3, .times = 1, ANSWER(STORE_UNKNOWN),
                               .application = APPLY_LATE, .late_requests = VERY_LATE});
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = COMMIT_RESENDS_MAX,
                                      ANSWER(STORE_UNKNOWN), .application = DROP});
    world_script(world,
                 (struct rule){LIST_NEWER, .skip = 1, .times = 1, .before = world_foreign_commit});
    world_script(world, (struct rule){READ_VERSION, .version = 3, .skip = COMMIT_RESENDS_MAX + 1,
                                      .times = 1, .before = chain_passes, .context = &passing});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 1, 1);
    CU_ASSERT_EQUAL(machine->counters.invalid, 1);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    CU_ASSERT_EQUAL(scripted_store_floor(world->store).version, 4);
    world_until_visible(machine, 3);
    world_close(world);
}

/* Another's version of the same base: not mine, which lived and was deleted. */
static struct manifest *foreign_third(struct world *world)
{
    struct manifest *base = scripted_store_version(world->store, 2);
    struct manifest_change change = {.author = {.producer = FOREIGNER, .epoch = 1},
                                     .state = {.producer = FOREIGNER, .epoch = 1}};
    change.state.last_commit_version = 3;
    struct manifest *next = manifest_append(base, &change);
    manifest_release(base);
    return next;
}

static void foreign_version_right_below_the_floor_does_not_lose_mine(void)
{
    struct world *world = world_open(21);
    struct machine *machine = world_start_fenced(world, 1);
    struct passing passing = {.world = world, .late = foreign_third(world)};
    world_script(world, (struct rule){LIST_FLOOR, .times = 1, .before = world_floor_to_newest});
    world_script(world, (struct rule){READ_VERSION, .version = 3, .times = 1,
                                      .before = chain_passes, .context = &passing});
    world_until_visible(machine, 1);
    world_check_counts(machine, 2, 0);
    CU_ASSERT_EQUAL(machine->counters.invalid, 2);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    CU_ASSERT_EQUAL(scripted_store_floor(world->store).version, 4);
    manifest_release(passing.late);
    world_close(world);
}

static void foreign_keys_do_not_hide_the_floor(void)
{
    struct world *world = world_open(14);
    struct machine *machine = world_start_fenced(world, 1);
    struct body junk = {.kind = BODY_BYTES, .data = (uint8_t[]){0}};
    CU_ASSERT(scripted_store_create(world->store, "manifest/a", &junk));
    CU_ASSERT(scripted_store_create(world->store, "manifest/0-notes", &junk));
    CU_ASSERT(scripted_store_create(world->store, "manifest/zzz", &junk));
    for (int i = 0; i < 40; i++) { /* more than a page of what sorts before every floor */
        char key[STORE_KEY_MAX];
        snprintf(key, sizeof(key), NAME_FLOOR_PREFIX "!%02d", i);
        CU_ASSERT(scripted_store_create(world->store, key, &junk));
    }
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = 1,
                                      .before = world_chain_moves_on});
    world_until_attempts(machine, 2);
    world_check_counts(machine, 1, 1);
    CU_ASSERT_EQUAL(machine->counters.invalid, 1);
    world_close(world);
}

static void create_that_lands_as_a_zombie_much_later_is_believed_by_nobody(void)
{
    struct world *world = world_open(15);
    struct machine *machine = world_start_fenced(world, 0);
    world_script(world, (struct rule){CREATE_VERSION, .version = 3, .times = 1,
                                      ANSWER(STORE_UNKNOWN), .application = APPLY_LATE,
                                      .late_requests = VERY_LATE, .before = world_chain_moves_on});
    world_until_visible(machine, 3);
    scripted_store_apply_late(world->store);
    CU_ASSERT_EQUAL(world->history.zombies, 1);
    struct machine *newcomer = world_start(world, 1);
    world_until_visible(newcomer, 3);
    world_until_visible(machine, 6);
    world_close(world);
}

static void trim_follows_the_floor(void)
{
    struct world *world = world_open(16);
    struct machine *machine = world_start_fenced(world, 0);
    world_until_visible(machine, 10);
    struct manifest *newest =
        scripted_store_version(world->store, scripted_store_newest(world->store));
    struct floor floor = {.version = newest->version, .step = newest->next_step - 2};
    manifest_release(newest);
    scripted_store_raise_floor(world->store, floor);
    scripted_store_delete_below_floor(world->store);
    world_until_visible(machine, 14);
    newest = scripted_store_version(world->store, scripted_store_newest(world->store));
    CU_ASSERT_EQUAL(newest->first_step, floor.step);
    manifest_release(newest);
    world_close(world);
}

/* Reclaimers can pass each other: the floor that is listed first need not give up most steps. */
static void trim_follows_the_highest_step_of_all_floors(void)
{
    struct world *world = world_open(18);
    struct machine *machine = world_start_fenced(world, 0);
    world_until_visible(machine, 10);
    uint64_t version = scripted_store_newest(world->store);
    struct floor higher_step = {.version = version - 1, .step = 7};
    struct floor higher_version = {.version = version, .step = 5};
    scripted_store_raise_floor(world->store, higher_step);
    scripted_store_raise_floor(world->store, higher_version);
    world_until_visible(machine, 14);
    struct manifest *newest =
        scripted_store_version(world->store, scripted_store_newest(world->store));
    CU_ASSERT_EQUAL(newest->first_step, higher_step.step);
    manifest_release(newest);
    world_close(world);
}

/* It gives up what does not exist: believed, every commit would lose its own batches. */
static void floor_above_the_chain_trims_nothing(void)
{
    struct world *world = world_open(17);
    struct machine *machine = world_start_fenced(world, 0);
    world_until_visible(machine, 10);
    struct floor floor = {.version = 1, .step = 1000};
    scripted_store_raise_floor(world->store, floor);
    world_until_visible(machine, 14);
    struct manifest *newest =
        scripted_store_version(world->store, scripted_store_newest(world->store));
    CU_ASSERT_EQUAL(newest->first_step, 1);
    CU_ASSERT(newest->next_step >= 15);
    manifest_release(newest);
    world_close(world);
}

const struct harness_test commit_floor_tests[] = {
    HARNESS_TEST(version_that_vanished_is_searched_again_from_the_floor),
    HARNESS_TEST(batches_made_while_searching_again_are_committed),
    HARNESS_TEST(floor_past_the_base_after_a_create_leaves_it_to_my_state),
    HARNESS_TEST(create_below_the_floor_is_a_zombie_and_lost),
    HARNESS_TEST(floor_at_the_base_leaves_a_create_valid_and_one_above_does_not),
    HARNESS_TEST(own_version_right_below_the_floor_is_not_won),
    HARNESS_TEST(foreign_version_right_below_the_floor_does_not_lose_mine),
    HARNESS_TEST(foreign_keys_do_not_hide_the_floor),
    HARNESS_TEST(create_that_lands_as_a_zombie_much_later_is_believed_by_nobody),
    HARNESS_TEST(trim_follows_the_floor),
    HARNESS_TEST(trim_follows_the_highest_step_of_all_floors),
    HARNESS_TEST(floor_above_the_chain_trims_nothing),
    {0},
};
