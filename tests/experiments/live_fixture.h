/* live_fixture.h - what the tests of live and inspect share: a scratch folder, verbs as processes
 * of their own with their output in files, and what was printed as text and JSON. Failures of the
 * fixture itself end the test program by assert. */
#ifndef TESTS_EXPERIMENTS_LIVE_FIXTURE_H
#define TESTS_EXPERIMENTS_LIVE_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/scratch.h"

#define LIVE_PATH_MAX 512
#define LIVE_ARGUMENTS_MAX 16

/* A scratch folder that every user may write in, too. */
void live_scratch_make(char path[SCRATCH_MAX]);
/* Formats a path within the scratch folder. */
__attribute__((format(printf, 3, 4))) void live_path(char path[LIVE_PATH_MAX], const char *scratch,
                                                     const char *format, ...);
/* Writes a config of `producers` on the scratch folder's "store" that runs so long; `more` is
 * appended. */
void live_write_config(const char *scratch, int producers, int duration_ms, const char *more);

/* A verb in a process of its own, leader of its own group. */
struct live_process {
    pid_t pid;
    char out[LIVE_PATH_MAX]; /* its standard output and error */
    char err[LIVE_PATH_MAX];
};

struct live_process_options {
    const char *scratch;
    const char *name;                          /* of its output files */
    uid_t user;                                /* 0: this one */
    const char *program;                       /* to execute; NULL: the verb's main, in a fork */
    const char *arguments[LIVE_ARGUMENTS_MAX]; /* the verb first */
};

void live_process_start(struct live_process *process, const struct live_process_options *options);
/* Waits up to `limit_s`, then kills it. The exit status, or 128 + signal; -1: killed here. */
int live_process_wait(struct live_process *process, int limit_s);
/* Start and wait. */
int live_process_run(struct live_process *process, const struct live_process_options *options);

/* Everything in a file, NUL at the end; freed by the caller. */
char *live_read(const char *path);
int live_count_in(const char *path, const char *text);
/* Waits until the file holds the text at least `count` times; false after `limit_s`. */
bool live_wait_for(const char *path, const char *text, int count, int limit_s);

/* The processes below a live run's parent: its producers. Returns how many. */
int live_children_of(pid_t pid, pid_t *children, int max);
/* The store's address and folder of the only run of an arm; false if there is not exactly one. */
bool live_run_url(const char *scratch, const char *arm, char url[LIVE_PATH_MAX]);

/* A file below a folder whose name ends so; false if there is none. */
bool live_find_file(const char *folder, const char *ending, char path[LIVE_PATH_MAX]);

/* Runs `inspect URL --json --versions 1000000` and more flags; NULL unless it printed JSON. The
 * status is its own. */
json_t *live_inspect(const char *scratch, const char *url, const char *flag, int *status);
/* So many producers have committed a batch each. */
bool live_all_committed(const char *scratch, const char *url, int producers);
/* The integer at report.key, or at report.key.member; -1 if there is none. */
long long live_number(const json_t *report, const char *key, const char *member);
/* Runs in the database of the scratch folder. */
int live_rows(const char *scratch);
/* A metric of its only run; NAN if there is none of that name. */
double live_metric(const char *scratch, const char *name);

void live_pause(int ms);

#endif
