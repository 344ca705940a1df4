/* bench.c - the verb `lakestream bench`, and how rows are reported. */
#include "experiments/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/bench_s3.h"
#include "experiments/cli.h"
#include "experiments/cli_store.h"
#include "experiments/verbs.h"

/* Of bench s3. */
#define ROUNDS_DEFAULT 21
#define ROUNDS_RCLONE_DEFAULT 5

static const char *verdict_text(enum bench_verdict verdict)
{
    switch (verdict) {
    case BENCH_INFORMS:
        return "";
    case BENCH_MEETS:
        return "meets";
    case BENCH_MISSES:
        return "MISSES";
    case BENCH_WRONG:
        return "WRONG";
    }
    return "";
}

void bench_report(struct bench *bench, const struct bench_row *row)
{
    bench->wrong |= row->verdict == BENCH_WRONG;
    if (bench->rows) {
        json_t *object =
            json_pack("{s:s, s:s, s:f, s:s, s:s}", "name", row->name, "unit", row->unit, "value",
                      row->value, "verdict", verdict_text(row->verdict), "note", row->note);
        if (!isnan(row->target))
            json_object_set_new(object, "target", json_real(row->target));
        json_array_append_new(bench->rows, object);
        return;
    }
    char target[48] = "";
    if (!isnan(row->target))
        snprintf(target, sizeof(target), "target %.6g", row->target);
    printf("%-26s %14.6g %-20s %-16s %-6s %s\n", row->name, row->value, row->unit, target,
           verdict_text(row->verdict), row->note);
    fflush(stdout);
}

static int run_all(struct bench *bench)
{
    /* Memory first: a forked child counts what its parent has touched so far as its own. */
    bool loaded = bench_memory(bench) && bench_yardstick(bench) && bench_mm1(bench) &&
                  bench_p1(bench) && bench_reference(bench) && bench_scale(bench);
    return loaded && !bench->wrong ? CLI_DONE : CLI_FAILED;
}

static int run_core(struct bench *bench)
{
    bench_core(bench);
    return bench->wrong ? CLI_FAILED : CLI_DONE;
}

/* `bench s3`: on a server that does nothing, or with an address beside rclone. */
static int run_s3(struct bench *bench, const struct cli *cli)
{
    struct s3_options options;
    bool beside_rclone = cli->operand_count > 1;
    uint32_t rounds = beside_rclone ? ROUNDS_RCLONE_DEFAULT : ROUNDS_DEFAULT;
    if (cli->rounds != 0)
        rounds = (uint32_t)cli->rounds;
    if (!beside_rclone && cli->endpoint_count == 0) /* slices first: bench_s3 tunes the heap */
        return bench_slices(bench, NULL, NULL, rounds) && bench_s3(bench, rounds) ? CLI_DONE
                                                                                  : CLI_FAILED;
    if (!beside_rclone || cli->endpoint_count != 1 || strncmp(cli->operands[1], "s3://", 5) != 0)
        return cli_error(CLI_USAGE, "bench s3: give s3://BUCKET[/PREFIX] and one --endpoint, "
                                    "or neither");
    if (!cli_s3_options(cli, 0, &options))
        return CLI_USAGE;
    bool done = bench_slices(bench, cli->operands[1], &options, rounds) &&
                bench_rclone(bench, cli->operands[1], &options, rounds);
    return done ? CLI_DONE : CLI_FAILED;
}

static int run_consume(struct bench *bench, const struct cli *cli)
{
    struct s3_options options;
    uint32_t rounds = cli->rounds != 0 ? (uint32_t)cli->rounds : ROUNDS_RCLONE_DEFAULT;
    if (cli->operand_count != 2 || cli->endpoint_count != 1 ||
        strncmp(cli->operands[1], "s3://", 5) != 0)
        return cli_error(CLI_USAGE, "bench consume: give s3://BUCKET[/PREFIX] and one --endpoint");
    if (!cli_s3_options(cli, 0, &options))
        return CLI_USAGE;
    return bench_consume(bench, cli->operands[1], &options, rounds) ? CLI_DONE : CLI_FAILED;
}

int bench_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_ROUNDS, "N", "rounds in turn (default 21, beside rclone 5)"},
        {0},
    };
    struct cli cli = {
        .usage =
            "usage: lakestream bench [sim | core] [--json]\n"
            "       lakestream bench s3 [s3://BUCKET[/PREFIX] --endpoint URL] [FLAGS]\n"
            "       lakestream bench consume s3://BUCKET[/PREFIX] --endpoint URL [FLAGS]\n\n"
            "sim measures the simulator on one core: simulated seconds per second of the frozen\n"
            "P1 configuration (configs/bench/p1.yaml) with bandwidth sharing and checkers on,\n"
            "best of five; beside it a bare loop of heap, lognormal and hash, the M/M/1 queue\n"
            "with its closed form, the slow reference mode whose digest must be the same, 1,024\n"
            "producers, and the memory of the hungriest policy.\n\n"
            "core measures manifests of 10,000 to 10 million live entries (1 GB of memory): the\n"
            "time to append a batch of 8, which does not grow, and to find the entry of a step,\n"
            "which grows with the logarithm.\n\n"
            "s3 measures the client of S3 beside a bare libcurl loop that signs and hashes the\n"
            "same bytes, in turns, on a server on loopback that does nothing: what a rank waits\n"
            "for a slice of 1 MiB, read by one range request and verified, beside a bare range\n"
            "GET that verifies nothing, in 200 turns a round; CPU time of a request, and\n"
            "conditional creates and GETs per second, 16 at a time; medians of 21 rounds. With\n"
            "an address: the slices there, and MB/s of 24 objects of 8 MiB, 4 at a time, beside\n"
            "rclone, which must be installed; medians of 5 rounds. What was written is deleted.\n\n"
            "consume measures reading on a real server: MB/s of one rank's process, 8 objects\n"
            "ahead, its checksums and all that it asks for before its first slice included,\n"
            "beside rclone on the same 48 objects of 8 MiB, 4 at a time: copying them into\n"
            "files in memory, and reading them only to hash them (CRC32); the faster one\n"
            "counts. Medians of 5 rounds. What was written is deleted.\n\n"
            "MISSES is a matter of the machine and its load; WRONG is a bug, and makes the exit\n"
            "status 1.",
        .flags = CLI_JSON | CLI_ROUNDS | CLI_S3,
        .helps = helps,
        .operands_max = 2,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    const char *name = cli.operand_count > 0 ? cli.operands[0] : "sim";
    bool s3 = strcmp(name, "s3") == 0;
    bool core = strcmp(name, "core") == 0;
    bool consume = strcmp(name, "consume") == 0;
    if (!s3 && !core && !consume && strcmp(name, "sim") != 0)
        return cli_error(CLI_USAGE,
                         "bench: unknown benchmark '%s'; there are: sim, core, s3, consume", name);
    if (!s3 && !consume && (cli.operand_count > 1 || (cli.given & ~CLI_JSON) != 0))
        return cli_error(CLI_USAGE, "bench %s: takes --json, and nothing else", name);
    struct bench bench = {.rows = cli.json ? json_array() : NULL};
    int status = core      ? run_core(&bench)
                 : s3      ? run_s3(&bench, &cli)
                 : consume ? run_consume(&bench, &cli)
                           : run_all(&bench);
    if (bench.rows) {
        json_dumpf(bench.rows, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(bench.rows);
    }
    return status;
}
