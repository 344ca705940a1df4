/* cli_test.c - flags, and the command that says again what was parsed. */
#include "experiments/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiments/expect.h"
#include "tests/harness.h"
#include "tests/scratch.h"

#define WORDS_MAX 20

static struct cli verb(void)
{
    return (struct cli){
        .usage = "usage: none",
        .flags = CLI_SET | CLI_SEEDS | CLI_DB | CLI_ARM | CLI_JSON,
        .operand = "CONFIG",
        .operands_min = 1,
        .operands_max = 1,
    };
}

/* getopt moves the words, so that they are copied; the texts are borrowed. */
static bool parse(struct cli *cli, char *words[WORDS_MAX], const char *const *given)
{
    int count = 0;
    for (; given[count] != NULL; count++)
        words[count] = (char *)(uintptr_t)given[count];
    words[count] = NULL;
    return cli_parse(cli, count, words);
}

static void commands_say_all_again(void)
{
    static const char *const given[] = {"sim",       "--json",  "--set", "a=b c",
                                        "it's.yaml", "--seeds", "5",     "--set=c=$d",
                                        "--arm",     "x/1s",    NULL};
    char *words[WORDS_MAX];
    char expected[1024];
    struct cli cli = verb();
    CU_ASSERT_TRUE_FATAL(parse(&cli, words, given));
    snprintf(expected, sizeof(expected),
             "%s sim 'it'\\''s.yaml' --set 'a=b c' --set 'c=$d' --seeds 5 --arm x/1s --json",
             cli_program());
    char *whole = cli_command(&cli, 0);
    expect_text("whole", whole, expected);
    snprintf(expected, sizeof(expected), "%s sim 'it'\\''s.yaml' --set 'a=b c' --set 'c=$d' --json",
             cli_program());
    char *part = cli_command(&cli, CLI_ARM | CLI_SEEDS);
    expect_text("part", part, expected);
    free(whole);
    free(part);
}

static void flags_are_given_once(void)
{
    static const char *const given[][6] = {
        {"sim", "x", "--arm=a", "--arm=b", NULL},
        {"sim", "x", "--json", "--json", NULL},
        {"sim", "--seeds", "1", NULL},
        {"sim", "x", "--seeds", "0", NULL},
        {"sim", "x", "y", NULL},
        {"sim", "x", "--db", "", NULL},
        {"sim", "x", "--set=", NULL},
    };
    for (size_t i = 0; i < HARNESS_COUNT(given); i++) {
        char *words[WORDS_MAX];
        struct cli cli = verb();
        CU_ASSERT_FALSE(parse(&cli, words, given[i]));
        CU_ASSERT_EQUAL(cli.status, CLI_USAGE);
    }
}

static void shipped_configs_have_names(void)
{
    char path[CONFIG_PATH_MAX];
    CU_ASSERT_TRUE_FATAL(cli_shipped_config("p1-quick", path));
    expect_text("p1-quick", path, "configs/experiments/p1-quick.yaml");
    CU_ASSERT_TRUE_FATAL(cli_shipped_config("local.yaml", path));
    expect_text("local.yaml", path, "configs/live/local.yaml");
    CU_ASSERT_FALSE(cli_shipped_config("configs/live/local.yaml", path)); /* it is here */
    CU_ASSERT_FALSE(cli_shipped_config("none", path));
    CU_ASSERT_FALSE(cli_shipped_config("", path));
    CU_ASSERT_FALSE(cli_shipped_config("/none/p1.yaml", path));
}

static void keys_are_set_once(void)
{
    static const char *const twice[] = {"sim", "x", "--set", "seeds=2", "--set", "seeds=3", NULL};
    static const char *const both[] = {"sim", "x", "--set", "seed=2", "--set", "seeds=3", NULL};
    char *words[WORDS_MAX];
    struct cli cli = verb();
    struct cli_overrides overrides;
    CU_ASSERT_TRUE_FATAL(parse(&cli, words, twice));
    CU_ASSERT_FALSE(cli_overrides(&cli, &overrides));
    cli = verb();
    CU_ASSERT_TRUE_FATAL(parse(&cli, words, both));
    CU_ASSERT_TRUE(cli_overrides(&cli, &overrides));
    CU_ASSERT_EQUAL(overrides.count, 2);
}

