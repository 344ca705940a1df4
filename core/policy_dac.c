/* policy_dac.c - decentralised adaptive commit, the paper's policy: the freshest gap within an
 * overhead budget rho and a conflict budget kappa. The paper names the budgets and what is
 * estimated; the formulas and the estimators are ours.
 *
 *   overhead share = tau / (g + tau) <= rho      =>  g_overhead = tau (1 / rho - 1)
 *   conflict share = 1 - exp(-lambda w) <= kappa, lambda = foreign commits per second
 *     model     lambda = (N - 1) / (g + tau): everybody behaves as I do, open loop
 *     rate      lambda counted from the chain; g + tau scales by lambda w / -ln(1 - kappa)
 *     feedback  log g += eta (lost - kappa): stochastic approximation (Robbins and Monro 1951)
 *
 * rate and feedback step from the gap in force, whichever side set it: stepping from a conflict gap
 * that the overhead side hides would wind it down without end. Attempts that were disturbed by
 * retries count as won or lost, and their times are left out. */
#include <math.h>

#include "core/estimator.h"
#include "core/policy.h"

enum conflict_estimator {
    CONFLICT_MODEL,
    CONFLICT_RATE,
    CONFLICT_FEEDBACK,
};

enum parameter {
    RHO,
    KAPPA,
    ESTIMATOR,
    WINDOW,
    WEIGHT,
    FORGETTING,
    ETA,
    START,
    RLS_SAMPLES,
    RLS_PRIOR,
    RATE_STEP,
    CONFLICT_MIN,
    CONFLICT_MAX,
    PARAMETERS,
};

#define GAP_MAX_S 1e9 /* keeps nanoseconds within int64_t */

struct dac_state {
    double rho;
    double kappa;
    enum conflict_estimator conflict;
    double weight;
    double eta;
    double rate_step;
    /* Bounds of the conflict side. Without the upper one a row of losses would leave every range.
     */
    double conflict_min_s;
    double conflict_max_s;
    struct estimator tau;
    struct estimator window;
    double conflict_gap_s;
    double gap_s;
};

static_assert(sizeof(struct dac_state) <= POLICY_STATE_BYTES, "fits");

static struct dac_state *state_of(struct policy_state *state)
{
    return (struct dac_state *)(void *)state->bytes;
}

static void dac_init(struct policy_state *state, const double *values)
{
    struct dac_state *dac = state_of(state);
    struct estimator_options estimator = {
        .kind = values[WINDOW] == 0 ? ESTIMATOR_EWMA : ESTIMATOR_RLS,
        .samples_min = (uint32_t)values[RLS_SAMPLES],
        .weight = values[WEIGHT],
        .forgetting = values[FORGETTING],
        .prior = values[RLS_PRIOR],
    };
    *dac = (struct dac_state){
        .rho = values[RHO],
        .kappa = values[KAPPA],
        .conflict = (enum conflict_estimator)values[ESTIMATOR],
        .weight = values[WEIGHT],
        .eta = values[ETA],
        .rate_step = values[RATE_STEP],
        .conflict_min_s = values[CONFLICT_MIN],
        .conflict_max_s = values[CONFLICT_MAX],
        .conflict_gap_s = values[START],
        .gap_s = values[START],
    };
    estimator_init(&dac->tau, &estimator);
    estimator_init(&dac->window, &estimator);
}

/* The paper's -ln(1 - kappa): foreign commits that may fall into one window. */
static double window_budget(const struct dac_state *dac)
{
    return -log1p(-dac->kappa);
}

/* What was really waited: the producer may have clamped what was asked for. */
static double gap_in_force(const struct dac_state *dac, const struct attempt *attempt)
{
    return attempt->gap_ns > 0 ? (double)attempt->gap_ns / 1e9 : dac->gap_s;
}

static double rate_gap(const struct dac_state *dac, const struct attempt *attempt, double tau,
                       double window)
{
    double gap = gap_in_force(dac, attempt);
    double period = gap + tau;
    if (attempt->since_last_ns <= 0)
        return gap;
    double lambda = (double)attempt->foreign_versions / ((double)attempt->since_last_ns / 1e9);
    double scale = lambda * window / window_budget(dac);
    scale = fmin(fmax(scale, 1 / dac->rate_step), dac->rate_step);
    return period * pow(scale, dac->weight) - tau;
}

