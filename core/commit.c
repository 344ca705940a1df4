/* commit.c - the commit protocol: search, read, create, judge, validate. See commit.h and
 * docs/protocol.md; what a version means for the producer is decided in commit_rebase.c. */
#include "core/commit.h"

#include <stdio.h>

#include "core/commit_rebase.h"

void commit_init(struct commit *commit, const struct commit_options *options,
                 struct random_stream random, struct batch_queue *queue)
{
    *commit = (struct commit){.options = *options,
                              .random = random,
                              .queue = queue,
                              .retry = {.first_ns = options->retry_ns,
                                        .max_ns = options->retry_max_ns,
                                        .row_max = COMMIT_RETRIES_MAX}};
    store_op_init(&commit->op);
}

void commit_deinit(struct commit *commit)
{
    manifest_release(commit->known);
    manifest_release(commit->sent);
    store_op_deinit(&commit->op);
}

static struct commit_effect effect_submit(struct commit *commit, enum commit_phase phase)
{
    commit->phase = phase;
    return (struct commit_effect){.kind = COMMIT_SUBMIT};
}

static struct commit_effect effect_sleep(struct commit *commit, int64_t now_ns, uint32_t failures)
{
    return (struct commit_effect){
        .kind = COMMIT_SLEEP,
        .until_ns = retry_at_ns(&commit->retry, failures, &commit->random, now_ns)};
}

static struct commit_effect effect_end(struct commit *commit, enum commit_end end, const char *text)
{
    commit->phase = COMMIT_IDLE;
    commit->end = end;
    if (text != commit->end_text)
        snprintf(commit->end_text, sizeof(commit->end_text), "%s", text);
    return (struct commit_effect){.kind = COMMIT_ENDED};
}

static void set_known(struct commit *commit, struct manifest *manifest)
{
    if (manifest != commit->known)
        manifest_release(commit->known);
    commit->known = manifest;
}

/* ---- requests ---- */

static struct commit_effect send_list(struct commit *commit, int64_t now_ns)
{
    commit->found_sent_ns = now_ns;
    return effect_submit(commit, COMMIT_LISTING);
}

static struct commit_effect send_probe(struct commit *commit, int64_t now_ns, uint64_t version)
{
    chain_view_ask_version(&commit->op, version);
    commit->op.range_bytes = 1;
    commit->probe_sent_ns = now_ns;
    return effect_submit(commit, COMMIT_PROBING);
}

static struct commit_effect send_read(struct commit *commit, enum commit_phase phase,
                                      uint64_t version)
{
    chain_view_ask_version(&commit->op, version);
    return effect_submit(commit, phase);
}

static struct commit_effect start_search(struct commit *commit, int64_t now_ns)
{
    commit->seen.newest = commit->known != NULL ? commit->known->version : 0;
    if (commit->options.find == COMMIT_FIND_PROBE && commit->known) {
        commit->probe_missing = 0;
        return send_probe(commit, now_ns, commit->seen.newest + 1);
    }
    chain_view_ask_newest(&commit->op,
                          commit->known != NULL ? commit->seen.newest : commit->search_after);
    return send_list(commit, now_ns);
}

/* A search that is not the attempt's first: bounded, so that no loop through it is endless. */
static struct commit_effect search_again(struct commit *commit, int64_t now_ns, const char *why)
{
    if (++commit->restarts > COMMIT_RESTARTS_MAX)
        return effect_end(commit, COMMIT_END_STORE, why);
    return start_search(commit, now_ns);
}

/* What was known turned out to be gone: search again from the floor. */
static struct commit_effect restart_search(struct commit *commit, int64_t now_ns)
{
    set_known(commit, NULL);
    commit->search_after = commit->seen.floor.version > 0 ? commit->seen.floor.version - 1 : 0;
    commit->end = COMMIT_END_NONE; /* what an invalid version said is void */
    return search_again(commit, now_ns,
                        "the newest version could not be found: versions are listed that cannot "
                        "be read; is something else deleting below this prefix?");
}

