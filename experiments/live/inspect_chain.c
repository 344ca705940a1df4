/* inspect_chain.c - see inspect_chain.h. Ours. */
#include "experiments/live/inspect_chain.h"

#include <inttypes.h>
#include <string.h>

struct follower {
    struct inspection *inspection;
    struct inspect_version *version;
    const struct manifest *manifest;
    bool follows;  /* directly from the version before it */
    bool differed; /* one changed step is enough to report */
};

static bool same_incarnation(const struct incarnation *a, const struct incarnation *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool same_entry(const struct manifest_entry *a, const struct manifest_entry *b)
{
    return a->tgb.bucket == b->tgb.bucket && a->tgb.sequence == b->tgb.sequence &&
           a->tgb.end_offset == b->tgb.end_offset && a->tgb.producer == b->tgb.producer &&
           a->tgb.epoch == b->tgb.epoch && a->tgb_bytes == b->tgb_bytes &&
           a->tgb_checksum == b->tgb_checksum &&
           same_incarnation(&a->tgb.incarnation, &b->tgb.incarnation);
}

/* ---- steps ---- */

static void follow_steps(struct follower *follower)
{
    struct inspection *inspection = follower->inspection;
    const struct manifest *manifest = follower->manifest;
    uint64_t version = follower->version->version;
    if (inspection->base_step == 0) {
        inspection->base_step = manifest->first_step;
        return;
    }
    if (manifest->first_step < inspection->first_step)
        inspection_problem(inspection, version, 0,
                           "version %" PRIu64 ": its first step went back from %" PRIu64
                           " to %" PRIu64,
                           version, inspection->first_step, manifest->first_step);
    if (manifest->next_step < inspection->next_step)
        inspection_problem(inspection, version, 0,
                           "version %" PRIu64 ": it has lost the steps %" PRIu64 " to %" PRIu64,
                           version, manifest->next_step, inspection->next_step - 1);
    if (manifest->first_step > inspection->next_step) {
        inspection_problem(inspection, version, 0,
                           "version %" PRIu64 ": the steps %" PRIu64 " to %" PRIu64
                           " are in no version that could be read",
                           version, inspection->next_step, manifest->first_step - 1);
        inspection->base_step = manifest->first_step; /* new entries are added from here */
        inspection->entry_count = 0;
        for (size_t i = 0; i < inspection->stream_count; i++)
            inspection->streams[i].known = false;
    }
}

/* ---- streams ---- */

static void check_epoch(struct follower *follower, struct inspect_stream *stream, uint32_t epoch,
                        const struct incarnation *incarnation, const char *what)
{
    uint64_t version = follower->version->version;
    if (epoch < stream->epoch)
        inspection_problem(follower->inspection, version, 0,
                           "version %" PRIu64 ": the epoch of producer %u went back from %u to %u "
                           "in its %s",
                           version, stream->producer, stream->epoch, epoch, what);
    else if (epoch == stream->epoch && !same_incarnation(incarnation, &stream->incarnation))
        inspection_problem(follower->inspection, version, 0,
                           "version %" PRIu64 ": two incarnations of producer %u share epoch %u, "
                           "found in its %s",
                           version, stream->producer, epoch, what);
    if (epoch <= stream->epoch)
        return;
    stream->epoch = epoch;
    stream->incarnation = *incarnation;
    stream->epochs++;
}

/* An entry that is new in this version. */
static void follow_entry(struct follower *follower, uint64_t step,
                         const struct manifest_entry *entry)
{
    struct inspection *inspection = follower->inspection;
    struct inspect_stream *stream = inspection_stream(inspection, entry->tgb.producer);
    uint64_t version = follower->version->version;
    uint64_t start = entry->tgb.end_offset - entry->tgb_bytes;
    if (stream->known) {
        if (entry->tgb.sequence <= stream->sequence) {
            stream->duplicates++;
            inspection_problem(inspection, version, step,
                               "version %" PRIu64 ", step %" PRIu64 ": sequence %" PRIu64
                               " of producer %u again, after %" PRIu64,
                               version, step, entry->tgb.sequence, stream->producer,
                               stream->sequence);
        } else if (entry->tgb.sequence != stream->sequence + 1) {
            stream->gaps++;
            inspection_problem(inspection, version, step,
                               "version %" PRIu64 ", step %" PRIu64 ": sequence %" PRIu64
                               " of producer %u comes after %" PRIu64 ": a gap",
                               version, step, entry->tgb.sequence, stream->producer,
                               stream->sequence);
        } else if (start != stream->offset) {
            inspection_problem(inspection, version, step,
                               "version %" PRIu64 ", step %" PRIu64 ": sequence %" PRIu64
                               " of producer %u starts at offset %" PRIu64 ", not at %" PRIu64,
                               version, step, entry->tgb.sequence, stream->producer, start,
                               stream->offset);
        }
    }
    if (follower->follows && entry->tgb.epoch > stream->epoch)
        inspection_problem(inspection, version, step,
                           "version %" PRIu64 ", step %" PRIu64
                           ": epoch %u of producer %u begins with a batch, not with a version "
                           "that fences",
                           version, step, entry->tgb.epoch, stream->producer);
    check_epoch(follower, stream, entry->tgb.epoch, &entry->tgb.incarnation, "entries");
    if (!stream->known || entry->tgb.sequence > stream->sequence) {
        stream->sequence = entry->tgb.sequence;
        stream->offset = entry->tgb.end_offset;
    }
    stream->known = true;
    stream->batches++;
    stream->bytes += entry->tgb_bytes;
    follower->version->batches++;
    follower->version->batch_bytes += entry->tgb_bytes;
    inspection_add_entry(inspection, entry);
}

static void visit_entry(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct follower *follower = context;
    struct inspection *inspection = follower->inspection;
    if (step < inspection->base_step)
        return; /* before the first version that was read */
    uint64_t index = step - inspection->base_step;
    if (index >= inspection->entry_count) {
        follow_entry(follower, step, entry);
    } else if (!follower->differed && !same_entry(&inspection->entries[index], entry)) {
        follower->differed = true;
        inspection_problem(inspection, follower->version->version, step,
                           "version %" PRIu64 ": step %" PRIu64
                           " is another batch than in the versions before",
                           follower->version->version, step);
    }
}

static void follow_state(struct follower *follower, const struct producer_state *state)
{
    struct inspection *inspection = follower->inspection;
    struct inspect_stream *stream = inspection_stream(inspection, state->producer);
    uint64_t version = follower->version->version;
    check_epoch(follower, stream, state->epoch, &state->incarnation, "state");
    stream->seen = true;
    bool agrees = state->last_sequence == stream->sequence && state->next_offset == stream->offset;
    bool empty_start = !stream->known && follower->follows;
    if ((stream->known || empty_start) && !agrees)
        inspection_problem(inspection, version, 0,
                           "version %" PRIu64 ": the state of producer %u says sequence %" PRIu64
                           " and offset %" PRIu64 ", its entries %" PRIu64 " and %" PRIu64,
                           version, stream->producer, state->last_sequence, state->next_offset,
                           stream->sequence, stream->offset);
    if (state->last_commit_ns < stream->last_commit_ns)
        inspection_problem(inspection, version, 0,
                           "version %" PRIu64 ": the commit time of producer %u went back", version,
                           stream->producer);
    stream->last_commit_ns = state->last_commit_ns;
    stream->known = true;
    stream->sequence = state->last_sequence;
    stream->offset = state->next_offset;
}

static void follow_states(struct follower *follower)
{
    struct inspection *inspection = follower->inspection;
    const struct manifest *manifest = follower->manifest;
    for (size_t i = 0; i < inspection->stream_count; i++)
        inspection->streams[i].seen = false;
    for (uint32_t i = 0; i < manifest_state_count(manifest); i++)
        follow_state(follower, manifest_state_at(manifest, i));
    for (size_t i = 0; i < inspection->stream_count; i++)
        if (!inspection->streams[i].seen)
            inspection_problem(inspection, manifest->version, 0,
                               "version %" PRIu64 ": it has no state of producer %u",
                               manifest->version, inspection->streams[i].producer);
    if (manifest->version != MANIFEST_GENESIS_VERSION)
        inspection_stream(inspection, manifest->author.producer)->commits++;
}

void inspect_chain_follow(struct inspection *inspection, struct inspect_version *version,
                          const struct manifest *manifest)
{
    struct follower follower = {
        .inspection = inspection,
        .version = version,
        .manifest = manifest,
        .follows =
            manifest->version == MANIFEST_GENESIS_VERSION ||
            (inspection->last_version != 0 && inspection->last_version == manifest->version - 1),
    };
    if (follower.follows && inspection->last_version != 0 &&
        manifest->base_checksum != inspection->last_checksum)
        inspection_problem(inspection, version->version, 0,
                           "version %" PRIu64 ": it was not made from version %" PRIu64
                           " as it is stored: the base's checksum differs",
                           version->version, inspection->last_version);
    follow_steps(&follower);
    manifest_visit_entries(manifest, manifest->first_step, visit_entry, &follower);
    follow_states(&follower);
    version->readable = true;
    version->author = manifest->author;
    version->live = manifest_live_entries(manifest);
    version->first_step = manifest->first_step;
    inspection->last_version = manifest->version;
    inspection->last_checksum = manifest->checksum;
    inspection->first_step = manifest->first_step;
    if (manifest->next_step > inspection->next_step)
        inspection->next_step = manifest->next_step;
}
