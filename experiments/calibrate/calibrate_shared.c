/* calibrate_shared.c - see calibrate_shared.h.
 *
 * A verb whose largest crowd gets clearly less than so many clients alone has met the processors:
 * its work is then cores / throughput. Which number of cores bends the curve as it was measured, is
 * tried: for each, works are corrected on the simulator until the largest crowds agree, and what
 * smaller crowds miss decides. Ours. */
#include "experiments/calibrate/calibrate_shared.h"

#include <math.h>

#include "experiments/calibrate/calibrate_model.h"

#define SEED 11
#define SCALES_BELOW 0.8 /* of what as many clients would get alone */
#define CORES_STEP 0.25
#define CORRECTIONS 3

/* The two sizes that a verb is measured with side by side; a verb without bytes has one. */
struct crowd {
    bool met; /* the processors */
    size_t small;
    size_t large; /* index of the cell; as small where there is one size */
};

struct shared_problem {
    const struct calibrate_plan *plan;
    const struct calibrate_result *measured;
    struct config *config;
    struct crowd crowds[STORE_VERB_COUNT];
    double work_ns[CALIBRATE_CELLS_MAX]; /* of one request, where the cell is a crowd's */
};

static bool is_side_by_side(const struct calibrate_cell *cell)
{
    return cell->work != CALIBRATE_CONTEND && cell->clients > 1;
}

/* The cell of the same request by one client; its own index where there is none. */
static size_t alone_of(const struct calibrate_plan *plan, size_t index)
{
    const struct calibrate_cell *cell = &plan->cells[index];
    for (size_t i = 0; i < plan->count; i++)
        if (plan->cells[i].work == cell->work && plan->cells[i].clients == 1 &&
            plan->cells[i].streams == 1 && plan->cells[i].bytes == cell->bytes)
            return i;
    return index;
}

static bool find_crowd(struct shared_problem *problem, enum store_verb verb)
{
    const struct calibrate_plan *plan = problem->plan;
    struct crowd *crowd = &problem->crowds[verb];
    bool any = false;
    for (size_t i = 0; i < plan->count; i++) {
        const struct calibrate_cell *cell = &plan->cells[i];
        if (!is_side_by_side(cell) || calibrate_work_verb(cell->work) != verb ||
            cell->clients != CALIBRATE_CLIENTS_MAX || problem->measured[i].per_s <= 0)
            continue;
        double alone = problem->measured[alone_of(plan, i)].per_s;
        crowd->met |= problem->measured[i].per_s < SCALES_BELOW * alone * (double)cell->clients;
        if (!any || cell->bytes < plan->cells[crowd->small].bytes)
            crowd->small = i;
        if (!any || cell->bytes > plan->cells[crowd->large].bytes)
            crowd->large = i;
        any = true;
    }
    crowd->met = crowd->met && any;
    return crowd->met;
}

/* Writes the works of the crowds' cells into the config's keys. */
static void set_work(struct shared_problem *problem, enum store_verb verb)
{
    const struct crowd *crowd = &problem->crowds[verb];
    struct station_config *station = &problem->config->store.station;
    double small = problem->work_ns[crowd->small];
    double slope = 0.0;
    if (crowd->large != crowd->small)
        slope = (problem->work_ns[crowd->large] - small) /
                (double)(problem->plan->cells[crowd->large].bytes -
                         problem->plan->cells[crowd->small].bytes);
    slope = fmax(slope, 0.0);
    double base = small - slope * (double)problem->plan->cells[crowd->small].bytes;
    station->work_ns[verb] = (int64_t)(round(fmax(base, 0.0) / 1e3) * 1e3);
    station->work_rate[verb] = slope > 0.0 ? round(1e6 / slope) * 1e3 : 0.0;
}

static double simulated_per_s(const struct shared_problem *problem, size_t index)
{
    struct calibrate_result result = {0};
    calibrate_model_run(problem->config, &problem->plan->cells[index], SEED, &result);
    double per_s = result.per_s;
    calibrate_result_deinit(&result);
    return per_s;
}

/* Works such that the largest crowds get in the simulator what they got. */
static void fit_works(struct shared_problem *problem, double cores)
{
    problem->config->store.station = (struct station_config){.cores = cores};
    for (int pass = 0; pass <= CORRECTIONS; pass++)
        for (enum store_verb verb = 0; verb < STORE_VERB_COUNT; verb++) {
            const struct crowd *crowd = &problem->crowds[verb];
            if (!crowd->met)
                continue;
            const size_t ends[] = {crowd->small, crowd->large};
            for (size_t k = 0; k < (crowd->large == crowd->small ? 1 : 2); k++) {
                double measured = problem->measured[ends[k]].per_s;
                if (pass == 0)
                    problem->work_ns[ends[k]] = cores * 1e9 / measured;
                else
                    problem->work_ns[ends[k]] *= simulated_per_s(problem, ends[k]) / measured;
            }
            set_work(problem, verb);
        }
    /* A create moves its bytes as a PUT does, and was measured at one size side by side. */
    struct station_config *station = &problem->config->store.station;
    station->work_rate[STORE_PUT_IF_ABSENT] = station->work_rate[STORE_PUT];
}

/* What the throughputs side by side miss: the mean square of log(simulated / measured). */
static double cost_of(const struct shared_problem *problem)
{
    double cost = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < problem->plan->count; i++) {
        if (!is_side_by_side(&problem->plan->cells[i]) || problem->measured[i].per_s <= 0)
            continue;
        double off = log(simulated_per_s(problem, i) / problem->measured[i].per_s);
        cost += off * off;
        count++;
    }
    return count > 0 ? cost / (double)count : 0.0;
}

/* Beyond it, a request would take longer than it takes alone. */
static double cores_max(const struct shared_problem *problem)
{
    double most = CALIBRATE_CLIENTS_MAX;
    for (enum store_verb verb = 0; verb < STORE_VERB_COUNT; verb++) {
        const struct crowd *crowd = &problem->crowds[verb];
        if (!crowd->met)
            continue;
        double alone_ns =
            calibrate_quantile(&problem->measured[alone_of(problem->plan, crowd->small)], 0.5);
        most = fmin(most, alone_ns * problem->measured[crowd->small].per_s / 1e9);
    }
    return fmax(most, 1.0);
}

bool calibrate_shared_fit(const struct calibrate_plan *plan,
                          const struct calibrate_result *measured, struct config *config)
{
    struct shared_problem problem = {.plan = plan, .measured = measured, .config = config};
    bool any = false;
    for (enum store_verb verb = 0; verb < STORE_VERB_COUNT; verb++)
        any |= find_crowd(&problem, verb);
    config->store.station = (struct station_config){0};
    if (!any)
        return false;
    double best = 1.0;
    double least = INFINITY;
    for (double cores = 1.0; cores <= cores_max(&problem); cores += CORES_STEP) {
        fit_works(&problem, cores);
        double cost = cost_of(&problem);
        if (cost < least) {
            least = cost;
            best = cores;
        }
    }
    fit_works(&problem, best);
    return true;
}
