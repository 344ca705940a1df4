/* mark_test.c - what a mark says is believed up to the chain's end, and else named. */
#include "core/mark.h"

#include <string.h>

#include "core/name.h"
#include "tests/harness.h"

static void mark_up_to_the_end_is_borne_out(void)
{
    char text[MARK_TEXT_MAX] = "";
    CU_ASSERT_TRUE(mark_borne_out((struct mark){MARK_FLOOR, 5}, 5, text));
    CU_ASSERT_TRUE(mark_borne_out((struct mark){MARK_INTENT, 5}, 5, text));
    CU_ASSERT_TRUE(mark_borne_out((struct mark){MARK_INTENT, 1}, 1, text));
    CU_ASSERT_EQUAL(text[0], '\0');
    CU_ASSERT_FALSE(mark_borne_out((struct mark){MARK_INTENT, 6}, 5, text));
}

/* The text must lead to the object: its key is made here as whoever wrote it made it. */
static void mark_beyond_the_end_is_named(void)
{
    char text[MARK_TEXT_MAX];
    char key[STORE_KEY_MAX];
    struct floor floor = {.version = 77, .step = UINT64_C(1000000000000000)};
    CU_ASSERT_FALSE(mark_borne_out((struct mark){MARK_FLOOR, floor.step}, 43, text));
    name_floor(key, floor);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, NAME_FLOOR_PREFIX "*"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, strrchr(key, '-')));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "below 1000000000000000, "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ends before step 43"));
    CU_ASSERT_FALSE(mark_borne_out((struct mark){MARK_INTENT, NAME_COUNT_MAX}, 43, text));
    name_intent(key, NAME_COUNT_MAX);
    CU_ASSERT_EQUAL(strncmp(text, key, strlen(key)), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "; delete it")); /* nothing was cut off */
}

const struct harness_test mark_tests[] = {
    HARNESS_TEST(mark_up_to_the_end_is_borne_out),
    HARNESS_TEST(mark_beyond_the_end_is_named),
    {0},
};
