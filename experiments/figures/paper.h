/* paper.h - PAPER_REPRO.md: its generated parts, each between two markers,
 * <!-- NAME:begin --> and <!-- NAME:end -->. What a person wrote around them is never touched. */
#ifndef EXPERIMENTS_PAPER_H
#define EXPERIMENTS_PAPER_H

#include <stdio.h>

#include "experiments/figures/figure_data.h"
#include "experiments/figures/paper_reported.h"

#define PAPER_FILE "PAPER_REPRO.md"

/* Whether paper_rewrite can put these parts into the page: it is there, has their markers, and a
 * new file can be put in its place. Blocks. False: the diagnostic says what to do. */
MUST_USE bool paper_ready(const char *path, const char *const *names, size_t count,
                          struct diagnostic *diagnostic);

/* Replaces what stands between the markers. Blocks; the file is replaced whole or not at all, and
 * not touched if nothing changed. Of a link, what it leads to. False: the diagnostic says what is
 * missing or failed. */
MUST_USE bool paper_rewrite(const char *path, const char *name, const char *text,
                            struct diagnostic *diagnostic);

#define PAPER_FOUND_MAX 16

/* What figures found of reported numbers: the cells of the table behind the reported one. */
struct paper_found {
    size_t count;
    struct {
        const char *id; /* borrowed */
        char *cells;    /* owned: to the end of the line, with its newline */
    } items[PAPER_FOUND_MAX];
};

void paper_found_add(struct paper_found *found, const char *id, char *cells);
void paper_found_deinit(struct paper_found *found);
/* The cells that the page has for this number, to be freed by the caller. NULL: none, or the page
 * cannot be read. Blocks. */
char *paper_cells(const char *path, const char *id);

/* The table of all reported numbers: reported, simulated, live, verdict, assumptions. `data`: the
 * simulated runs of p1, maybe none; live ones are looked up in its database. Numbers that nobody
 * found anything of are said to be not built. */
MUST_USE bool paper_summary(const struct figure_data *data, const struct reported *reported,
                            const struct paper_found *found, FILE *markdown,
                            struct diagnostic *diagnostic);

#endif
