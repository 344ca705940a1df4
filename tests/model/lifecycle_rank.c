/* lifecycle_rank.c - a consumer's process. Ours. */
#include "tests/model/lifecycle_rank.h"

#include <stdlib.h>
#include <string.h>

#include "tests/model/lifecycle_hash.h"
#include "tests/model/lifecycle_spec.h"

static size_t machine_bytes(void)
{
    return sizeof(struct consumer) + sizeof(struct fetch);
}

static void end(struct rank_actor *rank)
{
    consumer_close(rank->machine);
    rank->machine = NULL;
}

static void running(struct lifecycle *world, struct rank_actor *rank)
{
    struct host *host = &world->hosts[rank->consumer];
    uint64_t number = rank->machine->membership.number;
    if (number > host->allowed) {
        host->allowed = number;
        host->refused = false;
    }
    spec_allowed(world, rank);
}

static void ended(struct lifecycle *world, struct rank_actor *rank)
{
    const struct consumer *machine = rank->machine;
    spec_ended(world, rank);
    const struct membership *membership = &machine->membership;
    struct host *host = &world->hosts[rank->consumer];
    if (machine->end == CONSUMER_REFUSED && membership->found.count > 0 &&
        membership->number > host->allowed)
        host->refused = true;
    end(rank);
}

/* Polling waits until it is chosen; other timers only pace what is sent again. */
static void perform(struct lifecycle *world, struct rank_actor *rank,
                    const struct consumer_effects *effects);

static void happen(struct lifecycle *world, struct rank_actor *rank, enum consumer_event_kind kind)
{
    struct consumer_effects effects;
    /* Late enough for any poll that is due: when one happens is a choice. */
    int64_t now_ns = kind == CONSUMER_CHAIN_TIMER ? rank->machine->poll_at_ns : 0;
    consumer_step(rank->machine, now_ns, (struct consumer_event){.kind = kind}, &effects);
    perform(world, rank, &effects);
}

static void perform(struct lifecycle *world, struct rank_actor *rank,
                    const struct consumer_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        switch (effects->items[i].kind) {
        case CONSUMER_EFFECT_SUBMIT_CONTROL:
            rank->busy[RANK_SLOT_CONTROL] = true;
            break;
        case CONSUMER_EFFECT_SUBMIT_CHAIN:
            rank->busy[RANK_SLOT_CHAIN] = true;
            break;
        case CONSUMER_EFFECT_SUBMIT_FETCH:
            rank->busy[RANK_SLOT_FETCH] = true;
            break;
        case CONSUMER_EFFECT_CONTROL_TIMER:
            happen(world, rank, CONSUMER_CONTROL_TIMER);
            break;
        case CONSUMER_EFFECT_FETCH_TIMER:
            happen(world, rank, CONSUMER_FETCH_TIMER);
            break;
        case CONSUMER_EFFECT_CHAIN_TIMER:
        case CONSUMER_EFFECT_CHECKPOINTED:
            break;
        case CONSUMER_EFFECT_SAVE:
            rank->saving = true;
            break;
        case CONSUMER_EFFECT_RUNNING:
            running(world, rank);
            break;
        case CONSUMER_EFFECT_READY:
            spec_delivered(world, rank);
            break;
        case CONSUMER_EFFECT_ENDED:
            ended(world, rank);
            break;
        }
    }
}

/* ---- what happens to it ---- */

void rank_actor_start(struct lifecycle *world, uint32_t consumer, enum rank_start where)
{
    assert(world->rank_count < LIFECYCLE_RANKS_MAX);
    struct rank_actor *rank = &world->ranks[world->rank_count];
    const struct host *host = &world->hosts[consumer];
    struct consumer_options options = {
        .membership = {.consumer = consumer, .retry_ns = 1, .retry_max_ns = 1},
        .checkpoints = host->durable,
        .random = random_stream_make(2, consumer),
        .prefetch_bytes = 1,
        .fetches_max = 1,
        .lookahead = 1,
        .poll_min_ns = 1000,
        .poll_max_ns = 1000,
        .poll_smoothing = CONSUMER_POLL_SMOOTHING,
        .poll_early = CONSUMER_POLL_EARLY,
        .poll_jitter = CONSUMER_POLL_JITTER,
        .retry_ns = 1,
        .retry_max_ns = 1,
        .checkpoints_kept = world->bounds->kept,
    };
    *rank = (struct rank_actor){.consumer = consumer, .alone = true};
    if (world->retirer.machine != NULL && world->retirer.consumer == consumer)
        rank->alone = false;
    for (uint32_t i = 0; i < world->rank_count; i++) {
        struct rank_actor *other = &world->ranks[i];
        if (other->machine == NULL || other->consumer != consumer)
            continue;
        other->alone = false;
        rank->alone = false;
    }
    world->rank_count++;
    options.membership.identity.bytes[0] = (uint8_t)world->rank_count; /* says whose it is */
    if (host->durable.count == 0)
        options.membership.start_step = world->bounds->agreed;
    rank->back = where == RANK_START_OLDEST;
    if (rank->back)
        options.membership.rollback_step = host->durable.items[0].step;
    rank->machine = consumer_open(&options);
    happen(world, rank, CONSUMER_START);
}

