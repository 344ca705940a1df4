/* reclaim_actors.c - makes the reclaimers of a run, and takes them apart. Ours. */
#include "sim/reclaim_actors.h"

#include "sim/memory.h"

/* Keeps their streams apart from those that others make from the same seed. */
#define RECLAIM_DOMAIN UINT64_C(0x5245434c41494d)

struct reclaim_actor {
    struct reclaim_actors *owner;
    uint32_t number;
    struct connection connection;
    struct reclaim_observer observer;
    struct reclaim_driver *driver;
};

struct reclaim_actors {
    const struct reclaim_actors_options *options;
    struct reclaim_world world;
    struct reclaim_actor actors[]; /* options.count */
};

const char *reclaim_actors_check(const struct reclaim_actors_options *options)
{
    if (options->count > RECLAIM_ACTORS_MAX)
        return "there are more than 64 reclaimers";
    if (options->count == 0)
        return NULL;
    if (options->first_ns < 0 || options->period_ns <= 0)
        return "the time between rounds of reclamation is not positive";
    if (!(options->jitter >= 0.0 && options->jitter <= 1.0))
        return "the jitter of that time is not in 0..1";
    if (options->reclaim.deletes_max < 1 || options->reclaim.deletes_max > RECLAIM_DELETES_MAX)
        return "the deletions in flight are not in 1..64";
    if (options->reclaim.full_every < 1)
        return "of no rounds of reclamation one lists all TGBs";
    return NULL;
}

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    const struct reclaim_actor *actor = context;
    const struct reclaim_actors_observer *observer = actor->owner->world.observer;
    if (observer != NULL)
        observer->request(observer->context, actor->number, verb, outcome, bytes);
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    const struct reclaim_actor *actor = context;
    const struct reclaim_actors_observer *observer = actor->owner->world.observer;
    (void)error;
    if (observer != NULL)
        observer->round(observer->context, actor->number, report);
}

/* Nobody stops them. */
static void on_ended(void *context)
{
    (void)context;
    assert(false);
}

static void actor_open(struct reclaim_actors *reclaimers, uint32_t number)
{
    const struct reclaim_actors_options *options = reclaimers->options;
    const struct reclaim_world *world = &reclaimers->world;
    struct reclaim_actor *actor = &reclaimers->actors[number];
    struct reclaim_options reclaim = options->reclaim;
    reclaim.random = random_stream_make(world->connection.seed ^ RECLAIM_DOMAIN, number);
    actor->owner = reclaimers;
    actor->number = number;
    connection_open(&actor->connection, &world->connection, world->first_actor + number);
    actor->observer = (struct reclaim_observer){
        .context = actor, .request = on_request, .round = on_round, .ended = on_ended};
    struct reclaim_driver_options driver = {
        .store = connection_store(&actor->connection),
        .loop = world->connection.loop,
        .observer = &actor->observer,
        .reclaim = &reclaim,
        .first_ns = options->first_ns,
        .period_ns = options->period_ns,
        .jitter = options->jitter,
    };
    actor->driver = reclaim_driver_open(&driver);
    reclaim_driver_start(actor->driver);
}

struct reclaim_actors *reclaim_actors_open(const struct reclaim_actors_options *options,
                                           const struct reclaim_world *world)
{
    assert(reclaim_actors_check(options) == NULL);
    struct reclaim_actors *reclaimers =
        memory_make(1, sizeof(*reclaimers) + options->count * sizeof(reclaimers->actors[0]));
    reclaimers->options = options;
    reclaimers->world = *world;
    for (uint32_t number = 0; number < options->count; number++)
        actor_open(reclaimers, number);
    return reclaimers;
}

void reclaim_actors_close(struct reclaim_actors *reclaimers)
{
    for (uint32_t number = 0; number < reclaimers->options->count; number++) {
        struct reclaim_actor *actor = &reclaimers->actors[number];
        connection_close(&actor->connection);
        reclaim_driver_close(actor->driver);
    }
    free(reclaimers);
}