static void dac_on_attempt(struct policy_state *state, const struct attempt *attempt)
{
    struct dac_state *dac = state_of(state);
    if (attempt->retries == 0 || dac->tau.samples == 0) {
        estimator_add(&dac->tau, (double)attempt->tau_ns / 1e9, attempt->manifest_bytes);
        estimator_add(&dac->window, (double)attempt->window_ns / 1e9, attempt->manifest_bytes);
    }
    double tau = estimator_at(&dac->tau, attempt->manifest_bytes);
    double window = estimator_at(&dac->window, attempt->manifest_bytes);
    switch (dac->conflict) {
    case CONFLICT_MODEL:
        dac->conflict_gap_s = (attempt->producers_active - 1) * window / window_budget(dac) - tau;
        break;
    case CONFLICT_RATE:
        dac->conflict_gap_s = rate_gap(dac, attempt, tau, window);
        break;
    case CONFLICT_FEEDBACK:
        dac->conflict_gap_s =
            gap_in_force(dac, attempt) *
            exp(dac->eta * ((attempt->outcome == ATTEMPT_LOST ? 1.0 : 0.0) - dac->kappa));
        break;
    }
    dac->conflict_gap_s = fmin(fmax(dac->conflict_gap_s, dac->conflict_min_s), dac->conflict_max_s);
    double overhead_gap_s = fmin(tau * (1 / dac->rho - 1), GAP_MAX_S);
    dac->gap_s = fmax(overhead_gap_s, dac->conflict_gap_s);
}

static int64_t dac_gap_ns(const struct policy_state *state)
{
    return (int64_t)(((const struct dac_state *)(const void *)state->bytes)->gap_s * 1e9);
}

const struct policy_kind policy_dac = {
    .name = "dac",
    .help = "decentralised adaptive commit: freshest gap within an overhead and a conflict budget",
    .parameters =
        {
            [RHO] = {"rho", PARAMETER_RATIO, 0.05, 0.0001, 0.99, NULL,
                     "ASSUMED: overhead budget, share of time spent committing [policy.dac.rho]"},
            [KAPPA] = {"kappa", PARAMETER_RATIO, 0.037, 0.0001, 0.99, NULL,
                       "ASSUMED: conflict budget, share of attempts lost; 1 - 96.3 % as reported "
                       "[policy.dac.kappa]"},
            [ESTIMATOR] = {"estimator", PARAMETER_CHOICE, CONFLICT_MODEL, 0, 2,
                           "model|rate|feedback",
                           "ASSUMED: how the conflict side is estimated [policy.dac.estimator]"},
            [WINDOW] = {"window", PARAMETER_CHOICE, ESTIMATOR_RLS, 0, 1, "ewma|rls",
                        "ASSUMED: how attempt time and window are estimated [policy.dac.window]"},
            [WEIGHT] = {"weight", PARAMETER_RATIO, 0.2, 0.001, 1, NULL,
                        "ASSUMED: weight of the newest attempt in moving averages and in rate's "
                        "steps [policy.dac.weight]"},
            [FORGETTING] = {"forgetting", PARAMETER_RATIO, 0.98, 0.5, 1, NULL,
                            "ASSUMED: forgetting factor of recursive least squares "
                            "[policy.dac.forgetting]"},
            [ETA] = {"eta", PARAMETER_NUMBER, 0.5, 0.001, 10, NULL,
                     "ASSUMED: step of the feedback estimator [policy.dac.eta]"},
            [START] = {"start", PARAMETER_DURATION, 10, 0.001, 86400, NULL,
                       "ASSUMED: the gap before the first decided attempt [policy.dac.start]"},
            [RLS_SAMPLES] = {"rls_samples", PARAMETER_COUNT, 8, 2, 1e6, NULL,
                             "ASSUMED: attempts before least squares are believed; the moving "
                             "average until then [policy.dac.rls_samples]"},
            [RLS_PRIOR] = {"rls_prior", PARAMETER_NUMBER, 1e4, 1e-6, 1e12, NULL,
                           "ASSUMED: variance of base and slope that least squares start with, "
                           "and at most [policy.dac.rls_prior]"},
            [RATE_STEP] = {"rate_step", PARAMETER_NUMBER, 4, 1.001, 1e6, NULL,
                           "ASSUMED: one step of the rate estimator moves the period by at most "
                           "this factor, before its weight [policy.dac.rate_step]"},
            [CONFLICT_MIN] = {"conflict_min", PARAMETER_DURATION, 0.001, 1e-6, 3600, NULL,
                              "ASSUMED: the conflict side asks for a gap of at least this "
                              "[policy.dac.conflict_min]"},
            [CONFLICT_MAX] =
                {"conflict_max", PARAMETER_DURATION, 86400, 1e-3, 1e7, NULL,
                 "ASSUMED: the conflict side asks for a gap of at most this "
                 "[policy.dac.conflict_max]"},
        },
    .init = dac_init,
    .on_attempt = dac_on_attempt,
    .gap_ns = dac_gap_ns,
};
