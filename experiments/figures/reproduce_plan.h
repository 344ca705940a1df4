/* reproduce_plan.h - what one figure is made of, as the command line asks for it: its experiment as
 * the file stands now with --set, and the runs of it that are wanted. */
#ifndef EXPERIMENTS_REPRODUCE_PLAN_H
#define EXPERIMENTS_REPRODUCE_PLAN_H

#include "experiments/cli.h"
#include "experiments/figures/figure.h"

struct reproduce_plan {
    const struct figure *figure;
    char path[CONFIG_PATH_MAX]; /* of the experiment */
    struct experiment experiment;
    struct figure_selection selection;
    struct figure_wanted *wanted; /* owned: what the selection borrows */
    uint64_t seeds;               /* for each arm; 0: as the experiment says */
    uint64_t whole_seeds_min;     /* of the experiment's arms */
    uint64_t whole_seeds_max;
};

/* `seeds`: for each arm; 0: as the experiment says. Blocks on reading the experiment. False: the
 * error was printed, nothing to free. */
MUST_USE bool reproduce_plan_load(const struct cli *cli, const struct figure *figure,
                                  uint64_t seeds, struct reproduce_plan *plan);
void reproduce_plan_deinit(struct reproduce_plan *plan);

/* Wanted runs that the data lack, and how many are wanted in all. */
size_t reproduce_plan_missing(const struct reproduce_plan *plan, const struct figure_data *data);
size_t reproduce_plan_total(const struct reproduce_plan *plan);
/* "dac 40, aimd 3": the arms that lack runs and how many. */
void reproduce_plan_name_missing(const struct reproduce_plan *plan, const struct figure_data *data,
                                 FILE *text);

#endif
