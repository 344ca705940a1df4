/* consume_verb.c - `lakestream consume`. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/cli_config.h"
#include "experiments/config/units.h"
#include "experiments/consume/consume_call.h"
#include "experiments/consume/consume_report.h"
#include "experiments/consume/consume_run.h"
#include "experiments/consume/order_witness.h"
#include "experiments/gc/retirement.h"
#include "experiments/verbs.h"

#define PREFETCH_BYTES (UINT64_C(256) << 20)
#define CHECKPOINT_EVERY 100
#define WITNESS_FLAGS (CLI_ORDER | CLI_STEPS | CLI_RANK | CLI_RETIRE | CLI_S3 | CLI_SET)
#define WITNESS_POLL_NS (50 * NS_PER_MS)
#define STATUS_KILLED 130

/* ---- what was asked for ---- */

/* One rank where it is named, or where srun or mpirun says which; else all of them. */
static bool take_ranks(struct consume_call *call)
{
    const struct cli *cli = call->cli;
    char text[LIVE_RANKS_TEXT_MAX];
    struct live_ranks ranks;
    struct live_ranks_flags flags = {.rank = cli->rank, .ranks = cli->ranks, .token = cli->token};
    if (cli->rank == NULL && cli->ranks != 0) {
        if (cli->token != NULL) {
            cli_error(CLI_USAGE, "--token is for ranks that are started one by one: give --rank, "
                                 "too, or leave it out");
            return false;
        }
        call->ranks = call->count = (uint32_t)cli->ranks;
        return true;
    }
    bool found = live_ranks_find(&flags, &ranks, text);
    if (!found && flags.token == NULL) { /* which is needed only where they must agree */
        flags.token = "none";
        found = live_ranks_find(&flags, &ranks, text);
        ranks.token[0] = '\0';
    }
    if (!found) {
        cli_error(CLI_USAGE, "%s", text);
        return false;
    }
    memcpy(call->token, ranks.token, sizeof(call->token));
    call->ranks = ranks.count;
    call->first = ranks.rank;
    call->count = 1;
    return true;
}

/* Which consumer holds for it, where one does. */
static bool take_witness(struct consume_call *call)
{
    const char *text = call->cli->rank;
    struct diagnostic diagnostic;
    uint64_t consumer = 0;
    if (text != NULL &&
        (!unit_parse_count(text, &consumer, &diagnostic) || consumer > UINT32_MAX)) {
        cli_error(CLI_USAGE, "--rank %s: expected a number from 0 to %u", text, UINT32_MAX);
        return false;
    }
    call->first = (uint32_t)consumer;
    call->count = 1;
    return true;
}

static bool take_units(struct consume_call *call)
{
    const struct cli *cli = call->cli;
    struct consume_job *job = &call->job;
    struct diagnostic diagnostic;
    job->prefetch_bytes = PREFETCH_BYTES;
    if (cli->prefetch != NULL &&
        !unit_parse_bytes(cli->prefetch, &job->prefetch_bytes, &diagnostic)) {
        cli_error(CLI_USAGE, "--prefetch: %s", diagnostic.text);
        return false;
    }
    if (cli->step_time != NULL &&
        !unit_parse_duration(cli->step_time, &job->step_ns, &diagnostic)) {
        cli_error(CLI_USAGE, "--step-time: %s", diagnostic.text);
        return false;
    }
    return true;
}

static bool take_job(struct consume_call *call)
{
    const struct cli *cli = call->cli;
    call->job.url = cli->operands[0];
    call->job.config = &call->config;
    call->job.from = cli->from;
    call->job.rollback = cli->rollback;
    call->job.steps = cli->steps;
    call->job.checkpoint_every =
        cli->checkpoint_every > 0 ? cli->checkpoint_every : CHECKPOINT_EVERY;
    call->job.checkpoints = cli->checkpoints;
    call->job.log = cli->log;
    if (cli->checkpoints == NULL && (cli->rollback > 0 || cli->checkpoint_every > 0)) {
        cli_error(CLI_USAGE, "--rollback and --checkpoint-every are about checkpoints: give "
                             "--checkpoints FOLDER, too");
        return false;
    }
    if (cli->from > 0 && cli->rollback > 0) {
        cli_error(CLI_USAGE, "--from is where ranks begin that keep no checkpoints, and --rollback "
                             "which checkpoint they go back to: give one of them");
        return false;
    }
    if (cli->order != NULL && (cli->given & ~WITNESS_FLAGS) != 0) {
        cli_error(CLI_USAGE, "--order only follows the chain: of the other flags it takes --steps, "
                             "--rank, --retire and those that say how the store is reached");
        return false;
    }
    return cli_config_fill(cli, NULL, 0, &call->config) &&
           (cli->order != NULL ? take_witness(call) : take_ranks(call)) && take_units(call);
}

