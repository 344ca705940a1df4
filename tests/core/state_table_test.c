/* state_table_test.c - persistence: every older table stays as it was. */
#include "core/state_table.h"

#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

#define TABLES 400
#define PRODUCERS 40

/* What table number t must hold for each producer: the last epoch written; 0: none. */
static uint32_t expected[TABLES][PRODUCERS];

static void check_table(const struct state_table *table, const uint32_t *epochs)
{
    uint32_t count = 0;
    for (uint32_t producer = 0; producer < PRODUCERS; producer++) {
        const struct producer_state *state = state_table_find(table, 3 * producer);
        CU_ASSERT_EQUAL(state ? state->epoch : 0, epochs[producer]);
        CU_ASSERT_PTR_NULL(state_table_find(table, 3 * producer + 1));
        if (!state)
            continue;
        CU_ASSERT_EQUAL(state_table_at(table, count)->producer, 3 * producer);
        count++;
    }
    CU_ASSERT_EQUAL(state_table_count(table), count);
}

static void older_tables_stay_as_they_were(void)
{
    struct state_table *tables[TABLES] = {state_table_make(NULL, 0)};
    struct random_stream stream = random_stream_make(1, 1);
    memset(expected, 0, sizeof(expected));
    for (uint32_t i = 1; i < TABLES; i++) {
        uint32_t base = (uint32_t)(random_next(&stream) % i);
        uint32_t producer = (uint32_t)(random_next(&stream) % PRODUCERS);
        struct producer_state state = {.producer = 3 * producer, .epoch = i};
        tables[i] = state_table_with(tables[base], &state);
        memcpy(expected[i], expected[base], sizeof(expected[i]));
        expected[i][producer] = i;
    }
    for (uint32_t i = 0; i < TABLES; i++)
        check_table(tables[i], expected[i]);
    for (uint32_t i = 0; i < TABLES; i += 2)
        state_table_release(tables[i]);
    for (uint32_t i = 1; i < TABLES; i += 2) {
        check_table(tables[i], expected[i]);
        state_table_release(tables[i]);
    }
}

static void extreme_numbers_are_found(void)
{
    struct producer_state states[] = {{.producer = 0, .epoch = 1},
                                      {.producer = UINT32_MAX, .epoch = 2}};
    struct state_table *table = state_table_make(states, 2);
    CU_ASSERT_EQUAL(state_table_find(table, 0)->epoch, 1);
    CU_ASSERT_EQUAL(state_table_find(table, UINT32_MAX)->epoch, 2);
    CU_ASSERT_PTR_NULL(state_table_find(table, 1));
    CU_ASSERT_PTR_NULL(state_table_find(table, UINT32_MAX - 1));
    struct state_table *again = state_table_retain(table);
    state_table_release(table);
    CU_ASSERT_EQUAL(state_table_count(again), 2);
    state_table_release(again);
}

const struct harness_test state_table_tests[] = {
    HARNESS_TEST(older_tables_stay_as_they_were),
    HARNESS_TEST(extreme_numbers_are_found),
    {0},
};
