/* retry_test.c - what is an answer to which verb, rows, bounds, waits and texts. */
#include "core/retry.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

#define A RETRY_ANSWERED
#define L RETRY_LATER
#define R RETRY_REFUSED

/* In the order of enum store_outcome: ok, exists, busy, not_found, unknown, throttled, failed. */
static void every_verb_has_its_answers(void)
{
    static const enum retry_verdict expected[STORE_VERB_COUNT][STORE_OUTCOME_COUNT] = {
        [STORE_GET] = {A, R, L, A, L, L, R},           [STORE_PUT] = {A, R, L, R, L, L, R},
        [STORE_PUT_IF_ABSENT] = {A, A, L, R, L, L, R}, [STORE_LIST] = {A, R, L, R, L, L, R},
        [STORE_DELETE] = {A, R, L, A, L, L, R},
    };
    struct store_op op;
    store_op_init(&op);
    for (unsigned verb = 0; verb < STORE_VERB_COUNT; verb++) {
        for (unsigned outcome = 0; outcome < STORE_OUTCOME_COUNT; outcome++) {
            char error[STORE_ERROR_MAX] = "";
            struct retry retry = {.row_max = 2, .row = 1, .total = 7};
            enum retry_verdict wanted = expected[verb][outcome];
            op.verb = (enum store_verb)verb;
            op.outcome = (enum store_outcome)outcome;
            CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), wanted);
            CU_ASSERT_EQUAL(retry.total, wanted == L ? 8 : 7);
            CU_ASSERT_EQUAL(retry.row, wanted == A ? 0 : wanted == L ? 2 : 1);
            CU_ASSERT_EQUAL(error[0] != '\0', wanted == R);
        }
    }
}

static void silence_is_judged_after_as_many_as_allowed_and_only_in_a_row(void)
{
    char error[STORE_ERROR_MAX];
    struct store_op op;
    struct retry retry = {.row_max = 3};
    store_op_init(&op);
    snprintf(op.key, sizeof(op.key), "intent/");
    for (int round = 0; round < 2; round++) {
        op.verb = STORE_LIST;
        op.outcome = STORE_THROTTLED;
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_LATER);
        op.outcome = STORE_OK;
        CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_ANSWERED);
    }
    op.outcome = STORE_UNKNOWN;
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_LATER);
    CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_SILENT);
    CU_ASSERT_EQUAL(retry.total, 9);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not answered 3 times in a row: list intent/: no answer"));
}

/* A store's text ends with what to do: it is not cut for what it says itself. */
static void store_s_own_text_is_kept_whole(void)
{
    char error[STORE_ERROR_MAX];
    struct store_op op;
    struct retry retry = {.row_max = 0};
    store_op_init(&op);
    op.verb = STORE_GET;
    snprintf(op.key, sizeof(op.key), "manifest/1");
    op.outcome = STORE_FAILED;
    CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "get manifest/1: refused"));
    memset(op.error, 'x', STORE_ERROR_MAX - 1);
    op.error[STORE_ERROR_MAX - 1] = '\0';
    CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_REFUSED);
    CU_ASSERT_STRING_EQUAL(error, op.error);
    op.outcome = STORE_UNKNOWN;
    CU_ASSERT_EQUAL(retry_judge(&retry, &op, error), RETRY_SILENT);
    CU_ASSERT_EQUAL(strncmp(error, "not answered 0 times in a row: xxx", 34), 0);
    CU_ASSERT_EQUAL(strlen(error), STORE_ERROR_MAX - 1);
}

static void wait_is_a_part_of_a_bound_that_doubles(void)
{
    struct retry retry = {.first_ns = 100, .max_ns = 300};
    struct random_stream random = random_stream_make(1, 2);
    struct random_stream same = random;
    static const double bounds[] = {100, 200, 300, 300};
    for (uint32_t failures = 1; failures <= HARNESS_COUNT(bounds); failures++) {
        int64_t expected = 5000 + (int64_t)(bounds[failures - 1] * random_unit(&same));
        CU_ASSERT_EQUAL(retry_at_ns(&retry, failures, &random, 5000), expected);
    }
    CU_ASSERT_EQUAL(random.counter, HARNESS_COUNT(bounds));
}

const struct harness_test retry_tests[] = {
    HARNESS_TEST(every_verb_has_its_answers),
    HARNESS_TEST(silence_is_judged_after_as_many_as_allowed_and_only_in_a_row),
    HARNESS_TEST(store_s_own_text_is_kept_whole),
    HARNESS_TEST(wait_is_a_part_of_a_bound_that_doubles),
    {0},
};
