/* live_test.c - live runs with real processes, real bytes and real deaths; what they leave is read
 * by inspect. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/random.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define NOBODY 65534
#define CHILDREN_MAX 64

/* One live run on a scratch folder. */
struct live_case {
    char scratch[SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    struct live_process process;
};

static void case_open(struct live_case *live, int producers, int duration_ms, const char *more)
{
    live_scratch_make(live->scratch);
    live_write_config(live->scratch, producers, duration_ms, more);
    live_path(live->config, live->scratch, "config.yaml");
    live_path(live->db, live->scratch, "results.db");
}

static void case_close(struct live_case *live)
{
    scratch_remove(live->scratch);
}

static void start(struct live_case *live, const char *resume)
{
    struct live_process_options options = {
        .scratch = live->scratch,
        .name = "live",
        .arguments = {"live", live->config, "--db", live->db, resume != NULL ? "--resume" : NULL,
                      resume},
    };
    live_process_start(&live->process, &options);
}

static int finish(struct live_case *live)
{
    return live_process_wait(&live->process, 60);
}

/* The chain of the only run is without a problem, and every payload byte is right. */
static json_t *check_chain(struct live_case *live, int producers)
{
    char url[LIVE_PATH_MAX];
    int status = -1;
    CU_ASSERT_TRUE_FATAL(live_run_url(live->scratch, "fixed", url));
    json_t *report = live_inspect(live->scratch, url, "--deep", &status);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
    if (status != 0)
        json_dumpf(json_object_get(report, "problems"), stderr, JSON_INDENT(1));
    const json_t *streams = json_object_get(report, "producers");
    CU_ASSERT_EQUAL((int)json_array_size(streams), producers);
    long long batches = 0;
    for (size_t i = 0; i < json_array_size(streams); i++) {
        const json_t *stream = json_array_get(streams, i);
        CU_ASSERT_EQUAL(live_number(stream, "gaps", NULL), 0);
        CU_ASSERT_EQUAL(live_number(stream, "duplicates", NULL), 0);
        CU_ASSERT_EQUAL(live_number(stream, "offset", NULL),
                        live_number(stream, "sequence", NULL) * 16384);
        batches += live_number(stream, "sequence", NULL);
    }
    CU_ASSERT_EQUAL(live_number(report, "tgbs", "verified"), batches);
    CU_ASSERT(batches > 0);
    return report;
}

static long long epochs(const json_t *report)
{
    long long sum = 0;
    const json_t *streams = json_object_get(report, "producers");
    for (size_t i = 0; i < json_array_size(streams); i++)
        sum += live_number(json_array_get(streams, i), "epoch", NULL);
    return sum;
}

/* Waits until all producers are at work: each has committed a batch. */
static void wait_for_work(struct live_case *live, int producers)
{
    char url[LIVE_PATH_MAX];
    for (int i = 0; i < 300; i++) {
        if (live_run_url(live->scratch, "fixed", url) &&
            live_all_committed(live->scratch, url, producers))
            return;
        live_pause(50);
    }
    CU_FAIL("the run does not get to work");
}

static void eight_producers_make_a_dense_chain(void)
{
    struct live_case live;
    case_open(&live, 8, 3000, "");
    start(&live, NULL);
    CU_ASSERT_EQUAL(finish(&live), 0);
    json_t *report = check_chain(&live, 8);
    CU_ASSERT_EQUAL(epochs(report), 8);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, " inspect file://"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "producers 0-7: pids "), 1);
    CU_ASSERT(live_count_in(live.process.out, "committed_mb_s") > 0);
    json_decref(report);
    case_close(&live);
}

static void sigint_ends_cleanly_and_resumes(void)
{
    struct live_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, 8, 60000, "");
    start(&live, NULL);
    wait_for_work(&live, 8);
    kill(-live.process.pid, SIGINT); /* the whole group, as a terminal does */
    CU_ASSERT_EQUAL(live_process_wait(&live.process, 10), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "stopped as asked"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "--resume file://"), 1);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 0);
    json_decref(check_chain(&live, 8));
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    live_write_config(live.scratch, 8, 2500, "");
    start(&live, url);
    CU_ASSERT_EQUAL(finish(&live), 0);
    json_t *report = check_chain(&live, 8);
    CU_ASSERT(epochs(report) > 8);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    json_decref(report);
    case_close(&live);
}

