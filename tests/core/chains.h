/* chains.h - random manifests for tests. */
#ifndef TESTS_CORE_CHAINS_H
#define TESTS_CORE_CHAINS_H

#include "core/manifest.h"
#include "core/random.h"

/* The next version with `entries` batches of one of so many producers; the caller's reference. */
struct manifest *chain_append(struct manifest *base, struct random_stream *stream,
                              uint32_t producers, size_t entries, uint64_t first_step);
/* A whole random chain's last version. */
struct manifest *chain_random(struct random_stream *stream);
/* Every field of both, entries and states too. */
bool chain_equal(const struct manifest *a, const struct manifest *b);

#endif
