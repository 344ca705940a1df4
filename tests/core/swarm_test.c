/* swarm_test.c - a small closed world, at random: producers with lost, late and repeated creates,
 * crashes, restarts beside an incarnation that still lives, and reclaimers that move the floor and
 * delete below it. The history checks each version, each report and each decision; then the store
 * calms down and all must end well.
 *
 * LAKESTREAM_SWARM_SEEDS and LAKESTREAM_SWARM_FIRST in the environment run other seeds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/core/world.h"
#include "tests/harness.h"

#define SEEDS_DEFAULT 5000
#define PRODUCERS_MAX 4
#define FLOORS_MAX 3
#define STEPS_MAX 400000

struct swarm {
    struct world *world;
    struct random_stream random;
    uint32_t producers;
    bool codec;
    struct timer chaos;
    uint32_t chaos_left;
    struct floor floors[FLOORS_MAX]; /* decided by a reclaimer, not yet written */
};

static uint64_t draw(struct swarm *swarm, uint64_t below)
{
    return random_next(&swarm->random) % below;
}

static void start(struct swarm *swarm, uint32_t producer)
{
    struct producer_options options = world_options(swarm->world, producer);
    options.mode = draw(swarm, 2) ? PRODUCER_INLINE : PRODUCER_BACKGROUND;
    options.commit.find = draw(swarm, 2) ? COMMIT_FIND_LIST : COMMIT_FIND_PROBE;
    options.policy_values[0] = 0.005 * (double)(1 + draw(swarm, 40));
    options.gap_jitter = 0.5;
    options.batch_jitter = 0.5;
    options.first_gap_ns = 50 * NS_PER_MS;
    options.batches_max = 3 + draw(swarm, 12);
    world_start_with(swarm->world, &options, swarm->codec);
}

static void decide_floor(struct swarm *swarm)
{
    const struct manifest *newest = swarm->world->history.newest;
    if (newest == NULL)
        return;
    uint64_t behind = draw(swarm, 4);
    uint64_t version = newest->version > behind ? newest->version - behind : 1;
    struct manifest *at = scripted_store_version(swarm->world->store, version);
    if (at == NULL)
        return;
    uint64_t step = at->first_step + draw(swarm, manifest_live_entries(at) + 1);
    manifest_release(at);
    swarm->floors[draw(swarm, FLOORS_MAX)] = (struct floor){.version = version, .step = step};
}

static void write_floor(struct swarm *swarm)
{
    struct floor *floor = &swarm->floors[draw(swarm, FLOORS_MAX)];
    if (floor->version == 0)
        return;
    scripted_store_raise_floor(swarm->world->store, *floor);
    *floor = (struct floor){0};
}

/* One name below the floor, or all. */
static void delete_some(struct swarm *swarm)
{
    struct scripted_store *store = swarm->world->store;
    uint64_t floor = scripted_store_floor(store).version;
    if (floor < 2)
        return;
    if (draw(swarm, 3) == 0) {
        scripted_store_delete_below_floor(store);
        return;
    }
    char key[STORE_KEY_MAX];
    name_version(key, 1 + draw(swarm, floor - 1));
    scripted_store_delete(store, key);
}

/* Restarts a producer; its last machine dies, or lives on and will be fenced. */
static void restart(struct swarm *swarm)
{
    struct world *world = swarm->world;
    if (world->machine_count + 1 >= MACHINES_MAX)
        return;
    uint32_t producer = (uint32_t)draw(swarm, swarm->producers);
    bool crash = draw(swarm, 2);
    for (uint32_t i = 0; i < world->machine_count && crash; i++) {
        struct machine *machine = &world->machines[i];
        if (machine->producer == producer && machine->driver != NULL && !machine->ended)
            world_crash(machine);
    }
    start(swarm, producer);
}

