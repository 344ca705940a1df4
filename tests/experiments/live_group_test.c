/* live_group_test.c - one live run by several processes that know each other only by a token: real
 * ones, some of which die. */
#include "experiments/live/live_group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define RANKS_MAX 3

/* Ranks on a scratch folder, all with the same command but for the rank. */
struct bench {
    char scratch[LIVE_SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    struct live_process ranks[RANKS_MAX];
};

static void bench_open(struct bench *bench, int producers, int duration_ms, const char *more)
{
    char text[1024];
    snprintf(text, sizeof(text), "live.lead: 300ms\n%s", more);
    live_scratch_make(bench->scratch);
    live_write_config(bench->scratch, producers, duration_ms, text);
    live_path(bench->config, bench->scratch, "config.yaml");
    live_path(bench->db, bench->scratch, "results.db");
}

static void bench_close(struct bench *bench)
{
    live_scratch_remove(bench->scratch);
}

static void start(struct bench *bench, const char *rank, const char *ranks, const char *set)
{
    char name[16];
    snprintf(name, sizeof(name), "rank-%s", rank);
    struct live_process_options options = {
        .scratch = bench->scratch,
        .name = name,
        .arguments = {"live", bench->config, "--db", bench->db, "--rank", rank, "--ranks", ranks,
                      "--token", "word", set != NULL ? "--set" : NULL, set},
    };
    live_process_start(&bench->ranks[rank[0] - '0'], &options);
}

static int finish(struct bench *bench, int rank)
{
    return live_process_wait(&bench->ranks[rank], 60);
}

static int said(const struct bench *bench, int rank, const char *text)
{
    return live_count_in(bench->ranks[rank].err, text);
}

static void check_chain(struct bench *bench, const char *arm, int producers)
{
    char url[LIVE_PATH_MAX];
    int status = -1;
    CU_ASSERT_TRUE_FATAL(live_run_url(bench->scratch, arm, url));
    json_t *report = live_inspect(bench->scratch, url, "--deep", &status);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "problem_count", NULL), 0);
    CU_ASSERT_EQUAL((int)json_array_size(json_object_get(report, "producers")), producers);
    CU_ASSERT(live_number(report, "tgbs", "verified") > 0);
    json_decref(report);
}

static void three_ranks_share_the_producers_of_every_run(void)
{
    struct bench bench;
    bench_open(&bench, 7, 1500,
               "arms:\n  - {name: one, policy: {name: fixed, fixed.gap: 100ms}}\n"
               "  - {name: two, policy: {name: fixed, fixed.gap: 200ms}}\n");
    start(&bench, "2", "3", NULL);
    start(&bench, "0", "3", NULL);
    start(&bench, "1", "3", NULL);
    for (int rank = 0; rank < 3; rank++)
        CU_ASSERT_EQUAL(finish(&bench, rank), 0);
    check_chain(&bench, "one", 7);
    check_chain(&bench, "two", 7);
    CU_ASSERT_EQUAL(said(&bench, 0, "producers 0-1: pids"), 2);
    CU_ASSERT_EQUAL(said(&bench, 1, "producers 2-3: pids"), 2);
    CU_ASSERT_EQUAL(said(&bench, 2, "producers 4-6: pids"), 2);
    CU_ASSERT_EQUAL(live_rows(bench.scratch), 2);
    CU_ASSERT_EQUAL(live_metric(bench.scratch, "ranks"), 3);
    CU_ASSERT(live_metric(bench.scratch, "won") >= 7);
    CU_ASSERT(live_metric(bench.scratch, "committed_mb_s") > 0);
    /* One clock, so that the estimate of their difference is all error. */
    CU_ASSERT(live_metric(bench.scratch, "clock_skew_max_s") <=
              live_metric(bench.scratch, "clock_skew_error_s") + 0.001);
    bench_close(&bench);
}

static void a_rank_killed_before_the_barrier_is_named(void)
{
    struct bench bench;
    bench_open(&bench, 4, 1000, "live.patience: 1s\n");
    start(&bench, "1", "2", NULL);
    live_pause(200);
    kill(-bench.ranks[1].pid, SIGKILL);
    CU_ASSERT_EQUAL(finish(&bench, 1), 128 + SIGKILL);
    start(&bench, "0", "2", NULL);
    CU_ASSERT_EQUAL(finish(&bench, 0), 1);
    CU_ASSERT_EQUAL(said(&bench, 0, "rank 1 of 2 did not stand ready"), 1);
    CU_ASSERT_EQUAL(live_rows(bench.scratch), 0);
    bench_close(&bench);
}

