/* entry_block.h - the entries of a manifest as a list of immutable blocks, newest first, shared
 * between versions. Part of manifest.c and its codec, not of the public interface.
 *
 * A block points to its previous one and to one further back, chosen so that a block is found in
 * O(log blocks) and a block is made in O(1), without a change to what is shared. Source: E. Myers,
 * "An applicative random-access stack", Information Processing Letters 17 (1983). */
#ifndef CORE_ENTRY_BLOCK_H
#define CORE_ENTRY_BLOCK_H

#include "core/manifest.h"

struct entry_block {
    uint32_t references;
    uint32_t count;
    uint64_t first_step;
    uint64_t retained; /* entries in this block and all before it */
    uint64_t depth;    /* blocks before it */
    struct entry_block *previous;
    const struct entry_block *jump; /* further back, held by the chain of `previous`; NULL: none */
    uint64_t jump_next; /* one past the jump's last step, so that it need not be looked at */
    struct manifest_entry entries[];
};

/* Uninitialised entries; takes over the caller's reference on `previous` (may be NULL). */
struct entry_block *entry_block_make(struct entry_block *previous, uint64_t first_step,
                                     size_t count);
struct entry_block *entry_block_retain(struct entry_block *block); /* NULL is allowed */
void entry_block_release(struct entry_block *block);               /* NULL is allowed */
/* The block of the list that holds `step`, which one of them does; O(log blocks). */
const struct entry_block *entry_block_find(const struct entry_block *block, uint64_t step);
/* One block that holds the steps [first_step, next_step) of the list; NULL if that is empty. */
struct entry_block *entry_block_compact(const struct entry_block *block, uint64_t first_step,
                                        uint64_t next_step);
/* In step order; O(entries visited). */
void entry_block_visit(const struct entry_block *block, uint64_t first_step, manifest_visit visit,
                       void *context);

#endif
