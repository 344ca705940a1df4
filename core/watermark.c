/* watermark.c - one pass over a listing of watermarks. The rules are ours (docs/data_plane.md). */
#include "core/watermark.h"

void watermark_scan_init(struct watermark_scan *scan, uint64_t floor_step)
{
    *scan = (struct watermark_scan){.floor_step = floor_step};
}

static void settle(struct watermark_scan *scan, enum watermark_state state, uint64_t step)
{
    scan->current.state = state;
    scan->current.step = step;
    scan->current.counted = state == WATERMARK_NONE ? 0 : scan->number;
}

/* The number in progress is complete. It outranks those before it, unless its value is too low. */
static void end_number(struct watermark_scan *scan)
{
    if (scan->number_retired)
        settle(scan, WATERMARK_RETIRED, 0);
    else if (!scan->number_valued)
        settle(scan, WATERMARK_NONE, 0);
    else if (scan->number_step >= scan->floor_step)
        settle(scan, WATERMARK_HELD, scan->number_step);
    scan->current.highest = scan->number;
}

static void begin_number(struct watermark_scan *scan, uint64_t number)
{
    scan->number = number;
    scan->number_valued = false;
    scan->number_retired = false;
    scan->number_step = 0;
}

/* True if a consumer was in progress. */
static bool end_consumer(struct watermark_scan *scan, struct watermark *finished)
{
    if (!scan->open)
        return false;
    end_number(scan);
    *finished = scan->current;
    return true;
}

bool watermark_scan_add(struct watermark_scan *scan, const char *key, struct watermark *finished)
{
    struct watermark_name name;
    if (!name_parse_watermark(key, &name)) {
        scan->foreign++;
        return false;
    }
    bool ended = false;
    if (!scan->open || name.consumer != scan->current.consumer) {
        ended = end_consumer(scan, finished);
        scan->open = true;
        scan->current = (struct watermark){.consumer = name.consumer};
        begin_number(scan, name.number);
    } else if (name.number != scan->number) {
        end_number(scan);
        begin_number(scan, name.number);
    }
    switch (name.part) {
    case WATERMARK_NUMBER:
        break;
    case WATERMARK_NUMBER_VALUE:
        if (!scan->number_valued)
            scan->number_step = name.step;
        scan->number_valued = true;
        break;
    case WATERMARK_NUMBER_RETIRED:
        scan->number_retired = true;
        break;
    }
    return ended;
}

bool watermark_scan_end(struct watermark_scan *scan, struct watermark *finished)
{
    bool ended = end_consumer(scan, finished);
    scan->open = false;
    return ended;
}

/* ---- all consumers ---- */

void watermark_tally_init(struct watermark_tally *tally, uint32_t ranks)
{
    *tally = (struct watermark_tally){.ranks = ranks};
}

static void add_missing(struct watermark_tally *tally, uint32_t first, uint32_t count)
{
    if (count > 0 && tally->missing == 0)
        tally->first_missing = first;
    tally->missing += count;
}

/* Declared ranks below `rank` that were not seen are missing. */
static void pass_ranks(struct watermark_tally *tally, uint32_t rank)
{
    uint32_t bound = rank < tally->ranks ? rank : tally->ranks;
    if (bound <= tally->next_rank)
        return;
    add_missing(tally, tally->next_rank, bound - tally->next_rank);
    tally->next_rank = bound;
}

void watermark_tally_add(struct watermark_tally *tally, const struct watermark *watermark)
{
    pass_ranks(tally, watermark->consumer);
    if (watermark->consumer < tally->ranks)
        tally->next_rank = watermark->consumer + 1;
    switch (watermark->state) {
    case WATERMARK_NONE:
        add_missing(tally, watermark->consumer, 1);
        break;
    case WATERMARK_HELD:
        if (tally->consumers == 0 || watermark->step < tally->step) {
            tally->step = watermark->step;
            tally->holder = watermark->consumer;
        }
        tally->consumers++;
        break;
    case WATERMARK_RETIRED:
        tally->retired++;
        break;
    }
}

void watermark_tally_end(struct watermark_tally *tally)
{
    pass_ranks(tally, tally->ranks);
}
