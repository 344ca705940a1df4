/* order_digest_test.c - a committed order as text, the digests that follow from it, and logs of
 * ranks held against it: each kind of wrong line must be found. */
#include "experiments/consume/order_digest.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest_chain.h"
#include "core/tgb.h"
#include "core/tgb_payload.h"
#include "experiments/consume/slice_check.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define SLICES 2
#define TGB_BYTES 4096

static const char order_text[] = "1 3 1 1 4096\n2 4 1 1 4096\n3 3 1 2 4096\n4 3 2 3 4096\n";

#define DIGITS_13 "0000000000000"
#define DIGITS_130                                                                                 \
    DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13 DIGITS_13      \
        DIGITS_13

struct order_case {
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    struct order order;
    char error[ORDER_DIGEST_TEXT_MAX];
};

static bool case_open(struct order_case *c, const char *text)
{
    live_scratch_make(c->scratch);
    live_path(c->path, c->scratch, "order");
    scratch_write(c->path, text);
    return order_read(c->path, &c->order, c->error);
}

static void case_close(struct order_case *c)
{
    order_deinit(&c->order);
    scratch_remove(c->scratch);
}

/* ---- the order ---- */

static void orders_that_are_none_are_refused(void)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"", "holds no step"},
        {"1 3 1 1 4096", "holds no step"},
        {"1 3 1 1 4096\n3 3 1 2 4096\n", ":2: step 3 comes after step 1"},
        {"1 3 1 1 4096\n1 3 1 1 4096\n", ":2: step 1 comes after step 1"},
        {"1 3 1 1 4096\n2 3 1 3 4096\n", "sequence 3 of producer 3, where 2 would be next: one is"},
        {"1 3 1 1 4096\n2 3 1 1 4096\n", "where 2 would be next: it is there twice"},
        {"1 3 1 2 4096\n", "where 1 would be next"},
        {"1 3 1 1\n", ":1: expected STEP"},
        {"1 3 1 1 4096 7\n", ":1: expected STEP"},
        {"1 3 1 1 4096\nx 3 1 2 4096\n", ":2: expected STEP"},
        {"1 4294967296 1 1 4096\n", ":1: expected STEP"},
        {"0 3 1 1 4096\n", ":1: expected STEP"},
        {"run 7f\n", "holds no step"},
        {"run 7f\nrun 7f\n1 3 1 1 4096\n", ":2: expected STEP"},
        {"1 3 1 1 4096\nrun 7f\n", ":2: expected STEP"},
        {"run \n1 3 1 1 4096\n", ":1: expected STEP"},
        {"run 7f\n1 3 1 1\n", ":2: expected STEP"},
        {"1 3 1 1 " DIGITS_130 "4096\n", ":1: expected STEP"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct order_case c;
        CU_ASSERT_FALSE(case_open(&c, cases[i].text));
        CU_ASSERT_PTR_NOT_NULL(strstr(c.error, cases[i].error));
        if (strstr(c.error, cases[i].error) == NULL)
            printf("\n  expected %s\n  found    %s\n", cases[i].error, c.error);
        case_close(&c);
    }
}

static void missing_files_say_what_to_name(void)
{
    struct order_case c;
    struct order none;
    struct order_lives lives;
    CU_ASSERT_TRUE(case_open(&c, "1 3 1 1 4096\n"));
    CU_ASSERT_FALSE(order_read("/none/such", &none, c.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.error, "cannot read /none/such: No such file or directory; "
                                           "name a file that lakestream consume --order wrote"));
    order_deinit(&none);
    CU_ASSERT_FALSE(order_check_log(&c.order, 0, 7, c.scratch, &lives, c.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.error, "/rank-7.log: No such file or directory; name the "
                                           "folder of lakestream consume --log"));
    case_close(&c);
}

/* Which run it is of is nothing that a digest depends on. */
static void an_order_may_say_whose_it_is(void)
{
    struct order_case c;
    struct order_digest digest = {.slices = 4096, .first = 1};
    CU_ASSERT_TRUE(case_open(&c, "run 7f\n1 3 1 1 4096\n2 3 1 2 4096\n"));
    CU_ASSERT_EQUAL(c.order.count, 2);
    CU_ASSERT_EQUAL(c.order.first_line, 2);
    CU_ASSERT_FALSE(order_digest_make(&c.order, &digest, c.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.error, "order:2: 4096 bytes are too few"));
    order_digest_deinit(&digest);
    case_close(&c);
}

