/* rank_actors.c - makes the ranks of a run, and takes them apart. Ours. */
#include "sim/rank_actors.h"

#include "sim/memory.h"

/* Keeps their streams apart from those that others make from the same seed. */
#define IDENTITY_DOMAIN UINT64_C(0x4944454e54495459)
#define CONSUMER_DOMAIN UINT64_C(0x434f4e53554d4552)
#define TRAINER_DOMAIN UINT64_C(0x545241494e4552)

struct rank_actor {
    struct rank_actors *owner;
    uint32_t rank;
    struct timer start;
    uint32_t life;
    struct connection connection;
    struct trainer *trainer; /* NULL: dead */
    struct trainer_disk disk;
    uint64_t step; /* where it stood when it died */
};

struct rank_actors {
    const struct rank_actors_options *options;
    struct rank_world world;
    struct rank_actor actors[]; /* options.count */
};

const char *rank_actors_check(const struct rank_actors_options *options)
{
    const struct consumer_options *consumer = &options->consumer;
    if (options->count > RANK_ACTORS_MAX)
        return "there are more than 65536 ranks";
    if (options->count == 0)
        return NULL;
    if (options->start_ns < 0 || options->step_ns < 0 || options->save_ns < 0)
        return "a time of the ranks is negative";
    if (consumer->fetches_max < 1 || consumer->fetches_max > CONSUMER_FETCHES_MAX)
        return "the slices in flight are not in 1..64";
    if (consumer->checkpoints_kept < 1 || consumer->checkpoints_kept > CHECKPOINTS_MAX)
        return "the checkpoints kept are not in 1..16";
    if (consumer->poll_min_ns <= 0 || consumer->poll_max_ns < consumer->poll_min_ns)
        return "the times between looks at the chain are not in order";
    return NULL;
}

/* ---- what ranks report: passed on ---- */

static void on_running(void *context, uint64_t step)
{
    (void)context;
    (void)step;
}

static void on_saved(void *context, const struct checkpoint_set *set)
{
    (void)context;
    (void)set;
}

static void on_refused(void *context)
{
    (void)context;
}

static void on_given(void *context, const struct consumer_delivery *delivery)
{
    const struct rank_actor *actor = context;
    const struct rank_observer *observer = actor->owner->world.observer;
    if (observer != NULL)
        observer->given(observer->context, actor->rank, delivery);
}

static void on_checkpointed(void *context, uint64_t step)
{
    const struct rank_actor *actor = context;
    const struct rank_observer *observer = actor->owner->world.observer;
    if (observer != NULL)
        observer->checkpointed(observer->context, actor->rank, step);
}

static void on_request(void *context, const struct consumer_answer *answer)
{
    const struct rank_actor *actor = context;
    const struct rank_observer *observer = actor->owner->world.observer;
    if (observer != NULL)
        observer->request(observer->context, actor->rank, answer);
}

static void on_ended(void *context, enum consumer_end end, const char *text)
{
    const struct rank_actor *actor = context;
    const struct rank_observer *observer = actor->owner->world.observer;
    if (observer != NULL)
        observer->ended(observer->context, actor->rank, end, text);
}

/* ---- making ---- */

static void start_due(struct timer *timer, void *context)
{
    (void)timer;
    trainer_start(((struct rank_actor *)context)->trainer);
}

