/* produce_verb.c - `lakestream produce`. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiments/cli.h"
#include "experiments/cli_config.h"
#include "experiments/config/options.h"
#include "experiments/live/live_access.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"
#include "experiments/produce/produce.h"
#include "experiments/trials/producer_config.h"
#include "experiments/verbs.h"

#define EXPERIMENT_NAME "produce"
#define STATUS_KILLED 130

struct produce_call {
    const struct cli *cli;
    const char *url;
    uint32_t producer;
    uint64_t wanted; /* batches; of files, those that were committed before count, too */
    struct config config;
    struct given_files files; /* count 0: synthetic batches */
    uint64_t shown;
};

/* ---- what was asked for ---- */

/* What suits one producer that has something to commit now. */
static const char *const own_defaults[] = {
    "workload.mode=background", "workload.rate=1000TB/s", "workload.jitter=0",
    "commit.first_gap=0s",      "policy.name=dac",        "policy.dac.start=200ms",
};

static bool override_flag(struct config *config, const char *key, const char *value)
{
    char text[CLI_FLAG_KEY_BYTES];
    if (value == NULL)
        return true;
    snprintf(text, sizeof(text), "%s=%s", key, value);
    return cli_config_set(config, ORIGIN_SET, text);
}

static bool fill_config(struct produce_call *call)
{
    struct config *config = &call->config;
    struct diagnostic diagnostic;
    if (!cli_config_fill(call->cli, own_defaults, sizeof(own_defaults) / sizeof(own_defaults[0]),
                         config))
        return false;
    if (!override_flag(config, "policy.name", call->cli->policy) ||
        !override_flag(config, "workload.tgb", call->cli->bytes))
        return false;
    config->workload.producers = (uint64_t)call->producer + 1;
    if (config_check(config, &diagnostic))
        return true;
    cli_error(CLI_USAGE, "%s", diagnostic.text);
    return false;
}

static bool take_producer(struct produce_call *call)
{
    struct diagnostic diagnostic;
    uint64_t producer = 0;
    const char *text = call->cli->producer;
    if (text != NULL &&
        (!unit_parse_count(text, &producer, &diagnostic) || producer >= MANIFEST_STATES_MAX)) {
        cli_error(CLI_USAGE, "--producer %s: expected a number from 0 to %d", text,
                  MANIFEST_STATES_MAX - 1);
        return false;
    }
    call->producer = (uint32_t)producer;
    return true;
}

static bool take_files(struct produce_call *call)
{
    const struct cli *cli = call->cli;
    char error[GIVEN_FILES_TEXT_MAX];
    size_t count = (size_t)cli->operand_count - 1;
    if (count > 0 && (cli->given & (CLI_COUNT | CLI_BYTES)) != 0) {
        cli_error(CLI_USAGE, "--count and --bytes are of synthetic batches: leave them out, or "
                             "the files");
        return false;
    }
    if (count == 0 && cli->append) {
        cli_error(CLI_USAGE, "--append is for files: name them, or leave it out");
        return false;
    }
    call->wanted = count > 0 ? count : cli->count > 0 ? cli->count : 1;
    if (count == 0 || given_files_open(cli->operands + 1, count, &call->files, error))
        return true;
    cli_error(CLI_USAGE, "%s", error);
    return false;
}

/* ---- where it goes ---- */

static bool was_set(const struct produce_call *call, const char *key)
{
    return call->config.origins[option_index(option_find(key))].kind == ORIGIN_SET;
}

/* Adds to the run that the marker names: with its entry size and mesh, unless others were asked
 * for. */
static enum open_result join_run(struct produce_call *call, const json_t *marker,
                                 const struct live_marker_options *wanted,
                                 char error[LIVE_MARKER_TEXT_MAX])
{
    struct live_marker_options same = *wanted;
    json_int_t bytes = json_integer_value(json_object_get(marker, "entry_bytes"));
    bool possible = bytes >= MANIFEST_ENTRY_BYTES_MIN && bytes <= MANIFEST_ENTRY_BYTES_MAX;
    if (!was_set(call, "manifest.entry") && possible)
        same.entry_bytes = (uint64_t)bytes;
    struct tgb_mesh mesh;
    if (!was_set(call, "tgb.mesh") && live_marker_mesh(marker, &mesh))
        same.mesh = mesh;
    call->config.entry_bytes = same.entry_bytes;
    call->config.mesh = same.mesh;
    return live_marker_agrees(marker, &same, call->url, error);
}

