/* bench_s3.c - the store's client beside a bare libcurl loop, on a server that does nothing: what a
 * request costs this machine, and how many of them one thread begins and ends. Both sides take
 * turns, so that what else the machine does meets both. */
#include "experiments/bench_s3.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "experiments/cli.h"
#include "experiments/live/live_request.h"
#include "experiments/trials/progress.h"

#define ROUNDS_MAX 101
#define CONCURRENCY 16
#define CPU_TARGET 1.2
#define RATE_TARGET 0.95
#define HEAP_KEPT (256 << 20)
#define HEAP_BLOCK_MAX (32 << 20)

/* ---- what the parts share ---- */

static double cpu_s(void)
{
    struct rusage usage;
    int got = getrusage(RUSAGE_SELF, &usage);
    assert(got == 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct bench_clock bench_clock_start(void)
{
    return (struct bench_clock){.cpu_s = cpu_s(), .wall_ns = progress_now_ns()};
}

void bench_clock_stop(const struct bench_clock *clock, struct bench_cost *cost)
{
    cost->wall_s = (double)(progress_now_ns() - clock->wall_ns) / 1e9;
    cost->cpu_s = cpu_s() - clock->cpu_s;
}

struct tgb_name bench_tgb_name(uint64_t sequence)
{
    return (struct tgb_name){.producer = 1, .epoch = 1, .sequence = sequence};
}

struct bench_target bench_target_of(const struct bench_load *load, uint32_t index)
{
    const struct bench_slices *slices = load->slices;
    struct bench_target target = {.key = ""};
    uint64_t object = load->first + index;
    if (slices != NULL) {
        uint64_t number = object;
        object = number / slices->layout.slices % slices->objects;
        target.slice = (uint32_t)(number % slices->layout.slices);
        target.offset = tgb_layout_offset(&slices->layout, target.slice);
        target.range_bytes = slices->layout.slot_bytes;
        target.name = bench_tgb_name(object + 1);
    }
    snprintf(target.key, sizeof(target.key), "%s%012" PRIu64, load->prefix, object);
    return target;
}

struct s3_options bench_null_options(const struct bench_null *server)
{
    /* A key of no value: nobody checks it. The store reads no files then. */
    setenv("AWS_ACCESS_KEY_ID", "bench", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "bench", 1);
    unsetenv("AWS_SESSION_TOKEN");
    unsetenv("AWS_PROFILE");
    return (struct s3_options){.endpoint = server->endpoint, .region = "us-east-1"};
}

bool bench_reach(const char *address, const struct s3_options *options, uint32_t connections,
                 struct s3_options *found)
{
    static char ca_file[CONFIG_PATH_MAX]; /* of the environment, which bench_rclone_tell changes */
    char error[STORE_ERROR_MAX];
    const char *bundle = getenv("AWS_CA_BUNDLE");
    *found = *options;
    found->region = bench_s3_region(options);
    if (options->ca_file == NULL && bundle != NULL) {
        snprintf(ca_file, sizeof(ca_file), "%s", bundle);
        found->ca_file = ca_file;
    }
    found->connections = connections;
    const struct live_session_options session = {.s3 = *found};
    if (live_reach(address, &session, error) == OPEN_OK)
        return true;
    cli_error(CLI_FAILED, "bench: %s", error);
    return false;
}

void bench_prefix(char prefix[BENCH_PREFIX_MAX])
{
    uint64_t random;
    ssize_t drawn = getrandom(&random, sizeof(random), 0);
    assert(drawn == (ssize_t)sizeof(random));
    snprintf(prefix, BENCH_PREFIX_MAX, "bench-%016" PRIx64 "/", random);
}

void bench_join(char *text, size_t text_bytes, const char *address, const char *rest)
{
    size_t chars = strlen(address);
    bool slash = chars > 0 && address[chars - 1] == '/';
    snprintf(text, text_bytes, "%s%s%s", address, slash ? "" : "/", rest);
}

void bench_fill(uint8_t *data, size_t bytes)
{
    ssize_t drawn = getrandom(data, 256, 0);
    assert(drawn == 256);
    for (size_t i = 256; i < bytes; i++)
        data[i] = (uint8_t)(data[i - 256] + data[i - 1]);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(double *values, size_t count)
{
    assert(count > 0);
    qsort(values, count, sizeof(*values), compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* ---- the rounds ---- */

/* A load that both sides carry, and what is expected. */
struct duel {
    const char *name;
    enum store_verb verb;
    uint64_t bytes;
    uint32_t count; /* requests in a round */
};

static const struct duel duels[] = {
    {"create 4KiB", STORE_PUT_IF_ABSENT, 4 << 10, 1000},
    {"get 4KiB", STORE_GET, 4 << 10, 1000},
    {"create 256KiB", STORE_PUT_IF_ABSENT, 256 << 10, 200},
    {"get 256KiB", STORE_GET, 256 << 10, 200},
};

enum side {
    SIDE_STORE,
    SIDE_PEER,
    SIDE_COUNT
};

struct sides {
    struct bench_null server;
    struct bench_client *client;
    struct bench_peer *peer;
    uint64_t keys; /* used so far */
};

/* What the rounds of a duel gave. */
struct tally {
    double cpu_us[SIDE_COUNT][ROUNDS_MAX]; /* of a request */
    double rate[SIDE_COUNT][ROUNDS_MAX];   /* requests/s */
    double cpu_ratio[ROUNDS_MAX];
    double rate_ratio[ROUNDS_MAX];
};

static bool open_sides(struct sides *sides, const uint8_t *data, uint64_t bytes)
{
    char error[STORE_ERROR_MAX];
    memset(sides, 0, sizeof(*sides));
    if (!bench_null_start(&sides->server, data, bytes))
        return false;
    const struct s3_options options = bench_null_options(&sides->server);
    if (bench_client_open("s3://bench", &options, &sides->client, error)) {
        if (bench_peer_open("s3://bench", &options, &sides->peer, error))
            return true;
        bench_client_close(sides->client);
    }
    cli_error(CLI_FAILED, "bench: %s", error);
    bench_null_stop(&sides->server);
    return false;
}

static void close_sides(struct sides *sides)
{
    bench_peer_close(sides->peer);
    bench_client_close(sides->client);
    bench_null_stop(&sides->server);
}

/* False: a request did not end well, said. */
static bool run_side(struct sides *sides, enum side side, const struct duel *duel,
                     const uint8_t *data, struct bench_cost *cost)
{
    struct bench_load load = {.verb = duel->verb,
                              .count = duel->count,
                              .concurrency = CONCURRENCY,
                              .data = data,
                              .bytes = duel->bytes,
                              .prefix = "manifest/",
                              .first = sides->keys};
    sides->keys += duel->count;
    if (side == SIDE_STORE)
        bench_client_run(sides->client, &load, cost);
    else
        bench_peer_run(sides->peer, &load, cost);
    if (cost->bad > 0)
        cli_error(CLI_FAILED, "bench: %" PRIu64 " of %u requests failed: %s", cost->bad,
                  duel->count, cost->why);
    return cost->bad == 0;
}

static bool run_rounds(struct sides *sides, const struct duel *duel, const uint8_t *data,
                       uint32_t rounds, struct tally *tally)
{
    for (uint32_t round = 0; round <= rounds; round++) { /* the first one warms up */
        size_t at = round == 0 ? 0 : round - 1;
        for (size_t i = 0; i < SIDE_COUNT; i++) {
            enum side side = (enum side)((round + i) % SIDE_COUNT);
            struct bench_cost cost;
            if (!run_side(sides, side, duel, data, &cost))
                return false;
            tally->cpu_us[side][at] = cost.cpu_s / duel->count * 1e6;
            tally->rate[side][at] = duel->count / cost.wall_s;
        }
        tally->cpu_ratio[at] = tally->cpu_us[SIDE_STORE][at] / tally->cpu_us[SIDE_PEER][at];
        tally->rate_ratio[at] = tally->rate[SIDE_STORE][at] / tally->rate[SIDE_PEER][at];
    }
    return true;
}

/* ---- the report ---- */

static void report(struct bench *bench, const struct duel *duel, struct tally *tally, size_t rounds)
{
    struct measure {
        const char *what, *unit;
        double *values;
        double target; /* NAN: none; at most this if `most`, else at least */
        bool most;
        const char *note;
    } measures[] = {
        {"store CPU", "us/request", tally->cpu_us[SIDE_STORE], NAN, true, ""},
        {"peer CPU", "us/request", tally->cpu_us[SIDE_PEER], NAN, true, ""},
        {"CPU ratio", "x the peer", tally->cpu_ratio, CPU_TARGET, true,
         "median of the rounds' ratios"},
        {"store rate", "1/s", tally->rate[SIDE_STORE], NAN, false, "16 at a time"},
        {"peer rate", "1/s", tally->rate[SIDE_PEER], NAN, false, ""},
        {"rate ratio", "x the peer", tally->rate_ratio, RATE_TARGET, false,
         "median of the rounds' ratios"},
    };
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
        const struct measure *measure = &measures[i];
        char name[64];
        double value = bench_median(measure->values, rounds);
        bool meets = measure->most ? value <= measure->target : value >= measure->target;
        struct bench_row row = {.name = name,
                                .unit = measure->unit,
                                .value = value,
                                .target = measure->target,
                                .verdict = meets ? BENCH_MEETS : BENCH_MISSES,
                                .note = measure->note};
        if (isnan(measure->target))
            row.verdict = BENCH_INFORMS;
        snprintf(name, sizeof(name), "%s, %s", duel->name, measure->what);
        bench_report(bench, &row);
    }
}

/* A server, its client and its peer for each duel: the server's answer has one size. */
static bool run_duel(struct bench *bench, const struct duel *duel, uint32_t rounds)
{
    struct sides sides;
    struct tally *tally = malloc(sizeof(*tally));
    uint8_t *data = malloc(duel->bytes);
    assert(tally != NULL);
    assert(data != NULL);
    for (uint64_t i = 0; i < duel->bytes; i++)
        data[i] = (uint8_t)(i * 31 >> 3);
    bool done = open_sides(&sides, data, duel->bytes);
    if (done) {
        done = run_rounds(&sides, duel, data, rounds, tally);
        close_sides(&sides);
    }
    if (done)
        report(bench, duel, tally, rounds);
    free(data);
    free(tally);
    return done;
}

bool bench_s3(struct bench *bench, uint32_t rounds)
{
    assert(rounds >= 1);
    /* libcurl frees its buffers after each request. Whose lie at the heap's end is chance, and that
     * side pays for pages given back and taken again, up to a fifth of its time: none are. */
    (void)mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
    (void)mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK_MAX);
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (size_t i = 0; i < sizeof(duels) / sizeof(duels[0]); i++)
        if (!run_duel(bench, &duels[i], rounds))
            return false;
    return true;
}