/* Opens the next life of a rank. */
static void actor_open(struct rank_actor *actor, enum rank_return from)
{
    const struct rank_actors_options *options = actor->owner->options;
    const struct rank_world *world = &actor->owner->world;
    uint64_t seed = world->connection.seed;
    uint64_t stream = actor->rank + (uint64_t)actor->life * RANK_ACTORS_MAX;
    uint32_t number = world->first_actor + actor->rank + actor->life * world->actors;
    struct random_stream identity = random_stream_make(seed ^ IDENTITY_DOMAIN, stream);
    connection_open(&actor->connection, &world->connection, number);
    struct trainer_options trainer = {
        .store = connection_store(&actor->connection),
        .loop = world->connection.loop,
        .world = world->connection.loop,
        .checkers = world->checkers,
        .disk = &actor->disk,
        .observer = {.context = actor,
                     .running = on_running,
                     .given = on_given,
                     .saved = on_saved,
                     .refused = on_refused,
                     .checkpointed = on_checkpointed,
                     .request = on_request,
                     .ended = on_ended},
        .consumer = options->consumer,
        .random = random_stream_make(seed ^ TRAINER_DOMAIN, stream),
        .step_ns = options->step_ns,
        .step_jitter = options->step_jitter,
        .checkpoint_steps = options->checkpoint_steps,
        .save_ns = options->save_ns,
    };
    trainer.consumer.membership.consumer = actor->rank;
    trainer.consumer.membership.identity = random_incarnation(&identity);
    trainer.consumer.random = random_stream_make(seed ^ CONSUMER_DOMAIN, stream);
    trainer.consumer.checkpoints = actor->disk.set;
    if (from == RANK_GOES_BACK && actor->disk.set.count > 0)
        trainer.consumer.membership.rollback_step = actor->disk.set.items[0].step;
    if (trainer.consumer.slices > 0)
        trainer.consumer.slice = actor->rank % trainer.consumer.slices;
    actor->trainer = trainer_open(&trainer);
}

struct rank_actors *rank_actors_open(const struct rank_actors_options *options,
                                     const struct rank_world *world)
{
    assert(rank_actors_check(options) == NULL);
    struct rank_actors *ranks =
        memory_make(1, sizeof(*ranks) + options->count * sizeof(ranks->actors[0]));
    ranks->options = options;
    ranks->world = *world;
    for (uint32_t rank = 0; rank < options->count; rank++) {
        struct rank_actor *actor = &ranks->actors[rank];
        actor->owner = ranks;
        actor->rank = rank;
        actor->step = 1;
        actor_open(actor, RANK_GOES_ON);
        timer_init(&actor->start, start_due, actor);
        loop_timer_set(world->connection.loop, &actor->start, options->start_ns);
    }
    return ranks;
}

void rank_actors_close(struct rank_actors *ranks)
{
    for (uint32_t rank = 0; rank < ranks->options->count; rank++) {
        struct rank_actor *actor = &ranks->actors[rank];
        loop_timer_cancel(ranks->world.connection.loop, &actor->start);
        if (actor->trainer == NULL)
            continue;
        connection_close(&actor->connection);
        trainer_close(actor->trainer);
    }
    free(ranks);
}

/* ---- deaths ---- */

/* A consumer that is starting has no place yet. */
static uint64_t step_of(const struct rank_actor *actor)
{
    uint64_t step = actor->trainer != NULL ? trainer_consumer(actor->trainer)->cursor : 0;
    return step > 0 ? step : actor->step;
}

void rank_actors_kill(struct rank_actors *ranks, uint32_t rank)
{
    assert(rank < ranks->options->count);
    struct rank_actor *actor = &ranks->actors[rank];
    if (actor->trainer == NULL)
        return;
    actor->step = step_of(actor);
    loop_timer_cancel(ranks->world.connection.loop, &actor->start);
    connection_close(&actor->connection);
    trainer_crash(actor->trainer);
    trainer_close(actor->trainer);
    actor->trainer = NULL;
    actor->life++;
}

void rank_actors_restart(struct rank_actors *ranks, uint32_t rank, enum rank_return from)
{
    assert(rank < ranks->options->count);
    struct rank_actor *actor = &ranks->actors[rank];
    assert(actor->trainer == NULL);
    if (actor->disk.set.count == 0)
        rank_holds_abandoned(&ranks->world.checkers->holds, rank);
    actor_open(actor, from);
    trainer_start(actor->trainer);
}

const struct consumer *rank_actors_consumer(const struct rank_actors *ranks, uint32_t rank)
{
    assert(rank < ranks->options->count);
    const struct trainer *trainer = ranks->actors[rank].trainer;
    return trainer != NULL ? trainer_consumer(trainer) : NULL;
}

uint64_t rank_actors_slowest(const struct rank_actors *ranks)
{
    uint64_t slowest = UINT64_MAX;
    for (uint32_t rank = 0; rank < ranks->options->count; rank++) {
        uint64_t step = step_of(&ranks->actors[rank]);
        if (step < slowest)
            slowest = step;
    }
    return slowest;
}
