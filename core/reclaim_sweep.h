/* reclaim_sweep.h - the second half of a round: what is listed is judged, key by key, and deleted.
 * Part of the reclaim machine (core/reclaim.c), which alone calls it; and what the halves share. */
#ifndef CORE_RECLAIM_SWEEP_H
#define CORE_RECLAIM_SWEEP_H

#include "core/reclaim.h"

/* The floor is in force, chain.known validated, `needed` settled: sweeps, and ends the round. */
void reclaim_sweep_begin(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects);
/* A page of a sweep was listed. */
void reclaim_sweep_page(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects);
/* A deletion was answered. */
void reclaim_sweep_answer(struct reclaim *reclaim, int64_t now_ns, uint32_t index,
                          struct reclaim_effects *effects);
void reclaim_sweep_wake(struct reclaim *reclaim, uint32_t index, struct reclaim_effects *effects);
/* Deletions that wait to be sent again are given up. */
void reclaim_sweep_drop(struct reclaim *reclaim);

/* Of reclaim.c. */
void reclaim_effect(struct reclaim_effects *effects, enum reclaim_effect_kind kind, uint32_t slot,
                    int64_t at_ns);
/* Lists keys below `prefix` after `after`. */
void reclaim_list(struct reclaim *reclaim, const char *prefix, const char *after,
                  struct reclaim_effects *effects);
/* The next page of the listing whose page is held; false if that was the last. */
MUST_USE bool reclaim_list_on(struct reclaim *reclaim, struct reclaim_effects *effects);
/* Ends the round when nothing is in flight any more. An error text (NULL: none) is copied. */
void reclaim_finish(struct reclaim *reclaim, enum reclaim_end end, const char *error,
                    struct reclaim_effects *effects);
int64_t reclaim_backoff_ns(struct reclaim *reclaim, uint32_t failures);

#endif
