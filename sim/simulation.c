/* simulation.c - puts a run together, runs it, and takes it apart. Ours. */
#include "sim/simulation.h"

#include <stdio.h>

#include "sim/memory.h"

/* Keeps a producer's streams apart from the store's, which come from the same seed. */
#define INCARNATION_DOMAIN UINT64_C(0x494e4341524e)
#define PRODUCER_DOMAIN UINT64_C(0x50524f4455434552)

struct actor {
    uint32_t life;
    struct connection connection;
    struct driver *driver; /* NULL: dead */
};

struct simulation {
    const struct simulation_options *options;
    struct simulation_result *result;
    struct virtual_loop loop;
    struct virtual_store *store;
    struct fault_plan faults;    /* of an outage, or none */
    struct incidents *incidents; /* NULL: none */
    struct checkers checkers;
    struct producer_observer observer;
    struct actor *actors;
    struct rank_observer rank_observer;
    struct rank_actors *ranks;         /* NULL: none */
    struct reclaim_actors *reclaimers; /* NULL: none */
};

/* How many processes an incident of that kind can be about. */
static uint32_t processes_of(const struct simulation_options *options, enum incident_kind kind)
{
    uint32_t count = 1;
    switch (kind) {
    case INCIDENT_PRODUCER:
        count = options->producers;
        break;
    case INCIDENT_RANK:
    case INCIDENT_ROLLBACK:
        count = options->ranks.count;
        break;
    case INCIDENT_OUTAGE:
        break;
    case INCIDENT_KIND_COUNT:
        assert(false);
    }
    return count;
}

static bool about_ranks(const struct incident *incident)
{
    return incident->kind == INCIDENT_RANK || incident->kind == INCIDENT_ROLLBACK;
}

static bool overlap(const struct incident *a, const struct incident *b)
{
    bool alike = a->kind == b->kind || (about_ranks(a) && about_ranks(b));
    bool same_process = a->first < b->first + b->count && b->first < a->first + a->count;
    bool same_time = a->at_ns <= b->at_ns + b->for_ns && b->at_ns <= a->at_ns + a->for_ns;
    return alike && same_process && same_time;
}

static const char *check_incidents(const struct simulation_options *options)
{
    const struct outage *outage = &options->outage;
    if (options->incident_count > 0 &&
        !(outage->timeout_ns > 0 && outage->errors >= 0.0 && outage->errors <= 1.0))
        return "an outage's share of errors is not in 0..1, or its timeout is not positive";
    for (uint32_t i = 0; i < options->incident_count; i++) {
        const struct incident *incident = &options->incidents[i];
        uint32_t processes = processes_of(options, incident->kind);
        if (incident->at_ns < 0 || incident->for_ns <= 0)
            return "an incident begins before the run, or lasts no time";
        if (incident->first >= processes || incident->count < 1 ||
            incident->count > processes - incident->first)
            return "an incident is about a process that the run does not have";
        for (uint32_t other = 0; other < i; other++)
            if (overlap(incident, &options->incidents[other]))
                return "two incidents of one process overlap";
    }
    return NULL;
}

