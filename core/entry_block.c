/* entry_block.c - shared, immutable lists of entries. Ours; the jumps are Myers', see
 * entry_block.h. */
#include "core/entry_block.h"

#include <stdlib.h>
#include <string.h>

/* Where a block on `previous` jumps to. Two jumps of one length in a row become one over both, so
 * that lengths are those of the skew binary numbers. */
static const struct entry_block *jump_of(const struct entry_block *previous)
{
    if (previous == NULL || previous->jump == NULL || previous->jump->jump == NULL)
        return previous;
    uint64_t last = previous->depth - previous->jump->depth;
    uint64_t before = previous->jump->depth - previous->jump->jump->depth;
    return last == before ? previous->jump->jump : previous;
}

struct entry_block *entry_block_make(struct entry_block *previous, uint64_t first_step,
                                     size_t count)
{
    assert(count > 0 && count <= UINT32_MAX);
    struct entry_block *block = malloc(sizeof(*block) + count * sizeof(block->entries[0]));
    assert(block != NULL);
    block->references = 1;
    block->count = (uint32_t)count;
    block->first_step = first_step;
    block->retained = count + (previous != NULL ? previous->retained : 0);
    block->depth = previous != NULL ? previous->depth + 1 : 0;
    block->previous = previous;
    block->jump = jump_of(previous);
    block->jump_next = block->jump != NULL ? block->jump->first_step + block->jump->count : 0;
    assert(!previous || previous->first_step + previous->count == first_step);
    return block;
}

struct entry_block *entry_block_retain(struct entry_block *block)
{
    if (block != NULL)
        block->references++;
    return block;
}

void entry_block_release(struct entry_block *block)
{
    /* A loop, not recursion: a list is as long as the chain. */
    while (block != NULL && --block->references == 0) {
        struct entry_block *previous = block->previous;
        free(block);
        block = previous;
    }
}

const struct entry_block *entry_block_find(const struct entry_block *block, uint64_t step)
{
    assert(block != NULL);
    assert(step < block->first_step + block->count);
    while (block->first_step > step) {
        block = block->jump_next > step ? block->jump : block->previous;
        assert(block != NULL);
    }
    return block;
}

struct entry_block *entry_block_compact(const struct entry_block *block, uint64_t first_step,
                                        uint64_t next_step)
{
    if (first_step == next_step)
        return NULL;
    assert(first_step < next_step);
    struct entry_block *compact = entry_block_make(NULL, first_step, next_step - first_step);
    for (; block && block->first_step + block->count > first_step; block = block->previous) {
        uint64_t from = block->first_step > first_step ? block->first_step : first_step;
        memcpy(compact->entries + (from - first_step), block->entries + (from - block->first_step),
               (block->first_step + block->count - from) * sizeof(block->entries[0]));
    }
    return compact;
}

void entry_block_visit(const struct entry_block *block, uint64_t first_step, manifest_visit visit,
                       void *context)
{
    size_t blocks = 0;
    for (const struct entry_block *b = block; b && b->first_step + b->count > first_step;
         b = b->previous)
        blocks++;
    if (blocks == 0)
        return;
    const struct entry_block **order = malloc(blocks * sizeof(*order));
    assert(order != NULL);
    for (size_t i = blocks; i > 0; i--, block = block->previous)
        order[i - 1] = block;
    for (size_t i = 0; i < blocks; i++) {
        uint64_t base = order[i]->first_step;
        for (uint64_t j = first_step > base ? first_step - base : 0; j < order[i]->count; j++)
            visit(base + j, &order[i]->entries[j], context);
    }
    free(order);
}
