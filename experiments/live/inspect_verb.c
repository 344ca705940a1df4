/* inspect_verb.c - `lakestream inspect`. */
#include <stdio.h>

#include "experiments/cli_store.h"
#include "experiments/live/inspect.h"
#include "experiments/live/inspect_report.h"
#include "experiments/live/live_request.h"
#include "experiments/verbs.h"

#define VERSIONS_SHOWN 10

static int inspect(const struct cli *cli)
{
    const char *url = cli->operands[0];
    struct live_session session;
    struct live_session_options session_options = {.access = DIRECTORY_READ};
    char error[STORE_ERROR_MAX];
    if (!cli_s3_options(cli, 0, &session_options.s3))
        return CLI_USAGE;
    enum open_result opened = live_reach(url, &session_options, error);
    if (opened == OPEN_OK)
        opened = live_session_open(url, &session_options, &session, error);
    if (opened != OPEN_OK)
        return cli_error(opened == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    struct inspection inspection = {0};
    struct inspect_options options = {.deep = cli->deep, .progress = stderr};
    struct inspect_report_options report = {
        .url = url,
        .versions = cli->versions > 0 ? cli->versions : VERSIONS_SHOWN,
        .deep = cli->deep,
    };
    int status;
    bool empty = false;
    if (!inspect_run(&session, &options, &inspection, error)) {
        status = cli_error(CLI_FAILED, "%s", error);
    } else {
        empty = inspection.version_count == 0;
        if (cli->json)
            inspect_report_json(&inspection, &report, stdout);
        else if (!empty || inspection.tgb_count > 0)
            inspect_report_print(&inspection, &report, stdout);
        status = inspection.problem_total > 0 ? CLI_FAILED : CLI_DONE;
    }
    if (empty)
        cli_error(CLI_FAILED,
                  "%s holds no chain; give the folder of one run, as lakestream live printed it",
                  url);
    inspection_deinit(&inspection);
    live_session_close(&session);
    return status;
}

int inspect_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream inspect STORE [FLAGS]\n\n"
            "Reads the chain of one run, file://FOLDER or s3://BUCKET/PREFIX, checks every "
            "version,\n"
            "every producer's stream and that every TGB is there, and shows them.\n"
            "Changes nothing; a run may be in progress. Exit status: 0 no problem, 1 problems\n"
            "found or nothing there, 2 usage.\n\n"
            "producers:    one line each, as the newest version that could be read has it\n"
            "  epoch        which life of the producer, from 1; a restart takes the next one\n"
            "  incarnation  random name of that life, its first 4 bytes\n"
            "  commits      versions that it made\n"
            "  batches      its batches (TGBs) that versions hold\n"
            "  sequence     number of its newest committed batch, from 1\n"
            "  offset       bytes of its stream up to the end of that batch\n"
            "  gaps, duplicates   batches that are missing, or there twice: must be 0\n"
            "consumers:    ranks that read the run, where there are any\n"
            "  watermark    holds: what it says is needed from that step on; retired: it ended;\n"
            "               none yet: nothing that counts\n"
            "  number       the life of the rank that says so; highest: the newest there is\n"
            "versions:     the newest ones; '-' where nobody made it or it cannot be read\n"
            "  bytes        of the manifest\n"
            "  author, epoch, incarnation   the producer that committed it, and its life\n"
            "  batches      that it added\n"
            "  live         batches that it lists\n"
            "  first_step   number of the first of these in the order of the chain",
        .flags = CLI_JSON | CLI_VERSIONS | CLI_DEEP | CLI_S3,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    return inspect(&cli);
}
