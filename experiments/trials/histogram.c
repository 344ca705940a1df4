/* histogram.c - see histogram.h. Buckets 0..63 are single units of 256 ns; each power of two above
 * is cut into 64 equal steps. */
#include "experiments/trials/histogram.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_SHIFT 8
#define STEP_SHIFT 6
#define STEPS (UINT64_C(1) << STEP_SHIFT)

uint32_t histogram_bucket(int64_t value_ns)
{
    uint64_t units = value_ns > 0 ? (uint64_t)value_ns >> UNIT_SHIFT : 0;
    if (units < STEPS)
        return (uint32_t)units;
    uint32_t shift = 63U - (uint32_t)__builtin_clzll(units) - STEP_SHIFT;
    uint32_t bucket = (shift << STEP_SHIFT) + (uint32_t)(units >> shift);
    assert(bucket < HISTOGRAM_BUCKETS);
    return bucket;
}

/* The bucket's lower bound; its width is *width. */
static uint64_t bounds_ns(uint32_t bucket, uint64_t *width)
{
    assert(bucket < HISTOGRAM_BUCKETS);
    uint32_t shift = bucket < STEPS ? 0 : (bucket >> STEP_SHIFT) - 1;
    *width = UINT64_C(1) << (shift + UNIT_SHIFT);
    return ((uint64_t)bucket - ((uint64_t)shift << STEP_SHIFT)) << (shift + UNIT_SHIFT);
}

int64_t histogram_bucket_middle_ns(uint32_t bucket)
{
    uint64_t width;
    uint64_t low = bounds_ns(bucket, &width);
    return (int64_t)(low + width / 2);
}

/* Makes room for one bucket, with some slack on the side to which it grew. */
static void include(struct histogram *histogram, uint32_t bucket)
{
    uint32_t low = histogram->size > 0 ? histogram->first : bucket;
    uint32_t high = histogram->size > 0 ? histogram->first + histogram->size : bucket;
    if (bucket < low)
        low = bucket > 8 ? bucket - 8 : 0;
    if (bucket >= high)
        high = bucket + 8 < HISTOGRAM_BUCKETS ? bucket + 8 : HISTOGRAM_BUCKETS;
    uint64_t *counts = calloc(high - low, sizeof(*counts));
    assert(counts != NULL);
    if (histogram->size > 0)
        memcpy(counts + (histogram->first - low), histogram->counts,
               histogram->size * sizeof(*counts));
    free(histogram->counts);
    histogram->counts = counts;
    histogram->first = low;
    histogram->size = high - low;
}

void histogram_add_count(struct histogram *histogram, uint32_t bucket, uint64_t count)
{
    assert(bucket < HISTOGRAM_BUCKETS);
    if (count == 0)
        return;
    if (bucket - histogram->first >= histogram->size)
        include(histogram, bucket);
    histogram->counts[bucket - histogram->first] += count;
    histogram->total += count;
}

void histogram_add(struct histogram *histogram, int64_t value_ns)
{
    histogram_add_count(histogram, histogram_bucket(value_ns), 1);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    assert(into != from);
    for (uint32_t i = 0; i < from->size; i++)
        histogram_add_count(into, from->first + i, from->counts[i]);
}

int64_t histogram_quantile_ns(const struct histogram *histogram, double fraction)
{
    assert(histogram->total > 0);
    assert(fraction > 0 && fraction < 1);
    double exact = fraction * (double)histogram->total;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0)
        rank++;
    uint64_t before = 0;
    uint32_t i = 0;
    while (i + 1 < histogram->size && before + histogram->counts[i] < rank)
        before += histogram->counts[i++];
    uint64_t width;
    uint64_t low = bounds_ns(histogram->first + i, &width);
    double part = ((double)(rank - before) - 0.5) / (double)histogram->counts[i];
    return (int64_t)low + (int64_t)(part * (double)width);
}

void histogram_deinit(struct histogram *histogram)
{
    free(histogram->counts);
    *histogram = (struct histogram){0};
}
