/* token_bucket.h - a request rate in virtual time: holds what a second brings, at least one
 * request. Times are nanoseconds and never go back. */
#ifndef SIM_TOKEN_BUCKET_H
#define SIM_TOKEN_BUCKET_H

#include <stdbool.h>

#include "core/base.h"

struct token_bucket {
    double tokens_per_ns; /* 0: unlimited */
    double tokens_max;
    double tokens;
    int64_t filled_ns;
};

static inline void token_bucket_init(struct token_bucket *bucket, double per_s)
{
    *bucket = (struct token_bucket){
        .tokens_per_ns = per_s / (double)NS_PER_S,
        .tokens_max = per_s > 1.0 ? per_s : 1.0,
        .tokens = per_s > 1.0 ? per_s : 1.0,
    };
}

/* False: the rate is used up. */
static inline bool token_bucket_take(struct token_bucket *bucket, int64_t now_ns)
{
    if (bucket->tokens_per_ns <= 0.0)
        return true;
    double tokens = bucket->tokens + (double)(now_ns - bucket->filled_ns) * bucket->tokens_per_ns;
    bucket->tokens = tokens < bucket->tokens_max ? tokens : bucket->tokens_max;
    bucket->filled_ns = now_ns;
    if (bucket->tokens < 1.0)
        return false;
    bucket->tokens -= 1.0;
    return true;
}

#endif
