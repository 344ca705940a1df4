/* hostile_reply.h - an answer as bytes, honest or as a rule spoils it. */
#ifndef TESTS_HOSTILE_HOSTILE_REPLY_H
#define TESTS_HOSTILE_HOSTILE_REPLY_H

#include "tests/hostile/hostile_answer.h"

/* What an answer says beside its own. All borrowed. */
struct hostile_reply_frame {
    const struct hostile_rule *rule; /* NULL: honest */
    const char *target;              /* for a redirect */
    int64_t clock_ahead_ns;
    uint64_t number; /* makes the request id */
    bool closing;
};

/* Adds status line, headers and body. */
void hostile_reply_add(struct hostile_text *bytes, const struct hostile_reply_frame *frame,
                       const struct hostile_answer *answer);

#endif
