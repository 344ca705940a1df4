/* consumer_chain.c - when a consumer looks at the chain, and what it means that something is
 * missing. Pace and doubts are ours (docs/data_plane.md, "polling" and "what is missing"). */
#include <inttypes.h>
#include <stdio.h>

#include "core/backoff.h"
#include "core/consumer_private.h"
#include "core/mark.h"

/* ---- how often ---- */

static uint64_t known_ahead(const struct consumer *consumer)
{
    const struct manifest *known = consumer->chain.known;
    if (known == NULL || known->held.next_step <= consumer->cursor)
        return 0;
    return known->held.next_step - consumer->cursor;
}

static int64_t within_polls(const struct consumer *consumer, int64_t ns)
{
    if (ns < consumer->options.poll_min_ns)
        return consumer->options.poll_min_ns;
    return ns < consumer->options.poll_max_ns ? ns : consumer->options.poll_max_ns;
}

/* The next news is due one pace after the last. A little before that it is looked for, or the phase
 * at which it comes would never be found; and then again, ever more rarely. */
static int64_t poll_wait_ns(struct consumer *consumer)
{
    int64_t part_ns = consumer->pace_ns / consumer->options.poll_early;
    int64_t wait_ns = consumer->pace_ns - part_ns;
    if (consumer->polls_in_vain > 0)
        wait_ns = backoff_bound_ns(within_polls(consumer, part_ns), consumer->options.poll_max_ns,
                                   consumer->polls_in_vain);
    double factor = random_factor(&consumer->options.random, consumer->options.poll_jitter);
    return (int64_t)((double)within_polls(consumer, wait_ns) * factor);
}

static void learn_pace(struct consumer *consumer, int64_t now_ns)
{
    uint64_t version = consumer->chain.known->version;
    if (version == consumer->news_version)
        return; /* more of the same one was read */
    if (consumer->news_version > 0) {
        int64_t versions = (int64_t)(version - consumer->news_version);
        /* Bounded, so that a clock that jumps does not spoil it. */
        int64_t sample_ns = within_polls(consumer, (now_ns - consumer->news_ns) / versions);
        consumer->pace_ns += consumer->pace_ns == 0 ? sample_ns
                                                    : (sample_ns - consumer->pace_ns) /
                                                          consumer->options.poll_smoothing;
    }
    consumer->news_version = version;
    consumer->news_ns = now_ns;
}

/* ---- what is missing ---- */

static void end_below_floor(struct consumer *consumer)
{
    const struct manifest *known = consumer->chain.known;
    uint64_t floor = consumer->chain.seen.floor.step;
    if (floor < known->first_step)
        floor = known->first_step;
    char text[CONSUMER_END_TEXT_MAX];
    snprintf(text, sizeof(text),
             "consumer %" PRIu32 ": step %" PRIu64 " was given up: the floor is at step %" PRIu64
             "; start without its checkpoints, at that step or later",
             consumer->membership.options.consumer, consumer->cursor, floor);
    consumer_stop(consumer, CONSUMER_BELOW_FLOOR, text);
}

/* A floor above what the chain holds says nothing yet: it is from a version that was not read, or
 * nobody's. */
static bool below_floor(const struct consumer *consumer)
{
    const struct manifest *known = consumer->chain.known;
    uint64_t floor_step = consumer->chain.seen.floor.step;
    if (known == NULL)
        return false;
    return known->first_step > consumer->cursor ||
           (floor_step > consumer->cursor && floor_step <= known->next_step);
}

/* The number is still mine and the chain was read anew: what is missing, and why. */
static void judge_doubt(struct consumer *consumer)
{
    const struct fetch *missing = consumer_fetch_missing(consumer);
    consumer->doubt = CONSUMER_DOUBT_NONE;
    if (below_floor(consumer) ||
        (missing != NULL && consumer->chain.seen.floor.step > consumer->cursor)) {
        end_below_floor(consumer);
        return;
    }
    if (missing == NULL)
        return; /* the steps below the floor had arrived, and were taken meanwhile */
    char text[CONSUMER_END_TEXT_MAX];
    snprintf(text, sizeof(text),
             "%s (step %" PRIu64 ") is named by version %" PRIu64
             " and is not there: was it deleted by hand? Restore it, or start behind it, at step "
             "%" PRIu64,
             missing->op.key, missing->delivery.step, consumer->chain.known->version,
             missing->delivery.step + 1);
    consumer_stop(consumer, CONSUMER_LOST, text);
}

/* A checkpoint's place must lie in the chain that it was made on. */
static bool of_this_chain(struct consumer *consumer)
{
    const struct manifest *known = consumer->chain.known;
    uint64_t next_step = known != NULL ? known->next_step : 1;
    if (consumer->saved_step <= next_step)
        return true;
    char text[CONSUMER_END_TEXT_MAX];
    snprintf(text, sizeof(text),
             "consumer %" PRIu32 ": its checkpoint is at step %" PRIu64
             ", and the chain ends before step %" PRIu64 ": is it of another run?",
             consumer->membership.options.consumer, consumer->saved_step, next_step);
    consumer_stop(consumer, CONSUMER_CORRUPT, text);
    return false;
}

