/* consume_place.c - see consume_place.h. A checkpoint whose digest is that of no step is where a
 * job began: who has no file yet, because it died before it was saved, begins there. Ours. */
#include "experiments/consume/consume_place.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LIST_BYTES 400 /* of a text that lists ranks or steps */
#define NAMED_MAX 8    /* ranks in it */

struct files {
    struct checkpoint_set *sets; /* of each rank; owned */
    uint32_t ranks;
    uint32_t without; /* ranks that keep none */
};

/* ---- words ---- */

__attribute__((format(printf, 3, 4))) static void append(char list[LIST_BYTES], size_t *used,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int chars = vsnprintf(list + *used, LIST_BYTES - *used, format, arguments);
    va_end(arguments);
    *used += chars > 0 ? (size_t)chars : 0;
    if (*used >= LIST_BYTES)
        *used = LIST_BYTES - 1;
}

static void append_steps(char list[LIST_BYTES], size_t *used, const struct checkpoint_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        append(list, used, "%s%" PRIu64, i > 0 ? ", " : "", set->items[i].step);
}

/* The ranks without a checkpoint. */
static void list_without(const struct files *files, char list[LIST_BYTES])
{
    size_t used = 0;
    uint32_t named = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < files->ranks && named <= NAMED_MAX; i++)
        if (files->sets[i].count == 0 && named++ < NAMED_MAX)
            append(list, &used, "%s%u", used > 0 ? ", " : "", i);
    if (named > NAMED_MAX)
        append(list, &used, ", ...");
}

static void list_steps(const struct files *files, char list[LIST_BYTES])
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < files->ranks && i < NAMED_MAX; i++) {
        append(list, &used, "%srank %u keeps ", i > 0 ? "; " : "", i);
        append_steps(list, &used, &files->sets[i]);
    }
    if (files->ranks > NAMED_MAX)
        append(list, &used, "; ...");
}

/* ---- what is kept ---- */

static const struct checkpoint *find(const struct checkpoint_set *set, uint64_t step)
{
    uint32_t upto = checkpoint_count_upto(set, step);
    return upto > 0 && set->items[upto - 1].step == step ? &set->items[upto - 1] : NULL;
}

/* What all have of those in the first one's set. */
static void intersect(const struct files *files, struct checkpoint_set *common)
{
    *common = (struct checkpoint_set){0};
    for (uint32_t i = 0; i < files->sets[0].count; i++) {
        const struct checkpoint *checkpoint = &files->sets[0].items[i];
        uint32_t has = 0;
        for (uint32_t rank = 0; rank < files->ranks; rank++)
            has += find(&files->sets[rank], checkpoint->step) != NULL;
        if (has == files->ranks)
            common->items[common->count++] = *checkpoint;
    }
}

/* Where all began that keep a checkpoint, if they all still keep that; 0: they do not. */
static uint64_t find_beginning(const struct files *files)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < files->ranks; i++) {
        const struct checkpoint_set *set = &files->sets[i];
        if (set->count == 0)
            continue;
        if (set->items[0].digest != 0 || (step != 0 && set->items[0].step != step))
            return 0;
        step = set->items[0].step;
    }
    return step;
}

static enum open_result go_to(const struct files *files, uint64_t step, struct consume_place *place)
{
    place->step = step;
    for (uint32_t i = 0; i < files->ranks; i++) {
        const struct checkpoint_set *set = &files->sets[i];
        place->ahead += set->count > 0 && set->items[set->count - 1].step > step;
    }
    return OPEN_OK;
}

/* ---- where to ---- */

static enum open_result judge_nobody(const struct consume_job *job, char text[CONSUME_JOB_TEXT_MAX])
{
    if (job->rollback == 0)
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "no checkpoint is kept in %.400s, so none to go back to at step %" PRIu64
             "; leave --rollback out, or give the folder of this job's",
             job->checkpoints, job->rollback);
    return OPEN_FAILED;
}

static enum open_result judge_some(const struct consume_job *job, const struct files *files,
                                   struct consume_place *place, char text[CONSUME_JOB_TEXT_MAX])
{
    char list[LIST_BYTES];
    uint64_t beginning = find_beginning(files);
    place->beginning = true;
    if (beginning != 0 && (job->rollback == 0 || beginning <= job->rollback))
        return go_to(files, beginning, place);
    list_without(files, list);
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "%u of %u ranks keep no checkpoint in %.300s (%s), and all are to start at one step: "
             "put their files back, or move the files of all ranks away to start without "
             "checkpoints",
             files->without, files->ranks, job->checkpoints, list);
    return OPEN_FAILED;
}

