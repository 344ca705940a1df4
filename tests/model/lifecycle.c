/* lifecycle.c - the lifecycle world: made, copied, moved on by one choice, hashed, described. Ours.
 */
#include "tests/model/lifecycle.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/model/lifecycle_choices.h"
#include "tests/model/lifecycle_hash.h"
#include "tests/model/lifecycle_producer.h"
#include "tests/model/lifecycle_rank.h"
#include "tests/model/lifecycle_reclaimer.h"
#include "tests/model/lifecycle_retirer.h"
#include "tests/model/lifecycle_spec.h"

/* ---- one step ---- */

static void deliver(struct lifecycle *world, struct actor actor)
{
    switch (actor.kind) {
    case ACTOR_PRODUCER:
        producer_actor_answer(world, &world->producers[actor.index]);
        break;
    case ACTOR_RANK:
        rank_actor_answer(world, &world->ranks[actor.index], actor.slot);
        break;
    case ACTOR_RECLAIMER:
        reclaimer_actor_answer(world, &world->reclaimers[actor.index], actor.slot);
        break;
    case ACTOR_RETIRER:
        retirer_actor_answer(world, &world->retirer);
        break;
    }
}

static enum store_outcome apply(struct lifecycle *world, struct store_op *op)
{
    struct floor before = lifecycle_store_floor(&world->store);
    struct applied applied;
    enum store_outcome outcome = lifecycle_store_apply(&world->store, op, &applied);
    spec_applied(world, &applied, before);
    return outcome;
}

static void answer(struct lifecycle *world, struct actor actor)
{
    struct store_op *op = actor_op(world, actor);
    op->outcome = apply(world, op);
    deliver(world, actor);
}

static void lose_answer(struct lifecycle *world, enum lifecycle_choice how, struct actor actor)
{
    struct store_op *op = actor_op(world, actor);
    world->unknowns++;
    if (how == LIFECYCLE_APPLIED_UNKNOWN) {
        enum store_outcome outcome = apply(world, op);
        (void)outcome; /* nobody learns it */
    }
    if (how == LIFECYCLE_LATE_UNKNOWN)
        lifecycle_store_delay(&world->store, op);
    op->outcome = STORE_UNKNOWN;
    deliver(world, actor);
}

static void land(struct lifecycle *world, uint32_t index)
{
    struct floor before = lifecycle_store_floor(&world->store);
    struct applied applied;
    lifecycle_store_land(&world->store, index, &applied);
    spec_event(world, EVENT_LATE);
    spec_applied(world, &applied, before);
    manifest_release(applied.content.manifest);
}

static void start(struct lifecycle *world, uint32_t consumer, enum rank_start where)
{
    for (uint32_t i = 0; i < world->rank_count; i++)
        if (world->ranks[i].consumer == consumer && world->ranks[i].machine != NULL) {
            world->zombies++;
            break;
        }
    if (where == RANK_START_OLDEST)
        world->rollbacks++;
    rank_actor_start(world, consumer, where);
}

static void forget(struct lifecycle *world, uint32_t consumer)
{
    struct store_op op;
    uint32_t key = 0;
    bool found = consumer_former_key(world, consumer, &key);
    assert(found);
    store_op_init(&op);
    store_op_prepare(&op, STORE_DELETE);
    snprintf(op.key, sizeof(op.key), "%s", keys_at(key)->text);
    enum store_outcome outcome = apply(world, &op);
    assert(outcome == STORE_OK);
    spec_event(world, EVENT_FORGOTTEN);
}

