/* history.c - the checker of chains. Ours. */
#include "tests/core/history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void history_problem(struct history *history, const char *format, ...)
{
    if (history->problem[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(history->problem, sizeof(history->problem), format, arguments);
    va_end(arguments);
}

static bool same(const struct incarnation *a, const struct incarnation *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

uint64_t history_versions_of(const struct history *history, const struct incarnation *incarnation)
{
    for (uint32_t i = 0; i < history->life_count; i++)
        if (same(&history->lives[i].incarnation, incarnation))
            return history->lives[i].versions;
    return 0;
}

const struct committed_batch *history_batch(const struct history *history, uint32_t producer,
                                            uint64_t sequence)
{
    const struct stream *stream = &history->streams[producer];
    return sequence > 0 && sequence <= stream->count ? &stream->batches[sequence - 1] : NULL;
}

static void count_life(struct history *history, const struct incarnation *incarnation)
{
    for (uint32_t i = 0; i < history->life_count; i++) {
        if (same(&history->lives[i].incarnation, incarnation)) {
            history->lives[i].versions++;
            return;
        }
    }
    assert(history->life_count < HISTORY_LIVES_MAX);
    history->lives[history->life_count++] =
        (struct life){.incarnation = *incarnation, .versions = 1};
}

struct step_check {
    struct history *history;
    const struct manifest *manifest;
    uint64_t sequence;
    uint64_t offset;
    uint64_t own;
};

static void check_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    (void)step;
    struct step_check *check = context;
    struct history *history = check->history;
    const struct manifest_author *author = &check->manifest->author;
    char key[STORE_KEY_MAX];
    name_tgb(key, &entry->tgb);
    if (!scripted_store_has(history->store, key))
        history_problem(history, "%s is named and was never uploaded", key);
    if (entry->tgb.producer != author->producer || entry->tgb.epoch != author->epoch ||
        !same(&entry->tgb.incarnation, &author->incarnation))
        history_problem(history, "%s is not its author's", key);
    if (entry->tgb.sequence != check->sequence + 1 ||
        entry->tgb.end_offset != check->offset + entry->tgb_bytes)
        history_problem(history, "%s does not follow sequence %" PRIu64, key, check->sequence);
    check->sequence = entry->tgb.sequence;
    check->offset = entry->tgb.end_offset;
    check->own++;
    struct stream *stream = &history->streams[entry->tgb.producer];
    if (stream->count == stream->capacity) {
        stream->capacity = stream->capacity ? 2 * stream->capacity : 64;
        stream->batches = realloc(stream->batches, stream->capacity * sizeof(*stream->batches));
        assert(stream->batches != NULL);
    }
    stream->batches[stream->count++] = (struct committed_batch){
        .incarnation = entry->tgb.incarnation, .end_offset = entry->tgb.end_offset};
}

static void check_states(struct history *history, const struct manifest *manifest)
{
    const struct manifest *base = history->newest;
    for (uint32_t i = 0; i < manifest_state_count(base); i++) {
        const struct producer_state *old = manifest_state_at(base, i);
        const struct producer_state *new = manifest_state_find(manifest, old->producer);
        if (new == NULL ||
            (old->producer != manifest->author.producer && memcmp(old, new, sizeof(*old))))
            history_problem(history, "version %" PRIu64 " changed producer %" PRIu32 "'s state",
                            manifest->version, old->producer);
    }
}

static void check_author(struct history *history, const struct manifest *manifest)
{
    const struct manifest_author *author = &manifest->author;
    const struct producer_state *old = manifest_state_find(history->newest, author->producer);
    const struct producer_state *new = manifest_state_find(manifest, author->producer);
    struct step_check check = {.history = history,
                               .manifest = manifest,
                               .sequence = old != NULL ? old->last_sequence : 0,
                               .offset = old != NULL ? old->next_offset : 0};
    manifest_visit_entries(manifest, history->newest->next_step, check_entry, &check);
    uint32_t epoch = old != NULL ? old->epoch : 0;
    if (check.own == 0 ? author->epoch != epoch + 1
                       : author->epoch != epoch || !same(&author->incarnation, &old->incarnation))
        history_problem(history,
                        "version %" PRIu64 " of producer %" PRIu32 ": epoch %" PRIu32
                        " after %" PRIu32 " with %" PRIu64 " batches",
                        manifest->version, author->producer, author->epoch, epoch, check.own);
    if (new == NULL || new->epoch != author->epoch ||
        !same(&new->incarnation, &author->incarnation) || new->last_sequence != check.sequence ||
        new->next_offset != check.offset || new->last_commit_version != manifest->version ||
        (old != NULL && new->last_commit_ns < old->last_commit_ns))
        history_problem(history, "version %" PRIu64 " holds a wrong state of its author",
                        manifest->version);
}

static void check_next(struct history *history, const struct manifest *manifest)
{
    const struct manifest *base = history->newest;
    if (manifest->version != base->version + 1 || manifest->base_version != base->version ||
        manifest->base_checksum != base->checksum)
        history_problem(history, "version %" PRIu64 " does not continue version %" PRIu64,
                        manifest->version, base->version);
    uint64_t first_max =
        base->first_step > history->floor_step ? base->first_step : history->floor_step;
    if (manifest->first_step < base->first_step || manifest->first_step > first_max)
        history_problem(history, "version %" PRIu64 " trims to step %" PRIu64 ", not to %" PRIu64,
                        manifest->version, manifest->first_step, first_max);
    check_states(history, manifest);
    check_author(history, manifest);
    count_life(history, &manifest->author.incarnation);
}

static void created(void *context, const char *key, const struct manifest *manifest,
                    struct floor floor)
{
    struct history *history = context;
    struct floor written;
    if (name_parse_floor(key, &written) && written.step > history->floor_step)
        history->floor_step = written.step;
    if (manifest == NULL)
        return;
    if (floor.version > 0 && manifest->version <= floor.version) {
        history->zombies++;
        return;
    }
    if (history->newest != NULL)
        check_next(history, manifest);
    else if (manifest->version != MANIFEST_GENESIS_VERSION)
        history_problem(history, "the chain starts with version %" PRIu64, manifest->version);
    manifest_release(history->newest);
    history->newest = manifest_retain((struct manifest *)manifest);
}

void history_init(struct history *history, struct scripted_store *store)
{
    *history = (struct history){.store = store, .watch = {.context = history, .created = created}};
    scripted_store_watch(store, &history->watch);
}

void history_deinit(struct history *history)
{
    manifest_release(history->newest);
    for (uint32_t i = 0; i < HISTORY_PRODUCERS_MAX; i++)
        free(history->streams[i].batches);
}
