/* calibrate_test.c - a fit finds again the profile that a simulated measurement was made with; a
 * real directory is measured, written, read, and left empty; a store that does not answer is given
 * up soon, and so is its cleaning. */
#include "experiments/calibrate/calibrate_fit.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/calibrate/calibrate_model.h"
#include "experiments/calibrate/calibrate_place.h"
#include "experiments/calibrate/calibrate_report.h"
#include "experiments/calibrate/calibrate_workers.h"
#include "experiments/config/options.h"
#include "experiments/config/profile.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define SEED 101

struct bench {
    struct calibrate_plan plan;
    struct calibrate_result measured[CALIBRATE_CELLS_MAX];
    struct config planted;
    struct config found;
    struct calibrate_fit fit;
};

static void plant(struct config *config, double cores)
{
    static const double work_ms[] = {0.8, 2.0, 2.2, 0.9, 1.0};
    static const double base_ms[] = {1.5, 4.0, 5.0, 2.0, 3.0};
    struct store_config *store = &config->store;
    config_default(config);
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        store->latency[verb].base_ns = (int64_t)(base_ms[verb] * 1e6);
        store->latency[verb].sigma = 0.25;
        store->latency[verb].stream_rate = 100e6;
        store->station.work_ns[verb] = (int64_t)(work_ms[verb] * 1e6);
        store->station.work_rate[verb] = 200e6;
    }
    store->station.cores = cores;
    store->apply_fraction = 0.6;
    store->read_fraction = 0.5;
    store->client_bandwidth = 1e12;
    store->bandwidth = 1e12;
    store->put_limit = 1e9;
    store->get_limit = 1e9;
    store->contention = (struct contention_config){.wait_ns = cores > 0 ? 300000 : 0};
}

static struct bench *bench_open(double cores)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert(bench != NULL);
    calibrate_plan_make(CALIBRATE_FULL, &bench->plan);
    plant(&bench->planted, cores);
    for (size_t i = 0; i < bench->plan.count; i++)
        calibrate_model_run(&bench->planted, &bench->plan.cells[i], SEED, &bench->measured[i]);
    config_default(&bench->found);
    calibrate_fit_run(&bench->plan, bench->measured, &bench->found, &bench->fit);
    return bench;
}

static void bench_close(struct bench *bench)
{
    for (size_t i = 0; i < CALIBRATE_CELLS_MAX; i++)
        calibrate_result_deinit(&bench->measured[i]);
    calibrate_fit_deinit(&bench->fit);
    free(bench);
}

static bool within(double value, double expected, double share)
{
    bool close = fabs(value / expected - 1.0) <= share;
    if (!close)
        printf("%g instead of %g\n", value, expected);
    return close;
}

static void a_planted_profile_is_found_again(void)
{
    struct bench *bench = bench_open(2);
    const struct store_config *found = &bench->found.store;
    const struct store_config *planted = &bench->planted.store;
    CU_ASSERT_TRUE(bench->fit.saturated);
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        CU_ASSERT_TRUE(within((double)found->latency[verb].base_ns,
                              (double)planted->latency[verb].base_ns, 0.1));
        CU_ASSERT_TRUE(within(found->latency[verb].sigma, 0.25, 0.2));
    }
    CU_ASSERT_TRUE(within(found->station.cores, 2, 0.26));
    for (size_t i = 0; i < bench->plan.count; i++)
        CU_ASSERT_TRUE(within(bench->fit.predicted[i].per_s, bench->measured[i].per_s, 0.15));
    bench_close(bench);
}

static void no_limit_means_no_cores(void)
{
    struct bench *bench = bench_open(0);
    CU_ASSERT_FALSE(bench->fit.saturated);
    CU_ASSERT_EQUAL(bench->found.store.station.cores, 0);
    bench_close(bench);
}

/* What the report writes is a profile that loads to the same store. */
static void a_profile_reads_back(void)
{
    struct bench *bench = bench_open(2);
    struct calibrate_report *report = calloc(1, sizeof(*report));
    char path[SCRATCH_MAX];
    struct diagnostic diagnostic;
    struct config loaded;
    report->plan = bench->plan;
    report->store = "s3://bucket";
    report->config = bench->found;
    report->fit = bench->fit;
    memcpy(report->measured, bench->measured, sizeof(report->measured));
    scratch_file(path, "");
    FILE *file = fopen(path, "w");
    calibrate_report_yaml(report, file);
    fclose(file);
    config_default(&loaded);
    CU_ASSERT_TRUE_FATAL(profile_load(path, &loaded, &diagnostic));
    for (size_t i = 0; i < option_count(); i++) {
        char written[OPTION_TEXT_MAX];
        char read[OPTION_TEXT_MAX];
        option_print(&bench->found, option_at(i), written);
        option_print(&loaded, option_at(i), read);
        if (strncmp(option_at(i)->key, "store.", 6) == 0)
            CU_ASSERT_STRING_EQUAL(read, written);
    }
    CU_ASSERT_EQUAL(loaded.price.put, 0);
    unlink(path);
    free(report); /* what it points to is the bench's */
    bench_close(bench);
}

