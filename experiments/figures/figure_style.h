/* figure_style.h - the line styles of plots/common.gp: one policy has one colour in all figures. */
#ifndef EXPERIMENTS_FIGURE_STYLE_H
#define EXPERIMENTS_FIGURE_STYLE_H

#include "experiments/figures/figure_data.h"

/* Of the curve that starts at this arm: an arm by itself, or the arms of its group. */
int figure_style(const struct figure_data *data, size_t first);

#endif
