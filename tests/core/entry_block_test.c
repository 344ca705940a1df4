/* entry_block_test.c - a block is found in few jumps, however long its list is. */
#include "core/entry_block.h"

#include "tests/harness.h"

#define BLOCKS 100000

/* Of blocks of 1, 2, 3, 1, 2, 3 ... entries, from step 1 on. */
static struct entry_block *list_make(uint32_t blocks)
{
    struct entry_block *list = NULL;
    uint64_t step = 1;
    for (uint32_t i = 0; i < blocks; i++) {
        list = entry_block_make(list, step, 1 + i % 3);
        step += list->count;
    }
    return list;
}

/* Blocks that a search for `step` passes, by the same rule as entry_block_find. */
static uint32_t hops(const struct entry_block *block, uint64_t step)
{
    uint32_t count = 0;
    for (; block->first_step > step; count++)
        block = block->jump_next > step ? block->jump : block->previous;
    return count;
}

static uint32_t log2_of(uint64_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
        log++;
    return log;
}

static void every_step_is_found_in_its_block(void)
{
    struct entry_block *list = list_make(3000);
    for (uint64_t step = 1; step < list->first_step + list->count; step++) {
        const struct entry_block *block = entry_block_find(list, step);
        CU_ASSERT(block->first_step <= step && step < block->first_step + block->count);
    }
    entry_block_release(list);
}

/* Myers: at most 3 log2 n, from any block back to any other. */
static void hops_grow_with_the_logarithm(void)
{
    struct entry_block *list = list_make(BLOCKS);
    uint32_t worst = 0;
    for (uint64_t step = 1; step < list->first_step; step++) {
        uint32_t here = hops(list, step);
        worst = here > worst ? here : worst;
    }
    CU_ASSERT(worst <= 3 * log2_of(BLOCKS));
    entry_block_release(list);
}

const struct harness_test entry_block_tests[] = {
    HARNESS_TEST(every_step_is_found_in_its_block),
    HARNESS_TEST(hops_grow_with_the_logarithm),
    {0},
};