/* ---- a real directory ---- */

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void make_folder(char folder[SCRATCH_MAX], char url[LIVE_URL_MAX])
{
    scratch_make(folder);
    char store[SCRATCH_MAX + 8];
    snprintf(store, sizeof(store), "file://%s", folder);
    CU_ASSERT_TRUE_FATAL(calibrate_place_choose(store, url));
}

static void every_kind_of_cell_is_measured_and_cleaned(void)
{
    char folder[SCRATCH_MAX];
    char url[LIVE_URL_MAX];
    char error[CALIBRATE_ERROR_MAX];
    uint64_t deleted = 0;
    make_folder(folder, url);
    struct live_session_options session = {.access = DIRECTORY_WRITE, .sync = DIRECTORY_NO_SYNC};
    struct calibrate_workers workers = {.url = url, .options = &session};
    struct live_signals signals;
    live_signals_open(&signals);
    CU_ASSERT_TRUE_FATAL(calibrate_workers_start(&workers, error));
    for (enum calibrate_work work = 0; work < CALIBRATE_WORK_COUNT; work++) {
        struct calibrate_cell cell = {.work = work,
                                      .number = work + 1,
                                      .clients = 2,
                                      .streams = 1,
                                      .bytes = 100,
                                      .request_min = 3,
                                      .request_max = 8,
                                      .duration_ns = 20 * NS_PER_MS};
        struct calibrate_result result = {0};
        CU_ASSERT_EQUAL(calibrate_workers_measure(&workers, &cell, &signals, &result, error),
                        CALIBRATE_MEASURED);
        CU_ASSERT_TRUE(result.count > 0);
        CU_ASSERT_EQUAL(result.count, result.successes);
        CU_ASSERT_TRUE(result.successes + result.lost <= 16);
        CU_ASSERT_TRUE(result.per_s > 0);
        calibrate_result_deinit(&result);
    }
    calibrate_workers_stop(&workers);
    CU_ASSERT_TRUE(count_entries(folder) > 0);
    CU_ASSERT_TRUE(calibrate_place_clean(url, &session, &signals, &deleted, error));
    live_signals_close(&signals);
    CU_ASSERT_TRUE(deleted > 0);
    CU_ASSERT_EQUAL(count_entries(folder), 0);
    scratch_remove(folder);
}

static void a_failing_store_says_why(void)
{
    char error[CALIBRATE_ERROR_MAX] = "";
    struct live_session_options session = {.access = DIRECTORY_WRITE};
    struct calibrate_workers workers = {.url = "file:///dev/null/x", .options = &session};
    struct calibrate_cell cell = {
        .work = CALIBRATE_PUT, .number = 1, .clients = 1, .streams = 1, .request_max = 2};
    struct calibrate_result result = {0};
    struct live_signals signals;
    live_signals_open(&signals);
    CU_ASSERT_TRUE_FATAL(calibrate_workers_start(&workers, error));
    CU_ASSERT_EQUAL(calibrate_workers_measure(&workers, &cell, &signals, &result, error),
                    CALIBRATE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/dev/null/x"));
    calibrate_workers_stop(&workers);
    live_signals_close(&signals);
    calibrate_result_deinit(&result);
}

static const char *program_path(void)
{
    const char *program = getenv("LAKESTREAM");
    return program != NULL ? program : "build/lakestream";
}

/* The verb, interrupted: it cleans up and ends with status 1. */
static void an_interruption_leaves_nothing(void)
{
    char folder[SCRATCH_MAX];
    char url[LIVE_URL_MAX];
    int status = 0;
    make_folder(folder, url);
    snprintf(url, sizeof(url), "file://%s", folder);
    const char *program = program_path();
    if (access(program, X_OK) != 0)
        HARNESS_SKIP("the program is not built; make build");
    pid_t pid = fork();
    if (pid == 0) {
        FILE *quiet = freopen("/dev/null", "w", stderr);
        execl(program, program, "calibrate", url, "--quick", quiet != NULL ? NULL : "", NULL);
        _exit(127);
    }
    for (int i = 0; i < 500 && count_entries(folder) == 0; i++)
        poll(NULL, 0, 20);
    CU_ASSERT_EQUAL(count_entries(folder), 1);
    kill(pid, SIGINT);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 1);
    CU_ASSERT_EQUAL(count_entries(folder), 0);
    scratch_remove(folder);
}

