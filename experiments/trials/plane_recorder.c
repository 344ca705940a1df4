/* plane_recorder.c - see plane_recorder.h. Ours. */
#include "experiments/trials/plane_recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/trials/histogram.h"

struct plane_point {
    struct simulation_sample sample;
    uint64_t given; /* up to then, to all ranks together */
    uint64_t made;  /* TGBs that were ever stored */
    uint64_t ranks[PLANE_SHOWN_MAX];
    uint64_t producers[PLANE_SHOWN_MAX];
};

/* Where a rank is: the step that it was given last, and the highest one ever. */
struct rank_place {
    uint64_t last;
    uint64_t highest;
};

struct plane_recorder {
    const struct config *config;
    int64_t warmup_ns;
    int64_t now_ns; /* of the latest answer or sample */

    /* After the warm-up. */
    uint64_t given;
    double needed_bytes;
    uint64_t requests[CONSUMER_REQUEST_COUNT];
    uint64_t bytes[CONSUMER_REQUEST_COUNT];
    uint64_t ahead_bytes; /* of slices fetched and not given when the run ended */
    uint64_t checkpoints;
    struct histogram slices; /* times of requests */

    /* Over the whole run. */
    uint64_t rounds;
    uint64_t rounds_failed;
    uint64_t reclaim_requests;
    uint64_t reclaim_bytes;
    struct reclaim_report reclaimed; /* sums of what was deleted */

    uint64_t given_ever;
    uint64_t replayed;
    uint64_t skipped;
    struct rank_place *places; /* ranks.count */
    uint64_t producers[PLANE_SHOWN_MAX];
    size_t point_count;
    size_t point_capacity;
    struct plane_point *points;
};

struct plane_recorder *plane_recorder_open(const struct config *config)
{
    struct plane_recorder *recorder = calloc(1, sizeof(*recorder));
    assert(recorder != NULL);
    recorder->config = config;
    recorder->warmup_ns = config->run.warmup_ns;
    recorder->places = calloc(config->ranks.count + 1, sizeof(*recorder->places));
    assert(recorder->places != NULL);
    return recorder;
}

void plane_recorder_close(struct plane_recorder *recorder)
{
    if (recorder == NULL)
        return;
    histogram_deinit(&recorder->slices);
    free(recorder->places);
    free(recorder->points);
    free(recorder);
}

/* ---- what ranks report ---- */

static void on_given(void *context, uint32_t rank, const struct consumer_delivery *delivery)
{
    struct plane_recorder *recorder = context;
    const struct config *config = recorder->config;
    struct rank_place *place = &recorder->places[rank];
    recorder->given_ever++;
    recorder->replayed += delivery->step <= place->highest;
    if (delivery->step > place->last + 1)
        recorder->skipped += delivery->step - place->last - 1;
    place->last = delivery->step;
    if (delivery->step > place->highest)
        place->highest = delivery->step;
    if (delivery->ready_ns < recorder->warmup_ns)
        return;
    recorder->given++;
    double bytes = (double)delivery->slice.bytes;
    if (tgb_mesh_slices(config->mesh) == 0)
        bytes /= (double)config->ranks.count;
    recorder->needed_bytes += bytes;
}

static void on_checkpointed(void *context, uint32_t rank, uint64_t step)
{
    struct plane_recorder *recorder = context;
    (void)rank;
    (void)step;
    recorder->checkpoints += recorder->now_ns >= recorder->warmup_ns;
}

static void on_request(void *context, uint32_t rank, const struct consumer_answer *answer)
{
    struct plane_recorder *recorder = context;
    (void)rank;
    recorder->now_ns = answer->answered_ns;
    if (answer->answered_ns < recorder->warmup_ns)
        return;
    recorder->requests[answer->request]++;
    recorder->bytes[answer->request] += answer->bytes;
    if (answer->request == CONSUMER_REQUEST_SLICE)
        histogram_add(&recorder->slices, answer->answered_ns - answer->sent_ns);
}

/* Said by the result of the run. */
static void on_ended(void *context, uint32_t rank, enum consumer_end end, const char *text)
{
    (void)context;
    (void)rank;
    (void)end;
    (void)text;
}

struct rank_observer plane_recorder_ranks(struct plane_recorder *recorder)
{
    return (struct rank_observer){
        .context = recorder,
        .given = on_given,
        .checkpointed = on_checkpointed,
        .request = on_request,
        .ended = on_ended,
    };
}

void plane_recorder_rank_end(struct plane_recorder *recorder, const struct consumer *consumer)
{
    for (uint32_t i = 0; i < consumer->options.fetches_max; i++) {
        const struct fetch *fetch = &consumer->fetches[i];
        bool offered = consumer->offered && fetch->delivery.step == consumer->cursor;
        if (fetch->state == FETCH_ARRIVED && !offered)
            recorder->ahead_bytes += fetch->wire_bytes;
    }
}

/* ---- what reclaimers report ---- */

