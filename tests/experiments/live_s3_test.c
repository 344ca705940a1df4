/* live_s3_test.c - live, inspect, produce and remove over HTTP: what works, what is refused in one
 * line, what survives a death, and how much memory it takes. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"
#include "tests/hostile/hostile_server.h"

#define STORE "s3://" HOSTILE_BUCKET "/runs"
#define LIMIT_S 60
#define CHILDREN_MAX 16

/* Set by make. Executed: the server's threads may hold a lock when a process is forked. */
static const char *program(void)
{
    return getenv("LAKESTREAM");
}

#define SKIP_WITHOUT_PROGRAM()                                                                     \
    do {                                                                                           \
        if (program() == NULL)                                                                     \
            HARNESS_SKIP("LAKESTREAM does not name the program");                                  \
    } while (0)

struct s3_case {
    char scratch[SCRATCH_MAX];
    char config[LIVE_PATH_MAX];
    char db[LIVE_PATH_MAX];
    struct hostile_server *server;
    struct live_process process;
};

static void use_keys(const char *secret, const char *token)
{
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", secret, 1);
    setenv("AWS_REGION", "us-east-1", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    unsetenv("AWS_SESSION_TOKEN");
    if (token != NULL)
        setenv("AWS_SESSION_TOKEN", token, 1);
}

static void case_open(struct s3_case *live, const struct hostile_options *options, int producers,
                      int duration_ms)
{
    live->server = hostile_server_start(options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(live->server);
    live_scratch_make(live->scratch);
    live_write_config(live->scratch, producers, duration_ms, "");
    live_path(live->config, live->scratch, "config.yaml");
    live_path(live->db, live->scratch, "results.db");
    use_keys(HOSTILE_SECRET_KEY, NULL);
}

static void case_close(struct s3_case *live)
{
    scratch_remove(live->scratch);
    hostile_server_stop(live->server);
}

static void start(struct s3_case *live)
{
    struct live_process_options options = {
        .program = program(),
        .scratch = live->scratch,
        .name = "live",
        .arguments = {"live", live->config, "--db", live->db, "--store", STORE, "--endpoint",
                      hostile_server_url(live->server), "--set", "live.deadline=2s"},
    };
    live_process_start(&live->process, &options);
}

/* The text of one column of the only run. */
static void read_row(const struct s3_case *live, const char *sql, char *text, size_t capacity)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    text[0] = '\0';
    if (sqlite3_open_v2(live->db, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        snprintf(text, capacity, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* The run's URL, as the database has it, without the endpoint that stands behind it. */
static void run_url(const struct s3_case *live, char url[LIVE_PATH_MAX])
{
    char expected[LIVE_PATH_MAX];
    read_row(live, "SELECT store FROM run", url, LIVE_PATH_MAX);
    snprintf(expected, sizeof(expected), " at %s", hostile_server_url(live->server));
    char *at = strstr(url, " at ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_STRING_EQUAL(at, expected);
    *at = '\0';
}

/* A verb on a URL: its status. */
static int run_verb(struct s3_case *live, const char *verb, const char *url, const char *flag)
{
    struct live_process_options options = {
        .program = program(),
        .scratch = live->scratch,
        .name = verb,
        .arguments = {verb, url, "--endpoint", hostile_server_url(live->server), flag},
    };
    return live_process_run(&live->process, &options);
}

static void a_run_is_made_inspected_and_removed(void)
{
    SKIP_WITHOUT_PROGRAM();
    struct s3_case live;
    char url[LIVE_PATH_MAX];
    case_open(&live, &(struct hostile_options){0}, 3, 1500);
    start(&live);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, LIMIT_S), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, " --endpoint http://127.0.0.1:"), 1);
    run_url(&live, url);
    CU_ASSERT_EQUAL(run_verb(&live, "inspect", url, "--deep"), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "No problem found."), 1);
    CU_ASSERT_EQUAL(run_verb(&live, "remove", url, "--yes"), 0);
    CU_ASSERT_EQUAL(run_verb(&live, "inspect", url, NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "holds no chain"), 1);
    case_close(&live);
}

static void a_killed_producer_goes_on_at_its_offset(void)
{
    SKIP_WITHOUT_PROGRAM();
    struct s3_case live;
    char url[LIVE_PATH_MAX];
    pid_t children[CHILDREN_MAX];
    case_open(&live, &(struct hostile_options){0}, 3, 4000);
    start(&live);
    CU_ASSERT_TRUE_FATAL(live_wait_for(live.process.err, "producers 0-2: pids", 1, 20));
    live_pause(1000);
    int count = live_children_of(live.process.pid, children, CHILDREN_MAX);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    kill(children[1], SIGKILL);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, LIMIT_S), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "goes on after sequence"), 1);
    run_url(&live, url);
    CU_ASSERT_EQUAL(run_verb(&live, "inspect", url, "--deep"), 0);
    CU_ASSERT_EQUAL(live_count_in(live.process.out, "No problem found."), 1);
    case_close(&live);
}

