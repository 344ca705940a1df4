/* world_spec.h - what the commit protocol must keep, held at every create and every decision. */
#ifndef TESTS_MODEL_WORLD_SPEC_H
#define TESTS_MODEL_WORLD_SPEC_H

#include "tests/model/world.h"

#define WORLD_BATCH_BYTES 10

uint32_t machine_producer(const struct machine *machine);
/* The first problem stays. */
__attribute__((format(printf, 2, 3))) void world_broken(struct world *world, const char *format,
                                                        ...);
/* A version was created: is the chain still what it must be? */
void world_check_created(struct world *world, struct manifest *created);
/* An attempt was decided: is it as the chain has it? */
void world_check_decided(struct world *world, struct machine *machine);
/* A machine ended: was it fenced? */
void world_check_ended(struct world *world, const struct machine *machine);

#endif
