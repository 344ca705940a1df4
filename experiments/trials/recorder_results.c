/* recorder_results.c - derives metrics and series from what a recorder counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/results/statistics.h"
#include "experiments/trials/recorder.h"
#include "experiments/trials/recorder_private.h"

#define HOUR_NS (3600 * NS_PER_S)
#define MEGABYTE 1e6

/* What a range of bins holds together. */
struct span {
    struct recorder_sums sums;
    struct histogram age;
    double seconds;
    double jain; /* NAN: nothing committed */
};

/* Where metrics of one span go: the whole run's have no suffix, an hour's "_h<K>". */
struct sink {
    struct run_results *results;
    char suffix[16];
};

static void add(const struct sink *sink, const char *name, const char *unit, double value)
{
    char full[RESULT_NAME_MAX];
    int length = snprintf(full, sizeof(full), "%s%s", name, sink->suffix);
    assert(length > 0 && (size_t)length < sizeof(full));
    run_results_add_metric(sink->results, full, unit, value);
}

static double seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static int64_t bin_start_ns(const struct recorder *recorder, uint32_t bin)
{
    return (int64_t)bin * recorder->options.bin_ns;
}

static int64_t bin_end_ns(const struct recorder *recorder, uint32_t bin)
{
    int64_t end_ns = bin_start_ns(recorder, bin) + recorder->options.bin_ns;
    return end_ns < recorder->options.duration_ns ? end_ns : recorder->options.duration_ns;
}

static double share(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

static double mean_s(uint64_t sum_ns, uint64_t count)
{
    return (double)sum_ns / (double)count / (double)NS_PER_S;
}

static uint64_t attempts(const struct recorder_sums *sums)
{
    return sums->won + sums->lost;
}

/* Bins [first, last). `bytes` has room for one value per producer. */
static struct span span_of(const struct recorder *recorder, uint32_t first, uint32_t last,
                           double *bytes)
{
    assert(first < last && last <= recorder->bin_count);
    struct span span = {0};
    uint32_t producers = recorder->options.producers;
    memset(bytes, 0, producers * sizeof(*bytes));
    for (uint32_t bin = first; bin < last; bin++) {
        recorder_add_sums(&span.sums, &recorder->bins[bin].sums);
        histogram_merge(&span.age, &recorder->bins[bin].age);
        for (uint32_t i = 0; i < producers; i++)
            bytes[i] += (double)recorder->committed[(size_t)bin * producers + i];
    }
    span.seconds = seconds(bin_end_ns(recorder, last - 1) - bin_start_ns(recorder, first));
    span.jain = statistics_jain(bytes, producers);
    return span;
}

/* Metrics that hours have too. */
static void add_span(const struct sink *sink, const struct span *span)
{
    const struct recorder_sums *sums = &span->sums;
    uint64_t decided = attempts(sums);
    add(sink, "attempts", "1", (double)decided);
    add(sink, "committed_mb_s", "MB/s", (double)sums->committed_bytes / MEGABYTE / span->seconds);
    if (decided > 0) {
        add(sink, "success", "ratio", share(sums->won, decided));
        add(sink, "attempt_time_s", "s", mean_s(sums->tau_ns, decided));
        add(sink, "manifest_bytes", "B", (double)sums->manifest_bytes);
    }
    if (span->age.total > 0) {
        add(sink, "age_median_s", "s", seconds(histogram_quantile_ns(&span->age, 0.5)));
        add(sink, "age_p99_s", "s", seconds(histogram_quantile_ns(&span->age, 0.99)));
    }
    if (isfinite(span->jain))
        add(sink, "fairness_jain", "ratio", span->jain);
}

static void add_requests(const struct recorder *recorder, const struct sink *sink,
                         const struct recorder_sums *sums)
{
    double dollars = 0;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        char name[RESULT_NAME_MAX];
        const char *verb_name = store_verb_name((enum store_verb)verb);
        snprintf(name, sizeof(name), "requests_%s", verb_name);
        add(sink, name, "1", (double)sums->requests[verb]);
        snprintf(name, sizeof(name), "bytes_%s", verb_name);
        add(sink, name, "B", (double)sums->request_bytes[verb]);
        dollars += (double)sums->requests[verb] / 1000 * recorder->options.price_per_1000[verb];
    }
    add(sink, "dollars", "USD", dollars);
}

