/* histogram.h - counts of durations in logarithmic buckets, sparse: only the range that was hit is
 * kept.
 *
 * Method: HdrHistogram's linear steps inside each power of two, 64 a power, on units of 256 ns. A
 * quantile is interpolated by rank within its bucket, the one that holds the exact quantile, so
 * that it is off by 1.6 % at most (from 16 us on; below it, by 256 ns), and does not jump between a
 * few fixed values, which would make differences between seeds vanish. The same values give the
 * same quantiles everywhere, in any order. Times are nanoseconds; negative ones count as 0.
 * Allocation failure aborts. */
#ifndef EXPERIMENTS_HISTOGRAM_H
#define EXPERIMENTS_HISTOGRAM_H

#include "core/base.h"

#define HISTOGRAM_BUCKETS 3200
#define HISTOGRAM_ERROR 0.016 /* largest relative error of a quantile of at least 16.4 us */

/* Zero-initialised is empty. Owns `counts`. */
struct histogram {
    uint32_t first; /* bucket of counts[0] */
    uint32_t size;  /* buckets kept */
    uint64_t total;
    uint64_t *counts;
};

void histogram_add(struct histogram *histogram, int64_t value_ns);
void histogram_add_count(struct histogram *histogram, uint32_t bucket, uint64_t count);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* 0 < fraction < 1: the smallest value that at least this fraction of all lies at or below, in
 * nanoseconds, as exactly as said above. Only for a histogram that is not empty. */
int64_t histogram_quantile_ns(const struct histogram *histogram, double fraction);
/* Empties it and frees its memory. */
void histogram_deinit(struct histogram *histogram);

/* Where a value is counted; and the middle of a bucket. */
uint32_t histogram_bucket(int64_t value_ns);
int64_t histogram_bucket_middle_ns(uint32_t bucket);

#endif