static void order_that_begins_later_is_whole_from_there(void)
{
    struct order_case c;
    CU_ASSERT_TRUE(case_open(&c, "7 3 1 5 4096\n8 3 1 6 4096\n"));
    CU_ASSERT_EQUAL(c.order.count, 2);
    CU_ASSERT_PTR_NULL(order_at(&c.order, 6));
    CU_ASSERT_EQUAL(order_at(&c.order, 8)->sequence, 6);
    CU_ASSERT_PTR_NULL(order_at(&c.order, 9));
    case_close(&c);
}

/* What is there once a line was added, or NULL where nothing may be. */
static void expect_appended(const char *text, uint64_t last_step, const char *expected)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[ORDER_FILE_TEXT_MAX];
    struct order_line last;
    struct order_line added = {.step = 2, .producer = 3, .epoch = 1, .sequence = 2, .tgb_bytes = 9};
    live_scratch_make(scratch);
    live_path(path, scratch, "order");
    scratch_write(path, text);
    FILE *stream = order_file_append(path, "7f", &last, error);
    CU_ASSERT_EQUAL(stream != NULL, last_step != UINT64_MAX);
    if (stream != NULL) {
        CU_ASSERT_EQUAL(last.step, last_step);
        order_file_write(stream, &added);
        fclose(stream);
    } else {
        CU_ASSERT_PTR_NOT_NULL(strstr(error, expected));
        expected = text;
    }
    char *found = live_read(path);
    CU_ASSERT_STRING_EQUAL(found, expected);
    free(found);
    scratch_remove(scratch);
}

static void appending_goes_on_behind_what_a_crash_left(void)
{
    expect_appended("", 0, "run 7f\n2 3 1 2 9\n");
    expect_appended("ru", 0, "run 7f\n2 3 1 2 9\n");
    expect_appended("run 7f\n", 0, "run 7f\n2 3 1 2 9\n");
    expect_appended("run 7f\n1 3", 0, "run 7f\n2 3 1 2 9\n");
    expect_appended("run 7f\n1 3 1 1 4096\n2 3 1 2 40", 1, "run 7f\n1 3 1 1 4096\n2 3 1 2 9\n");
}

static void only_the_order_of_this_run_is_gone_on_with(void)
{
    expect_appended("run 70\n1 3 1 1 4096\n", UINT64_MAX,
                    "is the order of another run (70) than this one (7f)");
    expect_appended("run 70\n", UINT64_MAX, "is the order of another run");
    expect_appended("1 3 1 1 4096\n", UINT64_MAX, "does not say which run's order it is");
    expect_appended("1 3 1 1\n", UINT64_MAX, ":1: expected STEP");
}

