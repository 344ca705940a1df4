/* text_line_test.c - lines of a file, in a buffer that is too small for some of them. */
#include "experiments/config/text_line.h"

#include <string.h>

#include "tests/harness.h"

struct expected {
    enum text_line line;
    const char *text;
};

static void check(const char *text, size_t bytes, const struct expected *expected, size_t count)
{
    char line[5];
    FILE *stream = fmemopen((void *)(uintptr_t)text, bytes, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(text_line_read(stream, line, sizeof(line)), expected[i].line);
        CU_ASSERT_STRING_EQUAL(line, expected[i].text);
    }
    fclose(stream);
}

static void lines_are_read_without_their_newlines(void)
{
    static const char text[] = "abcd\n\nb\r\nc";
    static const struct expected expected[] = {
        {TEXT_LINE_WHOLE, "abcd"}, {TEXT_LINE_WHOLE, ""}, {TEXT_LINE_WHOLE, "b\r"},
        {TEXT_LINE_LAST, "c"},     {TEXT_LINE_END, ""},   {TEXT_LINE_END, ""},
    };
    check(text, sizeof(text) - 1, expected, HARNESS_COUNT(expected));
}

static void what_does_not_fit_is_bad_and_the_next_goes_on(void)
{
    static const char text[] = "abcde\na\na\0b\nc\nabcdefghi";
    static const struct expected expected[] = {
        {TEXT_LINE_BAD, ""},    {TEXT_LINE_WHOLE, "a"},   {TEXT_LINE_BAD, ""},
        {TEXT_LINE_WHOLE, "c"}, {TEXT_LINE_BAD_LAST, ""}, {TEXT_LINE_END, ""},
    };
    check(text, sizeof(text) - 1, expected, HARNESS_COUNT(expected));
    CU_ASSERT_TRUE(text_line_bad(TEXT_LINE_BAD));
    CU_ASSERT_TRUE(text_line_bad(TEXT_LINE_BAD_LAST));
    CU_ASSERT_FALSE(text_line_bad(TEXT_LINE_LAST));
}

const struct harness_test text_line_tests[] = {
    HARNESS_TEST(lines_are_read_without_their_newlines),
    HARNESS_TEST(what_does_not_fit_is_bad_and_the_next_goes_on),
    {0},
};