/* ---- memory ---- */

#define MEMORY_BASE_BYTES 64e6
#define UPLOADS 4
#define TGB_BYTES (8.0 * 1024 * 1024)

/* What a producer's process had resident at most, libcurl and OpenSSL in it: 64 MB, the batches in
 * flight, and 1.2 times its manifest. */
static void a_producer_takes_little_memory(void)
{
    SKIP_WITHOUT_PROGRAM();
    struct s3_case live;
    char text[64];
    case_open(&live, &(struct hostile_options){.transport = HOSTILE_HTTPS}, 2, 4000);
    struct live_process_options options = {
        .program = program(),
        .scratch = live.scratch,
        .name = "live",
        .arguments = {"live", live.config, "--db", live.db, "--store", STORE, "--endpoint",
                      hostile_server_url(live.server), "--ca-file",
                      hostile_server_ca_file(live.server), "--set=workload.tgb=8MiB",
                      "--set=workload.rate=40MiB/s", "--set=workload.mode=background",
                      "--set=commit.uploads_max=4"},
    };
    CU_ASSERT_EQUAL(live_process_run(&live.process, &options), 0);
    read_row(&live, "SELECT value FROM metric WHERE name = 'producer_memory'", text, sizeof(text));
    double bytes = strtod(text, NULL);
    read_row(&live, "SELECT value FROM metric WHERE name = 'manifest_bytes'", text, sizeof(text));
    double manifest_bytes = strtod(text, NULL);
    CU_ASSERT(manifest_bytes > 0);
    CU_ASSERT(bytes > TGB_BYTES); /* it was measured */
    double most = MEMORY_BASE_BYTES + UPLOADS * TGB_BYTES + 1.2 * manifest_bytes;
    CU_ASSERT(HARNESS_MEMORY_IS_SANITIZED || bytes < most);
    fprintf(stderr, "  producer_memory %.1f MB\n", bytes / 1e6);
    case_close(&live);
}

/* ---- stores that live runs refuse ---- */

static void stores_that_let_two_win_are_refused(void)
{
    SKIP_WITHOUT_PROGRAM();
    static const struct hostile_rule rules[] = {
        {.match = {HOSTILE_CREATE, NULL}, .apply = HOSTILE_APPLY_ALWAYS},
        {.match = {HOSTILE_CREATE, NULL},
         .apply = HOSTILE_APPLY_NOT,
         .reply = HOSTILE_SAY,
         .status = 501},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rules); i++) {
        struct s3_case live;
        case_open(&live, &(struct hostile_options){0}, 2, 1000);
        hostile_server_rule(live.server, &rules[i]);
        start(&live);
        CU_ASSERT_EQUAL(live_process_wait(&live.process, LIMIT_S), 1);
        CU_ASSERT_EQUAL(live_count_in(live.process.err, "not started: " STORE), 1);
        CU_ASSERT_EQUAL(live_count_in(live.process.err, "\n"), 2); /* after the expected cost */
        CU_ASSERT_EQUAL(hostile_server_count(live.server,
                                             (struct hostile_match){HOSTILE_ANY, "*run/format"},
                                             HOSTILE_WHATEVER),
                        0);
        case_close(&live);
    }
}

/* ---- bad input ---- */

struct bad_input {
    const char *what;
    const char *secret; /* NULL: the right one */
    const char *token;
    const char *store;    /* NULL: STORE */
    const char *endpoint; /* NULL: the server's */
    const char *flag;
    struct hostile_rule rule;
    int status;
    const char *said;
};

#define SAY(code, text)                                                                            \
    {                                                                                              \
        .apply = HOSTILE_APPLY_NOT, .reply = HOSTILE_SAY, .status = (code), .body = (text)         \
    }
#define HTML "<html><head><title>Proxy</title></head><body>Please log in.</body></html>"
#define DENIED "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
#define REGION                                                                                     \
    "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message>"       \
    "<Region>eu-north-9</Region></Error>"

