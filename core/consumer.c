/* consumer.c - a rank's life: its number, its checkpoints, its end. The paper's consumer (cursor,
 * watermark, replay); what is done in which order is ours (docs/data_plane.md). */
#include "core/consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/consumer_private.h"

const char *consumer_end_name(enum consumer_end end)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        CONSUMER_ENDS(X)
#undef X
    };
    assert(end < CONSUMER_END_COUNT);
    return names[end];
}

const char *consumer_end_text(enum consumer_end end)
{
    static const char *const texts[] = {
#define X(code, name, text) text,
        CONSUMER_ENDS(X)
#undef X
    };
    assert(end < CONSUMER_END_COUNT);
    return texts[end];
}

struct consumer *consumer_open(const struct consumer_options *options)
{
    assert(options->fetches_max > 0 && options->fetches_max <= CONSUMER_FETCHES_MAX);
    assert(options->slices == 0 || options->slice < options->slices);
    assert(options->lookahead > 0 && options->lookahead <= CONSUMER_ENTRIES_MAX / 2);
    assert(options->poll_min_ns > 0);
    assert(options->poll_max_ns >= options->poll_min_ns);
    assert(options->poll_smoothing > 0 && options->poll_early > 0);
    assert(options->poll_jitter >= 0 && options->poll_jitter <= 1);
    assert(options->checkpoints_kept > 0 && options->checkpoints_kept <= CHECKPOINTS_MAX);
    assert(options->membership.mode == MEMBERSHIP_RUN);
    struct consumer *consumer =
        calloc(1, sizeof(*consumer) + options->fetches_max * sizeof(consumer->fetches[0]));
    assert(consumer != NULL);
    consumer->options = *options;
    struct chain_reader_options chain = {.retry_ns = options->retry_ns,
                                         .retry_max_ns = options->retry_max_ns};
    membership_init(&consumer->membership, &options->membership, &options->checkpoints,
                    random_stream_make(options->random.key, 1));
    chain_reader_init(&consumer->chain, &chain, random_stream_make(options->random.key, 2));
    for (uint32_t i = 0; i < options->fetches_max; i++)
        store_op_init(&consumer->fetches[i].op);
    return consumer;
}

void consumer_close(struct consumer *consumer)
{
    for (uint32_t i = 0; i < consumer->options.fetches_max; i++)
        consumer_fetch_deinit(&consumer->fetches[i]);
    membership_deinit(&consumer->membership);
    chain_reader_deinit(&consumer->chain);
    free(consumer);
}

void consumer_effect(struct consumer_effects *effects, enum consumer_effect_kind kind,
                     uint32_t slot, int64_t at_ns)
{
    assert(effects->count < CONSUMER_EFFECTS_MAX);
    effects->items[effects->count++] =
        (struct consumer_effect){.kind = kind, .slot = slot, .at_ns = at_ns};
}

void consumer_stop(struct consumer *consumer, enum consumer_end end, const char *text)
{
    if (consumer->phase >= CONSUMER_STOPPING)
        return;
    consumer->phase = CONSUMER_STOPPING;
    consumer->end = end;
    snprintf(consumer->end_text, sizeof(consumer->end_text), "%s", text);
}

void consumer_count_answer(struct consumer *consumer, enum consumer_request request,
                           const struct store_op *op)
{
    consumer->counters.requests[request]++;
    consumer->counters.bytes[request] += op->result.bytes;
}

/* ---- the membership machine ---- */

static void begin_running(struct consumer *consumer, int64_t now_ns,
                          struct consumer_effects *effects)
{
    const struct checkpoint_set *kept = &consumer->membership.checkpoints;
    consumer->phase = CONSUMER_RUNNING;
    consumer->cursor = consumer->membership.first_step;
    consumer->next_fetch = consumer->cursor;
    if (kept->count > 0) {
        consumer->digest = kept->items[kept->count - 1].digest;
        consumer->saved_step = kept->items[kept->count - 1].step;
        assert(consumer->saved_step == consumer->cursor);
    }
    consumer->poll_at_ns = now_ns;
    consumer_effect(effects, CONSUMER_EFFECT_RUNNING, 0, 0);
}

static void on_control_done(struct consumer *consumer, struct consumer_effects *effects)
{
    const struct checkpoint_set *kept = &consumer->membership.checkpoints;
    enum consumer_control control = consumer->control;
    consumer->control = CONSUMER_CONTROL_NONE;
    switch (control) {
    case CONSUMER_CONTROL_NONE:
        break;
    case CONSUMER_CONTROL_CHECKPOINT:
        consumer->saved_step = kept->items[kept->count - 1].step;
        consumer->counters.checkpoints++;
        consumer_effect(effects, CONSUMER_EFFECT_CHECKPOINTED, 0, 0);
        return;
    case CONSUMER_CONTROL_CHECK:
        consumer->doubt = CONSUMER_DOUBT_CHAIN;
        consumer->doubt_reread = false;
        return;
    }
    assert(control != CONSUMER_CONTROL_NONE);
}

