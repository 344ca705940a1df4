/* Tests of experiments/progress.c: what a terminal and a log file see. */
#include "experiments/trials/progress.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

static const struct progress_state state = {.done = 3, .total = 12, .failed = 1, .eta_s = 125};

static void terminal_line_is_rewritten_in_place(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct progress progress = {.stream = stream, .label = "p1", .terminal = true};
    progress_show(&progress, &state);
    progress_show(&progress, &state); /* too soon: nothing */
    progress_clear(&progress);
    fclose(stream);
    CU_ASSERT_STRING_EQUAL(text, "\rp1: 3 of 12 runs (25 %), 1 failed, about 2 min 05 s left\033[K"
                                 "\r\033[K");
    free(text);
}

static void log_file_gets_plain_lines(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct progress fresh = progress_make(stream, "p1");
    progress_show(&fresh, &state); /* not before ten seconds */
    struct progress due = {.stream = stream, .label = "p1"};
    struct progress_state unknown = {.done = 0, .total = 2, .eta_s = -1};
    progress_show(&due, &unknown);
    progress_clear(&due);
    fclose(stream);
    CU_ASSERT_STRING_EQUAL(text, "p1: 0 of 2 runs (0 %), time left unknown\n");
    free(text);
    struct progress silent = progress_make(NULL, "p1");
    progress_show(&silent, &state);
    progress_clear(&silent);
}

static void durations_read_well(void)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0, "0 s"},           {7.6, "8 s"}, {59.6, "1 min 00 s"}, {3599, "59 min 59 s"},
                {4800, "1 h 20 min"}, {-3, "0 s"}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char text[32];
        progress_duration_text(rows[i].seconds, text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
    }
}

const struct harness_test progress_tests[] = {
    HARNESS_TEST(terminal_line_is_rewritten_in_place),
    HARNESS_TEST(log_file_gets_plain_lines),
    HARNESS_TEST(durations_read_well),
    {0},
};
