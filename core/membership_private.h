/* membership_private.h - what membership.c, which decides, and membership_request.c, which asks,
 * share. Not for others. */
#ifndef CORE_MEMBERSHIP_PRIVATE_H
#define CORE_MEMBERSHIP_PRIVATE_H

#include "core/membership.h"

struct membership_effect membership_end(struct membership *membership,
                                        enum membership_effect_kind kind);
struct membership_effect membership_fail(struct membership *membership, const char *text);

/* Each fills the operation, and returns SUBMIT. */

/* Lists the own keys after those of the number before `number`. */
struct membership_effect membership_list_own(struct membership *membership,
                                             enum membership_phase phase, uint64_t number);
/* Lists floors, or intents: the highest is among the first. */
struct membership_effect membership_list_marks(struct membership *membership,
                                               enum membership_phase phase, const char *prefix);
struct membership_effect membership_send_number(struct membership *membership, uint64_t number);
struct membership_effect membership_read_number(struct membership *membership);
struct membership_effect membership_put_empty(struct membership *membership,
                                              enum membership_phase phase, enum watermark_part part,
                                              uint64_t step);
/* `publishing`, which is above what is published. */
struct membership_effect membership_put_value(struct membership *membership);
/* Deletes `outdated`. */
struct membership_effect membership_send_sweep(struct membership *membership);

/* An answer that says nothing about the store's content: the same request again, whatever became of
 * it; true if *effect follows. All writes here may be repeated: a number is judged by its body. */
bool membership_unanswered(struct membership *membership, int64_t now_ns,
                           struct membership_effect *effect);
/* One page of own keys. True: that was all; otherwise *effect follows. */
bool membership_numbers_read(struct membership *membership, struct membership_effect *effect);
/* One page of floors or intents. True: the highest step is in `marked`, 0 if there is none. What is
 * no mark is passed over: it may sort first. */
bool membership_marks_read(struct membership *membership, struct membership_effect *effect);

#endif
