/* What a round tells of who holds, in words and as JSON, from a report that needs hours to come by.
 */
#include "experiments/gc/gc_report.h"

#include <jansson.h>
#include <string.h>

#include "tests/harness.h"

#define TEXT_MAX 2000
#define NOW_NS (20000 * NS_PER_S)

static const struct gc_report_options LOOKED = {.url = "file:///run",
                                                .command = "lakestream gc file:///run",
                                                .grace_ns = 60 * NS_PER_S,
                                                .now_ns = NOW_NS};

/* Two hours old, a quarter of one unmoved. */
static struct reclaim_report held(void)
{
    return (struct reclaim_report){
        .end = RECLAIM_DONE,
        .newest = 40,
        .next_step = 61,
        .floor = {.version = 1, .step = 31},
        .watermark = 31,
        .holder = 7,
        .held_ns = 900 * NS_PER_S,
        .consumers = 8,
        .oldest_bucket = (20000 - 7200) / 8,
        .undecided_count = 1,
        .undecided_of = {
            {.producer = 3, .tgbs = 2, .bytes = 20, .oldest_bucket = (20000 - 4000) / 8}}};
}

/* What a report prints in one of its forms. */
enum form {
    ROUND,
    LINE,
    JSON,
};

static const char *printed(const struct reclaim_report *report, enum form form)
{
    static char text[TEXT_MAX];
    memset(text, 0, sizeof(text));
    FILE *stream = fmemopen(text, sizeof(text) - 1, "w");
    assert(stream != NULL);
    if (form == ROUND)
        gc_report_print(report, &LOOKED, stream);
    else if (form == LINE)
        gc_report_line(report, &LOOKED, stream);
    else
        gc_report_json(report, "", &LOOKED, stream);
    fclose(stream);
    return text;
}

static void expect_said(const char *text, const char *part)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    if (strstr(text, part) == NULL)
        printf("\n  '%s' is not in:\n%s\n", part, text);
}

static void an_abandoned_watermark_is_told(void)
{
    struct reclaim_report report = held();
    const char *text = printed(&report, ROUND);
    expect_said(text, "held by consumer 7, the lowest of 8");
    expect_said(text, "the oldest batch that is not given up was made 2 h 00 min ago");
    expect_said(text, "lakestream gc file:///run --retire-consumer 7\n");
    text = printed(&report, LINE);
    expect_said(text, "watermark 31 of consumer 7, unmoved for 15 min 00 s");
    expect_said(text, "lakestream gc file:///run --retire-consumer 7)");
    json_t *root = json_loads(printed(&report, JSON), 0, NULL);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(root, "held_s")), 900);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(root, "oldest_s")), 7200);
    const json_t *row = json_array_get(json_object_get(root, "undecided_of"), 0);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(row, "oldest_s")), 4000);
    json_decref(root);
}

static void one_that_moves_is_not_to_be_retired(void)
{
    struct reclaim_report report = held();
    report.held_ns = 20 * NS_PER_S;
    report.oldest_bucket = (20000 - 304) / 8; /* three checkpoints, two minutes apart */
    CU_ASSERT_PTR_NULL(strstr(printed(&report, ROUND), "--retire-consumer"));
    expect_said(printed(&report, LINE), "unmoved for 20 s;");
    report.held_ns = 0;
    expect_said(printed(&report, LINE), "watermark 31 of consumer 7; newest step 60");
}

/* The one without a watermark is to be looked for, and not who holds. */
static void who_is_missing_is_named_alone(void)
{
    struct reclaim_report report = held();
    report.missing = 1;
    report.first_missing = 4;
    CU_ASSERT_PTR_NULL(strstr(printed(&report, ROUND), "--retire-consumer 7"));
    expect_said(printed(&report, ROUND), "--retire-consumer 4\n");
    CU_ASSERT_PTR_NULL(strstr(printed(&report, LINE), "--retire-consumer 7"));
}

/* What a producer makes whose clock was an hour ahead stays for an hour. */
static void a_clock_that_was_ahead_is_told_in_every_form(void)
{
    struct reclaim_report report = held();
    report.young = 80;
    report.young_bucket = (20000 + 3600) / 8;
    expect_said(printed(&report, ROUND), "is 1 h 00 min ahead of this machine's clock");
    expect_said(printed(&report, LINE), "80 younger than --grace, the newest 1 h 00 min ahead of");
    expect_said(printed(&report, JSON), "\"ahead_s\":3600.0");
    report.young_bucket = 20000 / 8;
    CU_ASSERT_PTR_NULL(strstr(printed(&report, LINE), "ahead"));
    expect_said(printed(&report, JSON), "\"ahead_s\":0.0");
}

/* Nothing is held, so nobody is named. */
static void none_that_holds_is_none_told(void)
{
    struct reclaim_report report = held();
    report.watermark = 0;
    report.held_ns = 0;
    report.consumers = 0;
    CU_ASSERT_PTR_NULL(strstr(printed(&report, ROUND), "--retire-consumer"));
    CU_ASSERT_PTR_NULL(strstr(printed(&report, LINE), "watermark"));
}

const struct harness_test gc_report_tests[] = {
    HARNESS_TEST(an_abandoned_watermark_is_told),
    HARNESS_TEST(one_that_moves_is_not_to_be_retired),
    HARNESS_TEST(who_is_missing_is_named_alone),
    HARNESS_TEST(a_clock_that_was_ahead_is_told_in_every_form),
    HARNESS_TEST(none_that_holds_is_none_told),
    {0},
};
