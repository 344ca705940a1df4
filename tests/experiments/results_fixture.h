/* results_fixture.h - a results database in a directory of its own, for tests. */
#ifndef TESTS_EXPERIMENTS_RESULTS_FIXTURE_H
#define TESTS_EXPERIMENTS_RESULTS_FIXTURE_H

#include "experiments/results/results.h"
#include "tests/scratch.h"

struct fixture {
    char directory[SCRATCH_MAX];
    char path[256];
};

struct fixture fixture_make(void);
/* Removes the directory with all that is in it. */
void fixture_remove(const struct fixture *fixture);
/* Must succeed. */
struct results_db *fixture_open(const struct fixture *fixture, enum results_access access);
/* A simulated run; nothing to free. */
struct results_run fixture_run(const char *arm, uint64_t seed);
/* A metric "success" with this value, and a series "age" of 100 points. Free it. */
struct run_results fixture_results(double success);
/* Writes that; must succeed. */
void fixture_write(struct results_db *db, const struct results_run *run, double success);
/* The first column of the only row, as an integer; -1 on an error. */
int64_t fixture_count(struct results_db *db, const char *sql);
/* The same as text, "" for NULL or on an error; free it. */
char *fixture_text(struct results_db *db, const char *sql);
/* 0 if the SQL could be executed. */
int fixture_execute(struct results_db *db, const char *sql);

#endif
