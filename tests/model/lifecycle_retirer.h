/* lifecycle_retirer.h - a human who retires a consumer in the lifecycle world: drives
 * core/membership.h. */
#ifndef TESTS_MODEL_LIFECYCLE_RETIRER_H
#define TESTS_MODEL_LIFECYCLE_RETIRER_H

#include "tests/model/lifecycle.h"

void retirer_actor_start(struct lifecycle *world, uint32_t consumer);
/* The operation that is to be answered; NULL: none. */
struct store_op *retirer_actor_op(struct retirer_actor *retirer);
void retirer_actor_answer(struct lifecycle *world, struct retirer_actor *retirer);

void retirer_actor_copy(struct retirer_actor *to, const struct retirer_actor *from);
void retirer_actor_close(struct retirer_actor *retirer);
uint64_t retirer_actor_hash(const struct retirer_actor *retirer);

#endif
