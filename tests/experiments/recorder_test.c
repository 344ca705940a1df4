/* Tests of experiments/recorder*.c against numbers worked out by hand. */
#include "experiments/trials/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

#define S NS_PER_S
#define HOUR (3600 * S)

/* 40 s in bins of 10 s, the first one is warm-up; starts at 100 s. */
static const struct recorder_options small = {
    .start_ns = 100 * S,
    .duration_ns = 40 * S,
    .warmup_ns = 10 * S,
    .bin_ns = 10 * S,
    .fairness_window_ns = 20 * S,
    .producers = 2,
    .price_per_1000 = {[STORE_GET] = 0.4, [STORE_PUT] = 5},
};

static void attempt(struct recorder *recorder, enum attempt_outcome outcome, int64_t at_ns,
                    int64_t tau_ns)
{
    struct producer_observer observer = recorder_observer(recorder);
    struct attempt made = {
        .outcome = outcome,
        .ended_ns = at_ns,
        .tau_ns = tau_ns,
        .window_ns = tau_ns / 2,
        .since_last_ns = tau_ns + 3 * S,
        .manifest_bytes = 1000 + (uint64_t)(at_ns / S),
    };
    struct attempt_detail detail = {
        .counters = {.busy = 1, .unknown = 2, .throttled = 3, .resent = 4},
    };
    observer.attempt(observer.context, 0, &made, &detail);
}

static void visible(struct recorder *recorder, uint32_t producer, int64_t made_ns, int64_t at_ns,
                    uint64_t bytes)
{
    struct producer_observer observer = recorder_observer(recorder);
    struct batch batch = {.made_ns = made_ns, .bytes = bytes};
    observer.visible(observer.context, producer, &batch, at_ns);
}

static void request(struct recorder *recorder, enum store_verb verb, uint64_t bytes)
{
    struct producer_observer observer = recorder_observer(recorder);
    observer.request(observer.context, 0, verb, STORE_OK, bytes);
}

static double metric(const struct run_results *results, const char *name)
{
    const struct result_metric *found = run_results_metric(results, name);
    return found != NULL ? found->value : NAN;
}

/* NAN where the series has no row. */
static double point(const struct run_results *results, const char *name, double t_s)
{
    const struct result_series *series = run_results_series(results, name);
    for (size_t i = 0; series != NULL && i < series->point_count; i++)
        if (series->points[i].t_s == t_s)
            return series->points[i].value;
    return NAN;
}

static struct recorder *fill_small(void)
{
    struct recorder *recorder = recorder_open(&small);
    attempt(recorder, ATTEMPT_LOST, 99 * S, 2 * S);  /* before the start */
    attempt(recorder, ATTEMPT_LOST, 105 * S, 2 * S); /* warm-up */
    visible(recorder, 0, 101 * S, 105 * S, 7000000);
    request(recorder, STORE_GET, 10);
    attempt(recorder, ATTEMPT_WON, 112 * S, 2 * S);
    visible(recorder, 0, 104 * S, 112 * S, 20000000);
    request(recorder, STORE_PUT, 500);
    request(recorder, STORE_GET, 11);
    attempt(recorder, ATTEMPT_WON, 119 * S, 4 * S);
    attempt(recorder, ATTEMPT_LOST, 119 * S, 6 * S);
    visible(recorder, 1, 117 * S, 119 * S, 10000000);
    /* nothing from 120 to 130 s */
    attempt(recorder, ATTEMPT_WON, 139 * S, 8 * S);
    visible(recorder, 1, 119 * S, 139 * S, 30000000);
    attempt(recorder, ATTEMPT_WON, 140 * S, 8 * S); /* the end is exclusive */
    visible(recorder, 1, 131 * S, 140 * S, 5);
    recorder_note_invisible(recorder, 0, 125 * S, 6);
    return recorder;
}