static void step(struct lifecycle *world, struct choice choice)
{
    struct actor actor = choice_actor(choice);
    struct rank_actor *rank = &world->ranks[actor.index % LIFECYCLE_RANKS_MAX];
    enum lifecycle_choice kind = choice.kind;
    switch (kind) {
    case LIFECYCLE_ANSWER:
        answer(world, actor);
        break;
    case LIFECYCLE_APPLIED_UNKNOWN:
    case LIFECYCLE_LOST_UNKNOWN:
    case LIFECYCLE_LATE_UNKNOWN:
        lose_answer(world, kind, actor);
        break;
    case LIFECYCLE_LAND:
        land(world, choice.index);
        break;
    case LIFECYCLE_COMMIT:
        producer_actor_begin(world, &world->producers[actor.index]);
        break;
    case LIFECYCLE_ROUND:
        world->rounds++;
        reclaimer_actor_begin(world, &world->reclaimers[actor.index]);
        break;
    case LIFECYCLE_ADVANCE:
        world->advances++;
        rank_actor_advance(world, rank);
        break;
    case LIFECYCLE_LOOK:
        rank_actor_look(world, rank);
        break;
    case LIFECYCLE_SAVED:
        rank_actor_saved(world, rank);
        break;
    case LIFECYCLE_DIE:
        rank_actor_die(world, rank);
        break;
    case LIFECYCLE_DIE_LATE:
        lifecycle_store_delay(&world->store, rank_actor_op(rank, RANK_SLOT_CONTROL));
        rank_actor_die(world, rank);
        break;
    case LIFECYCLE_START:
        start(world, actor.index, RANK_START_NEWEST);
        break;
    case LIFECYCLE_START_BACK:
        start(world, actor.index, RANK_START_OLDEST);
        break;
    case LIFECYCLE_RETIRE:
        world->retirements++;
        retirer_actor_start(world, 0);
        break;
    case LIFECYCLE_FORGET:
        forget(world, actor.index);
        break;
    }
}

static void lifecycle_step(void *stepped, struct choice choice)
{
    struct lifecycle *world = stepped;
    world->events = 0;
    step(world, choice);
}

/* ---- making, copying ---- */

/* As long as this actor has something to do, it does it, undisturbed. */
static void run_alone(struct lifecycle *world, struct actor actor, uint32_t slots)
{
    for (actor.slot = 0; actor.slot < slots; actor.slot++) {
        if (actor_op(world, actor) == NULL)
            continue;
        answer(world, actor);
        actor.slot = UINT32_MAX; /* from the first on */
    }
}

/* The first version, and the steps before the search, by an incarnation that then is gone. */
static void commit_steps(struct lifecycle *world)
{
    struct actor actor = {.kind = ACTOR_PRODUCER};
    producer_actor_start(world, 0);
    for (uint32_t i = 0; i <= world->bounds->steps; i++) {
        producer_actor_begin(world, &world->producers[0]);
        run_alone(world, actor, 1);
    }
    world->producers[0].alive = false;
}

/* The first of each name has its epoch already. */
static void start_producers(struct lifecycle *world)
{
    const struct lifecycle_bounds *bounds = world->bounds;
    assert(bounds->incarnations >= bounds->producers);
    for (uint32_t i = 0; i < bounds->incarnations; i++) {
        struct actor actor = {.kind = ACTOR_PRODUCER, .index = world->producer_count};
        producer_actor_start(world, i % bounds->producers);
        if (i >= bounds->producers)
            continue;
        producer_actor_begin(world, &world->producers[actor.index]);
        run_alone(world, actor, 1);
    }
}

/* A consumer that has started, and kept a checkpoint at its first step. */
static void join(struct lifecycle *world, uint32_t consumer)
{
    struct actor actor = {.kind = ACTOR_RANK, .index = world->rank_count};
    rank_actor_start(world, consumer, RANK_START_NEWEST);
    run_alone(world, actor, RANK_SLOTS);
    rank_actor_keep(world, &world->ranks[actor.index]);
    rank_actor_saved(world, &world->ranks[actor.index]);
    run_alone(world, actor, RANK_SLOTS);
}

