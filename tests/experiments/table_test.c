/* Tests of experiments/results/table.c: the three formats, with values that need care. */
#include "experiments/results/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

/* Free the text. */
static char *printed(const struct table *table, enum table_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    table_print(table, format, stream);
    fclose(stream);
    return text;
}

static struct table *sample(void)
{
    struct table *table = table_open();
    table_add_column(table, "arm", "", TABLE_PLAIN);
    table_add_column(table, "seeds", "", TABLE_PLAIN);
    table_add_column(table, "success", "ratio", TABLE_PLAIN);
    table_add_column(table, "success_ci95", "ratio", TABLE_HALF_WIDTH);
    table_add_text(table, "fixed, \"1 s\"");
    table_add_integer(table, 10);
    table_add_number(table, 0.96312345);
    table_add_number(table, 0.00123456);
    table_add_text(table, "two\nlines");
    table_add_integer(table, 1);
    table_add_number(table, 0.1);
    table_add_number(table, NAN);
    return table;
}

static void check(enum table_format format, const char *expected)
{
    struct table *table = sample();
    char *text = printed(table, format);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    table_close(table);
}

static void csv_quotes_what_needs_it(void)
{
    check(TABLE_CSV, "arm,seeds,success,success_ci95\n"
                     "\"fixed, \"\"1 s\"\"\",10,0.96312345,0.00123456\n"
                     "\"two\nlines\",1,0.1,\n");
}

static void json_has_null_for_missing(void)
{
    struct table *table = sample();
    char *text = printed(table, TABLE_JSON);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"arm\": \"fixed, \\\"1 s\\\"\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"seeds\": 10"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"success_ci95\": null"));
    CU_ASSERT_EQUAL(text[0], '[');
    free(text);
    table_close(table);
}

static void aligned_joins_mean_and_half_width(void)
{
    struct table *table = table_open();
    table_add_column(table, "arm", "", TABLE_PLAIN);
    table_add_column(table, "rate", "MB/s", TABLE_PLAIN);
    table_add_column(table, "rate_ci95", "MB/s", TABLE_HALF_WIDTH);
    table_add_text(table, "d\xc3\xa9j\xc3\xa0");
    table_add_number(table, 431.94);
    table_add_number(table, 0.316);
    table_add_text(table, "b");
    table_add_number(table, 1234567.8);
    table_add_number(table, NAN);
    char *text = printed(table, TABLE_ALIGNED);
    CU_ASSERT_STRING_EQUAL(text, "arm     rate [MB/s]\n"
                                 "d\xc3\xa9j\xc3\xa0  431.9 +- 0.32\n"
                                 "b           1234568\n");
    free(text);
    table_close(table);
}

static void no_rows_is_a_heading(void)
{
    struct table *table = table_open();
    table_add_column(table, "a b", "", TABLE_PLAIN);
    char *csv = printed(table, TABLE_CSV);
    char *json = printed(table, TABLE_JSON);
    CU_ASSERT_STRING_EQUAL(csv, "a b\n");
    CU_ASSERT_STRING_EQUAL(json, "[]\n");
    free(csv);
    free(json);
    table_close(table);
}

const struct harness_test table_tests[] = {
    HARNESS_TEST(csv_quotes_what_needs_it),
    HARNESS_TEST(json_has_null_for_missing),
    HARNESS_TEST(aligned_joins_mean_and_half_width),
    HARNESS_TEST(no_rows_is_a_heading),
    {0},
};
