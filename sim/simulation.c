/* simulation.c - puts a run together, runs it, and takes it apart. Ours. */
#include "sim/simulation.h"

#include <stdio.h>

#include "core/codec_store.h"
#include "sim/memory.h"

/* Keeps a producer's streams apart from the store's, which come from the same seed. */
#define INCARNATION_DOMAIN UINT64_C(0x494e4341524e)
#define PRODUCER_DOMAIN UINT64_C(0x50524f4455434552)

struct actor {
    struct store *client;
    struct store *codec; /* NULL: the driver uses the client itself */
    struct driver *driver;
};

struct simulation {
    const struct simulation_options *options;
    struct simulation_result *result;
    struct virtual_loop loop;
    struct virtual_store *store;
    struct checkers checkers;
    struct producer_observer observer;
    struct actor *actors;
};

const char *simulation_options_check(const struct simulation_options *options)
{
    if (options->producers < 1 || options->producers > SIMULATION_PRODUCERS_MAX)
        return "the number of producers is not in 1..65536";
    if (options->duration_ns < 0)
        return "the duration is negative";
    return virtual_store_options_check(&options->store);
}

/* ---- what the producers report: checked, counted, passed on ---- */

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    const struct producer_observer *outer = ((struct simulation *)context)->options->observer;
    if (outer != NULL)
        outer->attempt(outer->context, producer, attempt, detail);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct simulation *simulation = context;
    const struct producer_observer *outer = simulation->options->observer;
    checkers_visible(&simulation->checkers, simulation->loop.now_ns, producer, batch);
    if (outer != NULL)
        outer->visible(outer->context, producer, batch, visible_ns);
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    const struct producer_observer *outer = ((struct simulation *)context)->options->observer;
    if (outer != NULL)
        outer->request(outer->context, producer, verb, outcome, bytes);
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct simulation *simulation = context;
    struct simulation_result *result = simulation->result;
    const struct producer_observer *outer = simulation->options->observer;
    if (result->ended++ == 0)
        snprintf(result->first_end, sizeof(result->first_end), "%s", text);
    if (outer != NULL)
        outer->ended(outer->context, producer, end, text);
}

/* ---- making ---- */

static void make_store(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    bool slow_queue = (options->reference & REFERENCE_QUEUE) != 0;
    virtual_loop_init(&simulation->loop, slow_queue ? EVENT_QUEUE_REFERENCE : EVENT_QUEUE_HEAP);
    checkers_init(&simulation->checkers);
    struct virtual_store_options store = options->store;
    bool slow_links = (options->reference & REFERENCE_LINKS) != 0;
    store.loop = &simulation->loop;
    store.seed = options->seed;
    store.link_kind = slow_links ? LINK_REFERENCE : LINK_VIRTUAL_TIME;
    store.observer = checkers_observer(&simulation->checkers);
    simulation->store = virtual_store_open(&store);
    checkers_watch(&simulation->checkers, simulation->store);
}

static void make_actor(struct simulation *simulation, uint32_t number)
{
    const struct simulation_options *options = simulation->options;
    struct actor *actor = &simulation->actors[number];
    actor->client = virtual_store_client(simulation->store, number);
    if ((options->reference & REFERENCE_BYTES) != 0) {
        struct codec_store_options codec = {.payload = false};
        actor->codec = codec_store_open(actor->client, &codec);
    }
    struct producer_options producer = options->producer;
    struct random_stream incarnation =
        random_stream_make(options->seed ^ INCARNATION_DOMAIN, number);
    producer.commit.producer = number;
    producer.commit.incarnation = random_incarnation(&incarnation);
    producer.random = random_stream_make(options->seed ^ PRODUCER_DOMAIN, number);
    struct driver_options driver = {
        .store = actor->codec != NULL ? actor->codec : actor->client,
        .loop = &simulation->loop.loop,
        .observer = &simulation->observer,
        .producer = &producer,
    };
    actor->driver = driver_open(&driver);
}

static void take_result(struct simulation *simulation)
{
    struct simulation_result *result = simulation->result;
    result->handled = simulation->loop.handled;
    result->digest = simulation->loop.digest;
    result->violations = simulation->checkers.violations;
    result->versions = simulation->checkers.chain.version;
    result->manifest_bytes = simulation->checkers.manifest_bytes;
    result->steps = simulation->checkers.steps.next_step - 1;
    result->objects = virtual_store_objects(simulation->store);
    result->store = virtual_store_counters(simulation->store);
}

/* Clients first: they drop what is in flight, so that everything above them may go. */
static void take_apart(struct simulation *simulation)
{
    for (uint32_t i = 0; i < simulation->options->producers; i++) {
        struct actor *actor = &simulation->actors[i];
        store_close(actor->client);
        if (actor->codec != NULL)
            store_close(actor->codec);
        driver_close(actor->driver);
    }
    virtual_store_close(simulation->store);
    checkers_deinit(&simulation->checkers);
    virtual_loop_deinit(&simulation->loop);
    free(simulation->actors);
}

void simulation_run(const struct simulation_options *options, struct simulation_result *result)
{
    assert(simulation_options_check(options) == NULL);
    *result = (struct simulation_result){0};
    struct simulation simulation = {
        .options = options,
        .result = result,
        .observer = {.attempt = on_attempt,
                     .visible = on_visible,
                     .request = on_request,
                     .ended = on_ended},
    };
    simulation.observer.context = &simulation;
    simulation.actors = memory_make(options->producers, sizeof(*simulation.actors));
    make_store(&simulation);
    for (uint32_t i = 0; i < options->producers; i++)
        make_actor(&simulation, i);
    if (options->at_start != NULL)
        options->at_start(options->context, &simulation.loop.loop);
    for (uint32_t i = 0; i < options->producers; i++)
        driver_start(simulation.actors[i].driver);
    loop_run(&simulation.loop.loop, options->duration_ns);
    for (uint32_t i = 0; i < options->producers && options->at_end != NULL; i++)
        options->at_end(options->context, driver_producer(simulation.actors[i].driver));
    take_result(&simulation);
    take_apart(&simulation);
}