/* As file systems leave it whose sizes are on disk before their bytes. */
static void zeros_at_the_end_are_what_a_crash_left(void)
{
    struct order_case c;
    struct order_line last;
    CU_ASSERT_TRUE(case_open(&c, "run 7f\n1 3 1 1 4096\n"));
    scratch_cut(c.path, 5000);
    order_deinit(&c.order);
    CU_ASSERT_TRUE(order_read(c.path, &c.order, c.error));
    CU_ASSERT_EQUAL(c.order.count, 1);
    FILE *stream = order_file_append(c.path, "7f", &last, c.error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(last.step, 1);
    order_file_write(stream, &last);
    fclose(stream);
    char *text = live_read(c.path);
    CU_ASSERT_STRING_EQUAL(text, "run 7f\n1 3 1 1 4096\n1 3 1 1 4096\n");
    free(text);
    case_close(&c);
}

/* ---- digests ---- */

/* By hand, from the bytes themselves. */
static uint64_t digest_by_hand(uint32_t rank)
{
    static const struct {
        uint32_t producer;
        uint64_t sequence;
    } steps[] = {{3, 1}, {4, 1}, {3, 2}, {3, 3}};
    struct tgb_layout layout;
    uint8_t slice[TGB_BYTES];
    uint64_t digest = 0;
    enum tgb_error error = tgb_layout_make(TGB_BYTES, SLICES, &layout);
    assert(error == TGB_OK);
    uint64_t raw = tgb_layout_capacity(&layout);
    for (uint64_t i = 0; i < HARNESS_COUNT(steps); i++) {
        tgb_payload_fill(steps[i].producer, steps[i].sequence, rank * raw, raw, slice);
        digest = digest_chain_next(digest, i + 1, digest_chain_slice(slice, raw));
    }
    return digest;
}

static void digests_follow_from_the_order(void)
{
    struct order_case c;
    CU_ASSERT_TRUE(case_open(&c, order_text));
    for (uint32_t rank = 0; rank < SLICES; rank++) {
        struct order_digest digest = {.slices = SLICES, .rank = rank, .first = 1};
        CU_ASSERT_TRUE(order_digest_make(&c.order, &digest, c.error));
        CU_ASSERT_EQUAL(digest.next, 5);
        CU_ASSERT_EQUAL(order_digest_before(&digest, 1), 0);
        CU_ASSERT_EQUAL(order_digest_before(&digest, 5), digest_by_hand(rank));
        order_digest_deinit(&digest);
    }
    struct order_digest beyond = {.slices = SLICES, .first = 2, .next = 6};
    CU_ASSERT_FALSE(order_digest_make(&c.order, &beyond, c.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.error, "the order has 1 to 4"));
    case_close(&c);
}

/* What it is computed from might be anybody's number: none makes it run for hours. */
static void no_batch_is_larger_than_a_tgb_can_be(void)
{
    static const struct {
        const char *text;
        uint32_t slices;
        const char *error;
    } cases[] = {
        {"1 3 1 1 4096\n", 4096, "order:1: 4096 bytes are too few for a batch of 4096 slices"},
        {"1 3 1 1 4096\n2 3 1 2 9007199254740991\n", 0,
         "order:2: 9007199254740991 bytes are "
         "too many for a batch of 0 slices"},
        {"7 3 1 1 17179869185\n", 0, "order:1: 17179869185 bytes are too many"},
        {"7 3 1 1 4096\n8 3 1 2 9007199254740991\n", 2, "order:2: 9007199254740991 bytes are"},
        {"1 3 1 1 8589934784\n", 2, "which has 194 to 8589934783"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct order_case c;
        struct order_digest digest = {.slices = cases[i].slices};
        CU_ASSERT_TRUE_FATAL(case_open(&c, cases[i].text));
        digest.first = c.order.lines[0].step;
        CU_ASSERT_FALSE(order_digest_make(&c.order, &digest, c.error));
        CU_ASSERT_PTR_NOT_NULL(strstr(c.error, cases[i].error));
        if (strstr(c.error, cases[i].error) == NULL)
            printf("\n  expected %s\n  found    %s\n", cases[i].error, c.error);
        order_digest_deinit(&digest);
        case_close(&c);
    }
    static const uint32_t slices[] = {1, 2, 4096, TGB_SLICES_MAX};
    struct tgb_layout layout;
    for (size_t i = 0; i < HARNESS_COUNT(slices); i++) {
        uint64_t most = slice_check_tgb_max(slices[i]);
        CU_ASSERT_EQUAL(tgb_layout_make(most, slices[i], &layout), TGB_OK);
        CU_ASSERT_EQUAL(tgb_layout_make(most + 1, slices[i], &layout), TGB_BAD_SIZE);
    }
}

/* ---- logs ---- */

/* A line of the log for a step of the order, as it must be, of a digest that began at `first`. */
static void add_step(char *text, size_t capacity, const struct order *order, uint64_t first,
                     uint64_t step)
{
    struct order_digest digest = {.slices = SLICES, .rank = 1, .first = first};
    char error[ORDER_DIGEST_TEXT_MAX];
    const struct order_line *line = order_at(order, step);
    bool made = order_digest_make(order, &digest, error);
    assert(made);
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%" PRIu64 " %u %u %" PRIu64 " 1 %016" PRIx64 "\n", step,
             line->producer, line->epoch, line->sequence, order_digest_before(&digest, step + 1));
    order_digest_deinit(&digest);
}

static void add_start(char *text, size_t capacity, const struct order *order, uint64_t first,
                      uint64_t step)
{
    struct order_digest digest = {.slices = SLICES, .rank = 1, .first = first};
    char error[ORDER_DIGEST_TEXT_MAX];
    bool made = order_digest_make(order, &digest, error);
    assert(made);
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "start %" PRIu64 " 9 %016" PRIx64 "\n", step,
             order_digest_before(&digest, step));
    order_digest_deinit(&digest);
}

