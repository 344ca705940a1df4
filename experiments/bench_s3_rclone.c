/* bench_s3_rclone.c - MB/s of objects of 8 MiB, through the store under test and by rclone, in
 * turns on one server. rclone reads from and writes to files in memory, as it cannot do without;
 * what it takes to start is measured beside it and taken off. It signs no payload, but hashes it by
 * MD5. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/s3_credentials.h"
#include "experiments/bench_s3.h"
#include "experiments/cli.h"

#define OBJECT_BYTES (UINT64_C(8) << 20)
#define OBJECTS 24
#define CONCURRENCY 4
#define ROUNDS_MAX 101
#define FOLDER_MAX 128
#define TEXT_MAX 1024
#define ARGUMENTS_MAX 24

extern char **environ;

enum direction {
    DIRECTION_PUT,
    DIRECTION_GET,
    DIRECTION_COUNT
};

enum side {
    SIDE_STORE,
    SIDE_PEER,
    SIDE_COUNT
};

struct rclone {
    struct bench_client *client;
    uint8_t *data;
    char folder[FOLDER_MAX]; /* in memory: "from" holds the objects, "to" is written */
    char remote[TEXT_MAX];   /* what rclone calls its prefix */
    char keys[SIDE_COUNT][BENCH_S3_KEY_MAX];   /* prefixes of what either side writes */
    double store[DIRECTION_COUNT][ROUNDS_MAX]; /* MB/s */
    double peer[DIRECTION_COUNT][ROUNDS_MAX];
    double ratio[DIRECTION_COUNT][ROUNDS_MAX];
};

/* ---- rclone ------------------------------------------------------------------------------------
 */

