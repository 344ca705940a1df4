/* membership_view.c - see membership_view.h. */
#include "core/membership_view.h"

void membership_view_init(struct membership_view *view, uint64_t mine, uint64_t lowest)
{
    *view = (struct membership_view){.mine = mine, .lowest = lowest};
}

void membership_view_add(struct membership_view *view, const struct watermark_name *name)
{
    bool retired = name->part == WATERMARK_NUMBER_RETIRED;
    if (name->number > view->highest) {
        view->highest = name->number;
        view->highest_retired = false;
    }
    view->highest_retired |= retired && name->number == view->highest;
    view->mine_retired |= retired && name->number == view->mine;
    if (name->number < view->lowest || name->number >= view->mine)
        return;
    view->between += name->part == WATERMARK_NUMBER;
    view->between_retired |= retired;
    if (name->part == WATERMARK_NUMBER_VALUE && name->step > view->between_step)
        view->between_step = name->step;
}

enum membership_fate membership_view_fate(const struct membership_view *view)
{
    assert(view->mine != 0);
    if (view->mine_retired || (view->highest > view->mine && view->highest_retired))
        return MEMBERSHIP_FATE_RETIRED;
    return view->highest > view->mine ? MEMBERSHIP_FATE_SUPERSEDED : MEMBERSHIP_FATE_MINE;
}

bool membership_view_confirms(const struct membership_view *view, uint64_t step)
{
    assert(view->mine != 0);
    return view->lowest > 0 && view->between == view->mine - view->lowest &&
           !view->between_retired && view->between_step <= step;
}
