/* simulation_test.c - whole runs: safe, repeatable, equal to the slow reference, under every
 * policy. */
#include "sim/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define MIB 1048576.0
#define RATE 13.5e6 /* bytes a second and producer */

static struct latency_options lognormal(double base_ms, double slope_ms_per_mib, double sigma)
{
    return (struct latency_options){.shape = LATENCY_LOGNORMAL,
                                    .base_ns = (int64_t)(base_ms * (double)NS_PER_MS),
                                    .slope_ns = slope_ms_per_mib * (double)NS_PER_MS / MIB,
                                    .sigma = sigma};
}

/* The calibrated s3-standard profile. */
static struct virtual_store_options s3_standard(void)
{
    return (struct virtual_store_options){
        .latency = {[STORE_GET] = lognormal(27, 20, 0.62),
                    [STORE_PUT] = lognormal(60, 20, 0.29),
                    [STORE_PUT_IF_ABSENT] = lognormal(61, 20, 0.14),
                    [STORE_LIST] = lognormal(40, 0, 0.5),
                    [STORE_DELETE] = lognormal(30, 0, 0.3)},
        .apply_fraction = 0.9,
        .client_bytes_per_s = 1.25e9,
        .store_bytes_per_s = 12.5e9};
}

static struct simulation_options make_options(const char *policy, uint32_t producers,
                                              int64_t seconds)
{
    struct simulation_options options = {.seed = 42,
                                         .producers = producers,
                                         .duration_ns = seconds * NS_PER_S,
                                         .store = s3_standard()};
    struct producer_options *producer = &options.producer;
    *producer = (struct producer_options){.commit = {.entry_bytes = 128,
                                                     .find = COMMIT_FIND_LIST,
                                                     .active_versions = 1000,
                                                     .retry_ns = 100 * NS_PER_MS,
                                                     .retry_max_ns = 10 * NS_PER_S},
                                          .mode = PRODUCER_INLINE,
                                          .policy_kind = policy_kind_find(policy),
                                          .first_gap_ns = 10 * NS_PER_S,
                                          .gap_max_ns = 3600 * NS_PER_S,
                                          .gap_jitter = 0.1,
                                          .batch_bytes = 32 << 20,
                                          .batch_ns = (int64_t)(32 * MIB / RATE * 1e9),
                                          .batch_jitter = 0.1,
                                          .uploads_max = 8};
    for (size_t i = 0; i < policy_parameter_count(producer->policy_kind); i++)
        producer->policy_values[i] = producer->policy_kind->parameters[i].value_default;
    return options;
}

/* Runs, and fails with the text of the first violation. */
static struct simulation_result run(const struct simulation_options *options)
{
    struct simulation_result result;
    simulation_run(options, &result);
    if (result.violations.count > 0)
        printf("\n  %s\n", result.violations.first);
    if (result.ended > 0)
        printf("\n  %u producers ended: %s\n", result.ended, result.first_end);
    CU_ASSERT_EQUAL(result.violations.count, 0);
    CU_ASSERT_EQUAL(result.ended, 0);
    return result;
}

static void the_paper_s_run_is_safe(void)
{
    struct simulation_options options = make_options("dac", 32, 5 * 3600);
    struct simulation_result result = run(&options);
    double offered = 32 * RATE * 5 * 3600;
    double committed = (double)result.steps * 32 * MIB;
    CU_ASSERT_TRUE(committed > 0.9 * offered && committed <= offered * 1.01);
    CU_ASSERT_TRUE(result.versions > 100);
    CU_ASSERT_EQUAL(result.manifest_bytes, MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES +
                                               32 * MANIFEST_STATE_BYTES + result.steps * 128);
}

static void every_policy_is_safe(void)
{
    const struct policy_kind *kind;
    for (size_t i = 0; (kind = policy_kind_at(i)) != NULL; i++) {
        struct simulation_options options = make_options(kind->name, 8, 1200);
        struct simulation_result result = run(&options);
        CU_ASSERT_TRUE(result.steps > 1000);
    }
}

