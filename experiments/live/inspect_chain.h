/* inspect_chain.h - follows a chain version by version and says where it breaks a rule. */
#ifndef EXPERIMENTS_INSPECT_CHAIN_H
#define EXPERIMENTS_INSPECT_CHAIN_H

#include "experiments/live/inspection.h"

/* Checks the version against what was followed so far, and goes on from it. Versions come in
 * ascending order; those that are missing or cannot be read are left out by the caller, who
 * reported them. The manifest is borrowed. Rules: the base's checksum; steps that neither change
 * nor go back; per producer, sequences and offsets without gap or repetition, epochs that do not
 * go back, one incarnation an epoch, and states that say the same as the entries. */
void inspect_chain_follow(struct inspection *inspection, struct inspect_version *version,
                          const struct manifest *manifest);

#endif