static struct commit_effect send_validation(struct commit *commit, enum commit_intent intent)
{
    commit->intent = intent;
    chain_view_ask_floor(&commit->op);
    return effect_submit(commit, COMMIT_VALIDATING);
}

static struct commit_effect send_create(struct commit *commit, enum commit_phase phase,
                                        struct manifest *manifest)
{
    store_op_prepare(&commit->op, STORE_PUT_IF_ABSENT);
    name_version(commit->op.key, manifest->version);
    commit->op.body = (struct body){
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(manifest), .manifest = manifest};
    return effect_submit(commit, phase);
}

static void set_sent(struct commit *commit, struct manifest *manifest)
{
    manifest_release(commit->sent);
    commit->sent = manifest;
}

/* ---- decisions ---- */

static struct commit_effect decide(struct commit *commit, int64_t now_ns)
{
    commit_record_decision(commit, now_ns);
    set_sent(commit, NULL);
    commit->phase = COMMIT_IDLE;
    return (struct commit_effect){.kind = COMMIT_DECIDED};
}

/* The newest version is held, not yet validated: create the next one, or validate what it decides.
 */
static struct commit_effect rebase(struct commit *commit, int64_t now_ns)
{
    commit->lowest_used = commit->known->version;
    switch (commit_rebase(commit)) {
    case REBASE_WON:
        commit->answered_ns = now_ns;
        commit->detail.visible_ns = now_ns;
        return send_validation(commit, COMMIT_INTENT_WON);
    case REBASE_LOST:
        commit->answered_ns = now_ns;
        return send_validation(commit, COMMIT_INTENT_LOST);
    case REBASE_END:
        return send_validation(commit, COMMIT_INTENT_END);
    case REBASE_CREATE:
        break;
    }
    set_sent(commit, commit_build_next(commit, now_ns));
    commit->busy_row = 0;
    commit->resends = 0;
    return send_create(commit, COMMIT_CREATING, commit->sent);
}

/* ---- answers ---- */

static struct commit_effect found_newest(struct commit *commit, int64_t now_ns)
{
    if (commit->seen.floor.version > commit->seen.newest) {
        commit->detail.counters.invalid++;
        return restart_search(commit, now_ns);
    }
    if (commit->seen.newest == 0) {
        set_known(commit, manifest_genesis(commit->options.entry_bytes));
        return send_create(commit, COMMIT_CREATING_GENESIS, commit->known);
    }
    if (commit->known != NULL && commit->known->version == commit->seen.newest)
        return rebase(commit, now_ns);
    return send_read(commit, COMMIT_READING, commit->seen.newest);
}

static struct commit_effect on_list(struct commit *commit, int64_t now_ns)
{
    switch (chain_view_read(&commit->seen, &commit->op)) {
    case PAGE_FOLLOWS:
        return send_list(commit, now_ns);
    case PAGE_REPEATS:
        return effect_end(commit, COMMIT_END_STORE, commit->op.error);
    case PAGE_WAS_LAST:
        break;
    }
    return found_newest(commit, now_ns);
}

static struct commit_effect on_probe(struct commit *commit, int64_t now_ns)
{
    uint64_t probed;
    bool parsed = name_parse_version(commit->op.key, &probed);
    assert(parsed);
    if (commit->op.outcome == STORE_OK) {
        commit->seen.newest = probed;
    } else {
        commit->probe_missing = probed;
        commit->found_sent_ns = commit->probe_sent_ns; /* nothing there: exposed from here on */
    }
    if (commit->probe_missing == 0)
        return send_probe(commit, now_ns, 2 * commit->seen.newest + 1 - commit->known->version);
    if (commit->probe_missing > commit->seen.newest + 1) {
        uint64_t half = (commit->probe_missing - commit->seen.newest) / 2;
        return send_probe(commit, now_ns, commit->seen.newest + half);
    }
    return found_newest(commit, now_ns);
}

static struct commit_effect on_vanished(struct commit *commit, int64_t now_ns)
{
    commit->detail.counters.vanished++;
    return restart_search(commit, now_ns);
}

