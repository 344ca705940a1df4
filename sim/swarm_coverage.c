/* swarm_coverage.c - branches of the commit protocol, seen from outside. Ours. */
#include "sim/swarm_coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void branch_probe_answered(struct branch_probe *probe, const struct commit *commit)
{
    *probe = (struct branch_probe){.armed = 1,
                                   .phase = commit->phase,
                                   .outcome = commit->op.outcome,
                                   .create_outcome = commit->create_outcome,
                                   .epoch = commit->epoch,
                                   .invalid = commit->detail.counters.invalid};
}

static enum swarm_branch branch_of_rebase(const struct branch_probe *probe,
                                          const struct commit *commit)
{
    bool fencing = probe->epoch == 0;
    if (commit->phase == COMMIT_CREATING)
        return fencing ? BRANCH_FENCE_NEXT : BRANCH_REBASE_NEXT;
    if (commit->phase != COMMIT_VALIDATING)
        return BRANCH_COUNT;
    switch (commit->intent) {
    case COMMIT_INTENT_WON:
        return fencing ? BRANCH_FENCE_IS_WON : BRANCH_REBASE_IS_WON;
    case COMMIT_INTENT_LOST:
        return fencing ? BRANCH_FENCE_IS_LOST : BRANCH_REBASE_IS_LOST;
    case COMMIT_INTENT_END:
        break;
    }
    return fencing ? BRANCH_FENCE_IS_FENCED : BRANCH_REBASE_IS_FENCED;
}

static enum swarm_branch branch_of_find(const struct branch_probe *probe,
                                        const struct commit *commit)
{
    if (commit->detail.counters.invalid > probe->invalid)
        return BRANCH_FIND_FLOOR_ABOVE;
    if (commit->phase == COMMIT_LISTING && probe->phase == COMMIT_LISTING)
        return BRANCH_FIND_PAGE;
    if (commit->phase == COMMIT_CREATING_GENESIS)
        return BRANCH_FIND_NOTHING;
    if (commit->phase == COMMIT_READING)
        return BRANCH_FIND_NEWER;
    return branch_of_rebase(probe, commit) == BRANCH_COUNT ? BRANCH_COUNT : BRANCH_FIND_KNOWN;
}

static enum swarm_branch branch_of_create(const struct branch_probe *probe,
                                          const struct commit *commit)
{
    switch (probe->outcome) {
    case STORE_OK:
        return BRANCH_CREATE_OK;
    case STORE_EXISTS:
        return BRANCH_CREATE_EXISTS;
    case STORE_UNKNOWN:
        return BRANCH_CREATE_UNKNOWN;
    case STORE_THROTTLED:
        return BRANCH_CREATE_THROTTLED;
    case STORE_BUSY:
        return commit->phase == COMMIT_CREATING ? BRANCH_CREATE_BUSY : BRANCH_CREATE_BUSY_BOUND;
    case STORE_NOT_FOUND:
    case STORE_FAILED:
    case STORE_OUTCOME_COUNT:
        break;
    }
    return BRANCH_COUNT;
}

static enum swarm_branch branch_of_judge(const struct branch_probe *probe,
                                         const struct commit *commit)
{
    bool exists = probe->create_outcome == STORE_EXISTS;
    if (probe->outcome == STORE_NOT_FOUND) {
        if (exists)
            return BRANCH_JUDGE_EXISTS_VANISHED;
        return commit->phase == COMMIT_CREATING ? BRANCH_JUDGE_ABSENT : BRANCH_JUDGE_ABSENT_BOUND;
    }
    if (commit->intent == COMMIT_INTENT_WON)
        return exists ? BRANCH_JUDGE_EXISTS_MINE : BRANCH_JUDGE_UNKNOWN_MINE;
    return exists ? BRANCH_JUDGE_EXISTS_FOREIGN : BRANCH_JUDGE_UNKNOWN_FOREIGN;
}

static enum swarm_branch branch_of_validation(const struct commit *commit, enum branch_next next)
{
    switch (next) {
    case NEXT_DECIDED:
        return commit->attempt.outcome == ATTEMPT_WON ? BRANCH_VALID_WON : BRANCH_VALID_LOST;
    case NEXT_ENDED:
        return BRANCH_VALID_FENCED;
    case NEXT_SUBMITS:
        break;
    }
    switch (commit->intent) {
    case COMMIT_INTENT_WON:
        return BRANCH_INVALID_WON;
    case COMMIT_INTENT_LOST:
        return BRANCH_INVALID_LOST;
    case COMMIT_INTENT_END:
        break;
    }
    return BRANCH_INVALID_END;
}