/* Another process may claim the prefix in between: then its marker is what counts. */
static enum open_result find_run(struct live_session *session, struct produce_call *call,
                                 const struct live_marker_options *wanted,
                                 char error[LIVE_MARKER_TEXT_MAX])
{
    char reason[STORE_ERROR_MAX] = "";
    json_t *marker = NULL;
    enum live_claim claim = LIVE_CLAIM_FAILED;
    enum live_marker found = live_marker_read(session, &marker, reason);
    if (found == LIVE_MARKER_MISSING)
        claim = live_marker_make(session, wanted, reason);
    if (claim == LIVE_CLAIMED)
        return OPEN_OK;
    if (claim == LIVE_CLAIM_TAKEN)
        found = live_marker_read(session, &marker, reason);
    if (found == LIVE_MARKER_FOUND) {
        enum open_result result = join_run(call, marker, wanted, error);
        json_decref(marker);
        return result;
    }
    if (found == LIVE_MARKER_MISSING && claim == LIVE_CLAIM_TAKEN) {
        snprintf(
            error, LIVE_MARKER_TEXT_MAX,
            "%s holds objects, but no run to add to (there is no %s); give an empty prefix, or "
            "that of a run",
            call->url, LIVE_MARKER_KEY);
        return OPEN_BAD_INPUT;
    }
    snprintf(error, LIVE_MARKER_TEXT_MAX, "%s: %s", call->url, reason);
    return OPEN_FAILED;
}

static int take_run(struct live_session *session, struct produce_call *call)
{
    char error[LIVE_MARKER_TEXT_MAX];
    struct live_marker_options wanted = {
        .experiment = EXPERIMENT_NAME,
        .arm = config_policy_kind(&call->config)->name,
        .payload = call->files.count > 0 ? LIVE_PAYLOAD_FILES : LIVE_PAYLOAD_SYNTHETIC,
        .producers = 1,
        .entry_bytes = call->config.entry_bytes,
        .mesh = call->config.mesh,
    };
    enum open_result result = find_run(session, call, &wanted, error);
    if (result == OPEN_OK)
        return CLI_DONE;
    return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
}

/* Batches are cut as the run's are, whose mesh is known now. */
static int slice_batches(struct live_session *session, struct produce_call *call)
{
    const struct config *config = &call->config;
    struct diagnostic diagnostic;
    char error[GIVEN_FILES_TEXT_MAX];
    bool sliced = tgb_mesh_slices(config->mesh) > 0;
    live_session_slice(session, config->mesh);
    if (!sliced && config->zstd_level > 0)
        return cli_error(CLI_USAGE, "tgb.zstd compresses slices, and this run's TGBs are plain: "
                                    "leave it out, or start a run with --set tgb.mesh");
    if (call->files.count == 0 && !config_check(config, &diagnostic))
        return cli_error(CLI_USAGE, "%s", diagnostic.text);
    if (call->files.count > 0 &&
        !given_files_slice(&call->files, config->mesh, (int)config->zstd_level, error))
        return cli_error(CLI_USAGE, "%s", error);
    return CLI_DONE;
}

/* ---- what comes out ---- */

static void show_json(const struct produce_batch *batch)
{
    json_t *row = json_object();
    json_object_set_new(row, "sequence", json_integer((json_int_t)batch->sequence));
    json_object_set_new(row, "offset", json_integer((json_int_t)batch->end_offset));
    json_object_set_new(row, "version", json_integer((json_int_t)batch->version));
    json_object_set_new(row, "bytes", json_integer((json_int_t)batch->bytes));
    if (batch->path != NULL) {
        json_t *path = json_string(batch->path);
        json_object_set_new(row, "file", path != NULL ? path : json_string("(not UTF-8)"));
    }
    json_dumpf(row, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(row);
}

static void show_row(const struct produce_call *call, const struct produce_batch *batch)
{
    if (call->shown == 0)
        printf("%10s %16s %10s %14s%s\n", "sequence", "offset", "version", "bytes",
               batch->path != NULL ? "  file" : "");
    printf("%10" PRIu64 " %16" PRIu64 " %10" PRIu64 " %14" PRIu64 "%s%s\n", batch->sequence,
           batch->end_offset, batch->version, batch->bytes, batch->path != NULL ? "  " : "",
           batch->path != NULL ? batch->path : "");
}

static void on_visible(void *context, const struct produce_batch *batch)
{
    struct produce_call *call = context;
    if (call->cli->json)
        show_json(batch);
    else
        show_row(call, batch);
    fflush(stdout); /* as each becomes visible; main looks for errors */
    call->shown++;
}

/* Appended files are not compared with what is committed: given again, they are committed again. */
static void say_look(const struct produce_call *call)
{
    struct cli inspect = *call->cli;
    inspect.verb = "inspect";
    inspect.operand_count = 1;
    char *command = cli_command(&inspect, ~(uint64_t)CLI_S3);
    fprintf(stderr,
            "some of the rest may be committed: look with `%s` before they are given again\n",
            command);
    free(command);
}

/* How to get the rest committed, too. */
static void say_rest(const struct produce_call *call, enum produce_end end)
{
    if (call->cli->append && end != PRODUCE_INTERRUPTED) { /* an attempt may be undecided */
        say_look(call);
        return;
    }
    char *command = cli_command(call->cli, CLI_COUNT);
    if (call->files.count == 0)
        fprintf(stderr, "for the others: %s --count %" PRIu64 "\n", command,
                call->wanted - call->shown);
    else if (call->cli->append)
        fprintf(stderr, "for the others: the same command without the first %" PRIu64 " files\n",
                call->shown);
    else
        fprintf(stderr, "for the others, the same again: %s\n", command);
    free(command);
}

static int conclude(const struct produce_call *call, enum produce_end end,
                    const struct produce_report *report)
{
    int status = CLI_FAILED;
    switch (end) {
    case PRODUCE_DONE:
        if (call->shown == 0)
            fprintf(stderr, "all %" PRIu64 " files are committed already\n", call->wanted);
        return CLI_DONE;
    case PRODUCE_OTHER_FILES:
        return cli_error(CLI_FAILED,
                         "%s: %s; nothing was uploaded: give the list that was begun with, or "
                         "--append to put these files behind it",
                         call->url, report->text);
    case PRODUCE_INTERRUPTED:
        cli_error(status, "stopped as asked: %" PRIu64 " batches became visible", call->shown);
        break;
    case PRODUCE_KILLED:
        status = STATUS_KILLED;
        cli_error(status, "killed: %" PRIu64 " batches became visible, more may follow",
                  call->shown);
        return status;
    case PRODUCE_FAILED:
    case PRODUCE_HANGING:
        cli_error(status, "%s; %" PRIu64 " batches became visible", report->text, call->shown);
        break;
    }
    if (report->resumed)
        say_rest(call, end);
    return status;
}

/* ---- doing it ---- */

static bool fill_producer(const struct produce_call *call, struct producer_options *producer)
{
    uint64_t seed = 0;
    bool drawn = getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed);
    producer_options_of(&call->config, call->producer, seed, producer);
    drawn = drawn &&
            getrandom(&producer->commit.incarnation, INCARNATION_BYTES, 0) == INCARNATION_BYTES;
    if (!drawn)
        cli_error(CLI_FAILED, "the system gave no random bytes: %s", strerror(errno));
    return drawn;
}

