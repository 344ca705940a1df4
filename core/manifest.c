/* manifest.c - versions of the chain in memory. The paper's manifest; the sharing is ours. */
#include "core/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "core/entry_block.h"
#include "core/state_table.h"

/* Entries below the first live step are kept while they are few: dropping them copies the live
 * ones. */
#define COMPACT_SLACK 1024

struct manifest *manifest_genesis(uint32_t entry_bytes)
{
    assert(entry_bytes >= MANIFEST_ENTRY_BYTES_MIN && entry_bytes <= MANIFEST_ENTRY_BYTES_MAX);
    struct manifest *genesis = calloc(1, sizeof(*genesis));
    assert(genesis != NULL);
    genesis->references = 1;
    genesis->entry_bytes = entry_bytes;
    genesis->version = MANIFEST_GENESIS_VERSION;
    genesis->first_step = 1;
    genesis->next_step = 1;
    genesis->held = (struct manifest_part){.first_step = 1, .next_step = 1};
    genesis->states = state_table_make(NULL, 0);
    return genesis;
}

/* The base's entries as the list to append to, without those that a trim made dead for good. */
static struct entry_block *live_list(struct manifest *base, uint64_t first_step)
{
    if (!base->entries || first_step >= base->next_step)
        return NULL;
    uint64_t live = base->next_step - first_step;
    if (base->entries->retained > 2 * live + COMPACT_SLACK)
        return entry_block_compact(base->entries, first_step, base->next_step);
    return entry_block_retain(base->entries);
}

struct manifest *manifest_append(struct manifest *base, const struct manifest_change *change)
{
    assert(change->state.producer == change->author.producer);
    assert(manifest_whole(base));
    struct manifest *next = malloc(sizeof(*next));
    assert(next != NULL);
    *next = (struct manifest){
        .references = 1,
        .entry_bytes = base->entry_bytes,
        .version = base->version + 1,
        .author = change->author,
        .base_version = base->version,
        .base_checksum = base->checksum,
        .first_step = base->first_step,
        .next_step = base->next_step + change->entry_count,
    };
    if (change->first_step > next->first_step)
        next->first_step =
            change->first_step < next->next_step ? change->first_step : next->next_step;
    next->held =
        (struct manifest_part){.first_step = next->first_step, .next_step = next->next_step};
    next->entries = live_list(base, next->first_step);
    if (change->entry_count > 0) {
        next->entries = entry_block_make(next->entries, base->next_step, change->entry_count);
        memcpy(next->entries->entries, change->entries,
               change->entry_count * sizeof(*change->entries));
    }
    next->states = state_table_with(base->states, &change->state);
    return next;
}

struct manifest *manifest_retain(struct manifest *manifest)
{
    assert(manifest->references > 0);
    manifest->references++;
    return manifest;
}

void manifest_release(struct manifest *manifest)
{
    if (manifest == NULL)
        return;
    assert(manifest->references > 0);
    if (--manifest->references > 0)
        return;
    entry_block_release(manifest->entries);
    state_table_release(manifest->states);
    free(manifest);
}

uint32_t manifest_state_count(const struct manifest *manifest)
{
    return state_table_count(manifest->states);
}

const struct producer_state *manifest_state_at(const struct manifest *manifest, uint32_t index)
{
    return state_table_at(manifest->states, index);
}

const struct producer_state *manifest_state_find(const struct manifest *manifest, uint32_t producer)
{
    return state_table_find(manifest->states, producer);
}

uint32_t manifest_active_producers(const struct manifest *manifest, uint64_t versions)
{
    uint32_t active = 0;
    uint32_t count = state_table_count(manifest->states);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t last = state_table_at(manifest->states, i)->last_commit_version;
        active += manifest->version - last < versions;
    }
    return active;
}

const struct manifest_entry *manifest_entry_find(const struct manifest *manifest, uint64_t step)
{
    if (step < manifest->held.first_step || step >= manifest->held.next_step)
        return NULL;
    const struct entry_block *block = entry_block_find(manifest->entries, step);
    return &block->entries[step - block->first_step];
}

void manifest_visit_entries(const struct manifest *manifest, uint64_t first_step,
                            manifest_visit visit, void *context)
{
    if (first_step < manifest->held.first_step)
        first_step = manifest->held.first_step;
    if (first_step < manifest->held.next_step)
        entry_block_visit(manifest->entries, first_step, visit, context);
}

uint64_t manifest_encoded_bytes(const struct manifest *manifest)
{
    return MANIFEST_HEADER_BYTES + manifest_live_entries(manifest) * manifest->entry_bytes +
           (uint64_t)state_table_count(manifest->states) * MANIFEST_STATE_BYTES +
           MANIFEST_TRAILER_BYTES;
}
