/* live_group_results.c - see live_group.h: what ranks tell when a run is over. A result is JSON,
 * followed by the recorder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/live_group_private.h"
#include "experiments/live/live_marker.h"
#include "experiments/trials/recorder.h"

/* Counts are uint64_t only; they go by their place, as the recorder's: all ranks run one build. */
static_assert(sizeof(struct live_counts) % sizeof(uint64_t) == 0, "nothing but uint64_t");
#define COUNTS (sizeof(struct live_counts) / sizeof(uint64_t))

/* What is possible, so that the sums of all ranks do not overflow. */
#define COUNT_MAX (UINT64_MAX / 2 / LIVE_RANKS_MAX)
#define RESTARTS_MAX (UINT32_MAX / LIVE_RANKS_MAX)

/* Of a recorder: a histogram with its sums. */
#define PART_BYTES_MAX (HISTOGRAM_BUCKETS * sizeof(uint64_t) + 4096)

static json_t *json_of_counts(const struct live_counts *counts)
{
    uint64_t values[COUNTS];
    json_t *array = json_array();
    memcpy(values, counts, sizeof(values));
    for (size_t i = 0; i < COUNTS; i++)
        json_array_append_new(array, json_integer((json_int_t)values[i]));
    return array;
}

/* An integer from 0 to `most`. */
static bool take_amount(const json_t *value, uint64_t most, uint64_t *amount)
{
    json_int_t taken = json_integer_value(value);
    *amount = (uint64_t)taken;
    return json_is_integer(value) && taken >= 0 && *amount <= most;
}

static bool take_counts(const json_t *array, struct live_counts *counts)
{
    uint64_t values[COUNTS];
    bool right = json_array_size(array) == COUNTS;
    for (size_t i = 0; i < COUNTS; i++)
        right = take_amount(json_array_get(array, i), COUNT_MAX, &values[i]) && right;
    memcpy(counts, values, sizeof(*counts));
    return right;
}

/* What a rank counted is added as a whole, or not at all. */
static bool add_counts(struct live_group_result *sum, const json_t *message)
{
    struct live_counts counts;
    uint64_t restarts, memory_bytes;
    if (!take_counts(json_object_get(message, "counts"), &counts) ||
        !take_amount(json_object_get(message, "restarts"), RESTARTS_MAX, &restarts) ||
        !take_amount(json_object_get(message, "memory_bytes"), COUNT_MAX, &memory_bytes))
        return false;
    live_counts_add(&sum->counts, &counts);
    sum->restarts += (uint32_t)restarts;
    if (memory_bytes > sum->memory_bytes)
        sum->memory_bytes = memory_bytes;
    return true;
}

static json_t *result_message(const struct live_visit *visit,
                              const struct live_group_result *result)
{
    json_t *message = live_visit_message(visit);
    json_object_set_new(message, "failure", json_string(result->failure));
    json_object_set_new(message, "counts", json_of_counts(&result->counts));
    json_object_set_new(message, "restarts", json_integer(result->restarts));
    json_object_set_new(message, "memory_bytes", json_integer((json_int_t)result->memory_bytes));
    json_object_set_new(message, "start_heard_ns",
                        json_integer((json_int_t)visit->group->start_heard_ns));
    return message;
}

static bool put_result(struct live_visit *visit, const struct live_group_result *result)
{
    json_t *message = result_message(visit, result);
    char *json = json_dumps(message, JSON_COMPACT);
    assert(json != NULL);
    json_decref(message);
    size_t json_bytes = strlen(json);
    size_t record_bytes = 0;
    uint8_t *record =
        result->recorder != NULL ? recorder_serialize(result->recorder, &record_bytes) : NULL;
    uint8_t *bytes = malloc(json_bytes + record_bytes);
    assert(bytes != NULL);
    memcpy(bytes, json, json_bytes);
    if (record_bytes > 0)
        memcpy(bytes + json_bytes, record, record_bytes);
    struct body body = {.kind = BODY_BYTES, .bytes = json_bytes + record_bytes, .data = bytes};
    bool done = live_visit_put(visit, "result", visit->group->ranks.rank, &body);
    free(bytes);
    free(record);
    free(json);
    return done;
}

static enum live_group_end tell(struct live_visit *visit, const struct live_group_result *result)
{
    bool done = true;
    uint32_t rank = visit->group->ranks.rank;
    if (!visit->group->stood_ready) { /* rank 0 waits at the barrier */
        json_t *message = live_visit_message(visit);
        json_object_set_new(message, "failure", json_string(result->failure));
        done = live_visit_put_json(visit, "ready", rank, message);
    }
    return done && put_result(visit, result) ? LIVE_GROUP_DONE : LIVE_GROUP_FAILED;
}

/* d: rank 0 heard the other's clock d late, the other heard rank 0's e late; both hold the
 * difference of the clocks, once each way, and a delay that is not negative. */
