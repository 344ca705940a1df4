/* live_ranks_test.c - who is who, from flags and from what launchers leave in the environment. */
#include "experiments/live/live_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define VARIABLES_MAX 6

static const char *const known[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",     "PMI_SIZE",
    "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT",  "SLURM_NTASKS"};

/* Names and values in turn; the rest is unset. */
static void set_environment(const char *const *variables)
{
    for (size_t i = 0; i < HARNESS_COUNT(known); i++)
        unsetenv(known[i]);
    for (size_t i = 0; variables[i] != NULL; i += 2)
        setenv(variables[i], variables[i + 1], 1);
}

struct found_row {
    const char *variables[2 * VARIABLES_MAX + 1];
    struct live_ranks_flags flags;
    uint32_t rank;
    uint32_t count;
    const char *token;
};

static void launchers_and_flags_are_understood(void)
{
    static const struct found_row rows[] = {
        {{NULL}, {0}, 0, 1, ""},
        {{NULL}, {.rank = "2", .ranks = 3, .token = "abc"}, 2, 3, "abc"},
        {{"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "4"}, {.token = "m"}, 1, 4, "m"},
        {{"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1"}, {0}, 0, 1, ""},
        {{"PMI_RANK", "7", "PMI_SIZE", "8"}, {.token = "m"}, 7, 8, "m"},
        {{"SLURM_PROCID", "3", "SLURM_STEP_NUM_TASKS", "4", "SLURM_JOB_ID", "12", "SLURM_STEP_ID",
          "0"},
         {0},
         3,
         4,
         "slurm-12-0-0"},
        {{"SLURM_PROCID", "3", "SLURM_STEP_NUM_TASKS", "4", "SLURM_JOB_ID", "12", "SLURM_STEP_ID",
          "1", "SLURM_RESTART_COUNT", "2"},
         {0},
         3,
         4,
         "slurm-12-1-2"},
        /* In a batch script there is no step: nobody else was started. */
        {{"SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_JOB_ID", "12"}, {0}, 0, 1, ""},
        /* mpirun below srun: its own numbers count. */
        {{"OMPI_COMM_WORLD_RANK", "5", "OMPI_COMM_WORLD_SIZE", "6", "SLURM_PROCID", "1",
          "SLURM_STEP_NUM_TASKS", "2"},
         {.token = "m"},
         5,
         6,
         "m"},
        {{"SLURM_PROCID", "3", "SLURM_STEP_NUM_TASKS", "4"},
         {.rank = "0", .ranks = 2, .token = "own"},
         0,
         2,
         "own"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct live_ranks ranks;
        char text[LIVE_RANKS_TEXT_MAX] = "";
        set_environment(rows[i].variables);
        CU_ASSERT_TRUE_FATAL(live_ranks_find(&rows[i].flags, &ranks, text));
        CU_ASSERT_EQUAL(ranks.rank, rows[i].rank);
        CU_ASSERT_EQUAL(ranks.count, rows[i].count);
        CU_ASSERT_STRING_EQUAL(ranks.token, rows[i].token);
    }
    set_environment((const char *const[]){NULL});
}

struct refused_row {
    const char *variables[2 * VARIABLES_MAX + 1];
    struct live_ranks_flags flags;
    const char *expected;
};

static void contradictions_are_refused_in_one_line(void)
{
    static const struct refused_row rows[] = {
        {{NULL}, {.rank = "1"}, "--rank and --ranks belong together"},
        {{NULL}, {.ranks = 2}, "--rank and --ranks belong together"},
        {{NULL}, {.rank = "2", .ranks = 2, .token = "a"}, "rank 2 of 2"},
        {{NULL}, {.rank = "x", .ranks = 2, .token = "a"}, "--rank is 'x'"},
        {{NULL}, {.rank = "0", .ranks = 2}, "--token WORD"},
        {{NULL}, {.rank = "0", .ranks = 2, .token = "a/b"}, "--token: expected"},
        {{NULL}, {.rank = "0", .ranks = 2, .token = ""}, "--token: expected"},
        {{NULL}, {.rank = "0", .ranks = 99999, .token = "a"}, "at most 4096"},
        {{"PMI_RANK", "-1", "PMI_SIZE", "8"}, {.token = "m"}, "PMI_RANK is '-1'"},
        {{"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "4"}, {0}, "--token WORD"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct live_ranks ranks;
        char text[LIVE_RANKS_TEXT_MAX] = "";
        set_environment(rows[i].variables);
        CU_ASSERT_FALSE(live_ranks_find(&rows[i].flags, &ranks, text));
        CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].expected));
        CU_ASSERT_PTR_NULL(strchr(text, '\n'));
    }
    set_environment((const char *const[]){NULL});
}

static void shares_cover_every_producer_once(void)
{
    for (uint32_t count = 1; count <= 9; count++)
        for (uint32_t producers = count; producers <= 40; producers++) {
            uint32_t next = 0;
            for (uint32_t rank = 0; rank < count; rank++) {
                struct live_ranks ranks = {.rank = rank, .count = count};
                uint32_t first;
                uint32_t share;
                live_ranks_share(&ranks, producers, &first, &share);
                CU_ASSERT_EQUAL(first, next);
                CU_ASSERT(share >= producers / count && share <= producers / count + 1);
                next += share;
            }
            CU_ASSERT_EQUAL(next, producers);
        }
}

const struct harness_test live_ranks_tests[] = {
    HARNESS_TEST(launchers_and_flags_are_understood),
    HARNESS_TEST(contradictions_are_refused_in_one_line),
    HARNESS_TEST(shares_cover_every_producer_once),
    {0},
};