static void missing_data_say_where_to_run(void)
{
    char path[CONFIG_PATH_MAX];
    char said[400];
    FILE *file = tmpfile();
    CU_ASSERT_TRUE(cli_data_find("configs/reported.tsv", path));
    expect_text("here", path, "configs/reported.tsv");
    fflush(stderr);
    int old = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CU_ASSERT_FALSE(cli_data_find("configs/none.tsv", path));
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    ssize_t size = pread(fileno(file), said, sizeof(said) - 1, 0);
    said[size > 0 ? size : 0] = '\0';
    fclose(file);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "configs/none.tsv is neither in this folder nor in "));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "run in the project's folder, or run make install"));
}

static void flags_win_over_keys(void)
{
    static const char *const given[] = {"live",       "x",      "--endpoint",
                                        "http://h:1", "--set",  "live.style=path",
                                        "--region",   "r-1",    "--style",
                                        "virtual",    "--set",  "live.region=other",
                                        "--store",    "s3://b", "--unsigned-payload",
                                        NULL};
    static const char *const expected[] = {
        "live.style=path",          "live.region=other", "live.store=s3://b",
        "live.endpoint=http://h:1", "live.region=r-1",   "live.style=virtual",
        "live.payload=unsigned",
    };
    char *words[WORDS_MAX];
    struct cli cli = verb();
    struct cli_overrides overrides;
    cli.flags |= CLI_S3 | CLI_STORE;
    CU_ASSERT_TRUE_FATAL(parse(&cli, words, given));
    CU_ASSERT_TRUE_FATAL(cli_overrides(&cli, &overrides));
    CU_ASSERT_EQUAL_FATAL(overrides.count, HARNESS_COUNT(expected));
    for (size_t i = 0; i < HARNESS_COUNT(expected); i++)
        expect_text("override", overrides.texts[i], expected[i]);
}

/* The program's status when its output goes to `path`. */
static int run_program(const char *program, const char *verb, const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open(path, O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        execl(program, program, verb, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void output_that_is_lost_is_a_failure(void)
{
    const char *program = getenv("LAKESTREAM"); /* set by make */
    if (program == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    static const char *const shown[] = {"list", "help", "--version", "--help"};
    for (size_t i = 0; i < HARNESS_COUNT(shown); i++) {
        CU_ASSERT_EQUAL(run_program(program, shown[i], "/dev/null"), CLI_DONE);
        CU_ASSERT_EQUAL(run_program(program, shown[i], "/dev/full"), CLI_FAILED);
    }
}

/* The program's status, and what it says, where no file may be longer than 200 KiB. */
static int run_limited(const char *program, const char *db, FILE *said)
{
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {200 << 10, 200 << 10};
        setrlimit(RLIMIT_FSIZE, &limit);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        dup2(fileno(said), STDERR_FILENO);
        execl(program, program, "sim", "configs/experiments/p1.yaml", "--arm", "dac", "--seeds",
              "20", "--db", db, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void files_that_may_not_grow_are_a_failure(void)
{
    const char *program = getenv("LAKESTREAM"); /* set by make */
    if (program == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    char folder[SCRATCH_MAX];
    char db[SCRATCH_MAX + 8];
    char text[2048];
    FILE *said = tmpfile();
    scratch_make(folder);
    snprintf(db, sizeof(db), "%s/r.db", folder);
    CU_ASSERT_EQUAL(run_limited(program, db, said), CLI_FAILED);
    ssize_t size = pread(fileno(said), text, sizeof(text) - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "r.db: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ulimit -f"));
    fclose(said);
    scratch_remove(folder);
}

const struct harness_test cli_tests[] = {
    HARNESS_TEST(commands_say_all_again),
    HARNESS_TEST(flags_are_given_once),
    HARNESS_TEST(shipped_configs_have_names),
    HARNESS_TEST(flags_win_over_keys),
    HARNESS_TEST(keys_are_set_once),
    HARNESS_TEST(missing_data_say_where_to_run),
    HARNESS_TEST(output_that_is_lost_is_a_failure),
    HARNESS_TEST(files_that_may_not_grow_are_a_failure),
    {0},
};