/* "s2" starts at step 2, "3" is given step 3; `broken` is appended as it is. NULL: it is right. */
static void expect_log(const char *words, const char *broken, const char *expected,
                       struct order_lives *lives)
{
    struct order_case c;
    char text[4096] = "";
    char path[LIVE_PATH_MAX];
    bool opened = case_open(&c, order_text);
    assert(opened);
    uint64_t first = (uint64_t)(words[1] - '0');
    for (; *words != '\0'; words++)
        if (*words == 's')
            add_start(text, sizeof(text), &c.order, first, (uint64_t)(*++words - '0'));
        else
            add_step(text, sizeof(text), &c.order, first, (uint64_t)(*words - '0'));
    size_t used = strlen(text);
    snprintf(text + used, sizeof(text) - used, "%s", broken);
    live_path(path, c.scratch, "rank-1.log");
    scratch_write(path, text);
    bool right = order_check_log(&c.order, SLICES, 1, c.scratch, lives, c.error);
    CU_ASSERT_EQUAL(right, expected == NULL);
    if (expected != NULL && strstr(c.error, expected) == NULL) {
        printf("\n  expected %s\n  found    %s\n", expected, right ? "nothing" : c.error);
        CU_FAIL("another error");
    }
    case_close(&c);
}

static void lives_join_where_they_went_on(void)
{
    struct order_lives lives;
    expect_log("s1123s2234s44", "", NULL, &lives);
    CU_ASSERT_EQUAL(lives.lives, 3);
    CU_ASSERT_EQUAL(lives.given, 7);
    CU_ASSERT_EQUAL(lives.first, 1);
    CU_ASSERT_EQUAL(lives.next, 5);
    CU_ASSERT_EQUAL(lives.digest, digest_by_hand(1));
    expect_log("s334", "", NULL, &lives);
    CU_ASSERT_EQUAL(lives.first, 3);
    expect_log("s1", "", NULL, &lives);
    CU_ASSERT_EQUAL(lives.next, 1);
}

static void wrong_lines_are_found(void)
{
    struct order_lives lives;
    expect_log("s113", "", "rank-1.log:3: step 3 was given, where 2 was next", &lives);
    expect_log("s111", "", "step 1 was given, where 2 was next", &lives);
    expect_log("s11s3", "", "a life starts at step 3, and those before it were at 1 to 2", &lives);
    expect_log("s22", "start 1 9 0000000000000000\n", "a life starts at step 1", &lives);
    expect_log("s11234", "5 3 2 4 1 0000000000000000\n", "step 5 was given, but 4 is the order's",
               &lives);
    expect_log("s11", "2 4 1 1 1 0000000000000000\n", "step 2: given was sequence 1", &lives);
    expect_log("s11", "2 3 1 2 1 0000000000000000\n", "sequence 2 of producer 3 (epoch 1)", &lives);
    expect_log("s11", "start 2 9 0000000000000000\n", "with digest 0000000000000000, but", &lives);
    expect_log("s11", "2 4 1 1 1 000000000000000\n", "it is no line of a log", &lives);
    expect_log("s11", "2 4 1 1 1", "it is no line of a log", &lives);
}

const struct harness_test order_digest_tests[] = {
    HARNESS_TEST(orders_that_are_none_are_refused),
    HARNESS_TEST(missing_files_say_what_to_name),
    HARNESS_TEST(an_order_may_say_whose_it_is),
    HARNESS_TEST(order_that_begins_later_is_whole_from_there),
    HARNESS_TEST(appending_goes_on_behind_what_a_crash_left),
    HARNESS_TEST(only_the_order_of_this_run_is_gone_on_with),
    HARNESS_TEST(zeros_at_the_end_are_what_a_crash_left),
    HARNESS_TEST(digests_follow_from_the_order),
    HARNESS_TEST(no_batch_is_larger_than_a_tgb_can_be),
    HARNESS_TEST(lives_join_where_they_went_on),
    HARNESS_TEST(wrong_lines_are_found),
    {0},
};