static void a_second_signal_kills(void)
{
    struct live_case live;
    pid_t children[CHILDREN_MAX];
    case_open(&live, 3, 60000, "");
    start(&live, NULL);
    wait_for_work(&live, 3);
    CU_ASSERT_EQUAL_FATAL(live_children_of(live.process.pid, children, CHILDREN_MAX), 3);
    kill(children[0], SIGSTOP); /* cannot end by itself */
    kill(live.process.pid, SIGTERM);
    live_pause(700);
    kill(live.process.pid, SIGTERM);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, 5), 130);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 0);
    json_decref(check_chain(&live, 3));
    case_close(&live);
}

/* "... goes on after sequence S, at offset O, ..." of the file's first such line. */
static bool resumed_at(const char *path, unsigned long long *sequence, unsigned long long *offset)
{
    char *text = live_read(path);
    const char *found = strstr(text, "goes on after sequence ");
    bool read = found != NULL &&
                sscanf(found, "goes on after sequence %llu, at offset %llu", sequence, offset) == 2;
    free(text);
    return read;
}

static void a_killed_producer_resumes_at_its_offset(void)
{
    struct live_case live;
    pid_t children[CHILDREN_MAX];
    unsigned long long sequence = 0;
    unsigned long long offset = 0;
    case_open(&live, 4, 6000, "");
    start(&live, NULL);
    wait_for_work(&live, 4);
    CU_ASSERT_EQUAL_FATAL(live_children_of(live.process.pid, children, CHILDREN_MAX), 4);
    kill(children[2], SIGKILL);
    CU_ASSERT_EQUAL(finish(&live), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "killed by signal 9"), 1);
    CU_ASSERT_TRUE(resumed_at(live.process.err, &sequence, &offset));
    CU_ASSERT(sequence > 0);
    CU_ASSERT_EQUAL(offset, sequence * 16384);
    json_t *report = check_chain(&live, 4);
    CU_ASSERT_EQUAL(epochs(report), 5);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    json_decref(report);
    case_close(&live);
}

static void many_random_kills_lose_nothing(void)
{
    struct live_case live;
    struct random_stream random = random_stream_make(7, 7);
    case_open(&live, 6, 6000, "");
    start(&live, NULL);
    wait_for_work(&live, 6);
    /* As many tries as a slow build needs: a child that is dead already counts once. */
    for (int i = 0; i < 100 && live_count_in(live.process.err, "killed by signal 9") < 9; i++) {
        pid_t children[CHILDREN_MAX];
        int count = live_children_of(live.process.pid, children, CHILDREN_MAX);
        if (count > 0)
            (void)kill(children[random_next(&random) % (uint64_t)count], SIGKILL);
        live_pause(50 + (int)(random_next(&random) % 200));
    }
    CU_ASSERT_EQUAL(finish(&live), 0);
    CU_ASSERT(live_count_in(live.process.err, "killed by signal 9") >= 9);
    json_decref(check_chain(&live, 6));
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    case_close(&live);
}

static void without_restart_a_death_fails_the_run(void)
{
    struct live_case live;
    pid_t children[CHILDREN_MAX];
    case_open(&live, 3, 60000, "live.restart: off\n");
    start(&live, NULL);
    wait_for_work(&live, 3);
    CU_ASSERT_EQUAL_FATAL(live_children_of(live.process.pid, children, CHILDREN_MAX), 3);
    kill(children[1], SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, 10), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "live.restart is off"), 1);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 0);
    json_decref(check_chain(&live, 3));
    case_close(&live);
}