static void lifecycle_open(void *opened, const void *chosen)
{
    struct lifecycle *world = opened;
    const struct lifecycle_bounds *bounds = chosen;
    struct lifecycle_bounds generous = *bounds;
    *world = (struct lifecycle){.bounds = &generous};
    generous.batches = bounds->steps;
    commit_steps(world);
    for (uint32_t i = 0; i < bounds->joined; i++)
        join(world, i);
    for (uint32_t i = 0; i < bounds->reclaimers; i++)
        reclaimer_actor_open(world, i);
    start_producers(world);
    world->bounds = bounds;
    world->batches = 0;
    world->store.page_keys = bounds->page_keys;
    if (world->problem[0] != '\0')
        fprintf(stderr, "the world cannot be made: %s\n", world->problem);
    assert(world->problem[0] == '\0');
    assert(bounds->consumers <= LIFECYCLE_CONSUMERS_MAX && bounds->lives <= LIFECYCLE_RANKS_MAX);
    assert(bounds->reclaimers <= LIFECYCLE_RECLAIMERS_MAX && bounds->late <= LIFECYCLE_LATE_MAX);
    assert(bounds->steps + bounds->batches <= LIFECYCLE_STEPS_MAX);
}

static void lifecycle_close(void *closed)
{
    struct lifecycle *world = closed;
    for (uint32_t i = 0; i < world->producer_count; i++)
        producer_actor_close(&world->producers[i]);
    for (uint32_t i = 0; i < world->rank_count; i++)
        rank_actor_close(&world->ranks[i]);
    for (uint32_t i = 0; i < world->bounds->reclaimers; i++)
        reclaimer_actor_close(&world->reclaimers[i]);
    retirer_actor_close(&world->retirer);
    lifecycle_store_close(&world->store);
    manifest_release(world->newest);
}

static void lifecycle_copy(void *copy, const void *original)
{
    struct lifecycle *to = copy;
    const struct lifecycle *from = original;
    *to = *from;
    for (uint32_t i = 0; i < from->producer_count; i++)
        producer_actor_copy(&to->producers[i], &from->producers[i]);
    for (uint32_t i = 0; i < from->rank_count; i++)
        rank_actor_copy(&to->ranks[i], &from->ranks[i]);
    for (uint32_t i = 0; i < from->bounds->reclaimers; i++)
        reclaimer_actor_copy(&to->reclaimers[i], &from->reclaimers[i]);
    retirer_actor_copy(&to->retirer, &from->retirer);
    lifecycle_store_copy(&to->store, &from->store);
    manifest_retain(to->newest);
}

/* ---- hashing, describing ---- */

static uint64_t hash_host(uint64_t hash, const struct host *host)
{
    hash = hash_mix(hash, host->durable.count * 2u + host->refused);
    hash = hash_bytes(hash, host->durable.items, host->durable.count * sizeof(struct checkpoint));
    return hash_mix(hash, host->writer * 64 + host->allowed);
}

static uint64_t lifecycle_hash(const void *hashed)
{
    const struct lifecycle *world = hashed;
    uint64_t hash = lifecycle_store_hash(&world->store);
    hash = hash_manifest(hash, world->newest);
    hash = hash_bytes(hash, world->order, sizeof(world->order));
    hash = hash_mix(hash, world->batches * 4096u + world->zombies * 256u + world->advances * 16u +
                              world->rollbacks);
    hash = hash_mix(hash, world->rounds * 64u + world->unknowns * 4u + world->retirements);
    hash = hash_mix(hash, retirer_actor_hash(&world->retirer));
    for (uint32_t i = 0; i < world->producer_count; i++)
        hash = hash_mix(hash, producer_actor_hash(&world->producers[i]));
    for (uint32_t i = 0; i < world->rank_count; i++)
        hash = hash_mix(hash, rank_actor_hash(&world->ranks[i]));
    for (uint32_t i = 0; i < world->bounds->reclaimers; i++)
        hash = hash_mix(hash, reclaimer_actor_hash(world, &world->reclaimers[i]));
    for (uint32_t i = 0; i < world->bounds->consumers; i++)
        hash = hash_host(hash, &world->hosts[i]);
    return hash;
}

