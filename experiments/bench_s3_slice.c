/* bench_s3_slice.c - what a rank waits for a slice: range GETs of 1 MiB slices through the store,
 * each examined as a consumer does it, beside a bare libcurl range GET of the same bytes that
 * checks nothing. Both sides take turns, request by request, so that what else the machine does
 * meets both. */
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/tgb_object.h"
#include "experiments/bench_s3.h"
#include "experiments/cli.h"

#define ROUNDS_MAX 101
#define ROUND_REQUESTS 200 /* of each side */
#define SLICE_BYTES (UINT32_C(1) << 20)
#define OBJECTS 8

static const struct tgb_mesh mesh = {.data = 4, .context = 1};

enum side {
    SIDE_STORE,
    SIDE_PEER,
    SIDE_COUNT
};

/* A turn: so many requests, all of them at once. */
struct turn {
    const char *name;
    uint32_t requests;
    double target; /* of the ratio of P95 */
};

/* Of several at once the last one waits for the checks of all: that is throughput, not what a slice
 * takes. */
static const struct turn turns[] = {
    {"slice 1MiB", 1, 1.1},
    {"4 slices 1MiB", 4, NAN},
};

struct slices {
    struct bench_null server; /* where there is no store */
    struct bench_client *client;
    struct bench_peer *peer;
    struct bench_slices read;
    char prefix[BENCH_PREFIX_MAX];
    uint8_t *object;
    uint64_t begun; /* requests of either side, so far */
    size_t count;   /* of each side's latencies */
    double latency_ms[SIDE_COUNT][ROUNDS_MAX * ROUND_REQUESTS];
    double check_s;
};

/* ---- objects ----------------------------------------------------------------------------------
 */

static void fill_object(struct slices *slices, uint64_t sequence)
{
    struct tgb_object object = {.mesh = mesh,
                                .layout = slices->read.layout,
                                .name = bench_tgb_name(sequence),
                                .bytes = slices->object};
    tgb_object_fill(&object);
}

/* False: said. */
static bool run_client(struct slices *slices, const struct bench_load *load)
{
    struct bench_cost cost;
    bench_client_run(slices->client, load, &cost);
    if (cost.bad > 0)
        cli_error(CLI_FAILED, "bench: %s", cost.why);
    return cost.bad == 0;
}

static bool write_objects(struct slices *slices)
{
    for (uint64_t i = 0; i < OBJECTS; i++) {
        const struct bench_load load = {.verb = STORE_PUT,
                                        .count = 1,
                                        .concurrency = 1,
                                        .data = slices->object,
                                        .bytes = slices->read.layout.object_bytes,
                                        .prefix = slices->prefix,
                                        .first = i};
        fill_object(slices, i + 1);
        if (!run_client(slices, &load))
            return false;
    }
    return true;
}

static void delete_objects(struct slices *slices)
{
    const struct bench_load load = {
        .verb = STORE_DELETE, .count = OBJECTS, .concurrency = OBJECTS, .prefix = slices->prefix};
    if (!run_client(slices, &load))
        cli_error(CLI_FAILED, "bench: objects may be left below %s", slices->prefix);
}

/* ---- the rounds -------------------------------------------------------------------------------
 */

/* The same requests for either side. */
static bool take_turn(struct slices *slices, const struct turn *turn, enum side side, size_t at)
{
    int64_t latency_ns[ROUND_REQUESTS];
    struct bench_load load = {.verb = STORE_GET,
                              .count = turn->requests,
                              .concurrency = turn->requests,
                              .bytes = slices->read.layout.slot_bytes,
                              .prefix = slices->prefix,
                              .first = slices->begun,
                              .slices = &slices->read,
                              .latency_ns = latency_ns};
    struct bench_cost cost;
    if (side == SIDE_STORE)
        bench_client_run(slices->client, &load, &cost);
    else
        bench_peer_run(slices->peer, &load, &cost);
    if (cost.bad > 0) {
        cli_error(CLI_FAILED, "bench: a slice was not read: %s", cost.why);
        return false;
    }
    for (size_t i = 0; i < turn->requests; i++)
        slices->latency_ms[side][at + i] = (double)latency_ns[i] / 1e6;
    slices->check_s += cost.check_s;
    return true;
}

static bool run_rounds(struct slices *slices, const struct turn *turn, uint32_t rounds)
{
    uint32_t per_round = ROUND_REQUESTS / turn->requests;
    for (uint32_t i = 0; i < (rounds + 1) * per_round; i++) {
        /* The first round warms up: its latencies are written over, and its checks taken off. */
        size_t at = (size_t)(i < per_round ? i : i - per_round) * turn->requests;
        if (i == per_round)
            slices->check_s = 0;
        for (size_t j = 0; j < SIDE_COUNT; j++)
            if (!take_turn(slices, turn, (enum side)((i + j) % SIDE_COUNT), at))
                return false;
        slices->begun += turn->requests;
    }
    slices->count = (size_t)rounds * per_round * turn->requests;
    return true;
}