struct store_op *rank_actor_op(struct rank_actor *rank, uint32_t slot)
{
    if (rank->machine == NULL || !rank->busy[slot])
        return NULL;
    switch ((enum rank_slot)slot) {
    case RANK_SLOT_CONTROL:
        return &rank->machine->membership.op;
    case RANK_SLOT_CHAIN:
        return &rank->machine->chain.op;
    case RANK_SLOT_FETCH:
        return &rank->machine->fetches[0].op;
    case RANK_SLOTS:
        break;
    }
    return NULL;
}

void rank_actor_answer(struct lifecycle *world, struct rank_actor *rank, uint32_t slot)
{
    static const enum consumer_event_kind events[RANK_SLOTS] = {
        CONSUMER_CONTROL_ANSWER, CONSUMER_CHAIN_ANSWER, CONSUMER_FETCH_ANSWER};
    assert(slot < RANK_SLOTS && rank->busy[slot]);
    rank->busy[slot] = false;
    happen(world, rank, events[slot]);
}

void rank_actor_saved(struct lifecycle *world, struct rank_actor *rank)
{
    const struct membership *membership = &rank->machine->membership;
    struct host *host = &world->hosts[rank->consumer];
    rank->saving = false;
    if (membership->number < host->writer) {
        spec_event(world, EVENT_SAVE_REFUSED);
        happen(world, rank, CONSUMER_STOP);
        return;
    }
    host->durable = membership->checkpoints;
    host->writer = membership->number;
    happen(world, rank, CONSUMER_SAVED);
}

bool rank_actor_can_advance(const struct rank_actor *rank)
{
    return rank->machine != NULL && rank->machine->phase == CONSUMER_RUNNING &&
           rank->machine->offered;
}

void rank_actor_keep(struct lifecycle *world, struct rank_actor *rank)
{
    happen(world, rank, CONSUMER_CHECKPOINT);
}

void rank_actor_advance(struct lifecycle *world, struct rank_actor *rank)
{
    happen(world, rank, CONSUMER_TAKE);
    rank_actor_keep(world, rank);
}

bool rank_actor_can_look(const struct lifecycle *world, const struct rank_actor *rank)
{
    return rank->machine != NULL && rank->machine->poll_armed &&
           (rank->machine->chain.known == NULL ||
            rank->machine->chain.known->version < world->newest->version);
}

void rank_actor_look(struct lifecycle *world, struct rank_actor *rank)
{
    happen(world, rank, CONSUMER_CHAIN_TIMER);
}

void rank_actor_die(struct lifecycle *world, struct rank_actor *rank)
{
    spec_event(world, EVENT_DIED);
    end(rank);
}

/* ---- copying, hashing ---- */

void rank_actor_copy(struct rank_actor *to, const struct rank_actor *from)
{
    *to = *from;
    if (from->machine == NULL)
        return;
    const struct membership *membership = &from->machine->membership;
    struct consumer *copy = malloc(machine_bytes());
    assert(copy != NULL);
    memcpy(copy, from->machine, machine_bytes());
    copy->membership.op.page = (struct list_page){0};
    copy->chain.op.page = (struct list_page){0};
    copy->fetches[0].op.page = (struct list_page){0};
    if (membership->op.body.data == membership->options.identity.bytes)
        copy->membership.op.body.data = copy->membership.options.identity.bytes;
    if (copy->chain.known != NULL)
        manifest_retain(copy->chain.known);
    if (copy->chain.found != NULL)
        manifest_retain(copy->chain.found);
    to->machine = copy;
}

void rank_actor_close(struct rank_actor *rank)
{
    if (rank->machine != NULL)
        end(rank);
}

/* Pace and counters are left out: when a poll happens is a choice here. */
uint64_t rank_actor_hash(const struct rank_actor *rank)
{
    const struct consumer *m = rank->machine;
    if (m == NULL)
        return hash_mix(1, rank->alone); /* which its number's value goes on to say */
    uint64_t hash = hash_mix(rank->consumer, m->membership.options.identity.bytes[0]);
    hash = hash_mix(hash, (uint64_t)m->phase * 4096 + (uint64_t)m->control_state * 512 +
                              (uint64_t)m->control * 64 + (uint64_t)m->chain_state * 8 +
                              (uint64_t)m->doubt * 2 + m->doubt_reread);
    hash = hash_mix(hash, m->cursor * 65536 + m->next_fetch * 256 + m->saved_step);
    hash = hash_mix(hash, m->offered * 64u + m->poll_armed * 32u + rank->saving * 16u +
                              rank->alone * 8u + m->fetches[0].state);
    hash = hash_checkpoints(hash_mix(hash, m->borne_out_step), &m->waiting);
    hash = hash_chain_reader(hash_membership(hash, &m->membership), &m->chain);
    if (rank->busy[RANK_SLOT_CONTROL])
        hash = hash_request(hash_mix(hash, 1), &m->membership.op);
    if (rank->busy[RANK_SLOT_CHAIN])
        hash = hash_request(hash_mix(hash, 2), &m->chain.op);
    if (rank->busy[RANK_SLOT_FETCH])
        hash = hash_request(hash_mix(hash, 3), &m->fetches[0].op);
    return hash;
}
