/* lifecycle_rank.h - a process of a consumer in the lifecycle world: drives core/consumer.h. */
#ifndef TESTS_MODEL_LIFECYCLE_RANK_H
#define TESTS_MODEL_LIFECYCLE_RANK_H

#include "tests/model/lifecycle.h"

enum rank_start {
    RANK_START_NEWEST, /* at the newest checkpoint */
    RANK_START_OLDEST, /* a rollback to the oldest */
};

/* The next process of this consumer starts, from what its host has durable. */
void rank_actor_start(struct lifecycle *world, uint32_t consumer, enum rank_start where);
/* The operation of a slot that is to be answered; NULL: none. */
struct store_op *rank_actor_op(struct rank_actor *rank, uint32_t slot);
void rank_actor_answer(struct lifecycle *world, struct rank_actor *rank, uint32_t slot);
/* The disk makes durable what it is told to, or refuses it to a process whose successor was there
 * already, which then ends. */
void rank_actor_saved(struct lifecycle *world, struct rank_actor *rank);
/* Whether a step is offered to it. */
bool rank_actor_can_advance(const struct rank_actor *rank);
/* Takes the step, and keeps a checkpoint after it. */
void rank_actor_advance(struct lifecycle *world, struct rank_actor *rank);
/* Keeps a checkpoint where it is. */
void rank_actor_keep(struct lifecycle *world, struct rank_actor *rank);
/* Whether there is something to find in the chain that it waits to look at. */
bool rank_actor_can_look(const struct lifecycle *world, const struct rank_actor *rank);
void rank_actor_look(struct lifecycle *world, struct rank_actor *rank);
void rank_actor_die(struct lifecycle *world, struct rank_actor *rank);

void rank_actor_copy(struct rank_actor *to, const struct rank_actor *from);
void rank_actor_close(struct rank_actor *rank);
uint64_t rank_actor_hash(const struct rank_actor *rank);

#endif
