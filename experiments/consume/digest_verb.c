/* digest_verb.c - `lakestream digest`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/config/units.h"
#include "experiments/consume/order_digest.h"
#include "experiments/results/table.h"
#include "experiments/verbs.h"

#define DIGEST_TEXT_MAX 17

struct digest_call {
    const struct cli *cli;
    struct order order;
    uint32_t slices;
    uint32_t first; /* rank */
    uint32_t count;
};

static bool take_ranks(struct digest_call *call)
{
    const struct cli *cli = call->cli;
    struct diagnostic diagnostic;
    uint64_t rank = 0;
    uint64_t ranks = cli->ranks > 0 ? cli->ranks : 1;
    call->slices = ranks > 1 ? (uint32_t)ranks : 0;
    call->count = (uint32_t)ranks;
    if (cli->rank == NULL)
        return true;
    if (!unit_parse_count(cli->rank, &rank, &diagnostic) || rank >= ranks) {
        cli_error(CLI_USAGE, "--rank %s: expected a number below --ranks, %" PRIu64, cli->rank,
                  ranks);
        return false;
    }
    call->first = (uint32_t)rank;
    call->count = 1;
    return true;
}

static void add_row(struct table *table, uint32_t rank, const struct order_lives *lives)
{
    char digest[DIGEST_TEXT_MAX];
    snprintf(digest, sizeof(digest), "%016" PRIx64, lives->digest);
    table_add_integer(table, rank);
    table_add_integer(table, (int64_t)lives->first);
    table_add_integer(table, (int64_t)lives->next);
    table_add_text(table, digest);
    if (lives->lives == 0) {
        table_add_missing(table);
        table_add_missing(table);
        return;
    }
    table_add_integer(table, (int64_t)lives->lives);
    table_add_integer(table, (int64_t)lives->given);
}

/* Of the order alone. */
static bool recompute(const struct digest_call *call, uint32_t rank, struct order_lives *lives,
                      char error[ORDER_DIGEST_TEXT_MAX])
{
    const struct cli *cli = call->cli;
    struct order_digest digest = {.slices = call->slices, .rank = rank};
    digest.first = cli->from > 0 ? cli->from : call->order.lines[0].step;
    digest.next = cli->steps > 0 ? digest.first + cli->steps : 0;
    bool made = order_digest_make(&call->order, &digest, error);
    if (made)
        *lives = (struct order_lives){.first = digest.first,
                                      .next = digest.next,
                                      .digest = order_digest_before(&digest, digest.next)};
    order_digest_deinit(&digest);
    return made;
}

static int show(const struct digest_call *call)
{
    static const char *const columns[] = {"rank", "first", "next", "digest", "lives", "given"};
    struct table *table = table_open();
    char error[ORDER_DIGEST_TEXT_MAX];
    int status = CLI_DONE;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_add_column(table, columns[i], "", TABLE_PLAIN);
    for (uint32_t i = 0; i < call->count && status == CLI_DONE; i++) {
        uint32_t rank = call->first + i;
        struct order_lives lives = {0};
        bool right = call->cli->log != NULL ? order_check_log(&call->order, call->slices, rank,
                                                              call->cli->log, &lives, error)
                                            : recompute(call, rank, &lives, error);
        if (right)
            add_row(table, rank, &lives);
        else
            status = cli_error(CLI_FAILED, "%s", error);
    }
    if (status == CLI_DONE)
        table_print(table, call->cli->json ? TABLE_JSON : TABLE_ALIGNED, stdout);
    table_close(table);
    return status;
}

int digest_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_RANK, "N", "of this rank alone (default: of all)"},
        {CLI_RANKS, "N", "ranks of the job (default 1)"},
        {CLI_STEPS, "N", "so many steps (default: all of the order)"},
        {CLI_LOG, "FOLDER", "hold the ranks' logs there against the order"},
        {CLI_FROM, "STEP", "the first step (default: the first of the order)"},
        {0},
    };
    struct cli cli = {
        .usage =
            "usage: lakestream digest FILE [FLAGS]\n\n"
            "Recomputes what every rank must have been given, from the committed order alone "
            "(FILE,\n"
            "written by `lakestream consume --order`) and the bytes that synthetic batches are "
            "made\n"
            "of; reads no store. The order itself must have no gap, and every producer's sequence\n"
            "numbers once each.\n\n"
            "With --log, the logs of `lakestream consume --log` are held against it, line by "
            "line,\n"
            "over all lives of every rank: each went on where an earlier one was, and was given\n"
            "exactly the batches and bytes of the order.\n\n"
            "  first, next  the first step, and the one behind the last\n"
            "  digest       of the slices of these steps, each once; what consume prints for a "
            "rank\n"
            "               whose first start was at the first of them\n"
            "  lives        times that the rank was started\n"
            "  given        steps over all lives, those given again after a crash included",
        .flags = CLI_JSON | CLI_RANK | CLI_RANKS | CLI_FROM | CLI_STEPS | CLI_LOG,
        .helps = helps,
        .operand = "FILE",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    struct digest_call call = {.cli = &cli};
    char error[ORDER_DIGEST_TEXT_MAX];
    if (!take_ranks(&call))
        return CLI_USAGE;
    int status = order_read(cli.operands[0], &call.order, error)
                     ? show(&call)
                     : cli_error(CLI_FAILED, "%s", error);
    order_deinit(&call.order);
    return status;
}
