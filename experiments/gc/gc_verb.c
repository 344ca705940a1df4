/* gc_verb.c - `lakestream gc`. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/cli.h"
#include "experiments/cli_config.h"
#include "experiments/config/units.h"
#include "experiments/gc/gc_report.h"
#include "experiments/gc/gc_run.h"
#include "experiments/gc/retirement.h"
#include "experiments/live/live_access.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"
#include "experiments/verbs.h"

#define GRACE_NS (60 * NS_PER_S)
/* Old markers stay longer than any listing takes, whatever --grace is: see core/reclaim.h. */
#define MARKER_GRACE_NS (300 * NS_PER_S)
#define BEHIND 4
#define FULL_EVERY 10
#define DELETES_MAX 32
#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)

struct gc_call {
    const struct cli *cli;
    const char *url;
    char *command; /* that reaches this store again, for advice; owned */
    struct config config;
    int64_t grace_ns;
    int64_t period_ns;
    uint32_t ranks;    /* 0: any */
    uint32_t consumer; /* to be retired, and the producer, where given */
    uint32_t producer;
    struct live_session session;
};

/* ---- what was asked for ---- */

/* How a producer is best fenced: soon. */
static const char *const own_defaults[] = {
    "commit.first_gap=0s",
    "policy.name=dac",
    "policy.dac.start=200ms",
};

static bool take_time(const char *flag, const char *text, int64_t *ns)
{
    struct diagnostic diagnostic;
    if (text == NULL || unit_parse_duration(text, ns, &diagnostic))
        return true;
    cli_error(CLI_USAGE, "--%s: %s", flag, diagnostic.text);
    return false;
}

static bool take_name(const char *flag, const char *text, uint32_t *name)
{
    struct diagnostic diagnostic;
    uint64_t number = 0;
    if (text == NULL)
        return true;
    if (!unit_parse_count(text, &number, &diagnostic) || number > UINT32_MAX) {
        cli_error(CLI_USAGE, "--%s %s: expected a number from 0 to %u", flag, text, UINT32_MAX);
        return false;
    }
    *name = (uint32_t)number;
    return true;
}

static bool take_flags(struct gc_call *call)
{
    const struct cli *cli = call->cli;
    bool retire = cli->retire_consumer != NULL || cli->retire_producer != NULL;
    call->grace_ns = GRACE_NS;
    call->ranks = (uint32_t)cli->ranks;
    if (retire && (cli->dry_run || cli->loop != NULL)) {
        cli_error(CLI_USAGE, "--retire-consumer and --retire-producer are done once, and really: "
                             "leave out --dry-run and --loop");
        return false;
    }
    if (!take_time("grace", cli->grace, &call->grace_ns) ||
        !take_time("loop", cli->loop, &call->period_ns) ||
        !take_name("retire-consumer", cli->retire_consumer, &call->consumer) ||
        !take_name("retire-producer", cli->retire_producer, &call->producer))
        return false;
    if (cli->loop != NULL && call->period_ns == 0) {
        cli_error(CLI_USAGE, "--loop: the time between rounds is to be more than 0");
        return false;
    }
    if (!cli_config_fill(cli, own_defaults, sizeof(own_defaults) / sizeof(own_defaults[0]),
                         &call->config))
        return false;
    call->command = cli_command(cli, ~(uint64_t)CLI_S3);
    return true;
}

/* ---- the run ---- */

/* What it says of itself; ranks that nobody declared are as many as read a batch. */
static int read_marker(struct gc_call *call)
{
    char reason[STORE_ERROR_MAX] = "";
    struct tgb_mesh mesh = {0};
    json_t *marker = NULL;
    int status = CLI_DONE;
    switch (live_marker_read(&call->session, &marker, reason)) {
    case LIVE_MARKER_FOUND:
        break;
    case LIVE_MARKER_MISSING:
        return cli_error(CLI_USAGE,
                         "%s holds no run: there is no %s; give the prefix of one run, as "
                         "lakestream live printed it",
                         call->url, LIVE_MARKER_KEY);
    case LIVE_MARKER_DAMAGED:
    case LIVE_MARKER_FAILED:
        return cli_error(CLI_FAILED, "%s: %s", call->url, reason);
    }
    json_int_t format = json_integer_value(json_object_get(marker, "format"));
    json_int_t entry = json_integer_value(json_object_get(marker, "entry_bytes"));
    if (format != LIVE_FORMAT || !live_marker_mesh(marker, &mesh) ||
        entry < MANIFEST_ENTRY_BYTES_MIN || entry > MANIFEST_ENTRY_BYTES_MAX)
        status = cli_error(CLI_USAGE,
                           "%s was made by another version of this program (format %lld), so "
                           "nothing was deleted; reclaim it with that version",
                           call->url, (long long)format);
    else if (call->ranks == 0) /* plain batches are for one */
        call->ranks = tgb_mesh_slices(mesh) > 0 ? tgb_mesh_slices(mesh) : 1;
    call->config.entry_bytes = (uint64_t)entry;
    json_decref(marker);
    return status;
}

