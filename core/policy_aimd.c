/* policy_aimd.c - a baseline of the paper: a commit shortens the gap by a constant, a conflict
 * multiplies it. Named after Chiu and Jain (1989), applied to the attempt rate; the paper does not
 * report its constants, which are ours. */
#include "core/policy_step.h"

static void aimd_on_attempt(struct policy_state *state, const struct attempt *attempt)
{
    struct step_state *step = step_state_of(state);
    if (attempt->outcome == ATTEMPT_WON)
        step->gap_s -= step->on_win;
    else
        step->gap_s *= step->on_loss;
    step_clamp(step);
}

const struct policy_kind policy_aimd = {
    .name = "aimd",
    .help = "a commit shortens the gap by a constant, a conflict multiplies it",
    .parameters =
        {
            {"start", PARAMETER_DURATION, 10, 0, 86400, NULL,
             "ASSUMED: the gap before the first decided attempt [policy.aimd.start]"},
            {"decrease", PARAMETER_DURATION, 1, 0, 3600, NULL,
             "ASSUMED: a commit shortens the gap by this [policy.aimd.decrease]"},
            {"factor", PARAMETER_NUMBER, 2, 1, 100, NULL,
             "ASSUMED: a conflict multiplies the gap by this [policy.aimd.factor]"},
            {"min", PARAMETER_DURATION, 0.1, 0.001, 86400, NULL,
             "ASSUMED: the shortest gap [policy.aimd.min]"},
            {"max", PARAMETER_DURATION, 600, 0.001, 86400, NULL,
             "ASSUMED: the longest gap [policy.aimd.max]"},
        },
    .init = step_init,
    .on_attempt = aimd_on_attempt,
    .gap_ns = step_gap_ns,
};
