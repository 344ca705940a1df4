/* swarm_verb_test.c - the flags of swarm: help, and what is said of wrong ones. */
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

static int run(const char *scratch, const char *const *arguments, struct live_process *process)
{
    struct live_process_options options = {
        .scratch = scratch,
        .name = "swarm",
        .arguments = {"swarm", arguments[0], arguments[0] != NULL ? arguments[1] : NULL},
    };
    return live_process_run(process, &options);
}

static void help_is_printed(void)
{
    static const char *const flags[][2] = {{"--help"}, {"-h"}};
    char scratch[SCRATCH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    for (size_t i = 0; i < HARNESS_COUNT(flags); i++) {
        CU_ASSERT_EQUAL(run(scratch, flags[i], &process), 0);
        CU_ASSERT_EQUAL(live_count_in(process.out, "usage: lakestream swarm"), 1);
        CU_ASSERT_EQUAL(live_count_in(process.err, "\n"), 0);
    }
    scratch_remove(scratch);
}

static void wrong_flags_are_named(void)
{
    static const struct {
        const char *arguments[2];
        const char *said;
    } rows[] = {
        {{"--nope"}, "unknown flag --nope; see "},
        {{"--nope=3"}, "unknown flag --nope=3; see "},
        {{"--trace=5"}, "unknown flag --trace=5; see "},
        {{"-x"}, "unknown flag -x; see "},
        {{"-xh"}, "unknown flag -x; see "},
        {{"--seeds"}, "--seeds needs a value; see "},
        {{"--trace", "--seed"}, "--seed needs a value; see "},
        {{"this"}, "swarm takes no this; see "},
    };
    char scratch[SCRATCH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        CU_ASSERT_EQUAL(run(scratch, rows[i].arguments, &process), 2);
        CU_ASSERT_EQUAL(live_count_in(process.err, rows[i].said), 1);
        CU_ASSERT_EQUAL(live_count_in(process.err, " swarm --help\n"), 1);
        CU_ASSERT_EQUAL(live_count_in(process.err, "\n"), 1);
    }
    scratch_remove(scratch);
}

const struct harness_test swarm_verb_tests[] = {
    HARNESS_TEST(help_is_printed),
    HARNESS_TEST(wrong_flags_are_named),
    {0},
};
