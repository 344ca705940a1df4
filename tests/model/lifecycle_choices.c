/* lifecycle_choices.c - what can happen next. Ours. */
#include "tests/model/lifecycle_choices.h"

#include "tests/model/lifecycle_commute.h"
#include "tests/model/lifecycle_producer.h"
#include "tests/model/lifecycle_rank.h"
#include "tests/model/lifecycle_reclaimer.h"
#include "tests/model/lifecycle_retirer.h"

#define ACTOR_INDEX_BITS 4

struct list {
    struct choice *choices;
    uint32_t count;
};

struct choice choice_make(enum lifecycle_choice kind, struct actor actor)
{
    uint32_t index = (uint32_t)actor.kind << 8 | actor.index << ACTOR_INDEX_BITS | actor.slot;
    return (struct choice){.kind = kind, .index = index};
}

struct actor choice_actor(struct choice choice)
{
    return (struct actor){.kind = (enum actor_kind)(choice.index >> 8),
                          .index = choice.index >> ACTOR_INDEX_BITS & 15,
                          .slot = choice.index & 15};
}

struct store_op *actor_op(struct lifecycle *world, struct actor actor)
{
    switch (actor.kind) {
    case ACTOR_PRODUCER:
        return producer_actor_op(&world->producers[actor.index]);
    case ACTOR_RANK:
        return rank_actor_op(&world->ranks[actor.index], actor.slot);
    case ACTOR_RECLAIMER:
        return reclaimer_actor_op(&world->reclaimers[actor.index], actor.slot);
    case ACTOR_RETIRER:
        return retirer_actor_op(&world->retirer);
    }
    return NULL;
}

static void add(struct list *list, enum lifecycle_choice kind, struct actor actor)
{
    assert(list->count < WORLD_CHOICES_MAX);
    list->choices[list->count++] = choice_make(kind, actor);
}

bool consumer_can_start(const struct lifecycle *world, uint32_t consumer)
{
    if (world->rank_count == world->bounds->lives)
        return false;
    for (uint32_t i = 0; i < world->rank_count; i++)
        if (world->ranks[i].consumer == consumer && world->ranks[i].machine != NULL)
            return world->zombies < world->bounds->zombies;
    return true;
}

bool consumer_former_key(const struct lifecycle *world, uint32_t consumer, uint32_t *key)
{
    if (!world->bounds->forgets)
        return false;
    for (uint32_t i = 0; i < keys_count(); i++) {
        const struct key *found = keys_at(keys_in_order(i));
        *key = keys_in_order(i);
        if (found->kind == KEY_WATERMARK && found->watermark.consumer == consumer &&
            found->watermark.number < world->hosts[consumer].allowed &&
            lifecycle_store_has(&world->store, *key))
            return true;
    }
    return false;
}

/* ---- choices ---- */

static bool may_go_wrong(const struct lifecycle *world, const struct store_op *op)
{
    if (!store_op_writes(op))
        return false;
    uint32_t faults = world->bounds->faults;
    if (op->verb == STORE_DELETE)
        return faults & FAULTS_DELETIONS;
    switch (keys_at(keys_number(op->key))->kind) {
    case KEY_VERSION:
        return faults & FAULTS_VERSIONS;
    case KEY_FLOOR:
    case KEY_INTENT:
        return faults & FAULTS_MARKERS;
    case KEY_WATERMARK:
        return faults & FAULTS_WATERMARKS;
    case KEY_TGB:
        break;
    }
    return false;
}

static void operation_choices(const struct lifecycle *world, struct actor actor,
                              const struct store_op *op, struct list *list)
{
    add(list, LIFECYCLE_ANSWER, actor);
    if (world->unknowns == world->bounds->unknowns || !may_go_wrong(world, op))
        return;
    add(list, LIFECYCLE_APPLIED_UNKNOWN, actor);
    add(list, LIFECYCLE_LOST_UNKNOWN, actor);
    if (world->store.late_count < world->bounds->late)
        add(list, LIFECYCLE_LATE_UNKNOWN, actor);
}

/* Dying while a read is under way comes to the same as dying after it. */
static void death_choices(const struct lifecycle *world, struct actor actor,
                          const struct store_op *write, struct list *list)
{
    if (world->rank_count == world->bounds->lives)
        return;
    add(list, LIFECYCLE_DIE, actor);
    if (write != NULL && world->store.late_count < world->bounds->late)
        add(list, LIFECYCLE_DIE_LATE, actor);
}