static void a_dead_parent_takes_its_producers_along(void)
{
    struct live_case live;
    pid_t children[CHILDREN_MAX];
    case_open(&live, 3, 60000, "");
    start(&live, NULL);
    wait_for_work(&live, 3);
    int count = live_children_of(live.process.pid, children, CHILDREN_MAX);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    kill(live.process.pid, SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, 5), 128 + SIGKILL);
    int alive = count;
    for (int i = 0; i < 250 && alive > 0; i++) {
        alive = 0;
        for (int j = 0; j < count; j++)
            alive += kill(children[j], 0) == 0;
        live_pause(20);
    }
    CU_ASSERT_EQUAL(alive, 0);
    json_decref(check_chain(&live, 3));
    case_close(&live);
}

static void of_two_runs_on_one_chain_one_is_fenced(void)
{
    struct live_case first;
    char url[LIVE_PATH_MAX];
    case_open(&first, 4, 60000, "");
    start(&first, NULL);
    wait_for_work(&first, 4);
    CU_ASSERT_TRUE_FATAL(live_run_url(first.scratch, "fixed", url));
    live_write_config(first.scratch, 4, 3000, "");
    struct live_process second;
    struct live_process_options options = {
        .scratch = first.scratch,
        .name = "second",
        .arguments = {"live", first.config, "--db", first.db, "--resume", url},
    };
    live_process_start(&second, &options);
    CU_ASSERT_EQUAL(live_process_wait(&first.process, 20), 1);
    CU_ASSERT_EQUAL(live_process_wait(&second, 20), 0);
    CU_ASSERT_EQUAL(live_count_in(first.process.err, "it was fenced"), 1);
    json_t *report = check_chain(&first, 4);
    CU_ASSERT(epochs(report) > 4);
    CU_ASSERT_EQUAL(live_rows(first.scratch), 1); /* the second's */
    json_decref(report);
    case_close(&first);
}

/* ---- refusals ---- */

static int lines(const char *path)
{
    return live_count_in(path, "\n");
}

static void an_unwritable_folder_is_said_once(void)
{
    struct live_case live;
    char store[LIVE_PATH_MAX];
    case_open(&live, 4, 1000, "");
    live_path(store, live.scratch, "store");
    mkdir(store, 0555);
    struct live_process_options options = {
        .scratch = live.scratch,
        .name = "live",
        .user = geteuid() == 0 ? NOBODY : 0,
        .arguments = {"live", live.config, "--db", live.db},
    };
    CU_ASSERT_EQUAL(live_process_run(&live.process, &options), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "Permission denied"), 1);
    CU_ASSERT_EQUAL(lines(live.process.err), 2); /* after what the run would cost */
    CU_ASSERT_EQUAL(live_rows(live.scratch), 0);
    chmod(store, 0777);
    case_close(&live);
}

static void a_read_only_database_is_refused_first(void)
{
    struct live_case live;
    char store[LIVE_PATH_MAX];
    case_open(&live, 2, 500, "");
    start(&live, NULL);
    CU_ASSERT_EQUAL(finish(&live), 0);
    live_path(store, live.scratch, "store");
    scratch_remove(store);
    chmod(live.db, 0444);
    chmod(live.scratch, 0555);
    struct live_process_options options = {
        .scratch = "/tmp",
        .name = "lakestream-live-read-only",
        .user = geteuid() == 0 ? NOBODY : 0,
        .arguments = {"live", live.config, "--db", live.db},
    };
    CU_ASSERT_EQUAL(live_process_run(&live.process, &options), 1);
    CU_ASSERT(live_count_in(live.process.err, "results.db") > 0);
    CU_ASSERT_EQUAL(lines(live.process.err), 1);
    CU_ASSERT_NOT_EQUAL(access(store, F_OK), 0);
    unlink(live.process.out);
    unlink(live.process.err);
    chmod(live.scratch, 0777);
    case_close(&live);
}

/* In a mount namespace of its own: 0 as wanted, 77 not possible here, else what went wrong. */
static int on_a_small_disk(struct live_case *live)
{
    char store[LIVE_PATH_MAX];
    char url[LIVE_PATH_MAX];
    int status = -1;
    live_path(store, live->scratch, "store");
    mkdir(store, 0777);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", store, "tmpfs", 0, "size=1536k") != 0)
        return 77;
    start(live, NULL);
    if (finish(live) != 1)
        return 2;
    if (!live_run_url(live->scratch, "fixed", url))
        return 3;
    json_t *report = live_inspect(live->scratch, url, "--deep", &status);
    if (report == NULL || status != 0 || live_number(report, "version_count", NULL) < 2)
        return 4;
    json_decref(report);
    return 0;
}

