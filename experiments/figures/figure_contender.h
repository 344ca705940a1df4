/* figure_contender.h - what a frontier compares: a policy with all settings of it that were run,
 * and where a policy has several estimators, each of them by itself. Ours.
 *
 * Its arms are those of one or several groups: in each group one constant is swept, the others are
 * held. That a policy is compared by one line alone would say more about what is held than about
 * the policy. */
#ifndef EXPERIMENTS_FIGURE_CONTENDER_H
#define EXPERIMENTS_FIGURE_CONTENDER_H

#include "experiments/figures/figure_data.h"

struct contender {
    char name[FIGURE_NAME_MAX]; /* "aimd", "dac-rate" */
    size_t arm_count;
    size_t *arms; /* owned: into the data, in its order */
    size_t lines; /* groups */
};

/* In the order of their first arms. */
struct contenders {
    size_t count;
    struct contender *items; /* owned */
};

/* Deinit it by contenders_deinit. */
void contenders_read(const struct figure_data *data, struct contenders *contenders);
void contenders_deinit(struct contenders *contenders);

/* Whether the policy's constants are at their defaults, but for the estimator that it is named
 * after, and for this config key (empty: for none). */
bool contender_at_defaults(const struct figure_arm *arm, const char *but_for);
/* What tells an arm from the contender's others: "100ms/1.2" of aimd's arm aimd-100ms/1.2, the
 * swept value alone in the line that is named as the contender is. */
void contender_point(const struct contender *contender, const struct figure_arm *arm,
                     char text[FIGURE_NAME_MAX]);
/* Its style in plots/common.gp. */
int contender_style(const struct figure_data *data, const struct contenders *contenders,
                    size_t index);

#endif
