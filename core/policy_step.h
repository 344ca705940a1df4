/* policy_step.h - what aimd and incr share: a gap in seconds within bounds. Not for other files. */
#ifndef CORE_POLICY_STEP_H
#define CORE_POLICY_STEP_H

#include "core/policy.h"

struct step_state {
    double gap_s;
    double gap_min_s;
    double gap_max_s;
    double on_win;
    double on_loss;
};

static_assert(sizeof(struct step_state) <= POLICY_STATE_BYTES, "fits");

static inline struct step_state *step_state_of(struct policy_state *state)
{
    return (struct step_state *)(void *)state->bytes;
}

/* values: start, on_win, on_loss, min, max. */
static inline void step_init(struct policy_state *state, const double *values)
{
    *step_state_of(state) = (struct step_state){
        .gap_s = values[0],
        .on_win = values[1],
        .on_loss = values[2],
        .gap_min_s = values[3],
        .gap_max_s = values[4],
    };
}

static inline void step_clamp(struct step_state *step)
{
    if (step->gap_s < step->gap_min_s)
        step->gap_s = step->gap_min_s;
    if (step->gap_s > step->gap_max_s)
        step->gap_s = step->gap_max_s;
}

static inline int64_t step_gap_ns(const struct policy_state *state)
{
    return (int64_t)(((const struct step_state *)(const void *)state->bytes)->gap_s * 1e9);
}

#endif
