/* produce_test.c - one producer as a verb: synthetic batches, files, going on after a crash. */
#include "experiments/produce/produce.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define FILES_MAX 10

struct produce_case {
    char scratch[SCRATCH_MAX];
    char url[LIVE_PATH_MAX];
    char files[FILES_MAX][LIVE_PATH_MAX];
    struct live_process process;
};

static void write_file(const char *path, size_t bytes, int seed)
{
    FILE *file = fopen(path, "w");
    assert(file != NULL);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(i * 31 + i / 256 + (size_t)seed), file);
    fclose(file);
}

/* Ten files of 1,000, 2,000 ... bytes, and a run that is not there yet. */
static void case_open(struct produce_case *produce)
{
    live_scratch_make(produce->scratch);
    snprintf(produce->url, sizeof(produce->url), "file://%s/run", produce->scratch);
    for (int i = 0; i < FILES_MAX; i++) {
        live_path(produce->files[i], produce->scratch, "file-%d", i);
        write_file(produce->files[i], (size_t)(1000 * (i + 1)), i);
    }
}

static void case_close(struct produce_case *produce)
{
    scratch_remove(produce->scratch);
}

static struct live_process_options options_of(struct produce_case *produce)
{
    return (struct live_process_options){
        .scratch = produce->scratch,
        .name = "produce",
        .arguments = {"produce", produce->url, "--json"},
    };
}

/* Commits files from `first` to `last`, with one more flag or NULL; its status. */
static int commit_files(struct produce_case *produce, int first, int last, const char *flag)
{
    struct live_process_options options = options_of(produce);
    int count = 3;
    options.arguments[count++] = flag != NULL ? flag : "--set=live.sync=off";
    for (int i = first; i <= last; i++)
        options.arguments[count++] = produce->files[i];
    return live_process_run(&produce->process, &options);
}

static int commit_synthetic(struct produce_case *produce, const char *count, const char *flag)
{
    struct live_process_options options = options_of(produce);
    options.arguments[3] = "--bytes=2KiB";
    options.arguments[4] = count;
    options.arguments[5] = flag;
    return live_process_run(&produce->process, &options);
}

/* The chain is right, and producer 0 has committed so much. */
static void check_stream(struct produce_case *produce, long long sequence, long long offset)
{
    int status = -1;
    json_t *report = live_inspect(produce->scratch, produce->url, "--deep", &status);
    const json_t *stream = json_array_get(json_object_get(report, "producers"), 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(stream, "sequence", NULL), sequence);
    CU_ASSERT_EQUAL(live_number(stream, "offset", NULL), offset);
    CU_ASSERT_EQUAL(live_number(stream, "batches", NULL), sequence);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", "verified"), live_number(report, "tgbs", "count"));
    json_decref(report);
}

static int shown(const struct produce_case *produce)
{
    return live_count_in(produce->process.out, "\"sequence\":");
}

static void synthetic_batches_go_on_where_they_ended(void)
{
    struct produce_case produce;
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=3", NULL), 0);
    CU_ASSERT_EQUAL(shown(&produce), 3);
    check_stream(&produce, 3, 3 * 2048);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=2", "--set=policy.fixed.gap=100ms"), 0);
    CU_ASSERT_EQUAL(shown(&produce), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.out, "\"sequence\":5,\"offset\":10240,"), 1);
    check_stream(&produce, 5, 5 * 2048);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", "--producer=7"), 0);
    check_stream(&produce, 5, 5 * 2048);
    case_close(&produce);
}

/* The TGB of a file is the file. */
static void files_are_committed_byte_for_byte(void)
{
    struct produce_case produce;
    char folder[LIVE_PATH_MAX];
    char stored[LIVE_PATH_MAX];
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_files(&produce, 4, 4, NULL), 0);
    check_stream(&produce, 1, 5000);
    live_path(folder, produce.scratch, "run/tgb+");
    CU_ASSERT_TRUE_FATAL(live_find_file(folder, "-00000000000000005000", stored) ||
                         live_find_file(folder, "5000", stored));
    char *found = live_read(stored);
    char *given = live_read(produce.files[4]);
    CU_ASSERT_EQUAL(memcmp(found, given, 5001), 0);
    free(found);
    free(given);
    case_close(&produce);
}