static void the_seed_decides(void)
{
    struct simulation_options options = make_options("dac", 16, 900);
    struct simulation_result first = run(&options);
    struct simulation_result second = run(&options);
    CU_ASSERT_EQUAL(first.digest, second.digest);
    CU_ASSERT_EQUAL(first.handled, second.handled);
    options.seed++;
    struct simulation_result other = run(&options);
    CU_ASSERT_NOT_EQUAL(first.digest, other.digest);
}

static void equals_the_reference(const struct simulation_options *options)
{
    struct simulation_options slow = *options;
    struct simulation_result fast = run(options);
    const unsigned parts[] = {REFERENCE_QUEUE, REFERENCE_LINKS, REFERENCE_BYTES, REFERENCE_ALL};
    for (size_t i = 0; i < HARNESS_COUNT(parts); i++) {
        slow.reference = parts[i];
        struct simulation_result result = run(&slow);
        CU_ASSERT_EQUAL(result.digest, fast.digest);
        CU_ASSERT_EQUAL(result.handled, fast.handled);
        CU_ASSERT_EQUAL(result.steps, fast.steps);
        CU_ASSERT_EQUAL(result.manifest_bytes, fast.manifest_bytes);
    }
}

static void the_reference_has_the_same_digest(void)
{
    struct simulation_options options = make_options("dac", 32, 900);
    equals_the_reference(&options);
}

static void the_reference_has_it_on_crowded_links(void)
{
    struct simulation_options options = make_options("fixed", 16, 300);
    options.producer.mode = PRODUCER_BACKGROUND;
    options.producer.commit.find = COMMIT_FIND_PROBE;
    options.store.client_bytes_per_s = 20.0e6;
    options.store.store_bytes_per_s = 150.0e6;
    equals_the_reference(&options);
}

static void the_reference_has_it_under_throttling(void)
{
    struct simulation_options options = make_options("fixed", 16, 300);
    options.store.puts_per_s = 5.0;
    options.store.gets_per_s = 20.0;
    equals_the_reference(&options);
    struct simulation_result result = run(&options);
    CU_ASSERT_TRUE(result.store.throttled > 100);
}

static void a_full_link_bounds_the_rate(void)
{
    struct simulation_options options = make_options("fixed", 16, 1200);
    options.producer.uploads_max = 1;
    options.store.store_bytes_per_s = 50.0e6;
    struct simulation_result result = run(&options);
    double bytes_per_s = (double)result.store.bytes[STORE_PUT] / 1200.0;
    CU_ASSERT_TRUE(bytes_per_s < 50.0e6 && bytes_per_s > 47.0e6);
}

static void many_producers_are_safe(void)
{
    struct simulation_options options = make_options("dac", 1024, 120);
    options.store.puts_per_s = 3500.0;
    options.store.gets_per_s = 5500.0;
    struct simulation_result result = run(&options);
    CU_ASSERT_TRUE(result.versions > 10);
}

static uint64_t attempts_won;
static uint64_t batches_seen;

static void count_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                          const struct attempt_detail *detail)
{
    (void)context;
    (void)producer;
    (void)detail;
    attempts_won += attempt->outcome == ATTEMPT_WON ? 1 : 0;
}

static void count_visible(void *context, uint32_t producer, const struct batch *batch,
                          int64_t visible_ns)
{
    (void)context;
    (void)producer;
    (void)batch;
    (void)visible_ns;
    batches_seen++;
}

static void ignore_request(void *context, uint32_t producer, enum store_verb verb,
                           enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void ignore_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    (void)context;
    (void)producer;
    (void)end;
    (void)text;
}