static void chaos(struct timer *timer, void *context)
{
    struct swarm *swarm = context;
    struct world *world = swarm->world;
    switch (draw(swarm, 12)) {
    case 0:
    case 1:
        decide_floor(swarm);
        break;
    case 2:
    case 3:
        write_floor(swarm);
        break;
    case 4:
    case 5:
    case 6:
        delete_some(swarm);
        break;
    case 7:
        restart(swarm);
        break;
    case 8:
        world->loop.now_ns += (int64_t)draw(swarm, 100) * NS_PER_MS; /* everybody pauses */
        break;
    default:
        break;
    }
    if (--swarm->chaos_left == 0)
        scripted_store_calm(world->store);
    else
        loop_timer_set(&world->loop.loop, timer,
                       world->loop.now_ns + (int64_t)draw(swarm, 20) * NS_PER_MS);
}

static bool all_ended(const struct world *world)
{
    for (uint32_t i = 0; i < world->machine_count; i++)
        if (world->machines[i].driver != NULL && !world->machines[i].ended)
            return false;
    return true;
}

/* The holder of each producer's epoch has ended well; the others too, or they were fenced. */
static void check_ends(struct world *world)
{
    for (uint32_t i = 0; i < world->machine_count; i++) {
        const struct machine *machine = &world->machines[i];
        if (machine->driver == NULL)
            continue;
        const struct producer_state *state =
            manifest_state_find(world->history.newest, machine->producer);
        bool holder = state != NULL &&
                      memcmp(&state->incarnation, &machine->incarnation, INCARNATION_BYTES) == 0;
        if (machine->end != PRODUCER_STOPPED && (holder || machine->end != PRODUCER_FENCED))
            history_problem(&world->history, "producer %" PRIu32 " (port %" PRIu32 ") ended %s: %s",
                            machine->producer, machine->port, producer_end_name(machine->end),
                            machine->end_text);
        if (holder && state->last_sequence != machine->visible_sequence)
            history_problem(&world->history,
                            "producer %" PRIu32 " saw batch %" PRIu64 " visible, the chain has "
                            "%" PRIu64,
                            machine->producer, machine->visible_sequence, state->last_sequence);
    }
}

static bool run_seed(uint64_t seed, uint64_t *zombies)
{
    struct world *world = world_open(seed);
    struct swarm swarm = {
        .world = world, .random = random_stream_make(seed, 2), .codec = seed % 4 == 0};
    swarm.producers = 2 + (uint32_t)draw(&swarm, PRODUCERS_MAX - 1);
    swarm.chaos_left = 10 + (uint32_t)draw(&swarm, 150);
    double weight = random_unit(&swarm.random) * 0.12;
    struct store_faults faults = {.unknown_applied = weight,
                                  .unknown_dropped = weight,
                                  .unknown_late = 2 * weight,
                                  .busy = weight,
                                  .throttled = weight,
                                  .read_unknown = weight / 2};
    scripted_store_disturb(world->store, &faults, random_stream_make(seed, 3));
    for (uint32_t i = 0; i < swarm.producers; i++)
        start(&swarm, i);
    timer_init(&swarm.chaos, chaos, &swarm);
    loop_timer_set(&world->loop.loop, &swarm.chaos, 0);
    uint32_t steps = 0;
    while (!all_ended(world) && !world->history.problem[0] && ++steps < STEPS_MAX &&
           manual_loop_step(&world->loop))
        continue;
    if (!all_ended(world))
        history_problem(&world->history, "not all producers end");
    else
        check_ends(world);
    if (world->history.problem[0])
        printf("\n  seed %" PRIu64 ": %s\n", seed, world->history.problem);
    bool good = !world->history.problem[0];
    *zombies += world->history.zombies;
    world_close(world);
    return good;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void producers_with_faults_restarts_and_reclaimers(void)
{
    uint64_t first = from_environment("LAKESTREAM_SWARM_FIRST", 0);
    uint64_t seeds = from_environment("LAKESTREAM_SWARM_SEEDS", SEEDS_DEFAULT);
    uint64_t zombies = 0;
    uint32_t failures = 0;
    for (uint64_t i = 0; i < seeds && failures < 5; i++)
        failures += !run_seed(first + i, &zombies);
    CU_ASSERT_EQUAL(failures, 0);
    if (seeds >= SEEDS_DEFAULT)
        CU_ASSERT(zombies > 0); /* else the worst case was not met */
}

const struct harness_test swarm_tests[] = {
    HARNESS_TEST(producers_with_faults_restarts_and_reclaimers),
    {0},
};