/* ---- S3 ---- */

static void use_keys_of_the_server(void)
{
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    setenv("AWS_REGION", "us-east-1", 1);
    unsetenv("AWS_SESSION_TOKEN");
}

/* Nothing listens there: one line, soon, and no profile. */
static void a_dead_endpoint_ends_it_soon(void)
{
    char scratch[SCRATCH_MAX], profile[LIVE_PATH_MAX];
    struct live_process process;
    const char *program = program_path();
    if (access(program, X_OK) != 0)
        HARNESS_SKIP("the program is not built; make build");
    live_scratch_make(scratch);
    live_path(profile, scratch, "made/profile.yaml");
    use_keys_of_the_server();
    struct live_process_options options = {.scratch = scratch,
                                           .name = "calibrate",
                                           .program = program,
                                           .arguments = {"calibrate", "s3://bucket", "--endpoint",
                                                         "http://127.0.0.1:1", "--out", profile}};
    live_process_start(&process, &options);
    CU_ASSERT_EQUAL(live_process_wait(&process, 10), 1);
    CU_ASSERT_EQUAL(live_count_in(process.err, "\n"), 1);
    CU_ASSERT_EQUAL(live_count_in(process.err, "http://127.0.0.1:1"), 1);
    CU_ASSERT_EQUAL(live_count_in(process.out, "\n"), 0);
    live_path(profile, scratch, "made");
    CU_ASSERT_NOT_EQUAL(access(profile, F_OK), 0);
    scratch_remove(scratch);
}

/* Cleans a prefix of one object while a signal waits, the `count`th. */
static bool clean_while_asked(struct hostile_server *server, uint32_t count,
                              char error[CALIBRATE_ERROR_MAX])
{
    struct live_session_options session = {.s3 = {.endpoint = hostile_server_url(server)}};
    struct live_signals signals;
    uint64_t deleted = 0;
    hostile_server_put(server, "calibrate-0/object", "1", 1);
    live_signals_open(&signals);
    signals.count = count - 1;
    signals.last_ns = 0;
    raise(SIGINT);
    bool clean = calibrate_place_clean("s3://" HOSTILE_BUCKET "/calibrate-0", &session, &signals,
                                       &deleted, error);
    CU_ASSERT_EQUAL(signals.count, count);
    CU_ASSERT_EQUAL(deleted, clean ? 1 : 0);
    live_signals_close(&signals);
    return clean;
}

static void a_second_signal_ends_the_cleaning(void)
{
    static const struct hostile_rule silent[] = {
        {.match = {.verb = HOSTILE_DELETE}, .reply = HOSTILE_SILENT, .apply = HOSTILE_APPLY_NOT},
        {.match = {.verb = HOSTILE_LIST}, .reply = HOSTILE_SILENT}};
    char error[CALIBRATE_ERROR_MAX] = "";
    struct hostile_options options = {0};
    struct hostile_server *server = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    use_keys_of_the_server();
    CU_ASSERT_TRUE(clean_while_asked(server, 1, error));
    for (size_t i = 0; i < HARNESS_COUNT(silent); i++) {
        int64_t begun_ns = progress_now_ns();
        hostile_server_rule(server, &silent[i]);
        CU_ASSERT_FALSE(clean_while_asked(server, 2, error));
        CU_ASSERT_STRING_EQUAL(error, "the cleaning was stopped as asked");
        CU_ASSERT_TRUE(progress_now_ns() - begun_ns < 5 * NS_PER_S);
    }
    hostile_server_stop(server);
}

const struct harness_test calibrate_tests[] = {
    HARNESS_TEST(a_planted_profile_is_found_again),
    HARNESS_TEST(no_limit_means_no_cores),
    HARNESS_TEST(a_profile_reads_back),
    HARNESS_TEST(every_kind_of_cell_is_measured_and_cleaned),
    HARNESS_TEST(a_failing_store_says_why),
    HARNESS_TEST(an_interruption_leaves_nothing),
    HARNESS_TEST(a_dead_endpoint_ends_it_soon),
    HARNESS_TEST(a_second_signal_ends_the_cleaning),
    {0},
};