static void on_superseded(struct consumer *consumer, enum consumer_end end)
{
    const struct membership *membership = &consumer->membership;
    char text[CONSUMER_END_TEXT_MAX];
    snprintf(text, sizeof(text),
             "consumer %" PRIu32 ": %s (its number is %" PRIu64 ", there is a number %" PRIu64 ")",
             membership->options.consumer, consumer_end_text(end), membership->number,
             membership->view.highest);
    consumer_stop(consumer, end, text);
}

static void on_save_refused(struct consumer *consumer)
{
    char text[CONSUMER_END_TEXT_MAX];
    snprintf(text, sizeof(text),
             "consumer %" PRIu32 ": %s (its number is %" PRIu64
             "; a higher one has saved its checkpoints in the same place)",
             consumer->membership.options.consumer, consumer_end_text(CONSUMER_SUPERSEDED),
             consumer->membership.number);
    consumer_stop(consumer, CONSUMER_SUPERSEDED, text);
}

/* Whether what is to be sent claims a first step that only floors and intents say, and that was not
 * held against the chain yet. One beyond the chain would let reclaimers give up all of it, so it
 * must not even be published. */
static bool claims_marked_step(const struct consumer *consumer)
{
    const struct membership *membership = &consumer->membership;
    bool claims = membership->phase == MEMBERSHIP_TAKING || membership->phase == MEMBERSHIP_VALUING;
    return consumer->phase == CONSUMER_STARTING && claims && membership->found.count == 0 &&
           membership->options.start_step == 0 && membership->publishing > 1 &&
           membership->publishing > consumer->borne_out_step;
}

void consumer_send_held(struct consumer *consumer, struct consumer_effects *effects)
{
    assert(consumer->control_state == CONSUMER_MACHINE_HELD);
    consumer->control_state = CONSUMER_MACHINE_FLYING;
    consumer_effect(effects, CONSUMER_EFFECT_SUBMIT_CONTROL, 0, 0);
}

static void submit_control(struct consumer *consumer, int64_t now_ns,
                           struct consumer_effects *effects)
{
    consumer->control_state = CONSUMER_MACHINE_HELD;
    if (claims_marked_step(consumer))
        consumer_chain_judge_start(consumer, now_ns, effects);
    else
        consumer_send_held(consumer, effects);
}

static void perform_control(struct consumer *consumer, int64_t now_ns,
                            struct membership_effect effect, struct consumer_effects *effects)
{
    consumer->control_state = CONSUMER_MACHINE_IDLE;
    switch (effect.kind) {
    case MEMBERSHIP_SUBMIT:
        submit_control(consumer, now_ns, effects);
        return;
    case MEMBERSHIP_SLEEP:
        consumer->control_state = CONSUMER_MACHINE_SLEEPING;
        consumer_effect(effects, CONSUMER_EFFECT_CONTROL_TIMER, 0, effect.until_ns);
        return;
    case MEMBERSHIP_SAVE:
        consumer->control_state = CONSUMER_MACHINE_SAVING;
        consumer_effect(effects, CONSUMER_EFFECT_SAVE, 0, 0);
        return;
    case MEMBERSHIP_ALLOWED:
        begin_running(consumer, now_ns, effects);
        return;
    case MEMBERSHIP_DONE:
        on_control_done(consumer, effects);
        return;
    case MEMBERSHIP_REFUSED:
        consumer_stop(consumer, CONSUMER_REFUSED, consumer->membership.error);
        return;
    case MEMBERSHIP_SUPERSEDED:
        on_superseded(consumer, CONSUMER_SUPERSEDED);
        return;
    case MEMBERSHIP_ENDED:
        on_superseded(consumer, CONSUMER_RETIRED);
        return;
    case MEMBERSHIP_FAILED:
        consumer_stop(consumer, CONSUMER_STORE_FAILED, consumer->membership.error);
        return;
    }
}

static void on_control_answer(struct consumer *consumer, int64_t now_ns,
                              struct consumer_effects *effects)
{
    assert(consumer->control_state == CONSUMER_MACHINE_FLYING);
    consumer_count_answer(consumer, CONSUMER_REQUEST_CONTROL, &consumer->membership.op);
    if (consumer->phase >= CONSUMER_STOPPING) {
        consumer->control_state = CONSUMER_MACHINE_IDLE;
        store_op_release(&consumer->membership.op);
        return;
    }
    perform_control(consumer, now_ns, membership_answer(&consumer->membership, now_ns), effects);
}

static void on_control_timer(struct consumer *consumer, int64_t now_ns,
                             struct consumer_effects *effects)
{
    if (consumer->phase >= CONSUMER_STOPPING)
        return;
    assert(consumer->control_state == CONSUMER_MACHINE_SLEEPING);
    perform_control(consumer, now_ns, membership_wake(&consumer->membership), effects);
}

