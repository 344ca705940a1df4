/* remove_verb.c - `lakestream remove`. */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli_store.h"
#include "experiments/live/live_request.h"
#include "experiments/live/removal.h"
#include "experiments/verbs.h"

#define FOLDERS_OPEN_MAX 16

struct remove_call {
    const struct cli *cli;
    const char *url;
    struct live_session_options access;
    struct removal removal;
    uint64_t deleted;
};

static int open_session(const struct remove_call *call, enum directory_access access,
                        struct live_session *session)
{
    struct live_session_options options = call->access;
    char error[STORE_ERROR_MAX];
    options.access = access;
    options.temp_age_ns = -1; /* what a killed process left goes too, however young */
    enum open_result opened = live_session_open(call->url, &options, session, error);
    if (opened == OPEN_OK)
        return CLI_DONE;
    return cli_error(opened == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
}

/* ---- what is there ---- */

static void print_run(const struct removal *removal)
{
    const struct live_identity *run = &removal->run;
    if (removal->kind == REMOVAL_NO_RUN)
        printf("No run: there is no %s.\n", LIVE_MARKER_KEY);
    else if (run->experiment[0] == '\0')
        printf("A run that does not say which.\n");
    else
        printf("Run: %s, arm %s, seed %" PRIu64 ", started %s.\n", run->experiment, run->arm,
               run->seed, run->started);
    if (removal->kind == REMOVAL_BEGUN)
        printf("Its removal was begun before: this goes on with it.\n");
}

static void print_newest(const struct remove_call *call, int64_t now_ns)
{
    const struct removal *removal = &call->removal;
    char age[PROGRESS_TEXT_MAX];
    if (removal->newest == 0)
        return;
    printf("Newest version: %" PRIu64, removal->newest);
    if (removal->committed_ns != 0) {
        progress_duration_text((double)(now_ns - removal->committed_ns) / 1e9, age);
        printf(", committed %s ago", age);
    }
    printf(".\n");
}

static void print_consumers(const struct removal *removal)
{
    const struct watermark_tally *consumers = &removal->consumers;
    if (consumers->consumers > 0)
        printf("Consumers that hold steps: %" PRIu32 ", the lowest is %" PRIu32
               ", from step %" PRIu64 " on.\n",
               consumers->consumers, consumers->holder, consumers->step);
    if (consumers->missing > 0)
        printf("Consumers that have not said what they hold: %" PRIu32 ", the first is %" PRIu32
               ".\n",
               consumers->missing, consumers->first_missing);
}

static void print_survey(const struct remove_call *call)
{
    const struct removal *removal = &call->removal;
    printf("%s\n", call->url);
    print_run(removal);
    printf("Below it: %" PRIu64 " objects, %.1f MB: %" PRIu64 " versions, %" PRIu64
           " TGBs, %" PRIu64 " others.\n",
           removal->objects, (double)removal->bytes / 1e6, removal->versions, removal->tgbs,
           removal->objects - removal->versions - removal->tgbs);
    if (removal->unknown > 0)
        printf("Of no kind that this program makes: %" PRIu64 ", the first is %s.\n",
               removal->unknown, removal->unknown_key);
    print_newest(call, removal->looked_ns);
    print_consumers(removal);
    fflush(stdout);
}

static void print_json(const struct remove_call *call, int status)
{
    static const char *const kinds[] = {
        [REMOVAL_RUN] = "run", [REMOVAL_BEGUN] = "removal begun", [REMOVAL_NO_RUN] = "no run"};
    const struct removal *removal = &call->removal;
    json_t *report = json_object();
    json_object_set_new(report, "store", json_string(call->url));
    json_object_set_new(report, "kind", json_string(kinds[removal->kind]));
    json_object_set(report, "marker", removal->marker != NULL ? removal->marker : json_null());
    json_object_set_new(report, "objects", json_integer((json_int_t)removal->objects));
    json_object_set_new(report, "bytes", json_integer((json_int_t)removal->bytes));
    json_object_set_new(report, "versions", json_integer((json_int_t)removal->versions));
    json_object_set_new(report, "tgbs", json_integer((json_int_t)removal->tgbs));
    json_object_set_new(report, "unknown", json_integer((json_int_t)removal->unknown));
    json_object_set_new(report, "newest_version", json_integer((json_int_t)removal->newest));
    json_object_set_new(report, "consumers_holding", json_integer(removal->consumers.consumers));
    json_object_set_new(report, "consumers_unknown", json_integer(removal->consumers.missing));
    json_object_set_new(report, "deleted", json_integer((json_int_t)call->deleted));
    json_object_set_new(report, "removed", json_boolean(status == CLI_DONE));
    json_dumpf(report, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(report);
}

/* ---- whether it may go ---- */

static int refuse_strangers(const struct remove_call *call)
{
    const struct removal *removal = &call->removal;
    if (call->cli->force)
        return CLI_DONE;
    if (removal->kind == REMOVAL_NO_RUN)
        return cli_error(CLI_FAILED,
                         "%s is no run of this program (there is no %s), so nothing was deleted; "
                         "give the prefix of one run, or --force to delete all that is there",
                         call->url, LIVE_MARKER_KEY);
    if (removal->unknown > 0)
        return cli_error(CLI_FAILED,
                         "%s holds %" PRIu64 " objects that are not of a run, such as %s, so "
                         "nothing was deleted; move them away, or give --force to delete them, too",
                         call->url, removal->unknown, removal->unknown_key);
    return CLI_DONE;
}

static int refuse_changed(const struct remove_call *call, struct live_session *session)
{
    const struct removal *before = &call->removal;
    struct removal now;
    char error[STORE_ERROR_MAX];
    if (call->cli->force)
        return CLI_DONE;
    if (!removal_look(session, before, stderr, &now, error))
        return cli_error(CLI_FAILED, "%s", error);
    switch (removal_changed(before, &now)) {
    case REMOVAL_AT_REST:
        break;
    case REMOVAL_READ:
        return cli_error(CLI_FAILED,
                         "%s is still read: ranks moved their watermarks meanwhile, so nothing was "
                         "deleted; end the ranks first, or give --force",
                         call->url);
    case REMOVAL_WRITTEN:
        return cli_error(CLI_FAILED,
                         "%s is still written to: %" PRIu64 " objects of %" PRIu64
                         " bytes with version %" PRIu64 " became %" PRIu64 " of %" PRIu64
                         " with version %" PRIu64
                         ", so nothing was deleted; end the run first, or give --force",
                         call->url, before->objects, before->bytes, before->newest, now.objects,
                         now.bytes, now.newest);
    }
    return CLI_DONE;
}

/* The command that lets go of a consumer's steps. The caller frees it. */
static char *retire_command(const struct remove_call *call)
{
    struct cli gc = *call->cli;
    gc.verb = "gc";
    return cli_command(&gc, ~(uint64_t)CLI_S3);
}

/* Ranks that run and move nothing for now, and checkpoints that are to be gone on from: both would
 * be worth nothing afterwards. Where a removal was begun they are not worth more any more. */
static int refuse_held(const struct remove_call *call)
{
    const struct removal *removal = &call->removal;
    const struct watermark_tally *consumers = &removal->consumers;
    if (call->cli->force || removal->kind != REMOVAL_RUN || !removal_is_held(removal))
        return CLI_DONE;
    char *command = retire_command(call);
    if (consumers->consumers > 0)
        cli_error(CLI_FAILED,
                  "%s: %" PRIu32 " consumer%s steps, from step %" PRIu64
                  " on: ranks that run, or whose checkpoints could not be gone on from without it. "
                  "So nothing was deleted; end them and, where none is to go on, give --force, or "
                  "let go of each first: %s --retire-consumer %" PRIu32,
                  call->url, consumers->consumers, consumers->consumers == 1 ? " holds" : "s hold",
                  consumers->step, command, consumers->holder);
    else
        cli_error(CLI_FAILED,
                  "%s: %" PRIu32 " consumer%s not said yet what %s, the first is %" PRIu32
                  ": a rank that starts, or that died as it did. So nothing was deleted; wait for "
                  "it, or end it and give --force, or let go of it: %s --retire-consumer %" PRIu32,
                  call->url, consumers->missing, consumers->missing == 1 ? " has" : "s have",
                  consumers->missing == 1 ? "it holds" : "they hold", consumers->first_missing,
                  command, consumers->first_missing);
    free(command);
    return CLI_FAILED;
}

static int confirm(const struct remove_call *call)
{
    char answer[16] = "";
    if (call->cli->yes)
        return CLI_DONE;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        fprintf(stderr, "Delete all of it, for good? Type yes: ");
        if (fgets(answer, sizeof(answer), stdin) != NULL && strcmp(answer, "yes\n") == 0)
            return CLI_DONE;
        return cli_error(CLI_FAILED, "nothing was deleted");
    }
    return cli_error(CLI_FAILED, "nothing was deleted; give --yes to delete all of it, for good");
}

/* ---- deleting ---- */

static int remove_folder(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)walk;
    if (kind == FTW_DP)
        rmdir(path); /* one that is not empty stays */
    return 0;
}

