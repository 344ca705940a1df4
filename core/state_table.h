/* state_table.h - a persistent table of producer states, sorted by producer: replacing one state
 * shares all the others. Part of manifest.c and its codec, not of the public interface. */
#ifndef CORE_STATE_TABLE_H
#define CORE_STATE_TABLE_H

#include "core/manifest.h"

struct state_table;

/* `states` in strictly ascending order of producer; copied. */
struct state_table *state_table_make(const struct producer_state *states, uint32_t count);
/* A new table with `state` added or replaced. */
struct state_table *state_table_with(struct state_table *table, const struct producer_state *state);
struct state_table *state_table_retain(struct state_table *table);
void state_table_release(struct state_table *table);
uint32_t state_table_count(const struct state_table *table);
const struct producer_state *state_table_at(const struct state_table *table, uint32_t index);
const struct producer_state *state_table_find(const struct state_table *table, uint32_t producer);

#endif