static int produce_in(struct live_session *session, struct produce_call *call)
{
    struct produce_report report;
    struct produce_options options = {
        .files = call->files.count > 0 ? &call->files : NULL,
        .files_first = call->cli->append ? 0 : 1,
        .visible = on_visible,
        .context = call,
    };
    int status = take_run(session, call);
    if (status == CLI_DONE)
        status = slice_batches(session, call);
    if (status == CLI_DONE && !fill_producer(call, &options.producer))
        status = CLI_FAILED;
    if (status == CLI_DONE) {
        options.producer.batches_max = call->files.count == 0 ? call->wanted : 0;
        enum produce_end end = produce_run(session, &options, &report);
        status = conclude(call, end, &report);
        if (end == PRODUCE_KILLED || end == PRODUCE_HANGING)
            return status; /* the process ends, and with it what is in flight */
    }
    live_session_close(session);
    return status;
}

static int produce(struct produce_call *call)
{
    char error[STORE_ERROR_MAX];
    struct live_session session;
    if (!take_producer(call) || !fill_config(call) || !take_files(call))
        return CLI_USAGE;
    struct live_session_options access = live_access_of(&call->config);
    enum open_result opened = live_reach(call->url, &access, error);
    if (opened == OPEN_OK)
        opened = live_session_open(call->url, &access, &session, error);
    int status = opened == OPEN_OK
                     ? produce_in(&session, call)
                     : cli_error(opened == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    given_files_close(&call->files);
    return status;
}

int produce_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream produce STORE [FILE...] [FLAGS]\n\n"
            "Commits batches to one run, at file://FOLDER or s3://BUCKET/PREFIX, as one producer,\n"
            "and prints each as it becomes visible: its sequence and end offset in the producer's\n"
            "stream, and the version that holds it. An empty prefix becomes a new run; several\n"
            "producers, each with a --producer of its own, may add to one run at the same time.\n\n"
            "Without files: --count synthetic batches of --bytes each, behind what is committed.\n"
            "With files: each becomes one batch (one TGB, at most 5 GiB, whole in memory while it\n"
            "is uploaded). The list is the producer's stream from its start: what of it is\n"
            "committed already is compared (sizes, and the newest one's bytes) and left out, so\n"
            "the same command goes on after a crash, at the exact offset, and commits nothing\n"
            "twice. --append puts the files behind all that is committed instead, and compares\n"
            "nothing: after a failure, look with inspect which are committed.\n\n"
            "In a run with a mesh (--set tgb.mesh=8x2 on the one that makes it) batches are cut\n"
            "into slices, one for each rank; --set tgb.zstd=LEVEL compresses those of files, "
            "which\n"
            "are read once more for it: their sizes must be known first.\n\n"
            "--set takes config keys, those of commit.*, policy.* and live.* above all. Ctrl-C\n"
            "decides what is in progress first.",
        .flags = CLI_S3 | CLI_SET | CLI_JSON | CLI_COUNT | CLI_BYTES | CLI_PRODUCER | CLI_POLICY |
                 CLI_APPEND,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = INT_MAX,
    };
    static struct produce_call call;
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    call = (struct produce_call){.cli = &cli, .url = cli.operands[0]};
    return produce(&call);
}
