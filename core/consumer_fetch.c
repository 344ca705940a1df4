/* consumer_fetch.c - a consumer's window: slices asked for ahead of time, examined, and handed over
 * in order. The paper's prefetching ranks; one range request a slice, without the index, is ours
 * (docs/data_plane.md, "one request"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/backoff.h"
#include "core/consumer_private.h"
#include "core/digest_chain.h"

static struct fetch *fetch_of(struct consumer *consumer, uint64_t step)
{
    return &consumer->fetches[step % consumer->options.fetches_max];
}

static uint32_t slot_of(const struct consumer *consumer, uint64_t step)
{
    return (uint32_t)(step % consumer->options.fetches_max);
}

static struct tgb_place place_of(const struct consumer *consumer, const struct fetch *fetch)
{
    return (struct tgb_place){.name = &fetch->delivery.entry.tgb,
                              .slices = consumer->options.slices,
                              .slice = consumer->options.slice};
}

static void fetch_clear(struct fetch *fetch)
{
    free(fetch->expanded);
    fetch->expanded = NULL;
    store_op_release(&fetch->op);
}

void consumer_fetch_deinit(struct fetch *fetch)
{
    free(fetch->expanded);
    store_op_deinit(&fetch->op);
}

/* ---- asking ---- */

/* The range that holds my slice; false: the TGB cannot hold so many, and the consumer ends. */
static bool range_make(struct consumer *consumer, uint64_t step, const struct manifest_entry *entry,
                       uint64_t *offset, uint64_t *bytes)
{
    *offset = 0;
    *bytes = entry->tgb_bytes;
    if (consumer->options.slices == 0 && entry->tgb_bytes > 0)
        return true;
    struct tgb_layout layout;
    enum tgb_error error = TGB_BAD_SIZE;
    if (consumer->options.slices > 0)
        error = tgb_layout_make(entry->tgb_bytes, consumer->options.slices, &layout);
    if (error == TGB_OK) {
        *offset = tgb_layout_offset(&layout, consumer->options.slice);
        *bytes = layout.slot_bytes;
        return true;
    }
    char key[STORE_KEY_MAX];
    char text[CONSUMER_END_TEXT_MAX];
    name_tgb(key, &entry->tgb);
    snprintf(text, sizeof(text),
             "%s (step %" PRIu64 ") has %" PRIu64 " bytes and should hold %" PRIu32 " slices: %s",
             key, step, entry->tgb_bytes, consumer->options.slices, tgb_error_text(error));
    consumer_stop(consumer, CONSUMER_CORRUPT, text);
    return false;
}

static void send(struct consumer *consumer, uint32_t slot, struct consumer_effects *effects)
{
    consumer->fetches[slot].state = FETCH_SENT;
    consumer->fetches_flying++;
    consumer_effect(effects, CONSUMER_EFFECT_SUBMIT_FETCH, slot, 0);
}

/* True if the step was asked for. */
static bool fetch_next(struct consumer *consumer, struct consumer_effects *effects)
{
    const struct consumer_options *options = &consumer->options;
    const struct manifest *known = consumer->chain.known;
    uint64_t step = consumer->next_fetch;
    if (known == NULL || step >= known->held.next_step || step < known->held.first_step ||
        step - consumer->cursor == options->fetches_max ||
        (options->steps_max != 0 && step - consumer->membership.first_step >= options->steps_max))
        return false;
    const struct manifest_entry *entry = manifest_entry_find(known, step);
    assert(entry != NULL);
    uint64_t offset;
    uint64_t bytes;
    if (!range_make(consumer, step, entry, &offset, &bytes))
        return false;
    uint64_t window = consumer->window_bytes;
    if (window > 0 &&
        (window >= options->prefetch_bytes || bytes > options->prefetch_bytes - window))
        return false;
    struct fetch *fetch = fetch_of(consumer, step);
    assert(fetch->state == FETCH_FREE);
    fetch->delivery = (struct consumer_delivery){.step = step, .entry = *entry};
    fetch->retries = 0;
    fetch->damaged = 0;
    fetch->wire_bytes = bytes;
    fetch->op.verb = STORE_GET;
    fetch->op.range_offset = offset;
    fetch->op.range_bytes = bytes;
    name_tgb(fetch->op.key, &entry->tgb);
    consumer->window_bytes += bytes;
    consumer->next_fetch++;
    send(consumer, slot_of(consumer, step), effects);
    return true;
}

/* ---- what came ---- */

