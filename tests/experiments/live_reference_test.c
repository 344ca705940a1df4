/* live_reference_test.c - what is read of a CSV of live runs, and which arms it stands for. */
#include "experiments/figures/live_reference.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/scratch.h"

#define HEAD "# Machine: two cores.\n#Servers: one.\n" LIVE_REFERENCE_COLUMNS "\n"
#define ROW "rgw-dac/4,1,0.96,1.98,120,500kB/s,256KiB,30,abc,2026-01-01T00:00:00Z\n"

/* A row behind 511 characters: what a buffer of 512 bytes would cut off. */
#define X100                                                                                       \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"                                           \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG_ROW X100 X100 X100 X100 X100 "xxxxxxxxxxx" ROW

/* False: as live_reference_read. */
static bool read_text(const char *text, struct live_reference *reference,
                      struct diagnostic *diagnostic)
{
    char path[SCRATCH_MAX];
    scratch_file(path, text);
    bool done = live_reference_read(path, reference, diagnostic);
    unlink(path);
    return done;
}

static void rows_and_notes_are_read(void)
{
    struct live_reference *reference = calloc(1, sizeof(*reference));
    struct diagnostic diagnostic;
    struct config config;
    CU_ASSERT_TRUE_FATAL(read_text(HEAD ROW ROW, reference, &diagnostic));
    CU_ASSERT_EQUAL(reference->count, 2);
    CU_ASSERT_STRING_EQUAL(reference->notes, "Machine: two cores.\nServers: one.\n");
    const struct live_reference_row *row = &reference->rows[0];
    CU_ASSERT_EQUAL(row->success, 0.96);
    CU_ASSERT_EQUAL(row->committed_mb_s, 1.98);
    config_default(&config);
    config.workload.rate = 500e3;
    config.workload.tgb_bytes = 256 << 10;
    config.run.duration_ns = 30 * NS_PER_S;
    CU_ASSERT_TRUE(live_reference_matches(row, "rgw-dac/4", &config));
    CU_ASSERT_FALSE(live_reference_matches(row, "rgw-dac/8", &config));
    config.run.duration_ns = 60 * NS_PER_S;
    CU_ASSERT_FALSE(live_reference_matches(row, "rgw-dac/4", &config));
    free(reference);
}

static void what_is_wrong_is_said_by_line(void)
{
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"arm,seed\n", ":1: the columns are not "},
        {"", ": no line names the columns, "},
        {"# Machine: two cores.\n", ": no line names the columns, "},
        {HEAD ROW LONG_ROW, ":5: the line is too long"},
        {HEAD "rgw-dac/4,1,0.96\n", ":4: 3 columns instead of 10"},
        {HEAD "a,1,much,1.98,120,500kB/s,256KiB,30,abc,now\n", ":4: "},
        {HEAD ROW "a,1,1,1,1,500,256KiB,30,abc,now\n", ":5: "},
    };
    struct live_reference *reference = calloc(1, sizeof(*reference));
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct diagnostic diagnostic = {{0}};
        CU_ASSERT_FALSE(read_text(rows[i].text, reference, &diagnostic));
        CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, rows[i].said));
    }
    free(reference);
}

const struct harness_test live_reference_tests[] = {
    HARNESS_TEST(rows_and_notes_are_read),
    HARNESS_TEST(what_is_wrong_is_said_by_line),
    {0},
};
