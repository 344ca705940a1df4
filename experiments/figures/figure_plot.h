/* figure_plot.h - gnuplot as a child process, and whether this machine can draw at all. */
#ifndef EXPERIMENTS_FIGURE_PLOT_H
#define EXPERIMENTS_FIGURE_PLOT_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

/* gnuplot and the font that figures are set in. Blocks briefly. False: the diagnostic names what is
 * missing and the package that has it. */
MUST_USE bool figure_plot_ready(struct diagnostic *diagnostic);

/* Runs `gnuplot -c <scripts>/<name>.gp <folder>/<name> <scripts> TERMINAL` for svg and png; the
 * script reads <folder>/<name>.vars and .tsv and writes <folder>/<name>.TERMINAL. Blocks. False:
 * the diagnostic holds gnuplot's first words, or says that a drawing is cut short, which gnuplot
 * does not notice; neither drawing is left. */
MUST_USE bool figure_plot_draw(const char *scripts, const char *folder, const char *name,
                               struct diagnostic *diagnostic);

#endif
