/* rank_holds.c - numbers, and what they stand for. Ours. */
#include "sim/rank_holds.h"

#include "core/name.h"
#include "sim/memory.h"

void rank_holds_deinit(struct rank_holds *holds)
{
    free(holds->ranks);
    *holds = (struct rank_holds){0};
}

static struct rank_hold *hold_of(struct rank_holds *holds, uint32_t rank)
{
    if (rank >= holds->count) {
        uint32_t count = rank < 32 ? 64 : rank * 2;
        holds->ranks = memory_resize(holds->ranks, count, sizeof(*holds->ranks));
        memset(holds->ranks + holds->count, 0, (count - holds->count) * sizeof(*holds->ranks));
        holds->count = count;
    }
    return &holds->ranks[rank];
}

const struct rank_hold *rank_holds_of(struct rank_holds *holds, uint32_t rank)
{
    return hold_of(holds, rank);
}

static void set_hold(struct rank_holds *holds, uint32_t rank, uint64_t step)
{
    hold_of(holds, rank)->step = step;
    reclaim_checker_hold(holds->reclaim, rank, step);
}

static void end_hold(struct rank_holds *holds, uint32_t rank)
{
    hold_of(holds, rank)->kept = false;
    set_hold(holds, rank, 0);
}

static void number_applied(struct rank_holds *holds, const struct watermark_name *name)
{
    struct rank_hold *hold = hold_of(holds, name->consumer);
    if (name->number > hold->highest)
        hold->highest = name->number;
    if (name->number > hold->holder && !hold->kept)
        end_hold(holds, name->consumer);
}

static void value_applied(struct rank_holds *holds, const struct watermark_name *name)
{
    struct rank_hold *hold = hold_of(holds, name->consumer);
    if (name->step > hold->most)
        hold->most = name->step;
    if (name->number < hold->valued)
        return;
    hold->valued = name->number;
    hold->value = name->step;
    if (name->number > hold->holder && name->step > hold->step)
        end_hold(holds, name->consumer);
}

void rank_holds_applied(struct rank_holds *holds, const struct store_op *op)
{
    struct watermark_name name;
    if (op->verb == STORE_DELETE || !name_parse_watermark(op->key, &name))
        return;
    struct rank_hold *hold = hold_of(holds, name.consumer);
    switch (name.part) {
    case WATERMARK_NUMBER:
        number_applied(holds, &name);
        return;
    case WATERMARK_NUMBER_RETIRED:
        reclaim_checker_heard(holds->reclaim, name.consumer);
        if (name.number > hold->retired)
            hold->retired = name.number;
        if (name.number >= hold->holder)
            end_hold(holds, name.consumer);
        return;
    case WATERMARK_NUMBER_VALUE:
        reclaim_checker_heard(holds->reclaim, name.consumer);
        value_applied(holds, &name);
        return;
    }
}

void rank_holds_abandoned(struct rank_holds *holds, uint32_t rank)
{
    end_hold(holds, rank);
}

/* Somebody took over who began at something younger. */
static bool is_overtaken(const struct rank_hold *hold, uint64_t number, uint64_t step)
{
    return number <= hold->retired || (hold->valued > number && hold->value > step);
}

void rank_holds_allowed(struct rank_holds *holds, uint32_t rank, uint64_t number, uint64_t step,
                        const struct checkpoint_set *set)
{
    struct rank_hold *hold = hold_of(holds, rank);
    uint64_t oldest = set->count > 0 ? set->items[0].step : step;
    if (number < hold->holder || is_overtaken(hold, number, oldest))
        return;
    hold->holder = number;
    hold->kept = set->count > 0;
    if (hold->kept || number == hold->highest)
        set_hold(holds, rank, oldest);
}

void rank_holds_saved(struct rank_holds *holds, uint32_t rank, uint64_t number,
                      const struct checkpoint_set *set)
{
    struct rank_hold *hold = hold_of(holds, rank);
    assert(set->count > 0);
    if (number != hold->holder || is_overtaken(hold, number, set->items[0].step))
        return;
    if (!hold->kept && number != hold->highest)
        return; /* superseded before it kept anything */
    hold->kept = true;
    set_hold(holds, rank, set->items[0].step);
}