const char *simulation_options_check(const struct simulation_options *options)
{
    if (options->producers < 1 || options->producers > SIMULATION_PRODUCERS_MAX)
        return "the number of producers is not in 1..65536";
    if (options->duration_ns < 0)
        return "the duration is negative";
    if (options->sampled != NULL && options->sample_ns <= 0)
        return "the time between samples is not positive";
    const char *ranks = rank_actors_check(&options->ranks);
    if (ranks != NULL)
        return ranks;
    const char *reclaimers = reclaim_actors_check(&options->reclaimers);
    if (reclaimers != NULL)
        return reclaimers;
    const char *incidents = check_incidents(options);
    if (incidents != NULL)
        return incidents;
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

/* ---- what the ranks report ---- */

static const struct rank_observer *outer_of(void *context)
{
    return ((struct simulation *)context)->options->rank_observer;
}

static void on_given(void *context, uint32_t rank, const struct consumer_delivery *delivery)
{
    const struct rank_observer *outer = outer_of(context);
    if (outer != NULL)
        outer->given(outer->context, rank, delivery);
}

static void on_checkpointed(void *context, uint32_t rank, uint64_t step)
{
    const struct rank_observer *outer = outer_of(context);
    if (outer != NULL)
        outer->checkpointed(outer->context, rank, step);
}

static void on_rank_request(void *context, uint32_t rank, const struct consumer_answer *answer)
{
    const struct rank_observer *outer = outer_of(context);
    if (outer != NULL)
        outer->request(outer->context, rank, answer);
}

static void on_rank_ended(void *context, uint32_t rank, enum consumer_end end, const char *text)
{
    struct simulation_result *result = ((struct simulation *)context)->result;
    const struct rank_observer *outer = outer_of(context);
    if (result->ranks_ended++ == 0)
        snprintf(result->first_rank_end, sizeof(result->first_rank_end), "%s", text);
    if (outer != NULL)
        outer->ended(outer->context, rank, end, text);
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
    if (options->ranks.count > 0)
        checkers_follow_ranks(&simulation->checkers, options->ranks.consumer.slices);
}

static struct connection_world connection_world_of(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    return (struct connection_world){
        .store = simulation->store,
        .loop = &simulation->loop.loop,
        .seed = options->seed,
        .bytes = (options->reference & REFERENCE_BYTES) != 0,
        .faults = options->incident_count > 0 ? &simulation->faults : NULL,
    };
}

/* Of one life of all processes. */
static uint32_t actor_count(const struct simulation_options *options)
{
    return options->producers + options->ranks.count + options->reclaimers.count;
}

static void make_ranks(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    if (options->ranks.count == 0)
        return;
    struct rank_world world = {.connection = connection_world_of(simulation),
                               .checkers = &simulation->checkers,
                               .first_actor = options->producers,
                               .actors = actor_count(options),
                               .observer = &simulation->rank_observer};
    simulation->ranks = rank_actors_open(&options->ranks, &world);
}

static void make_reclaimers(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    if (options->reclaimers.count == 0)
        return;
    struct reclaim_world world = {.connection = connection_world_of(simulation),
                                  .first_actor = options->producers + options->ranks.count,
                                  .observer = options->reclaim_observer};
    simulation->reclaimers = reclaim_actors_open(&options->reclaimers, &world);
}

/* The next life of a producer. */
static void make_actor(struct simulation *simulation, uint32_t number)
{
    const struct simulation_options *options = simulation->options;
    struct connection_world world = connection_world_of(simulation);
    struct actor *actor = &simulation->actors[number];
    uint64_t stream = number + (uint64_t)actor->life * SIMULATION_PRODUCERS_MAX;
    connection_open(&actor->connection, &world, number + actor->life * actor_count(options));
    struct producer_options producer = options->producer;
    struct random_stream incarnation =
        random_stream_make(options->seed ^ INCARNATION_DOMAIN, stream);
    producer.commit.producer = number;
    producer.commit.incarnation = random_incarnation(&incarnation);
    producer.random = random_stream_make(options->seed ^ PRODUCER_DOMAIN, stream);
    struct driver_options driver = {
        .store = connection_store(&actor->connection),
        .loop = &simulation->loop.loop,
        .observer = &simulation->observer,
        .producer = &producer,
    };
    actor->driver = driver_open(&driver);
}

/* ---- incidents ---- */

static void kill_producer(struct simulation *simulation, uint32_t number)
{
    struct actor *actor = &simulation->actors[number];
    connection_close(&actor->connection);
    driver_close(actor->driver);
    actor->driver = NULL;
    actor->life++;
}

static void incident_begins(void *context, const struct incident *incident)
{
    struct simulation *simulation = context;
    for (uint32_t i = incident->first; i < incident->first + incident->count; i++)
        switch (incident->kind) {
        case INCIDENT_PRODUCER:
            kill_producer(simulation, i);
            break;
        case INCIDENT_RANK:
        case INCIDENT_ROLLBACK:
            rank_actors_kill(simulation->ranks, i);
            break;
        case INCIDENT_OUTAGE:
            incidents_plan_outage(&simulation->faults, &simulation->options->outage);
            break;
        case INCIDENT_KIND_COUNT:
            assert(false);
        }
}

static void incident_is_over(void *context, const struct incident *incident)
{
    struct simulation *simulation = context;
    for (uint32_t i = incident->first; i < incident->first + incident->count; i++)
        switch (incident->kind) {
        case INCIDENT_PRODUCER:
            make_actor(simulation, i);
            driver_start(simulation->actors[i].driver);
            break;
        case INCIDENT_RANK:
            rank_actors_restart(simulation->ranks, i, RANK_GOES_ON);
            break;
        case INCIDENT_ROLLBACK:
            rank_actors_restart(simulation->ranks, i, RANK_GOES_BACK);
            break;
        case INCIDENT_OUTAGE:
            incidents_plan_none(&simulation->faults, &simulation->options->outage);
            break;
        case INCIDENT_KIND_COUNT:
            assert(false);
        }
}

static void make_incidents(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    if (options->incident_count == 0)
        return;
    struct incidents_options incidents = {.incidents = options->incidents,
                                          .count = options->incident_count,
                                          .loop = &simulation->loop.loop,
                                          .begin = incident_begins,
                                          .over = incident_is_over,
                                          .context = simulation};
    simulation->incidents = incidents_open(&incidents);
}

/* ---- the end ---- */

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
    if (simulation->ranks == NULL)
        return;
    result->given = simulation->checkers.reader.given;
    result->slowest = rank_actors_slowest(simulation->ranks);
}

