/* recorder.c - see recorder.h. Called for every request of a simulated run, so that the common path
 * is an addition in the bin of the previous event. */
#include "experiments/trials/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/trials/recorder_private.h"

static void *allocate(size_t count, size_t element_bytes)
{
    void *memory = calloc(count, element_bytes);
    assert(memory != NULL);
    return memory;
}

static uint32_t bins_in(int64_t duration_ns, int64_t bin_ns)
{
    int64_t bins = duration_ns / bin_ns + (duration_ns % bin_ns != 0);
    assert(bins <= RECORDER_BINS_MAX);
    return (uint32_t)bins;
}

struct recorder *recorder_open(const struct recorder_options *options)
{
    assert(options->duration_ns > 0 && options->bin_ns > 0);
    assert(options->warmup_ns >= 0 && options->warmup_ns < options->duration_ns);
    assert(options->fairness_window_ns >= 0);
    assert(options->producers > 0);
    struct recorder *recorder = allocate(1, sizeof(*recorder));
    recorder->options = *options;
    recorder->end_ns = options->start_ns + options->duration_ns;
    recorder->bin_count = bins_in(options->duration_ns, options->bin_ns);
    recorder->warmup_bins = bins_in(options->warmup_ns, options->bin_ns);
    assert((uint64_t)recorder->bin_count * options->producers <= RECORDER_CELLS_MAX);
    recorder->current_start_ns = options->start_ns;
    recorder->current_end_ns = options->start_ns; /* empty: the first event finds its bin */
    recorder->latest_ns = options->start_ns;
    recorder->bins = allocate(recorder->bin_count, sizeof(*recorder->bins));
    recorder->committed =
        allocate((size_t)recorder->bin_count * options->producers, sizeof(*recorder->committed));
    recorder->producers = allocate(options->producers, sizeof(*recorder->producers));
    recorder->latency = allocate(STORE_VERB_COUNT, sizeof(*recorder->latency));
    for (uint32_t i = 0; i < options->producers; i++)
        recorder->producers[i].oldest_invisible_ns = TIME_NEVER;
    return recorder;
}

void recorder_close(struct recorder *recorder)
{
    if (recorder == NULL)
        return;
    for (uint32_t i = 0; i < recorder->bin_count; i++)
        histogram_deinit(&recorder->bins[i].age);
    for (uint32_t i = 0; i < recorder->options.producers; i++)
        histogram_deinit(&recorder->producers[i].age);
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        histogram_deinit(&recorder->latency[verb]);
    free(recorder->bins);
    free(recorder->committed);
    free(recorder->producers);
    free(recorder->latency);
    free(recorder);
}

/* The bin of an instant; NULL outside the run. */
static struct recorder_bin *bin_at(struct recorder *recorder, int64_t at_ns)
{
    if (at_ns >= recorder->current_start_ns && at_ns < recorder->current_end_ns)
        return &recorder->bins[recorder->current];
    if (at_ns < recorder->options.start_ns || at_ns >= recorder->end_ns)
        return NULL;
    int64_t since_ns = at_ns - recorder->options.start_ns;
    recorder->current = (uint32_t)(since_ns / recorder->options.bin_ns);
    recorder->current_start_ns = at_ns - since_ns % recorder->options.bin_ns;
    recorder->current_end_ns = recorder->current_start_ns + recorder->options.bin_ns;
    if (recorder->current_end_ns > recorder->end_ns)
        recorder->current_end_ns = recorder->end_ns;
    return &recorder->bins[recorder->current];
}

static void add_retries(struct commit_counters *into, const struct commit_counters *from)
{
    into->busy += from->busy;
    into->unknown += from->unknown;
    into->throttled += from->throttled;
    into->resent += from->resent;
    into->vanished += from->vanished;
    into->invalid += from->invalid;
}

