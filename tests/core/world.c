/* world.c - machines, what they report, and versions behind their backs. Ours. */
#include "tests/core/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec_store.h"
#include "tests/harness.h"

#define STEPS_MAX 2000000
#define LATENCY_NS (10 * NS_PER_MS)

static void check_decided(struct machine *machine)
{
    struct history *history = &machine->world->history;
    uint64_t living = history_versions_of(history, &machine->incarnation);
    if (living != machine->won)
        history_problem(history,
                        "producer %" PRIu32 " (port %" PRIu32 ") won %" PRIu64
                        " attempts, lost %" PRIu64 ", and has %" PRIu64 " living versions",
                        machine->producer, machine->port, machine->won, machine->lost, living);
}

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct machine *machine = context;
    assert(producer == machine->producer);
    machine->attempt = *attempt;
    machine->detail = *detail;
    machine->counters.busy += detail->counters.busy;
    machine->counters.unknown += detail->counters.unknown;
    machine->counters.throttled += detail->counters.throttled;
    machine->counters.resent += detail->counters.resent;
    machine->counters.retried += detail->counters.retried;
    machine->counters.vanished += detail->counters.vanished;
    machine->counters.invalid += detail->counters.invalid;
    machine->won += attempt->outcome == ATTEMPT_WON;
    machine->lost += attempt->outcome == ATTEMPT_LOST;
    check_decided(machine);
    if (attempt->tau_ns < 0 || attempt->window_ns < 0 || attempt->window_ns > attempt->tau_ns)
        history_problem(&machine->world->history, "window %" PRId64 " and tau %" PRId64,
                        attempt->window_ns, attempt->tau_ns);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct machine *machine = context;
    struct history *history = &machine->world->history;
    const struct committed_batch *committed = history_batch(history, producer, batch->sequence);
    if (committed == NULL || committed->end_offset != batch->end_offset ||
        memcmp(&committed->incarnation, &machine->incarnation, INCARNATION_BYTES) != 0)
        history_problem(history, "producer %" PRIu32 ": batch %" PRIu64 " is not in the chain",
                        producer, batch->sequence);
    if (machine->visible > 0 && batch->sequence != machine->visible_sequence + 1)
        history_problem(history, "producer %" PRIu32 ": batch %" PRIu64 " visible after %" PRIu64,
                        producer, batch->sequence, machine->visible_sequence);
    if (visible_ns < batch->made_ns)
        history_problem(history,
                        "producer %" PRIu32 ": batch %" PRIu64 " visible before it is made",
                        producer, batch->sequence);
    machine->visible++;
    machine->visible_sequence = batch->sequence;
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    (void)producer;
    struct machine *machine = context;
    assert(!machine->ended);
    machine->ended = true;
    machine->end = end;
    snprintf(machine->end_text, sizeof(machine->end_text), "%s", text);
}

struct world *world_open(uint64_t seed)
{
    struct world *world = calloc(1, sizeof(*world));
    assert(world != NULL);
    manual_loop_init(&world->loop);
    world->store = scripted_store_open(&world->loop, LATENCY_NS);
    world->random = random_stream_make(seed, 1);
    history_init(&world->history, world->store);
    return world;
}

void world_close(struct world *world)
{
    if (world->history.problem[0])
        printf("\n  %s\n", world->history.problem);
    CU_ASSERT_STRING_EQUAL(world->history.problem, "");
    for (uint32_t i = 0; i < world->machine_count; i++)
        if (world->machines[i].driver != NULL)
            world_crash(&world->machines[i]);
    scripted_store_close(world->store);
    history_deinit(&world->history);
    free(world);
}

struct producer_options world_options(struct world *world, uint32_t producer)
{
    return (struct producer_options){
        .commit = {.producer = producer,
                   .entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
                   .active_versions = 64,
                   .retry_ns = 5 * NS_PER_MS,
                   .retry_max_ns = 50 * NS_PER_MS},
        .random = random_stream_make(random_next(&world->random), producer),
        .mode = PRODUCER_BACKGROUND,
        .policy_kind = policy_kind_find("fixed"),
        .policy_values = {0.020},
        .gap_max_ns = NS_PER_S,
        .batch_bytes = BATCH_BYTES,
        .batch_ns = 10 * NS_PER_MS,
        .uploads_max = 4,
    };
}

