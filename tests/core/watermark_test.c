/* watermark_test.c - what a listing says about consumers: which number counts, and what does not.
 */
#include "core/watermark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

#define CONSUMERS_MAX 8

/* `keys` in the order of a listing, each as "consumer number [step|retired]". */
struct expectation {
    const char *what;
    const char *keys;
    uint64_t floor_step;
    uint32_t count;
    struct watermark expected[3];
};

/* One item of the list; true if there was one. */
static bool take_name(const char **keys, struct watermark_name *name)
{
    char value[16] = "";
    *name = (struct watermark_name){.part = WATERMARK_NUMBER};
    if (sscanf(*keys, "%u %" SCNu64 " %15[0-9a-z]", &name->consumer, &name->number, value) < 2)
        return false;
    if (strcmp(value, "retired") == 0)
        name->part = WATERMARK_NUMBER_RETIRED;
    else if (sscanf(value, "%" SCNu64, &name->step) == 1)
        name->part = WATERMARK_NUMBER_VALUE;
    *keys += strcspn(*keys, ",");
    *keys += **keys == ',';
    return true;
}

static uint32_t scan_keys(const char *keys, uint64_t floor_step, struct watermark *found)
{
    struct watermark_scan scan;
    struct watermark_name name;
    uint32_t count = 0;
    watermark_scan_init(&scan, floor_step);
    while (take_name(&keys, &name)) {
        char key[STORE_KEY_MAX];
        name_watermark(key, &name);
        count += watermark_scan_add(&scan, key, &found[count]);
    }
    count += watermark_scan_end(&scan, &found[count]);
    CU_ASSERT_EQUAL(scan.foreign, 0);
    return count;
}

static const struct expectation expectations[] = {
    {"nobody", "", 1, 0, {{0}}},
    {"taken, no value", "3 1", 1, 1, {{3, WATERMARK_NONE, 0, 0, 1}}},
    {"a value", "3 1,3 1 7", 1, 1, {{3, WATERMARK_HELD, 7, 1, 1}}},
    {"its highest comes first", "3 1,3 1 9,3 1 8,3 1 7", 1, 1, {{3, WATERMARK_HELD, 9, 1, 1}}},
    {"at the floor", "3 1,3 1 7", 7, 1, {{3, WATERMARK_HELD, 7, 1, 1}}},
    {"below the floor", "3 1,3 1 7", 8, 1, {{3, WATERMARK_NONE, 0, 0, 1}}},
    {"higher number, lower value", "3 1,3 1 9,3 2,3 2 7", 1, 1, {{3, WATERMARK_HELD, 7, 2, 2}}},
    {"higher number, none yet", "3 1,3 1 9,3 2", 1, 1, {{3, WATERMARK_NONE, 0, 0, 2}}},
    {"none yet below one too low", "3 1,3 1 9,3 2,3 3,3 3 7", 8, 1, {{3, WATERMARK_NONE, 0, 0, 3}}},
    {"higher number, too low", "3 1,3 1 9,3 2,3 2 7", 8, 1, {{3, WATERMARK_HELD, 9, 1, 2}}},
    {"retired", "3 1,3 1 9,3 2,3 2 retired", 1, 1, {{3, WATERMARK_RETIRED, 0, 2, 2}}},
    {"retired with a value", "3 1,3 1 9,3 1 retired", 1, 1, {{3, WATERMARK_RETIRED, 0, 1, 1}}},
    {"back after retirement",
     "3 1,3 1 9,3 2,3 2 retired,3 3,3 3 12",
     1,
     1,
     {{3, WATERMARK_HELD, 12, 3, 3}}},
    {"newcomer after retirement", "3 2,3 2 retired,3 3", 1, 1, {{3, WATERMARK_NONE, 0, 0, 3}}},
    {"retired, then too low", "3 2,3 2 retired,3 3,3 3 5", 6, 1, {{3, WATERMARK_RETIRED, 0, 2, 3}}},
    {"values without their number", "3 5 9", 1, 1, {{3, WATERMARK_HELD, 9, 5, 5}}},
    {"two consumers", "1 1,1 1 4,2 1", 1, 2, {{1, WATERMARK_HELD, 4, 1, 1}, {2, 0, 0, 0, 1}}},
    {"same number twice",
     "1 1,2 1,2 1 6,4294967295 1 retired",
     1,
     3,
     {{1, WATERMARK_NONE, 0, 0, 1},
      {2, WATERMARK_HELD, 6, 1, 1},
      {UINT32_MAX, WATERMARK_RETIRED, 0, 1, 1}}},
};