/* Runs rclone with its arguments, the last NULL. False: it failed, said. */
static bool run_rclone(const char *const arguments[], double *wall_s)
{
    const char *argv[ARGUMENTS_MAX] = {"rclone"};
    size_t count = 1;
    for (; arguments[count - 1] != NULL; count++) {
        assert(count + 1 < ARGUMENTS_MAX);
        argv[count] = arguments[count - 1];
    }
    posix_spawn_file_actions_t actions;
    struct bench_cost cost;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    struct bench_clock clock = bench_clock_start();
    int failed =
        posix_spawnp(&pid, "rclone", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        cli_error(CLI_FAILED,
                  "bench: rclone does not start: %s; install it: apt-get install rclone",
                  strerror(failed));
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    bench_clock_stop(&clock, &cost);
    *wall_s = cost.wall_s;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_error(CLI_FAILED, "bench: rclone %s failed; what it said stands above", argv[1]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* It refuses AWS's variable for the CA file and has its own. */
bool bench_rclone_tell(const struct s3_options *options)
{
    char error[STORE_ERROR_MAX];
    struct credentials keys;
    if (credentials_find(options->profile, &keys, error) != OPEN_OK) {
        cli_error(CLI_FAILED, "bench: %s", error);
        return false;
    }
    const char *const variables[][2] = {
        {"RCLONE_CONFIG", ""},
        {"RCLONE_CONFIG_BENCH_TYPE", "s3"},
        {"RCLONE_CONFIG_BENCH_PROVIDER", "Other"},
        {"RCLONE_CONFIG_BENCH_ENV_AUTH", "false"},
        {"RCLONE_CONFIG_BENCH_ACCESS_KEY_ID", keys.access_key},
        {"RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY", keys.secret_key},
        {"RCLONE_CONFIG_BENCH_SESSION_TOKEN", keys.session_token},
        {"RCLONE_CONFIG_BENCH_REGION", options->region},
        {"RCLONE_CONFIG_BENCH_ENDPOINT", options->endpoint},
        {"RCLONE_CONFIG_BENCH_FORCE_PATH_STYLE",
         options->style == S3_STYLE_VIRTUAL ? "false" : "true"},
        {"RCLONE_CA_CERT", options->ca_file != NULL ? options->ca_file : ""},
    };
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        setenv(variables[i][0], variables[i][1], 1);
    unsetenv("AWS_CA_BUNDLE");
    credentials_wipe(&keys);
    return true;
}

/* Without what it takes to start. */
static bool run_timed(const char *const arguments[], double *wall_s)
{
    static const char *const version[] = {"version", NULL};
    double start_s;
    bool done = run_rclone(version, &start_s) && run_rclone(arguments, wall_s);
    *wall_s -= done ? start_s : 0;
    return done;
}

bool bench_rclone_copy(const char *from, const char *to, double *wall_s)
{
    char transfers[16];
    snprintf(transfers, sizeof(transfers), "%d", CONCURRENCY);
    const char *const arguments[] = {"copy",
                                     from,
                                     to,
                                     "--transfers",
                                     transfers,
                                     "--checkers",
                                     transfers,
                                     "--s3-no-check-bucket",
                                     "--s3-no-head",
                                     "--no-traverse",
                                     "--ignore-times",
                                     "--retries",
                                     "1",
                                     NULL};
    return run_timed(arguments, wall_s);
}

bool bench_rclone_hash(const char *from, double *wall_s)
{
    char checkers[16];
    snprintf(checkers, sizeof(checkers), "%d", CONCURRENCY);
    const char *const arguments[] = {"hashsum",
                                     "CRC32",
                                     "--download",
                                     from,
                                     "--checkers",
                                     checkers,
                                     "--s3-no-check-bucket",
                                     "--s3-no-head",
                                     "--retries",
                                     "1",
                                     NULL};
    return run_timed(arguments, wall_s);
}

static bool run_peer(const struct rclone *rclone, enum direction direction, double *mb_per_s)
{
    char from[TEXT_MAX], to[TEXT_MAX];
    double wall_s;
    bool done;
    snprintf(from, sizeof(from), "%s/from", rclone->folder);
    snprintf(to, sizeof(to), "%s/to", rclone->folder);
    if (direction == DIRECTION_PUT)
        done = bench_rclone_copy(from, rclone->remote, &wall_s);
    else
        done = bench_rclone_copy(rclone->remote, to, &wall_s);
    if (done)
        *mb_per_s = (double)(OBJECTS * OBJECT_BYTES) / 1e6 / wall_s;
    return done;
}

/* ---- the store ---------------------------------------------------------------------------------
 */

static bool run_store(const struct rclone *rclone, enum store_verb verb, double *mb_per_s)
{
    const struct bench_load load = {.verb = verb,
                                    .count = OBJECTS,
                                    .concurrency = CONCURRENCY,
                                    .data = rclone->data,
                                    .bytes = OBJECT_BYTES,
                                    .prefix = rclone->keys[SIDE_STORE]};
    struct bench_cost cost;
    bench_client_run(rclone->client, &load, &cost);
    *mb_per_s = (double)(OBJECTS * OBJECT_BYTES) / 1e6 / cost.wall_s;
    if (cost.bad > 0)
        cli_error(CLI_FAILED, "bench: %s", cost.why);
    return cost.bad == 0;
}

static bool run_round(struct rclone *rclone, uint32_t round, size_t at)
{
    static const enum store_verb verbs[DIRECTION_COUNT] = {STORE_PUT, STORE_GET};
    for (size_t i = 0; i < DIRECTION_COUNT; i++) {
        enum direction direction = (enum direction)i;
        double *store = &rclone->store[i][at], *peer = &rclone->peer[i][at];
        bool done = round % 2 == 0 || run_peer(rclone, direction, peer);
        done = done && run_store(rclone, verbs[i], store);
        if (round % 2 == 0)
            done = done && run_peer(rclone, direction, peer);
        if (!done)
            return false;
        rclone->ratio[i][at] = *store / *peer;
    }
    return true;
}

/* ---- before and after --------------------------------------------------------------------------
 */

static bool write_file(const char *path, const uint8_t *data)
{
    FILE *file = fopen(path, "we");
    bool written = file != NULL && fwrite(data, OBJECT_BYTES, 1, file) == 1;
    bool closed = file != NULL && fclose(file) == 0;
    if (!written || !closed)
        cli_error(CLI_FAILED, "bench: %s: cannot be written: %s", path, strerror(errno));
    return written && closed;
}

static void remove_files(const struct rclone *rclone)
{
    static const char *const names[] = {"from", "to"};
    char path[TEXT_MAX];
    for (size_t i = 0; i < 2; i++) {
        for (unsigned j = 0; j < OBJECTS; j++) {
            snprintf(path, sizeof(path), "%s/%s/%012u", rclone->folder, names[i], j);
            unlink(path);
        }
        snprintf(path, sizeof(path), "%s/%s", rclone->folder, names[i]);
        rmdir(path);
    }
    rmdir(rclone->folder);
}

static bool make_files(struct rclone *rclone)
{
    char path[TEXT_MAX];
    struct stat memory;
    bool in_memory = stat("/dev/shm", &memory) == 0 && access("/dev/shm", W_OK) == 0;
    snprintf(rclone->folder, sizeof(rclone->folder), "%s/lakestream-bench-XXXXXX",
             in_memory ? "/dev/shm" : "/tmp");
    if (mkdtemp(rclone->folder) == NULL) {
        cli_error(CLI_FAILED, "bench: %s: cannot be made: %s", rclone->folder, strerror(errno));
        return false;
    }
    snprintf(path, sizeof(path), "%s/from", rclone->folder);
    if (mkdir(path, 0700) != 0)
        return false;
    for (unsigned i = 0; i < OBJECTS; i++) {
        snprintf(path, sizeof(path), "%s/from/%012u", rclone->folder, i);
        if (!write_file(path, rclone->data))
            return false;
    }
    return true;
}

/* What both sides wrote; deleting what is not there is no error. What fails is said once. */
static void delete_objects(const struct rclone *rclone)
{
    struct bench_cost costs[SIDE_COUNT];
    for (size_t i = 0; i < SIDE_COUNT; i++) {
        const struct bench_load load = {.verb = STORE_DELETE,
                                        .count = OBJECTS,
                                        .concurrency = CONCURRENCY,
                                        .prefix = rclone->keys[i]};
        bench_client_run(rclone->client, &load, &costs[i]);
    }
    const char *prefix = rclone->keys[SIDE_STORE];
    const struct bench_cost *bad =
        costs[SIDE_STORE].bad > 0 ? &costs[SIDE_STORE] : &costs[SIDE_PEER];
    if (bad->bad > 0)
        cli_error(CLI_FAILED, "bench: objects may be left below %.*s: %s",
                  (int)strcspn(prefix, "/"), prefix, bad->why);
}

static void report(struct bench *bench, struct rclone *rclone, size_t rounds)
{
    static const char *const names[DIRECTION_COUNT] = {"put 8MiB", "get 8MiB"};
    for (size_t i = 0; i < DIRECTION_COUNT; i++) {
        char name[64];
        double values[] = {bench_median(rclone->store[i], rounds),
                           bench_median(rclone->peer[i], rounds),
                           bench_median(rclone->ratio[i], rounds)};
        static const char *const whats[] = {"store", "rclone", "ratio"};
        for (size_t j = 0; j < 3; j++) {
            struct bench_row row = {.name = name,
                                    .unit = j < 2 ? "MB/s" : "x rclone",
                                    .value = values[j],
                                    .target = j < 2 ? NAN : 1.0,
                                    .verdict = values[j] >= 1.0 ? BENCH_MEETS : BENCH_MISSES,
                                    .note = j < 2 ? "" : "median of the rounds' ratios"};
            if (j < 2)
                row.verdict = BENCH_INFORMS;
            snprintf(name, sizeof(name), "%s, %s", names[i], whats[j]);
            bench_report(bench, &row);
        }
    }
}

const char *bench_s3_region(const struct s3_options *options)
{
    const char *const regions[] = {options->region, getenv("AWS_REGION"),
                                   getenv("AWS_DEFAULT_REGION")};
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++)
        if (regions[i] != NULL && regions[i][0] != '\0')
            return regions[i];
    return "us-east-1";
}

static bool open_store(struct rclone *rclone, const char *address, const struct s3_options *options)
{
    char error[STORE_ERROR_MAX];
    struct s3_options found;
    if (!bench_reach(address, options, CONCURRENCY, &found) || !bench_rclone_tell(&found))
        return false;
    if (bench_client_open(address, &found, &rclone->client, error))
        return true;
    cli_error(CLI_FAILED, "bench: %s", error);
    return false;
}

static void choose_keys(struct rclone *rclone, const char *address)
{
    char prefix[BENCH_PREFIX_MAX];
    char remote[sizeof(rclone->remote)];
    bench_prefix(prefix);
    snprintf(rclone->keys[SIDE_STORE], BENCH_S3_KEY_MAX, "%ss/", prefix);
    snprintf(rclone->keys[SIDE_PEER], BENCH_S3_KEY_MAX, "%sr/", prefix);
    bench_join(remote, sizeof(remote), address + strlen("s3://"), rclone->keys[SIDE_PEER]);
    snprintf(rclone->remote, sizeof(rclone->remote), "bench:%s", remote);
}

bool bench_rclone(struct bench *bench, const char *address, const struct s3_options *options,
                  uint32_t rounds)
{
    struct rclone *rclone = calloc(1, sizeof(*rclone));
    assert(rclone != NULL);
    rclone->data = malloc(OBJECT_BYTES);
    assert(rclone->data != NULL);
    bench_fill(rclone->data, OBJECT_BYTES);
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    choose_keys(rclone, address);
    bool done = open_store(rclone, address, options);
    if (done) {
        done = make_files(rclone);
        for (uint32_t round = 0; done && round <= rounds; round++) /* the first one warms up */
            done = run_round(rclone, round, round == 0 ? 0 : round - 1);
        delete_objects(rclone);
        bench_client_close(rclone->client);
        remove_files(rclone);
    }
    if (done)
        report(bench, rclone, rounds);
    free(rclone->data);
    free(rclone);
    return done;
}
