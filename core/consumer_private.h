/* consumer_private.h - what consumer.c shares with its parts: consumer_chain.c, which follows the
 * chain, and consumer_fetch.c, which fetches slices. Not for others. */
#ifndef CORE_CONSUMER_PRIVATE_H
#define CORE_CONSUMER_PRIVATE_H

#include "core/consumer.h"

/* ---- consumer.c ---- */

void consumer_effect(struct consumer_effects *effects, enum consumer_effect_kind kind,
                     uint32_t slot, int64_t at_ns);
/* Begins to end; later calls change nothing. The text is copied. */
void consumer_stop(struct consumer *consumer, enum consumer_end end, const char *text);
/* Before the machine consumes the answer. */
void consumer_count_answer(struct consumer *consumer, enum consumer_request request,
                           const struct store_op *op);

/* The held operation of the membership is sent after all. */
void consumer_send_held(struct consumer *consumer, struct consumer_effects *effects);

/* ---- consumer_chain.c ---- */

/* Reads the chain for the first step that floors or intents gave: then the held operation is sent,
 * or the consumer ends. */
void consumer_chain_judge_start(struct consumer *consumer, int64_t now_ns,
                                struct consumer_effects *effects);
/* Begins a read if one is due, or sets the timer for it. */
void consumer_chain_next(struct consumer *consumer, int64_t now_ns,
                         struct consumer_effects *effects);
void consumer_chain_answer(struct consumer *consumer, int64_t now_ns,
                           struct consumer_effects *effects);
void consumer_chain_timer(struct consumer *consumer, int64_t now_ns,
                          struct consumer_effects *effects);

/* ---- consumer_fetch.c ---- */

/* Asks for as many further steps as the window holds, and offers the step at the cursor if it has
 * arrived. */
void consumer_fetch_more(struct consumer *consumer, int64_t now_ns,
                         struct consumer_effects *effects);
void consumer_fetch_answer(struct consumer *consumer, int64_t now_ns, uint32_t slot,
                           struct consumer_effects *effects);
void consumer_fetch_timer(struct consumer *consumer, uint32_t slot,
                          struct consumer_effects *effects);
/* The step at the cursor was used. */
void consumer_fetch_take(struct consumer *consumer);
/* The lowest step that was answered 404; NULL: none. */
const struct fetch *consumer_fetch_missing(const struct consumer *consumer);
void consumer_fetch_deinit(struct fetch *fetch);

#endif
