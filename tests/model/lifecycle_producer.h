/* lifecycle_producer.h - an incarnation of a producer in the lifecycle world: drives core/commit.h.
 */
#ifndef TESTS_MODEL_LIFECYCLE_PRODUCER_H
#define TESTS_MODEL_LIFECYCLE_PRODUCER_H

#include "tests/model/lifecycle.h"

void producer_actor_start(struct lifecycle *world, uint32_t producer);
/* The operation that is to be answered; NULL: none. */
struct store_op *producer_actor_op(struct producer_actor *producer);
void producer_actor_answer(struct lifecycle *world, struct producer_actor *producer);
bool producer_actor_can_begin(const struct lifecycle *world, const struct producer_actor *producer);
/* An attempt: of a fencing version, or of a batch whose TGB was uploaded just before. */
void producer_actor_begin(struct lifecycle *world, struct producer_actor *producer);

void producer_actor_copy(struct producer_actor *to, const struct producer_actor *from);
void producer_actor_close(struct producer_actor *producer);
uint64_t producer_actor_hash(const struct producer_actor *producer);

#endif
