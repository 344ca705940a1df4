/* lifecycle_reclaimer.h - a process that reclaims, in the lifecycle world: drives core/reclaim.h.
 */
#ifndef TESTS_MODEL_LIFECYCLE_RECLAIMER_H
#define TESTS_MODEL_LIFECYCLE_RECLAIMER_H

#include "tests/model/lifecycle.h"

void reclaimer_actor_open(struct lifecycle *world, uint32_t index);
/* The operation of a slot that is to be answered; NULL: none. */
struct store_op *reclaimer_actor_op(struct reclaimer_actor *reclaimer, uint32_t slot);
void reclaimer_actor_answer(struct lifecycle *world, struct reclaimer_actor *reclaimer,
                            uint32_t slot);
/* Starts a round. */
void reclaimer_actor_begin(struct lifecycle *world, struct reclaimer_actor *reclaimer);

void reclaimer_actor_copy(struct reclaimer_actor *to, const struct reclaimer_actor *from);
void reclaimer_actor_close(struct reclaimer_actor *reclaimer);
uint64_t reclaimer_actor_hash(const struct lifecycle *world,
                              const struct reclaimer_actor *reclaimer);

#endif