static void on_reclaim_request(void *context, uint32_t reclaimer, enum store_verb verb,
                               enum store_outcome outcome, uint64_t bytes)
{
    struct plane_recorder *recorder = context;
    (void)reclaimer;
    (void)verb;
    (void)outcome;
    recorder->reclaim_requests++;
    recorder->reclaim_bytes += bytes;
}

static void on_round(void *context, uint32_t reclaimer, const struct reclaim_report *report)
{
    struct plane_recorder *recorder = context;
    (void)reclaimer;
    recorder->rounds++;
    recorder->rounds_failed += report->end != RECLAIM_DONE && report->end != RECLAIM_EMPTY;
    recorder->reclaimed.tgbs += report->tgbs;
    recorder->reclaimed.tgb_bytes += report->tgb_bytes;
    recorder->reclaimed.versions += report->versions;
    recorder->reclaimed.version_bytes += report->version_bytes;
}

struct reclaim_actors_observer plane_recorder_reclaimers(struct plane_recorder *recorder)
{
    return (struct reclaim_actors_observer){
        .context = recorder,
        .request = on_reclaim_request,
        .round = on_round,
    };
}

/* ---- samples ---- */

void plane_recorder_sample(struct plane_recorder *recorder, const struct simulation_sample *sample)
{
    recorder->now_ns = sample->now_ns;
    if (recorder->point_count == recorder->point_capacity) {
        recorder->point_capacity = recorder->point_capacity > 0 ? 2 * recorder->point_capacity : 64;
        recorder->points =
            realloc(recorder->points, recorder->point_capacity * sizeof(*recorder->points));
        assert(recorder->points != NULL);
    }
    struct plane_point *point = &recorder->points[recorder->point_count++];
    point->sample = *sample;
    point->given = recorder->given_ever;
    point->made = sample->tgbs.objects + recorder->reclaimed.tgbs;
    for (uint64_t rank = 0; rank < recorder->config->ranks.count && rank < PLANE_SHOWN_MAX; rank++)
        point->ranks[rank] = recorder->places[rank].last;
    memcpy(point->producers, recorder->producers, sizeof(point->producers));
}

void plane_recorder_visible(struct plane_recorder *recorder, uint32_t producer)
{
    if (producer < PLANE_SHOWN_MAX)
        recorder->producers[producer]++;
}

/* ---- results ---- */

static double seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static void add_ranks(const struct plane_recorder *recorder, struct run_results *results)
{
    static const char *const kinds[] = {"control", "chain", "slice"};
    static_assert(CONSUMER_REQUEST_CONTROL == 0 && CONSUMER_REQUEST_SLICE == 2,
                  "names are in the order of enum consumer_request");
    uint64_t requests = 0;
    run_results_add_metric(results, "ranks_given", "1", (double)recorder->given);
    run_results_add_metric(results, "replayed_steps", "1", (double)recorder->replayed);
    run_results_add_metric(results, "skipped_steps", "1", (double)recorder->skipped);
    run_results_add_metric(results, "ranks_needed_bytes", "B", recorder->needed_bytes);
    run_results_add_metric(results, "checkpoints", "1", (double)recorder->checkpoints);
    for (size_t kind = 0; kind < CONSUMER_REQUEST_COUNT; kind++) {
        char name[RESULT_NAME_MAX];
        requests += recorder->requests[kind];
        snprintf(name, sizeof(name), "ranks_%s_requests", kinds[kind]);
        run_results_add_metric(results, name, "1", (double)recorder->requests[kind]);
        snprintf(name, sizeof(name), "ranks_%s_bytes", kinds[kind]);
        run_results_add_metric(results, name, "B", (double)recorder->bytes[kind]);
    }
    if (recorder->given == 0)
        return;
    double fetched =
        (double)recorder->bytes[CONSUMER_REQUEST_SLICE] - (double)recorder->ahead_bytes;
    run_results_add_metric(results, "read_amplification", "ratio",
                           fetched / recorder->needed_bytes);
    run_results_add_metric(results, "chain_amplification", "ratio",
                           (double)recorder->bytes[CONSUMER_REQUEST_CHAIN] /
                               recorder->needed_bytes);
    run_results_add_metric(results, "requests_per_step", "1",
                           (double)requests / (double)recorder->given);
    if (recorder->slices.total == 0)
        return;
    run_results_add_metric(results, "slice_median_s", "s",
                           seconds(histogram_quantile_ns(&recorder->slices, 0.5)));
    run_results_add_metric(results, "slice_p95_s", "s",
                           seconds(histogram_quantile_ns(&recorder->slices, 0.95)));
}

