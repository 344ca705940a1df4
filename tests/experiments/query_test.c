/* Tests of experiments/results/query*.c: exit statuses and what is printed, run in a child as a
 * user would. */
#include "experiments/results/query.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

enum {
    ARGUMENTS_MAX = 12,
    OUTPUT_MAX = 8192
};

struct answer {
    int status;
    char out[OUTPUT_MAX];
    char error[OUTPUT_MAX];
};

static void read_back(const char *path, char text[OUTPUT_MAX])
{
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(text, 1, OUTPUT_MAX - 1, file);
    text[size] = '\0';
    fclose(file);
    unlink(path);
}

/* Runs `query --db FILE ...`; the arguments end with NULL. */
static struct answer ask(const struct fixture *fixture, const char *const *arguments)
{
    struct answer answer = {0};
    char out[300];
    char error[300];
    snprintf(out, sizeof(out), "%s/out", fixture->directory);
    snprintf(error, sizeof(error), "%s/error", fixture->directory);
    char *argv[ARGUMENTS_MAX + 4] = {(char[]){"query"}, (char[]){"--db"}, strdup(fixture->path)};
    int argc = 3;
    for (; *arguments != NULL; arguments++)
        argv[argc++] = strdup(*arguments);
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        dup2(open(out, O_CREAT | O_WRONLY | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(open(error, O_CREAT | O_WRONLY | O_TRUNC, 0600), STDERR_FILENO);
        int status = query_main(argc, argv);
        fflush(stdout);
        fflush(stderr);
        _exit(status);
    }
    int status = -1;
    waitpid(child, &status, 0);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_back(out, answer.out);
    read_back(error, answer.error);
    for (int i = 2; i < argc; i++)
        free(argv[i]);
    return answer;
}

#define ASK(fixture, ...) ask((fixture), (const char *const[]){__VA_ARGS__, NULL})

/* Arms "fixed" (three seeds: 1, 2, 3) and "a,b" (one seed: 5). */
static struct fixture fill(void)
{
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct results_run run = fixture_run("fixed", seed);
        fixture_write(db, &run, (double)seed);
    }
    struct results_run run = fixture_run("a,b", 1);
    fixture_write(db, &run, 5);
    results_close(db);
    return fixture;
}

static void summary_has_means_over_seeds(void)
{
    struct fixture fixture = fill();
    struct answer answer = ASK(&fixture, "--csv", "--metric", "success");
    CU_ASSERT_EQUAL(answer.status, 0);
    /* t(.975, 2) = 4.302653 times 1 / sqrt(3) */
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "experiment,arm,mode,seeds,violations,success,"
                                              "success_ci95\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "test,\"a,b\",sim,1,0,5,\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "test,fixed,sim,3,0,2,2.4841377"));
    answer = ASK(&fixture, "--arm", "fix*");
    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "success [ratio]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "2.000 +- 2.5"));
    CU_ASSERT_PTR_NULL(strstr(answer.out, "a,b"));
    answer = ASK(&fixture, "--json");
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "\"success_ci95\": null"));
    fixture_remove(&fixture);
}

static void series_are_means_at_each_time(void)
{
    struct fixture fixture = fill();
    struct answer answer = ASK(&fixture, "--series", "age", "--csv", "--arm", "fixed");
    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "experiment,arm,mode,t,seeds,age,age_ci95\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "\ntest,fixed,sim,0,3,2,2.48"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "\ntest,fixed,sim,5940,3,101,2.48"));
    fixture_remove(&fixture);
}

static void sql_reads_and_never_writes(void)
{
    struct fixture fixture = fill();
    struct answer answer =
        ASK(&fixture, "--csv", "--sql", "SELECT arm, seed, NULL AS n FROM run ORDER BY id;");
    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_STRING_EQUAL(answer.out, "arm,seed,n\nfixed,1,\nfixed,2,\nfixed,3,\n\"a,b\",1,\n");
    static const char *const refused[] = {"DELETE FROM run",
                                          "SELECT 1; DELETE FROM run",
                                          "ATTACH 'x.db' AS x",
                                          "PRAGMA user_version = 3",
                                          "VACUUM INTO 'made.db'",
                                          "BEGIN",
                                          " "};
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        answer = ASK(&fixture, "--sql", refused[i]);
        CU_ASSERT_EQUAL(answer.status, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "only one SELECT"));
    }
    CU_ASSERT_NOT_EQUAL(access("made.db", F_OK), 0);
    answer = ASK(&fixture, "--sql", "SELECT oops FROM run");
    CU_ASSERT_EQUAL(answer.status, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "no such column"));
    fixture_remove(&fixture);
}