static bool same(const struct watermark *a, const struct watermark *b)
{
    return a->consumer == b->consumer && a->state == b->state && a->step == b->step &&
           a->counted == b->counted && a->highest == b->highest;
}

static void highest_number_that_counts_says_it(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(expectations); i++) {
        const struct expectation *row = &expectations[i];
        struct watermark found[CONSUMERS_MAX] = {{0}};
        uint32_t count = scan_keys(row->keys, row->floor_step, found);
        bool right = count == row->count;
        for (uint32_t j = 0; right && j < count; j++)
            right = same(&found[j], &row->expected[j]);
        if (!right)
            printf("\n    %s: %s\n", row->what, row->keys);
        CU_ASSERT_TRUE(right);
    }
}

static void foreign_keys_are_passed_over_and_counted(void)
{
    static const char *const keys[] = {
        "watermark/",
        "watermark/0000000003/00000000000000000001",
        "watermark/0000000003/00000000000000000001-18446744073709551606",
        "watermark/0000000003/00000000000000000001-junk",
        "watermark/0000000003/00000000000000000002.tmp",
        "watermark/0000000003x/00000000000000000002-retired",
    };
    struct watermark_scan scan;
    struct watermark found;
    watermark_scan_init(&scan, 1);
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++)
        CU_ASSERT_FALSE(watermark_scan_add(&scan, keys[i], &found));
    CU_ASSERT_TRUE(watermark_scan_end(&scan, &found));
    CU_ASSERT_FALSE(watermark_scan_end(&scan, &found));
    CU_ASSERT_EQUAL(scan.foreign, 4);
    CU_ASSERT(found.state == WATERMARK_HELD && found.step == 9 && found.highest == 1);
}

static struct watermark_tally tally_of(const char *keys, uint32_t ranks)
{
    struct watermark found[CONSUMERS_MAX] = {{0}};
    struct watermark_tally tally;
    uint32_t count = scan_keys(keys, 1, found);
    watermark_tally_init(&tally, ranks);
    for (uint32_t i = 0; i < count; i++)
        watermark_tally_add(&tally, &found[i]);
    watermark_tally_end(&tally);
    return tally;
}

static void minimum_counts_only_when_nobody_is_missing(void)
{
    struct watermark_tally tally = tally_of("", 0);
    CU_ASSERT_FALSE(watermark_tally_complete(&tally));
    CU_ASSERT_EQUAL(tally.missing, 0);
    tally = tally_of("1 1,1 1 9,4 1,4 1 7,6 1,6 1 retired,8 2 7", 0);
    CU_ASSERT_TRUE(watermark_tally_complete(&tally));
    CU_ASSERT(tally.step == 7 && tally.holder == 4 && tally.consumers == 3 && tally.retired == 1);
    tally = tally_of("1 1,1 1 9,4 1,4 1 7,6 1", 0);
    CU_ASSERT_FALSE(watermark_tally_complete(&tally));
    CU_ASSERT(tally.missing == 1 && tally.first_missing == 6);
    tally = tally_of("0 1 retired,1 1 retired", 2);
    CU_ASSERT_FALSE(watermark_tally_complete(&tally));
    CU_ASSERT(tally.missing == 0 && tally.retired == 2);
}

static void declared_ranks_that_never_came_are_missing(void)
{
    struct watermark_tally tally = tally_of("", 3);
    CU_ASSERT(tally.missing == 3 && tally.first_missing == 0);
    tally = tally_of("0 1 5,2 1 6,9 1 3", 3);
    CU_ASSERT(tally.missing == 1 && tally.first_missing == 1 && tally.holder == 9);
    tally = tally_of("0 1 5,1 1", 4);
    CU_ASSERT(tally.missing == 3 && tally.first_missing == 1);
    tally = tally_of("0 1 5,1 1 retired,2 1 4,9 1 3", 3);
    CU_ASSERT_TRUE(watermark_tally_complete(&tally));
    CU_ASSERT(tally.step == 3 && tally.consumers == 3);
    tally = tally_of("4294967295 1 5", UINT32_MAX);
    CU_ASSERT(tally.missing == UINT32_MAX && tally.first_missing == 0);
}

const struct harness_test watermark_tests[] = {
    HARNESS_TEST(highest_number_that_counts_says_it),
    HARNESS_TEST(minimum_counts_only_when_nobody_is_missing),
    HARNESS_TEST(declared_ranks_that_never_came_are_missing),
    HARNESS_TEST(foreign_keys_are_passed_over_and_counted),
    {0},
};