static struct commit_effect on_read(struct commit *commit, int64_t now_ns)
{
    if (commit->op.outcome == STORE_NOT_FOUND)
        return on_vanished(commit, now_ns);
    struct manifest *manifest = chain_view_take_version(&commit->op, commit->end_text);
    if (manifest == NULL)
        return effect_end(commit, COMMIT_END_CORRUPT, commit->end_text);
    set_known(commit, manifest);
    return rebase(commit, now_ns);
}

/* Whether version 1 exists now, a search says. */
static struct commit_effect genesis_undecided(struct commit *commit, int64_t now_ns)
{
    set_known(commit, NULL);
    return search_again(commit, now_ns,
                        "version 1 can be neither created nor found: is the prefix writable, and "
                        "does the store list what it holds?");
}

static struct commit_effect on_genesis(struct commit *commit, int64_t now_ns)
{
    if (commit->op.outcome == STORE_OK)
        return rebase(commit, now_ns);
    return genesis_undecided(commit, now_ns);
}

static struct commit_effect on_create(struct commit *commit, int64_t now_ns)
{
    commit->answered_ns = now_ns;
    commit->create_outcome = commit->op.outcome;
    switch (commit->op.outcome) {
    case STORE_OK:
        set_known(commit, manifest_retain(commit->sent));
        commit->detail.visible_ns = now_ns;
        return send_validation(commit, COMMIT_INTENT_WON);
    case STORE_BUSY:
        commit->detail.counters.busy++;
        if (++commit->busy_row <= COMMIT_BUSY_MAX)
            return effect_sleep(commit, now_ns, commit->busy_row);
        commit->create_outcome = STORE_UNKNOWN;
        break;
    case STORE_UNKNOWN:
        commit->detail.counters.unknown++;
        break;
    case STORE_THROTTLED:
        commit->detail.counters.throttled++;
        commit->phase = COMMIT_JUDGING;
        return effect_sleep(commit, now_ns, commit->resends + commit->restarts + 1);
    case STORE_EXISTS:
    case STORE_NOT_FOUND:
    case STORE_FAILED:
    case STORE_OUTCOME_COUNT:
        break;
    }
    return send_read(commit, COMMIT_JUDGING, commit->sent->version);
}

/* The stored version decides, whatever the answer to the create was. */
static struct commit_effect on_judge(struct commit *commit, int64_t now_ns)
{
    if (commit->op.outcome == STORE_NOT_FOUND) {
        if (commit->create_outcome == STORE_EXISTS)
            return on_vanished(commit, now_ns);
        if (commit->resends == COMMIT_RESENDS_MAX)
            return search_again(commit, now_ns,
                                "a version could not be created: the store neither accepts it nor "
                                "holds another under its name");
        commit->resends++;
        commit->detail.counters.resent++;
        send_create(commit, COMMIT_CREATING, commit->sent);
        /* Then the same bytes again. */
        return effect_sleep(commit, now_ns, commit->resends + commit->restarts);
    }
    struct manifest *stored = chain_view_take_version(&commit->op, commit->end_text);
    if (stored == NULL)
        return effect_end(commit, COMMIT_END_CORRUPT, commit->end_text);
    set_known(commit, stored);
    commit->detail.visible_ns = now_ns;
    return send_validation(commit, commit_judge(commit));
}

/* The floor is read: it has the last word. */
static struct commit_effect on_floor(struct commit *commit, int64_t now_ns)
{
    if (commit->seen.floor.version > commit->lowest_used) {
        commit->detail.counters.invalid++;
        return restart_search(commit, now_ns);
    }
    switch (commit->intent) {
    case COMMIT_INTENT_WON:
    case COMMIT_INTENT_LOST:
        return decide(commit, now_ns);
    case COMMIT_INTENT_END:
        break;
    }
    return effect_end(commit, commit->end, commit->end_text);
}