static void a_rank_killed_after_the_barrier_is_named(void)
{
    struct bench bench;
    bench_open(&bench, 6, 2500, "live.patience: 1s\n");
    start(&bench, "0", "3", NULL);
    start(&bench, "1", "3", NULL);
    start(&bench, "2", "3", NULL);
    CU_ASSERT_TRUE(live_wait_for(bench.ranks[2].err, "producers 4-5: pids", 1, 20));
    kill(-bench.ranks[2].pid, SIGKILL); /* its producers, too */
    CU_ASSERT_EQUAL(finish(&bench, 2), 128 + SIGKILL);
    CU_ASSERT_EQUAL(finish(&bench, 0), 1);
    CU_ASSERT_EQUAL(said(&bench, 0, "rank 2 of 3 did not tell its results"), 1);
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, "rank 0 gave up"), 1);
    CU_ASSERT_EQUAL(live_rows(bench.scratch), 0);
    bench_close(&bench);
}

static void rank_zero_gone_ends_the_others(void)
{
    struct bench bench;
    bench_open(&bench, 2, 500, "live.patience: 400ms\n");
    start(&bench, "1", "2", NULL);
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, "rank 0 had not said in the meeting word"), 1);
    bench_close(&bench);
}

static void a_rank_that_fails_is_told_by_rank_zero(void)
{
    struct bench bench;
    pid_t producers[4];
    bench_open(&bench, 4, 2500, "live.restart: off\n");
    start(&bench, "0", "2", NULL);
    start(&bench, "1", "2", NULL);
    CU_ASSERT_TRUE(live_wait_for(bench.ranks[1].err, "producers 2-3: pids", 1, 20));
    CU_ASSERT_EQUAL_FATAL(live_children_of(bench.ranks[1].pid, producers, 4), 2);
    kill(producers[0], SIGKILL);
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(finish(&bench, 0), 1);
    CU_ASSERT_EQUAL(said(&bench, 0, "rank 1: producer 2 (process"), 1);
    CU_ASSERT_EQUAL(live_rows(bench.scratch), 0);
    bench_close(&bench);
}

static void signals_end_all_ranks(void)
{
    struct bench bench;
    bench_open(&bench, 4, 60000, "");
    start(&bench, "0", "2", NULL);
    start(&bench, "1", "2", NULL);
    CU_ASSERT_TRUE(live_wait_for(bench.ranks[0].err, "producers 0-1: pids", 1, 20));
    CU_ASSERT_TRUE(live_wait_for(bench.ranks[1].err, "producers 2-3: pids", 1, 20));
    live_pause(1000);
    kill(-bench.ranks[0].pid, SIGINT);
    kill(-bench.ranks[1].pid, SIGINT);
    CU_ASSERT_EQUAL(finish(&bench, 0), 1);
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(said(&bench, 0, "stopped as asked"), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, "stopped as asked"), 1);
    check_chain(&bench, "fixed", 4);
    bench_close(&bench);
}

static void a_token_is_good_for_one_sweep(void)
{
    struct bench bench;
    bench_open(&bench, 2, 500, "live.patience: 2s\n");
    for (int sweep = 0; sweep < 2; sweep++) {
        start(&bench, "0", "2", NULL);
        if (sweep == 0)
            start(&bench, "1", "2", NULL);
        CU_ASSERT_EQUAL(finish(&bench, 0), sweep);
        if (sweep == 0)
            CU_ASSERT_EQUAL(finish(&bench, 1), 0);
    }
    CU_ASSERT_EQUAL(said(&bench, 0, "the token word was used before"), 1);
    bench_close(&bench);
}

static void ranks_that_do_not_fit_are_refused(void)
{
    struct bench bench;
    bench_open(&bench, 2, 500, "live.patience: 500ms\n");
    start(&bench, "0", "3", NULL);
    CU_ASSERT_EQUAL(finish(&bench, 0), 2);
    CU_ASSERT_EQUAL(said(&bench, 0, "workload.producers is 2, but 3 ranks"), 1);
    start(&bench, "0", "2", NULL);
    start(&bench, "1", "2", "workload.rate=1MB/s");
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, "another config than"), 1);
    CU_ASSERT_EQUAL(finish(&bench, 0), 1);
    bench_close(&bench);
}

const struct harness_test live_group_tests[] = {
    HARNESS_TEST(three_ranks_share_the_producers_of_every_run),
    HARNESS_TEST(a_rank_killed_before_the_barrier_is_named),
    HARNESS_TEST(a_rank_killed_after_the_barrier_is_named),
    HARNESS_TEST(rank_zero_gone_ends_the_others),
    HARNESS_TEST(a_rank_that_fails_is_told_by_rank_zero),
    HARNESS_TEST(signals_end_all_ranks),
    HARNESS_TEST(a_token_is_good_for_one_sweep),
    HARNESS_TEST(ranks_that_do_not_fit_are_refused),
    {0},
};
