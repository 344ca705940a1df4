/* lifecycle_choices.h - what can happen next in a lifecycle world. */
#ifndef TESTS_MODEL_LIFECYCLE_CHOICES_H
#define TESTS_MODEL_LIFECYCLE_CHOICES_H

#include "tests/model/lifecycle.h"

enum lifecycle_choice {
    LIFECYCLE_ANSWER,          /* an operation is applied and answered truthfully */
    LIFECYCLE_APPLIED_UNKNOWN, /* a write is applied, the answer lost */
    LIFECYCLE_LOST_UNKNOWN,    /* a write is lost */
    LIFECYCLE_LATE_UNKNOWN,    /* a write is on its way, and given up */
    LIFECYCLE_LAND,            /* index: a late write lands */
    LIFECYCLE_COMMIT,          /* a producer begins an attempt */
    LIFECYCLE_ROUND,           /* a reclaimer begins a round */
    LIFECYCLE_ADVANCE,         /* a consumer takes a step and keeps a checkpoint after it */
    LIFECYCLE_LOOK,            /* a consumer reads the chain */
    LIFECYCLE_SAVED,           /* its checkpoints are durable */
    LIFECYCLE_DIE,             /* its process dies, and what it was writing is lost */
    LIFECYCLE_DIE_LATE,        /* ... and what it was writing may land later */
    LIFECYCLE_START,           /* index: a consumer's next process starts */
    LIFECYCLE_START_BACK,      /* ... at its oldest checkpoint */
    LIFECYCLE_RETIRE,          /* consumer 0 is being retired */
    LIFECYCLE_FORGET, /* index: the first key of a former number of a consumer is deleted */
};

/* Who it happens to, as the index of a choice. */
struct actor {
    enum actor_kind kind;
    uint32_t index;
    uint32_t slot; /* of a reclaimer's operations; else 0 */
};

struct choice choice_make(enum lifecycle_choice kind, struct actor actor);
struct actor choice_actor(struct choice choice);
/* The operation of this actor that is to be answered; NULL: none. */
struct store_op *actor_op(struct lifecycle *world, struct actor actor);

/* Whether a further process of this consumer may start. */
bool consumer_can_start(const struct lifecycle *world, uint32_t consumer);

/* The first key of a number of this consumer below the highest that was allowed to run, which the
 * process that was allowed deletes; false: there is none. It may at any time: a deletion may land
 * late. */
bool consumer_former_key(const struct lifecycle *world, uint32_t consumer, uint32_t *key);

bool lifecycle_forced(const void *world, struct choice *choice);
uint32_t lifecycle_choices(const void *world, struct choice choices[WORLD_CHOICES_MAX]);

#endif