static void metrics_leave_out_the_warmup(void)
{
    struct recorder *recorder = fill_small();
    struct run_results results = {0};
    recorder_results(recorder, &results);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempts"), 4, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "won"), 3, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "lost"), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "success"), 0.75, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "committed_mb_s"), 60.0 / 30, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempt_time_s"), 5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "window_s"), 2.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "gap_s"), 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "manifest_bytes"), 1139, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "fairness_jain"), 3600.0 / (2 * (400 + 1600)), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "age_median_s"), 8, 8 * HISTOGRAM_ERROR);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "age_p99_s"), 20, 20 * HISTOGRAM_ERROR);
    /* producer 0: 8 s; producer 1: 2 and 20 s, whose lower median is 2 s */
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "worst_producer_age_s"), 8, 8 * HISTOGRAM_ERROR);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "age_invisible_max_s"), 15, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "invisible_bytes"), 11, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "requests_get"), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "bytes_get"), 11, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "bytes_put"), 500, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "dollars"), 0.0054, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "retries_busy"), 4, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "retries_unknown"), 8, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "retries_throttled"), 12, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "retries_resent"), 16, 0);
    CU_ASSERT_STRING_EQUAL(run_results_metric(&results, "committed_mb_s")->unit, "MB/s");
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "success_h1"));
    run_results_deinit(&results);
    recorder_close(recorder);
}

static void series_have_no_row_without_data(void)
{
    struct recorder *recorder = fill_small();
    struct run_results results = {0};
    recorder_results(recorder, &results);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "success", 0), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "success", 10), 2.0 / 3, 1e-12);
    CU_ASSERT_TRUE(isnan(point(&results, "success", 20)));
    CU_ASSERT_TRUE(isnan(point(&results, "committed_mb_s", 20)));
    CU_ASSERT_TRUE(isnan(point(&results, "won", 20)));
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "committed_mb_s", 10), 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "attempt_time_s", 10), 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "manifest_bytes", 10), 1119, 0);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "won", 30), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "lost", 30), 0, 0);
    CU_ASSERT_EQUAL(run_results_series(&results, "age_p99_s")->point_count, 3);
    /* windows of two bins: the first full one ends with the second bin */
    CU_ASSERT_TRUE(isnan(point(&results, "fairness_jain", 0)));
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "fairness_jain", 10), 1369.0 / (2 * (729 + 100)), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "fairness_jain", 20), 900.0 / (2 * (400 + 100)), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(point(&results, "fairness_jain", 30), 0.5, 1e-9);
    run_results_deinit(&results);
    recorder_close(recorder);
}

static void hours_have_metrics_of_their_own(void)
{
    struct recorder_options options = {.duration_ns = 2 * HOUR + HOUR / 2,
                                       .warmup_ns = HOUR / 2,
                                       .bin_ns = 60 * S,
                                       .producers = 1};
    struct recorder *recorder = recorder_open(&options);
    attempt(recorder, ATTEMPT_LOST, 60 * S, S); /* warm-up of hour 1 */
    attempt(recorder, ATTEMPT_WON, HOUR - 1, 2 * S);
    visible(recorder, 0, HOUR - 10 * S, HOUR - 1, 18000000);
    attempt(recorder, ATTEMPT_LOST, HOUR, 4 * S);
    attempt(recorder, ATTEMPT_WON, 2 * HOUR, 6 * S); /* in no whole hour */
    struct run_results results = {0};
    recorder_results(recorder, &results);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "success_h1"), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempts_h1"), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "committed_mb_s_h1"), 0.01, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "age_median_s_h1"), 10, 10 * HISTOGRAM_ERROR);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "fairness_jain_h1"), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "success_h2"), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempt_time_s_h2"), 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "committed_mb_s_h2"), 0, 0);
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "age_p99_s_h2"));
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "attempts_h3"));
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempts"), 3, 0);
    run_results_deinit(&results);
    recorder_close(recorder);
}

static void nothing_seen_gives_counts_only(void)
{
    struct recorder *recorder = recorder_open(&small);
    struct run_results results = {0};
    recorder_results(recorder, &results);
    CU_ASSERT_EQUAL(results.series_count, 0);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "attempts"), 0, 0);
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "success"));
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "age_median_s"));
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "fairness_jain"));
    run_results_deinit(&results);
    recorder_close(recorder);
}

