/* membership_view_test.c - what own keys say, in whatever order they come. */
#include "core/membership_view.h"

#include "tests/harness.h"

#define KEYS_MAX 6

struct view_case {
    uint64_t mine;
    uint64_t lowest;
    enum membership_fate fate;
    bool confirms_20;
    uint32_t count;
    struct watermark_name keys[KEYS_MAX];
};

#define NUMBER(n)                                                                                  \
    {                                                                                              \
        .part = WATERMARK_NUMBER, .number = (n)                                                    \
    }
#define VALUE(n, s)                                                                                \
    {                                                                                              \
        .part = WATERMARK_NUMBER_VALUE, .number = (n), .step = (s)                                 \
    }
#define RETIRED(n)                                                                                 \
    {                                                                                              \
        .part = WATERMARK_NUMBER_RETIRED, .number = (n)                                            \
    }
#define MINE MEMBERSHIP_FATE_MINE
#define GONE MEMBERSHIP_FATE_RETIRED
#define TAKEN MEMBERSHIP_FATE_SUPERSEDED

static const struct view_case cases[] = {
    {1, 0, MINE, false, 2, {NUMBER(1), VALUE(1, 5)}},
    {2, 1, MINE, true, 4, {NUMBER(1), VALUE(1, 20), NUMBER(2), VALUE(2, 20)}},
    {2, 1, MINE, false, 4, {NUMBER(1), VALUE(1, 21), NUMBER(2), VALUE(2, 20)}},
    {2, 1, MINE, false, 5, {NUMBER(1), VALUE(1, 21), VALUE(1, 9), NUMBER(2), VALUE(2, 20)}},
    {2, 1, MINE, true, 3, {NUMBER(1), NUMBER(2), VALUE(2, 30)}}, /* my own does not count */
    {3, 2, MINE, true, 4, {NUMBER(1), VALUE(1, 99), NUMBER(2), NUMBER(3)}},
    {3, 2, MINE, true, 4, {NUMBER(1), RETIRED(1), NUMBER(2), NUMBER(3)}},
    {3, 1, MINE, false, 2, {NUMBER(1), NUMBER(3)}},
    {3, 1, MINE, false, 4, {NUMBER(1), NUMBER(2), RETIRED(2), NUMBER(3)}},
    {2, 1, GONE, true, 3, {NUMBER(1), NUMBER(2), RETIRED(2)}},
    {2, 1, TAKEN, true, 3, {NUMBER(1), NUMBER(2), NUMBER(3)}},
    {2, 1, GONE, true, 4, {NUMBER(1), NUMBER(2), NUMBER(3), RETIRED(3)}},
    {2, 1, TAKEN, true, 5, {NUMBER(1), NUMBER(2), NUMBER(3), RETIRED(3), NUMBER(4)}},
    {2, 1, TAKEN, true, 3, {NUMBER(1), NUMBER(2), VALUE(5, 1)}},
};

/* Adds the keys from a different one on each time, forwards or backwards. */
static void check(const struct view_case *c, uint32_t from, uint32_t by)
{
    struct membership_view view;
    membership_view_init(&view, c->mine, c->lowest);
    for (uint32_t i = 0; i < c->count; i++)
        membership_view_add(&view, &c->keys[(from + i * by) % c->count]);
    CU_ASSERT_EQUAL(membership_view_fate(&view), c->fate);
    CU_ASSERT_EQUAL(membership_view_confirms(&view, 20), c->confirms_20);
}

static void own_keys_say_the_same_in_any_order(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        for (uint32_t from = 0; from < cases[i].count; from++) {
            check(&cases[i], from, 1);
            check(&cases[i], from, cases[i].count - 1);
        }
    }
}

const struct harness_test membership_view_tests[] = {
    HARNESS_TEST(own_keys_say_the_same_in_any_order),
    {0},
};