/* The chain was read after the mark that gives the first step. */
static void judge_start(struct consumer *consumer, struct consumer_effects *effects)
{
    const struct membership *membership = &consumer->membership;
    const struct manifest *known = consumer->chain.known;
    uint64_t step = membership->publishing;
    /* The intent was asked for last, and is not heeded where the floor is above it. */
    struct mark mark = {.kind = membership->marked == step ? MARK_INTENT : MARK_FLOOR,
                        .step = step};
    char text[MARK_TEXT_MAX];
    if (!mark_borne_out(mark, known != NULL ? known->next_step : 1, text)) {
        consumer_stop(consumer, CONSUMER_CORRUPT, text);
        return;
    }
    consumer->borne_out_step = step;
    consumer_send_held(consumer, effects);
}

/* ---- the machine ---- */

static void on_read(struct consumer *consumer, int64_t now_ns, enum chain_effect_kind kind,
                    struct consumer_effects *effects)
{
    bool news = kind == CHAIN_CHANGED;
    consumer->counters.polls++;
    consumer->counters.polls_idle += !news;
    consumer->polls_in_vain = news ? 0 : consumer->polls_in_vain + 1;
    if (news)
        learn_pace(consumer, now_ns);
    consumer->poll_at_ns = now_ns + poll_wait_ns(consumer);
    if (consumer->phase == CONSUMER_STARTING) {
        judge_start(consumer, effects);
        return;
    }
    if (!of_this_chain(consumer))
        return;
    if (consumer->doubt == CONSUMER_DOUBT_CHAIN && consumer->doubt_reread)
        judge_doubt(consumer);
    else if (consumer->doubt == CONSUMER_DOUBT_NONE && below_floor(consumer))
        consumer->doubt = CONSUMER_DOUBT_NUMBERS;
}

static void perform_chain(struct consumer *consumer, int64_t now_ns, struct chain_effect effect,
                          struct consumer_effects *effects)
{
    consumer->chain_state = CONSUMER_MACHINE_IDLE;
    switch (effect.kind) {
    case CHAIN_SUBMIT:
        consumer->chain_state = CONSUMER_MACHINE_FLYING;
        consumer_effect(effects, CONSUMER_EFFECT_SUBMIT_CHAIN, 0, 0);
        return;
    case CHAIN_SLEEP:
        consumer->chain_state = CONSUMER_MACHINE_SLEEPING;
        consumer_effect(effects, CONSUMER_EFFECT_CHAIN_TIMER, 0, effect.until_ns);
        return;
    case CHAIN_CHANGED:
    case CHAIN_UNCHANGED:
    case CHAIN_EMPTY:
        on_read(consumer, now_ns, effect.kind, effects);
        return;
    case CHAIN_FAILED:
        consumer_stop(consumer,
                      consumer->chain.failure == CHAIN_DAMAGED ? CONSUMER_CORRUPT
                                                               : CONSUMER_STORE_FAILED,
                      consumer->chain.error);
        return;
    }
}

static void begin_read(struct consumer *consumer, int64_t now_ns, struct consumer_effects *effects)
{
    uint64_t first =
        consumer->phase == CONSUMER_STARTING ? consumer->membership.first_step : consumer->cursor;
    consumer->poll_armed = false;
    consumer->chain.wanted =
        (struct manifest_part){.first_step = first, .next_step = first + CONSUMER_ENTRIES_MAX};
    perform_chain(consumer, now_ns, chain_reader_begin(&consumer->chain), effects);
}

void consumer_chain_judge_start(struct consumer *consumer, int64_t now_ns,
                                struct consumer_effects *effects)
{
    assert(consumer->chain_state == CONSUMER_MACHINE_IDLE);
    begin_read(consumer, now_ns, effects);
}

void consumer_chain_answer(struct consumer *consumer, int64_t now_ns,
                           struct consumer_effects *effects)
{
    assert(consumer->chain_state == CONSUMER_MACHINE_FLYING);
    consumer_count_answer(consumer, CONSUMER_REQUEST_CHAIN, &consumer->chain.op);
    if (consumer->phase >= CONSUMER_STOPPING) {
        consumer->chain_state = CONSUMER_MACHINE_IDLE;
        store_op_release(&consumer->chain.op);
        return;
    }
    perform_chain(consumer, now_ns, chain_reader_answer(&consumer->chain, now_ns), effects);
}

/* Of a read in progress, or of the next one: then it begins in consumer_chain_next. */
void consumer_chain_timer(struct consumer *consumer, int64_t now_ns,
                          struct consumer_effects *effects)
{
    if (consumer->poll_armed)
        consumer->poll_at_ns = now_ns; /* it is over, whatever the clock says: it may have jumped */
    consumer->poll_armed = false;
    if (consumer->phase < CONSUMER_STOPPING && consumer->chain_state == CONSUMER_MACHINE_SLEEPING)
        perform_chain(consumer, now_ns, chain_reader_wake(&consumer->chain), effects);
}

void consumer_chain_next(struct consumer *consumer, int64_t now_ns,
                         struct consumer_effects *effects)
{
    if (consumer->chain_state != CONSUMER_MACHINE_IDLE)
        return;
    if (consumer->doubt == CONSUMER_DOUBT_CHAIN) {
        consumer->doubt_reread = true;
        begin_read(consumer, now_ns, effects);
        return;
    }
    if (known_ahead(consumer) >= consumer->options.lookahead || consumer->poll_armed)
        return;
    if (now_ns >= consumer->poll_at_ns) {
        begin_read(consumer, now_ns, effects);
        return;
    }
    consumer->poll_armed = true;
    consumer_effect(effects, CONSUMER_EFFECT_CHAIN_TIMER, 0, consumer->poll_at_ns);
}
