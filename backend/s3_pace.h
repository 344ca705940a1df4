/* s3_pace.h - how fast a store may be asked: hold-off, retry budget, back-off. Pure.
 *
 * Hold-off: an answer that says "slow down" stops every request of the store for a while. In a row
 * the whiles double, up to S3_HOLD_MAX_NS; every answer that came to a request sent after the last
 * one takes a step back. Of the requests that were under way together only the first counts.
 *
 * Budget: a re-send takes a token. Tokens come with requests (S3_TOKENS_PER_REQUEST: a tenth more
 * load at most, however many fail) and with time (S3_TOKENS_PER_S), and are kept up to
 * S3_TOKENS_MAX. Ours; the budget is as in the AWS SDKs' "standard" mode. */
#ifndef BACKEND_S3_PACE_H
#define BACKEND_S3_PACE_H

#include <stdbool.h>

#include "core/base.h"
#include "core/random.h"

#define S3_HOLD_FIRST_NS (100 * NS_PER_MS)
/* Short enough for a run to be back within 10 s of a store that is. */
#define S3_HOLD_MAX_NS (5 * NS_PER_S)
#define S3_RETRY_AFTER_MAX_NS (30 * NS_PER_S) /* what a server asks for counts up to that */
#define S3_BACKOFF_FIRST_NS (50 * NS_PER_MS)
#define S3_BACKOFF_MAX_NS (5 * NS_PER_S)
#define S3_TOKENS_MAX 50.0
#define S3_TOKENS_PER_REQUEST 0.1
#define S3_TOKENS_PER_S 1.0

struct s3_pace {
    struct random_stream random;
    int64_t hold_began_ns; /* 0: never */
    int64_t hold_until_ns;
    uint32_t throttles; /* steps of the hold-off */
    double tokens;
    int64_t refilled_ns;
};

void s3_pace_init(struct s3_pace *pace, struct random_stream random, int64_t now_ns);

/* For each operation's first request. */
void s3_pace_request(struct s3_pace *pace);
/* Takes a token. False: there is none. */
MUST_USE bool s3_pace_resend(struct s3_pace *pace, int64_t now_ns);
/* How long to wait after so many failures of one operation; full jitter. */
int64_t s3_pace_backoff_ns(struct s3_pace *pace, uint32_t failures);

/* A request sent at `sent_ns` was answered "slow down". `retry_after_ns`: what the answer asks for;
 * negative: nothing. True: a new hold-off began. */
bool s3_pace_throttled(struct s3_pace *pace, int64_t now_ns, int64_t sent_ns,
                       int64_t retry_after_ns);
/* It was answered otherwise. */
void s3_pace_answered(struct s3_pace *pace, int64_t sent_ns);
static inline bool s3_pace_holds(const struct s3_pace *pace, int64_t now_ns)
{
    return now_ns < pace->hold_until_ns;
}

#endif