static void add_latencies(const struct recorder *recorder, const struct sink *sink)
{
    static const struct {
        const char *name;
        double fraction;
    } quantiles[] = {{"median", 0.5}, {"p99", 0.99}};
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        const struct histogram *latency = &recorder->latency[verb];
        for (size_t i = 0; i < 2 && latency->total > 0; i++) {
            char name[RESULT_NAME_MAX];
            snprintf(name, sizeof(name), "latency_%s_%s_s", store_verb_name((enum store_verb)verb),
                     quantiles[i].name);
            add(sink, name, "s", seconds(histogram_quantile_ns(latency, quantiles[i].fraction)));
        }
    }
    if (recorder->in_flight_max > 0)
        add(sink, "in_flight_max", "1", (double)recorder->in_flight_max);
}

static void add_retries(const struct sink *sink, const struct commit_counters *retries)
{
    add(sink, "retries_busy", "1", (double)retries->busy);
    add(sink, "retries_unknown", "1", (double)retries->unknown);
    add(sink, "retries_throttled", "1", (double)retries->throttled);
    add(sink, "retries_resent", "1", (double)retries->resent);
    add(sink, "retries_vanished", "1", (double)retries->vanished);
    add(sink, "retries_invalid", "1", (double)retries->invalid);
}

static void add_producers(const struct recorder *recorder, const struct sink *sink)
{
    int64_t worst_ns = -1;
    int64_t invisible_ns = 0;
    uint64_t invisible_bytes = 0;
    for (uint32_t i = 0; i < recorder->options.producers; i++) {
        const struct recorder_producer *producer = &recorder->producers[i];
        int64_t age_ns = -1;
        if (producer->oldest_invisible_ns != TIME_NEVER) {
            age_ns = recorder->end_ns - producer->oldest_invisible_ns;
            invisible_ns = age_ns > invisible_ns ? age_ns : invisible_ns;
        }
        if (producer->age.total > 0)
            age_ns = histogram_quantile_ns(&producer->age, 0.5);
        worst_ns = age_ns > worst_ns ? age_ns : worst_ns;
        invisible_bytes += producer->invisible_bytes;
    }
    if (worst_ns >= 0)
        add(sink, "worst_producer_age_s", "s", seconds(worst_ns));
    add(sink, "age_invisible_max_s", "s", seconds(invisible_ns));
    add(sink, "invisible_bytes", "B", (double)invisible_bytes);
    add(sink, "producers_failed", "1", recorder->failed_producers);
}

static void add_whole(const struct recorder *recorder, const struct sink *sink, double *bytes)
{
    if (recorder->warmup_bins >= recorder->bin_count)
        return;
    struct span span = span_of(recorder, recorder->warmup_bins, recorder->bin_count, bytes);
    const struct recorder_sums *sums = &span.sums;
    add_span(sink, &span);
    add(sink, "won", "1", (double)sums->won);
    add(sink, "lost", "1", (double)sums->lost);
    if (attempts(sums) > 0)
        add(sink, "window_s", "s", mean_s(sums->window_ns, attempts(sums)));
    if (sums->gap_count > 0)
        add(sink, "gap_s", "s", mean_s(sums->gap_ns, sums->gap_count));
    add_requests(recorder, sink, sums);
    add_latencies(recorder, sink);
    add_retries(sink, &sums->retries);
    add_producers(recorder, sink);
    histogram_deinit(&span.age);
}

/* The first bin that starts at or after this time. */
static uint32_t bin_from(const struct recorder *recorder, int64_t at_ns)
{
    int64_t bin_ns = recorder->options.bin_ns;
    int64_t bin = at_ns / bin_ns + (at_ns % bin_ns != 0);
    return bin < recorder->bin_count ? (uint32_t)bin : recorder->bin_count;
}