static void a_full_disk_is_said_once(void)
{
    struct live_case live;
    case_open(&live, 4, 30000, "");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(on_a_small_disk(&live));
    int status = 0;
    waitpid(pid, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    live_path(live.process.err, live.scratch, "live.err");
    if (status == 77) {
        case_close(&live);
        HARNESS_SKIP("no mount namespaces here");
    }
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "No space left on device"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "free space"), 1);
    CU_ASSERT_EQUAL(live_rows(live.scratch), 0);
    case_close(&live);
}

static void bad_requests_are_usage_errors(void)
{
    struct live_case live;
    case_open(&live, 2, 500, "");
    const char *const bad[][3] = {
        {"--store", "gopher://x", "gopher"},
        {"--store", "file://", "names no directory"},
        {"--set", "live.store=", "live.store"},
        {"--set", "workload.producers=50000", "at most"},
        {"--resume", "nothing", "not a store's address"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(bad); i++) {
        struct live_process_options options = {
            .scratch = live.scratch,
            .name = "bad",
            .arguments = {"live", live.config, "--db", live.db, bad[i][0], bad[i][1]},
        };
        CU_ASSERT_EQUAL(live_process_run(&live.process, &options), 2);
        CU_ASSERT(live_count_in(live.process.err, bad[i][2]) > 0);
    }
    case_close(&live);
}

static void another_entry_size_is_refused_on_resume(void)
{
    struct live_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, 2, 500, "");
    start(&live, NULL);
    CU_ASSERT_EQUAL(finish(&live), 0);
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    live_write_config(live.scratch, 2, 500, "manifest.entry: 128B\n");
    start(&live, url);
    CU_ASSERT_EQUAL(finish(&live), 2);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "--set manifest.entry=64B"), 1);
    case_close(&live);
}

/* A chain of seed 77 is gone on with as that, or not at all. */
static void a_resumed_run_keeps_its_seed(void)
{
    struct live_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, 2, 500, "seed: 77\n");
    start(&live, NULL);
    CU_ASSERT_EQUAL(finish(&live), 0);
    CU_ASSERT_TRUE_FATAL(live_run_url(live.scratch, "fixed", url));
    live_write_config(live.scratch, 2, 500, "");
    struct live_process_options options = {
        .scratch = live.scratch,
        .name = "other",
        .arguments = {"live", live.config, "--db", live.db, "--resume", url, "--set", "seed=3"},
    };
    CU_ASSERT_EQUAL(live_process_run(&live.process, &options), 2);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "the run of seed 77"), 1);
    start(&live, url);
    CU_ASSERT_EQUAL(finish(&live), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "probe/fixed seed 77: 2 producers"), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "will replace the one of "), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "--set seed=N"), 0); /* it has that run's */
    CU_ASSERT_EQUAL(live_rows(live.scratch), 1);
    case_close(&live);
}

const struct harness_test live_tests[] = {
    HARNESS_TEST(eight_producers_make_a_dense_chain),
    HARNESS_TEST(sigint_ends_cleanly_and_resumes),
    HARNESS_TEST(a_second_signal_kills),
    HARNESS_TEST(a_killed_producer_resumes_at_its_offset),
    HARNESS_TEST(many_random_kills_lose_nothing),
    HARNESS_TEST(without_restart_a_death_fails_the_run),
    HARNESS_TEST(a_dead_parent_takes_its_producers_along),
    HARNESS_TEST(of_two_runs_on_one_chain_one_is_fenced),
    HARNESS_TEST(an_unwritable_folder_is_said_once),
    HARNESS_TEST(a_read_only_database_is_refused_first),
    HARNESS_TEST(a_full_disk_is_said_once),
    HARNESS_TEST(bad_requests_are_usage_errors),
    HARNESS_TEST(another_entry_size_is_refused_on_resume),
    HARNESS_TEST(a_resumed_run_keeps_its_seed),
    {0},
};