static void rank_choices(struct lifecycle *world, uint32_t index, struct list *list)
{
    struct rank_actor *rank = &world->ranks[index];
    struct actor actor = {.kind = ACTOR_RANK, .index = index};
    const struct store_op *write = NULL;
    bool reads = false;
    if (rank->machine == NULL)
        return;
    for (actor.slot = 0; actor.slot < RANK_SLOTS; actor.slot++) {
        const struct store_op *op = rank_actor_op(rank, actor.slot);
        if (op == NULL)
            continue;
        operation_choices(world, actor, op, list);
        if (store_op_writes(op))
            write = op;
        else
            reads = true;
    }
    actor.slot = 0;
    if (rank->saving)
        add(list, LIFECYCLE_SAVED, actor);
    if (rank_actor_can_look(world, rank))
        add(list, LIFECYCLE_LOOK, actor);
    if (rank_actor_can_advance(rank) && world->advances < world->bounds->advances)
        add(list, LIFECYCLE_ADVANCE, actor);
    if (!reads)
        death_choices(world, actor, write, list);
}

static void start_choices(const struct lifecycle *world, struct list *list)
{
    for (uint32_t i = 0; i < world->bounds->consumers; i++) {
        struct actor actor = {.kind = ACTOR_RANK, .index = i};
        if (!consumer_can_start(world, i))
            continue;
        add(list, LIFECYCLE_START, actor);
        if (world->hosts[i].durable.count > 1 && world->rollbacks < world->bounds->rollbacks)
            add(list, LIFECYCLE_START_BACK, actor);
    }
}

static void forget_choices(const struct lifecycle *world, struct list *list)
{
    uint32_t key;
    for (uint32_t i = 0; i < world->bounds->consumers; i++)
        if (consumer_former_key(world, i, &key))
            add(list, LIFECYCLE_FORGET, (struct actor){.kind = ACTOR_RANK, .index = i});
}

static void reclaimer_choices(struct lifecycle *world, uint32_t index, struct list *list)
{
    struct actor actor = {.kind = ACTOR_RECLAIMER, .index = index};
    struct reclaimer_actor *reclaimer = &world->reclaimers[index];
    if (!reclaimer->in_round && world->rounds < world->bounds->rounds)
        add(list, LIFECYCLE_ROUND, actor);
    for (actor.slot = 0; actor.slot < RECLAIMER_SLOTS; actor.slot++) {
        const struct store_op *op = reclaimer_actor_op(reclaimer, actor.slot);
        if (op != NULL)
            operation_choices(world, actor, op, list);
    }
}

static void retirer_choices(struct lifecycle *world, struct list *list)
{
    struct actor actor = {.kind = ACTOR_RETIRER};
    const struct store_op *op = retirer_actor_op(&world->retirer);
    if (op != NULL)
        operation_choices(world, actor, op, list);
    else if (world->retirements < world->bounds->retirements)
        add(list, LIFECYCLE_RETIRE, actor);
}

/* A producer begins without looking at the store, and a TGB that lies there unused longer changes
 * nothing for anybody. */
bool lifecycle_forced(const void *looked_at, struct choice *choice)
{
    static const uint32_t slots[] = {1, RANK_SLOTS, RECLAIMER_SLOTS, 1};
    /* Operations are looked at through pointers that others write through. */
    struct lifecycle *world = (struct lifecycle *)(uintptr_t)looked_at;
    const uint32_t counts[] = {world->producer_count, world->rank_count, world->bounds->reclaimers,
                               1};
    struct actor actor = {.kind = ACTOR_PRODUCER};
    for (actor.index = 0; actor.index < world->producer_count; actor.index++)
        if (producer_actor_can_begin(world, &world->producers[actor.index])) {
            *choice = choice_make(LIFECYCLE_COMMIT, actor);
            return true;
        }
    for (uint32_t kind = 0; kind <= ACTOR_RETIRER; kind++) {
        actor.kind = (enum actor_kind)kind;
        for (actor.index = 0; actor.index < counts[kind]; actor.index++)
            for (actor.slot = 0; actor.slot < slots[kind]; actor.slot++) {
                const struct store_op *op = actor_op(world, actor);
                if (op != NULL && lifecycle_commutes(world, actor, op)) {
                    *choice = choice_make(LIFECYCLE_ANSWER, actor);
                    return true;
                }
            }
    }
    return false;
}

uint32_t lifecycle_choices(const void *looked_at, struct choice choices[WORLD_CHOICES_MAX])
{
    struct lifecycle *world = (struct lifecycle *)(uintptr_t)looked_at;
    struct list list = {.choices = choices};
    if (lifecycle_forced(world, &choices[0])) /* before the first step */
        return 1;
    for (uint32_t i = 0; i < world->producer_count; i++) {
        struct actor actor = {.kind = ACTOR_PRODUCER, .index = i};
        const struct store_op *op = producer_actor_op(&world->producers[i]);
        if (op != NULL)
            operation_choices(world, actor, op, &list);
    }
    for (uint32_t i = 0; i < world->rank_count; i++)
        rank_choices(world, i, &list);
    for (uint32_t i = 0; i < world->bounds->reclaimers; i++)
        reclaimer_choices(world, i, &list);
    for (uint32_t i = 0; i < world->store.late_count; i++)
        list.choices[list.count++] = (struct choice){.kind = LIFECYCLE_LAND, .index = i};
    retirer_choices(world, &list);
    start_choices(world, &list);
    forget_choices(world, &list);
    return list.count;
}