/* A directory store leaves its folders. */
static void remove_folders(const char *url)
{
    static const char scheme[] = "file://";
    if (strncmp(url, scheme, strlen(scheme)) == 0)
        nftw(url + strlen(scheme), remove_folder, FOLDERS_OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}

static int delete_in(struct remove_call *call, struct live_session *session)
{
    char error[STORE_ERROR_MAX];
    if (removal_run(session, &call->removal, stderr, &call->deleted, error))
        return CLI_DONE;
    return cli_error(
        CLI_FAILED, "%s; %" PRIu64 " of %" PRIu64 " objects were deleted: the same command goes on",
        error, call->deleted, call->removal.objects);
}

static int delete_all(struct remove_call *call)
{
    struct live_session session;
    int status = open_session(call, DIRECTORY_WRITE, &session);
    if (status != CLI_DONE)
        return status;
    if (!call->cli->yes) /* the answer took its time */
        status = refuse_changed(call, &session);
    if (status == CLI_DONE)
        status = delete_in(call, &session);
    live_session_close(&session);
    if (status != CLI_DONE)
        return status;
    remove_folders(call->url);
    if (!call->cli->json)
        printf("Deleted: %" PRIu64 " objects.\n", call->deleted);
    return CLI_DONE;
}

static int survey(struct remove_call *call)
{
    struct live_session session;
    char error[STORE_ERROR_MAX];
    enum open_result reached = live_reach(call->url, &call->access, error);
    if (reached != OPEN_OK)
        return cli_error(reached == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    int status = open_session(call, DIRECTORY_READ, &session);
    if (status != CLI_DONE)
        return status;
    if (!removal_survey(&session, stderr, &call->removal, error))
        status = cli_error(CLI_FAILED, "%s", error);
    else if (call->removal.objects == 0)
        status = cli_error(CLI_FAILED, "%s: there is nothing", call->url);
    if (status == CLI_DONE && !call->cli->json)
        print_survey(call);
    if (status == CLI_DONE)
        status = refuse_strangers(call);
    if (status == CLI_DONE)
        status = refuse_changed(call, &session);
    if (status == CLI_DONE)
        status = refuse_held(call);
    live_session_close(&session);
    return status;
}

int remove_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream remove STORE [FLAGS]\n\n"
            "Deletes one run, at file://FOLDER or s3://BUCKET/PREFIX: all below that prefix, TGBs\n"
            "included. Says first which run it is and how much there is, and asks; --yes answers.\n"
            "Refused without --force: a prefix without run/format or with objects that are not of\n"
            "a run, and one where objects come or go within 3 s, or until the answer. End its\n"
            "producers first: one that pauses, or whose uploads take longer, is not seen. "
            "Refused,\n"
            "too: a run of which consumers hold steps. These are ranks that run, or keep\n"
            "checkpoints of it, also of a job that ended, but with consume --retire. Where that "
            "is\n"
            "to go, give --force, or let go of each first by lakestream gc --retire-consumer.\n"
            "A removal that was interrupted leaves run/removing, and no run that could be gone on\n"
            "with: give the command again.\n"
            "Deletes by single requests, which cost little or nothing on S3. Old versions of a\n"
            "bucket with versioning stay.",
        .flags = CLI_S3 | CLI_JSON | CLI_YES | CLI_FORCE,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    struct remove_call call = {.cli = &cli, .url = cli.operands[0]};
    if (!cli_s3_options(&cli, 0, &call.access.s3))
        return CLI_USAGE;
    int status = survey(&call);
    if (status == CLI_DONE)
        status = confirm(&call);
    if (status == CLI_DONE)
        status = delete_all(&call);
    if (cli.json && call.removal.objects > 0)
        print_json(&call, status);
    removal_deinit(&call.removal);
    return status;
}
