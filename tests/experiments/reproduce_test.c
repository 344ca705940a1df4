/* Tests of `lakestream reproduce`: what is missing is said in one line that tells what to do. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/figures/figure_plot.h"
#include "experiments/figures/reproduce.h"
#include "experiments/verbs.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

#define SAID_MAX 1024
#define ARGUMENTS_MAX 16

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

/* P1 fails where there are no programs but the fixture's. */
static void expect_failure_alone(const struct fixture *fixture, char said[SAID_MAX])
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", fixture->directory, 1);
    int status = reproduce(
        fixture,
        (const char *const[]){"p1", "--db", fixture->path, "--out", fixture->directory, NULL},
        said);
    setenv("PATH", path, 1);
    free(path);
    CU_ASSERT_EQUAL(status, CLI_FAILED);
}

static void missing_gnuplot_names_its_package(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    expect_failure_alone(&fixture, said);
    expect_one_line(said, "install the package gnuplot-nox");
    CU_ASSERT_NOT_EQUAL(access(fixture.path, F_OK), 0);
    fixture_remove(&fixture);
}

static void missing_font_names_its_package(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    write_program(&fixture, "gnuplot", "exit 0");
    write_program(&fixture, "fc-match", "echo Nimbus Sans");
    expect_failure_alone(&fixture, said);
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
    expect_one_line(said, "holds 0 of the 100 runs of p1");
    CU_ASSERT_PTR_NOT_NULL(strstr(said, " reproduce p1 --db "));
    CU_ASSERT_PTR_NULL(strstr(said, "--no-run"));
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

/* Before anything is simulated, of whichever figure it is: sim_vs_live sweeps the producers. */
static void wrong_settings_are_usage_errors(void)
{
    static const struct {
        const char *set;
        const char *said;
    } wrong[] = {
        {"policy.dac.kapa=3", "nearest: 'policy.dac.kappa'"},
        {"run.warmup=6h", "must be below run.duration"},
        {"seeds=0", "out of range"},
        {"policy.name=best", "is not a choice"},
        {"workload.producers", "expected key=value"},
        {"workload.producers=8", "sweeps this key"},
    };
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    for (size_t i = 0; i < HARNESS_COUNT(wrong); i++) {
        CU_ASSERT_EQUAL(
            reproduce(&fixture,
                      (const char *const[]){"p1", "sim_vs_live", "--set", wrong[i].set, "--db",
                                            fixture.path, "--out", fixture.directory, NULL},
                      said),
            CLI_USAGE);
        expect_one_line(said, wrong[i].said);
        CU_ASSERT_NOT_EQUAL(access(fixture.path, F_OK), 0);
    }
    fixture_remove(&fixture);
}

/* Nothing is simulated for a page that cannot be written. */
static void missing_page_is_said_before_the_sweep(void)
{
    char said[SAID_MAX];
    char page[300];
    struct diagnostic diagnostic;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    snprintf(page, sizeof(page), "%s/none.md", fixture.directory);
    CU_ASSERT_EQUAL(reproduce(&fixture,
                              (const char *const[]){"p1", "--db", fixture.path, "--out",
                                                    fixture.directory, "--paper", page, NULL},
                              said),
                    CLI_FAILED);
    expect_one_line(said, "none.md: cannot be read: No such file or directory; --paper names");
    CU_ASSERT_NOT_EQUAL(access(fixture.path, F_OK), 0);
    fixture_remove(&fixture);
}

static const char *const suffixes[] = {"svg", "png", "md", "tsv", "vars"};

/* The same with what is printed put into a file, "printed" in the fixture's folder. */
static int reproduce_quietly(const struct fixture *fixture, const char *const *given,
                             char said[SAID_MAX])
{
    fflush(stdout);
    int old = dup(1);
    char path[300];
    snprintf(path, sizeof(path), "%s/printed", fixture->directory);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    close(file);
    int status = reproduce(fixture, given, said);
    fflush(stdout);
    dup2(old, 1);
    close(old);
    return status;
}

/* P1 on a small scale: 20 minutes, 2 seeds; `more` ends with NULL. */
static int reproduce_small(const struct fixture *fixture, const char *folder,
                           const char *const *more, char said[SAID_MAX])
{
    const char *given[ARGUMENTS_MAX] = {
        "p1", "--set", "run.duration=20min", "--db", fixture->path, "--out", folder};
    size_t count = 7;
    for (; *more != NULL; more++)
        given[count++] = *more;
    given[count] = NULL;
    return reproduce_quietly(fixture, given, said);
}

#define MORE(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The whole way on a small scale: simulated and drawn. */
static void figure_is_drawn(void)
{
    char said[SAID_MAX];
    char path[300];
    struct diagnostic diagnostic;
    struct stat status;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    int result = reproduce_small(&fixture, fixture.directory, MORE("--seeds", "2"), said);
    CU_ASSERT_EQUAL(result, CLI_DONE);
    for (size_t i = 0; i < HARNESS_COUNT(suffixes); i++) {
        snprintf(path, sizeof(path), "%s/p1.%s", fixture.directory, suffixes[i]);
        CU_ASSERT_EQUAL(stat(path, &status), 0);
        CU_ASSERT_TRUE(status.st_size > 100);
    }
    /* In so short a run nothing is found: there is no heading of nothing. */
    char printed[1024] = "";
    snprintf(path, sizeof(path), "%s/printed", fixture.directory);
    FILE *file = fopen(path, "r");
    CU_ASSERT_TRUE(fread(printed, 1, sizeof(printed) - 1, file) > 0);
    fclose(file);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, "look at:\n"));
    CU_ASSERT_PTR_NULL(strstr(printed, "found:"));
    fixture_remove(&fixture);
}