/* ---- the report -------------------------------------------------------------------------------
 */

static void report_value(struct bench *bench, const struct turn *turn, const char *what,
                         struct bench_row row)
{
    char name[64];
    snprintf(name, sizeof(name), "%s, %s", turn->name, what);
    row.name = name;
    if (isnan(row.target))
        row.verdict = BENCH_INFORMS;
    else
        row.verdict = row.value <= row.target ? BENCH_MEETS : BENCH_MISSES;
    bench_report(bench, &row);
}

static void report(struct bench *bench, const struct turn *turn, struct slices *slices)
{
    const struct {
        const char *name;
        double fraction;
        double target; /* of the ratio */
    } quantiles[] = {{"P50", 0.5, NAN}, {"P95", 0.95, turn->target}, {"P99", 0.99, NAN}};
    static const char *const sides[SIDE_COUNT] = {"store", "libcurl"};
    for (size_t side = 0; side < SIDE_COUNT; side++)
        gsl_sort(slices->latency_ms[side], 1, slices->count);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double value[SIDE_COUNT];
        char what[48];
        for (size_t side = 0; side < SIDE_COUNT; side++) {
            value[side] = gsl_stats_quantile_from_sorted_data(slices->latency_ms[side], 1,
                                                              slices->count, quantiles[i].fraction);
            snprintf(what, sizeof(what), "%s %s", sides[side], quantiles[i].name);
            report_value(
                bench, turn, what,
                (struct bench_row){.unit = "ms", .value = value[side], .target = NAN, .note = ""});
        }
        snprintf(what, sizeof(what), "%s ratio", quantiles[i].name);
        report_value(bench, turn, what,
                     (struct bench_row){.unit = "x libcurl",
                                        .value = value[SIDE_STORE] / value[SIDE_PEER],
                                        .target = quantiles[i].target,
                                        .note = ""});
    }
    report_value(bench, turn, "checks",
                 (struct bench_row){.unit = "ms",
                                    .value = slices->check_s * 1e3 / (double)slices->count,
                                    .target = NAN,
                                    .note = "of the store's time, mean; libcurl checks nothing"});
}

/* ---- before and after -------------------------------------------------------------------------
 */

static bool open_sides(struct slices *slices, const char *address, const struct s3_options *options)
{
    char error[STORE_ERROR_MAX];
    if (bench_client_open(address, options, &slices->client, error)) {
        if (bench_peer_open(address, options, &slices->peer, error))
            return true;
        bench_client_close(slices->client);
    }
    cli_error(CLI_FAILED, "bench: %s", error);
    return false;
}

static bool measure(struct bench *bench, struct slices *slices, uint32_t rounds)
{
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        if (!run_rounds(slices, &turns[i], rounds))
            return false;
        report(bench, &turns[i], slices);
    }
    return true;
}

/* A server that does nothing has one object under every name. */
static bool on_null(struct bench *bench, struct slices *slices, uint32_t rounds)
{
    slices->read.objects = 1;
    fill_object(slices, 1);
    if (!bench_null_start(&slices->server, slices->object, slices->read.layout.object_bytes))
        return false;
    const struct s3_options options = bench_null_options(&slices->server);
    bool done = open_sides(slices, "s3://bench", &options);
    if (done) {
        done = measure(bench, slices, rounds);
        bench_peer_close(slices->peer);
        bench_client_close(slices->client);
    }
    bench_null_stop(&slices->server);
    return done;
}

static bool on_store(struct bench *bench, struct slices *slices, const char *address,
                     const struct s3_options *options, uint32_t rounds)
{
    struct s3_options found;
    slices->read.objects = OBJECTS;
    if (!bench_reach(address, options, OBJECTS, &found) || !open_sides(slices, address, &found))
        return false;
    bool done = write_objects(slices) && measure(bench, slices, rounds);
    delete_objects(slices);
    bench_peer_close(slices->peer);
    bench_client_close(slices->client);
    return done;
}

bool bench_slices(struct bench *bench, const char *address, const struct s3_options *options,
                  uint32_t rounds)
{
    assert(rounds >= 1);
    struct slices *slices = calloc(1, sizeof(*slices));
    assert(slices != NULL);
    enum tgb_error error =
        tgb_layout_make(tgb_layout_object_bytes(tgb_mesh_slices(mesh), SLICE_BYTES),
                        tgb_mesh_slices(mesh), &slices->read.layout);
    assert(error == TGB_OK);
    slices->object = malloc(slices->read.layout.object_bytes);
    assert(slices->object != NULL);
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    bench_prefix(slices->prefix);
    bool done = address == NULL ? on_null(bench, slices, rounds)
                                : on_store(bench, slices, address, options, rounds);
    free(slices->object);
    free(slices);
    return done;
}
