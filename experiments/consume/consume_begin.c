/* consume_begin.c - see consume_call.h: the run that is read, and where its ranks start. Ours. */
#include <inttypes.h>
#include <stdio.h>

#include "experiments/consume/consume_call.h"
#include "experiments/consume/consume_place.h"
#include "experiments/consume/consume_start.h"
#include "experiments/live/live_access.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"

#define LOCK_WAIT_NS (30 * NS_PER_S) /* ranks that were told to end may take so long */
#define IDENTITY_CHARS 32

int consume_call_open(const struct consume_call *call, enum directory_access access,
                      struct live_session *session)
{
    struct live_session_options options = live_access_of(&call->config);
    char error[STORE_ERROR_MAX];
    options.access = access;
    enum open_result opened = live_reach(call->job.url, &options, error);
    if (opened == OPEN_OK)
        opened = live_session_open(call->job.url, &options, session, error);
    if (opened == OPEN_OK)
        return CLI_DONE;
    return cli_error(opened == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
}

int consume_call_tell(enum open_result result, const char *text)
{
    if (result == OPEN_OK)
        return CLI_DONE;
    return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", text);
}

/* All ranks are here: they go on at one step. */
static int find_place(struct consume_call *call)
{
    char text[CONSUME_JOB_TEXT_MAX];
    struct consume_place place;
    enum open_result found = consume_place_find(&call->job, call->ranks, &place, text);
    if (found == OPEN_OK && place.step != 0 && call->cli->from > 0)
        return cli_error(CLI_USAGE,
                         "--from is for ranks that keep no checkpoints, and those in %s are kept: "
                         "leave it out, or give --rollback STEP",
                         call->job.checkpoints);
    if (found == OPEN_OK && place.ahead > 0)
        fprintf(stderr,
                "lakestream: all ranks go on at step %" PRIu64
                ", the newest that every rank keeps%s; %u of %u were ahead of it\n",
                place.step, call->job.rollback != 0 ? " at or below that of --rollback" : "",
                place.ahead, call->ranks);
    if (found == OPEN_OK)
        consume_place_take(&place, &call->job);
    return consume_call_tell(found, text);
}

/* A rank goes back by its word where others kept less. */
static int tell_of_going_back(const struct consume_call *call)
{
    char text[CONSUME_JOB_TEXT_MAX];
    uint64_t newest;
    const struct consume_job *job = &call->job;
    enum open_result found = consume_place_back_from(job, call->first, &newest, text);
    if (found == OPEN_OK && newest > 0)
        fprintf(stderr,
                "lakestream: rank %u goes back from step %" PRIu64 " to step %" PRIu64
                ", where all with --token %s start\n",
                call->first, newest, job->rollback, call->token);
    return consume_call_tell(found, text);
}

static int check_agreement(const struct consume_call *call)
{
    const struct consume_job *job = &call->job;
    if (call->count == call->ranks || call->token[0] != '\0' || job->rollback > 0 ||
        call->cli->from > 0)
        return CLI_DONE;
    return cli_error(
        CLI_USAGE,
        "rank %u of %u is started alone, and all ranks are to start at one step: give them all "
        "the same --token WORD, a new one for every start of the job; or, those that keep no "
        "checkpoints, the same --from STEP (%" PRIu64
        " is the first now), and those that do, the same --rollback STEP",
        call->first, call->ranks, job->from);
}

/* Ranks that are started one by one start at one step, too: by a flag that all are given, which
 * must be a checkpoint that this rank keeps, if it keeps any; or by their token. */
static int agree(struct consume_call *call)
{
    struct live_session session;
    char text[CONSUME_JOB_TEXT_MAX];
    struct consume_job *job = &call->job;
    if (call->token[0] == '\0' && job->rollback > 0) {
        job->from = 0;
        return CLI_DONE;
    }
    if (call->cli->from > 0) {
        struct consume_place place = {.step = job->from, .beginning = true};
        consume_place_take(&place, job);
        return CLI_DONE;
    }
    int status = consume_call_open(call, DIRECTORY_WRITE, &session);
    if (status != CLI_DONE)
        return status;
    job->token = call->token;
    enum open_result agreed = consume_start_agree(&session, call->token, call->ranks, job, text);
    live_session_close(&session);
    job->together = true;
    status = consume_call_tell(agreed, text);
    return status == CLI_DONE ? tell_of_going_back(call) : status;
}

static int check_held(const struct consume_call *call)
{
    struct live_session session;
    char text[CONSUME_JOB_TEXT_MAX];
    int status = consume_call_open(call, DIRECTORY_READ, &session);
    if (status != CLI_DONE)
        return status;
    enum open_result held =
        consume_start_check_held(&session, &call->job, call->first, call->count, text);
    live_session_close(&session);
    return consume_call_tell(held, text);
}

static int make_folders(const struct consume_job *job)
{
    char error[CHECKPOINT_FILE_TEXT_MAX];
    if ((job->checkpoints == NULL || checkpoint_file_prepare(job->checkpoints, error)) &&
        (job->log == NULL || checkpoint_file_prepare(job->log, error)))
        return CLI_DONE;
    return cli_error(CLI_FAILED, "%s", error);
}

/* From before the files are looked at, for as long as the ranks run. A word with a dot is none that
 * can be given: of a whole call it is its own alone, and ranks without one share theirs. */
static int hold_job(struct consume_call *call)
{
    char word[JOB_LOCK_WORD_MAX] = ".step";
    char error[JOB_LOCK_TEXT_MAX];
    struct job_lock_options options = {
        .folder = call->job.checkpoints, .word = word, .wait_ns = LOCK_WAIT_NS, .messages = stderr};
    call->lock = (struct job_lock){.fd = -1};
    if (call->job.checkpoints == NULL)
        return CLI_DONE;
    if (call->count == call->ranks) {
        word[0] = '.';
        live_marker_draw(word + 1, IDENTITY_CHARS + 1);
    } else if (call->token[0] != '\0') {
        snprintf(word, sizeof(word), "%s", call->token);
    }
    return job_lock_take(&options, &call->lock, error) ? CLI_DONE
                                                       : cli_error(CLI_FAILED, "%s", error);
}

/* What the store says of the run; the session is closed before anything is forked. */
static int find_job(struct consume_call *call)
{
    struct live_session session;
    char text[CONSUME_JOB_TEXT_MAX];
    int status = consume_call_open(call, DIRECTORY_READ, &session);
    if (status != CLI_DONE)
        return status;
    call->job.from = call->cli->from;
    enum open_result found = consume_job_find(&session, call->ranks, &call->job, text);
    if (found == OPEN_OK && call->cli->from > 0)
        found = consume_start_check(&session, &call->job, text);
    live_session_close(&session);
    return consume_call_tell(found, text);
}

int consume_call_begin(struct consume_call *call)
{
    int status = find_job(call);
    if (status == CLI_DONE)
        status = check_agreement(call);
    if (status == CLI_DONE)
        status = make_folders(&call->job);
    if (status == CLI_DONE)
        status = hold_job(call);
    if (status == CLI_DONE && call->lock.waited) /* much may have been given up meanwhile */
        status = find_job(call);
    if (status == CLI_DONE)
        status = call->count == call->ranks ? find_place(call) : agree(call);
    /* Who begins by --from, and not at a checkpoint that is found. */
    bool given = call->cli->from > 0 && call->job.from != 0;
    return status == CLI_DONE && given ? check_held(call) : status;
}
