/* reclaim_request.h - requests and effects of the reclaim machine, for both halves of a round. Part
 * of core/reclaim.c, not of the public interface. */
#ifndef CORE_RECLAIM_REQUEST_H
#define CORE_RECLAIM_REQUEST_H

#include "core/reclaim.h"

void reclaim_effect(struct reclaim_effects *effects, enum reclaim_effect_kind kind, uint32_t slot,
                    int64_t at_ns);
/* Until the slot's request is due again; its state is the caller's. */
void reclaim_sleep(struct reclaim *reclaim, int64_t now_ns, uint32_t slot,
                   const struct retry *retry, struct reclaim_effects *effects);
/* Puts an empty object under the control operation's key. */
void reclaim_put(struct reclaim *reclaim, struct reclaim_effects *effects);
/* Lists the keys below a prefix. */
void reclaim_list(struct reclaim *reclaim, const char *prefix, struct reclaim_effects *effects);
/* The next page of the listing whose page is held; false if that was the last. */
MUST_USE bool reclaim_list_on(struct reclaim *reclaim, struct reclaim_effects *effects);
/* Whether the control operation's answer says nothing: then effects are what follows. Markers and
 * listings are asked for again until they are surely done, or the round is given up. */
MUST_USE bool reclaim_unanswered(struct reclaim *reclaim, int64_t now_ns,
                                 struct reclaim_effects *effects);

/* In reclaim.c: ends the round when nothing is in flight any more. An error text (NULL: none) is
 * copied. */
void reclaim_finish(struct reclaim *reclaim, enum reclaim_end end, const char *error,
                    struct reclaim_effects *effects);

#endif
