/* live_group_test.c - one live run by several processes that know each other only by a token: real
 * ones, some of which die. */
#include "experiments/live/live_group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/live/live_meeting.h"
#include "experiments/live/live_visit.h"
#include "experiments/trials/arm_record.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

#define RANKS_MAX 3

/* Ranks on a scratch folder, all with the same command but for the rank. */
struct bench {
    char scratch[SCRATCH_MAX];
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
    scratch_remove(bench->scratch);
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

/* ---- messages that no rank of this program wrote ---- */

static void load(const struct bench *bench, struct experiment *experiment)
{
    struct overrides none = {0};
    struct diagnostic diagnostic;
    CU_ASSERT_TRUE_FATAL(experiment_load(bench->config, none, experiment, &diagnostic));
}

/* What rank 0 would say, but of another place and group. */
static void plant_call(struct bench *bench, const char *place, const char *id)
{
    static struct live_signals signals;
    const struct live_ranks ranks = {.count = 2, .token = "word"};
    struct experiment experiment;
    struct arm_record record;
    struct live_call call = {.seed = 1};
    char text[LIVE_GROUP_TEXT_MAX] = "";
    load(bench, &experiment);
    arm_record_init(&record, &experiment.arms[0]);
    snprintf(call.url, sizeof(call.url), "file://%s/%s", bench->scratch, place);
    snprintf(call.arm, sizeof(call.arm), "%s", experiment.arms[0].name);
    snprintf(call.group, sizeof(call.group), "%s", id);
    memcpy(call.hash, record.hash, sizeof(call.hash));
    struct live_meeting meeting = {.config = &experiment.arms[0].config,
                                   .experiment = experiment.name,
                                   .ranks = &ranks,
                                   .signals = &signals};
    CU_ASSERT_TRUE(live_meeting_call(&meeting, &call, text));
    arm_record_deinit(&record);
    experiment_deinit(&experiment);
}

static void start_resuming(struct bench *bench, const char *place)
{
    char url[LIVE_PATH_MAX];
    snprintf(url, sizeof(url), "file://%s/%s", bench->scratch, place);
    struct live_process_options options = {
        .scratch = bench->scratch,
        .name = "rank-1",
        .arguments = {"live", bench->config, "--db", bench->db, "--rank", "1", "--ranks", "2",
                      "--token", "word", "--resume", url},
    };
    live_process_start(&bench->ranks[1], &options);
}

struct planted_call {
    const char *place;
    const char *group;
    const char *resume; /* NULL: a new run */
    const char *said;
};

static void check_refused(const struct planted_call *planted)
{
    struct bench bench;
    char path[LIVE_PATH_MAX];
    bench_open(&bench, 2, 500, "live.patience: 300ms\n");
    plant_call(&bench, planted->place, planted->group);
    if (planted->resume != NULL)
        start_resuming(&bench, planted->resume);
    else
        start(&bench, "1", "2", NULL);
    CU_ASSERT_EQUAL(finish(&bench, 1), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, planted->said), 1);
    CU_ASSERT_EQUAL(said(&bench, 1, "\x1b"), 0);
    live_path(path, bench.scratch, "%s", planted->place);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    bench_close(&bench);
}

static void a_call_to_a_place_of_others_is_refused(void)
{
    static const char id[] = "0123456789abcdef";
    static const struct planted_call calls[] = {
        {"elsewhere", id, NULL, "is not below live.store"},
        {"elsewhere/\x1b[2J", id, NULL, "is not below live.store"},
        {"store/../elsewhere", id, NULL, "is not below live.store"},
        {"storeelsewhere", id, NULL, "is not below live.store"},
        {"store/probe/run", id, "store/probe/other", "is not the --resume"},
        {"store/probe/run", "../../elsewhere", NULL, "is damaged"},
        {"store/probe/run", "0123456789ABCDEF", NULL, "is damaged"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(calls); i++)
        check_refused(&calls[i]);
}

/* Two ranks of one run, both in this process. */
struct pair {
    struct bench bench;
    struct experiment experiment;
    struct live_signals signals;
    char url[LIVE_PATH_MAX];
    struct live_group groups[2];
};

static void pair_open(struct pair *pair)
{
    bench_open(&pair->bench, 2, 500, "live.patience: 300ms\n");
    load(&pair->bench, &pair->experiment);
    live_signals_open(&pair->signals);
    snprintf(pair->url, sizeof(pair->url), "file://%.60s/store/run", pair->bench.scratch);
    for (uint32_t rank = 0; rank < 2; rank++)
        pair->groups[rank] = (struct live_group){.ranks = {.rank = rank, .count = 2},
                                                 .id = "0123456789abcdef",
                                                 .config = &pair->experiment.arms[0].config,
                                                 .url = pair->url,
                                                 .signals = &pair->signals};
}

static void pair_close(struct pair *pair)
{
    live_signals_close(&pair->signals);
    experiment_deinit(&pair->experiment);
    bench_close(&pair->bench);
}

/* A rank's message with this member besides its own ones, or in their place. */
static void plant(struct pair *pair, uint32_t rank, const char *name, const char *key,
                  json_t *value)
{
    struct live_visit visit;
    char text[LIVE_GROUP_TEXT_MAX] = "";
    CU_ASSERT_TRUE_FATAL(live_visit_open(&visit, &pair->groups[rank], text));
    json_t *message = live_visit_message(&visit);
    json_object_set_new(message, "start_ns", json_integer(live_visit_now(&visit)));
    if (strcmp(name, "result") == 0)
        json_object_update_new(message,
                               json_pack("{s:s, s:[iiiiiiiiiii], s:i, s:i, s:i}", "failure", "",
                                         "counts", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "restarts", 0,
                                         "memory_bytes", 0, "start_heard_ns", 0));
    json_object_set_new(message, key, value);
    CU_ASSERT_TRUE(live_visit_put_json(&visit, name, rank, message));
    live_visit_close(&visit);
}

struct planted_number {
    uint32_t rank; /* of the sender */
    const char *name;
    const char *key;
    json_int_t value;
};

static void check_damaged(const struct planted_number *planted, const char *said)
{
    static struct pair pair;
    struct live_group_result result = {.failure = ""};
    struct run_results results = {0};
    char text[LIVE_GROUP_TEXT_MAX] = "";
    int64_t start_ns = 0;
    int64_t wait_ns;
    pair_open(&pair);
    plant(&pair, planted->rank, planted->name, planted->key, json_integer(planted->value));
    struct live_group *other = &pair.groups[1 - planted->rank];
    enum live_group_end end = strcmp(planted->name, "result") == 0
                                  ? live_group_conclude(other, &result, &results, text)
                                  : live_group_start(other, &start_ns, &wait_ns, text);
    CU_ASSERT_EQUAL(end, LIVE_GROUP_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "is damaged"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, said));
    run_results_deinit(&results);
    pair_close(&pair);
}