static void describe_actor(const struct lifecycle *world, struct actor actor, char text[64])
{
    switch (actor.kind) {
    case ACTOR_PRODUCER:
        snprintf(text, 64, "incarnation %" PRIu32 " of producer %" PRIu32, actor.index,
                 world->producers[actor.index].commit.options.producer);
        break;
    case ACTOR_RANK:
        snprintf(text, 64, "process %" PRIu32 " of consumer %" PRIu32, actor.index,
                 world->ranks[actor.index].consumer);
        break;
    case ACTOR_RECLAIMER:
        snprintf(text, 64, "reclaimer %" PRIu32, actor.index);
        break;
    case ACTOR_RETIRER:
        snprintf(text, 64, "somebody by hand");
        break;
    }
}

static void lifecycle_describe(const void *described, struct choice choice,
                               char text[WORLD_TEXT_MAX])
{
    static const char *const names[] = {"answer",
                                        "apply, answer UNKNOWN",
                                        "lose, answer UNKNOWN",
                                        "delay, answer UNKNOWN",
                                        "lands",
                                        "begins an attempt",
                                        "begins a round",
                                        "takes a step, keeps it",
                                        "looks",
                                        "its checkpoints are durable",
                                        "dies",
                                        "dies, its write is on its way",
                                        "starts",
                                        "starts at its oldest checkpoint",
                                        "retires consumer 0",
                                        "loses the first key of a former number"};
    struct lifecycle *world = (struct lifecycle *)(uintptr_t)described;
    struct actor actor = choice_actor(choice);
    char who[64];
    if (choice.kind == LIFECYCLE_LAND) {
        const struct late_write *late = &world->store.late[choice.index];
        snprintf(text, WORLD_TEXT_MAX, "late %s of %s lands", store_verb_name(late->verb),
                 keys_at(late->key)->text);
        return;
    }
    if (choice.kind == LIFECYCLE_START || choice.kind == LIFECYCLE_START_BACK ||
        choice.kind == LIFECYCLE_FORGET) {
        snprintf(text, WORLD_TEXT_MAX, "consumer %" PRIu32 " %s", actor.index, names[choice.kind]);
        return;
    }
    const struct store_op *op = actor_op(world, actor);
    describe_actor(world, actor, who);
    snprintf(text, WORLD_TEXT_MAX, "%s: %s%s%s%s%s%s", who, names[choice.kind],
             op != NULL ? " " : "", op != NULL ? store_verb_name(op->verb) : "",
             op != NULL ? " " : "", op != NULL ? op->key : "",
             op != NULL && op->verb == STORE_LIST && op->after[0] != '\0' ? " ..." : "");
}

static const char *lifecycle_problem(const void *world)
{
    return ((const struct lifecycle *)world)->problem;
}

static uint64_t lifecycle_events(const void *world)
{
    return ((const struct lifecycle *)world)->events;
}

const struct world_kind lifecycle_world = {
    .world_bytes = sizeof(struct lifecycle),
    .open = lifecycle_open,
    .close = lifecycle_close,
    .copy = lifecycle_copy,
    .forced = lifecycle_forced,
    .choices = lifecycle_choices,
    .step = lifecycle_step,
    .problem = lifecycle_problem,
    .hash = lifecycle_hash,
    .describe = lifecycle_describe,
    .events = lifecycle_events,
    .event_names = {"zombies",
                    "fenced",
                    "late landings",
                    "floors",
                    "floors of a lower step",
                    "versions deleted",
                    "TGBs deleted",
                    "orphans deleted",
                    "markers deleted",
                    "allowed",
                    "allowed by intent",
                    "allowed back",
                    "refused",
                    "superseded",
                    "retired",
                    "saves refused",
                    "below the floor",
                    "delivered",
                    "died",
                    "former keys deleted"},
};
