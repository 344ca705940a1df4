/* s3_text_test.c - texts of servers: cleaned, hidden, read as numbers. */
#include "backend/s3_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

static void copies_are_one_printable_line(void)
{
    static const struct {
        const char *text;
        const char *copy;  /* into 16 bytes */
        const char *whole; /* NULL: as copy */
    } cases[] = {
        {"", "", NULL},
        {"plain", "plain", NULL},
        {"  \t plain \r\n", "plain", NULL},
        {"two \n\n  lines", "two lines", ""},
        {"\x1b[31mred\x07", "[31mred", NULL},
        {"a\x1b[0mb", "a [0mb", ""},
        {"na\xc3\xafve \xe2\x80\xae!", "na?ve ?!", ""},
        {"\xff\xfe", "??", ""}, /* not UTF-8 at all */
        {"0123456789abcde", "0123456789abcde", NULL},
        {"0123456789abcdef", "0123456789abcde", ""},
        {"0123456789abcd  e", "0123456789abcd", ""},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        char copy[16];
        s3_text_copy(cases[i].text, strlen(cases[i].text), copy, sizeof(copy));
        CU_ASSERT_STRING_EQUAL(copy, cases[i].copy);
        s3_text_copy_whole(cases[i].text, strlen(cases[i].text), copy, sizeof(copy));
        CU_ASSERT_STRING_EQUAL(copy, cases[i].whole != NULL ? cases[i].whole : cases[i].copy);
    }
}

static void secrets_are_hidden(void)
{
    static const struct {
        const char *text;
        const char *shown;
    } cases[] = {
        {"", ""},
        {"Access Denied.", "Access Denied."},
        {"key AKIAIOSFODNN7EXAMPLE is unknown", "key AKIAIOSFODNN7EXAMPLE is unknown"},
        {"got fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024, sorry",
         "got [...], sorry"},
        {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "[...]"},
        {"Token=AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZ: no", "[...]: no"},
        {"a 0123456789012345678901234567890 b", "a 0123456789012345678901234567890 b"},
        {"a 01234567890123456789012345678901 b", "a [...] b"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        char text[128];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        s3_text_hide(text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].shown);
    }
}

static void numbers_are_digits_within_bounds(void)
{
    static const struct {
        const char *text;
        uint64_t max;
        int64_t number; /* -1: none */
    } cases[] = {
        {"", 10, -1},
        {"0", 0, 0},
        {"1", 0, -1},
        {"10", 10, 10},
        {"11", 10, -1},
        {"007", 10, 7},
        {"-1", 10, -1},
        {"+1", 10, -1},
        {" 1", 10, -1},
        {"1x", 10, -1},
        {"9223372036854775807", INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MAX, -1},
        {"99999999999999999999", UINT64_MAX, -1},
        {"18446744073709551616", UINT64_MAX, -1},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        uint64_t number = 12345;
        bool read = s3_text_number(cases[i].text, strlen(cases[i].text), cases[i].max, &number);
        CU_ASSERT_EQUAL(read, cases[i].number >= 0);
        CU_ASSERT_EQUAL(number, read ? (uint64_t)cases[i].number : 12345);
    }
    uint64_t number = 0;
    CU_ASSERT(s3_text_number("18446744073709551615", 20, UINT64_MAX, &number));
    CU_ASSERT_EQUAL(number, UINT64_MAX);
}

static void digits_of_either_case(void)
{
    static const char digits[] = "0123456789abcdef";
    for (int c = 0; c < 256; c++) {
        const char *at = c != 0 ? strchr(digits, c >= 'A' && c <= 'F' ? c + 'a' - 'A' : c) : NULL;
        CU_ASSERT_EQUAL(s3_text_digit((char)c), at != NULL ? at - digits : -1);
    }
}

const struct harness_test s3_text_tests[] = {HARNESS_TEST(copies_are_one_printable_line),
                                             HARNESS_TEST(secrets_are_hidden),
                                             HARNESS_TEST(numbers_are_digits_within_bounds),
                                             HARNESS_TEST(digits_of_either_case),
                                             {0}};