static void the_observer_sees_what_the_chain_holds(void)
{
    struct producer_observer observer = {.attempt = count_attempt,
                                         .visible = count_visible,
                                         .request = ignore_request,
                                         .ended = ignore_ended};
    struct simulation_options options = make_options("dac", 8, 1200);
    options.observer = &observer;
    attempts_won = 0;
    batches_seen = 0;
    struct simulation_result result = run(&options);
    /* What was created in the last moments was not yet reported. */
    CU_ASSERT_TRUE(attempts_won <= result.versions - 1 && attempts_won + 8 >= result.versions - 1);
    CU_ASSERT_TRUE(batches_seen <= result.steps && batches_seen + 1000 > result.steps);
}

/* ---- ranks ---- */

static struct simulation_options make_ranks(uint32_t ranks, int64_t seconds)
{
    struct simulation_options options = make_options("dac", 8, seconds);
    options.ranks = (struct rank_actors_options){
        .count = ranks,
        .start_ns = 5 * NS_PER_S,
        .step_ns = 300 * NS_PER_MS,
        .step_jitter = 0.2,
        .checkpoint_steps = 50,
        .save_ns = 2 * NS_PER_S,
        .consumer = {.membership = {.retry_ns = 100 * NS_PER_MS, .retry_max_ns = 10 * NS_PER_S},
                     .slices = ranks,
                     .prefetch_bytes = 16 << 20,
                     .fetches_max = 8,
                     .fetch_retries = 16,
                     .lookahead = 8,
                     .poll_min_ns = 200 * NS_PER_MS,
                     .poll_max_ns = 10 * NS_PER_S,
                     .retry_ns = 100 * NS_PER_MS,
                     .retry_max_ns = 10 * NS_PER_S,
                     .checkpoints_kept = 3}};
    return options;
}

struct rank_tally {
    uint64_t given;
    uint64_t checkpointed;
    uint64_t slice_requests;
    uint64_t samples;
    uint64_t slice_bytes;
    uint64_t raw_bytes;
    struct object_stock tgbs;
};

static void tally_given(void *context, uint32_t rank, const struct consumer_delivery *delivery)
{
    (void)rank;
    (void)delivery;
    ((struct rank_tally *)context)->given++;
}

static void tally_checkpointed(void *context, uint32_t rank, uint64_t step)
{
    (void)rank;
    (void)step;
    ((struct rank_tally *)context)->checkpointed++;
}

static void tally_request(void *context, uint32_t rank, const struct consumer_answer *answer)
{
    (void)rank;
    ((struct rank_tally *)context)->slice_requests += answer->request == CONSUMER_REQUEST_SLICE;
}

static void tally_ended(void *context, uint32_t rank, enum consumer_end end, const char *text)
{
    (void)context;
    (void)rank;
    (void)end;
    printf("\n  %s\n", text);
}

static void tally_sample(void *context, const struct simulation_sample *sample)
{
    struct rank_tally *tally = context;
    tally->samples++;
    tally->tgbs = sample->tgbs;
}

static void tally_consumer(void *context, const struct consumer *consumer)
{
    struct rank_tally *tally = context;
    tally->slice_bytes += consumer->counters.bytes[CONSUMER_REQUEST_SLICE];
    tally->raw_bytes += consumer->counters.slice_bytes;
}

static void ranks_are_given_every_step(void)
{
    struct rank_tally tally = {0};
    struct rank_observer observer = {.context = &tally,
                                     .given = tally_given,
                                     .checkpointed = tally_checkpointed,
                                     .request = tally_request,
                                     .ended = tally_ended};
    struct simulation_options options = make_ranks(16, 1200);
    struct simulation_result plain = run(&options);
    options.rank_observer = &observer;
    options.sampled = tally_sample;
    options.sample_ns = 7 * NS_PER_S;
    options.at_end_of_rank = tally_consumer;
    options.context = &tally;
    struct simulation_result result = run(&options);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT(result.slowest > 1000 && result.slowest > result.steps / 2);
    CU_ASSERT_EQUAL(result.given, tally.given);
    CU_ASSERT(tally.checkpointed > 16 * 20);
    CU_ASSERT(tally.slice_requests >= tally.given);
    /* One range request a slice: its header and what is fetched ahead is all that comes on top. */
    CU_ASSERT((double)tally.slice_bytes < 1.02 * (double)tally.raw_bytes);
    CU_ASSERT_EQUAL(tally.samples, 1200 / 7 + 1);
    CU_ASSERT(tally.tgbs.bytes >= result.steps * (32 << 20));
    CU_ASSERT_EQUAL(plain.digest, result.digest);
}

