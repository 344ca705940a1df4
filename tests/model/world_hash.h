/* world_hash.h - a commit world's state as a number. */
#ifndef TESTS_MODEL_WORLD_HASH_H
#define TESTS_MODEL_WORLD_HASH_H

#include "tests/model/world.h"

/* Whether this very process made the version. */
bool machine_wrote(const struct machine *machine, const struct manifest *manifest);
/* Whether it did, and was told that the attempt is lost. */
bool machine_reported_lost(const struct machine *machine, const struct manifest *manifest);
/* Of a struct world: everything that what follows can depend on. */
uint64_t world_hash(const void *hashed);

#endif