struct machine *world_start_with(struct world *world, const struct producer_options *options,
                                 bool codec)
{
    assert(world->machine_count < MACHINES_MAX);
    struct machine *machine = &world->machines[world->machine_count++];
    struct producer_options own = *options;
    struct incarnation none = {{0}};
    if (memcmp(&own.commit.incarnation, &none, sizeof(none)) == 0)
        own.commit.incarnation = random_incarnation(&world->random);
    struct store *port = scripted_store_port(world->store);
    *machine = (struct machine){.world = world,
                                .producer = own.commit.producer,
                                .port = world->machine_count,
                                .incarnation = own.commit.incarnation};
    machine->observer = (struct producer_observer){.context = machine,
                                                   .attempt = on_attempt,
                                                   .visible = on_visible,
                                                   .request = on_request,
                                                   .ended = on_ended};
    if (codec) {
        struct codec_store_options payload = {.payload = true};
        machine->codec = codec_store_open(port, &payload);
    }
    struct driver_options driver = {.store = machine->codec != NULL ? machine->codec : port,
                                    .loop = &world->loop.loop,
                                    .observer = &machine->observer,
                                    .producer = &own};
    machine->driver = driver_open(&driver);
    driver_start(machine->driver);
    return machine;
}

struct machine *world_start(struct world *world, uint32_t producer)
{
    struct producer_options options = world_options(world, producer);
    return world_start_with(world, &options, false);
}

void world_crash(struct machine *machine)
{
    scripted_store_cut(machine->world->store, machine->port);
    if (machine->codec != NULL)
        store_close(machine->codec);
    driver_close(machine->driver);
    machine->driver = NULL;
    machine->codec = NULL;
}

static bool step(struct world *world, uint32_t *steps)
{
    bool more = ++*steps < STEPS_MAX && manual_loop_step(&world->loop);
    if (!more)
        CU_FAIL_FATAL("what is waited for does not come");
    return more;
}

void world_until_attempts(struct machine *machine, uint64_t decided)
{
    uint32_t steps = 0;
    while (machine->won + machine->lost < decided)
        step(machine->world, &steps);
}

void world_until_visible(struct machine *machine, uint64_t batches)
{
    uint32_t steps = 0;
    while (machine->visible < batches)
        step(machine->world, &steps);
}

void world_until_ended(struct machine *machine)
{
    uint32_t steps = 0;
    while (!machine->ended)
        step(machine->world, &steps);
}

struct machine *world_start_fenced(struct world *world, uint64_t batches_max)
{
    struct producer_options options = world_options(world, 0);
    options.batches_max = batches_max;
    struct machine *machine = world_start_with(world, &options, false);
    world_until_attempts(machine, 1);
    CU_ASSERT_EQUAL(machine->won, 1);
    return machine;
}

void world_check_counts(const struct machine *machine, uint64_t won, uint64_t lost)
{
    CU_ASSERT_EQUAL(machine->won, won);
    CU_ASSERT_EQUAL(machine->lost, lost);
}

void world_until_ns(struct world *world, int64_t ns)
{
    loop_run(&world->loop.loop, ns);
}

void world_script(struct world *world, struct rule rule)
{
    if (rule.before != NULL && rule.context == NULL)
        rule.context = world;
    scripted_store_script(world->store, &rule);
}

static struct manifest *newest_or_genesis(struct world *world)
{
    uint64_t version = scripted_store_newest(world->store);
    if (version > 0)
        return scripted_store_version(world->store, version);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    scripted_store_create_version(world->store, genesis);
    return genesis;
}

void world_commit_state(struct world *world, const struct producer_state *state)
{
    struct manifest *base = newest_or_genesis(world);
    struct manifest_change change = {
        .author = {.producer = state->producer,
                   .epoch = state->epoch,
                   .incarnation = state->incarnation},
        .state = *state,
    };
    change.state.last_commit_version = base->version + 1;
    struct manifest *next = manifest_append(base, &change);
    bool created = scripted_store_create_version(world->store, next);
    assert(created);
    manifest_release(next);
    manifest_release(base);
}

static void fence(struct world *world, uint32_t producer)
{
    struct manifest *base = newest_or_genesis(world);
    const struct producer_state *old = manifest_state_find(base, producer);
    struct producer_state state = {.producer = producer};
    if (old != NULL)
        state = *old;
    state.epoch++;
    if (producer == FOREIGNER)
        state.incarnation = (struct incarnation){{FOREIGNER}};
    else
        state.incarnation = random_incarnation(&world->random);
    world_commit_state(world, &state);
    manifest_release(base);
}

/* Every fencing is a version by itself: no batch is needed to be foreign. */
void world_foreign_commit(struct scripted_store *store, void *context)
{
    (void)store;
    fence(context, FOREIGNER);
}

void world_take_over(struct scripted_store *store, void *context)
{
    (void)store;
    fence(context, 0);
}

void world_floor_to_newest(struct scripted_store *store, void *context)
{
    (void)context;
    struct manifest *newest = scripted_store_version(store, scripted_store_newest(store));
    struct floor floor = {.version = newest->version, .step = newest->first_step};
    manifest_release(newest);
    scripted_store_raise_floor(store, floor);
    scripted_store_delete_below_floor(store);
}

void world_chain_moves_on(struct scripted_store *store, void *context)
{
    for (int i = 0; i < 3; i++)
        world_foreign_commit(store, context);
    world_floor_to_newest(store, context);
}