static void the_same_list_is_committed_once(void)
{
    struct produce_case produce;
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 2, NULL), 0);
    CU_ASSERT_EQUAL(shown(&produce), 3);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 4, NULL), 0);
    CU_ASSERT_EQUAL(shown(&produce), 2);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 4, NULL), 0);
    CU_ASSERT_EQUAL(shown(&produce), 0);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "committed already"), 1);
    check_stream(&produce, 5, 15000);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 1, "--append"), 0);
    CU_ASSERT_EQUAL(shown(&produce), 2);
    check_stream(&produce, 7, 18000);
    case_close(&produce);
}

static void another_list_is_refused(void)
{
    struct produce_case produce;
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 2, NULL), 0);
    CU_ASSERT_EQUAL(commit_files(&produce, 1, 3, NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "committed with 1000 bytes"), 1);
    write_file(produce.files[2], 3000, 99);
    CU_ASSERT_EQUAL(commit_files(&produce, 0, 3, NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "with other bytes"), 1);
    check_stream(&produce, 3, 6000);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", NULL), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "whose payload is files"), 1);
    case_close(&produce);
}

/* ---- sliced runs ---- */

/* Its first damaged byte, where a synthetic slice has one. */
static void damage(struct produce_case *produce, const char *ending, long offset)
{
    char folder[LIVE_PATH_MAX];
    char path[LIVE_PATH_MAX];
    live_path(folder, produce->scratch, "run/tgb+");
    CU_ASSERT_TRUE_FATAL(live_find_file(folder, ending, path));
    FILE *file = fopen(path, "r+");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, offset, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, offset, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

/* What is wrong with the run, as inspect --deep says it first. */
static void check_problem(struct produce_case *produce, const char *expected)
{
    int status = -1;
    json_t *report = live_inspect(produce->scratch, produce->url, "--deep", &status);
    const json_t *problems = json_object_get(report, "problems");
    const json_t *first = json_array_get(problems, 0);
    const char *text =
        json_string_value(json_is_string(first) ? first : json_object_get(first, "text"));
    CU_ASSERT_EQUAL(status, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, expected));
    json_decref(report);
}

static void a_run_keeps_its_mesh(void)
{
    struct produce_case produce;
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=2", "--set=tgb.mesh=4x2"), 0);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", NULL), 0);
    check_stream(&produce, 3, 3 * 2048);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", "--set=tgb.mesh=8x1"), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "mesh 4x2, the config says 8x1"), 1);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", "--set=tgb.mesh=none"), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "--set tgb.mesh=4x2 to go on"), 1);
    struct live_process_options options = options_of(&produce);
    options.arguments[3] = "--set=tgb.mesh=64x1"; /* 1 KiB has no room for so many */
    options.arguments[4] = "--bytes=1KiB";
    CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "cannot be cut by tgb.mesh"), 1);
    case_close(&produce);
}

/* 2,048 bytes in 8 slices: an index of 320 bytes, slots of 216. */
static void inspect_names_the_slice_that_is_damaged(void)
{
    struct produce_case produce;
    case_open(&produce);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=2", "--set=tgb.mesh=4x2"), 0);
    damage(&produce, "-2048", 320 + 3 * 216 + 32 + 7);
    check_problem(&produce, "slice 3: byte 7 is not what producer 0 made");
    damage(&produce, "-2048", 320 + 3 * 216 + 32 + 7);
    damage(&produce, "-2048", 320 + 3 * 216 + 4);
    check_problem(&produce, "slice 3, up to byte 1000: made for another mesh");
    damage(&produce, "-2048", 320 + 3 * 216 + 4);
    damage(&produce, "-2048", 100);
    check_problem(&produce, "index, up to byte 320: its checksum does not match");
    damage(&produce, "-2048", 100);
    check_stream(&produce, 2, 4096);
    case_close(&produce);
}

static void sliced_files_go_on_after_a_stop(void)
{
    struct produce_case produce;
    case_open(&produce);
    for (int compressed = 0; compressed <= 1; compressed++) {
        struct live_process_options options = options_of(&produce);
        const char *zstd = compressed == 1 ? "--set=tgb.zstd=3" : "--set=live.sync=off";
        snprintf(produce.url, sizeof(produce.url), "file://%s/files-%d", produce.scratch,
                 compressed);
        options.arguments[3] = "--set=tgb.mesh=4x1";
        options.arguments[4] = zstd;
        options.arguments[5] = produce.files[8];
        CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 0);
        options.arguments[3] = options.arguments[5];
        options.arguments[5] = produce.files[9];
        CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 0);
        CU_ASSERT_EQUAL(shown(&produce), 1);
        int status = -1;
        json_t *report = live_inspect(produce.scratch, produce.url, "--deep", &status);
        const json_t *stream = json_array_get(json_object_get(report, "producers"), 0);
        long long offset = live_number(stream, "offset", NULL);
        CU_ASSERT_EQUAL(status, 0);
        CU_ASSERT_EQUAL(live_number(stream, "sequence", NULL), 2);
        CU_ASSERT_EQUAL(live_number(report, "tgbs", "verified"), 2);
        CU_ASSERT(compressed == 1 ? offset < 10000 : offset == 2 * (64 + 4 * 64) + 9000 + 10000);
        json_decref(report);
    }
    case_close(&produce);
}

