/* chain_reader.c - find the newest version, read it, validate it. The paper's readers take the
 * newest manifest as it is; the validation by a floor read afterwards is ours (docs/protocol.md).
 */
#include "core/chain_reader.h"

#include <inttypes.h>
#include <stdio.h>

void chain_reader_init(struct chain_reader *reader, const struct chain_reader_options *options,
                       struct random_stream random)
{
    *reader = (struct chain_reader){.options = *options,
                                    .random = random,
                                    .retry = {.first_ns = options->retry_ns,
                                              .max_ns = options->retry_max_ns,
                                              .row_max = CHAIN_RETRIES_MAX}};
    store_op_init(&reader->op);
}

void chain_reader_deinit(struct chain_reader *reader)
{
    manifest_release(reader->known);
    manifest_release(reader->found);
    store_op_deinit(&reader->op);
}

static struct chain_effect effect_end(struct chain_reader *reader, enum chain_effect_kind kind)
{
    manifest_release(reader->found);
    reader->found = NULL;
    reader->phase = CHAIN_IDLE;
    return (struct chain_effect){.kind = kind};
}

static struct chain_effect effect_failed(struct chain_reader *reader, enum chain_failure failure,
                                         const char *text)
{
    reader->failure = failure;
    if (text != reader->error)
        snprintf(reader->error, sizeof(reader->error), "%s", text);
    return effect_end(reader, CHAIN_FAILED);
}

/* ---- requests ---- */

static struct chain_effect submit(struct chain_reader *reader, enum chain_phase phase)
{
    reader->phase = phase;
    return (struct chain_effect){.kind = CHAIN_SUBMIT};
}

static struct chain_effect send_search(struct chain_reader *reader)
{
    uint64_t after = 0;
    if (!reader->from_floor && reader->known != NULL)
        after = reader->known->version;
    else if (reader->seen.floor.version > 0)
        after = reader->seen.floor.version - 1;
    reader->seen.newest = after;
    chain_view_ask_newest(&reader->op, after);
    return submit(reader, CHAIN_LISTING);
}

/* What the search found is gone or void: again, from the floor. */
static struct chain_effect search_again(struct chain_reader *reader)
{
    manifest_release(reader->found);
    reader->found = NULL;
    reader->from_floor = true;
    if (++reader->restarts > CHAIN_RESTARTS_MAX)
        return effect_failed(reader, CHAIN_UNFINDABLE,
                             "the newest version cannot be found: versions are listed that "
                             "cannot be read, or a floor above all of them; is something "
                             "else deleting below this prefix?");
    return send_search(reader);
}

static struct chain_effect send_read(struct chain_reader *reader, uint64_t version)
{
    chain_view_ask_version(&reader->op, version);
    reader->op.entries_first = reader->wanted.first_step;
    reader->op.entries_next = reader->wanted.next_step;
    return submit(reader, CHAIN_READING);
}

static struct chain_effect send_validation(struct chain_reader *reader)
{
    chain_view_ask_floor(&reader->op);
    return submit(reader, CHAIN_VALIDATING);
}

/* ---- answers ---- */

/* Whether `known` was decoded in part, and more of it is wanted. */
static bool lacks_entries(const struct chain_reader *reader)
{
    const struct manifest_part *held = &reader->known->held;
    return held->next_step < reader->known->next_step &&
           (reader->wanted.next_step == 0 || reader->wanted.next_step > held->next_step);
}

static struct chain_effect on_found(struct chain_reader *reader)
{
    uint64_t known = reader->known != NULL ? reader->known->version : 0;
    if (reader->seen.newest < reader->seen.floor.version || reader->seen.newest < known)
        return search_again(reader);
    if (reader->seen.newest == 0)
        return effect_end(reader, CHAIN_EMPTY);
    if (reader->seen.newest == known && !lacks_entries(reader))
        return effect_end(reader, CHAIN_UNCHANGED);
    return send_read(reader, reader->seen.newest);
}

