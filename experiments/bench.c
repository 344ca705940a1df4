/* bench.c - the verb `lakestream bench`, and how rows are reported. */
#include "experiments/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/verbs.h"

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

int bench_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream bench [sim] [FLAGS]\n\n"
            "Measures the simulator on one core: simulated seconds per second of the frozen P1\n"
            "configuration (configs/bench/p1.yaml) with bandwidth sharing and checkers on, best\n"
            "of five; beside it a bare loop of heap, lognormal and hash, the M/M/1 queue with\n"
            "its closed form, the slow reference mode whose digest must be the same, 1,024\n"
            "producers, and the memory of the hungriest policy. MISSES is a matter of the\n"
            "machine and its load; WRONG is a bug, and makes the exit status 1.",
        .flags = CLI_JSON,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.operand_count == 1 && strcmp(cli.operands[0], "sim") != 0)
        return cli_error(CLI_USAGE, "bench: unknown benchmark '%s'; there is: sim",
                         cli.operands[0]);
    struct bench bench = {.rows = cli.json ? json_array() : NULL};
    int status = run_all(&bench);
    if (bench.rows) {
        json_dumpf(bench.rows, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(bench.rows);
    }
    return status;
}
