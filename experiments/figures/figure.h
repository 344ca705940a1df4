/* figure.h - the figures: one row each, and how a page is made of a figure and the database.
 *
 * To add one: write experiments/figures/figure_<name>.c with a `const struct figure figure_<name>`,
 * add its row in experiments/figures/figure.c, its experiment configs/experiments/<name>.yaml and
 * its script plots/<name>.gp. Its functions read the page's data and write text; they never fail
 * and print no number that is not from the database, the configs stored in it, or
 * configs/reported.tsv. `detail`, `headline` and `summary` may be NULL. */
#ifndef EXPERIMENTS_FIGURE_H
#define EXPERIMENTS_FIGURE_H

#include <stdio.h>

#include "experiments/figures/figure_data.h"
#include "experiments/figures/paper_reported.h"

struct figure_page {
    const struct figure *figure;
    const struct figure_data *data; /* simulated runs; at least one arm */
    const struct reported *reported;
    const char *folder;  /* where files go */
    const char *scripts; /* where the gnuplot scripts are */
    /* Of the whole figure's arms with fewest and most, said in the caption where only some of them
     * were asked for; 0: all were. */
    uint64_t whole_seeds_min;
    uint64_t whole_seeds_max;
    size_t missing; /* runs that were asked for and are not in the data */
};

struct figure {
    const char *name;  /* of the figure, its experiment, script and files */
    const char *title; /* one line */
    /* Points for the script, and its variables (gnuplot assignments). */
    void (*plot)(const struct figure_page *page, FILE *points, FILE *variables);
    /* Markdown for PAPER_REPRO.md, also the start of the table beside the figure; and what else
     * that table holds (NULL: nothing). */
    void (*paper)(const struct figure_page *page, FILE *markdown);
    void (*detail)(const struct figure_page *page, FILE *markdown);
    /* One to four lines for the terminal; NULL: none. */
    void (*headline)(const struct figure_page *page, FILE *text);
    /* Which reported number ("P7") it is about, and what was found of it: four cells of the table
     * of all of them, "simulated | live | verdict | assumptions |" and a newline. */
    const char *reported;
    void (*summary)(const struct figure_page *page, FILE *markdown);
};

/* NULL past the end. */
const struct figure *figure_at(size_t index);
const struct figure *figure_find(const char *name);

/* Writes <folder>/<name>.tsv, .vars, .md, .svg and .png: in a folder of their own beside them, and
 * moved when all are whole. Blocks until gnuplot is done. False: the diagnostic; what was there
 * before is there still. */
MUST_USE bool figure_render(const struct figure_page *page, struct diagnostic *diagnostic);

#endif
