/* lifecycle_hash.c - hashes by content. Ours. */
#include "tests/model/lifecycle_hash.h"

#include <string.h>
#include <xxhash.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    return XXH3_64bits_withSeed(bytes, count, hash);
}

static void add_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    uint64_t *hash = context;
    *hash = hash_mix(*hash, step * 1024 + entry->tgb.sequence);
    *hash = hash_mix(*hash, entry->tgb.producer * UINT64_C(65536) + entry->tgb.epoch * 256u +
                                entry->tgb.incarnation.bytes[0]);
}

uint64_t hash_manifest(uint64_t hash, const struct manifest *manifest)
{
    if (!manifest)
        return hash_mix(hash, 0);
    hash = hash_mix(hash, manifest->version);
    hash = hash_mix(hash, manifest->author.producer * UINT64_C(256) +
                              manifest->author.incarnation.bytes[0]);
    hash = hash_mix(hash, manifest->first_step * 1024 + manifest->next_step);
    manifest_visit_entries(manifest, manifest->first_step, add_entry, &hash);
    for (uint32_t i = 0; i < manifest_state_count(manifest); i++) {
        const struct producer_state *state = manifest_state_at(manifest, i);
        hash = hash_mix(hash, state->epoch * UINT64_C(65536) + state->incarnation.bytes[0]);
        hash = hash_mix(hash, state->last_sequence);
    }
    return hash;
}

uint64_t hash_request(uint64_t hash, const struct store_op *op)
{
    hash = hash_bytes(hash_mix(hash, op->verb), op->key, strlen(op->key));
    if (op->verb == STORE_LIST)
        hash = hash_bytes(hash_mix(hash, op->list_keys_max), op->after, strlen(op->after));
    if (op->body.kind == BODY_MANIFEST)
        hash = hash_manifest(hash, op->body.manifest);
    return hash;
}

uint64_t hash_chain_reader(uint64_t hash, const struct chain_reader *reader)
{
    hash = hash_manifest(hash_manifest(hash, reader->known), reader->found);
    hash = hash_mix(hash, (uint64_t)reader->phase * 2 + reader->from_floor);
    hash = hash_mix(hash, reader->seen.floor.version * 65536 + reader->seen.floor.step * 256);
    hash = hash_mix(hash, reader->seen.top.version * 65536 + reader->seen.top.step * 256);
    return hash_mix(hash, reader->seen.newest);
}

uint64_t hash_checkpoints(uint64_t hash, const struct checkpoint_set *set)
{
    return hash_bytes(hash_mix(hash, set->count), set->items, set->count * sizeof(set->items[0]));
}

uint64_t hash_membership(uint64_t hash, const struct membership *m)
{
    hash = hash_mix(hash, (uint64_t)m->phase * 2 + m->running);
    hash = hash_mix(hash, m->number * 65536 + m->first_step * 256 + m->options.rollback_step);
    hash = hash_mix(hash, m->published * 65536 + m->publishing * 256 + m->outdated);
    hash = hash_mix(hash, m->marked * 2 + m->intent_checked);
    hash = hash_checkpoints(hash_checkpoints(hash, &m->checkpoints), &m->found);
    hash = hash_mix(hash, m->view.highest * 8u + m->view.highest_retired * 4u +
                              m->view.mine_retired * 2u + m->view.between_retired);
    return hash_mix(hash, m->view.mine * 65536 + m->view.between * 256 + m->view.between_step);
}
