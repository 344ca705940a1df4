/* producer_test.c - production, uploads, modes and endings. */
#include "core/producer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/core/world.h"
#include "tests/harness.h"

static const struct producer *inside(const struct machine *machine)
{
    return driver_producer(machine->driver);
}

/* Batches that come into being while the attempt number `attempts` is under way. */
static uint64_t made_during_an_attempt(enum producer_mode mode, int64_t *remaining_ns)
{
    struct world *world = world_open(1);
    struct producer_options options = world_options(world, 0);
    options.mode = mode;
    struct machine *machine = world_start_with(world, &options, false);
    world_until_visible(machine, 3);
    while (inside(machine)->phase != PRODUCER_COMMITTING)
        CU_ASSERT_TRUE_FATAL(manual_loop_step(&world->loop));
    uint64_t before = inside(machine)->next_sequence;
    *remaining_ns = inside(machine)->remaining_ns;
    uint64_t decided = machine->won;
    world_until_attempts(machine, decided + 1);
    uint64_t made = inside(machine)->next_sequence - before;
    if (mode == PRODUCER_INLINE) {
        int64_t left_ns = inside(machine)->made_at_ns - world->loop.now_ns;
        CU_ASSERT_EQUAL(left_ns, *remaining_ns);
    }
    world_close(world);
    return made;
}

static void inline_pauses_production_for_exactly_the_attempt(void)
{
    int64_t remaining_ns;
    CU_ASSERT_EQUAL(made_during_an_attempt(PRODUCER_INLINE, &remaining_ns), 0);
    CU_ASSERT(remaining_ns >= 0 && remaining_ns <= 10 * NS_PER_MS);
}

static void background_goes_on_producing(void)
{
    int64_t remaining_ns;
    uint64_t made = made_during_an_attempt(PRODUCER_BACKGROUND, &remaining_ns);
    CU_ASSERT(made >= 2 && made <= 4); /* 30 ms at one batch in 10 ms */
}

/* Stops after so many events; false when the producer had been through all of its life before. */
static void stop_after(uint32_t events, enum producer_mode mode)
{
    struct world *world = world_open(2);
    struct producer_options options = world_options(world, 0);
    options.mode = mode;
    struct machine *machine = world_start_with(world, &options, false);
    world_script(world, (struct rule){PUT_TGB, .times = 3, ANSWER(STORE_UNKNOWN)});
    for (uint32_t i = 0; i < events; i++)
        CU_ASSERT_TRUE_FATAL(manual_loop_step(&world->loop));
    driver_stop(machine->driver);
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_STOPPED);
    CU_ASSERT_EQUAL(scripted_store_in_flight(world->store), 0);
    uint64_t requests = scripted_store_requests(world->store, ANY_REQUEST);
    while (manual_loop_step(&world->loop))
        continue;
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, ANY_REQUEST), requests);
    world_close(world);
}

static void stop_at_any_moment_ends_with_nothing_in_flight(void)
{
    for (uint32_t events = 0; events < 150; events++) {
        stop_after(events, PRODUCER_INLINE);
        stop_after(events, PRODUCER_BACKGROUND);
    }
}

static void uploads_out_of_order_commit_in_order(void)
{
    struct world *world = world_open(3);
    struct machine *machine = world_start(world, 0);
    /* The first upload is answered last: it is sent again three times. */
    world_script(world,
                 (struct rule){PUT_TGB, .times = 1, ANSWER(STORE_UNKNOWN), .application = DROP});
    world_script(world, (struct rule){PUT_TGB, .skip = 3, .times = 2, ANSWER(STORE_THROTTLED),
                                      .application = DROP});
    bool waited = false;
    while (machine->visible == 0) {
        CU_ASSERT_TRUE_FATAL(manual_loop_step(&world->loop));
        const struct batch_queue *queue = &inside(machine)->queue;
        waited |= queue->count >= 2 && queue->ready == 0 && batch_queue_at(queue, 1)->uploaded;
    }
    CU_ASSERT_TRUE(waited);
    world_until_visible(machine, 10); /* in order: world.c checks */
    CU_ASSERT_EQUAL(machine->lost, 0);
    world_close(world);
}

