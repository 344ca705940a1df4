/* reproduce_plan.c - names the wanted runs by the hash of each arm's config, so that a figure is
 * never made of what somebody else asked the same database for. */
#include "experiments/figures/reproduce_plan.h"

#include <stdlib.h>

#include "experiments/trials/arm_record.h"

#define ARMS_NAMED_MAX 8

static void want(struct reproduce_plan *plan, size_t index)
{
    struct arm_record record;
    const struct arm *arm = &plan->experiment.arms[index];
    struct figure_wanted *wanted = &plan->wanted[index];
    uint64_t whole = arm->config.seeds;
    arm_record_init(&record, arm);
    snprintf(wanted->arm, sizeof(wanted->arm), "%s", record.arm.name);
    snprintf(wanted->hash, sizeof(wanted->hash), "%s", record.hash);
    arm_record_deinit(&record);
    wanted->first_seed = arm->config.seed;
    wanted->seeds = plan->seeds > 0 ? plan->seeds : whole;
    if (index == 0 || whole < plan->whole_seeds_min)
        plan->whole_seeds_min = whole;
    if (whole > plan->whole_seeds_max)
        plan->whole_seeds_max = whole;
}

bool reproduce_plan_load(const struct cli *cli, const struct figure *figure, uint64_t seeds,
                         struct reproduce_plan *plan)
{
    char relative[CONFIG_PATH_MAX];
    struct cli whole = *cli;
    whole.seeds = 0;
    *plan = (struct reproduce_plan){.figure = figure, .seeds = seeds};
    snprintf(relative, sizeof(relative), "configs/experiments/%s.yaml", figure->name);
    if (!cli_data_find(relative, plan->path) ||
        !cli_load_experiment(&whole, plan->path, &plan->experiment))
        return false;
    plan->wanted = calloc(plan->experiment.arm_count, sizeof(*plan->wanted));
    assert(plan->wanted != NULL);
    for (size_t i = 0; i < plan->experiment.arm_count; i++)
        want(plan, i);
    plan->selection = (struct figure_selection){
        .experiment = plan->experiment.name,
        .count = plan->experiment.arm_count,
        .wanted = plan->wanted,
    };
    return true;
}

void reproduce_plan_deinit(struct reproduce_plan *plan)
{
    experiment_deinit(&plan->experiment);
    free(plan->wanted);
    *plan = (struct reproduce_plan){0};
}

static size_t lacks(const struct figure_data *data, const struct figure_wanted *wanted)
{
    return (size_t)wanted->seeds - figure_data_runs(data, wanted);
}

size_t reproduce_plan_missing(const struct reproduce_plan *plan, const struct figure_data *data)
{
    size_t missing = 0;
    for (size_t i = 0; i < plan->selection.count; i++)
        missing += lacks(data, &plan->wanted[i]);
    return missing;
}

size_t reproduce_plan_total(const struct reproduce_plan *plan)
{
    size_t total = 0;
    for (size_t i = 0; i < plan->selection.count; i++)
        total += (size_t)plan->wanted[i].seeds;
    return total;
}

void reproduce_plan_name_missing(const struct reproduce_plan *plan, const struct figure_data *data,
                                 FILE *text)
{
    size_t named = 0;
    for (size_t i = 0; i < plan->selection.count; i++) {
        size_t missing = lacks(data, &plan->wanted[i]);
        if (missing > 0 && named++ < ARMS_NAMED_MAX)
            fprintf(text, "%s%s %zu", named > 1 ? ", " : "", plan->wanted[i].arm, missing);
    }
    if (named > ARMS_NAMED_MAX)
        fprintf(text, " and %zu more arms", named - ARMS_NAMED_MAX);
}
