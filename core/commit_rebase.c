/* commit_rebase.c - rebasing a producer on a version, fencing, and recording decisions. The paper's
 * rebase and exactly-once offsets; epochs and incarnations are ours (docs/protocol.md). */
#include "core/commit_rebase.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_mine(const struct commit *commit, const struct producer_state *state)
{
    return state &&
           memcmp(&state->incarnation, &commit->options.incarnation, INCARNATION_BYTES) == 0;
}

/* Where my stream ends after `sequence`; false if I never uploaded it, or it is long committed. */
static bool offset_of(const struct commit *commit, uint64_t sequence, uint64_t *offset)
{
    if (sequence == commit->committed_sequence) {
        *offset = commit->committed_offset;
        return true;
    }
    const struct batch *batch = batch_queue_find(commit->queue, sequence);
    if (!batch || !batch->uploaded)
        return false;
    *offset = batch->end_offset;
    return true;
}

/* The chain's word about me against my own: commit->end is set if they cannot both be true. */
static bool contradicts(struct commit *commit, const struct producer_state *state)
{
    uint64_t offset;
    if (!state || state->epoch < commit->epoch) {
        commit->end = COMMIT_END_CORRUPT;
        snprintf(commit->end_text, sizeof(commit->end_text),
                 "version %" PRIu64 " has lost epoch %" PRIu32 " of producer %" PRIu32,
                 commit->known->version, commit->epoch, commit->options.producer);
        return true;
    }
    if (state->epoch > commit->epoch || !is_mine(commit, state)) {
        commit->end = COMMIT_END_FENCED;
        snprintf(commit->end_text, sizeof(commit->end_text),
                 "producer %" PRIu32 ": epoch %" PRIu32 " of version %" PRIu64
                 " belongs to another process that took over from this one (epoch %" PRIu32 ")",
                 commit->options.producer, state->epoch, commit->known->version, commit->epoch);
        return true;
    }
    if (!offset_of(commit, state->last_sequence, &offset) || offset != state->next_offset) {
        commit->end = COMMIT_END_CORRUPT;
        snprintf(commit->end_text, sizeof(commit->end_text),
                 "version %" PRIu64 " puts producer %" PRIu32 " at sequence %" PRIu64
                 ", offset %" PRIu64 ", which it never uploaded",
                 commit->known->version, commit->options.producer, state->last_sequence,
                 state->next_offset);
        return true;
    }
    return false;
}

static enum rebase rebase_fencing(struct commit *commit, const struct producer_state *state)
{
    if (is_mine(commit, state))
        return REBASE_WON;
    if (!state && manifest_state_count(commit->known) == MANIFEST_STATES_MAX) {
        commit->end = COMMIT_END_CORRUPT;
        snprintf(commit->end_text, sizeof(commit->end_text),
                 "the chain has %d producers already, which is as many as one can have",
                 MANIFEST_STATES_MAX);
        return REBASE_END;
    }
    if (!commit->sent || commit->known->version < commit->sent->version)
        return REBASE_CREATE;
    uint32_t epoch = commit->sent->author.epoch;
    if (!state || state->epoch <= epoch)
        return REBASE_LOST;
    /* Mine may have landed and been fenced since: it is not for me to fence back. */
    commit->end = COMMIT_END_FENCED;
    snprintf(commit->end_text, sizeof(commit->end_text),
             "producer %" PRIu32 ": epoch %" PRIu32 " of version %" PRIu64
             " belongs to another process that took over while this one asked for epoch %" PRIu32,
             commit->options.producer, state->epoch, commit->known->version, epoch);
    return REBASE_END;
}

enum rebase commit_rebase(struct commit *commit)
{
    const struct producer_state *state =
        manifest_state_find(commit->known, commit->options.producer);
    if (commit->epoch == 0)
        return rebase_fencing(commit, state);
    if (contradicts(commit, state))
        return REBASE_END;
    /* The name is decided. What the chain gained of mine came from one of the attempt's creates,
     * and not always from the last, which may have held more. */
    if (commit->sent != NULL && commit->known->version >= commit->sent->version)
        return state->last_sequence > commit->committed_sequence ? REBASE_WON : REBASE_LOST;
    const struct batch *last = batch_queue_at(commit->queue, commit->queue->ready - 1);
    return state->last_sequence >= last->sequence ? REBASE_WON : REBASE_CREATE;
}

enum commit_intent commit_judge(struct commit *commit)
{
    const struct manifest *stored = commit->known;
    const struct producer_state *state = manifest_state_find(stored, commit->options.producer);
    if (memcmp(&stored->author.incarnation, &commit->options.incarnation, INCARNATION_BYTES) != 0)
        return COMMIT_INTENT_LOST;
    if (stored->author.producer == commit->options.producer && is_mine(commit, state))
        return commit->epoch != 0 && contradicts(commit, state) ? COMMIT_INTENT_END
                                                                : COMMIT_INTENT_WON;
    commit->end = COMMIT_END_CORRUPT;
    snprintf(commit->end_text, sizeof(commit->end_text),
             "version %" PRIu64 " names this process as its author, but not as producer %" PRIu32,
             stored->version, commit->options.producer);
    return COMMIT_INTENT_END;
}