static void the_reference_has_the_same_digest_with_ranks(void)
{
    struct simulation_options options = make_ranks(4, 300);
    struct simulation_result fast = run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.given, slow.given);
    CU_ASSERT(fast.given > 500);
}

/* ---- reclaimers ---- */

static struct simulation_options make_reclaimed(uint32_t reclaimers, int64_t seconds)
{
    struct simulation_options options = make_ranks(4, seconds);
    options.reclaimers =
        (struct reclaim_actors_options){.count = reclaimers,
                                        .first_ns = 10 * NS_PER_S,
                                        .period_ns = 10 * NS_PER_S,
                                        .reclaim = {.retry_ns = 100 * NS_PER_MS,
                                                    .retry_max_ns = 10 * NS_PER_S,
                                                    .ranks = options.ranks.count,
                                                    .behind = 2,
                                                    .grace_ns = 20 * NS_PER_S,
                                                    .marker_grace_ns = 60 * NS_PER_S,
                                                    .full_every = 4,
                                                    .deletes_max = 16}};
    return options;
}

static void count_round(void *context, uint32_t reclaimer, const struct reclaim_report *report)
{
    uint64_t *tgbs = context;
    (void)reclaimer;
    CU_ASSERT(report->end == RECLAIM_DONE || report->end == RECLAIM_EMPTY);
    *tgbs += report->tgbs;
}

static void count_reclaim_request(void *context, uint32_t reclaimer, enum store_verb verb,
                                  enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)reclaimer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void storage_is_bounded_where_it_is_reclaimed(void)
{
    uint64_t deleted = 0;
    struct reclaim_actors_observer observer = {
        .context = &deleted, .request = count_reclaim_request, .round = count_round};
    struct rank_tally kept = {0};
    struct rank_tally reclaimed = {0};
    struct simulation_options options = make_reclaimed(0, 1200);
    options.sampled = tally_sample;
    options.sample_ns = 1200 * NS_PER_S;
    options.context = &kept;
    run(&options);
    options = make_reclaimed(2, 1200);
    options.sampled = tally_sample;
    options.sample_ns = 1200 * NS_PER_S;
    options.context = &reclaimed;
    options.reclaim_observer = &observer;
    struct simulation_result result = run(&options);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT(deleted > 1000);
    CU_ASSERT(kept.tgbs.bytes > 2 * reclaimed.tgbs.bytes);
    CU_ASSERT(result.manifest_bytes < 128 * result.steps / 2);
}

static void the_reference_has_the_same_digest_with_reclaimers(void)
{
    struct simulation_options options = make_reclaimed(2, 300);
    struct simulation_result fast = run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.objects, slow.objects);
    CU_ASSERT(fast.objects < fast.steps);
}

/* ---- incidents ---- */

#define AT(seconds) ((seconds)*NS_PER_S)

static const struct incident troubles[] = {
    {INCIDENT_PRODUCER, AT(200), AT(20), 0, 2},  {INCIDENT_RANK, AT(300), AT(15), 1, 1},
    {INCIDENT_ROLLBACK, AT(420), AT(10), 0, 4},  {INCIDENT_OUTAGE, AT(540), AT(30), 0, 1},
    {INCIDENT_PRODUCER, AT(560), AT(30), 3, 1},  {INCIDENT_ROLLBACK, AT(700), AT(10), 2, 1},
    {INCIDENT_PRODUCER, AT(890), AT(100), 7, 1}, /* dead at the end */
};

static struct simulation_options make_troubled(void)
{
    struct simulation_options options = make_reclaimed(2, 900);
    options.incidents = troubles;
    options.incident_count = HARNESS_COUNT(troubles);
    return options;
}

