/* rank_actors_test.c - whole runs with ranks, and with reclaimers beside them. */
#include <stdio.h>

#include "tests/sim/whole_run.h"

/* ---- ranks ---- */

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
    struct simulation_options options = whole_run_ranks(16, 1200);
    struct simulation_result plain = whole_run(&options);
    options.rank_observer = &observer;
    options.sampled = tally_sample;
    options.sample_ns = 7 * NS_PER_S;
    options.at_end_of_rank = tally_consumer;
    options.context = &tally;
    struct simulation_result result = whole_run(&options);
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
    struct simulation_options options = whole_run_ranks(4, 300);
    struct simulation_result fast = whole_run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = whole_run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.given, slow.given);
    CU_ASSERT(fast.given > 500);
}

/* ---- reclaimers ---- */

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
    struct simulation_options options = whole_run_reclaimed(0, 1200);
    options.sampled = tally_sample;
    options.sample_ns = 1200 * NS_PER_S;
    options.context = &kept;
    whole_run(&options);
    options = whole_run_reclaimed(2, 1200);
    options.sampled = tally_sample;
    options.sample_ns = 1200 * NS_PER_S;
    options.context = &reclaimed;
    options.reclaim_observer = &observer;
    struct simulation_result result = whole_run(&options);
    CU_ASSERT_EQUAL(result.ranks_ended, 0);
    CU_ASSERT(deleted > 1000);
    CU_ASSERT(kept.tgbs.bytes > 2 * reclaimed.tgbs.bytes);
    CU_ASSERT(result.manifest_bytes < 128 * result.steps / 2);
}

static void the_reference_has_the_same_digest_with_reclaimers(void)
{
    struct simulation_options options = whole_run_reclaimed(2, 300);
    struct simulation_result fast = whole_run(&options);
    options.reference = REFERENCE_ALL;
    struct simulation_result slow = whole_run(&options);
    CU_ASSERT_EQUAL(fast.digest, slow.digest);
    CU_ASSERT_EQUAL(fast.objects, slow.objects);
    CU_ASSERT(fast.objects < fast.steps);
}

const struct harness_test rank_actors_tests[] = {
    HARNESS_TEST(ranks_are_given_every_step),
    HARNESS_TEST(the_reference_has_the_same_digest_with_ranks),
    HARNESS_TEST(storage_is_bounded_where_it_is_reclaimed),
    HARNESS_TEST(the_reference_has_the_same_digest_with_reclaimers),
    {0},
};