static void starved_producer_is_the_worst(void)
{
    struct recorder *recorder = recorder_open(&small);
    visible(recorder, 0, 115 * S, 116 * S, 1);
    recorder_note_invisible(recorder, 1, 102 * S, 1);
    struct run_results results = {0};
    recorder_results(recorder, &results);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "worst_producer_age_s"), 38, 1e-9);
    run_results_deinit(&results);
    recorder_close(recorder);
}

static void failed_producers_are_told(void)
{
    struct recorder *recorder = recorder_open(&small);
    struct producer_observer observer = recorder_observer(recorder);
    observer.ended(observer.context, 0, PRODUCER_STOPPED, "");
    CU_ASSERT_EQUAL(recorder_failed_producers(recorder), 0);
    observer.ended(observer.context, 1, PRODUCER_FENCED, "taken over");
    CU_ASSERT_EQUAL(recorder_failed_producers(recorder), 1);
    CU_ASSERT_STRING_EQUAL(recorder_failure(recorder), "producer 1: taken over");
    recorder_close(recorder);
}

static void latencies_of_the_store_are_kept_by_verb(void)
{
    struct recorder *recorder = recorder_open(&small);
    struct run_results results = {0};
    visible(recorder, 0, 101 * S, 105 * S, 1); /* the time is within the warm-up */
    recorder_note_latency(recorder, STORE_GET, 9 * S);
    visible(recorder, 0, 101 * S, 115 * S, 1);
    for (int i = 1; i <= 1000; i++)
        recorder_note_latency(recorder, STORE_GET, i * NS_PER_MS);
    recorder_note_in_flight(recorder, 7);
    recorder_note_in_flight(recorder, 3);
    visible(recorder, 0, 101 * S, 140 * S, 1); /* after the end */
    recorder_note_latency(recorder, STORE_PUT, S);
    recorder_results(recorder, &results);
    double median_s = metric(&results, "latency_get_median_s");
    CU_ASSERT_DOUBLE_EQUAL(median_s, 0.5, 0.5 * HISTOGRAM_ERROR);
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "latency_get_p99_s"), 0.99, 0.99 * HISTOGRAM_ERROR);
    CU_ASSERT_PTR_NULL(run_results_metric(&results, "latency_put_median_s"));
    CU_ASSERT_DOUBLE_EQUAL(metric(&results, "in_flight_max"), 7, 0);
    run_results_deinit(&results);
    recorder_close(recorder);
}

/* One random history, told to `whole` and to one of two parts by producer. */
static void tell(struct recorder *whole, struct recorder *parts[2])
{
    struct random_stream stream = random_stream_make(3, 3);
    for (int i = 0; i < 2000; i++) {
        uint32_t producer = (uint32_t)(random_next(&stream) % 2);
        int64_t at_ns = 95 * S + (int64_t)(random_next(&stream) % (uint64_t)(50 * S));
        int64_t length_ns = (int64_t)(random_next(&stream) % (uint64_t)(30 * S));
        struct recorder *both[2] = {whole, parts[producer]};
        for (int j = 0; j < 2; j++) {
            attempt(both[j], i % 3 == 0 ? ATTEMPT_LOST : ATTEMPT_WON, at_ns, length_ns);
            request(both[j], (enum store_verb)(i % STORE_VERB_COUNT), (uint64_t)i);
            visible(both[j], producer, at_ns - length_ns, at_ns, (uint64_t)i * 1000);
            recorder_note_latency(both[j], (enum store_verb)(i % STORE_VERB_COUNT), length_ns);
            recorder_note_in_flight(both[j], (uint64_t)i % 77);
            if (i % 100 == 0)
                recorder_note_invisible(both[j], producer, at_ns, 1);
        }
    }
}

