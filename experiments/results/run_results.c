/* run_results.c - see run_results.h. A run has tens of names: a linear search is enough. */
#include "experiments/results/run_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element; returns the array, moved or not. */
static void *grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = realloc(array, *capacity * element_bytes);
    assert(grown != NULL);
    return grown;
}

static void copy_text(char *to, const char *from, size_t capacity)
{
    size_t length = strlen(from);
    assert(length < capacity);
    memcpy(to, from, length + 1);
}

void run_results_add_metric(struct run_results *results, const char *name, const char *unit,
                            double value)
{
    assert(isfinite(value));
    assert(run_results_metric(results, name) == NULL);
    results->metrics = grow(results->metrics, results->metric_count, &results->metric_capacity,
                            sizeof(*results->metrics));
    struct result_metric *metric = &results->metrics[results->metric_count++];
    copy_text(metric->name, name, sizeof(metric->name));
    copy_text(metric->unit, unit, sizeof(metric->unit));
    metric->value = value;
}

static struct result_series *find_series(const struct run_results *results, const char *name)
{
    for (size_t i = results->series_count; i > 0; i--)
        if (strcmp(results->series[i - 1].name, name) == 0)
            return &results->series[i - 1];
    return NULL;
}

static struct result_series *add_series(struct run_results *results, const char *name,
                                        const char *unit)
{
    results->series = grow(results->series, results->series_count, &results->series_capacity,
                           sizeof(*results->series));
    struct result_series *series = &results->series[results->series_count++];
    *series = (struct result_series){0};
    copy_text(series->name, name, sizeof(series->name));
    copy_text(series->unit, unit, sizeof(series->unit));
    return series;
}

void run_results_add_point(struct run_results *results, const char *name, const char *unit,
                           struct result_point point)
{
    assert(isfinite(point.t_s));
    assert(isfinite(point.value));
    struct result_series *series = find_series(results, name);
    if (series == NULL)
        series = add_series(results, name, unit);
    assert(strcmp(series->unit, unit) == 0);
    assert(series->point_count == 0 || series->points[series->point_count - 1].t_s < point.t_s);
    series->points =
        grow(series->points, series->point_count, &series->point_capacity, sizeof(*series->points));
    series->points[series->point_count++] = point;
}

const struct result_metric *run_results_metric(const struct run_results *results, const char *name)
{
    for (size_t i = 0; i < results->metric_count; i++)
        if (strcmp(results->metrics[i].name, name) == 0)
            return &results->metrics[i];
    return NULL;
}

const struct result_series *run_results_series(const struct run_results *results, const char *name)
{
    return find_series(results, name);
}

void run_results_deinit(struct run_results *results)
{
    for (size_t i = 0; i < results->series_count; i++)
        free(results->series[i].points);
    free(results->series);
    free(results->metrics);
    *results = (struct run_results){0};
}
