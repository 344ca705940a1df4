/* swarm_end.c - what must hold when all is over: everybody came through, nothing is lost, nothing
 * is left. Ours. */
#include <inttypes.h>

#include "sim/swarm_private.h"

#define NOBODY UINT32_MAX

static void check_life(struct swarm *swarm, uint32_t number)
{
    struct swarm_life *life = &swarm->lives[number];
    struct violations *violations = &swarm->checkers.violations;
    const struct reported_life *reported = &swarm->report.lives[number];
    int64_t now_ns = swarm->loop.now_ns;
    if (life->driver == NULL)
        return;
    if (!life->ended) {
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " goes on and on after the faults are over: won "
                       "%" PRIu64 ", lost %" PRIu64 ", %" PRIu64 " batches visible",
                       life->producer, reported->won, reported->lost, reported->visible);
        return;
    }
    if (life->end == PRODUCER_STORE_FAILED)
        return; /* as if it had died; that it was refused is known */
    if (life->end != PRODUCER_STOPPED && life->end != PRODUCER_FENCED)
        violations_add(violations, now_ns, number, "end: producer %" PRIu32 " ended %s: %s",
                       life->producer, producer_end_name(life->end), life->end_text);
    if (!report_checker_holds(&swarm->report, number))
        return;
    uint64_t sequence = swarm->report.streams[life->producer].count;
    uint32_t left = driver_producer(life->driver)->queue.count;
    if (life->end == PRODUCER_FENCED)
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " was fenced and holds the epoch", life->producer);
    else if (left > 0 || (reported->visible > 0 && reported->visible_sequence != sequence))
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " saw batch %" PRIu64 " visible and has %" PRIu32
                       " more; the chain has %" PRIu64,
                       life->producer, reported->visible_sequence, left, sequence);
}

/* Somebody must have come through for each producer. */
static void check_holders(struct swarm *swarm)
{
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++) {
        bool found = false;
        for (uint32_t i = 0; i < swarm->life_count; i++)
            found |= swarm->lives[i].producer == producer && swarm->lives[i].driver != NULL &&
                     swarm->lives[i].end == PRODUCER_STOPPED &&
                     report_checker_holds(&swarm->report, i);
        if (!found)
            violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                           "end: nobody holds the epoch of producer %" PRIu32 " and is well",
                           producer);
    }
}

/* What is living is there: all versions from the floor on. */
static void check_store(struct swarm *swarm)
{
    uint64_t first = swarm->checkers.chain.floor.version;
    for (uint64_t version = first > 0 ? first : 1; version <= swarm->checkers.chain.version;
         version++) {
        char key[STORE_KEY_MAX];
        name_version(key, version);
        if (virtual_store_peek(swarm->store, key) == NULL)
            violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                           "floor: %s is living and gone", key);
    }
}

static void check_ranks(struct swarm *swarm)
{
    for (uint32_t rank = 0; rank < swarm->config->ranks; rank++)
        if (!swarm->ranks[rank].done || swarm_rank_runs(swarm, rank))
            violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                           "end: rank %" PRIu32 " is not given all %" PRIu64
                           " steps after the faults are over; %" PRIu32 " lives of ranks so far",
                           rank, swarm->checkers.order.count, swarm->rank_life_count);
}

static void check_left(struct swarm *swarm, const char *prefix, const char *what, uint64_t most)
{
    uint64_t left = virtual_store_stock(swarm->store, prefix).objects;
    if (left > most)
        violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                       "end: %" PRIu64 " %s are stored after a last round, which keeps %" PRIu64,
                       left, what, most);
}

/* No version is left below the floor, and no floor or intent below the highest. */
static void check_swept(struct swarm *swarm)
{
    const struct chain_checker *chain = &swarm->checkers.chain;
    if (swarm->final_demon == SWARM_DEMONS_MAX ||
        swarm->demons[swarm->final_demon].swept < SWARM_FINAL_ROUNDS)
        return;
    uint64_t living = chain->version + 1 - chain->floor.version;
    check_left(swarm, NAME_MANIFEST_PREFIX, "versions and floors", living + 1);
    check_left(swarm, NAME_INTENT_PREFIX, "intents", 1);
}

/* Nothing is left below the floor, and no orphan: what is stored is what is live. */
static void check_reclaimed(struct swarm *swarm)
{
    const struct checkers *checkers = &swarm->checkers;
    if (swarm->final_demon == SWARM_DEMONS_MAX || swarm->demons[swarm->final_demon].clean == 0)
        return; /* a rank whose last number came to nothing is waited for, or there was none */
    struct object_stock tgbs = virtual_store_stock(swarm->store, NAME_TGB_PREFIX);
    uint64_t live = checkers->order.count + 1 - checkers->chain.floor.step;
    swarm->result->plane.turns[TURN_ALL_RECLAIMED]++;
    if (tgbs.objects != live)
        violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                       "end: %" PRIu64 " TGBs are stored after a last round; %" PRIu64 " are live",
                       tgbs.objects, live);
}

void swarm_check_end(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++)
        check_life(swarm, i);
    if (swarm->checkers.violations.count > 0)
        return;
    check_holders(swarm);
    check_store(swarm);
    check_ranks(swarm);
    check_swept(swarm);
    check_reclaimed(swarm);
}