static void assert_same(const struct run_results *a, const struct run_results *b)
{
    CU_ASSERT_EQUAL_FATAL(a->metric_count, b->metric_count);
    CU_ASSERT_EQUAL_FATAL(a->series_count, b->series_count);
    for (size_t i = 0; i < a->metric_count; i++) {
        CU_ASSERT_STRING_EQUAL(a->metrics[i].name, b->metrics[i].name);
        CU_ASSERT_EQUAL(a->metrics[i].value, b->metrics[i].value);
    }
    for (size_t i = 0; i < a->series_count; i++) {
        CU_ASSERT_EQUAL_FATAL(a->series[i].point_count, b->series[i].point_count);
        for (size_t j = 0; j < a->series[i].point_count; j++)
            CU_ASSERT_EQUAL(a->series[i].points[j].value, b->series[i].points[j].value);
    }
}

static void merged_parts_equal_the_whole(void)
{
    struct recorder *whole = recorder_open(&small);
    struct recorder *parts[2] = {recorder_open(&small), recorder_open(&small)};
    struct recorder *merged = recorder_open(&small);
    tell(whole, parts);
    for (int i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = recorder_serialize(parts[i], &size);
        CU_ASSERT_EQUAL(recorder_merge(merged, bytes, size), RECORDER_MERGED);
        free(bytes);
        recorder_close(parts[i]);
    }
    struct run_results expected = {0};
    struct run_results found = {0};
    recorder_results(whole, &expected);
    recorder_results(merged, &found);
    assert_same(&expected, &found);
    run_results_deinit(&expected);
    run_results_deinit(&found);
    recorder_close(whole);
    recorder_close(merged);
}

static void broken_bytes_are_refused(void)
{
    struct recorder *recorder = fill_small();
    size_t size;
    uint8_t *bytes = recorder_serialize(recorder, &size);
    for (size_t cut = 0; cut < size; cut += 7)
        CU_ASSERT_EQUAL(recorder_merge(recorder, bytes, cut), RECORDER_TRUNCATED);
    for (size_t i = 0; i < size; i += 3) {
        bytes[i] ^= 0x40;
        CU_ASSERT_NOT_EQUAL(recorder_merge(recorder, bytes, size), RECORDER_MERGED);
        bytes[i] ^= 0x40;
    }
    struct recorder_options other = small;
    other.bin_ns = 5 * S;
    struct recorder *different = recorder_open(&other);
    CU_ASSERT_EQUAL(recorder_merge(different, bytes, size), RECORDER_OTHER_OPTIONS);
    CU_ASSERT_TRUE(strlen(recorder_merge_text(RECORDER_OTHER_OPTIONS)) > 0);
    struct run_results expected = {0};
    struct run_results found = {0};
    recorder_results(recorder, &found);
    recorder_close(recorder);
    recorder = fill_small();
    recorder_results(recorder, &expected);
    assert_same(&expected, &found);
    run_results_deinit(&expected);
    run_results_deinit(&found);
    recorder_close(recorder);
    recorder_close(different);
    free(bytes);
}

/* Before time began: its age would overflow. */
static void impossible_times_are_refused(void)
{
    struct recorder *recorder = fill_small();
    struct recorder *into = recorder_open(&small);
    recorder_note_invisible(recorder, 1, INT64_MIN, 500);
    size_t size;
    uint8_t *bytes = recorder_serialize(recorder, &size);
    CU_ASSERT_EQUAL(recorder_merge(into, bytes, size), RECORDER_BAD_FIELD);
    recorder_close(recorder);
    recorder_close(into);
    free(bytes);
}

const struct harness_test recorder_tests[] = {
    HARNESS_TEST(metrics_leave_out_the_warmup),
    HARNESS_TEST(series_have_no_row_without_data),
    HARNESS_TEST(hours_have_metrics_of_their_own),
    HARNESS_TEST(nothing_seen_gives_counts_only),
    HARNESS_TEST(starved_producer_is_the_worst),
    HARNESS_TEST(failed_producers_are_told),
    HARNESS_TEST(latencies_of_the_store_are_kept_by_verb),
    HARNESS_TEST(merged_parts_equal_the_whole),
    HARNESS_TEST(broken_bytes_are_refused),
    HARNESS_TEST(impossible_times_are_refused),
    {0},
};
