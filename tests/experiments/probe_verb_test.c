/* probe_verb_test.c - `lakestream probe` as a process: on a directory, and over HTTP against
 * servers that keep their word or do not. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/probe/probe.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define LIMIT_S 60

/* What was printed is in process->out; the status is returned. */
static int probe(struct live_process *process, const char *scratch, const char *const *arguments)
{
    struct live_process_options options = {
        .scratch = scratch,
        .name = "probe",
        .program = getenv("LAKESTREAM"), /* a fork would seem to have this one's threads */
        .arguments = {"probe", "--rounds", "4"}};
    for (size_t i = 0; arguments[i] != NULL; i++)
        options.arguments[3 + i] = arguments[i];
    live_process_start(process, &options);
    return live_process_wait(process, LIMIT_S);
}

static void use_keys_of_the_server(void)
{
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    setenv("AWS_REGION", "us-east-1", 1);
    unsetenv("AWS_SESSION_TOKEN");
}

static bool holds(const struct live_process *process, const char *words)
{
    bool held = live_count_in(process->out, words) > 0 || live_count_in(process->err, words) > 0;
    if (!held) {
        char *out = live_read(process->out);
        char *err = live_read(process->err);
        fprintf(stderr, "\n'%s' is not in:\n%s%s", words, out, err);
        free(out);
        free(err);
    }
    return held;
}

static void a_directory_is_fit(void)
{
    char scratch[SCRATCH_MAX], url[LIVE_PATH_MAX], left[LIVE_PATH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    snprintf(url, sizeof(url), "file://%s/store", scratch);
    int status = probe(&process, scratch, (const char *const[]){url, "--json", NULL});
    CU_ASSERT_EQUAL(status, CLI_DONE);
    json_t *report = json_load_file(process.out, 0, NULL);
    CU_ASSERT_TRUE(json_is_true(json_object_get(report, "fit")));
    CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "checks")), PROBE_CHECK_COUNT);
    json_decref(report);
    live_path(left, scratch, "store");
    char file[LIVE_PATH_MAX];
    CU_ASSERT_FALSE(live_find_file(left, "0", file));
    scratch_remove(scratch);
}

static void an_honest_server_is_fit_by_both_its_names(void)
{
    char scratch[SCRATCH_MAX], key[HOSTILE_KEY_MAX];
    struct live_process process;
    struct hostile_options options = {0};
    struct hostile_server *server = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    char again[HOSTILE_URL_MAX];
    snprintf(again, sizeof(again), "http://localhost:%u", hostile_server_port(server));
    live_scratch_make(scratch);
    use_keys_of_the_server();
    int status =
        probe(&process, scratch,
              (const char *const[]){"s3://" HOSTILE_BUCKET "/some/where", "--endpoint",
                                    hostile_server_url(server), "--endpoint", again, NULL});
    CU_ASSERT_EQUAL(status, CLI_DONE);
    CU_ASSERT(holds(&process, "is fit for live runs"));
    CU_ASSERT(holds(&process, "4 rounds of 32 writers: one won each"));
    CU_ASSERT(holds(&process, "the store's clock and this machine's agree"));
    CU_ASSERT_FALSE(hostile_server_next_key(server, "", "", key));
    /* The bare star, always; writers on connections of their own. */
    struct hostile_request request;
    size_t creates = 0;
    for (size_t i = 0; hostile_server_request(server, i, &request); i++) {
        char value[16] = "*";
        bool create = request.verb == HOSTILE_CREATE;
        bool said = hostile_request_header(&request, "If-None-Match", value, sizeof(value));
        CU_ASSERT_EQUAL(said, create);
        CU_ASSERT_STRING_EQUAL(value, "*");
        creates += create;
    }
    CU_ASSERT(creates >= (size_t)4 * PROBE_WRITERS);
    CU_ASSERT(hostile_server_connections(server) >= PROBE_WRITERS);
    hostile_server_stop(server);
    scratch_remove(scratch);
}

/* Row 24: each is refused, and the message says which it is. */
static void servers_that_break_their_word_are_refused(void)
{
    static const struct {
        struct hostile_rule rule;
        const char *words;
    } cases[] = {
        {{.match = {.verb = HOSTILE_CREATE}, .apply = HOSTILE_APPLY_ALWAYS},
         "(create): the store ignores If-None-Match: both of two creates"},
        {{.match = {.verb = HOSTILE_CREATE},
          .apply = HOSTILE_APPLY_NOT,
          .reply = HOSTILE_SAY,
          .status = 501,
          .body = "<Error><Code>NotImplemented</Code></Error>"},
         "501 NotImplemented"},
        {{.match = {.verb = HOSTILE_CREATE, .key = "*/race/*"},
          .skip = PROBE_WRITERS + 7,
          .times = 1,
          .apply = HOSTILE_APPLY_ALWAYS},
         "(race): 2 of 32 writers won one key, in round 2"},
        {{.match = {.verb = HOSTILE_LIST},
          .apply = HOSTILE_APPLY_NOT,
          .reply = HOSTILE_SAY,
          .status = 403,
          .body = "<Error><Code>AccessDenied</Code></Error>"},
         "(reach): list s3://" HOSTILE_BUCKET "/p/probe-"},
    };
    char scratch[SCRATCH_MAX], key[HOSTILE_KEY_MAX];
    live_scratch_make(scratch);
    use_keys_of_the_server();
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct live_process process;
        struct hostile_options options = {0};
        struct hostile_server *server = hostile_server_start(&options);
        CU_ASSERT_PTR_NOT_NULL_FATAL(server);
        hostile_server_rule(server, &cases[i].rule);
        int status = probe(&process, scratch,
                           (const char *const[]){"s3://" HOSTILE_BUCKET "/p", "--endpoint",
                                                 hostile_server_url(server), NULL});
        CU_ASSERT_EQUAL(status, CLI_FAILED);
        CU_ASSERT(holds(&process, "is NOT fit for live runs"));
        CU_ASSERT(holds(&process, cases[i].words));
        CU_ASSERT_FALSE(hostile_server_next_key(server, "", "", key));
        hostile_server_stop(server);
    }
    scratch_remove(scratch);
}