/* Clients first: they drop what is in flight, so that everything above them may go. */
static void take_apart(struct simulation *simulation)
{
    if (simulation->incidents != NULL)
        incidents_close(simulation->incidents);
    for (uint32_t i = 0; i < simulation->options->producers; i++) {
        struct actor *actor = &simulation->actors[i];
        if (actor->driver == NULL)
            continue;
        connection_close(&actor->connection);
        driver_close(actor->driver);
    }
    if (simulation->ranks != NULL)
        rank_actors_close(simulation->ranks);
    if (simulation->reclaimers != NULL)
        reclaim_actors_close(simulation->reclaimers);
    virtual_store_close(simulation->store);
    checkers_deinit(&simulation->checkers);
    virtual_loop_deinit(&simulation->loop);
    free(simulation->actors);
}

/* ---- running ---- */

static void take_sample(struct simulation *simulation)
{
    const struct checkers *checkers = &simulation->checkers;
    struct simulation_sample sample = {
        .now_ns = simulation->loop.now_ns,
        .tgbs = virtual_store_stock(simulation->store, NAME_TGB_PREFIX),
        .manifests = virtual_store_stock(simulation->store, NAME_MANIFEST_PREFIX),
        .floor = checkers->chain.floor,
        .committed = checkers->steps.next_step - 1,
        .live = checkers->steps.next_step - checkers->steps.first_step,
        .slowest = simulation->ranks != NULL ? rank_actors_slowest(simulation->ranks) : 0,
    };
    simulation->options->sampled(simulation->options->context, &sample);
}

static void run_loop(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    for (int64_t at_ns = options->sample_ns;
         options->sampled != NULL && at_ns < options->duration_ns; at_ns += options->sample_ns) {
        loop_run(&simulation->loop.loop, at_ns);
        take_sample(simulation);
    }
    loop_run(&simulation->loop.loop, options->duration_ns);
    if (options->sampled != NULL)
        take_sample(simulation);
}

static void show_ends(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    for (uint32_t i = 0; i < options->producers && options->at_end != NULL; i++)
        if (simulation->actors[i].driver != NULL)
            options->at_end(options->context, driver_producer(simulation->actors[i].driver));
    for (uint32_t i = 0; i < options->ranks.count && options->at_end_of_rank != NULL; i++) {
        const struct consumer *consumer = rank_actors_consumer(simulation->ranks, i);
        if (consumer != NULL)
            options->at_end_of_rank(options->context, consumer);
    }
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
        .rank_observer = {.given = on_given,
                          .checkpointed = on_checkpointed,
                          .request = on_rank_request,
                          .ended = on_rank_ended},
    };
    incidents_plan_none(&simulation.faults, &options->outage);
    simulation.observer.context = &simulation;
    simulation.rank_observer.context = &simulation;
    simulation.actors = memory_make(options->producers, sizeof(*simulation.actors));
    make_store(&simulation);
    for (uint32_t i = 0; i < options->producers; i++)
        make_actor(&simulation, i);
    make_ranks(&simulation);
    make_reclaimers(&simulation);
    make_incidents(&simulation);
    if (options->at_start != NULL)
        options->at_start(options->context, &simulation.loop.loop);
    for (uint32_t i = 0; i < options->producers; i++)
        driver_start(simulation.actors[i].driver);
    run_loop(&simulation);
    show_ends(&simulation);
    take_result(&simulation);
    take_apart(&simulation);
}