/* What is wrong with it; NULL: nothing. */
static const char *examine(const struct consumer *consumer, struct fetch *fetch)
{
    const struct body *result = &fetch->op.result;
    const struct manifest_entry *entry = &fetch->delivery.entry;
    fetch->slice = (struct tgb_slice){.coding = TGB_PLAIN};
    if ((result->kind != BODY_BYTES && result->kind != BODY_LENGTH) ||
        result->bytes != fetch->wire_bytes)
        return "the object is shorter than its manifest says";
    if (result->kind == BODY_LENGTH)
        return NULL;
    if (consumer->options.slices == 0) {
        uint64_t checksum = digest_chain_slice(result->data, result->bytes);
        bool known = entry->tgb_checksum != 0;
        fetch->delivery.slice_checksum = checksum;
        return known && checksum != entry->tgb_checksum ? tgb_error_text(TGB_BAD_CHECKSUM) : NULL;
    }
    struct tgb_place place = place_of(consumer, fetch);
    const uint8_t *stored;
    enum tgb_error error =
        tgb_slice_open(result->data, result->bytes, &place, &fetch->slice, &stored);
    return error == TGB_OK ? NULL : tgb_error_text(error);
}

/* Makes the raw slice of what was examined. What is wrong with it; NULL: nothing. */
static const char *prepare(const struct consumer *consumer, struct fetch *fetch)
{
    const struct body *result = &fetch->op.result;
    struct body *slice = &fetch->delivery.slice;
    *slice = *result;
    const uint32_t header = consumer->options.slices > 0 ? TGB_SLICE_HEADER_BYTES : 0;
    if (result->kind == BODY_LENGTH) {
        slice->bytes -= header;
        fetch->delivery.slice_checksum =
            digest_chain_length(&fetch->delivery.entry.tgb, consumer->options.slice, slice->bytes);
        return NULL;
    }
    if (consumer->options.slices == 0)
        return NULL; /* as it came; the checksum that it was examined by is the digest's, too */
    slice->data += header;
    slice->bytes = fetch->slice.raw_bytes;
    if (fetch->slice.coding == TGB_ZSTD) {
        if (slice->bytes > CONSUMER_RAW_BYTES_MAX)
            return "it claims to decompress to more than 1 GiB";
        fetch->expanded = malloc(slice->bytes > 0 ? slice->bytes : 1);
        assert(fetch->expanded != NULL);
        enum tgb_error error = tgb_slice_expand(&fetch->slice, slice->data, fetch->expanded);
        if (error != TGB_OK)
            return tgb_error_text(error);
        slice->data = fetch->expanded;
    }
    fetch->delivery.slice_checksum = digest_chain_slice(slice->data, slice->bytes);
    return NULL;
}

static void describe(const struct consumer *consumer, const struct fetch *fetch, const char *what,
                     char text[CONSUMER_END_TEXT_MAX])
{
    snprintf(text, CONSUMER_END_TEXT_MAX,
             "%s (step %" PRIu64 "), slice %" PRIu32 ", bytes %" PRIu64 "..%" PRIu64
             ": asked %" PRIu32 " times: %s",
             fetch->op.key, fetch->delivery.step, consumer->options.slice, fetch->op.range_offset,
             fetch->op.range_offset + fetch->wire_bytes - 1, fetch->retries, what);
}

/* Once more, after a back-off; too often: the consumer ends. */
static void retry(struct consumer *consumer, int64_t now_ns, struct fetch *fetch,
                  enum consumer_end end, const char *what, struct consumer_effects *effects)
{
    const struct consumer_options *options = &consumer->options;
    char text[CONSUMER_END_TEXT_MAX];
    fetch->damaged += end == CONSUMER_CORRUPT;
    if (++fetch->retries > options->fetch_retries || fetch->damaged > CONSUMER_DAMAGED_MAX) {
        char advised[STORE_ERROR_MAX + 96];
        snprintf(advised, sizeof(advised), "%s; restore it, or start behind it, at step %" PRIu64,
                 what, fetch->delivery.step + 1);
        describe(consumer, fetch, end == CONSUMER_CORRUPT ? advised : what, text);
        consumer_stop(consumer, end, text);
        fetch_clear(fetch);
        return;
    }
    fetch_clear(fetch);
    consumer->counters.retried += end == CONSUMER_STORE_FAILED;
    consumer->counters.damaged += end == CONSUMER_CORRUPT;
    int64_t bound = backoff_bound_ns(options->retry_ns, options->retry_max_ns, fetch->retries);
    int64_t sleep_ns = (int64_t)((double)bound * random_unit(&consumer->options.random));
    fetch->state = FETCH_WAITING;
    consumer_effect(effects, CONSUMER_EFFECT_FETCH_TIMER, slot_of(consumer, fetch->delivery.step),
                    now_ns + sleep_ns);
}

