/* consumer_fetch.h - a consumer's window: slices asked for ahead of time, examined, and handed over
 * in order. Part of consumer.c, not of the public interface. */
#ifndef CORE_CONSUMER_FETCH_H
#define CORE_CONSUMER_FETCH_H

#include "core/consumer.h"

/* Shared with consumer.c: adds an effect; ends the consumer, with a text or with the end's own. */
void consumer_effect(struct consumer_effects *effects, enum consumer_effect_kind kind,
                     uint32_t slot, int64_t at_ns);
void consumer_stop(struct consumer *consumer, enum consumer_end end, const char *text);

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
