/* calibrate_plan.h - which cells are measured, and what load they are at most. */
#ifndef EXPERIMENTS_CALIBRATE_PLAN_H
#define EXPERIMENTS_CALIBRATE_PLAN_H

#include "experiments/calibrate/calibrate_cell.h"

enum calibrate_effort {
    CALIBRATE_QUICK,
    CALIBRATE_FULL,
};

struct calibrate_plan {
    /* All cells are measured so many times over, so that a machine that is slower for a while is so
     * for all of them. */
    uint32_t rounds;
    size_t count;
    struct calibrate_cell cells[CALIBRATE_CELLS_MAX];
};

/* Bounds of what all cells together ask of the store. */
struct calibrate_bounds {
    uint64_t requests;
    uint64_t bytes_up;
    uint64_t bytes_down;
    int64_t duration_ns; /* without preparations and cleaning */
};

/* In the order in which they are measured: each verb alone at every size, then clients side by
 * side, then one client with several streams, then clients that want the same names. */
void calibrate_plan_make(enum calibrate_effort effort, struct calibrate_plan *plan);
/* The cell in one of its rounds, with names of its own. */
struct calibrate_cell calibrate_plan_cell(const struct calibrate_plan *plan, size_t index,
                                          uint32_t round);
/* Of all rounds. */
struct calibrate_bounds calibrate_plan_bounds(const struct calibrate_plan *plan);

#endif