/* What a live run asks before it starts. */
static void sessions_are_probed_in_brief(void)
{
    static const struct hostile_rule ignores = {.match = {.verb = HOSTILE_CREATE},
                                                .apply = HOSTILE_APPLY_ALWAYS};
    struct hostile_options options = {0};
    struct hostile_server *server = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    struct live_session session;
    struct live_session_options session_options = {
        .s3 = {.endpoint = hostile_server_url(server), .region = "us-east-1"}};
    char error[STORE_ERROR_MAX] = "", key[HOSTILE_KEY_MAX];
    use_keys_of_the_server();
    enum open_result opened =
        live_session_open("s3://" HOSTILE_BUCKET "/run", &session_options, &session, error);
    CU_ASSERT_EQUAL_FATAL(opened, OPEN_OK);
    CU_ASSERT(probe_session(&session, error));
    CU_ASSERT_STRING_EQUAL(error, "");
    hostile_server_rule(server, &ignores);
    CU_ASSERT_FALSE(probe_session(&session, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "the store ignores If-None-Match"));
    CU_ASSERT_FALSE(hostile_server_next_key(server, "", "", key));
    CU_ASSERT(hostile_server_requests(server) < 1000);
    live_session_close(&session);
    hostile_server_stop(server);
}

/* Row 28. */
static void two_servers_are_not_one_store(void)
{
    char scratch[SCRATCH_MAX], key[HOSTILE_KEY_MAX];
    struct live_process process;
    struct hostile_options options = {0};
    struct hostile_server *a = hostile_server_start(&options);
    struct hostile_server *b = hostile_server_start(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    live_scratch_make(scratch);
    use_keys_of_the_server();
    int status =
        probe(&process, scratch,
              (const char *const[]){"s3://" HOSTILE_BUCKET, "--endpoint", hostile_server_url(a),
                                    "--endpoint", hostile_server_url(b), NULL});
    CU_ASSERT_EQUAL(status, CLI_FAILED);
    CU_ASSERT(holds(&process, "(create): both of two creates on one key were accepted"));
    CU_ASSERT(holds(&process, "2 of 32 writers won one key, in round 1: http://127.0.0.1:"));
    CU_ASSERT_FALSE(hostile_server_next_key(a, "", "", key));
    CU_ASSERT_FALSE(hostile_server_next_key(b, "", "", key));
    hostile_server_stop(a);
    hostile_server_stop(b);
    scratch_remove(scratch);
}

static void a_signal_stops_it_and_it_cleans_up(void)
{
    char scratch[SCRATCH_MAX], store[LIVE_PATH_MAX], url[LIVE_PATH_MAX], file[LIVE_PATH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    live_path(store, scratch, "store");
    snprintf(url, sizeof(url), "file://%s", store);
    struct live_process_options options = {
        .scratch = scratch, .name = "probe", .arguments = {"probe", "--rounds", "10000", url}};
    live_process_start(&process, &options);
    bool racing = false;
    for (int i = 0; i < LIMIT_S * 50 && !racing; i++) {
        live_pause(20);
        racing = live_find_file(store, "00002", file);
    }
    CU_ASSERT(racing);
    kill(process.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&process, LIMIT_S), CLI_FAILED);
    CU_ASSERT(holds(&process, "interrupted: cleaning up"));
    CU_ASSERT(holds(&process, "so that nothing is known for sure"));
    CU_ASSERT_FALSE(live_find_file(store, "00002", file));
    CU_ASSERT_FALSE(live_find_file(store, "00000", file));
    scratch_remove(scratch);
}

static void usage_errors_say_what_is_wrong(void)
{
    static const struct {
        const char *const arguments[6];
        int status;
        const char *words;
    } cases[] = {
        {{"http://host/bucket", NULL}, CLI_USAGE, "http://host/bucket"},
        {{"file:///tmp", "--endpoint", "http://h", NULL}, CLI_USAGE, "is for s3:// stores"},
        {{"s3://bucket", "--style", "odd", NULL}, CLI_USAGE, "auto, path and virtual"},
        {{"file:///proc/nowhere", NULL}, CLI_FAILED, "/proc/nowhere"},
        {{"s3://bucket", "--ca-file", "/nonexistent", "--endpoint", "https://127.0.0.1:1", NULL},
         CLI_FAILED,
         "/nonexistent"},
    };
    char scratch[SCRATCH_MAX];
    struct live_process process;
    live_scratch_make(scratch);
    use_keys_of_the_server();
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        CU_ASSERT_EQUAL(probe(&process, scratch, cases[i].arguments), cases[i].status);
        CU_ASSERT(holds(&process, cases[i].words));
    }
    scratch_remove(scratch);
}

const struct harness_test probe_verb_tests[] = {
    HARNESS_TEST(a_directory_is_fit),
    HARNESS_TEST(an_honest_server_is_fit_by_both_its_names),
    HARNESS_TEST(servers_that_break_their_word_are_refused),
    HARNESS_TEST(sessions_are_probed_in_brief),
    HARNESS_TEST(two_servers_are_not_one_store),
    HARNESS_TEST(a_signal_stops_it_and_it_cleans_up),
    HARNESS_TEST(usage_errors_say_what_is_wrong),
    {0}};