/* ---- checkpoints ---- */

static void on_checkpoint(struct consumer *consumer)
{
    if (consumer->phase >= CONSUMER_STOPPING)
        return;
    assert(consumer->phase == CONSUMER_RUNNING);
    struct checkpoint checkpoint = {.step = consumer->cursor,
                                    .number = consumer->membership.number,
                                    .digest = consumer->digest};
    checkpoint_add(&consumer->waiting, &checkpoint, consumer->options.checkpoints_kept);
}

static void begin_save(struct consumer *consumer, struct consumer_effects *effects)
{
    for (uint32_t i = 0; i < consumer->waiting.count; i++)
        checkpoint_add(&consumer->membership.checkpoints, &consumer->waiting.items[i],
                       consumer->options.checkpoints_kept);
    consumer->waiting.count = 0;
    consumer->control = CONSUMER_CONTROL_CHECKPOINT;
    consumer->control_state = CONSUMER_MACHINE_SAVING;
    consumer_effect(effects, CONSUMER_EFFECT_SAVE, 0, 0);
}

static void on_saved(struct consumer *consumer, int64_t now_ns, struct consumer_effects *effects)
{
    if (consumer->phase >= CONSUMER_STOPPING)
        return;
    assert(consumer->control_state == CONSUMER_MACHINE_SAVING);
    struct membership *membership = &consumer->membership;
    struct membership_effect effect = consumer->phase == CONSUMER_STARTING
                                          ? membership_saved(membership)
                                          : membership_publish(membership);
    perform_control(consumer, now_ns, effect, effects);
}

/* ---- what is next ---- */

static void next_control(struct consumer *consumer, int64_t now_ns,
                         struct consumer_effects *effects)
{
    if (consumer->control_state != CONSUMER_MACHINE_IDLE)
        return;
    if (consumer->doubt == CONSUMER_DOUBT_NUMBERS) {
        consumer->control = CONSUMER_CONTROL_CHECK;
        perform_control(consumer, now_ns, membership_check(&consumer->membership), effects);
    } else if (consumer->waiting.count > 0) {
        begin_save(consumer, effects);
    }
}

/* Begins whatever the state now allows; ends when nothing is in flight. */
static void progress(struct consumer *consumer, int64_t now_ns, struct consumer_effects *effects)
{
    if (consumer->phase == CONSUMER_RUNNING) {
        next_control(consumer, now_ns, effects);
        consumer_chain_next(consumer, now_ns, effects);
        consumer_fetch_more(consumer, now_ns, effects);
    }
    if (consumer->phase == CONSUMER_STOPPING &&
        consumer->control_state != CONSUMER_MACHINE_FLYING &&
        consumer->chain_state != CONSUMER_MACHINE_FLYING && consumer->fetches_flying == 0) {
        consumer->phase = CONSUMER_DONE;
        consumer_effect(effects, CONSUMER_EFFECT_ENDED, 0, 0);
    }
}

void consumer_step(struct consumer *consumer, int64_t now_ns, struct consumer_event event,
                   struct consumer_effects *effects)
{
    effects->count = 0;
    switch (event.kind) {
    case CONSUMER_START:
        assert(consumer->phase == CONSUMER_NEW);
        consumer->phase = CONSUMER_STARTING;
        perform_control(consumer, now_ns, membership_start(&consumer->membership), effects);
        break;
    case CONSUMER_STOP:
        consumer_stop(consumer, CONSUMER_STOPPED, consumer_end_text(CONSUMER_STOPPED));
        break;
    case CONSUMER_CONTROL_ANSWER:
        on_control_answer(consumer, now_ns, effects);
        break;
    case CONSUMER_CONTROL_TIMER:
        on_control_timer(consumer, now_ns, effects);
        break;
    case CONSUMER_CHAIN_ANSWER:
        consumer_chain_answer(consumer, now_ns, effects);
        break;
    case CONSUMER_CHAIN_TIMER:
        consumer_chain_timer(consumer, now_ns, effects);
        break;
    case CONSUMER_FETCH_ANSWER:
        consumer_count_answer(consumer, CONSUMER_REQUEST_SLICE, &consumer->fetches[event.slot].op);
        consumer_fetch_answer(consumer, now_ns, event.slot, effects);
        break;
    case CONSUMER_FETCH_TIMER:
        consumer_fetch_timer(consumer, event.slot, effects);
        break;
    case CONSUMER_SAVED:
        on_saved(consumer, now_ns, effects);
        break;
    case CONSUMER_SAVE_REFUSED:
        on_save_refused(consumer);
        break;
    case CONSUMER_TAKE:
        consumer_fetch_take(consumer);
        break;
    case CONSUMER_CHECKPOINT:
        on_checkpoint(consumer);
        break;
    }
    progress(consumer, now_ns, effects);
}