static struct manifest *build_fencing(struct commit *commit, struct manifest_change *change)
{
    const struct producer_state *state =
        manifest_state_find(commit->known, commit->options.producer);
    if (state != NULL) {
        change->state.next_offset = state->next_offset;
        change->state.last_sequence = state->last_sequence;
        if (state->last_commit_ns > change->state.last_commit_ns)
            change->state.last_commit_ns = state->last_commit_ns;
    }
    uint32_t epoch = (state != NULL ? state->epoch : 0) + 1;
    change->author.epoch = epoch;
    change->state.epoch = epoch;
    return manifest_append(commit->known, change);
}

static void entry_of(const struct commit *commit, const struct batch *batch,
                     struct manifest_entry *entry)
{
    *entry = (struct manifest_entry){
        .tgb = {.bucket = batch->bucket,
                .sequence = batch->sequence,
                .end_offset = batch->end_offset,
                .incarnation = commit->options.incarnation,
                .producer = commit->options.producer,
                .epoch = commit->epoch},
        .tgb_bytes = batch->bytes,
        .tgb_checksum = batch->checksum,
    };
}

static struct manifest *build_batches(struct commit *commit, struct manifest_change *change)
{
    const struct producer_state *state =
        manifest_state_find(commit->known, commit->options.producer);
    struct manifest_entry *entries = malloc(commit->queue->ready * sizeof(*entries));
    assert(entries && state);
    for (uint32_t i = 0; i < commit->queue->ready; i++) {
        const struct batch *batch = batch_queue_at(commit->queue, i);
        if (batch->sequence > state->last_sequence)
            entry_of(commit, batch, &entries[change->entry_count++]);
    }
    assert(change->entry_count > 0);
    const struct tgb_name *last = &entries[change->entry_count - 1].tgb;
    if (state->last_commit_ns > change->state.last_commit_ns)
        change->state.last_commit_ns = state->last_commit_ns;
    change->state.last_sequence = last->sequence;
    change->state.next_offset = last->end_offset;
    change->entries = entries;
    struct manifest *next = manifest_append(commit->known, change);
    free(entries);
    return next;
}

struct manifest *commit_build_next(struct commit *commit, int64_t now_ns)
{
    struct manifest_change change = {
        .author = {.producer = commit->options.producer,
                   .epoch = commit->epoch,
                   .incarnation = commit->options.incarnation,
                   .attempt = commit->attempts},
        .first_step = commit->seen.floor.step,
        .state = {.producer = commit->options.producer,
                  .epoch = commit->epoch,
                  .incarnation = commit->options.incarnation,
                  .last_commit_ns = now_ns,
                  .last_commit_version = commit->known->version + 1},
    };
    if (change.first_step > commit->known->next_step)
        change.first_step = 0; /* nobody who had read the chain wrote that floor */
    return commit->epoch == 0 ? build_fencing(commit, &change) : build_batches(commit, &change);
}

void commit_record_decision(struct commit *commit, int64_t now_ns)
{
    const struct manifest *known = commit->known;
    const struct producer_state *state = manifest_state_find(known, commit->options.producer);
    bool won = commit->intent == COMMIT_INTENT_WON;
    uint64_t seen = 0;
    if (known->version > commit->decided_version)
        seen = known->version - commit->decided_version;
    const struct commit_counters *counters = &commit->detail.counters;
    commit->attempt = (struct attempt){
        .outcome = won ? ATTEMPT_WON : ATTEMPT_LOST,
        .ended_ns = now_ns,
        .tau_ns = now_ns - commit->started_ns,
        .window_ns = commit->answered_ns - commit->found_sent_ns,
        .since_last_ns = commit->attempts == 1 ? 0 : now_ns - commit->decided_ns,
        .manifest_bytes = manifest_encoded_bytes(known),
        .foreign_versions = won && seen > 0 ? seen - 1 : seen,
        .retries = counters->busy + counters->unknown + counters->throttled + counters->resent +
                   counters->retried + counters->vanished + counters->invalid,
        .producers_active = manifest_active_producers(known, commit->options.active_versions),
    };
    if (commit->attempt.producers_active == 0)
        commit->attempt.producers_active = 1;
    commit->decided_version = known->version;
    commit->decided_ns = now_ns;
    commit->detail.version = won ? state->last_commit_version : known->version;
    if (won) {
        assert(is_mine(commit, state));
        if (commit->epoch == 0) {
            commit->epoch = state->epoch;
        } else {
            commit->detail.batches = state->last_sequence - commit->committed_sequence;
            commit->detail.bytes = state->next_offset - commit->committed_offset;
        }
        commit->committed_sequence = state->last_sequence;
        commit->committed_offset = state->next_offset;
        commit->committed_ns = state->last_commit_ns;
    }
    commit->detail.epoch = commit->epoch;
}
