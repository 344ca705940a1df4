/* plane_fixture.h - what the tests of consume and gc share: a run of one producer in a scratch
 * folder, whose step n is its batch n, the verbs on it, and its objects to be damaged. */
#ifndef TESTS_EXPERIMENTS_PLANE_FIXTURE_H
#define TESTS_EXPERIMENTS_PLANE_FIXTURE_H

#include <stdint.h>

#include "tests/experiments/live_fixture.h"

#define PLANE_TGB_BYTES 16384

struct plane {
    char scratch[SCRATCH_MAX];
    char url[LIVE_PATH_MAX];
    char folder[LIVE_PATH_MAX]; /* of the store */
    char checkpoints[LIVE_PATH_MAX];
    struct live_process process; /* of the verb that ran last */
};

/* Makes a run of so many batches, cut for `mesh`: "none", "2x1". */
void plane_open(struct plane *plane, const char *mesh, int batches);
void plane_close(struct plane *plane);
/* So many batches more. */
void plane_produce(struct plane *plane, const char *mesh, int batches);

#define PLANE_WORDS(...)                                                                           \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* "consume" or "gc" on the run with more words (PLANE_WORDS), up to NULL; its status. Prints go to
 * the process's files. */
int plane_run(struct plane *plane, const char *verb, const char *const *words);
/* The same, not waited for. `name`: of its files. */
void plane_start(struct plane *plane, struct live_process *process, const char *name,
                 const char *verb, const char *const *words);
/* Whether its standard error holds the text; else prints what it holds. */
bool plane_said(const struct live_process *process, const char *text);
/* What it printed, as JSON; the caller's reference. */
json_t *plane_json(const struct live_process *process);

/* The file of the batch of a step, or of the newest version; false if it is not there. */
bool plane_tgb_path(const struct plane *plane, uint64_t step, char path[LIVE_PATH_MAX]);
void plane_newest_path(const struct plane *plane, char path[LIVE_PATH_MAX]);
void plane_write(const struct plane *plane, const char *name, const char *text);

#endif
