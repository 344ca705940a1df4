/* policy_fixed.c - a constant gap: the paper's first baseline. Its intervals are not reported:
 * ours. */
#include "core/policy.h"

struct fixed_state {
    int64_t gap_ns;
};

static_assert(sizeof(struct fixed_state) <= POLICY_STATE_BYTES, "fits");

static struct fixed_state *state_of(struct policy_state *state)
{
    return (struct fixed_state *)(void *)state->bytes;
}

static void fixed_init(struct policy_state *state, const double *values)
{
    state_of(state)->gap_ns = (int64_t)(values[0] * 1e9);
}

static void fixed_on_attempt(struct policy_state *state, const struct attempt *attempt)
{
    (void)state;
    (void)attempt;
}

static int64_t fixed_gap_ns(const struct policy_state *state)
{
    return ((const struct fixed_state *)(const void *)state->bytes)->gap_ns;
}

const struct policy_kind policy_fixed = {
    .name = "fixed",
    .help = "always the same gap",
    .parameters =
        {
            {"gap", PARAMETER_DURATION, 10, 0, 86400, NULL,
             "ASSUMED: the gap between attempts of the fixed baseline [policy.fixed.gap]"},
        },
    .init = fixed_init,
    .on_attempt = fixed_on_attempt,
    .gap_ns = fixed_gap_ns,
};
