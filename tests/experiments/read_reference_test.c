/* read_reference_test.c - what is read of a CSV of what ranks fetched; the one that is kept. */
#include "experiments/figures/read_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/scratch.h"

#define HEAD "# Machine: two cores.\n" READ_REFERENCE_COLUMNS "\n"
#define ROW "rgw,4,8,1000,10,1100,50,30,1650\n"

/* False: as read_reference_read. */
static bool read_text(const char *text, struct read_reference *reference,
                      struct diagnostic *diagnostic)
{
    char path[SCRATCH_MAX];
    scratch_file(path, text);
    bool done = read_reference_read(path, reference, diagnostic);
    unlink(path);
    return done;
}

static void rows_are_read(void)
{
    struct read_reference *reference = calloc(1, sizeof(*reference));
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE_FATAL(read_text(HEAD ROW ROW, reference, &diagnostic));
    CU_ASSERT_EQUAL(reference->count, 2);
    CU_ASSERT_STRING_EQUAL(reference->notes, "Machine: two cores.\n");
    const struct read_reference_row *row = &reference->rows[1];
    CU_ASSERT_STRING_EQUAL(row->server, "rgw");
    CU_ASSERT_EQUAL(row->ranks, 4);
    CU_ASSERT_EQUAL(row->given, 8);
    CU_ASSERT_EQUAL(row->requests, 30);
    /* 1650 received less 1100 and 50, over 10 requests. */
    CU_ASSERT_EQUAL(read_reference_heads(row), 50);
    free(reference);
}

static void what_is_wrong_is_said_by_line(void)
{
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"server,ranks\n", ":1: the columns are not "},
        {HEAD "rgw,4,8\n", ":3: 3 columns instead of 9"},
        {HEAD "rgw,4,8,many,10,1100,50,30,1650\n", ":3: "},
        {HEAD ROW "rgw,4,8,1000,7,1100,50,30,1650\n", ":4: its numbers contradict each other"},
        {HEAD "rgw,4,8,1000,10,1100,50,30,1149\n", ":3: its numbers contradict each other"},
        {HEAD "rgw,4,8,1000,10,999,50,30,1650\n", ":3: its numbers contradict each other"},
    };
    struct read_reference *reference = calloc(1, sizeof(*reference));
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct diagnostic diagnostic = {{0}};
        CU_ASSERT_FALSE(read_text(rows[i].text, reference, &diagnostic));
        CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, rows[i].said));
    }
    free(reference);
}

/* What the figure shows of live runs, as asked: at most 1.02 of all that was received. */
static void what_is_kept_holds_the_promise(void)
{
    struct read_reference *reference = calloc(1, sizeof(*reference));
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE_FATAL(read_reference_read("configs/reference/p6.csv", reference, &diagnostic));
    CU_ASSERT_EQUAL(reference->count, 10);
    for (size_t i = 0; i < reference->count; i++) {
        const struct read_reference_row *row = &reference->rows[i];
        CU_ASSERT((double)row->wire_bytes <= 1.02 * (double)row->needed_bytes);
        CU_ASSERT_EQUAL(row->needed_bytes, row->given << 20);
    }
    free(reference);
}

const struct harness_test read_reference_tests[] = {
    HARNESS_TEST(rows_are_read),
    HARNESS_TEST(what_is_wrong_is_said_by_line),
    HARNESS_TEST(what_is_kept_holds_the_promise),
    {0},
};
