/* chain_reader.c - find the newest version, read it, validate it. The paper's readers take the
 * newest manifest as it is; the validation by a floor read afterwards is ours (docs/protocol.md).
 */
#include "core/chain_reader.h"

#include <inttypes.h>
#include <stdio.h>

#define VALIDATION_KEYS 16 /* the first floor counts; what is no floor may sort before it */

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

static struct chain_effect send(struct chain_reader *reader, enum chain_phase phase,
                                enum store_verb verb)
{
    reader->phase = phase;
    reader->op.verb = verb;
    reader->op.body = (struct body){.kind = BODY_NONE};
    reader->op.range_offset = 0;
    reader->op.range_bytes = 0;
    return (struct chain_effect){.kind = CHAIN_SUBMIT};
}

static struct chain_effect send_search(struct chain_reader *reader)
{
    uint64_t after = 0;
    if (!reader->from_floor && reader->known != NULL)
        after = reader->known->version;
    else if (reader->floor.version > 0)
        after = reader->floor.version - 1;
    reader->newest = after;
    snprintf(reader->op.key, STORE_KEY_MAX, "%s", NAME_MANIFEST_PREFIX);
    name_version(reader->op.after, after);
    reader->op.list_keys_max = STORE_LIST_KEYS_MAX;
    return send(reader, CHAIN_LISTING, STORE_LIST);
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
    name_version(reader->op.key, version);
    reader->op.after[0] = '\0';
    reader->op.entries_first = reader->wanted.first_step;
    reader->op.entries_next = reader->wanted.next_step;
    return send(reader, CHAIN_READING, STORE_GET);
}

static struct chain_effect send_validation(struct chain_reader *reader)
{
    snprintf(reader->op.key, STORE_KEY_MAX, "%s", NAME_FLOOR_PREFIX);
    reader->op.after[0] = '\0';
    reader->op.list_keys_max = VALIDATION_KEYS;
    return send(reader, CHAIN_VALIDATING, STORE_LIST);
}

/* ---- answers ---- */

static void raise_floor(struct chain_reader *reader, struct floor floor)
{
    struct floor *top = &reader->top;
    if (floor.version > top->version || (floor.version == top->version && floor.step > top->step))
        *top = floor;
    if (floor.version > reader->floor.version)
        reader->floor.version = floor.version;
    if (floor.step > reader->floor.step)
        reader->floor.step = floor.step;
}

/* Takes the newest version and the highest floor from a page; true if a floor is on it, which means
 * that no version follows. Backwards, because keys are sorted: versions rising, then floors. */
static bool read_page(struct chain_reader *reader)
{
    const struct list_page *page = &reader->op.page;
    bool floor_seen = false;
    for (size_t i = page->count; i > 0; i--) {
        const char *key = list_page_key(page, i - 1);
        struct floor floor;
        uint64_t version;
        if (name_parse_version(key, &version)) {
            if (version > reader->newest)
                reader->newest = version;
            break;
        }
        if (!name_parse_floor(key, &floor))
            continue;
        floor_seen = true;
        raise_floor(reader, floor);
    }
    return floor_seen;
}

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
    if (reader->newest < reader->floor.version || reader->newest < known)
        return search_again(reader);
    if (reader->newest == 0)
        return effect_end(reader, CHAIN_EMPTY);
    if (reader->newest == known && !lacks_entries(reader))
        return effect_end(reader, CHAIN_UNCHANGED);
    return send_read(reader, reader->newest);
}

/* True: *effect follows, the next page or an error; false: that was the last one. */
static bool next_page(struct chain_reader *reader, struct chain_effect *effect)
{
    switch (store_op_next_page(&reader->op)) {
    case PAGE_FOLLOWS:
        *effect = send(reader, reader->phase, STORE_LIST);
        return true;
    case PAGE_REPEATS:
        *effect = effect_failed(reader, CHAIN_UNFINDABLE, reader->op.error);
        return true;
    case PAGE_WAS_LAST:
        break;
    }
    return false;
}

static struct chain_effect on_page(struct chain_reader *reader)
{
    struct chain_effect effect;
    if (!read_page(reader) && next_page(reader, &effect))
        return effect;
    return on_found(reader);
}

static struct chain_effect on_read(struct chain_reader *reader)
{
    if (reader->op.outcome == STORE_NOT_FOUND) {
        reader->vanished++;
        return search_again(reader);
    }
    uint64_t asked;
    bool parsed = name_parse_version(reader->op.key, &asked);
    assert(parsed);
    struct body *result = &reader->op.result;
    if (result->kind != BODY_MANIFEST || result->manifest->version != asked) {
        snprintf(reader->error, sizeof(reader->error),
                 "%s does not hold that version of a manifest: restore it, or start a new prefix",
                 reader->op.key);
        return effect_failed(reader, CHAIN_DAMAGED, reader->error);
    }
    reader->found = result->manifest;
    result->kind = BODY_NONE;
    return send_validation(reader);
}

static struct chain_effect on_validation(struct chain_reader *reader)
{
    struct manifest *found = reader->found;
    struct chain_effect effect;
    if (!read_page(reader) && next_page(reader, &effect))
        return effect;
    if (reader->floor.version > found->version) {
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
    assert(reader->phase != CHAIN_IDLE);
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
