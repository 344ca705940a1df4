/* state_table.c - persistent sorted vector in chunks of four. Ours.
 *
 * Replacing copies one chunk and the array of chunk pointers: for 32 producers under 400 bytes a
 * version, which is what lets a simulated run keep every version of five hours in memory. Adding a
 * producer rebuilds the table: it happens once in a producer's life. */
#include "core/state_table.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_STATES 4

struct chunk {
    uint32_t references;
    struct producer_state states[CHUNK_STATES];
};

struct state_table {
    uint32_t references;
    uint32_t count;
    struct chunk *chunks[];
};

static uint32_t chunk_count(uint32_t states)
{
    return (states + CHUNK_STATES - 1) / CHUNK_STATES;
}

static struct state_table *table_alloc(uint32_t count)
{
    struct state_table *table =
        malloc(sizeof(*table) + chunk_count(count) * sizeof(table->chunks[0]));
    assert(table != NULL);
    table->references = 1;
    table->count = count;
    return table;
}

static struct chunk *chunk_alloc(void)
{
    struct chunk *chunk = malloc(sizeof(*chunk));
    assert(chunk != NULL);
    chunk->references = 1;
    return chunk;
}

struct state_table *state_table_make(const struct producer_state *states, uint32_t count)
{
    assert(count <= MANIFEST_STATES_MAX);
    struct state_table *table = table_alloc(count);
    for (uint32_t i = 0; i < chunk_count(count); i++) {
        uint32_t first = i * CHUNK_STATES;
        uint32_t here = count - first < CHUNK_STATES ? count - first : CHUNK_STATES;
        table->chunks[i] = chunk_alloc();
        memcpy(table->chunks[i]->states, states + first, here * sizeof(*states));
    }
    for (uint32_t i = 1; i < count; i++)
        assert(states[i - 1].producer < states[i].producer);
    return table;
}

/* Index of the first state whose producer is not below the given one. */
static uint32_t lower_bound(const struct state_table *table, uint32_t producer)
{
    uint32_t low = 0;
    uint32_t high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state_table_at(table, middle)->producer < producer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct state_table *table_insert(const struct state_table *table, uint32_t index,
                                        const struct producer_state *state)
{
    struct producer_state *all = malloc((table->count + 1) * sizeof(*all));
    assert(all != NULL);
    for (uint32_t i = 0; i < table->count; i++)
        all[i < index ? i : i + 1] = *state_table_at(table, i);
    all[index] = *state;
    struct state_table *result = state_table_make(all, table->count + 1);
    free(all);
    return result;
}

struct state_table *state_table_with(struct state_table *table, const struct producer_state *state)
{
    uint32_t index = lower_bound(table, state->producer);
    if (index == table->count || state_table_at(table, index)->producer != state->producer)
        return table_insert(table, index, state);
    uint32_t target = index / CHUNK_STATES;
    struct state_table *result = table_alloc(table->count);
    for (uint32_t i = 0; i < chunk_count(table->count); i++) {
        result->chunks[i] = table->chunks[i];
        if (i != target)
            result->chunks[i]->references++;
    }
    struct chunk *changed = chunk_alloc();
    memcpy(changed->states, table->chunks[target]->states, sizeof(changed->states));
    changed->states[index % CHUNK_STATES] = *state;
    result->chunks[target] = changed;
    return result;
}

struct state_table *state_table_retain(struct state_table *table)
{
    table->references++;
    return table;
}

void state_table_release(struct state_table *table)
{
    assert(table->references > 0);
    if (--table->references > 0)
        return;
    for (uint32_t i = 0; i < chunk_count(table->count); i++) {
        assert(table->chunks[i]->references > 0);
        if (--table->chunks[i]->references == 0)
            free(table->chunks[i]);
    }
    free(table);
}

uint32_t state_table_count(const struct state_table *table)
{
    return table->count;
}

const struct producer_state *state_table_at(const struct state_table *table, uint32_t index)
{
    assert(index < table->count);
    return &table->chunks[index / CHUNK_STATES]->states[index % CHUNK_STATES];
}

const struct producer_state *state_table_find(const struct state_table *table, uint32_t producer)
{
    uint32_t index = lower_bound(table, producer);
    if (index == table->count)
        return NULL;
    const struct producer_state *state = state_table_at(table, index);
    return state->producer == producer ? state : NULL;
}
