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
    free(reclaim->heard);
    free(reclaim->seen);
    free(reclaim->authors);
    *reclaim = (struct reclaim_checker){0};
}

/* The array with room for an item at `index`; new ones are zeroed, and *count is theirs, too. */
static void *make_room(void *items, size_t item_bytes, uint32_t *count, uint32_t index)
{
    if (index < *count)
        return items;
    uint32_t wanted = index < 32 ? 64 : index * 2;
    uint8_t *grown = memory_resize(items, wanted, item_bytes);
    memset(grown + *count * item_bytes, 0, (wanted - *count) * item_bytes);
    *count = wanted;
    return grown;
}

static void room_for_rank(struct reclaim_checker *reclaim, uint32_t rank)
{
    uint32_t count = reclaim->rank_count;
    reclaim->heard = make_room(reclaim->heard, sizeof(*reclaim->heard), &count, rank);
    reclaim->holds = make_room(reclaim->holds, sizeof(*reclaim->holds), &reclaim->rank_count, rank);
}

void reclaim_checker_hold(struct reclaim_checker *reclaim, uint32_t rank, uint64_t step)
{
    room_for_rank(reclaim, rank);
    reclaim->holds[rank] = step;
    if (step != 0 && step <= reclaim->lowest) {
        reclaim->lowest = step;
        reclaim->lowest_rank = rank;
    } else if (rank == reclaim->lowest_rank) {
        reclaim->lowest_rank = RECLAIM_NOBODY;
    }
}

void reclaim_checker_heard(struct reclaim_checker *reclaim, uint32_t rank)
{
    room_for_rank(reclaim, rank);
    reclaim->heard[rank] = true;
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

static bool is_steeper(const struct floor *one, const struct floor *other)
{
    return one->step != other->step ? one->step > other->step : one->version > other->version;
}

/* `what` gives up the steps below `step`, and all are to be heard before. */
static void check_heard(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                        const char *what, uint64_t step)
{
    for (uint32_t rank = 0; rank < reclaim->declared; rank++)
        if (rank >= reclaim->rank_count || !reclaim->heard[rank])
            violations_add(reclaim->violations, now_ns, actor,
                           "reclaim: %s gives up what is below step %" PRIu64 "; rank %" PRIu32
                           " has never said what it needs",
                           what, step, rank);
}

/* Of two that write at once the later may be lower in step: who reads both goes by the higher. */
static void note_floor(struct reclaim_checker *reclaim, const struct floor *floor)
{
    if (is_steeper(floor, &reclaim->steepest))
        reclaim->steepest = *floor;
    if (!is_above(floor, &reclaim->floor))
        return;
    reclaim->floor = *floor;
    for (uint32_t i = 0; i < reclaim->author_count; i++)
        if (reclaim->authors[i].floor_step > floor->step)
            reclaim->authors[i].floor_step = floor->step;
}

static void floor_applied(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                          const struct store_op *op, const struct floor *floor)
{
    uint64_t hold = lowest_hold(reclaim);
    if (op->verb == STORE_DELETE) {
        if (!is_above(&reclaim->floor, floor))
            violations_add(reclaim->violations, now_ns, actor,
                           "reclaim: %s, the highest floor, is deleted", op->key);
        else if (!is_steeper(&reclaim->steepest, floor))
            violations_add(reclaim->violations, now_ns, actor,
                           "reclaim: %s, the floor of the highest step, is deleted", op->key);
        return;
    }
    if (floor->step > reclaim->steepest.step && floor->step > 1)
        check_heard(reclaim, now_ns, actor, "a floor", floor->step);
    note_floor(reclaim, floor);
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
    if (op->verb == STORE_DELETE)
        return;
    check_heard(reclaim, now_ns, actor, "an intent", step);
    if (step > reclaim->intent)
        reclaim->intent = step;
}

void reclaim_checker_shown(struct reclaim_checker *reclaim, uint32_t actor,
                           const struct list_page *page)
{
    reclaim->seen = make_room(reclaim->seen, sizeof(*reclaim->seen), &reclaim->actor_count, actor);
    struct floor *seen = &reclaim->seen[actor];
    struct floor floor;
    for (size_t i = 0; i < page->count; i++) {
        if (!name_parse_floor(list_page_key(page, i), &floor))
            continue;
        if (floor.version > seen->version)
            seen->version = floor.version;
        if (floor.step > seen->step)
            seen->step = floor.step;
    }
}

void reclaim_checker_sends(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                           const struct floor *floor)
{
    if (actor >= reclaim->actor_count)
        return;
    const struct floor *seen = &reclaim->seen[actor];
    if (floor->version < seen->version || floor->step < seen->step)
        violations_add(reclaim->violations, now_ns, actor,
                       "reclaim: floor %" PRIu64 "-%" PRIu64 " is sent by who has seen %" PRIu64
                       "-%" PRIu64,
                       floor->version, floor->step, seen->version, seen->step);
}

void reclaim_checker_version(struct reclaim_checker *reclaim, const struct checked_version *checked)
{
    const struct manifest *manifest = checked->manifest;
    const struct manifest_author *author = &manifest->author;
    if (manifest->version == MANIFEST_GENESIS_VERSION)
        return;
    reclaim->authors = make_room(reclaim->authors, sizeof(*reclaim->authors),
                                 &reclaim->author_count, author->producer);
    struct reclaim_author *known = &reclaim->authors[author->producer];
    bool same = memcmp(&known->incarnation, &author->incarnation, INCARNATION_BYTES) == 0;
    if (same && manifest->first_step < known->floor_step)
        violations_add(reclaim->violations, checked->now_ns, checked->actor,
                       "reclaim: version %" PRIu64 " begins at step %" PRIu64
                       "; the floor was at step %" PRIu64 " at its author's version before",
                       manifest->version, manifest->first_step, known->floor_step);
    known->incarnation = author->incarnation;
    known->floor_step = reclaim->floor.step;
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