/* How far the slowest rank is behind the steps that are committed, and behind those made. */
static void add_behind(const struct plane_recorder *recorder, struct run_results *results)
{
    uint64_t unread_max = 0;
    uint64_t behind_max = 0;
    double unread = 0;
    double behind = 0;
    size_t count = 0;
    for (size_t i = 0; i < recorder->point_count; i++) {
        const struct plane_point *point = &recorder->points[i];
        uint64_t given = point->sample.slowest - 1;
        if (point->sample.now_ns < recorder->warmup_ns)
            continue;
        uint64_t unread_now = point->sample.committed > given ? point->sample.committed - given : 0;
        uint64_t behind_now = point->made > given ? point->made - given : 0;
        unread_max = unread_now > unread_max ? unread_now : unread_max;
        behind_max = behind_now > behind_max ? behind_now : behind_max;
        unread += (double)unread_now;
        behind += (double)behind_now;
        count++;
    }
    run_results_add_metric(results, "unread_steps_mean", "1", unread / (double)count);
    run_results_add_metric(results, "unread_steps_max", "1", (double)unread_max);
    run_results_add_metric(results, "behind_steps_mean", "1", behind / (double)count);
    run_results_add_metric(results, "behind_steps_max", "1", (double)behind_max);
}

static void add_reclaimers(const struct plane_recorder *recorder, struct run_results *results)
{
    const struct reclaim_report *sums = &recorder->reclaimed;
    run_results_add_metric(results, "reclaim_rounds", "1", (double)recorder->rounds);
    run_results_add_metric(results, "reclaim_failed", "1", (double)recorder->rounds_failed);
    run_results_add_metric(results, "reclaim_requests", "1", (double)recorder->reclaim_requests);
    run_results_add_metric(results, "reclaim_bytes", "B", (double)recorder->reclaim_bytes);
    run_results_add_metric(results, "reclaimed_tgbs", "1", (double)sums->tgbs);
    run_results_add_metric(results, "reclaimed_tgb_bytes", "B", (double)sums->tgb_bytes);
    run_results_add_metric(results, "reclaimed_versions", "1", (double)sums->versions);
    run_results_add_metric(results, "reclaimed_version_bytes", "B", (double)sums->version_bytes);
}

static uint64_t stored(const struct simulation_sample *sample)
{
    return sample->tgbs.bytes + sample->manifests.bytes;
}

static void add_stored(const struct plane_recorder *recorder, struct run_results *results)
{
    const struct simulation_sample *last = &recorder->points[recorder->point_count - 1].sample;
    uint64_t stored_max = 0;
    uint64_t tgb_max = 0;
    for (size_t i = 0; i < recorder->point_count; i++) {
        const struct simulation_sample *sample = &recorder->points[i].sample;
        stored_max = stored(sample) > stored_max ? stored(sample) : stored_max;
        tgb_max = sample->tgbs.bytes > tgb_max ? sample->tgbs.bytes : tgb_max;
    }
    run_results_add_metric(results, "stored_bytes_max", "B", (double)stored_max);
    run_results_add_metric(results, "tgb_bytes_max", "B", (double)tgb_max);
    run_results_add_metric(results, "stored_bytes", "B", (double)stored(last));
    run_results_add_metric(results, "tgb_bytes", "B", (double)last->tgbs.bytes);
    run_results_add_metric(results, "manifests_bytes", "B", (double)last->manifests.bytes);
    run_results_add_metric(results, "committed_steps", "1", (double)last->committed);
    run_results_add_metric(results, "live_steps", "1", (double)last->live);
    run_results_add_metric(results, "floor_step", "1", (double)last->floor.step);
}

static void add_point(const struct plane_recorder *recorder, size_t index,
                      struct run_results *results)
{
    const struct plane_point *taken = &recorder->points[index];
    const struct simulation_sample *sample = &taken->sample;
    struct result_point point = {.t_s = seconds(sample->now_ns)};
#define ADD(name, unit, number)                                                                    \
    (point.value = (double)(number), run_results_add_point(results, name, unit, point))
    ADD("stored_bytes", "B", stored(sample));
    ADD("tgb_bytes", "B", sample->tgbs.bytes);
    ADD("committed_steps", "1", sample->committed);
    ADD("live_steps", "1", sample->live);
    ADD("floor_step", "1", sample->floor.step);
    char name[RESULT_NAME_MAX];
    uint64_t producers = recorder->config->workload.producers;
    for (uint64_t i = 0; i < producers && producers <= PLANE_SHOWN_MAX; i++) {
        snprintf(name, sizeof(name), "producer_%llu_batches", (unsigned long long)i);
        ADD(name, "1", taken->producers[i]);
    }
    uint64_t ranks = recorder->config->ranks.count;
    if (ranks == 0)
        return;
    ADD("given_steps", "1", sample->slowest - 1);
    ADD("given", "1", taken->given - (index > 0 ? taken[-1].given : 0));
    for (uint64_t i = 0; i < ranks && ranks <= PLANE_SHOWN_MAX; i++) {
        snprintf(name, sizeof(name), "rank_%llu_steps", (unsigned long long)i);
        ADD(name, "1", taken->ranks[i]);
    }
#undef ADD
}

void plane_recorder_results(const struct plane_recorder *recorder, struct run_results *results)
{
    assert(recorder->point_count > 0);
    if (recorder->config->ranks.count > 0) {
        add_ranks(recorder, results);
        add_behind(recorder, results);
    }
    if (recorder->config->reclaim.count > 0)
        add_reclaimers(recorder, results);
    add_stored(recorder, results);
    for (size_t i = 0; i < recorder->point_count; i++)
        add_point(recorder, i, results);
}
