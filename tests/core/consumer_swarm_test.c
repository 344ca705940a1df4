/* consumer_swarm_test.c - random worlds of one rank: faults on every request, late writes, crashes,
 * restarts, rollbacks, two processes at once. What is delivered is checked step by step in the rig;
 * in the end the digest is that of the committed order. */
#include <stdlib.h>

#include "core/consumer.h"
#include "tests/core/rank_rig.h"
#include "tests/harness.h"

#define WORLDS 300
#define LIVES_MAX 24
#define STEPS 60
#define FAULTS_UNTIL_NS (20 * NS_PER_S)

struct swarm_world {
    struct rig rig;
    struct random_stream random;
    struct timer commits;
    uint32_t lives;
    struct rank ranks[LIVES_MAX];
};

static bool chance(struct swarm_world *world, double probability)
{
    return random_unit(&world->random) < probability;
}

static void commit_due(struct timer *timer, void *context)
{
    struct swarm_world *world = context;
    struct rig *rig = &world->rig;
    uint64_t left = STEPS + 1 - rig->newest->next_step;
    if (left == 0)
        return;
    uint64_t steps = 1 + random_next(&world->random) % 3;
    rig_commit(rig, steps < left ? steps : left);
    int64_t gap_ns = (int64_t)(random_unit(&world->random) * 6e8);
    loop_timer_set(&rig->loop.loop, timer, rig->loop.now_ns + gap_ns);
}

static struct rank *newest(struct swarm_world *world)
{
    return &world->ranks[world->lives - 1];
}

/* Another process of the rank; sometimes from an older place. */
static void begin_life(struct swarm_world *world)
{
    struct rig *rig = &world->rig;
    struct consumer_options options = rig_options(rig, 1);
    options.checkpoints_kept = 3;
    options.fetch_retries = 20;
    options.random = random_stream_make(random_next(&world->random), 1);
    if (rig->durable.count > 0 && chance(world, 0.3))
        options.membership.rollback_step =
            rig->durable.items[random_next(&world->random) % rig->durable.count].step;
    assert(world->lives < LIVES_MAX);
    struct rank *rank = &world->ranks[world->lives++];
    rank_open(rank, rig, &options);
    rank->checkpoint_every = 2 + random_next(&world->random) % 5;
    rank_start(rank);
}

static void end_lives_before_the_newest(struct swarm_world *world)
{
    for (uint32_t i = 0; i + 1 < world->lives; i++) {
        struct rank *rank = &world->ranks[i];
        if (rank->driver == NULL || !rank->ended)
            continue;
        CU_ASSERT(rank->end == CONSUMER_SUPERSEDED);
        rank_close(rank);
    }
}

static void upset(struct swarm_world *world)
{
    struct rig *rig = &world->rig;
    while (rig->loop.now_ns < FAULTS_UNTIL_NS && manual_loop_step(&rig->loop)) {
        CU_ASSERT_FATAL(!newest(world)->ended || newest(world)->end == CONSUMER_SUPERSEDED);
        if (world->lives == LIVES_MAX - 1)
            continue;
        if (!newest(world)->ended && !chance(world, 0.005))
            continue;
        if (!newest(world)->ended && chance(world, 0.7))
            rank_crash(newest(world)); /* else it goes on beside its successor */
        begin_life(world);
        end_lives_before_the_newest(world);
    }
}

static void live(uint64_t seed, enum body_kind body)
{
    static const struct store_faults faults = {.unknown_applied = 0.05,
                                               .unknown_dropped = 0.05,
                                               .unknown_late = 0.05,
                                               .busy = 0.05,
                                               .throttled = 0.05,
                                               .read_unknown = 0.1};
    struct swarm_world *world = calloc(1, sizeof(*world));
    assert(world != NULL);
    struct tgb_mesh mesh = {.data = 2, .context = 1};
    rig_init(&world->rig, mesh, body);
    struct rig *rig = &world->rig;
    world->random = random_stream_make(seed, 7);
    timer_init(&world->commits, commit_due, world);
    commit_due(&world->commits, world);
    scripted_store_disturb(rig->store, &faults, random_stream_make(seed, 8));
    begin_life(world);
    upset(world);
    scripted_store_calm(rig->store);
    scripted_store_apply_late(rig->store);
    if (!newest(world)->ended)
        rank_crash(newest(world));
    begin_life(world);
    struct rank *last = newest(world);
    while (last->running_from + last->taken < STEPS + 1 && !last->ended &&
           manual_loop_step(&rig->loop))
        continue;
    CU_ASSERT_FALSE(last->ended);
    CU_ASSERT_EQUAL(rank_machine(last)->digest, rig_digest(rig, 0, 1, STEPS + 1, 1));
    rank_stop(last);
    for (uint32_t i = 0; i + 1 < world->lives; i++) {
        struct rank *rank = &world->ranks[i];
        if (rank->driver != NULL && !rank->ended)
            rank_stop(rank);
        else if (rank->driver != NULL)
            rank_close(rank);
    }
    while (manual_loop_step(&rig->loop))
        continue;
    rig_deinit(rig);
    free(world);
}

static void random_worlds_deliver_the_committed_order(void)
{
    for (uint64_t seed = 1; seed <= WORLDS; seed++)
        live(seed, seed % 2 ? BODY_BYTES : BODY_LENGTH);
}

const struct harness_test consumer_swarm_tests[] = {
    HARNESS_TEST(random_worlds_deliver_the_committed_order),
    {0},
};