static void a_message_without_a_possible_time_is_damaged(void)
{
    static const struct planted_number times[] = {
        {1, "ready", "now_ns", INT64_MIN}, {1, "ready", "now_ns", INT64_MAX},
        {1, "ready", "now_ns", -1},        {0, "start", "start_ns", INT64_MIN},
        {0, "start", "now_ns", INT64_MIN}, {1, "result", "start_heard_ns", INT64_MIN},
    };
    for (size_t i = 0; i < HARNESS_COUNT(times); i++)
        check_damaged(&times[i], "_ns is no ");
}

static void a_result_of_impossible_counts_is_damaged(void)
{
    static const struct planted_number counts[] = {
        {1, "result", "counts", 7},
        {1, "result", "restarts", -1},
        {1, "result", "restarts", 1 << 30},
        {1, "result", "memory_bytes", -1},
        {1, "result", "memory_bytes", INT64_MAX},
    };
    for (size_t i = 0; i < HARNESS_COUNT(counts); i++)
        check_damaged(&counts[i], "its counts are none");
}

static void a_call_without_a_seed_is_damaged(void)
{
    static const char *const seeds[] = {"", ",\"seed\":\"7\"", ",\"seed\":-7", ",\"seed\":7"};
    const struct live_ranks ranks = {.rank = 1, .count = 2, .token = "word"};
    for (size_t i = 0; i < HARNESS_COUNT(seeds); i++) {
        char said[256];
        char text[LIVE_GROUP_TEXT_MAX] = "";
        struct live_call call;
        snprintf(said, sizeof(said),
                 "{\"ranks\":2,\"over\":false,\"url\":\"u\",\"arm\":\"a\",\"hash\":\"h\","
                 "\"group\":\"0123456789abcdef\"%s}",
                 seeds[i]);
        struct body body = {.kind = BODY_BYTES, .bytes = strlen(said), .data = (uint8_t *)said};
        bool right = i + 1 == HARNESS_COUNT(seeds);
        CU_ASSERT_EQUAL(live_meeting_parse(&ranks, &body, &call, text), right);
        CU_ASSERT_TRUE(right || strstr(text, "is damaged") != NULL);
    }
}

static void of_a_long_message_only_the_start_is_read(void)
{
    static struct pair pair;
    static char filler[2 * LIVE_VISIT_BYTES_MAX];
    char text[LIVE_GROUP_TEXT_MAX] = "";
    int64_t start_ns;
    int64_t wait_ns;
    pair_open(&pair);
    memset(filler, 'x', sizeof(filler) - 1);
    plant(&pair, 1, "ready", "filler", json_string(filler));
    CU_ASSERT_EQUAL(live_group_start(&pair.groups[0], &start_ns, &wait_ns, text),
                    LIVE_GROUP_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ready-1 is damaged"));
    pair_close(&pair);
}

static void a_failure_of_others_is_told_harmless(void)
{
    static struct pair pair;
    char text[LIVE_GROUP_TEXT_MAX] = "";
    int64_t start_ns;
    int64_t wait_ns;
    pair_open(&pair);
    plant(&pair, 1, "ready", "failure",
          json_string("\x1b[2J \xc2\x9b"
                      "2J \xc3\x9b"));
    CU_ASSERT_EQUAL(live_group_start(&pair.groups[0], &start_ns, &wait_ns, text),
                    LIVE_GROUP_FAILED);
    CU_ASSERT_STRING_EQUAL(text, "rank 1: ?[2J ??2J \xc3\x9b");
    pair_close(&pair);
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
    HARNESS_TEST(a_call_to_a_place_of_others_is_refused),
    HARNESS_TEST(a_message_without_a_possible_time_is_damaged),
    HARNESS_TEST(a_result_of_impossible_counts_is_damaged),
    HARNESS_TEST(a_call_without_a_seed_is_damaged),
    HARNESS_TEST(of_a_long_message_only_the_start_is_read),
    HARNESS_TEST(a_failure_of_others_is_told_harmless),
    {0},
};