static void add_skew(struct live_group_sum *sum, int64_t d_ns, int64_t e_ns)
{
    double skew_s = fabs((double)(d_ns - e_ns)) / 2e9;
    double error_s = fabs((double)(d_ns + e_ns)) / 2e9;
    sum->skew_s = skew_s > sum->skew_s ? skew_s : sum->skew_s;
    sum->error_s = error_s > sum->error_s ? error_s : sum->error_s;
}

bool live_group_add_result(const struct live_visit *visit, uint32_t rank, const struct store_op *op,
                           struct live_group_sum *sum)
{
    size_t used = 0;
    json_t *message = live_visit_parse(visit, op, &used);
    if (message == NULL)
        return false;
    const char *failure = json_string_value(json_object_get(message, "failure"));
    bool added = failure != NULL && failure[0] == '\0';
    if (!added) {
        char harmless[401];
        live_marker_copy_harmless(harmless, sizeof(harmless),
                                  failure != NULL ? failure
                                                  : "its result does not say how it ended");
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX, "rank %u: %s", rank, harmless);
    }
    if (op->result.bytes > used) {
        enum recorder_merge_error merged =
            recorder_merge(sum->result->recorder, op->result.data + used, op->result.bytes - used);
        if (merged != RECORDER_MERGED && added) {
            snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                     "rank %u: its record is %s; do all ranks run the same build?", rank,
                     recorder_merge_text(merged));
            added = false;
        }
    }
    if (!add_counts(sum->result, message) && added) {
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                 "rank %u: its result is damaged: its counts are none", rank);
        added = false;
    }
    int64_t start_heard_ns;
    if (live_visit_difference(visit, message, "start_heard_ns", &start_heard_ns)) {
        add_skew(sum, visit->group->heard_ns[rank], start_heard_ns);
    } else if (added) {
        snprintf(visit->text, LIVE_GROUP_TEXT_MAX,
                 "rank %u: its result is damaged: start_heard_ns is no difference of clocks", rank);
        added = false;
    }
    json_decref(message);
    return added;
}

/* The JSON and the largest recorder of such a run: its cells, and sums with a whole histogram for
 * each bin, producer and verb. */
static uint64_t result_bytes_max(const struct config *config)
{
    uint64_t bins = (uint64_t)(config->run.duration_ns / config->run.bin_ns) + 1;
    uint64_t producers = config->workload.producers;
    return LIVE_VISIT_BYTES_MAX + bins * producers * sizeof(uint64_t) +
           (bins + producers + STORE_VERB_COUNT) * PART_BYTES_MAX;
}

/* Looks once. False: one of them failed, or the store did. */
static bool look_for_results(struct live_visit *visit, bool *got, uint32_t *count,
                             struct live_group_sum *sum)
{
    bool fine = true;
    uint64_t bytes_max = result_bytes_max(visit->group->config);
    for (uint32_t rank = 1; rank < visit->group->ranks.count && fine; rank++) {
        if (got[rank])
            continue;
        struct store_op op;
        enum live_found found = live_visit_get(visit, "result", rank, bytes_max, &op);
        fine = found != LIVE_FOUND_ERROR;
        if (found == LIVE_FOUND) {
            got[rank] = true;
            (*count)++;
            fine = live_group_add_result(visit, rank, &op, sum);
        }
        store_op_deinit(&op);
    }
    return fine;
}

static enum live_group_end gather(struct live_visit *visit, struct live_group_sum *sum)
{
    const struct live_ranks *ranks = &visit->group->ranks;
    bool *got = calloc(ranks->count, sizeof(*got));
    assert(got != NULL);
    uint32_t count = 1;
    enum live_group_end end = LIVE_GROUP_DONE;
    while (count < ranks->count && end == LIVE_GROUP_DONE) {
        char missing[LIVE_MISSING_MAX];
        if (!look_for_results(visit, got, &count, sum))
            end = LIVE_GROUP_FAILED;
        live_visit_missing(ranks, got, missing);
        if (count < ranks->count && end == LIVE_GROUP_DONE)
            end = live_visit_later(visit,
                                   "%s of %u did not tell its results: it is gone; what its "
                                   "producers committed is in the chain",
                                   missing, ranks->count);
    }
    free(got);
    return end;
}

enum live_group_end live_group_conclude(struct live_group *group, struct live_group_result *result,
                                        struct run_results *results, char text[LIVE_GROUP_TEXT_MAX])
{
    struct live_visit visit;
    struct live_group_sum sum = {.result = result};
    bool leads = group->ranks.rank == 0;
    if (leads && result->failure[0] != '\0')
        return LIVE_GROUP_DONE;
    if (!live_visit_open(&visit, group, text))
        return LIVE_GROUP_FAILED;
    enum live_group_end end = leads ? gather(&visit, &sum) : tell(&visit, result);
    live_visit_close(&visit);
    if (leads && end == LIVE_GROUP_DONE) {
        run_results_add_metric(results, "ranks", "1", group->ranks.count);
        run_results_add_metric(results, "clock_skew_max_s", "s", sum.skew_s);
        run_results_add_metric(results, "clock_skew_error_s", "s", sum.error_s);
    }
    return end;
}
