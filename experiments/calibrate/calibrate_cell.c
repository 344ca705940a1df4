/* calibrate_cell.c - see calibrate_cell.h. Ours; GSL supplies quantiles. */
#include "experiments/calibrate/calibrate_cell.h"

#include <gsl/gsl_statistics_long.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/units.h"

static_assert(sizeof(long) == sizeof(int64_t), "GSL's longs are the latencies");

static const char *const names[] = {
#define X(code, name, verb) [code] = name,
    CALIBRATE_WORKS(X)
#undef X
};

static const enum store_verb verbs[] = {
#define X(code, name, verb) [code] = verb,
    CALIBRATE_WORKS(X)
#undef X
};

const char *calibrate_work_name(enum calibrate_work work)
{
    assert(work < CALIBRATE_WORK_COUNT);
    return names[work];
}

enum store_verb calibrate_work_verb(enum calibrate_work work)
{
    assert(work < CALIBRATE_WORK_COUNT);
    return verbs[work];
}

static bool has_bytes(enum calibrate_work work)
{
    return work == CALIBRATE_GET || work == CALIBRATE_PUT || work == CALIBRATE_CREATE;
}

void calibrate_cell_text(const struct calibrate_cell *cell, char text[CALIBRATE_CELL_TEXT_MAX])
{
    char bytes[UNIT_TEXT_MAX] = "";
    if (has_bytes(cell->work))
        unit_print_bytes(cell->bytes, bytes);
    int used = snprintf(text, CALIBRATE_CELL_TEXT_MAX, "%s%s%.20s x %u",
                        calibrate_work_name(cell->work), *bytes ? " " : "", bytes, cell->clients);
    if (cell->streams > 1)
        snprintf(text + used, CALIBRATE_CELL_TEXT_MAX - (size_t)used, " x %u streams",
                 cell->streams);
}

double calibrate_quantile(const struct calibrate_result *result, double p)
{
    if (result->count == 0)
        return 0.0;
    return gsl_stats_long_quantile_from_sorted_data((const long *)result->latencies_ns, 1,
                                                    result->count, p);
}

double calibrate_rate(const struct calibrate_cell *cell, const struct calibrate_result *result)
{
    return has_bytes(cell->work) ? result->per_s * (double)cell->bytes : 0.0;
}

double calibrate_lost_share(const struct calibrate_result *result)
{
    uint64_t decided = result->successes + result->lost;
    return decided > 0 ? (double)result->lost / (double)decided : 0.0;
}

double calibrate_lost_time(const struct calibrate_result *result)
{
    return result->lost > 0 ? (double)result->lost_ns / (double)result->lost : 0.0;
}

void calibrate_result_add(struct calibrate_result *result, const int64_t *latencies_ns,
                          size_t count)
{
    if (count == 0)
        return;
    result->latencies_ns =
        reallocarray(result->latencies_ns, result->count + count, sizeof(*result->latencies_ns));
    assert(result->latencies_ns != NULL);
    memcpy(result->latencies_ns + result->count, latencies_ns, count * sizeof(*latencies_ns));
    result->count += count;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

void calibrate_result_sort(struct calibrate_result *result)
{
    if (result->count > 0)
        qsort(result->latencies_ns, result->count, sizeof(*result->latencies_ns), compare);
}

void calibrate_result_deinit(struct calibrate_result *result)
{
    free(result->latencies_ns);
    *result = (struct calibrate_result){0};
}