/* Killed at whatever moment, again and again: in the end each file is there once, in order. */
static void a_killed_producer_goes_on_exactly(void)
{
    struct produce_case produce;
    struct live_process_options options;
    case_open(&produce);
    options = options_of(&produce);
    options.arguments[3] = "--set=commit.uploads_max=1";
    options.arguments[4] = "--set=workload.rate=50kB/s"; /* about a second for all */
    options.arguments[5] = "--set=policy.dac.start=20ms";
    for (int i = 0; i < 8; i++)
        options.arguments[6 + i] = produce.files[i];
    for (int i = 0; i < 4; i++) {
        live_process_start(&produce.process, &options);
        live_pause(100 * (i + 1));
        kill(produce.process.pid, SIGKILL);
        (void)live_process_wait(&produce.process, 10);
    }
    CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 0);
    int status = -1;
    json_t *report = live_inspect(produce.scratch, produce.url, "--deep", &status);
    const json_t *stream = json_array_get(json_object_get(report, "producers"), 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(stream, "sequence", NULL), 8);
    CU_ASSERT_EQUAL(live_number(stream, "offset", NULL), 36000);
    CU_ASSERT_EQUAL(live_number(stream, "batches", NULL), 8);
    json_decref(report);
    case_close(&produce);
}

static void sigint_ends_cleanly(void)
{
    struct produce_case produce;
    case_open(&produce);
    struct live_process_options options = options_of(&produce);
    options.arguments[3] = "--bytes=1KiB";
    options.arguments[4] = "--count=100000000";
    options.arguments[5] = "--set=workload.rate=100kB/s";
    live_process_start(&produce.process, &options);
    CU_ASSERT_TRUE(live_wait_for(produce.process.out, "\"sequence\":", 5, 20));
    kill(produce.process.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&produce.process, 20), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "stopped as asked"), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, " --count "), 1);
    int status = -1;
    json_t *report = live_inspect(produce.scratch, produce.url, "--deep", &status);
    const json_t *stream = json_array_get(json_object_get(report, "producers"), 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(stream, "sequence", NULL), shown(&produce));
    json_decref(report);
    case_close(&produce);
}

/* ---- what is said of the rest ---- */

static void an_append_that_is_stopped_knows_the_rest(void)
{
    struct produce_case produce;
    case_open(&produce);
    struct live_process_options options = options_of(&produce);
    options.arguments[3] = "--append";
    options.arguments[4] = "--set=workload.rate=5kB/s";
    options.arguments[5] = "--set=policy.dac.start=20ms";
    for (int i = 0; i < 10; i++)
        options.arguments[6 + i] = produce.files[i];
    live_process_start(&produce.process, &options);
    CU_ASSERT_TRUE(live_wait_for(produce.process.out, "\"sequence\":", 1, 20));
    kill(produce.process.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&produce.process, 20), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "the same command without the first "), 1);
    case_close(&produce);
}

#define BUCKET_URL "s3://" HOSTILE_BUCKET "/run"
#define BATCH_VERSION "run/manifest/00000000000000000003" /* behind genesis and epoch */

/* The create of the batch's version is applied, its answer lost, and reading it back refused: so
 * the file must not be called uncommitted. */
static void an_append_without_an_answer_does_not_know_the_rest(void)
{
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    static const struct hostile_rule rules[] = {
        {.match = {HOSTILE_CREATE, BATCH_VERSION}, .times = 1, .reply = HOSTILE_DROP},
        {.match = {HOSTILE_ANY, BATCH_VERSION},
         .apply = HOSTILE_APPLY_NOT,
         .reply = HOSTILE_SAY,
         .status = 403},
    };
    struct produce_case produce;
    struct hostile_server *server = hostile_server_start(&(struct hostile_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++)
        hostile_server_rule(server, &rules[i]);
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    setenv("AWS_REGION", "us-east-1", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    unsetenv("AWS_SESSION_TOKEN");
    case_open(&produce);
    struct live_process_options options = {
        .program = getenv("LAKESTREAM"),
        .scratch = produce.scratch,
        .name = "unanswered",
        .arguments = {"produce", BUCKET_URL, "--json", "--append", "--endpoint",
                      hostile_server_url(server), produce.files[0]},
    };
    CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 1);
    CU_ASSERT_EQUAL(shown(&produce), 0);
    size_t bytes = 0;
    uint8_t *stored = hostile_server_get(server, BATCH_VERSION, &bytes);
    CU_ASSERT_PTR_NOT_NULL(stored);
    free(stored);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "without the first"), 0);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "some of the rest may be committed"), 1);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, " inspect " BUCKET_URL " --endpoint "), 1);
    case_close(&produce);
    hostile_server_stop(server);
}

