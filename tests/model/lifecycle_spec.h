/* lifecycle_spec.h - what the life of steps must keep, checked as things happen.
 *
 * Promised to a consumer is every step from the oldest checkpoint that it keeps, or from its first
 * one while it keeps none: to the process with the highest number that was allowed to run, and to
 * the checkpoints that such a process made durable, whoever reads them next. A promise ends when
 * the consumer is retired, when its checkpoints were refused, and when a later process that started
 * beside another one of its name, so that it may have read outdated ones, needs less. */
#ifndef TESTS_MODEL_LIFECYCLE_SPEC_H
#define TESTS_MODEL_LIFECYCLE_SPEC_H

#include "tests/model/lifecycle.h"

/* In the order of lifecycle_world.event_names. */
enum lifecycle_event {
    EVENT_ZOMBIE,
    EVENT_FENCED,
    EVENT_LATE,
    EVENT_FLOOR,
    EVENT_FLOOR_LOWER,
    EVENT_VERSION_DELETED,
    EVENT_TGB_DELETED,
    EVENT_ORPHAN_DELETED,
    EVENT_MARKER_DELETED,
    EVENT_ALLOWED,
    EVENT_ALLOWED_BY_INTENT,
    EVENT_ALLOWED_BACK,
    EVENT_REFUSED,
    EVENT_SUPERSEDED,
    EVENT_RETIRED,
    EVENT_SAVE_REFUSED,
    EVENT_BELOW_FLOOR,
    EVENT_DELIVERED,
    EVENT_DIED,
    EVENT_FORGOTTEN,
    EVENT_COUNT,
};

void spec_event(struct lifecycle *world, enum lifecycle_event event);
__attribute__((format(printf, 2, 3))) void spec_broken(struct lifecycle *world, const char *format,
                                                       ...);

/* The lowest step promised to this consumer; UINT64_MAX: none. */
uint64_t spec_promised(const struct lifecycle *world, uint32_t consumer);

/* A write was applied: is everything still what it must be? `before` is the store's floor before.
 */
void spec_applied(struct lifecycle *world, const struct applied *applied, struct floor before);
/* What a reader holds as validated. */
void spec_validated(struct lifecycle *world, const struct manifest *manifest);
/* It may run. */
void spec_allowed(struct lifecycle *world, const struct rank_actor *rank);
/* A step is offered to it. */
void spec_delivered(struct lifecycle *world, const struct rank_actor *rank);
/* It ended by itself. */
void spec_ended(struct lifecycle *world, const struct rank_actor *rank);

#endif