static const struct bad_input bad_inputs[] = {
    {.what = "secret", .secret = "wrong", .status = 1, .said = "SignatureDoesNotMatch"},
    {.what = "token", .token = "old", .status = 1, .said = "token"},
    {.what = "bucket", .store = "s3://no-such-bucket/x", .status = 1, .said = "NoSuchBucket"},
    {.what = "region", .rule = SAY(400, REGION), .status = 1, .said = "region"},
    {.what = "port", .endpoint = "http://127.0.0.1:1", .status = 1, .said = "no connection"},
    {.what = "host",
     .endpoint = "http://no-such-host.invalid",
     .status = 1,
     .said = "no-such-host"},
    {.what = "proxy 200", .rule = SAY(200, HTML), .status = 1, .said = "S3"},
    {.what = "proxy 403", .rule = SAY(403, HTML), .status = 1, .said = "403"},
    {.what = "forbidden", .rule = SAY(403, DENIED), .status = 1, .said = "AccessDenied"},
    {.what = "style", .flag = "--style=none", .status = 2, .said = "style"},
    {.what = "unsigned", .flag = "--unsigned-payload", .status = 2, .said = "https"},
    {.what = "endpoint", .endpoint = "http://127.0.0.1/path", .status = 2, .said = "path"},
    {.what = "scheme", .endpoint = "ftp://127.0.0.1", .status = 2, .said = "ftp"},
    {.what = "name", .store = "s3://", .status = 2, .said = "names no bucket"},
    {.what = "certificates",
     .endpoint = "https://127.0.0.1:1",
     .flag = "--ca-file=/none",
     .status = 1,
     .said = "/none"},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *const verbs[] = {"live", "inspect", "produce", "remove"};

static void start_verb(const struct s3_case *live, const char *verb, const struct bad_input *bad,
                       struct live_process *process)
{
    bool is_live = strcmp(verb, "live") == 0;
    const char *store = bad->store != NULL ? bad->store : STORE;
    struct live_process_options options = {
        .program = program(),
        .scratch = live->scratch,
        .name = verb,
        .arguments = {verb, is_live ? live->config : store, "--endpoint",
                      bad->endpoint != NULL ? bad->endpoint : hostile_server_url(live->server)},
    };
    const char *const more[] = {"--store", store, "--set", "live.deadline=2s", "--db", live->db};
    int count = 4;
    if (bad->flag != NULL)
        options.arguments[count++] = bad->flag;
    for (size_t i = 0; is_live && i < HARNESS_COUNT(more); i++)
        options.arguments[count++] = more[i];
    live_process_start(process, &options);
}

/* Refused in one line that says what is wrong. */
static void check_refusal(const char *verb, const struct bad_input *bad,
                          struct live_process *process)
{
    int status = live_process_wait(process, LIMIT_S);
    bool told = live_count_in(process->err, bad->said) > 0;
    int lines =
        live_count_in(process->err, "\n") - live_count_in(process->err, "expected, by simulating");
    if (status != bad->status || !told || lines != 1) {
        char *err = live_read(process->err);
        fprintf(stderr, "\n%s, wrong %s: status %d\n%s", verb, bad->what, status, err);
        free(err);
    }
    CU_ASSERT_EQUAL(status, bad->status);
    CU_ASSERT_TRUE(told);
    CU_ASSERT_EQUAL(lines, 1);
}

/* All verbs with one bad input: refused soon, and without a storm of requests. */
static void refuse(struct s3_case *live, const struct bad_input *bad)
{
    struct live_process processes[HARNESS_COUNT(verbs)];
    hostile_server_rules_clear(live->server);
    if (bad->rule.reply != HOSTILE_OWN)
        hostile_server_rule(live->server, &bad->rule);
    use_keys(bad->secret != NULL ? bad->secret : HOSTILE_SECRET_KEY,
             bad->token != NULL ? bad->token : "right");
    size_t before = hostile_server_requests(live->server);
    double begun_s = seconds();
    for (size_t i = 0; i < HARNESS_COUNT(verbs); i++)
        start_verb(live, verbs[i], bad, &processes[i]);
    for (size_t i = 0; i < HARNESS_COUNT(verbs); i++)
        check_refusal(verbs[i], bad, &processes[i]);
    CU_ASSERT(seconds() - begun_s < 30);
    CU_ASSERT(hostile_server_requests(live->server) - before < 50);
}

static void bad_input_is_refused_in_one_line(void)
{
    SKIP_WITHOUT_PROGRAM();
    struct s3_case live;
    case_open(&live, &(struct hostile_options){.session_token = "right"}, 2, 1000);
    for (size_t i = 0; i < HARNESS_COUNT(bad_inputs); i++)
        refuse(&live, &bad_inputs[i]);
    case_close(&live);
}

/* Accepts connections, and that is all. */
static void a_mute_server_is_given_up_by_the_deadline(void)
{
    SKIP_WITHOUT_PROGRAM();
    struct s3_case live;
    case_open(&live, &(struct hostile_options){.transport = HOSTILE_MUTE}, 2, 1000);
    double begun_s = seconds();
    start(&live);
    CU_ASSERT_EQUAL(live_process_wait(&live.process, LIMIT_S), 1);
    CU_ASSERT(seconds() - begun_s < 30);
    CU_ASSERT_EQUAL(live_count_in(live.process.err, "\n"), 2); /* after the expected cost */
    case_close(&live);
}

const struct harness_test live_s3_tests[] = {
    HARNESS_TEST(a_run_is_made_inspected_and_removed),
    HARNESS_TEST(a_killed_producer_goes_on_at_its_offset),
    HARNESS_TEST(a_producer_takes_little_memory),
    HARNESS_TEST(stores_that_let_two_win_are_refused),
    HARNESS_TEST(bad_input_is_refused_in_one_line),
    HARNESS_TEST(a_mute_server_is_given_up_by_the_deadline),
    {0},
};