static void on_refused(struct consumer *consumer, struct fetch *fetch)
{
    const struct store_op *op = &fetch->op;
    fetch->retries++;
    char text[CONSUMER_END_TEXT_MAX];
    describe(consumer, fetch, op->error[0] ? op->error : store_outcome_text(op->outcome), text);
    consumer_stop(consumer, CONSUMER_STORE_FAILED, text);
    fetch_clear(fetch);
}

void consumer_fetch_answer(struct consumer *consumer, int64_t now_ns, uint32_t slot,
                           struct consumer_effects *effects)
{
    struct fetch *fetch = &consumer->fetches[slot];
    assert(fetch->state == FETCH_SENT && consumer->fetches_flying > 0);
    consumer->fetches_flying--;
    fetch->state = FETCH_FREE;
    if (consumer->phase >= CONSUMER_STOPPING) {
        fetch_clear(fetch);
        return;
    }
    const char *damage;
    switch (fetch->op.outcome) {
    case STORE_OK:
        damage = examine(consumer, fetch);
        if (damage != NULL) {
            retry(consumer, now_ns, fetch, CONSUMER_CORRUPT, damage, effects);
            return;
        }
        fetch->state = FETCH_ARRIVED;
        fetch->delivery.ready_ns = now_ns;
        return;
    case STORE_NOT_FOUND:
        consumer->counters.missing++;
        fetch->state = FETCH_MISSING;
        store_op_release(&fetch->op);
        if (consumer->doubt == CONSUMER_DOUBT_NONE)
            consumer->doubt = CONSUMER_DOUBT_NUMBERS;
        return;
    case STORE_BUSY:
    case STORE_UNKNOWN:
    case STORE_THROTTLED:
        retry(consumer, now_ns, fetch, CONSUMER_STORE_FAILED,
              fetch->op.error[0] ? fetch->op.error : store_outcome_text(fetch->op.outcome),
              effects);
        return;
    case STORE_EXISTS:
    case STORE_FAILED:
    case STORE_OUTCOME_COUNT:
        break;
    }
    on_refused(consumer, fetch);
}

void consumer_fetch_timer(struct consumer *consumer, uint32_t slot,
                          struct consumer_effects *effects)
{
    if (consumer->phase == CONSUMER_RUNNING && consumer->fetches[slot].state == FETCH_WAITING)
        send(consumer, slot, effects);
}

/* ---- handing over ---- */

static void offer(struct consumer *consumer, int64_t now_ns, struct consumer_effects *effects)
{
    struct fetch *fetch = fetch_of(consumer, consumer->cursor);
    if (consumer->offered || fetch->state != FETCH_ARRIVED)
        return;
    assert(fetch->delivery.step == consumer->cursor);
    const char *damage = prepare(consumer, fetch);
    if (damage != NULL) {
        retry(consumer, now_ns, fetch, CONSUMER_CORRUPT, damage, effects);
        return;
    }
    consumer->offered = true;
    consumer_effect(effects, CONSUMER_EFFECT_READY, slot_of(consumer, consumer->cursor), 0);
}

void consumer_fetch_more(struct consumer *consumer, int64_t now_ns,
                         struct consumer_effects *effects)
{
    while (consumer->phase == CONSUMER_RUNNING && fetch_next(consumer, effects))
        continue;
    if (consumer->phase == CONSUMER_RUNNING)
        offer(consumer, now_ns, effects);
}

void consumer_fetch_take(struct consumer *consumer)
{
    assert(consumer->offered);
    struct fetch *fetch = fetch_of(consumer, consumer->cursor);
    assert(fetch->state == FETCH_ARRIVED && consumer->window_bytes >= fetch->wire_bytes);
    consumer->digest =
        digest_chain_next(consumer->digest, consumer->cursor, fetch->delivery.slice_checksum);
    consumer->counters.steps++;
    consumer->counters.slice_bytes += fetch->delivery.slice.bytes;
    consumer->window_bytes -= fetch->wire_bytes;
    fetch->state = FETCH_FREE;
    fetch_clear(fetch);
    consumer->offered = false;
    consumer->cursor++;
}

const struct fetch *consumer_fetch_missing(const struct consumer *consumer)
{
    for (uint64_t step = consumer->cursor; step < consumer->next_fetch; step++) {
        const struct fetch *fetch = &consumer->fetches[step % consumer->options.fetches_max];
        if (fetch->state == FETCH_MISSING)
            return fetch;
    }
    return NULL;
}

const struct consumer_delivery *consumer_delivery(const struct consumer *consumer)
{
    if (!consumer->offered)
        return NULL;
    return &consumer->fetches[consumer->cursor % consumer->options.fetches_max].delivery;
}
