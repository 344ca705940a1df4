/* policy_incr.c - a baseline of the paper: a conflict lengthens the gap by one constant, a commit
 * shortens it by another. The paper does not report its constants, which are ours. */
#include "core/policy_step.h"

static void incr_on_attempt(struct policy_state *state, const struct attempt *attempt)
{
    struct step_state *step = step_state_of(state);
    step->gap_s += attempt->outcome == ATTEMPT_WON ? -step->on_win : step->on_loss;
    step_clamp(step);
}

const struct policy_kind policy_incr = {
    .name = "incr",
    .help = "a conflict lengthens the gap by a constant, a commit shortens it by another",
    .parameters =
        {
            {"start", PARAMETER_DURATION, 10, 0, 86400, NULL,
             "ASSUMED: the gap before the first decided attempt [policy.incr.start]"},
            {"down", PARAMETER_DURATION, 0.25, 0, 3600, NULL,
             "ASSUMED: a commit shortens the gap by this [policy.incr.down]"},
            {"up", PARAMETER_DURATION, 1, 0, 3600, NULL,
             "ASSUMED: a conflict lengthens the gap by this [policy.incr.up]"},
            {"min", PARAMETER_DURATION, 0.1, 0.001, 86400, NULL,
             "ASSUMED: the shortest gap [policy.incr.min]"},
            {"max", PARAMETER_DURATION, 600, 0.001, 86400, NULL,
             "ASSUMED: the longest gap [policy.incr.max]"},
        },
    .init = step_init,
    .on_attempt = incr_on_attempt,
    .gap_ns = step_gap_ns,
};