/* True: the page was the last one; otherwise *effect follows. */
static bool last_page(struct chain_reader *reader, struct chain_effect *effect)
{
    switch (chain_view_read(&reader->seen, &reader->op)) {
    case PAGE_FOLLOWS:
        *effect = submit(reader, reader->phase);
        return false;
    case PAGE_REPEATS:
        *effect = effect_failed(reader, CHAIN_UNFINDABLE, reader->op.error);
        return false;
    case PAGE_WAS_LAST:
        break;
    }
    return true;
}

static struct chain_effect on_page(struct chain_reader *reader)
{
    struct chain_effect effect;
    return last_page(reader, &effect) ? on_found(reader) : effect;
}

static struct chain_effect on_read(struct chain_reader *reader)
{
    if (reader->op.outcome == STORE_NOT_FOUND) {
        reader->vanished++;
        return search_again(reader);
    }
    reader->found = chain_view_take_version(&reader->op, reader->error);
    if (reader->found == NULL)
        return effect_failed(reader, CHAIN_DAMAGED, reader->error);
    return send_validation(reader);
}

static struct chain_effect on_validation(struct chain_reader *reader)
{
    struct manifest *found = reader->found;
    struct chain_effect effect;
    if (!last_page(reader, &effect))
        return effect;
    if (reader->seen.floor.version > found->version) {
        reader->invalid++;
        return search_again(reader);
    }
    if (reader->known != NULL && found->next_step < reader->known->next_step) {
        snprintf(reader->error, sizeof(reader->error),
                 "version %" PRIu64 " has lost steps: it ends before step %" PRIu64
                 ", version %" PRIu64 " before step %" PRIu64,
                 found->version, found->next_step, reader->known->version,
                 reader->known->next_step);
        return effect_failed(reader, CHAIN_DAMAGED, reader->error);
    }
    manifest_release(reader->known);
    reader->known = found;
    reader->found = NULL;
    return effect_end(reader, CHAIN_CHANGED);
}

/* An answer that says nothing about the store's content: true if `effect` is what follows. */
static bool unanswered(struct chain_reader *reader, int64_t now_ns, struct chain_effect *effect)
{
    enum chain_failure failure = CHAIN_SILENT;
    switch (retry_judge(&reader->retry, &reader->op, reader->error)) {
    case RETRY_ANSWERED:
        return false;
    case RETRY_LATER:
        *effect = (struct chain_effect){
            .kind = CHAIN_SLEEP,
            .until_ns = retry_at_ns(&reader->retry, reader->retry.row, &reader->random, now_ns)};
        return true;
    case RETRY_REFUSED:
        failure = reader->op.damaged ? CHAIN_DAMAGED : CHAIN_REFUSED;
        break;
    case RETRY_SILENT:
        break;
    }
    *effect = effect_failed(reader, failure, reader->error);
    return true;
}

static struct chain_effect dispatch(struct chain_reader *reader)
{
    switch (reader->phase) {
    case CHAIN_LISTING:
        return on_page(reader);
    case CHAIN_READING:
        return on_read(reader);
    case CHAIN_VALIDATING:
        return on_validation(reader);
    case CHAIN_IDLE:
        break;
    }
    return (struct chain_effect){.kind = CHAIN_FAILED};
}

struct chain_effect chain_reader_begin(struct chain_reader *reader)
{
    assert(reader->phase == CHAIN_IDLE && reader->found == NULL);
    reader->retry.row = 0;
    reader->restarts = 0;
    reader->from_floor = false;
    reader->error[0] = '\0';
    return send_search(reader);
}

struct chain_effect chain_reader_answer(struct chain_reader *reader, int64_t now_ns)
{
    struct chain_effect effect;
    assert(reader->phase != CHAIN_IDLE);
    if (!unanswered(reader, now_ns, &effect))
        effect = dispatch(reader);
    store_op_release(&reader->op);
    return effect;
}

struct chain_effect chain_reader_wake(struct chain_reader *reader)
{
    assert(reader->phase != CHAIN_IDLE);
    return (struct chain_effect){.kind = CHAIN_SUBMIT}; /* the same request again */
}