/* ---- rounds ---- */

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    const struct gc_call *call = context;
    if (report->end == RECLAIM_STOPPED && report->newest == 0)
        return; /* stopped before it had read anything: a round that was not */
    struct gc_report_options options = {
        .url = call->url,
        .command = call->command,
        .mode = call->cli->dry_run ? RECLAIM_DRY_RUN : RECLAIM_DELETE,
        .grace_ns = call->grace_ns,
        .now_ns = loop_now(live_session_loop(&call->session)),
    };
    if (call->cli->json)
        gc_report_json(report, error, &options, stdout);
    else if (error[0] != '\0')
        cli_error(CLI_FAILED, "%s: %s", call->url, error);
    else if (call->period_ns > 0)
        gc_report_line(report, &options, stdout);
    else
        gc_report_print(report, &options, stdout);
    fflush(stdout);
}

static int reclaim(struct gc_call *call)
{
    const struct cli *cli = call->cli;
    struct gc_options options = {
        .reclaim = {.retry_ns = RETRY_NS,
                    .retry_max_ns = RETRY_MAX_NS,
                    .mode = cli->dry_run ? RECLAIM_DRY_RUN : RECLAIM_DELETE,
                    .ranks = call->ranks,
                    .behind = cli->behind,
                    .grace_ns = call->grace_ns,
                    .marker_grace_ns = MARKER_GRACE_NS,
                    .full_every = FULL_EVERY,
                    .deletes_max = DELETES_MAX},
        .period_ns = call->period_ns,
        .round = on_round,
        .context = call,
    };
    switch (gc_run(&call->session, &options)) {
    case RECLAIM_DONE:
    case RECLAIM_EMPTY:
    case RECLAIM_STOPPED:
        return CLI_DONE;
    case RECLAIM_GIVEN_UP:
    case RECLAIM_REFUSED:
    case RECLAIM_END_COUNT:
        break;
    }
    return CLI_FAILED;
}

/* ---- retiring ---- */

static int retire(struct gc_call *call)
{
    const struct cli *cli = call->cli;
    char text[RETIREMENT_TEXT_MAX];
    if (cli->retire_consumer != NULL) {
        if (retirement_of_consumer(&call->session, call->consumer, call->ranks, text) !=
            RETIREMENT_DONE)
            return cli_error(CLI_FAILED, "%s: %s", call->url, text);
        fprintf(stderr, "consumer %u is retired: it holds nothing any more\n", call->consumer);
    }
    if (cli->retire_producer != NULL) {
        uint32_t epoch;
        if (retirement_of_producer(&call->session, &call->config, call->producer, &epoch, text) !=
            RETIREMENT_DONE)
            return cli_error(CLI_FAILED, "%s: %s", call->url, text);
        fprintf(stderr,
                "producer %u is retired by epoch %u: what it did not commit can go, once older "
                "than --grace\n",
                call->producer, epoch);
    }
    return CLI_DONE;
}

static int gc(struct gc_call *call)
{
    const struct cli *cli = call->cli;
    struct live_session_options access = live_access_of(&call->config);
    char error[STORE_ERROR_MAX];
    enum open_result opened = live_reach(call->url, &access, error);
    if (opened == OPEN_OK) { /* what is not there is not to be made */
        access.access = DIRECTORY_READ;
        opened = live_session_open(call->url, &access, &call->session, error);
    }
    if (opened != OPEN_OK)
        return cli_error(opened == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    int status = read_marker(call);
    live_session_close(&call->session);
    if (status != CLI_DONE)
        return status;
    access.access = cli->dry_run ? DIRECTORY_READ : DIRECTORY_WRITE;
    if (live_session_open(call->url, &access, &call->session, error) != OPEN_OK)
        return cli_error(CLI_FAILED, "%s", error);
    status = retire(call);
    if (status == CLI_DONE)
        status = reclaim(call);
    live_session_close(&call->session);
    return status;
}

int gc_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_RANKS, "N",
         "ranks without which nothing is given up (default: as batches have slices)"},
        {0},
    };
    struct cli cli = {
        .usage =
            "usage: lakestream gc STORE [FLAGS]\n\n"
            "Reclaims what no rank of a run needs any more, at file://FOLDER or "
            "s3://BUCKET/PREFIX:\n"
            "raises the floor to the lowest watermark of its consumers (the oldest step that "
            "their\n"
            "checkpoints need), then deletes the batches and versions below it, and batches that\n"
            "lost: of a producer's life that another one fenced. Any number of these may run at\n"
            "the same time, beside the run, and die anywhere.\n\n"
            "Nothing is given up while a rank of --ranks has no watermark (default: as many ranks\n"
            "as the run's batches have slices), or while there is none at all. A rank that is\n"
            "gone for good, or is not to come at all, holds storage until a human says so, with\n"
            "--retire-consumer; a producer that is gone leaves batches that it did not commit\n"
            "until --retire-producer, which fences it. Old floors and intents go five minutes\n"
            "after a process saw higher ones (--loop).\n\n"
            "--json prints one object for each round.",
        .flags = CLI_S3 | CLI_SET | CLI_JSON | CLI_DRY_RUN | CLI_LOOP | CLI_GRACE | CLI_BEHIND |
                 CLI_RANKS | CLI_RETIRE_CONSUMER | CLI_RETIRE_PRODUCER,
        .helps = helps,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
        .behind = BEHIND,
    };
    static struct gc_call call;
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    call = (struct gc_call){.cli = &cli, .url = cli.operands[0]};
    int status = take_flags(&call) ? gc(&call) : CLI_USAGE;
    free(call.command);
    return status;
}
