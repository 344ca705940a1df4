/* bench.h - `lakestream bench`: speed beside yardsticks. A row is a
 * measurement, what it should be, and whether it is. */
#ifndef EXPERIMENTS_BENCH_H
#define EXPERIMENTS_BENCH_H

#include <jansson.h>
#include <stdbool.h>

enum bench_verdict {
    BENCH_INFORMS, /* no target */
    BENCH_MEETS,
    BENCH_MISSES, /* slower than it should be on this machine, today */
    BENCH_WRONG,  /* a result that is not what it must be: the exit status is 1 */
};

struct bench_row {
    const char *name;
    const char *unit;
    double value;
    double target; /* NAN: none */
    enum bench_verdict verdict;
    const char *note;
};

/* Where rows go: printed at once, or collected for --json. */
struct bench {
    json_t *rows; /* NULL: print */
    bool wrong;
};

void bench_report(struct bench *bench, const struct bench_row *row);

/* The benchmarks; each blocks for some seconds. False: its config could not be loaded, said. */
bool bench_yardstick(struct bench *bench);
bool bench_mm1(struct bench *bench);
bool bench_p1(struct bench *bench);
bool bench_reference(struct bench *bench);
bool bench_scale(struct bench *bench);
bool bench_memory(struct bench *bench);
/* Manifests of 10,000 to 10 M live entries: an append of 8 entries, a lookup of a step. Needs 1 GB.
 */
void bench_core(struct bench *bench);

#endif
