/* bench_consume.c - MB/s of one rank's process beside rclone, which reads the same objects, on a
 * real server: once into files in memory, as it is mostly used, once to hash them only, as a rank
 * does. The faster of both is the yardstick. The run is made, read and removed by this program's
 * own verbs, as processes. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/digest_chain.h"
#include "experiments/bench_s3.h"
#include "experiments/cli.h"

#define OBJECT_BYTES (UINT64_C(8) << 20)
#define OBJECTS 48
#define PREFETCH "64MiB" /* 8 objects ahead */
#define ROUNDS_MAX 101
#define RATE_TARGET 1.0
#define TEXT_MAX 1024
#define ARGUMENTS_MAX 64

extern char **environ;

struct consume_bench {
    const struct s3_options *options;
    char url[TEXT_MAX];    /* of the run */
    char remote[TEXT_MAX]; /* what rclone calls its TGBs */
    char folder[128];      /* in memory */
};

/* What the rounds gave. */
struct consume_tally {
    double rank[ROUNDS_MAX]; /* MB/s */
    double copy[ROUNDS_MAX];
    double hash[ROUNDS_MAX];
    double ratio[ROUNDS_MAX];  /* of the rank's to the higher of these */
    double checks[ROUNDS_MAX]; /* ms for an object */
};

/* ---- this program's verbs ---- */

/* With how the store is reached; its output goes to `out`. False: said. */
static bool run_verb(const struct consume_bench *consume, const char *const words[],
                     const char *out)
{
    const struct s3_options *options = consume->options;
    const char *const reached[][2] = {{"--endpoint", options->endpoint},
                                      {"--region", options->region},
                                      {"--profile", options->profile},
                                      {"--ca-file", options->ca_file}};
    const char *argv[ARGUMENTS_MAX] = {"lakestream"};
    size_t count = 1;
    for (; words[count - 1] != NULL; count++)
        argv[count] = words[count - 1];
    for (size_t i = 0; i < sizeof(reached) / sizeof(reached[0]); i++)
        if (reached[i][1] != NULL) {
            assert(count + 2 < ARGUMENTS_MAX);
            argv[count++] = reached[i][0];
            argv[count++] = reached[i][1];
        }
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)argv,
                             environ);
    posix_spawn_file_actions_destroy(&actions);
    while (failed == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    cli_error(CLI_FAILED, "bench: lakestream %s %s failed; give that command by hand to see why",
              argv[1], argv[2]);
    return false;
}

static bool write_file(const char *path, const uint8_t *data)
{
    FILE *file = fopen(path, "we");
    bool written = file != NULL && fwrite(data, OBJECT_BYTES, 1, file) == 1;
    bool closed = file != NULL && fclose(file) == 0;
    if (!written || !closed)
        cli_error(CLI_FAILED, "bench: %s: cannot be written: %s", path, strerror(errno));
    return written && closed;
}

/* Of files: a rank then verifies checksums, as rclone does, and not what the bytes must be. */
static bool produce(const struct consume_bench *consume)
{
    char paths[OBJECTS][TEXT_MAX];
    const char *words[OBJECTS + 3] = {"produce", consume->url};
    uint8_t *data = malloc(OBJECT_BYTES);
    assert(data != NULL);
    bench_fill(data, OBJECT_BYTES);
    bool done = true;
    for (unsigned i = 0; done && i < OBJECTS; i++) {
        snprintf(paths[i], TEXT_MAX, "%s/%u", consume->folder, i);
        words[2 + i] = paths[i];
        done = write_file(paths[i], data);
    }
    done = done && run_verb(consume, words, "/dev/null");
    for (unsigned i = 0; i < OBJECTS && words[2 + i] != NULL; i++)
        unlink(paths[i]);
    free(data);
    return done;
}

static void remove_run(const struct consume_bench *consume)
{
    const char *const words[] = {"remove", consume->url, "--yes", "--force", NULL};
    (void)run_verb(consume, words, "/dev/null"); /* what failed was said */
}

/* ---- the rounds ---- */

/* From its report: bytes of slices over the life of its process, with all that it asks for before
 * the first slice, as rclone has its listing. */
static bool run_rank(const struct consume_bench *consume, double *mb_per_s)
{
    char out[TEXT_MAX];
    char steps[16];
    snprintf(out, sizeof(out), "%s/report", consume->folder);
    snprintf(steps, sizeof(steps), "%d", OBJECTS);
    const char *const words[] = {"consume", consume->url, "--ranks", "1",      "--steps",
                                 steps,     "--prefetch", PREFETCH,  "--json", NULL};
    if (!run_verb(consume, words, out))
        return false;
    json_t *report = json_load_file(out, 0, NULL);
    const json_t *row = json_array_get(json_object_get(report, "ranks"), 0);
    double wall_s = json_number_value(json_object_get(report, "wall_s"));
    double bytes = json_number_value(json_object_get(row, "bytes"));
    json_decref(report);
    *mb_per_s = bytes / 1e6 / wall_s;
    if (bytes != OBJECTS * OBJECT_BYTES)
        cli_error(CLI_FAILED, "bench: the rank was given %.0f bytes of %llu", bytes,
                  (unsigned long long)(OBJECTS * OBJECT_BYTES));
    return bytes == OBJECTS * OBJECT_BYTES;
}

