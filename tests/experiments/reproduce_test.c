/* Tests of `lakestream reproduce`: what is missing is said in one line that tells what to do. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/figures/figure_plot.h"
#include "experiments/verbs.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

#define SAID_MAX 1024
#define ARGUMENTS_MAX 12

/* Runs the verb with what is given after its name, up to NULL; keeps what it says on stderr. */
static int reproduce(const struct fixture *fixture, const char *const *given, char said[SAID_MAX])
{
    char path[300];
    char *arguments[ARGUMENTS_MAX + 1] = {strdup("reproduce")};
    int count = 1;
    while (given[count - 1] != NULL && count < ARGUMENTS_MAX) {
        arguments[count] = strdup(given[count - 1]);
        count++;
    }
    snprintf(path, sizeof(path), "%s/said", fixture->directory);
    fflush(stderr);
    int old = dup(2);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CU_ASSERT_TRUE_FATAL(old >= 0 && file >= 0);
    dup2(file, 2);
    int status = reproduce_main(count, arguments);
    fflush(stderr);
    dup2(old, 2);
    close(old);
    ssize_t size = pread(file, said, SAID_MAX - 1, 0);
    said[size > 0 ? size : 0] = '\0';
    close(file);
    unlink(path);
    for (int i = 0; i < count; i++)
        free(arguments[i]);
    return status;
}

static void expect_one_line(const char *said, const char *part)
{
    const char *end = strchr(said, '\n');
    CU_ASSERT_PTR_NOT_NULL(strstr(said, part));
    CU_ASSERT_TRUE(end && end[1] == '\0');
    if (strstr(said, part) == NULL)
        printf("\n  said     %s\n  expected %s\n", said, part);
}

static void write_program(const struct fixture *fixture, const char *name, const char *script)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    CU_ASSERT_EQUAL(chmod(path, 0755), 0);
}

static void missing_gnuplot_names_its_package(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    char *path = strdup(getenv("PATH"));
    setenv("PATH", fixture.directory, 1);
    int status = reproduce(
        &fixture,
        (const char *const[]){"p1", "--db", fixture.path, "--out", fixture.directory, NULL}, said);
    setenv("PATH", path, 1);
    free(path);
    CU_ASSERT_EQUAL(status, CLI_FAILED);
    expect_one_line(said, "install the package gnuplot-nox");
    CU_ASSERT_NOT_EQUAL(access(fixture.path, F_OK), 0);
    fixture_remove(&fixture);
}

static void missing_font_names_its_package(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    char *path = strdup(getenv("PATH"));
    write_program(&fixture, "gnuplot", "exit 0");
    write_program(&fixture, "fc-match", "echo Nimbus Sans");
    setenv("PATH", fixture.directory, 1);
    int status = reproduce(
        &fixture,
        (const char *const[]){"p1", "--db", fixture.path, "--out", fixture.directory, NULL}, said);
    setenv("PATH", path, 1);
    free(path);
    CU_ASSERT_EQUAL(status, CLI_FAILED);
    expect_one_line(said, "fonts-dejavu-core");
    fixture_remove(&fixture);
}

static void failing_gnuplot_is_quoted(void)
{
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    char *path = strdup(getenv("PATH"));
    write_program(&fixture, "gnuplot", "echo no such terminal >&2; exit 1");
    setenv("PATH", fixture.directory, 1);
    CU_ASSERT_FALSE(figure_plot_draw("plots", fixture.directory, "p1", &diagnostic));
    setenv("PATH", path, 1);
    free(path);
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "p1.svg"));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "no such terminal"));
    fixture_remove(&fixture);
}

static void empty_database_says_what_to_run(void)
{
    char said[SAID_MAX];
    struct diagnostic diagnostic;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    results_close(fixture_open(&fixture, RESULTS_WRITE));
    int status = reproduce(&fixture,
                           (const char *const[]){"p1", "--no-run", "--db", fixture.path, "--out",
                                                 fixture.directory, NULL},
                           said);
    CU_ASSERT_EQUAL(status, CLI_FAILED);
    expect_one_line(said, "run lakestream reproduce p1");
    fixture_remove(&fixture);
}

static void wrong_usage_is_refused(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    CU_ASSERT_EQUAL(reproduce(&fixture, (const char *const[]){"p11", NULL}, said), CLI_USAGE);
    expect_one_line(said, "unknown figure 'p11'");
    CU_ASSERT_EQUAL(reproduce(&fixture, (const char *const[]){"--out", NULL}, said), CLI_USAGE);
    expect_one_line(said, "--out needs a value");
    CU_ASSERT_EQUAL(reproduce(&fixture, (const char *const[]){"--quik", NULL}, said), CLI_USAGE);
    fixture_remove(&fixture);
}

/* The whole way on a small scale: simulated, drawn, and drawn again without a run. */
static void figure_is_drawn(void)
{
    static const char *const suffixes[] = {"svg", "png", "md", "tsv", "vars"};
    char said[SAID_MAX];
    char path[300];
    struct diagnostic diagnostic;
    struct stat status;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    fflush(stdout);
    int old = dup(1);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    close(null);
    int result =
        reproduce(&fixture,
                  (const char *const[]){"p1", "--set", "run.duration=20min", "--seeds", "2", "--db",
                                        fixture.path, "--out", fixture.directory, NULL},
                  said);
    fflush(stdout);
    dup2(old, 1);
    close(old);
    CU_ASSERT_EQUAL(result, CLI_DONE);
    for (size_t i = 0; i < HARNESS_COUNT(suffixes); i++) {
        snprintf(path, sizeof(path), "%s/p1.%s", fixture.directory, suffixes[i]);
        CU_ASSERT_EQUAL(stat(path, &status), 0);
        CU_ASSERT_TRUE(status.st_size > 100);
    }
    fixture_remove(&fixture);
}

const struct harness_test reproduce_tests[] = {
    HARNESS_TEST(missing_gnuplot_names_its_package),
    HARNESS_TEST(missing_font_names_its_package),
    HARNESS_TEST(failing_gnuplot_is_quoted),
    HARNESS_TEST(empty_database_says_what_to_run),
    HARNESS_TEST(wrong_usage_is_refused),
    HARNESS_TEST(figure_is_drawn),
    {0},
};
