/* world_spec.c - what the commit protocol must keep. Ours. */
#include "tests/model/world_spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/model/world_hash.h"

void world_broken(struct world *world, const char *format, ...)
{
    if (world->problem[0] != '\0')
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(world->problem, sizeof(world->problem), format, arguments);
    va_end(arguments);
}

uint32_t machine_producer(const struct machine *machine)
{
    return machine->commit.options.producer;
}

/* A lost attempt must not be part of the living chain. */
static void check_lost(struct world *world, const struct machine *machine)
{
    for (uint64_t version = 1; version <= world->newest; version++)
        if (machine_reported_lost(machine, world->living[version]))
            world_broken(world,
                         "producer %" PRIu32 " reports an attempt lost that is version %" PRIu64,
                         machine_producer(machine), version);
}

/* A won attempt is a living version of this very process, and ends where the process believes. */
static void check_won(struct world *world, const struct machine *machine)
{
    const struct commit *commit = &machine->commit;
    const struct manifest *version = NULL;
    if (commit->detail.version <= world->newest)
        version = world->living[commit->detail.version];
    const struct producer_state *state =
        version != NULL ? manifest_state_find(version, machine_producer(machine)) : NULL;
    if (state == NULL || !machine_wrote(machine, version) || state->epoch != commit->epoch ||
        state->last_sequence != commit->committed_sequence)
        world_broken(world,
                     "producer %" PRIu32 " reports an attempt won, and no version lives by it",
                     machine_producer(machine));
}

/* The epoch that the machine holds or, while it has none, asked for last. */
static uint32_t epoch_of(const struct commit *commit)
{
    if (commit->epoch != 0 || commit->sent == NULL)
        return commit->epoch;
    return commit->sent->author.epoch;
}

/* Whether the living chain, in which epochs never fall, says that another took over. */
static bool is_fenced(const struct world *world, const struct machine *machine)
{
    const struct producer_state *state = NULL;
    if (world->newest > 0)
        state = manifest_state_find(world->living[world->newest], machine_producer(machine));
    return state != NULL && state->epoch > epoch_of(&machine->commit) &&
           memcmp(&state->incarnation, &machine->commit.options.incarnation, INCARNATION_BYTES) !=
               0;
}

void world_check_ended(struct world *world, const struct machine *machine)
{
    if (machine->commit.end != COMMIT_END_FENCED)
        world_broken(world, "producer %" PRIu32 " ended: %s", machine_producer(machine),
                     machine->commit.end_text);
    else if (!is_fenced(world, machine))
        world_broken(world,
                     "producer %" PRIu32 " ended as fenced, and no living version says so: %s",
                     machine_producer(machine), machine->commit.end_text);
}

void world_check_decided(struct world *world, struct machine *machine)
{
    const struct commit *commit = &machine->commit;
    const struct producer_state *state = NULL;
    assert(commit->attempts < 64);
    if (commit->attempt.outcome == ATTEMPT_LOST) {
        machine->lost |= UINT64_C(1) << commit->attempts;
        check_lost(world, machine);
    } else {
        check_won(world, machine);
    }
    if (world->newest > 0)
        state = manifest_state_find(world->living[world->newest], machine_producer(machine));
    if (commit->committed_sequence > (state ? state->last_sequence : 0))
        world_broken(world,
                     "producer %" PRIu32 " believes in sequence %" PRIu64 ", the chain does not",
                     machine_producer(machine), commit->committed_sequence);
}

static void check_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct world *world = context;
    const struct producer_state *before =
        manifest_state_find(world->living[world->newest], entry->tgb.producer);
    uint64_t sequence = before ? before->last_sequence : 0;
    if (entry->tgb.sequence != sequence + 1)
        world_broken(world,
                     "step %" PRIu64 " is sequence %" PRIu64 " of producer %" PRIu32
                     " after %" PRIu64,
                     step, entry->tgb.sequence, entry->tgb.producer, sequence);
    if (entry->tgb.end_offset != sequence * WORLD_BATCH_BYTES + WORLD_BATCH_BYTES)
        world_broken(world, "step %" PRIu64 " does not continue its stream", step);
}

/* A create was applied: is the chain still what it must be? */
void world_check_created(struct world *world, struct manifest *created)
{
    if (created->version < world->floor.version) {
        world->zombie = true;
        return;
    }
    if (created->version != world->newest + 1) {
        world_broken(world, "version %" PRIu64 " created while the newest is %" PRIu64,
                     created->version, world->newest);
        return;
    }
    if (world->newest > 0) {
        const struct manifest *base = world->living[world->newest];
        const struct producer_state *before = manifest_state_find(base, created->author.producer);
        if (created->next_step < base->next_step)
            world_broken(world, "version %" PRIu64 " loses steps", created->version);
        if (before && created->author.epoch < before->epoch)
            world_broken(world, "version %" PRIu64 " by a fenced epoch", created->version);
        if (before && created->author.epoch == before->epoch &&
            memcmp(&before->incarnation, &created->author.incarnation, INCARNATION_BYTES) != 0)
            world_broken(world, "version %" PRIu64 " by a second incarnation of an epoch",
                         created->version);
        manifest_visit_entries(created, base->next_step, check_entry, world);
    }
    for (uint32_t i = 0; i < world->machine_count; i++)
        if (machine_reported_lost(&world->machines[i], created))
            world_broken(world, "version %" PRIu64 " is of an attempt that was reported lost",
                         created->version);
    world->newest = created->version;
    world->living[created->version] = manifest_retain(created);
}