/* What a rank was given last, and how often it went back. */
struct places {
    uint64_t last[4];
    uint32_t back[4];
    uint32_t gaps;
};

static void note_place(void *context, uint32_t rank, const struct consumer_delivery *delivery)
{
    struct places *places = context;
    uint64_t *last = &places->last[rank];
    places->back[rank] += delivery->step <= *last;
    places->gaps += delivery->step > *last + 1;
    *last = delivery->step;
}

static void note_nothing(void *context, uint32_t rank, uint64_t step)
{
    (void)context;
    (void)rank;
    (void)step;
}

static void note_no_request(void *context, uint32_t rank, const struct consumer_answer *answer)
{
    (void)context;
    (void)rank;
    (void)answer;
}

static void what_happens_to_a_run_costs_it_no_step(void)
{
    struct places places = {0};
    struct rank_observer observer = {.context = &places,
                                     .given = note_place,
                                     .checkpointed = note_nothing,
                                     .request = note_no_request,
                                     .ended = tally_ended};
    struct simulation_options options = make_troubled();
    options.rank_observer = &observer;
    struct simulation_result result = run(&options);
    CU_ASSERT_EQUAL(result.ended, 0);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT_EQUAL(places.gaps, 0);
    /* Its death and the rollback of all; the rollback of rank 2 alone. */
    CU_ASSERT_EQUAL(places.back[0], 1);
    CU_ASSERT_EQUAL(places.back[1], 2);
    CU_ASSERT_EQUAL(places.back[2], 2);
    CU_ASSERT(result.slowest > 900);
    CU_ASSERT(result.slowest > result.steps * 3 / 5);
}

static void the_reference_has_the_same_digest_with_incidents(void)
{
    struct simulation_options options = make_troubled();
    options.duration_ns = AT(600);
    struct simulation_result fast = run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.given, slow.given);
}

static void incidents_are_checked(void)
{
    static const struct incident overlapping[] = {{INCIDENT_RANK, AT(10), AT(10), 0, 3},
                                                  {INCIDENT_ROLLBACK, AT(15), AT(1), 2, 1}};
    static const struct incident nobody = {INCIDENT_PRODUCER, AT(10), AT(10), 7, 2};
    static const struct incident never = {INCIDENT_OUTAGE, AT(10), 0, 0, 1};
    struct simulation_options options = make_ranks(4, 60);
    options.incidents = overlapping;
    options.incident_count = 2;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "two incidents of one process overlap");
    options.incident_count = 1;
    CU_ASSERT_PTR_NULL(simulation_options_check(&options));
    options.incidents = &nobody;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "an incident is about a process that the run does not have");
    options.incidents = &never;
    CU_ASSERT_STRING_EQUAL(simulation_options_check(&options),
                           "an incident begins before the run, or lasts no time");
}

const struct harness_test simulation_tests[] = {
    HARNESS_TEST(what_happens_to_a_run_costs_it_no_step),
    HARNESS_TEST(the_reference_has_the_same_digest_with_incidents),
    HARNESS_TEST(incidents_are_checked),
    HARNESS_TEST(storage_is_bounded_where_it_is_reclaimed),
    HARNESS_TEST(the_reference_has_the_same_digest_with_reclaimers),
    HARNESS_TEST(ranks_are_given_every_step),
    HARNESS_TEST(the_reference_has_the_same_digest_with_ranks),
    HARNESS_TEST(the_paper_s_run_is_safe),
    HARNESS_TEST(every_policy_is_safe),
    HARNESS_TEST(the_seed_decides),
    HARNESS_TEST(the_reference_has_the_same_digest),
    HARNESS_TEST(the_reference_has_it_on_crowded_links),
    HARNESS_TEST(the_reference_has_it_under_throttling),
    HARNESS_TEST(a_full_link_bounds_the_rate),
    HARNESS_TEST(many_producers_are_safe),
    HARNESS_TEST(the_observer_sees_what_the_chain_holds),
    {0},
};
