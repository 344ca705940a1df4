/* reclaim_checker.c - deletions and floors against holds and the committed order. Ours. */
#include "sim/reclaim_checker.h"

#include <inttypes.h>
#include <string.h>

#include "sim/memory.h"

void reclaim_checker_init(struct reclaim_checker *reclaim, const struct committed_order *order,
                          const struct chain_checker *chain, struct violations *violations)
{
    *reclaim = (struct reclaim_checker){.order = order,
                                        .chain = chain,
                                        .violations = violations,
                                        .lowest = UINT64_MAX,
                                        .lowest_rank = RECLAIM_NOBODY};
}

void reclaim_checker_deinit(struct reclaim_checker *reclaim)
{
    free(reclaim->holds);
    *reclaim = (struct reclaim_checker){0};
}

void reclaim_checker_hold(struct reclaim_checker *reclaim, uint32_t rank, uint64_t step)
{
    if (rank >= reclaim->rank_count) {
        uint32_t count = rank < 32 ? 64 : rank * 2;
        reclaim->holds = memory_resize(reclaim->holds, count, sizeof(*reclaim->holds));
        memset(reclaim->holds + reclaim->rank_count, 0,
               (count - reclaim->rank_count) * sizeof(*reclaim->holds));
        reclaim->rank_count = count;
    }
    reclaim->holds[rank] = step;
    if (step != 0 && step <= reclaim->lowest) {
        reclaim->lowest = step;
        reclaim->lowest_rank = rank;
    } else if (rank == reclaim->lowest_rank) {
        reclaim->lowest_rank = RECLAIM_NOBODY;
    }
}

static uint64_t lowest_hold(struct reclaim_checker *reclaim)
{
    if (reclaim->lowest_rank != RECLAIM_NOBODY)
        return reclaim->lowest;
    reclaim->lowest = UINT64_MAX;
    for (uint32_t rank = 0; rank < reclaim->rank_count; rank++) {
        uint64_t step = reclaim->holds[rank];
        if (step == 0 || step >= reclaim->lowest)
            continue;
        reclaim->lowest = step;
        reclaim->lowest_rank = rank;
    }
    return reclaim->lowest;
}

static void tgb_deleted(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                        const struct store_op *op)
{
    struct tgb_name name;
    uint64_t step;
    uint64_t hold = lowest_hold(reclaim);
    if (!name_parse_tgb(op->key, &name)) {
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: %s, which is no TGB, is deleted", op->key);
        return;
    }
    switch (committed_order_standing(reclaim->order, &name, &step)) {
    case TGB_UNDECIDED:
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: %s is deleted and may still be committed", op->key);
        return;
    case TGB_ORPHAN:
        reclaim->orphans++;
        return;
    case TGB_COMMITTED:
        break;
    }
    reclaim->tgbs++;
    if (step >= hold)
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: step %" PRIu64 " is deleted; rank %" PRIu32
                       " holds what is from step %" PRIu64 " on",
                       step, reclaim->lowest_rank, hold);
    if (step >= reclaim->chain->floor.step)
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: step %" PRIu64 " is deleted; the floor is at step %" PRIu64, step,
                       reclaim->chain->floor.step);
}

static bool is_above(const struct floor *one, const struct floor *other)
{
    return one->version != other->version ? one->version > other->version : one->step > other->step;
}

static void floor_applied(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                          const struct store_op *op, const struct floor *floor)
{
    uint64_t hold = lowest_hold(reclaim);
    if (op->verb == STORE_DELETE) {
        if (!is_above(&reclaim->floor, floor))
            violations_add(reclaim->violations, now_ns, actor,
                           "reclaim: %s, the highest floor, is deleted", op->key);
        return;
    }
    if (is_above(floor, &reclaim->floor))
        reclaim->floor = *floor;
    if (floor->step > hold)
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: a floor gives up what is below step %" PRIu64 "; rank %" PRIu32
                       " holds what is from step %" PRIu64 " on",
                       floor->step, reclaim->lowest_rank, hold);
}

static void intent_applied(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                           const struct store_op *op, uint64_t step)
{
    if (op->verb == STORE_DELETE && step >= reclaim->intent)
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: %s, the highest intent, is deleted", op->key);
    if (op->verb != STORE_DELETE && step > reclaim->intent)
        reclaim->intent = step;
}

static bool begins(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

void reclaim_checker_applied(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                             const struct store_op *op)
{
    struct floor floor;
    uint64_t step;
    if (op->verb == STORE_DELETE && begins(op->key, NAME_TGB_PREFIX))
        tgb_deleted(reclaim, now_ns, actor, op);
    else if (name_parse_floor(op->key, &floor))
        floor_applied(reclaim, now_ns, actor, op, &floor);
    else if (name_parse_intent(op->key, &step))
        intent_applied(reclaim, now_ns, actor, op, step);
}