/* What a rank computes of each object: one checksum, for its entry and for the digest chain at
 * once. */
static double checks_ms(void)
{
    uint8_t *data = calloc(1, OBJECT_BYTES);
    assert(data != NULL);
    struct bench_cost cost;
    uint64_t digest = 0;
    struct bench_clock clock = bench_clock_start();
    for (uint64_t i = 0; i < OBJECTS; i++) {
        memset(data, (int)i, OBJECT_BYTES / 64); /* nothing is computed once for all */
        digest = digest_chain_next(digest, i, digest_chain_slice(data, OBJECT_BYTES));
    }
    bench_clock_stop(&clock, &cost);
    free(data);
    return digest != 0 ? cost.cpu_s * 1e3 / OBJECTS : NAN;
}

static bool run_rclone(const struct consume_bench *consume, struct consume_tally *tally, size_t at)
{
    const double bytes = OBJECTS * OBJECT_BYTES;
    char to[TEXT_MAX];
    double copy_s, hash_s;
    snprintf(to, sizeof(to), "%s/to", consume->folder);
    if (!bench_rclone_copy(consume->remote, to, &copy_s) ||
        !bench_rclone_hash(consume->remote, &hash_s))
        return false;
    tally->copy[at] = bytes / 1e6 / copy_s;
    tally->hash[at] = bytes / 1e6 / hash_s;
    return true;
}

static bool run_round(const struct consume_bench *consume, struct consume_tally *tally, size_t at,
                      uint32_t round)
{
    bool done = round % 2 == 0 || run_rclone(consume, tally, at);
    done = done && run_rank(consume, &tally->rank[at]);
    if (round % 2 == 0)
        done = done && run_rclone(consume, tally, at);
    tally->checks[at] = checks_ms();
    tally->ratio[at] = tally->rank[at] / fmax(tally->copy[at], tally->hash[at]);
    return done;
}

/* ---- before and after ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static bool prepare(struct consume_bench *consume, const char *address)
{
    char prefix[BENCH_PREFIX_MAX];
    bench_prefix(prefix);
    bench_join(consume->url, TEXT_MAX, address, prefix);
    snprintf(consume->remote, TEXT_MAX, "bench:%.600stgb", consume->url + strlen("s3://"));
    snprintf(consume->folder, sizeof(consume->folder), "%s/lakestream-bench-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(consume->folder) != NULL)
        return true;
    cli_error(CLI_FAILED, "bench: %s: cannot be made: %s", consume->folder, strerror(errno));
    return false;
}

static void report_row(struct bench *bench, const char *name, const char *unit, double *values,
                       size_t rounds, double target)
{
    double value = bench_median(values, rounds);
    struct bench_row row = {.name = name,
                            .unit = unit,
                            .value = value,
                            .target = target,
                            .verdict = value >= target ? BENCH_MEETS : BENCH_MISSES,
                            .note = "median of the rounds' ratios"};
    if (isnan(target)) {
        row.verdict = BENCH_INFORMS;
        row.note = "";
    }
    bench_report(bench, &row);
}

static void report(struct bench *bench, struct consume_tally *tally, size_t rounds)
{
    report_row(bench, "one rank", "MB/s", tally->rank, rounds, NAN);
    report_row(bench, "checks of an object", "ms CPU", tally->checks, rounds, NAN);
    report_row(bench, "rclone copy", "MB/s", tally->copy, rounds, NAN);
    report_row(bench, "rclone hashsum", "MB/s", tally->hash, rounds, NAN);
    report_row(bench, "one rank, ratio", "x the faster rclone", tally->ratio, rounds, RATE_TARGET);
}

static bool measure(const struct consume_bench *consume, struct consume_tally *tally,
                    uint32_t rounds)
{
    bool done = produce(consume);
    for (uint32_t round = 0; done && round <= rounds; round++) { /* the first one warms up */
        size_t at = round == 0 ? 0 : round - 1;
        done = run_round(consume, tally, at, round);
    }
    return done;
}

bool bench_consume(struct bench *bench, const char *address, const struct s3_options *options,
                   uint32_t rounds)
{
    struct s3_options found;
    struct consume_bench consume = {.options = &found};
    struct consume_tally *tally = calloc(1, sizeof(*tally));
    assert(tally != NULL);
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    bool done = bench_reach(address, options, 0, &found) && bench_rclone_tell(&found) &&
                prepare(&consume, address);
    if (done) {
        done = measure(&consume, tally, rounds);
        remove_run(&consume);
        nftw(consume.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    if (done)
        report(bench, tally, rounds);
    free(tally);
    return done;
}
