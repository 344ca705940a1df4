/* membership_view.h - what a listing of a consumer's own numbers says to one of its processes. Ours
 * (docs/data_plane.md, "start"). */
#ifndef CORE_MEMBERSHIP_VIEW_H
#define CORE_MEMBERSHIP_VIEW_H

#include <stdbool.h>

#include "core/name.h"

struct membership_view {
    uint64_t mine;
    uint64_t lowest;  /* stamped in the checkpoints found; 0: there are none */
    uint64_t highest; /* number listed */
    bool highest_retired;
    bool mine_retired;
    bool between_retired;  /* of the numbers from `lowest` to the one before mine */
    uint64_t between;      /* so many of these were listed */
    uint64_t between_step; /* the highest value on them */
};

enum membership_fate {
    MEMBERSHIP_FATE_MINE,       /* no higher number */
    MEMBERSHIP_FATE_RETIRED,    /* the highest number, or mine, has ended */
    MEMBERSHIP_FATE_SUPERSEDED, /* another process has the highest number */
};

void membership_view_init(struct membership_view *view, uint64_t mine, uint64_t lowest);
/* A key of this consumer, in any order. */
void membership_view_add(struct membership_view *view, const struct watermark_name *name);
enum membership_fate membership_view_fate(const struct membership_view *view);
/* Whether no reclaimer can have gone by a value above `step`: every number since the oldest stamp
 * is there, has no higher value, and none is retired. */
bool membership_view_confirms(const struct membership_view *view, uint64_t step);

#endif