/* ---- doing it ---- */

/* The number that a process of this call had, and no other: another one may run as this rank. */
static int retire(struct live_session *session, uint32_t consumer, uint64_t number)
{
    char text[RETIREMENT_TEXT_MAX];
    if (number == 0 || retirement_of_number(session, consumer, number, text) == RETIREMENT_DONE)
        return CLI_DONE;
    return cli_error(CLI_FAILED, "consumer %u was not retired: %s", consumer, text);
}

/* Without a human's word: who had the rank before may have kept checkpoints, and come back. The
 * number that superseded it must hold, or nothing does. */
static bool must_stay(const struct consume_call *call, const struct consume_child *child)
{
    if (call->cli->retire || child->before_number == 0)
        return false;
    fprintf(stderr,
            "lakestream: rank %u: a process before this one (number %" PRIu64
            ") may come back, so its steps stay held; lakestream gc --retire-consumer %u lets go\n",
            child->rank, child->before_number, child->rank);
    return true;
}

static int retire_ranks(const struct consume_call *call, const struct consume_run *run)
{
    struct live_session session;
    int status = consume_call_open(call, DIRECTORY_WRITE, &session);
    if (status != CLI_DONE)
        return status;
    for (uint32_t i = 0; i < run->count; i++)
        if (!must_stay(call, &run->children[i]) &&
            retire(&session, run->children[i].rank, run->children[i].number) != CLI_DONE)
            status = CLI_FAILED;
    live_session_close(&session);
    return status;
}

static int conclude(const struct consume_call *call, enum consume_outcome outcome,
                    const struct consume_run *run)
{
    switch (outcome) {
    case CONSUME_COMPLETE:
        return CLI_DONE;
    case CONSUME_INTERRUPTED:
        /* Without a number of steps this is how it ends. */
        if (call->job.steps == 0)
            return CLI_DONE;
        return cli_error(CLI_FAILED, "stopped as asked");
    case CONSUME_BROKEN:
        return cli_error(CLI_FAILED, "%s", run->text);
    case CONSUME_KILLED:
        break;
    }
    cli_error(CLI_FAILED, "killed");
    return STATUS_KILLED;
}

static bool any_started(const struct consume_run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (run->children[i].started)
            return true;
    return false;
}

/* A folder's workers get the slices and the loop frees them: with a heap for each of them a rank
 * would hold its budget several times. To be said before the first thread is. */
static void share_heap(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
}

static int consume(struct consume_call *call)
{
    struct live_signals signals;
    struct consume_run run;
    share_heap();
    int status = consume_call_begin(call);
    if (status != CLI_DONE)
        return status;
    live_signals_open(&signals);
    struct consume_run_options options = {
        .job = &call->job,
        .first = call->first,
        .count = call->count,
        .signals = &signals,
        .messages = stderr,
    };
    enum consume_outcome outcome = consume_run(&options, &run);
    live_signals_close(&signals);
    if (call->cli->json)
        consume_report_json(&call->job, &run, stdout);
    else if (outcome != CONSUME_BROKEN || any_started(&run))
        consume_report_print(&run, stdout);
    status = conclude(call, outcome, &run);
    /* Ranks that keep no checkpoints never come back to what their watermarks hold. */
    bool retire = call->cli->retire || call->job.checkpoints == NULL;
    if (status == CLI_DONE && retire)
        status = retire_ranks(call, &run);
    consume_run_deinit(&run);
    job_lock_close(&call->lock);
    return status;
}

/* What run it is; and a witness that took a rank's number would supersede the rank, and let go of
 * what it holds. */
static int check_witness(struct consume_call *call, struct live_session *session)
{
    char text[CONSUME_JOB_TEXT_MAX];
    uint32_t ranks;
    int status = consume_call_tell(consume_job_ranks(session, &call->job, &ranks, text), text);
    if (status != CLI_DONE || call->cli->rank == NULL || call->first >= ranks)
        return status;
    return cli_error(CLI_USAGE,
                     "--rank %u is a rank of %s: with --order take a number that no rank has, %u "
                     "or more",
                     call->first, call->job.url, ranks);
}

