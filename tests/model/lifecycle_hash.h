/* lifecycle_hash.h - hashes of what machines and stores hold. */
#ifndef TESTS_MODEL_LIFECYCLE_HASH_H
#define TESTS_MODEL_LIFECYCLE_HASH_H

#include "core/chain_reader.h"
#include "core/manifest.h"
#include "core/membership.h"
#include "core/random.h"
#include "core/store.h"

static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    return random_mix(hash * UINT64_C(0x9e3779b97f4a7c15) + value + 1);
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count);
/* By content. The author's attempt and commit times are left out: nothing decides by them. */
uint64_t hash_manifest(uint64_t hash, const struct manifest *manifest);
/* Of what it decides by. */
uint64_t hash_chain_reader(uint64_t hash, const struct chain_reader *reader);
uint64_t hash_membership(uint64_t hash, const struct membership *membership);
uint64_t hash_checkpoints(uint64_t hash, const struct checkpoint_set *set);
/* Of a request that is to be answered. */
uint64_t hash_request(uint64_t hash, const struct store_op *op);

#endif