static void the_older_of_two_is_fenced(void)
{
    struct produce_case produce;
    case_open(&produce);
    struct live_process_options options = options_of(&produce);
    options.name = "older";
    options.arguments[3] = "--bytes=1KiB";
    options.arguments[4] = "--count=100000000";
    options.arguments[5] = "--set=workload.rate=100kB/s";
    struct live_process older;
    live_process_start(&older, &options);
    CU_ASSERT_TRUE(live_wait_for(older.out, "\"sequence\":", 5, 20));
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", NULL), 0);
    CU_ASSERT_EQUAL(live_process_wait(&older, 20), 1);
    CU_ASSERT_EQUAL(live_count_in(older.err, "another process works as this producer"), 1);
    case_close(&produce);
}

static void bad_requests_are_usage_errors(void)
{
    struct produce_case produce;
    char empty[LIVE_PATH_MAX];
    case_open(&produce);
    live_path(empty, produce.scratch, "empty");
    write_file(empty, 0, 0);
    const char *const bad[][3] = {
        {empty, NULL, "is empty"},
        {produce.scratch, NULL, "is not a file"},
        {"/none/such", NULL,
         "/none/such cannot be read: No such file or directory; check the path"},
        {produce.files[0], "--count=2", "leave them out"},
        {"--append", NULL, "--append is for files"},
        {"--producer=x", NULL, "expected a number from 0"},
        {"--producer=65536", NULL, "expected a number from 0"},
        {"--policy=none", NULL, "policy.name"},
        {"--bytes=3", NULL, "workload.tgb"},
        {"--set=no.key=3", NULL, "unknown key"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(bad); i++) {
        struct live_process_options options = options_of(&produce);
        options.arguments[3] = bad[i][0];
        options.arguments[4] = bad[i][1];
        CU_ASSERT_EQUAL(live_process_run(&produce.process, &options), 2);
        CU_ASSERT_EQUAL(live_count_in(produce.process.err, bad[i][2]), 1);
        CU_ASSERT_EQUAL(live_count_in(produce.process.err, "\n"), 1);
    }
    char run[LIVE_PATH_MAX];
    live_path(run, produce.scratch, "run");
    CU_ASSERT_NOT_EQUAL(access(run, F_OK), 0); /* nothing was touched */
    case_close(&produce);
}

/* What is not a run is not added to. */
static void other_objects_are_left_alone(void)
{
    struct produce_case produce;
    char path[LIVE_PATH_MAX];
    case_open(&produce);
    live_path(path, produce.scratch, "run");
    mkdir(path, 0777);
    live_path(path, produce.scratch, "run/photo");
    write_file(path, 10, 0);
    CU_ASSERT_EQUAL(commit_synthetic(&produce, "--count=1", NULL), 2);
    CU_ASSERT_EQUAL(live_count_in(produce.process.err, "no run to add to"), 1);
    case_close(&produce);
}

const struct harness_test produce_tests[] = {
    HARNESS_TEST(synthetic_batches_go_on_where_they_ended),
    HARNESS_TEST(files_are_committed_byte_for_byte),
    HARNESS_TEST(the_same_list_is_committed_once),
    HARNESS_TEST(another_list_is_refused),
    HARNESS_TEST(a_run_keeps_its_mesh),
    HARNESS_TEST(inspect_names_the_slice_that_is_damaged),
    HARNESS_TEST(sliced_files_go_on_after_a_stop),
    HARNESS_TEST(a_killed_producer_goes_on_exactly),
    HARNESS_TEST(sigint_ends_cleanly),
    HARNESS_TEST(an_append_that_is_stopped_knows_the_rest),
    HARNESS_TEST(an_append_without_an_answer_does_not_know_the_rest),
    HARNESS_TEST(the_older_of_two_is_fenced),
    HARNESS_TEST(bad_requests_are_usage_errors),
    HARNESS_TEST(other_objects_are_left_alone),
    {0},
};