static void add_hours(const struct recorder *recorder, struct sink *sink, double *bytes)
{
    int64_t hours = recorder->options.duration_ns / HOUR_NS;
    for (int64_t hour = 1; hour <= hours && hour <= RECORDER_HOURS_MAX; hour++) {
        uint32_t first = bin_from(recorder, (hour - 1) * HOUR_NS);
        uint32_t last = bin_from(recorder, hour * HOUR_NS);
        if (first < recorder->warmup_bins)
            first = recorder->warmup_bins;
        if (first >= last)
            continue;
        struct span span = span_of(recorder, first, last, bytes);
        snprintf(sink->suffix, sizeof(sink->suffix), "_h%d", (int)hour);
        add_span(sink, &span);
        histogram_deinit(&span.age);
    }
}

static bool is_empty(const struct recorder_sums *sums)
{
    uint64_t seen = attempts(sums) + sums->batches;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        seen += sums->requests[verb];
    return seen == 0;
}

static void add_bin(const struct recorder *recorder, uint32_t index, struct run_results *results)
{
    const struct recorder_bin *bin = &recorder->bins[index];
    const struct recorder_sums *sums = &bin->sums;
    if (is_empty(sums))
        return;
    int64_t start_ns = bin_start_ns(recorder, index);
    double length_s = seconds(bin_end_ns(recorder, index) - start_ns);
    struct result_point point = {.t_s = seconds(start_ns)};
#define ADD(name, unit, number)                                                                    \
    (point.value = (number), run_results_add_point(results, name, unit, point))
    ADD("committed_mb_s", "MB/s", (double)sums->committed_bytes / MEGABYTE / length_s);
    ADD("won", "1", (double)sums->won);
    ADD("lost", "1", (double)sums->lost);
    if (attempts(sums) > 0) {
        ADD("success", "ratio", share(sums->won, attempts(sums)));
        ADD("attempt_time_s", "s", mean_s(sums->tau_ns, attempts(sums)));
        ADD("manifest_bytes", "B", (double)sums->manifest_bytes);
    }
    if (bin->age.total > 0) {
        ADD("age_median_s", "s", seconds(histogram_quantile_ns(&bin->age, 0.5)));
        ADD("age_p99_s", "s", seconds(histogram_quantile_ns(&bin->age, 0.99)));
    }
#undef ADD
}

/* The window in bins: at least one, at most all. */
static uint32_t fairness_bins(const struct recorder *recorder)
{
    int64_t window_ns = recorder->options.fairness_window_ns;
    if (window_ns == 0)
        window_ns = HOUR_NS;
    if (window_ns >= recorder->options.duration_ns)
        return recorder->bin_count;
    uint32_t bins = bin_from(recorder, window_ns);
    return bins > 0 ? bins : 1;
}

static void add_fairness(const struct recorder *recorder, double *bytes,
                         struct run_results *results)
{
    uint32_t producers = recorder->options.producers;
    uint32_t window = fairness_bins(recorder);
    memset(bytes, 0, producers * sizeof(*bytes));
    for (uint32_t bin = 0; bin < recorder->bin_count; bin++) {
        const uint64_t *enters = recorder->committed + (size_t)bin * producers;
        for (uint32_t i = 0; i < producers; i++)
            bytes[i] += (double)enters[i]; /* exact: integers below 2^53 */
        if (bin >= window) {
            const uint64_t *leaves = enters - (size_t)window * producers;
            for (uint32_t i = 0; i < producers; i++)
                bytes[i] -= (double)leaves[i];
        }
        double jain = bin + 1 >= window ? statistics_jain(bytes, producers) : NAN;
        if (isfinite(jain)) {
            struct result_point point = {seconds(bin_start_ns(recorder, bin)), jain};
            run_results_add_point(results, "fairness_jain", "ratio", point);
        }
    }
}

void recorder_results(const struct recorder *recorder, struct run_results *results)
{
    double *bytes = calloc(recorder->options.producers, sizeof(*bytes));
    assert(bytes != NULL);
    struct sink sink = {.results = results};
    add_whole(recorder, &sink, bytes);
    add_hours(recorder, &sink, bytes);
    for (uint32_t bin = 0; bin < recorder->bin_count; bin++)
        add_bin(recorder, bin, results);
    add_fairness(recorder, bytes, results);
    free(bytes);
}
