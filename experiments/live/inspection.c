/* inspection.c - see inspection.h: growing arrays and look-ups. Ours. */
#include "experiments/live/inspection.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = realloc(array, *capacity * element_bytes);
    assert(grown != NULL);
    return grown;
}

void inspection_deinit(struct inspection *inspection)
{
    json_decref(inspection->marker);
    free(inspection->versions);
    free(inspection->streams);
    free(inspection->entries);
    free(inspection->tgbs);
    free(inspection->consumers);
    free(inspection->problems);
}

void inspection_problem(struct inspection *inspection, uint64_t version, uint64_t step,
                        const char *format, ...)
{
    inspection->problem_total++;
    if (inspection->problem_count == INSPECT_PROBLEMS_MAX)
        return;
    inspection->problems = grow(inspection->problems, inspection->problem_count,
                                &inspection->problem_capacity, sizeof(*inspection->problems));
    struct inspect_problem *problem = &inspection->problems[inspection->problem_count++];
    problem->version = version;
    problem->step = step;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
}

void inspection_forgive(struct inspection *inspection, struct floor floor)
{
    size_t kept = 0;
    for (size_t i = 0; i < inspection->problem_count; i++) {
        const struct inspect_problem *problem = &inspection->problems[i];
        bool gone = (problem->version != 0 && problem->version < floor.version) ||
                    (problem->step != 0 && problem->step < floor.step);
        if (!gone)
            inspection->problems[kept++] = *problem;
    }
    inspection->problem_total -= inspection->problem_count - kept;
    inspection->problem_count = kept;
}

struct inspect_version *inspection_add_version(struct inspection *inspection, uint64_t version,
                                               uint64_t bytes)
{
    inspection->versions = grow(inspection->versions, inspection->version_count,
                                &inspection->version_capacity, sizeof(*inspection->versions));
    struct inspect_version *added = &inspection->versions[inspection->version_count++];
    *added = (struct inspect_version){.version = version, .bytes = bytes};
    return added;
}

void inspection_add_tgb(struct inspection *inspection, const struct tgb_name *name, uint64_t bytes)
{
    inspection->tgbs = grow(inspection->tgbs, inspection->tgb_count, &inspection->tgb_capacity,
                            sizeof(*inspection->tgbs));
    inspection->tgbs[inspection->tgb_count++] = (struct inspect_tgb){.name = *name, .bytes = bytes};
    inspection->tgb_bytes += bytes;
}

void inspection_add_consumer(struct inspection *inspection, const struct watermark *consumer)
{
    inspection->consumers = grow(inspection->consumers, inspection->consumer_count,
                                 &inspection->consumer_capacity, sizeof(*inspection->consumers));
    inspection->consumers[inspection->consumer_count++] = *consumer;
}

void inspection_add_entry(struct inspection *inspection, const struct manifest_entry *entry)
{
    inspection->entries = grow(inspection->entries, inspection->entry_count,
                               &inspection->entry_capacity, sizeof(*inspection->entries));
    inspection->entries[inspection->entry_count++] = *entry;
}

struct inspect_stream *inspection_stream(struct inspection *inspection, uint32_t producer)
{
    size_t low = 0;
    size_t high = inspection->stream_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inspection->streams[middle].producer < producer)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < inspection->stream_count && inspection->streams[low].producer == producer)
        return &inspection->streams[low];
    inspection->streams = grow(inspection->streams, inspection->stream_count,
                               &inspection->stream_capacity, sizeof(*inspection->streams));
    memmove(&inspection->streams[low + 1], &inspection->streams[low],
            (inspection->stream_count - low) * sizeof(*inspection->streams));
    inspection->streams[low] = (struct inspect_stream){.producer = producer};
    inspection->stream_count++;
    return &inspection->streams[low];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int tgb_compare(const struct tgb_name *a, const struct tgb_name *b)
{
    int order = compare_numbers(a->producer, b->producer);
    if (order == 0)
        order = compare_numbers(a->sequence, b->sequence);
    if (order == 0)
        order = compare_numbers(a->epoch, b->epoch);
    if (order == 0)
        order = compare_numbers(a->end_offset, b->end_offset);
    if (order == 0)
        order = compare_numbers(a->bucket, b->bucket);
    return order != 0 ? order : memcmp(&a->incarnation, &b->incarnation, INCARNATION_BYTES);
}

static int compare_for_sort(const void *a, const void *b)
{
    return tgb_compare(&((const struct inspect_tgb *)a)->name,
                       &((const struct inspect_tgb *)b)->name);
}

void inspection_sort_tgbs(struct inspection *inspection)
{
    if (inspection->tgb_count > 0)
        qsort(inspection->tgbs, inspection->tgb_count, sizeof(*inspection->tgbs), compare_for_sort);
}

struct inspect_tgb *inspection_find_tgb(const struct inspection *inspection,
                                        const struct tgb_name *name)
{
    size_t low = 0;
    size_t high = inspection->tgb_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = tgb_compare(&inspection->tgbs[middle].name, name);
        if (order == 0)
            return &inspection->tgbs[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
