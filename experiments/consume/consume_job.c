/* consume_job.c - see consume_job.h. Ours. */
#include "experiments/consume/consume_job.h"

#include <stdio.h>
#include <string.h>

#include "core/mark.h"
#include "core/name.h"
#include "experiments/live/live_chain.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_request.h"

/* ---- what the marker says ---- */

static bool take_marker(const json_t *marker, struct consume_job *job)
{
    const char *payload = json_string_value(json_object_get(marker, "payload"));
    const char *identity = json_string_value(json_object_get(marker, "identity"));
    if (json_integer_value(json_object_get(marker, "format")) != LIVE_FORMAT || identity == NULL ||
        identity[0] == '\0' || !live_marker_mesh(marker, &job->mesh))
        return false;
    live_marker_copy_harmless(job->run, sizeof(job->run), identity);
    job->slices = tgb_mesh_slices(job->mesh);
    job->synthetic = strcmp(payload, LIVE_PAYLOAD_SYNTHETIC) == 0;
    return job->synthetic || strcmp(payload, LIVE_PAYLOAD_FILES) == 0;
}

static enum open_result read_marker(struct live_session *session, struct consume_job *job,
                                    char text[CONSUME_JOB_TEXT_MAX])
{
    char reason[STORE_ERROR_MAX] = "";
    json_t *marker = NULL;
    switch (live_marker_read(session, &marker, reason)) {
    case LIVE_MARKER_FOUND:
        break;
    case LIVE_MARKER_MISSING:
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s holds no run: there is no %s; give the prefix of one run, as lakestream live "
                 "printed it",
                 job->url, LIVE_MARKER_KEY);
        return OPEN_BAD_INPUT;
    case LIVE_MARKER_DAMAGED:
    case LIVE_MARKER_FAILED:
        snprintf(text, CONSUME_JOB_TEXT_MAX, "%s: %s", job->url, reason);
        return OPEN_FAILED;
    }
    bool taken = take_marker(marker, job);
    if (!taken)
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s was made by another version of this program (format %lld); read it with that "
                 "version",
                 job->url, (long long)json_integer_value(json_object_get(marker, "format")));
    json_decref(marker);
    return taken ? OPEN_OK : OPEN_BAD_INPUT;
}

enum open_result consume_job_ranks(struct live_session *session, struct consume_job *job,
                                   uint32_t *ranks, char text[CONSUME_JOB_TEXT_MAX])
{
    enum open_result result = read_marker(session, job, text);
    *ranks = job->slices > 0 ? job->slices : 1; /* plain batches are for one */
    return result;
}

static enum open_result check_ranks(const struct consume_job *job, uint32_t ranks,
                                    char text[CONSUME_JOB_TEXT_MAX])
{
    uint32_t wanted = job->slices > 0 ? job->slices : 1;
    if (ranks == wanted)
        return OPEN_OK;
    if (job->slices == 0)
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s has batches that are not sliced, for one rank; %u ranks were asked for: take "
                 "--ranks 1, or make the run with --set tgb.mesh=%ux1",
                 job->url, ranks, ranks);
    else
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "%s has batches of %u x %u slices (data x context parallel), for %u ranks; %u "
                 "were asked for: take --ranks %u, or a run that was made for %u",
                 job->url, job->mesh.data, job->mesh.context, job->slices, ranks, job->slices,
                 ranks);
    return OPEN_BAD_INPUT;
}

/* ---- where to start ---- */

enum open_result consume_job_end(struct live_session *session, const struct consume_job *job,
                                 uint64_t *next_step, char text[CONSUME_JOB_TEXT_MAX])
{
    char error[STORE_ERROR_MAX];
    if (live_chain_end(session, next_step, error))
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX, "%s: %s", job->url, error);
    return OPEN_FAILED;
}

/* Raises a mark to the step that a key says, which is a floor's, an intent's, or neither. */
static void raise_mark(void *context, const char *key)
{
    struct mark *mark = context;
    struct floor floor;
    uint64_t intent;
    if (name_parse_floor(key, &floor) && floor.step > mark->step)
        *mark = (struct mark){.kind = MARK_FLOOR, .step = floor.step};
    if (name_parse_intent(key, &intent) && intent > mark->step)
        *mark = (struct mark){.kind = MARK_INTENT, .step = intent};
}

/* The first step that nobody has given up, or is about to: as a rank by itself would find it. */
static enum open_result find_first(struct live_session *session, struct consume_job *job,
                                   char text[CONSUME_JOB_TEXT_MAX])
{
    struct mark mark = {.step = 1};
    uint64_t next_step;
    char reason[MARK_TEXT_MAX];
    if (!live_list(session, NAME_FLOOR_PREFIX, raise_mark, &mark, text) ||
        !live_list(session, NAME_INTENT_PREFIX, raise_mark, &mark, text))
        return OPEN_FAILED;
    enum open_result result = consume_job_end(session, job, &next_step, text);
    if (result != OPEN_OK)
        return result;
    job->from = mark.step;
    if (mark_borne_out(mark, next_step, reason))
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX, "%s: %s", job->url, reason);
    return OPEN_FAILED;
}

enum open_result consume_job_find(struct live_session *session, uint32_t ranks,
                                  struct consume_job *job, char text[CONSUME_JOB_TEXT_MAX])
{
    enum open_result result = read_marker(session, job, text);
    if (result == OPEN_OK)
        result = check_ranks(job, ranks, text);
    if (result == OPEN_OK && job->from == 0)
        result = find_first(session, job, text);
    return result;
}