static void no_more_uploads_at_once_than_allowed(void)
{
    struct world *world = world_open(4);
    struct producer_options options = world_options(world, 0);
    options.uploads_max = 2;
    options.batch_ns = NS_PER_MS;
    struct machine *machine = world_start_with(world, &options, false);
    uint32_t busy_max = 0;
    while (machine->visible < 20) {
        CU_ASSERT_TRUE_FATAL(manual_loop_step(&world->loop));
        if (inside(machine)->uploads_busy > busy_max)
            busy_max = inside(machine)->uploads_busy;
    }
    CU_ASSERT_EQUAL(busy_max, 2);
    world_close(world);
}

static void ends_once_its_batches_are_visible(void)
{
    for (uint64_t batches = 1; batches < 12; batches++) {
        struct world *world = world_open(batches);
        struct producer_options options = world_options(world, 0);
        options.batches_max = batches;
        struct machine *machine = world_start_with(world, &options, false);
        world_until_ended(machine);
        CU_ASSERT_EQUAL(machine->end, PRODUCER_STOPPED);
        CU_ASSERT_EQUAL(machine->visible, batches);
        CU_ASSERT_EQUAL(scripted_store_requests(world->store, PUT_TGB), batches);
        world_close(world);
    }
}

static const uint64_t three_sizes[] = {100, 7, 5000};

/* A life that commits the first `count` of them, but for those that earlier lives did. */
static struct machine *live_until(struct world *world, uint64_t count)
{
    struct producer_options options = world_options(world, 0);
    options.sizes = three_sizes;
    options.size_count = count;
    options.sizes_first = 1;
    struct machine *machine = world_start_with(world, &options, false);
    world_until_ended(machine);
    CU_ASSERT_EQUAL(machine->end, PRODUCER_STOPPED);
    return machine;
}

static void commit_sizes(uint64_t earlier)
{
    struct world *world = world_open(11);
    if (earlier > 0)
        live_until(world, earlier);
    struct machine *machine = live_until(world, 3);
    CU_ASSERT_EQUAL(machine->visible, 3 - earlier);
    CU_ASSERT_EQUAL(inside(machine)->commit.committed_offset, 5107);
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, PUT_TGB), 3);
    world_close(world);
}

static void sizes_go_on_where_the_stream_ended(void)
{
    for (uint64_t earlier = 0; earlier <= 3; earlier++)
        commit_sizes(earlier);
}

static void production_stops_at_the_pending_limit(void)
{
    struct world *world = world_open(5);
    struct producer_options options = world_options(world, 0);
    options.policy_values[0] = 80000;
    options.gap_max_ns = 80000 * NS_PER_S;
    options.uploads_max = PRODUCER_UPLOADS_MAX;
    options.batch_ns = NS_PER_US;
    struct machine *machine = world_start_with(world, &options, false);
    world_until_ns(world, 79000 * NS_PER_S);
    CU_ASSERT_EQUAL(inside(machine)->queue.count, PRODUCER_PENDING_MAX);
    CU_ASSERT_EQUAL(inside(machine)->queue.ready, PRODUCER_PENDING_MAX);
    world_until_attempts(machine, 2);
    CU_ASSERT_EQUAL(machine->detail.batches, PRODUCER_PENDING_MAX);
    CU_ASSERT_TRUE(inside(machine)->making);
    world_close(world);
}

/* One batch is made and uploaded; its key is checked. */
static void name_is_fixed_before_the_first_put(void)
{
    struct world *world = world_open(6);
    struct producer_options options = world_options(world, 7);
    options.batches_max = 1;
    world_until_ns(world, 0);
    world->loop.now_ns = 100 * NS_PER_S;
    struct machine *machine = world_start_with(world, &options, false);
    world_script(world,
                 (struct rule){PUT_TGB, .times = 3, ANSWER(STORE_UNKNOWN), .application = DROP});
    world_until_ended(machine);
    struct tgb_name name = {.bucket = 12, /* 100.1 s in units of 8 s */
                            .sequence = 1,
                            .end_offset = BATCH_BYTES,
                            .incarnation = machine->incarnation,
                            .producer = 7,
                            .epoch = 1};
    char key[STORE_KEY_MAX];
    name_tgb(key, &name);
    CU_ASSERT_TRUE(scripted_store_has(world->store, key));
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, PUT_TGB), 4);
    world_close(world);
}

