/* s3_pace_test.c - hold-off, budget and back-off, without a clock. */
#include "backend/s3_pace.h"

#include "tests/harness.h"

#define NOW (1000 * NS_PER_S)

static struct s3_pace make(void)
{
    struct s3_pace pace;
    s3_pace_init(&pace, random_stream_make(7, 1), NOW);
    return pace;
}

static void hold_offs_in_a_row_double(void)
{
    struct s3_pace pace = make();
    int64_t now_ns = NOW;
    int64_t bound_ns = S3_HOLD_FIRST_NS;
    for (int i = 0; i < 12; i++) {
        CU_ASSERT_TRUE(s3_pace_throttled(&pace, now_ns, now_ns, -1));
        int64_t hold_ns = pace.hold_until_ns - now_ns;
        CU_ASSERT(hold_ns >= bound_ns / 2 && hold_ns <= bound_ns);
        CU_ASSERT_TRUE(s3_pace_holds(&pace, now_ns));
        CU_ASSERT_FALSE(s3_pace_holds(&pace, pace.hold_until_ns));
        now_ns = pace.hold_until_ns;
        bound_ns = 2 * bound_ns < S3_HOLD_MAX_NS ? 2 * bound_ns : S3_HOLD_MAX_NS;
    }
}

static void requests_under_way_together_count_once(void)
{
    struct s3_pace pace = make();
    CU_ASSERT_TRUE(s3_pace_throttled(&pace, NOW, NOW - 5, -1));
    int64_t until_ns = pace.hold_until_ns;
    for (int i = 1; i < 50; i++)
        CU_ASSERT_FALSE(s3_pace_throttled(&pace, NOW + i, NOW - i, -1));
    CU_ASSERT_EQUAL(pace.hold_until_ns, until_ns);
    CU_ASSERT_EQUAL(pace.throttles, 1);
    s3_pace_answered(&pace, NOW - 1); /* sent before: says nothing about afterwards */
    CU_ASSERT_EQUAL(pace.throttles, 1);
    s3_pace_answered(&pace, NOW + 1);
    s3_pace_answered(&pace, NOW + 2);
    CU_ASSERT_EQUAL(pace.throttles, 0);
}

static void what_the_server_asks_for_counts_up_to_a_bound(void)
{
    struct s3_pace pace = make();
    (void)s3_pace_throttled(&pace, NOW, NOW, 3 * NS_PER_S);
    CU_ASSERT_EQUAL(pace.hold_until_ns, NOW + 3 * NS_PER_S);
    (void)s3_pace_throttled(&pace, NOW + 1, NOW - 1, 3600 * NS_PER_S);
    CU_ASSERT_EQUAL(pace.hold_until_ns, NOW + 1 + S3_RETRY_AFTER_MAX_NS);
    (void)s3_pace_throttled(&pace, NOW + 2, NOW + 2, -1); /* never shortened */
    CU_ASSERT_EQUAL(pace.hold_until_ns, NOW + 1 + S3_RETRY_AFTER_MAX_NS);
}

static int resends(struct s3_pace *pace, int64_t now_ns)
{
    int count = 0;
    while (count < 1000 && s3_pace_resend(pace, now_ns))
        count++;
    return count;
}

static void the_budget_bounds_resends(void)
{
    struct s3_pace pace = make();
    CU_ASSERT_EQUAL(resends(&pace, NOW), (int)S3_TOKENS_MAX);
    for (int i = 0; i < 105; i++)
        s3_pace_request(&pace);
    CU_ASSERT_EQUAL(resends(&pace, NOW), 10);
    CU_ASSERT_EQUAL(resends(&pace, NOW + 3 * NS_PER_S + 1), 3);
    CU_ASSERT_EQUAL(resends(&pace, NOW + 3600 * NS_PER_S), (int)S3_TOKENS_MAX);
}

static void back_off_is_jittered_up_to_its_bound(void)
{
    struct s3_pace pace = make();
    int64_t longest_ns = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t first_ns = s3_pace_backoff_ns(&pace, 1);
        CU_ASSERT(first_ns >= 0 && first_ns < S3_BACKOFF_FIRST_NS);
        int64_t late_ns = s3_pace_backoff_ns(&pace, 60);
        CU_ASSERT(late_ns >= 0 && late_ns < S3_BACKOFF_MAX_NS);
        longest_ns = late_ns > longest_ns ? late_ns : longest_ns;
    }
    CU_ASSERT(longest_ns > S3_BACKOFF_MAX_NS / 2);
}

const struct harness_test s3_pace_tests[] = {
    HARNESS_TEST(hold_offs_in_a_row_double),
    HARNESS_TEST(requests_under_way_together_count_once),
    HARNESS_TEST(what_the_server_asks_for_counts_up_to_a_bound),
    HARNESS_TEST(the_budget_bounds_resends),
    HARNESS_TEST(back_off_is_jittered_up_to_its_bound),
    {0}};
