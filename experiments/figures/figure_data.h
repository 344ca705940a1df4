/* figure_data.h - what figures and tables read: the runs of one experiment, arm by arm, from the
 * results database and nothing else.
 *
 * An arm's config is rebuilt from the text that its runs were stored with, so that a caption cannot
 * say anything else than what was run. Values are aligned to an arm's seeds; NAN: not measured. */
#ifndef EXPERIMENTS_FIGURE_DATA_H
#define EXPERIMENTS_FIGURE_DATA_H

#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/statistics.h"

#define FIGURE_NAME_MAX 128
#define FIGURE_COMMIT_MAX 64

struct figure_arm {
    char name[FIGURE_NAME_MAX];
    char group[FIGURE_NAME_MAX];     /* as the arm where it belongs to none */
    char sweep_key[FIGURE_NAME_MAX]; /* empty: no sweep */
    double sweep_value;              /* as option_number gives it; NAN: none */
    char hash[RESULTS_HASH_MAX];
    char commit[FIGURE_COMMIT_MAX]; /* of the program that ran the first seed */
    bool commits_differ;            /* other seeds were run by other programs */
    struct config config;
    size_t run_count;
    int64_t *runs;  /* owned: ids, in the order of their seeds */
    int64_t *seeds; /* owned: ascending */
};

/* The runs that a figure is made of: those with this config, of so many seeds from the first on. */
struct figure_wanted {
    char arm[FIGURE_NAME_MAX];
    char hash[RESULTS_HASH_MAX];
    uint64_t first_seed;
    uint64_t seeds;
};

struct figure_selection {
    const char *experiment; /* borrowed */
    size_t count;
    const struct figure_wanted *wanted; /* borrowed */
};

/* Arms in the order of core's policy table, then by group, swept value and name ("fixed-2s" before
 * "fixed-10s"). */
struct figure_data {
    struct results_db *db; /* borrowed */
    char experiment[FIGURE_NAME_MAX];
    enum results_mode mode;
    size_t arm_count;
    struct figure_arm *arms; /* owned */
};

/* One value per (point in time, seed): values[point * run_count + seed]. */
struct figure_series {
    size_t point_count;
    size_t run_count;
    double *t_s;    /* owned */
    double *values; /* owned */
};

/* The simulated runs that are selected, and no others: an arm without any is left out, runs with
 * violations as well. Blocks on the disk. False: the diagnostic, nothing to free. */
MUST_USE bool figure_data_select(struct results_db *db, const struct figure_selection *selection,
                                 struct figure_data *data, struct diagnostic *diagnostic);
/* The runs of the configs that were asked for last, whatever they were, but those with violations
 * and those that went on with an earlier one's chain, whose manifest was long from the start.
 * Blocks on the disk. An experiment without runs is no error: it has no arms. False: the
 * diagnostic, nothing to free. */
MUST_USE bool figure_data_load(struct results_db *db, const char *experiment,
                               enum results_mode mode, struct figure_data *data,
                               struct diagnostic *diagnostic);
void figure_data_deinit(struct figure_data *data);

/* Puts what the database's last error means into the diagnostic. Returns false. */
bool figure_data_refuse(struct results_db *db, struct diagnostic *diagnostic);

/* How many of the wanted arm's runs are there. */
size_t figure_data_runs(const struct figure_data *data, const struct figure_wanted *wanted);

/* Seeds of the arm that has fewest and most; 0 without arms. */
size_t figure_seeds_min(const struct figure_data *data);
size_t figure_seeds_max(const struct figure_data *data);

/* Over the seeds that have it. */
struct statistics_mean figure_mean(const struct figure_data *data, const struct figure_arm *arm,
                                   const char *name);
/* "<name>_h<hour>", as the recorder names the metric of a whole hour. */
struct statistics_mean figure_hour_mean(const struct figure_data *data,
                                        const struct figure_arm *arm, const char *name, int hour);
/* values: room for arm->run_count. NAN where a run lacks the metric. */
void figure_hour_metric(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, int hour, double *values);
/* The mean of what is finite among `count` values. */
struct statistics_mean figure_mean_of(const double *values, size_t count);

/* Whole hours that every run of every arm lasted, at most; 0 without arms. */
int figure_hours(const struct figure_data *data);

/* Of one point of a line over time: 15 minutes, or a twelfth of a run shorter than three hours; in
 * whole bins, at least one. */
double figure_window_s(const struct figure_arm *arm);

/* Deinit it by figure_series_deinit. */
void figure_series_read(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, struct figure_series *series);
void figure_series_deinit(struct figure_series *series);

/* MB/s that all producers of this arm offer together. */
double figure_offered_mb_s(const struct figure_arm *arm);

#endif
