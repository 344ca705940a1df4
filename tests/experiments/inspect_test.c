/* inspect_test.c - inspect on the folder of a real run that was damaged in one way each; then at
 * random. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/name.h"
#include "core/random.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

struct ground {
    char scratch[SCRATCH_MAX];
    char url[LIVE_PATH_MAX];
    const char *folder; /* within url */
};

/* A short run of two producers who both committed something; longer if the machine is busy. */
static void ground_open(struct ground *ground)
{
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    char store[LIVE_PATH_MAX];
    bool committed = false;
    live_scratch_make(ground->scratch);
    live_path(config, ground->scratch, "config.yaml");
    live_path(db, ground->scratch, "results.db");
    live_path(store, ground->scratch, "store");
    for (int ms = 700; !committed && ms < 12000; ms *= 2) {
        struct live_process process;
        struct live_process_options options = {
            .scratch = ground->scratch,
            .name = "live",
            .arguments = {"live", config, "--db", db},
        };
        scratch_remove(store);
        live_write_config(ground->scratch, 2, ms, "");
        CU_ASSERT_EQUAL_FATAL(live_process_run(&process, &options), 0);
        CU_ASSERT_TRUE_FATAL(live_run_url(ground->scratch, "fixed", ground->url));
        committed = live_all_committed(ground->scratch, ground->url, 2);
    }
    CU_ASSERT_TRUE_FATAL(committed);
    ground->folder = ground->url + strlen("file://");
}

static void ground_close(struct ground *ground)
{
    scratch_remove(ground->scratch);
}

static void version_path(const struct ground *ground, unsigned long long version,
                         char path[LIVE_PATH_MAX])
{
    live_path(path, ground->folder, "manifest+/%020llu", version);
}

/* The path of the version that is not there yet. */
static void next_version_path(const struct ground *ground, char path[LIVE_PATH_MAX])
{
    unsigned long long version = 1;
    do {
        version_path(ground, version++, path);
    } while (access(path, F_OK) == 0);
}

/* The path of some producer's first TGB. */
static void first_tgb_path(const struct ground *ground, char path[LIVE_PATH_MAX])
{
    char folder[LIVE_PATH_MAX];
    live_path(folder, ground->folder, "tgb+");
    bool found = live_find_file(folder, "-1-16384", path);
    CU_ASSERT_TRUE_FATAL(found);
}

static char *save(const char *path, size_t *size)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    assert(fd >= 0 && fstat(fd, &status) == 0);
    char *bytes = malloc((size_t)status.st_size + 1);
    assert(bytes != NULL);
    *size = (size_t)status.st_size;
    ssize_t got = read(fd, bytes, *size);
    assert(got == status.st_size);
    close(fd);
    return bytes;
}

static void restore(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert(fd >= 0);
    ssize_t written = write(fd, bytes, size);
    assert(written == (ssize_t)size);
    close(fd);
}

/* Exactly what is expected is found: status, and the problem in the report. */
static void expect(const struct ground *ground, const char *flag, const char *problem)
{
    int status = -1;
    json_t *report = live_inspect(ground->scratch, ground->url, flag, &status);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_EQUAL(status, problem ? 1 : 0);
    char *text = json_dumps(json_object_get(report, "problems"), JSON_INDENT(1));
    CU_ASSERT_TRUE(problem ? strstr(text, problem) != NULL : strcmp(text, "[]") == 0);
    if (problem != NULL ? strstr(text, problem) == NULL : strcmp(text, "[]") != 0)
        fprintf(stderr, "expected %s, found %s\n", problem != NULL ? problem : "nothing", text);
    free(text);
    json_decref(report);
}

static void damaged_versions_are_named(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    size_t size;
    ground_open(&ground);
    expect(&ground, "--deep", NULL);
    next_version_path(&ground, path);
    mkdir(path, 0777);
    expect(&ground, NULL, "the next one, can be neither made nor read");
    rmdir(path);
    CU_ASSERT_EQUAL(mkfifo(path, 0666), 0);
    expect(&ground, NULL, "the next one, can be neither made nor read");
    unlink(path);
    version_path(&ground, 5, path);
    char *bytes = save(path, &size);
    scratch_cut(path, (long)size / 2);
    expect(&ground, NULL, "version 5 cannot be read: manifest/00000000000000000005 is damaged");
    scratch_cut(path, 0);
    expect(&ground, NULL, "version 5 cannot be read");
    restore(path, bytes, size);
    scratch_flip(path, (long)size - 20);
    expect(&ground, NULL, "its checksum does not match its bytes");
    unlink(path);
    expect(&ground, NULL, "version 5 is missing");
    mkdir(path, 0777);
    expect(&ground, NULL, "version 5 is missing");
    rmdir(path);
    version_path(&ground, 4, path);
    char *other = save(path, &size);
    version_path(&ground, 5, path);
    restore(path, other, size);
    expect(&ground, NULL, "version 5: the object of that name holds version 4");
    free(bytes);
    free(other);
    ground_close(&ground);
}