static uint64_t nonnegative(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct recorder *recorder = context;
    assert(producer < recorder->options.producers);
    recorder->latest_ns = attempt->ended_ns;
    struct recorder_bin *bin = bin_at(recorder, attempt->ended_ns);
    if (bin == NULL)
        return;
    struct recorder_sums *sums = &bin->sums;
    switch (attempt->outcome) {
    case ATTEMPT_WON:
        sums->won++;
        break;
    case ATTEMPT_LOST:
        sums->lost++;
        break;
    }
    sums->tau_ns += nonnegative(attempt->tau_ns);
    sums->window_ns += nonnegative(attempt->window_ns);
    if (attempt->since_last_ns > 0) {
        sums->gap_ns += nonnegative(attempt->since_last_ns - attempt->tau_ns);
        sums->gap_count++;
    }
    if (attempt->manifest_bytes > sums->manifest_bytes)
        sums->manifest_bytes = attempt->manifest_bytes;
    add_retries(&sums->retries, &detail->counters);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct recorder *recorder = context;
    assert(producer < recorder->options.producers);
    recorder->latest_ns = visible_ns;
    struct recorder_bin *bin = bin_at(recorder, visible_ns);
    if (bin == NULL) {
        if (visible_ns >= recorder->end_ns)
            recorder_note_invisible(recorder, producer, batch->made_ns, batch->bytes);
        return;
    }
    int64_t age_ns = visible_ns - batch->made_ns;
    bin->sums.committed_bytes += batch->bytes;
    bin->sums.batches++;
    histogram_add(&bin->age, age_ns);
    recorder->committed[(size_t)recorder->current * recorder->options.producers + producer] +=
        batch->bytes;
    if (recorder->current >= recorder->warmup_bins)
        histogram_add(&recorder->producers[producer].age, age_ns);
}

void recorder_set_loop(struct recorder *recorder, struct loop *loop)
{
    recorder->loop = loop;
}

static int64_t request_ns(const struct recorder *recorder)
{
    return recorder->loop != NULL ? loop_now(recorder->loop) : recorder->latest_ns;
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    struct recorder *recorder = context;
    (void)producer;
    (void)outcome;
    assert(verb < STORE_VERB_COUNT);
    struct recorder_bin *bin = bin_at(recorder, request_ns(recorder));
    if (bin == NULL)
        return;
    bin->sums.requests[verb]++;
    bin->sums.request_bytes[verb] += bytes;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct recorder *recorder = context;
    if (end == PRODUCER_STOPPED)
        return;
    if (recorder->failed_producers++ == 0)
        snprintf(recorder->failure, sizeof(recorder->failure), "producer %u: %s", producer, text);
}

struct producer_observer recorder_observer(struct recorder *recorder)
{
    return (struct producer_observer){
        .context = recorder,
        .attempt = on_attempt,
        .visible = on_visible,
        .request = on_request,
        .ended = on_ended,
    };
}

void recorder_note_latency(struct recorder *recorder, enum store_verb verb, int64_t latency_ns)
{
    assert(verb < STORE_VERB_COUNT);
    if (bin_at(recorder, request_ns(recorder)) != NULL &&
        recorder->current >= recorder->warmup_bins)
        histogram_add(&recorder->latency[verb], latency_ns);
}

void recorder_note_in_flight(struct recorder *recorder, uint64_t in_flight)
{
    if (in_flight > recorder->in_flight_max)
        recorder->in_flight_max = in_flight;
}

void recorder_note_invisible(struct recorder *recorder, uint32_t producer, int64_t made_ns,
                             uint64_t bytes)
{
    assert(producer < recorder->options.producers);
    if (made_ns >= recorder->end_ns)
        return;
    struct recorder_producer *of = &recorder->producers[producer];
    if (made_ns < of->oldest_invisible_ns)
        of->oldest_invisible_ns = made_ns;
    of->invisible_bytes += bytes;
}

uint32_t recorder_failed_producers(const struct recorder *recorder)
{
    return recorder->failed_producers;
}

const char *recorder_failure(const struct recorder *recorder)
{
    return recorder->failure;
}

void recorder_add_sums(struct recorder_sums *into, const struct recorder_sums *from)
{
    into->won += from->won;
    into->lost += from->lost;
    into->tau_ns += from->tau_ns;
    into->window_ns += from->window_ns;
    into->gap_ns += from->gap_ns;
    into->gap_count += from->gap_count;
    into->committed_bytes += from->committed_bytes;
    into->batches += from->batches;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        into->requests[verb] += from->requests[verb];
        into->request_bytes[verb] += from->request_bytes[verb];
    }
    add_retries(&into->retries, &from->retries);
    if (from->manifest_bytes > into->manifest_bytes)
        into->manifest_bytes = from->manifest_bytes;
}
