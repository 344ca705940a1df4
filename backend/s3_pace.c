/* s3_pace.c - see s3_pace.h. */
#include "backend/s3_pace.h"

#include "core/backoff.h"

void s3_pace_init(struct s3_pace *pace, struct random_stream random, int64_t now_ns)
{
    *pace = (struct s3_pace){.random = random, .tokens = S3_TOKENS_MAX, .refilled_ns = now_ns};
}

static void add_tokens(struct s3_pace *pace, double tokens)
{
    pace->tokens += tokens;
    if (pace->tokens > S3_TOKENS_MAX)
        pace->tokens = S3_TOKENS_MAX;
}

void s3_pace_request(struct s3_pace *pace)
{
    add_tokens(pace, S3_TOKENS_PER_REQUEST);
}

bool s3_pace_resend(struct s3_pace *pace, int64_t now_ns)
{
    assert(now_ns >= pace->refilled_ns);
    add_tokens(pace, S3_TOKENS_PER_S * (double)(now_ns - pace->refilled_ns) / (double)NS_PER_S);
    pace->refilled_ns = now_ns;
    if (pace->tokens < 1)
        return false;
    pace->tokens -= 1;
    return true;
}

int64_t s3_pace_backoff_ns(struct s3_pace *pace, uint32_t failures)
{
    assert(failures >= 1);
    int64_t bound_ns = backoff_bound_ns(S3_BACKOFF_FIRST_NS, S3_BACKOFF_MAX_NS, failures);
    return (int64_t)((double)bound_ns * random_unit(&pace->random));
}

bool s3_pace_throttled(struct s3_pace *pace, int64_t now_ns, int64_t sent_ns,
                       int64_t retry_after_ns)
{
    int64_t asked_ns =
        retry_after_ns < S3_RETRY_AFTER_MAX_NS ? retry_after_ns : S3_RETRY_AFTER_MAX_NS;
    bool another = pace->hold_began_ns == 0 || sent_ns >= pace->hold_began_ns;
    int64_t hold_ns = 0;
    if (another) {
        pace->throttles++;
        int64_t bound_ns = backoff_bound_ns(S3_HOLD_FIRST_NS, S3_HOLD_MAX_NS, pace->throttles);
        /* At least half: all clients of the store come back spread, but none at once. */
        hold_ns = (int64_t)((double)bound_ns * (0.5 + 0.5 * random_unit(&pace->random)));
        pace->hold_began_ns = now_ns;
    }
    if (hold_ns < asked_ns)
        hold_ns = asked_ns;
    if (pace->hold_until_ns < now_ns + hold_ns)
        pace->hold_until_ns = now_ns + hold_ns;
    return another;
}

void s3_pace_answered(struct s3_pace *pace, int64_t sent_ns)
{
    if (pace->throttles > 0 && sent_ns >= pace->hold_began_ns)
        pace->throttles--;
}