static enum swarm_branch branch_of_refusal(enum commit_phase phase)
{
    switch (phase) {
    case COMMIT_LISTING:
    case COMMIT_PROBING:
    case COMMIT_READING:
        return BRANCH_FIND_REFUSED;
    case COMMIT_CREATING_GENESIS:
    case COMMIT_CREATING:
        return BRANCH_CREATE_REFUSED;
    case COMMIT_JUDGING:
        return BRANCH_JUDGE_REFUSED;
    case COMMIT_VALIDATING:
        return BRANCH_VALID_REFUSED;
    case COMMIT_IDLE:
        break;
    }
    return BRANCH_COUNT;
}

static void take(struct swarm_coverage *coverage, enum swarm_branch branch, uint32_t faults)
{
    if (branch == BRANCH_COUNT)
        return;
    coverage->taken[branch]++;
    for (uint32_t bit = 0; bit < SWARM_FAULTS; bit++)
        coverage->met[branch][bit] += faults >> bit & 1u;
}

void branch_probe_next(struct branch_probe *probe, const struct commit *commit,
                       enum branch_next next, uint32_t faults, struct swarm_coverage *coverage)
{
    bool answered = probe->outcome == STORE_OK || probe->outcome == STORE_NOT_FOUND;
    if (probe->armed == 0)
        return;
    probe->armed = 0;
    if (probe->outcome == STORE_FAILED) {
        take(coverage, branch_of_refusal(probe->phase), faults);
        return;
    }
    switch (probe->phase) {
    case COMMIT_LISTING:
        if (answered) {
            take(coverage, branch_of_find(probe, commit), faults);
            take(coverage, branch_of_rebase(probe, commit), faults);
        }
        return;
    case COMMIT_PROBING:
        if (answered) {
            bool there = probe->outcome == STORE_OK;
            take(coverage, there ? BRANCH_PROBE_THERE : BRANCH_PROBE_MISSING, faults);
            take(coverage, branch_of_find(probe, commit), faults);
            take(coverage, branch_of_rebase(probe, commit), faults);
        }
        return;
    case COMMIT_READING:
        if (probe->outcome == STORE_NOT_FOUND)
            take(coverage, BRANCH_READ_VANISHED, faults);
        else if (answered)
            take(coverage, branch_of_rebase(probe, commit), faults);
        return;
    case COMMIT_CREATING_GENESIS:
        take(coverage, answered ? BRANCH_GENESIS_CREATED : BRANCH_GENESIS_UNDECIDED, faults);
        if (answered)
            take(coverage, branch_of_rebase(probe, commit), faults);
        return;
    case COMMIT_CREATING:
        take(coverage, branch_of_create(probe, commit), faults);
        return;
    case COMMIT_JUDGING:
        if (answered)
            take(coverage, branch_of_judge(probe, commit), faults);
        return;
    case COMMIT_VALIDATING:
        if (answered)
            take(coverage, branch_of_validation(commit, next), faults);
        return;
    case COMMIT_IDLE:
        break;
    }
}

const char *swarm_branch_name(enum swarm_branch branch)
{
    static const char *const names[] = {
#define X(code, name, impossible) name,
        SWARM_BRANCHES(X)
#undef X
    };
    assert(branch < BRANCH_COUNT);
    return names[branch];
}

void swarm_coverage_add(struct swarm_coverage *coverage, const struct swarm_coverage *other)
{
    for (int branch = 0; branch < BRANCH_COUNT; branch++) {
        coverage->taken[branch] += other->taken[branch];
        for (int bit = 0; bit < SWARM_FAULTS; bit++)
            coverage->met[branch][bit] += other->met[branch][bit];
    }
}

uint32_t swarm_coverage_missing(const struct swarm_coverage *coverage, uint64_t at_least,
                                char *text, size_t text_bytes)
{
    static const uint32_t impossible[] = {
#define X(code, name, mask) mask,
        SWARM_BRANCHES(X)
#undef X
    };
    uint32_t missing = 0;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t branch = 0; branch < BRANCH_COUNT; branch++) {
        for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS_OF_PRODUCERS; bit++) {
            if (bit > FAULT_REFUSED && bit < FAULT_KIND_COUNT)
                continue; /* a commit repeats no write and reads no batch */
            if (bit == FAULT_REFUSED && branch < BRANCH_FIRST_OF_REFUSALS)
                continue;
            if ((impossible[branch] >> bit & 1u) != 0 || coverage->met[branch][bit] >= at_least)
                continue;
            missing++;
            int wrote =
                snprintf(text + used, text_bytes - used, "  %s met \"%s\" %" PRIu64 " times\n",
                         swarm_fault_name(bit), swarm_branch_name((enum swarm_branch)branch),
                         coverage->met[branch][bit]);
            used += wrote > 0 && (size_t)wrote < text_bytes - used ? (size_t)wrote : 0;
        }
    }
    return missing;
}