/* What any child of this process has held at most. */
static uint64_t children_peak(void)
{
    struct rusage usage;
    int failed = getrusage(RUSAGE_CHILDREN, &usage);
    assert(failed == 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void a_huge_version_is_named_and_not_read(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    ground_open(&ground);
    expect(&ground, NULL, NULL);
    uint64_t before_bytes = children_peak();
    version_path(&ground, 5, path);
    scratch_write(path, "");
    scratch_cut(path, 1L << 30);
    expect(&ground, NULL, "version 5 cannot be read: ");
    expect(&ground, NULL, "1073741824 bytes, and the first ones are none of its kind");
    scratch_cut(path, 5L << 30);
    expect(&ground, NULL, "version 5: 5368709120 bytes are too many for a manifest");
    CU_ASSERT(HARNESS_MEMORY_IS_SANITIZED || children_peak() <= before_bytes + (8 << 20));
    ground_close(&ground);
}

static void damaged_tgbs_are_named(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    size_t size;
    ground_open(&ground);
    first_tgb_path(&ground, path);
    char *bytes = save(path, &size);
    scratch_flip(path, 4321);
    expect(&ground, NULL, NULL);
    expect(&ground, "--deep", "byte 4321 is not what producer");
    scratch_cut(path, 100);
    expect(&ground, NULL, "has 100 bytes, its entry says 16384");
    unlink(path);
    expect(&ground, NULL, "is missing");
    restore(path, bytes, size);
    expect(&ground, "--deep", NULL);
    free(bytes);
    ground_close(&ground);
}

static void foreign_files_do_no_harm(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    char text[] = "not a manifest";
    int status;
    ground_open(&ground);
    live_path(path, ground.folder, "manifest+/readme.txt");
    restore(path, text, sizeof(text));
    live_path(path, ground.folder, "manifest+/a\nb\033[2J");
    restore(path, text, sizeof(text));
    live_path(path, ground.folder, "tgb+/loop");
    CU_ASSERT_EQUAL(symlink(".", path), 0);
    live_path(path, ground.folder, "tgb+/pipe");
    CU_ASSERT_EQUAL(mkfifo(path, 0666), 0);
    live_path(path, ground.folder, "manifest+/nowhere");
    CU_ASSERT_EQUAL(symlink("/nonexistent/file", path), 0);
    expect(&ground, "--deep", NULL);
    json_t *report = live_inspect(ground.scratch, ground.url, NULL, &status);
    CU_ASSERT_EQUAL(live_number(report, "unknown_count", NULL), 1);
    json_decref(report);
    /* Beyond what anybody counts to it is nobody's. */
    live_path(path, ground.folder, "manifest+/18446744073709551615");
    restore(path, text, sizeof(text));
    expect(&ground, NULL, NULL);
    unlink(path);
    /* A version out of all reach, without bytes on the disk. */
    live_path(path, ground.folder, "manifest+/09223372036854775807");
    restore(path, text, 0);
    scratch_cut(path, (long)1 << 40);
    expect(&ground, NULL, "to 9223372036854775806 are missing");
    unlink(path);
    live_path(path, ground.folder, "run+/format");
    restore(path, text, sizeof(text));
    expect(&ground, NULL, "run/format is damaged");
    ground_close(&ground);
}

static void a_floor_is_where_the_chain_begins(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    char key[STORE_KEY_MAX];
    ground_open(&ground);
    for (unsigned long long version = 1; version < 5; version++) {
        version_path(&ground, version, path);
        unlink(path);
    }
    expect(&ground, NULL, "the versions 1 to 4 are missing");
    name_floor(key, (struct floor){.version = 5, .step = 1});
    live_path(path, ground.folder, "manifest+/%s", key + strlen(NAME_MANIFEST_PREFIX));
    restore(path, "", 0);
    expect(&ground, "--deep", NULL);
    ground_close(&ground);
}

static void marks_beyond_the_chain_are_found(void)
{
    struct ground ground;
    char path[LIVE_PATH_MAX];
    char key[STORE_KEY_MAX];
    ground_open(&ground);
    expect(&ground, NULL, NULL);
    live_path(path, ground.folder, "intent+");
    mkdir(path, 0777);
    name_intent(key, 1000000);
    live_path(path, ground.folder, "intent+/%s", key + strlen(NAME_INTENT_PREFIX));
    restore(path, "", 0);
    expect(&ground, NULL, "gives up the steps below 1000000, and the chain ends before step");
    unlink(path);
    name_floor(key, (struct floor){.version = 1, .step = 1000000});
    live_path(path, ground.folder, "manifest+/%s", key + strlen(NAME_MANIFEST_PREFIX));
    restore(path, "", 0);
    expect(&ground, NULL, "gives up the steps below 1000000, and the chain ends before step");
    ground_close(&ground);
}

static int inspect_status(const char *scratch, const char *url, const char *expected)
{
    struct live_process process;
    struct live_process_options options = {
        .scratch = scratch, .name = "inspect", .arguments = {"inspect", url}};
    int status = live_process_run(&process, &options);
    CU_ASSERT(live_count_in(process.err, expected) > 0);
    return status;
}

static void nothing_there_is_said(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char url[LIVE_PATH_MAX + 8];
    live_scratch_make(scratch);
    live_path(path, scratch, "empty");
    mkdir(path, 0777);
    snprintf(url, sizeof(url), "file://%s", path);
    CU_ASSERT_EQUAL(inspect_status(scratch, url, "holds no chain"), 1);
    snprintf(url, sizeof(url), "file://%s/missing", scratch);
    CU_ASSERT_EQUAL(inspect_status(scratch, url, "no such directory"), 1);
    live_path(path, scratch, "file");
    restore(path, "", 0);
    snprintf(url, sizeof(url), "file://%s", path);
    CU_ASSERT_EQUAL(inspect_status(scratch, url, "Not a directory"), 1);
    CU_ASSERT_EQUAL(inspect_status(scratch, scratch, "not a store's address"), 2);
    scratch_remove(scratch);
}

/* Random damage: always a report and a status, never a crash. */
static void random_damage_never_crashes(void)
{
    struct ground ground;
    struct random_stream random = random_stream_make(3, 3);
    int status;
    int found = 0;
    ground_open(&ground);
    json_t *report = live_inspect(ground.scratch, ground.url, NULL, &status);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    uint64_t versions = (uint64_t)live_number(report, "version_count", NULL);
    json_decref(report);
    for (int i = 0; i < 60; i++) {
        char path[LIVE_PATH_MAX];
        size_t size;
        version_path(&ground, 1 + random_next(&random) % versions, path);
        char *bytes = save(path, &size);
        for (uint64_t j = 0; j <= random_next(&random) % 3; j++)
            scratch_flip(path, (long)(random_next(&random) % size));
        if (random_next(&random) % 4 == 0)
            scratch_cut(path, (long)(random_next(&random) % (2 * size)));
        report = live_inspect(ground.scratch, ground.url, "--deep", &status);
        CU_ASSERT_PTR_NOT_NULL(report);
        CU_ASSERT(status == 0 || status == 1);
        found += status == 1;
        json_decref(report);
        restore(path, bytes, size);
        free(bytes);
    }
    CU_ASSERT(found > 50); /* two flips may undo each other */
    expect(&ground, "--deep", NULL);
    ground_close(&ground);
}

const struct harness_test inspect_tests[] = {
    HARNESS_TEST(damaged_versions_are_named),
    HARNESS_TEST(a_huge_version_is_named_and_not_read),
    HARNESS_TEST(damaged_tgbs_are_named),
    HARNESS_TEST(foreign_files_do_no_harm),
    HARNESS_TEST(a_floor_is_where_the_chain_begins),
    HARNESS_TEST(marks_beyond_the_chain_are_found),
    HARNESS_TEST(nothing_there_is_said),
    HARNESS_TEST(random_damage_never_crashes),
    {0},
};