static void clock_that_jumps_back_does_not_move_the_bucket_back(void)
{
    struct world *world = world_open(7);
    world->loop.now_ns = 1000 * NS_PER_S;
    struct machine *first = world_start(world, 0);
    world_until_visible(first, 2);
    world_crash(first);
    world->loop.now_ns = 0; /* the next host's clock is behind */
    struct machine *second = world_start(world, 0);
    world_until_visible(second, 2);
    struct manifest *newest =
        scripted_store_version(world->store, scripted_store_newest(world->store));
    const struct producer_state *state = manifest_state_find(newest, 0);
    CU_ASSERT(state->last_commit_ns >= 1000 * NS_PER_S);
    struct tgb_name name = {.bucket = 125,
                            .sequence = second->visible_sequence,
                            .end_offset = second->visible_sequence * BATCH_BYTES,
                            .incarnation = second->incarnation,
                            .producer = 0,
                            .epoch = 2};
    char key[STORE_KEY_MAX];
    name_tgb(key, &name);
    CU_ASSERT_TRUE(scripted_store_has(world->store, key));
    manifest_release(newest);
    world_close(world);
}

static void gap_is_clamped_then_jittered(void)
{
    struct producer_options options = {.policy_kind = policy_kind_find("fixed"),
                                       .policy_values = {5},
                                       .gap_min_ns = 2 * NS_PER_S,
                                       .gap_max_ns = 3 * NS_PER_S,
                                       .gap_jitter = 0.5,
                                       .first_gap_ns = 4 * NS_PER_S,
                                       .batch_ns = 1,
                                       .uploads_max = 1};
    int64_t low_ns = TIME_NEVER;
    int64_t high_ns = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        options.random = random_stream_make(seed, 1);
        struct producer *producer = producer_open(&options);
        struct producer_effects effects;
        producer_step(producer, 10, (struct producer_event){.kind = PRODUCER_START}, &effects);
        CU_ASSERT_EQUAL(effects.count, 1);
        CU_ASSERT_EQUAL(effects.items[0].kind, EFFECT_COMMIT_TIMER);
        int64_t first_ns = effects.items[0].at_ns - 10;
        low_ns = first_ns < low_ns ? first_ns : low_ns;
        high_ns = first_ns > high_ns ? first_ns : high_ns;
        producer_close(producer);
    }
    CU_ASSERT(low_ns >= 0 && low_ns < NS_PER_S / 10);
    CU_ASSERT(high_ns < 4 * NS_PER_S && high_ns > 39 * NS_PER_S / 10);
    struct world *world = world_open(8);
    struct producer_options slow = world_options(world, 0);
    slow.policy_values[0] = 5;
    slow.gap_max_ns = 3 * NS_PER_S;
    slow.gap_jitter = 0.5;
    struct machine *machine = world_start_with(world, &slow, false);
    for (uint64_t i = 2; i < 30; i++) {
        world_until_attempts(machine, i);
        int64_t gap_ns = machine->attempt.since_last_ns - machine->attempt.tau_ns;
        CU_ASSERT(gap_ns >= 1500 * NS_PER_MS && gap_ns <= 4500 * NS_PER_MS);
    }
    world_close(world);
}

static void policy_is_given_a_new_draw_each_time(void)
{
    struct world *world = world_open(9);
    struct producer_options options = world_options(world, 0);
    struct machine *machine = world_start_with(world, &options, false);
    double sum = 0;
    double last = -1;
    for (uint64_t i = 2; i < 202; i++) {
        world_until_attempts(machine, i);
        CU_ASSERT(machine->attempt.draw >= 0 && machine->attempt.draw < 1);
        CU_ASSERT(fabs(machine->attempt.draw - last) > 0);
        last = machine->attempt.draw;
        sum += last;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum / 200, 0.5, 0.1);
    world_close(world);
}

const struct harness_test producer_tests[] = {
    HARNESS_TEST(inline_pauses_production_for_exactly_the_attempt),
    HARNESS_TEST(background_goes_on_producing),
    HARNESS_TEST(stop_at_any_moment_ends_with_nothing_in_flight),
    HARNESS_TEST(uploads_out_of_order_commit_in_order),
    HARNESS_TEST(no_more_uploads_at_once_than_allowed),
    HARNESS_TEST(ends_once_its_batches_are_visible),
    HARNESS_TEST(sizes_go_on_where_the_stream_ended),
    HARNESS_TEST(production_stops_at_the_pending_limit),
    HARNESS_TEST(name_is_fixed_before_the_first_put),
    HARNESS_TEST(clock_that_jumps_back_does_not_move_the_bucket_back),
    HARNESS_TEST(gap_is_clamped_then_jittered),
    HARNESS_TEST(policy_is_given_a_new_draw_each_time),
    {0},
};
