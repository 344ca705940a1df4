/* recorder.h - turns what producers report into counts per bin of time, for sim and live alike.
 *
 * One recorder per run (live: one per process, merged by the parent). It belongs to one thread. It
 * is told through the observer that recorder_observer makes; nothing blocks; allocation failure
 * aborts.
 *
 * What counts when: an attempt, with its times and retries, in the bin of its decision; a batch in
 * the bin in which it became visible; a request, and its latency, in the bin of its answer. What is
 * before start or at or after start + duration is in no bin; a batch that was made before the end
 * and became visible after it counts as invisible at the end. */
#ifndef EXPERIMENTS_RECORDER_H
#define EXPERIMENTS_RECORDER_H

#include "core/driver.h"
#include "core/loop.h"
#include "experiments/results/run_results.h"
#include "experiments/trials/histogram.h"

#define RECORDER_BINS_MAX 1000000
#define RECORDER_CELLS_MAX (UINT64_C(1) << 28) /* bins x producers */
#define RECORDER_HOURS_MAX 168                 /* hours with metrics of their own */

struct recorder_options {
    int64_t start_ns;    /* of the run, in the loop's time */
    int64_t duration_ns; /* > 0 */
    int64_t warmup_ns;   /* left out of metrics (in whole bins, rounded up), never of series */
    int64_t bin_ns;      /* > 0; the last bin may be shorter */
    /* Fairness is Jain's index over the bytes that each producer committed in a window that ends
     * with the bin: this long, in whole bins. 0: one hour, or the whole run if that is shorter.
     * Bins before the first full window have no fairness. */
    int64_t fairness_window_ns;
    uint32_t producers; /* ids are 0 .. producers - 1 */
    /* US dollars for 1000 requests, whatever their outcome. */
    double price_per_1000[STORE_VERB_COUNT];
};

struct recorder;

/* Copies the options. Free it by recorder_close. */
struct recorder *recorder_open(const struct recorder_options *options);
void recorder_close(struct recorder *recorder); /* NULL is allowed */

/* The loop, borrowed, gives the time of requests; without one they count at the time of the latest
 * attempt or visible batch. Set before the first request. */
void recorder_set_loop(struct recorder *recorder, struct loop *loop);

/* The observer to give to drivers. The recorder must outlive its users. */
struct producer_observer recorder_observer(struct recorder *recorder);

/* Live: how long the store took for a request, apart from the observer's `request`; and how many it
 * had of one process at once, of which the largest is kept. */
void recorder_note_latency(struct recorder *recorder, enum store_verb verb, int64_t latency_ns);
void recorder_note_in_flight(struct recorder *recorder, uint64_t in_flight);

/* Called by the runner when the run is over, once for every batch that was made and is not visible.
 */
void recorder_note_invisible(struct recorder *recorder, uint32_t producer, int64_t made_ns,
                             uint64_t bytes);

/* Producers that ended other than as asked. The text is why the first of them did; empty if none
 * did. */
uint32_t recorder_failed_producers(const struct recorder *recorder);
const char *recorder_failure(const struct recorder *recorder);

/* Derives all metrics and series; adds to what `results` holds.
 *
 * Metrics, over [warm-up, end): success (ratio), committed_mb_s (MB/s, 10^6 bytes), age_median_s
 * and age_p99_s (from made to visible), age_invisible_max_s and invisible_bytes (at the end; 0 if
 * nothing was noted), fairness_jain, worst_producer_age_s (the largest of the producers' median
 * ages; a producer without a visible batch counts by its oldest invisible one), attempts, won,
 * lost, manifest_bytes (largest), attempt_time_s, window_s and gap_s (means), requests_<verb>,
 * bytes_<verb>, dollars, retries_busy, retries_unknown, retries_throttled, retries_resent,
 * retries_vanished, retries_invalid, producers_failed; where they were noted,
 * latency_<verb>_median_s, latency_<verb>_p99_s (of the store itself) and in_flight_max. Where the
 * run lasts an hour or more, for every whole hour K = 1, 2 ...: success_hK, committed_mb_s_hK,
 * age_median_s_hK, age_p99_s_hK, attempt_time_s_hK, fairness_jain_hK, attempts_hK,
 * manifest_bytes_hK; a bin belongs to the hour in which it starts, and the warm-up is left out
 * there too.
 *
 * Series, t = start of the bin in seconds: success, committed_mb_s, age_median_s, age_p99_s,
 * attempt_time_s, manifest_bytes, fairness_jain, won, lost. A bin without attempts has no success,
 * time or manifest, one without visible batches no age, one in which nothing at all was seen no
 * row. */
void recorder_results(const struct recorder *recorder, struct run_results *results);

/* The recorder's content as bytes, to be freed by the caller; for a process on the same machine
 * that runs the same build. */
uint8_t *recorder_serialize(const struct recorder *recorder, size_t *size);

#define RECORDER_MERGES(X)                                                                         \
    X(RECORDER_MERGED, "merged")                                                                   \
    X(RECORDER_TRUNCATED, "shorter or longer than its header says: its sender did not finish")     \
    X(RECORDER_BAD_MAGIC, "not a recorder of this build")                                          \
    X(RECORDER_BAD_CHECKSUM, "its checksum does not match its bytes")                              \
    X(RECORDER_OTHER_OPTIONS, "recorded with other times, bins or producers")                      \
    X(RECORDER_BAD_FIELD, "a field holds an impossible value")

enum recorder_merge_error {
#define X(code, text) code,
    RECORDER_MERGES(X)
#undef X
};

const char *recorder_merge_text(enum recorder_merge_error error);

/* Adds what the bytes hold; all is checked first, and on an error the recorder is unchanged. The
 * options must agree but for the prices. */
MUST_USE enum recorder_merge_error recorder_merge(struct recorder *recorder, const uint8_t *bytes,
                                                  size_t size);

#endif
