/* histogram.h - counts of durations in logarithmic buckets, sparse: only the range that was hit is
 * kept.
 *
 * Method: HdrHistogram's linear steps inside each power of two, 32 a power, on units of 256 ns. A
 * quantile is the middle of its bucket, so that it lies within 1.6 % of the exact one (from 8 us
 * on; below it, within 128 ns). Integer arithmetic only: the same values give the same buckets
 * everywhere. Times are nanoseconds; negative ones count as 0. Allocation failure aborts. */
#ifndef EXPERIMENTS_HISTOGRAM_H
#define EXPERIMENTS_HISTOGRAM_H

#include "core/base.h"

#define HISTOGRAM_BUCKETS 1664
#define HISTOGRAM_ERROR 0.016 /* largest relative error of a quantile of at least 8.2 us */

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
/* 0 < fraction < 1: the smallest value that at least this fraction of all lies at or below; in
 * nanoseconds. Only for a histogram that is not empty. */
int64_t histogram_quantile_ns(const struct histogram *histogram, double fraction);
/* Empties it and frees its memory. */
void histogram_deinit(struct histogram *histogram);

/* Its bucket, and what a bucket's count stands for: its middle. */
uint32_t histogram_bucket(int64_t value_ns);
int64_t histogram_bucket_middle_ns(uint32_t bucket);

#endif