static struct commit_effect on_validation(struct commit *commit, int64_t now_ns)
{
    switch (chain_view_read(&commit->seen, &commit->op)) {
    case PAGE_FOLLOWS:
        return effect_submit(commit, COMMIT_VALIDATING);
    case PAGE_REPEATS:
        return effect_end(commit, COMMIT_END_STORE, commit->op.error);
    case PAGE_WAS_LAST:
        break;
    }
    return on_floor(commit, now_ns);
}

struct commit_effect commit_begin(struct commit *commit, int64_t now_ns)
{
    assert(commit->phase == COMMIT_IDLE && commit->end == COMMIT_END_NONE);
    assert(commit->epoch == 0 || commit->queue->ready > 0);
    commit->attempts++;
    commit->busy_row = 0;
    commit->resends = 0;
    commit->retry.row = 0;
    commit->restarts = 0;
    commit->started_ns = now_ns;
    commit->detail = (struct attempt_detail){.started_ns = now_ns};
    return start_search(commit, now_ns);
}

/* An answer that says nothing about the store's content: true if `effect` is what follows. */
static bool unanswered(struct commit *commit, int64_t now_ns, struct commit_effect *effect)
{
    const struct store_op *op = &commit->op;
    struct commit_counters *counters = &commit->detail.counters;
    bool open = retry_is_open(op->outcome);
    bool create = op->verb == STORE_PUT_IF_ABSENT;
    if (open && commit->phase == COMMIT_CREATING)
        return false; /* what is stored decides then, and on_create counts */
    counters->throttled += op->outcome == STORE_THROTTLED;
    counters->busy += create && op->outcome == STORE_BUSY;
    counters->unknown += create && op->outcome == STORE_UNKNOWN;
    counters->retried += open && !create;
    switch (retry_judge(&commit->retry, op, commit->end_text)) {
    case RETRY_ANSWERED:
        return false;
    case RETRY_LATER:
        /* A genesis goes through a new search each time, which is answered: only restarts count on.
         */
        *effect = effect_sleep(commit, now_ns, commit->retry.row + (create ? commit->restarts : 0));
        return true;
    case RETRY_REFUSED:
    case RETRY_SILENT:
        break;
    }
    *effect = effect_end(commit, COMMIT_END_STORE, commit->end_text);
    return true;
}

static struct commit_effect dispatch(struct commit *commit, int64_t now_ns)
{
    switch (commit->phase) {
    case COMMIT_LISTING:
        return on_list(commit, now_ns);
    case COMMIT_PROBING:
        return on_probe(commit, now_ns);
    case COMMIT_READING:
        return on_read(commit, now_ns);
    case COMMIT_CREATING_GENESIS:
        return on_genesis(commit, now_ns);
    case COMMIT_CREATING:
        return on_create(commit, now_ns);
    case COMMIT_JUDGING:
        return on_judge(commit, now_ns);
    case COMMIT_VALIDATING:
        return on_validation(commit, now_ns);
    case COMMIT_IDLE:
        break;
    }
    return (struct commit_effect){.kind = COMMIT_ENDED};
}

struct commit_effect commit_answer(struct commit *commit, int64_t now_ns)
{
    struct commit_effect effect;
    assert(commit->phase != COMMIT_IDLE);
    if (!unanswered(commit, now_ns, &effect))
        effect = dispatch(commit, now_ns);
    store_op_release(&commit->op);
    return effect;
}

struct commit_effect commit_wake(struct commit *commit, int64_t now_ns)
{
    assert(commit->phase != COMMIT_IDLE);
    switch (commit->phase) {
    case COMMIT_LISTING:
        return send_list(commit, now_ns);
    case COMMIT_CREATING_GENESIS:
        return genesis_undecided(commit, now_ns);
    case COMMIT_JUDGING:
        return send_read(commit, COMMIT_JUDGING, commit->sent->version);
    case COMMIT_PROBING:
        commit->probe_sent_ns = now_ns;
        break;
    case COMMIT_READING:
    case COMMIT_CREATING:
    case COMMIT_VALIDATING:
    case COMMIT_IDLE:
        break;
    }
    return (struct commit_effect){.kind = COMMIT_SUBMIT}; /* the same request again */
}
