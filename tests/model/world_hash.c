/* world_hash.c - a commit world's state as a number. Ours. */
#include "tests/model/world_hash.h"

#include <string.h>

bool machine_wrote(const struct machine *machine, const struct manifest *manifest)
{
    return memcmp(&machine->commit.options.incarnation, &manifest->author.incarnation,
                  INCARNATION_BYTES) == 0;
}

bool machine_reported_lost(const struct machine *machine, const struct manifest *manifest)
{
    return machine_wrote(machine, manifest) && (machine->lost >> manifest->author.attempt & 1);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return random_mix(hash * UINT64_C(0x9e3779b97f4a7c15) + value + 1);
}

/* The author's attempt is left out: nothing decides by it. */
static uint64_t hash_manifest(uint64_t hash, const struct manifest *manifest)
{
    if (!manifest)
        return mix(hash, 0);
    hash = mix(hash, manifest->version);
    hash = mix(hash, manifest->author.producer * 256u + manifest->author.incarnation.bytes[0]);
    hash = mix(hash, manifest->first_step * 1024 + manifest->next_step);
    for (uint32_t i = 0; i < manifest_state_count(manifest); i++) {
        const struct producer_state *state = manifest_state_at(manifest, i);
        hash = mix(hash, state->epoch * UINT64_C(65536) + state->incarnation.bytes[0]);
        hash = mix(hash, state->last_sequence * 1024 + state->last_commit_version);
    }
    return hash;
}

static uint64_t hash_machine(uint64_t hash, const struct machine *machine)
{
    const struct commit *c = &machine->commit;
    hash = mix(hash, (machine->alive ? 2u : 0u) + (machine->busy ? 1u : 0u));
    if (!machine->alive)
        return hash;
    hash = mix(hash, c->options.producer * 64u + c->options.incarnation.bytes[0]);
    hash = mix(hash, (uint64_t)c->phase * 64 + (uint64_t)c->intent * 16 + (uint64_t)c->end);
    hash = hash_manifest(hash, c->known);
    hash = hash_manifest(hash, c->sent);
    hash = mix(hash, c->search_after * 4096 + c->seen.newest * 64 + c->probe_missing);
    hash = mix(hash, c->lowest_used * 4096 + c->seen.floor.version * 64 + c->seen.floor.step);
    hash = mix(hash, c->epoch * UINT64_C(65536) + c->committed_sequence * 64 + c->queue->count);
    hash = mix(hash, (uint64_t)c->create_outcome * 64 + c->resends);
    if (machine->busy)
        for (const char *k = c->op.key; *k != '\0'; k++)
            hash = hash * 31 + (uint8_t)*k;
    return mix(hash, (uint64_t)c->op.verb);
}

uint64_t world_hash(const void *hashed)
{
    const struct world *world = hashed;
    uint64_t hash = mix(world->floor.version, world->floor.step);
    hash = mix(hash, world->unknowns * 4096u + world->floors * 64u + world->crashes);
    for (uint64_t version = 1; version <= WORLD_VERSIONS_MAX; version++)
        if (world->stored[version])
            hash = hash_manifest(mix(hash, version), world->stored[version]);
    hash = hash_manifest(mix(hash, world->newest), world->living[world->newest]);
    for (uint32_t i = 0; i < world->machine_count; i++)
        hash = hash_machine(hash, &world->machines[i]);
    uint64_t late = 0; /* in any order */
    for (uint32_t i = 0; i < world->late_count; i++) {
        uint64_t lost = 0;
        for (uint32_t k = 0; k < world->machine_count; k++)
            lost |= machine_reported_lost(&world->machines[k], world->late[i].manifest) ? 1 : 0;
        late += hash_manifest(1 + lost, world->late[i].manifest);
    }
    return mix(hash, late);
}