static void wrong_usage_is_status_two(void)
{
    struct fixture fixture = fill();
    struct answer answer = ASK(&fixture, "--metric", "sucess");
    CU_ASSERT_EQUAL(answer.status, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "no metric sucess; the database has: success"));
    answer = ASK(&fixture, "--arm", "none");
    CU_ASSERT_EQUAL(answer.status, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "test: fixed"));
    CU_ASSERT_EQUAL(ASK(&fixture, "--csv", "--json").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "--frobnicate").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "--series").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "--series", "none").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "--metric", "a,,b").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "operand").status, 2);
    CU_ASSERT_EQUAL(ASK(&fixture, "-h").status, 0);
    CU_ASSERT_EQUAL(ASK(&fixture, "-x").status, 2);
    answer = ASK(&fixture, "--help");
    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "--sql"));
    fixture_remove(&fixture);
}

/* What sim prints: not the arms that other configs of that name once had. */
static void only_the_arms_asked_for_are_shown(void)
{
    struct fixture fixture = fill();
    char text[OUTPUT_MAX];
    char path[300];
    struct query_shown shown = {
        .db = fixture.path, .experiment = "test", .arms = "[\"a,b\"]", .json = true};
    snprintf(path, sizeof(path), "%s/shown", fixture.directory);
    fflush(stdout);
    int old = dup(STDOUT_FILENO);
    dup2(open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
    CU_ASSERT_EQUAL(query_show(&shown), 0);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    read_back(path, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "a,b"));
    CU_ASSERT_PTR_NULL(strstr(text, "fixed"));
    fixture_remove(&fixture);
}

static void missing_database_is_status_one(void)
{
    struct fixture fixture = fixture_make();
    struct answer answer = ASK(&fixture, "--csv");
    CU_ASSERT_EQUAL(answer.status, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "no such file"));
    results_close(fixture_open(&fixture, RESULTS_WRITE));
    answer = ASK(&fixture, "--csv");
    CU_ASSERT_EQUAL(answer.status, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "nothing yet"));
    fixture_remove(&fixture);
}

/* Three arms; "odd" has another value of one key, and all sweep another. */
static void arms_that_differ_are_marked(void)
{
    static const char *const configs[][2] = {
        {"a", "policy.name dac default\nworkload.tgb 32MiB x.yaml:3\nrun.bin 1min x.yaml:4\n"},
        {"b", "policy.name aimd default\nworkload.tgb 32MiB x.yaml:3\nrun.bin 2min x.yaml:4\n"},
        {"odd", "policy.name incr x\nworkload.tgb 8MiB --set\nrun.bin 3min x.yaml:4\n"},
    };
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    for (size_t i = 0; i < HARNESS_COUNT(configs); i++) {
        struct results_run run = fixture_run(configs[i][0], 1);
        run.config = configs[i][1];
        run.sweep_key = "run.bin";
        fixture_write(db, &run, 1);
    }
    results_close(db);
    struct answer answer = ASK(&fixture, "--metric", "success");
    CU_ASSERT_EQUAL(answer.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "odd *"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "\n\n* test odd: workload.tgb=8MiB\n"));
    CU_ASSERT_PTR_NULL(strstr(answer.out, "a *"));
    CU_ASSERT_PTR_NULL(strstr(answer.out, "run.bin"));
    answer = ASK(&fixture, "--metric", "success", "--csv");
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.out, "\ntest,odd,sim,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.error, "workload.tgb=8MiB"));
    answer = ASK(&fixture, "--sql", "SELECT config, arm FROM run WHERE arm = 'odd'");
    CU_ASSERT_STRING_EQUAL(answer.out, "config                arm\npolicy.name incr x …  odd\n");
    fixture_remove(&fixture);
}

const struct harness_test query_tests[] = {
    HARNESS_TEST(summary_has_means_over_seeds),      HARNESS_TEST(series_are_means_at_each_time),
    HARNESS_TEST(sql_reads_and_never_writes),        HARNESS_TEST(wrong_usage_is_status_two),
    HARNESS_TEST(only_the_arms_asked_for_are_shown), HARNESS_TEST(missing_database_is_status_one),
    HARNESS_TEST(arms_that_differ_are_marked),       {0},
};
