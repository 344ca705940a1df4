/* experiment.h - an experiment file: configuration shared by all arms, and the arms that are
 * compared.
 *
 *     name: p1
 *     workload: {producers: 32, rate: 13.5MB/s}     # shared by all arms; dotted keys work as well
 *     arms:
 *       - name: fixed-1s
 *         policy: {name: fixed, fixed.gap: 1s}
 *       - name: fixed                               # arms fixed/1s, fixed/2s and fixed/5s
 *         policy.name: fixed
 *         sweep: {key: policy.fixed.gap, values: [1s, 2s, 5s]}
 *
 * Later wins: defaults, the store's profile, the file, the arm, its sweep, --set. Without arms
 * there is one, named after its policy. */
#ifndef EXPERIMENTS_EXPERIMENT_H
#define EXPERIMENTS_EXPERIMENT_H

#include <stdbool.h>

#include "experiments/config/config.h"

#define EXPERIMENT_ARMS_MAX 512 /* after expansion of sweeps */

struct arm {
    char name[2 * CONFIG_NAME_MAX];    /* unique in the experiment: "fixed-1s", "fixed/2s" */
    char group[CONFIG_NAME_MAX];       /* name before expansion: arms of one sweep share it */
    const char *sweep_key;             /* a key of the options table; NULL: no sweep */
    char sweep_value[CONFIG_NAME_MAX]; /* as written in the file; empty: no sweep */
    struct config config;
};

struct experiment {
    char name[CONFIG_NAME_MAX];   /* the file's `name`, else its base name without .yaml */
    char title[CONFIG_TITLE_MAX]; /* may be empty */
    size_t arm_count;             /* at least 1 */
    struct arm *arms;             /* owned, in the order of the file */
    char **files;                 /* owned: what origins borrow */
    size_t file_count;
};

/* Borrowed texts "key=value", as given by --set; a later one wins. {0}: none. */
struct overrides {
    size_t count;
    const char *const *texts;
};

/* Blocks on reading the file and its profile. False: the diagnostic says file:line:column, key and
 * what to do, and the experiment is left empty, nothing to free. */
MUST_USE bool experiment_load(const char *path, struct overrides overrides,
                              struct experiment *experiment, struct diagnostic *diagnostic);

/* Also allowed on a zeroed experiment. The configs' origins are invalid afterwards. */
void experiment_deinit(struct experiment *experiment);

#endif
