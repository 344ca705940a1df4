/* object_bound_test.c - what an object may have of bytes, by its length and by its head. */
#include "core/object_bound.h"

#include <string.h>

#include "tests/harness.h"

#define SMALL OBJECT_SMALL_BYTES
#define NO_HEAD UINT64_MAX /* it is not known yet */

/* As the first 8 bytes say. */
static uint64_t claimed(const uint8_t *head)
{
    uint64_t bytes;
    memcpy(&bytes, head, sizeof(bytes));
    return bytes;
}

static const struct row {
    struct object_bound bound;
    uint64_t bytes;
    uint64_t claim;
    bool fits;
    uint64_t limit;   /* whatever `bytes` is */
    const char *text; /* of what does not fit */
} rows[] = {
    {{0}, 0, NO_HEAD, true, SMALL, NULL},
    {{0}, SMALL, NO_HEAD, true, SMALL, NULL},
    {{0}, SMALL + 1, NO_HEAD, false, SMALL, "1048577 bytes, of which 1048576 may be read"},
    {{.bytes_max = 7}, 7, NO_HEAD, true, 7, NULL},
    {{.bytes_max = 7}, 8, NO_HEAD, false, 7, "8 bytes, of which 7 may be read"},
    {{.bytes_max = 7, .claimed = claimed}, 7, 8, true, 7, NULL},
    {{.bytes_max = 7, .claimed = claimed}, 8, 8, false, 7, "8 bytes, of which 7 may be read"},
    {{.bytes_max = UINT64_MAX}, UINT64_MAX, NO_HEAD, true, UINT64_MAX, NULL},
    /* A head is asked for what is not small. */
    {{9 * SMALL, claimed}, SMALL, 5, true, SMALL, NULL},
    {{9 * SMALL, claimed}, 8 * SMALL, NO_HEAD, true, SMALL, NULL},
    {{9 * SMALL, claimed}, 8 * SMALL, 8 * SMALL, true, 8 * SMALL, NULL},
    {{9 * SMALL, claimed}, 9 * SMALL, 9 * SMALL, true, 9 * SMALL, NULL},
    {{9 * SMALL, claimed},
     8 * SMALL,
     SMALL + 1,
     false,
     SMALL + 1,
     "8388608 bytes, and 1048577 by its first ones"},
    {{9 * SMALL, claimed},
     SMALL + 1,
     8 * SMALL,
     false,
     8 * SMALL,
     "1048577 bytes, and 8388608 by its first ones"},
    {{9 * SMALL, claimed}, 8 * SMALL, 1, false, SMALL, "8388608 bytes, and 1 by its first ones"},
    {{9 * SMALL, claimed},
     8 * SMALL,
     0,
     false,
     SMALL,
     "8388608 bytes, and the first ones are none of its kind"},
    {{9 * SMALL, claimed},
     8 * SMALL,
     10 * SMALL,
     false,
     SMALL,
     "8388608 bytes, and 10485760 by its first ones"},
    {{9 * SMALL, claimed},
     10 * SMALL,
     10 * SMALL,
     false,
     SMALL,
     "10485760 bytes, of which 9437184 may be read"},
};

static void what_fits_is_as_long_as_it_may_be_and_as_it_says(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        char text[OBJECT_BOUND_TEXT_MAX];
        uint8_t bytes[OBJECT_HEAD_BYTES] = {0};
        memcpy(bytes, &row->claim, sizeof(row->claim));
        const uint8_t *head = row->claim != NO_HEAD ? bytes : NULL;
        CU_ASSERT_EQUAL(object_bound_fits(&row->bound, row->bytes, head), row->fits);
        CU_ASSERT_EQUAL(object_bound_limit(&row->bound, head), row->limit);
        if (row->fits)
            continue;
        object_bound_text(&row->bound, row->bytes, head, text);
        CU_ASSERT_STRING_EQUAL(text, row->text);
    }
}

/* What may come without a length is never more than what may come with it. */
static void what_may_come_fits(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        uint8_t head[OBJECT_HEAD_BYTES] = {0};
        memcpy(head, &rows[i].claim, sizeof(rows[i].claim));
        const struct object_bound *bound = &rows[i].bound;
        CU_ASSERT(object_bound_limit(bound, NULL) <= object_bound_limit(bound, head));
        CU_ASSERT(object_bound_fits(bound, object_bound_limit(bound, NULL), NULL));
        CU_ASSERT(object_bound_fits(bound, object_bound_limit(bound, head), head));
    }
}

static void a_head_is_asked_for_where_it_decides(void)
{
    const struct object_bound plain = {.bytes_max = 9 * SMALL};
    const struct object_bound telling = {.bytes_max = 9 * SMALL, .claimed = claimed};
    CU_ASSERT_FALSE(object_bound_asks(&plain, 2 * SMALL));
    CU_ASSERT_FALSE(object_bound_asks(&telling, SMALL));
    CU_ASSERT_TRUE(object_bound_asks(&telling, SMALL + 1));
    CU_ASSERT_TRUE(object_bound_asks(&telling, 9 * SMALL));
    CU_ASSERT_FALSE(object_bound_asks(&telling, 9 * SMALL + 1)); /* it is refused in any case */
}

const struct harness_test object_bound_tests[] = {
    HARNESS_TEST(what_fits_is_as_long_as_it_may_be_and_as_it_says),
    HARNESS_TEST(what_may_come_fits),
    HARNESS_TEST(a_head_is_asked_for_where_it_decides),
    {0},
};
