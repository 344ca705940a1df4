/* reclaim_sweep.h - the second half of a round: what is listed is judged, key by key, and deleted.
 * Part of the reclaim machine (core/reclaim.c), which alone calls it. */
#ifndef CORE_RECLAIM_SWEEP_H
#define CORE_RECLAIM_SWEEP_H

#include "core/reclaim.h"

/* The floor is in force, chain.known validated, `needed` settled: sweeps, and ends the round. */
void reclaim_sweep_begin(struct reclaim *reclaim, struct reclaim_effects *effects);
/* A page of a sweep was listed. */
void reclaim_sweep_page(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects);
/* A deletion was answered. */
void reclaim_sweep_answer(struct reclaim *reclaim, int64_t now_ns, uint32_t index,
                          struct reclaim_effects *effects);
void reclaim_sweep_wake(struct reclaim *reclaim, uint32_t index, struct reclaim_effects *effects);
/* Deletions that wait to be sent again are given up. */
void reclaim_sweep_drop(struct reclaim *reclaim);

#endif
