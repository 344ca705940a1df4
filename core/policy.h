/* policy.h - the third seam: when to try next.
 *
 * A policy sees every decided attempt (won or lost; the fencing attempt included) and answers with
 * the gap until the next one. It never sees re-sends, 409s or 503s. Jitter and clamps are applied
 * by the producer, not by the policy. To add one: write core/policy_<name>.c and add its row to the
 * table in core/policy.c; its parameters become config keys `policy.<name>.<parameter>` by
 * themselves. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/base.h"

#define POLICY_PARAMETERS_MAX 16
#define POLICY_STATE_BYTES 384

enum attempt_outcome {
    ATTEMPT_WON,
    ATTEMPT_LOST,
};

/* One decided attempt, as measured by the producer that made it. */
struct attempt {
    enum attempt_outcome outcome;
    int64_t ended_ns;          /* now */
    int64_t tau_ns;            /* first request to decision (the paper's attempt time) */
    int64_t window_ns;         /* w: from sending the request that found the newest version to the
                                  create's answer */
    int64_t since_last_ns;     /* end of the previous attempt to this end; 0 for the first */
    int64_t gap_ns;            /* gap in force before it: the policy's own within the producer's
                                  clamps, before jitter; 0 for the first */
    uint64_t manifest_bytes;   /* size of the newest manifest known now */
    uint64_t foreign_versions; /* that others committed since my previous attempt ended */
    uint64_t retries;          /* re-sends, back-offs, failed validations within it: its times say
                                  little about an undisturbed attempt */
    uint32_t producers_active; /* N: seen active in the manifest, me included; at least 1 */
    double draw;               /* uniform in [0, 1), new each time and from a stream of its own: a
                                  policy has no other randomness */
};

enum parameter_unit {
    PARAMETER_DURATION, /* seconds in `values`; written as 10s, 250ms, 5h in a config */
    PARAMETER_RATIO,    /* 0..1 typically; written as 0.037 or 3.7% */
    PARAMETER_NUMBER,
    PARAMETER_COUNT,  /* a whole number, at least 0 */
    PARAMETER_CHOICE, /* index into `choices` */
};

struct policy_parameter {
    const char *name;
    enum parameter_unit unit;
    double value_default;
    double value_min;
    double value_max;
    const char *choices; /* PARAMETER_CHOICE: names separated by '|' */
    const char *help;    /* one line; starts with "ASSUMED: " where the paper leaves it open */
};

struct policy_state {
    _Alignas(16) uint8_t bytes[POLICY_STATE_BYTES];
};

struct policy_kind {
    const char *name;
    const char *help;
    struct policy_parameter parameters[POLICY_PARAMETERS_MAX]; /* ends at a NULL name */
    /* Fills the zeroed state. `values` has one value per parameter. */
    void (*init)(struct policy_state *state, const double *values);
    void (*on_attempt)(struct policy_state *state, const struct attempt *attempt);
    /* Nanoseconds until the next attempt may start; at least 0. */
    int64_t (*gap_ns)(const struct policy_state *state);
};

struct policy {
    const struct policy_kind *kind;
    struct policy_state state;
};

/* The table. policy_kind_at returns NULL past the end. */
const struct policy_kind *policy_kind_at(size_t index);
const struct policy_kind *policy_kind_find(const char *name);
size_t policy_parameter_count(const struct policy_kind *kind);

/* `values`: policy_parameter_count(kind) values, or NULL for the defaults. */
void policy_init(struct policy *policy, const struct policy_kind *kind, const double *values);

static inline void policy_on_attempt(struct policy *policy, const struct attempt *attempt)
{
    policy->kind->on_attempt(&policy->state, attempt);
}

static inline int64_t policy_gap_ns(const struct policy *policy)
{
    return policy->kind->gap_ns(&policy->state);
}

#endif