/* The figure's table; the caller frees it. */
static char *table_of(const char *folder)
{
    char path[300];
    char *text = calloc(1, 1 << 16);
    snprintf(path, sizeof(path), "%s/p1.md", folder);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_TRUE(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Whatever the same database was asked for last. */
static void figures_hold_what_was_asked_for(void)
{
    char said[SAID_MAX];
    struct diagnostic diagnostic;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    const char *folder = fixture.directory;
    CU_ASSERT_EQUAL(reproduce_small(&fixture, folder, MORE("--seeds", "2"), said), CLI_DONE);
    char *before = table_of(folder);
    CU_ASSERT_EQUAL(reproduce_small(&fixture, folder,
                                    MORE("--set", "workload.tgb=64MiB", "--seeds", "1"), said),
                    CLI_DONE);
    char *other = table_of(folder);
    CU_ASSERT_PTR_NOT_NULL(strstr(other, "64 MiB TGBs, simulated s3-standard store, 1 seed."));
    CU_ASSERT_EQUAL(reproduce_small(&fixture, folder, MORE("--seeds", "2", "--no-run"), said),
                    CLI_DONE);
    char *after = table_of(folder);
    CU_ASSERT_STRING_EQUAL(after, before);
    free(before);
    free(other);
    free(after);
    /* The quick figure has a seed more than there is. */
    CU_ASSERT_EQUAL(reproduce_small(&fixture, folder, MORE("--quick", "--no-run"), said), CLI_DONE);
    expect_one_line(
        said,
        "(missing: fixed-1s 1, fixed-10s 1, fixed-60s 1, aimd 1, aimd-100ms 1, incr 1, dac 1)");
    CU_ASSERT_PTR_NOT_NULL(strstr(said, " reproduce p1 --set run.duration=20min"));
    after = table_of(folder);
    CU_ASSERT_PTR_NOT_NULL(strstr(after, "2 of 10 to 40 seeds, 7 runs missing."));
    free(after);
    fixture_remove(&fixture);
}

static void only_the_shipped_figure_is_published(void)
{
    char said[SAID_MAX];
    struct fixture fixture = fixture_make();
    CU_ASSERT_EQUAL(reproduce(&fixture, MORE("p1", "--quick", "--paper", "x.md"), said), CLI_USAGE);
    expect_one_line(said, "leave out --set, --seeds and --quick");
    CU_ASSERT_EQUAL(reproduce(&fixture, MORE("p1", "--seeds", "2", "--docs"), said), CLI_USAGE);
    CU_ASSERT_EQUAL(reproduce(&fixture, MORE("p1", "--set", "a=b", "--docs"), said), CLI_USAGE);
    fixture_remove(&fixture);
}

static void figure_needs_no_headline(void)
{
    char message[RESULTS_MESSAGE_MAX];
    char said[SAID_MAX];
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    struct figure bare = *figure_find("p1");
    bare.headline = NULL;
    bare.detail = NULL;
    struct reported reported;
    CU_ASSERT_TRUE_FATAL(reported_read("configs/reported.tsv", &reported, &diagnostic));
    struct cli cli = {.sets = {"run.duration=20min"}, .set_count = 1};
    CU_ASSERT_EQUAL(reproduce_small(&fixture, fixture.directory, MORE("--seeds", "1"), said),
                    CLI_DONE);
    struct reproduce reproduce = {
        .folder = fixture.directory, .reported = &reported, .cli = &cli, .db_path = fixture.path};
    CU_ASSERT_EQUAL_FATAL(results_open(fixture.path, RESULTS_READ, &reproduce.db, message),
                          RESULTS_OK);
    struct reproduce_plan plan;
    struct reproduced drawn;
    CU_ASSERT_TRUE_FATAL(reproduce_plan_load(&cli, &bare, 1, &plan));
    CU_ASSERT_TRUE(reproduce_figure(&reproduce, &plan, stdout, &drawn, &diagnostic));
    CU_ASSERT_EQUAL(drawn.missing, 0);
    reproduced_deinit(&drawn);
    reproduce_plan_deinit(&plan);
    results_close(reproduce.db);
    fixture_remove(&fixture);
}

/* Every part is filled, by programs of a commit that can be found again. */
static void paper_page_is_whole(void)
{
    static char page[4 << 20];
    FILE *file = fopen("PAPER_REPRO.md", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(page, 1, sizeof(page) - 1, file);
    page[size] = '\0';
    fclose(file);
    size_t parts = 0;
    static const char begin[] = ":begin -->";
    for (const char *at = page; (at = strstr(at, begin)) != NULL; parts++) {
        at += strlen(begin);
        const char *text = at + strspn(at, " \n");
        if (strncmp(text, "<!-- ", 5) == 0)
            printf("\n  PAPER_REPRO.md: nothing before %.*s: run make reproduce, or "
                   "lakestream validate\n",
                   (int)strcspn(text, "\n"), text);
        CU_ASSERT_NOT_EQUAL(strncmp(text, "<!-- ", 5), 0);
    }
    CU_ASSERT_TRUE(parts >= 5);
    const char *dirty = strstr(page, "-dirty");
    if (dirty != NULL)
        printf("\n  PAPER_REPRO.md: %.19s: commit, then run make reproduce\n", dirty - 13);
    CU_ASSERT_PTR_NULL(dirty);
}

/* ---- a full disk ---- */

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

/* Child: draws onto file systems of several sizes. 0: all files or none, and always said. */
static int draw_on_full_disks(const struct fixture *fixture, const char *folder)
{
    static const char *const sizes[] = {"size=8k", "size=24k", "size=60k", "size=120k", "size=4m"};
    char said[SAID_MAX];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return 77;
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        if (mount("none", folder, "tmpfs", 0, sizes[i]) != 0)
            return 77;
        int status = reproduce_small(fixture, folder, MORE("--seeds", "1", "--no-run"), said);
        bool last = i + 1 == HARNESS_COUNT(sizes);
        const char *end = strchr(said, '\n');
        if (status != (last ? CLI_DONE : CLI_FAILED) || files_in(folder) != (last ? 5 : 0) ||
            (!last && (end == NULL || end[1] != '\0' || strstr(said, "--out") == NULL ||
                       strstr(said, folder) == NULL))) {
            printf("\n  %s: status %d, %zu files, said %s\n", sizes[i], status, files_in(folder),
                   said);
            return 1;
        }
        if (umount(folder) != 0)
            return 2;
    }
    return 0;
}

static void full_disk_leaves_nothing_half_drawn(void)
{
    char said[SAID_MAX];
    char folder[200];
    struct diagnostic diagnostic;
    struct fixture fixture = fixture_make();
    if (!figure_plot_ready(&diagnostic)) {
        fixture_remove(&fixture);
        HARNESS_SKIP("gnuplot or its font is missing");
    }
    snprintf(folder, sizeof(folder), "%s/small", fixture.directory);
    CU_ASSERT_EQUAL(reproduce_small(&fixture, fixture.directory, MORE("--seeds", "1"), said),
                    CLI_DONE);
    CU_ASSERT_EQUAL(mkdir(folder, 0700), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int status = draw_on_full_disks(&fixture, folder);
        fflush(stdout);
        _exit(status);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    fixture_remove(&fixture);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        HARNESS_SKIP("needs root, to mount a small file system");
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

const struct harness_test reproduce_tests[] = {
    HARNESS_TEST(missing_gnuplot_names_its_package),
    HARNESS_TEST(missing_font_names_its_package),
    HARNESS_TEST(failing_gnuplot_is_quoted),
    HARNESS_TEST(empty_database_says_what_to_run),
    HARNESS_TEST(wrong_usage_is_refused),
    HARNESS_TEST(wrong_settings_are_usage_errors),
    HARNESS_TEST(missing_page_is_said_before_the_sweep),
    HARNESS_TEST(figure_is_drawn),
    HARNESS_TEST(figures_hold_what_was_asked_for),
    HARNESS_TEST(only_the_shipped_figure_is_published),
    HARNESS_TEST(figure_needs_no_headline),
    HARNESS_TEST(paper_page_is_whole),
    HARNESS_TEST(full_disk_leaves_nothing_half_drawn),
    {0},
};