static enum open_result judge_all(const struct consume_job *job, const struct files *files,
                                  struct consume_place *place, char text[CONSUME_JOB_TEXT_MAX])
{
    char list[LIST_BYTES] = "";
    size_t used = 0;
    struct checkpoint_set common;
    intersect(files, &common);
    uint32_t count =
        job->rollback != 0 ? checkpoint_count_upto(&common, job->rollback) : common.count;
    if (count > 0)
        return go_to(files, common.items[count - 1].step, place);
    if (common.count > 0) {
        append_steps(list, &used, &common);
        snprintf(text, CONSUME_JOB_TEXT_MAX,
                 "no checkpoint at or below step %" PRIu64
                 " is kept by all ranks: they keep %s; take one of these",
                 job->rollback, list);
        return OPEN_FAILED;
    }
    list_steps(files, list);
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "there is no step that all ranks keep a checkpoint of in %.200s, and all are to start "
             "at one: %s; put older files back, or move the files of all ranks away to start "
             "without checkpoints",
             job->checkpoints, list);
    return OPEN_FAILED;
}

struct checkpoint_file consume_place_file(const struct consume_job *job, uint32_t rank)
{
    return (struct checkpoint_file){.folder = job->checkpoints,
                                    .run = job->run,
                                    .rank = rank,
                                    .slices = job->slices,
                                    .token = job->token};
}

static enum open_result load(const struct consume_job *job, uint32_t rank,
                             struct checkpoint_set *set, char text[CONSUME_JOB_TEXT_MAX])
{
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_file file = consume_place_file(job, rank);
    if (checkpoint_file_load(&file, set, error))
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX, "rank %u: %s", rank, error);
    return OPEN_FAILED;
}

static enum open_result load_all(const struct consume_job *job, struct files *files,
                                 char text[CONSUME_JOB_TEXT_MAX])
{
    for (uint32_t i = 0; i < files->ranks; i++) {
        if (load(job, i, &files->sets[i], text) != OPEN_OK)
            return OPEN_FAILED;
        files->without += files->sets[i].count == 0;
    }
    return OPEN_OK;
}

enum open_result consume_place_find(const struct consume_job *job, uint32_t ranks,
                                    struct consume_place *place, char text[CONSUME_JOB_TEXT_MAX])
{
    struct files files = {.ranks = ranks};
    assert(ranks > 0);
    *place = (struct consume_place){0};
    if (job->checkpoints == NULL)
        return OPEN_OK;
    files.sets = calloc(ranks, sizeof(*files.sets));
    assert(files.sets != NULL);
    enum open_result result = load_all(job, &files, text);
    if (result == OPEN_OK && files.without == ranks)
        result = judge_nobody(job, text);
    else if (result == OPEN_OK && files.without > 0)
        result = judge_some(job, &files, place, text);
    else if (result == OPEN_OK)
        result = judge_all(job, &files, place, text);
    free(files.sets);
    return result;
}

enum open_result consume_place_back_from(const struct consume_job *job, uint32_t rank,
                                         uint64_t *step, char text[CONSUME_JOB_TEXT_MAX])
{
    struct checkpoint_set set = {0};
    *step = 0;
    if (job->checkpoints == NULL)
        return OPEN_OK;
    enum open_result result = load(job, rank, &set, text);
    if (result != OPEN_OK || find(&set, job->rollback) == NULL ||
        set.items[set.count - 1].step <= job->rollback)
        return result;
    *step = set.items[set.count - 1].step;
    struct checkpoint_file file = consume_place_file(job, rank);
    if (!checkpoint_file_is_by_token(&file))
        return OPEN_OK;
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "rank %u was started with --token %s before, at step %" PRIu64
             ", and has kept checkpoints up to step %" PRIu64
             " since: start all ranks with a new word",
             rank, job->token, job->rollback, *step);
    return OPEN_BAD_INPUT;
}

void consume_place_take(const struct consume_place *place, struct consume_job *job)
{
    if (place->step == 0)
        return;
    if (job->checkpoints != NULL)
        job->rollback = place->step;
    job->from = place->beginning ? place->step : 0;
}

/* ---- one rank ---- */

bool consume_place_check(const struct consume_job *job, uint32_t rank,
                         const struct checkpoint_set *found, uint64_t *rollback,
                         char text[CONSUME_JOB_TEXT_MAX])
{
    char list[LIST_BYTES] = "none";
    size_t used = 0;
    if (found->count == 0 && job->from != 0) {
        *rollback = 0;
        return true;
    }
    const struct checkpoint *there = find(found, *rollback);
    /* What began elsewhere is not at the beginning. */
    if (*rollback == 0 ? found->count > 0
                       : there != NULL && (job->from != *rollback || there->digest == 0))
        return true;
    append_steps(list, &used, found);
    snprintf(text, CONSUME_JOB_TEXT_MAX,
             "rank %u has no checkpoint at step %" PRIu64
             ", where all ranks are to start; it keeps %s: start all ranks with another --token, "
             "or with one --rollback STEP that all keep; or move the files of all ranks away",
             rank, *rollback, list);
    return false;
}