static int witness(struct consume_call *call)
{
    struct live_session session;
    struct order_witness_report report;
    bool holds = call->cli->rank != NULL;
    struct order_witness_options options = {
        .path = call->cli->order,
        .run = call->job.run,
        .steps = call->cli->steps,
        .poll_ns = WITNESS_POLL_NS,
        .consumer = holds ? &call->first : NULL,
    };
    int status = consume_call_open(call, holds ? DIRECTORY_WRITE : DIRECTORY_READ, &session);
    if (status != CLI_DONE)
        return status;
    status = check_witness(call, &session);
    if (status != CLI_DONE) {
        live_session_close(&session);
        return status;
    }
    enum order_witness_end end = order_witness_run(&session, &options, &report);
    if (end != ORDER_WITNESS_FAILED && holds && call->cli->retire)
        status = retire(&session, call->first, report.number);
    live_session_close(&session);
    if (end == ORDER_WITNESS_FAILED)
        return cli_error(CLI_FAILED, "%s", report.text);
    fprintf(stderr, "%" PRIu64 " steps written; the last is step %" PRIu64 "\n", report.steps,
            report.last.step);
    return end == ORDER_WITNESS_ASKED && options.steps > 0 ? CLI_FAILED : status;
}

int consume_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_RANK, "N", "run this rank alone, from 0 (default: as srun or mpirun say, else all)"},
        {CLI_RANKS, "N", "ranks of the job; without --rank all of them run here"},
        {CLI_TOKEN, "WORD",
         "by which ranks that are started one by one agree: one for all, new for every start; they "
         "keep checkpoints equally often and take as many steps"},
        {0},
    };
    struct cli cli = {
        .usage =
            "usage: lakestream consume STORE [FLAGS]\n\n"
            "Reads a run, at file://FOLDER or s3://BUCKET/PREFIX, as a training job does: every\n"
            "rank is a process that is given its slice of each step, in the committed order, and\n"
            "verifies it. --ranks N alone runs all ranks here; --rank R --ranks N, or srun and\n"
            "mpirun, one of them. There must be as many ranks as the run has slices.\n\n"
            "With --checkpoints a rank keeps its place every --checkpoint-every steps, and a rank\n"
            "that died, or is started again, goes on from there: what it was given once it is\n"
            "given again, the same. What no rank's checkpoints need any more may be reclaimed\n"
            "(lakestream gc). All ranks start at one step: the newest, at or below that of\n"
            "--rollback, that every rank keeps; a rank may be two checkpoints ahead of the\n"
            "slowest one. Without --checkpoints the ranks start anew each time, and hold nothing\n"
            "once they ended well. Ctrl-C stops, and keeps each rank's place if that drops no\n"
            "checkpoint which a slower rank may need. Ranks that are started one by one need the\n"
            "same --token, a new one for every start (srun gives one), or the same --from or\n"
            "--rollback; their --checkpoints must be one folder that all nodes share. Where one\n"
            "of them dies all must be started again (srun -K). Of two starts with one folder of\n"
            "checkpoints the later one waits up to 30 s for the other to end.\n\n"
            "  first, next  the first step of this call, and the one that would be next\n"
            "  digest       of all slices that the rank was ever given, in order, from its first\n"
            "               start on: a checkpoint keeps it, and the same bytes give the same\n"
            "  rate         slices per second of running\n"
            "  slice_p50    time of a request for a slice, and the 95th percentile (newest life)\n"
            "  requests     of all kinds for a step: slices, listings, manifests, watermarks\n"
            "  amplified    bytes moved for slices over bytes in those that were used\n"
            "  wire         all that was received over HTTP (heads, listings, manifests) over the\n"
            "               same; - on a folder\n"
            "  memory       the most that the process had resident\n"
            "  restarts     times that its process died and was started again\n\n"
            "--order FILE fetches nothing: it writes the committed order, a line for every step,\n"
            "from which `lakestream digest` recomputes what every rank must have been given. It\n"
            "begins at the first step that is still kept and follows the chain until Ctrl-C, or\n"
            "for --steps. With --rank N, a number that no rank has, it holds what is not written\n"
            "yet: nothing is reclaimed before it was seen (--retire lets go at the end).",
        .flags = CLI_S3 | CLI_SET | CLI_JSON | CLI_RANK | CLI_RANKS | CLI_CHECKPOINTS |
                 CLI_CHECKPOINT_EVERY | CLI_STEPS | CLI_PREFETCH | CLI_ROLLBACK | CLI_STEP_TIME |
                 CLI_LOG | CLI_FROM | CLI_ORDER | CLI_RETIRE | CLI_TOKEN,
        .helps = helps,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
    };
    static struct consume_call call;
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    call = (struct consume_call){.cli = &cli};
    if (!take_job(&call))
        return CLI_USAGE;
    return cli.order != NULL ? witness(&call) : consume(&call);
}
