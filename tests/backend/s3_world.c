/* s3_world.c - see s3_world.h. */
#include "tests/backend/s3_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/codec_store.h"
#include "core/manifest.h"
#include "tests/backend/s3_audit.h"
#include "tests/harness.h"

#define WATCH_NS NS_PER_MS

/* ---- observing ---- */

static void add_counters(struct commit_counters *sum, const struct commit_counters *counters)
{
    sum->busy += counters->busy;
    sum->unknown += counters->unknown;
    sum->throttled += counters->throttled;
    sum->resent += counters->resent;
    sum->retried += counters->retried;
    sum->vanished += counters->vanished;
    sum->invalid += counters->invalid;
}

static void on_attempt(void *context, uint32_t id, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct world_producer *producer = context;
    (void)id;
    producer->won += attempt->outcome == ATTEMPT_WON;
    producer->lost += attempt->outcome == ATTEMPT_LOST;
    add_counters(&producer->counters, &detail->counters);
}

static void on_visible(void *context, uint32_t id, const struct batch *batch, int64_t visible_ns)
{
    struct world_producer *producer = context;
    (void)id;
    (void)batch;
    (void)visible_ns;
    producer->batches++;
}

static void on_request(void *context, uint32_t id, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    struct world_producer *producer = context;
    (void)id;
    (void)outcome;
    (void)bytes;
    producer->requests[verb]++;
}

static void on_ended(void *context, uint32_t id, enum producer_end end, const char *text)
{
    struct world_producer *producer = context;
    (void)id;
    producer->ended = true;
    producer->end = end;
    snprintf(producer->text, sizeof(producer->text), "%s", text);
    if (--producer->world->running == 0)
        live_loop_stop(producer->world->loop);
}

/* ---- opening ---- */

void world_credentials(const char *session_token)
{
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    if (session_token != NULL)
        setenv("AWS_SESSION_TOKEN", session_token, 1);
    else
        unsetenv("AWS_SESSION_TOKEN");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    static const char *const others[] = {"AWS_PROFILE",         "AWS_REGION",
                                         "AWS_DEFAULT_REGION",  "AWS_ENDPOINT_URL",
                                         "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE"};
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        unsetenv(others[i]);
}

static void apply_defaults(struct world_options *options)
{
    if (options->producers == 0)
        options->producers = 1;
    if (options->batches == 0)
        options->batches = 3;
    if (options->batch_bytes == 0)
        options->batch_bytes = WORLD_BATCH_BYTES;
    if (options->gap_ns == 0)
        options->gap_ns = NS_PER_MS;
    if (options->retry_max_ns == 0)
        options->retry_max_ns = 20 * NS_PER_MS;
    if (options->entry_bytes == 0)
        options->entry_bytes = MANIFEST_ENTRY_BYTES_MIN;
    if (options->bucket == NULL)
        options->bucket = HOSTILE_BUCKET;
    assert(options->producers <= WORLD_PRODUCERS_MAX);
}

void world_open_on(struct world *world, struct hostile_server *server,
                   const struct world_options *options)
{
    char url[128], error[STORE_ERROR_MAX] = "";
    *world = (struct world){.options = *options, .server = server};
    apply_defaults(&world->options);
    struct store_url_options store = {.s3 = world->options.s3};
    if (store.s3.endpoint == NULL)
        store.s3.endpoint = hostile_server_url(server);
    if (options->server.transport == HOSTILE_HTTPS && store.s3.ca_file == NULL)
        store.s3.ca_file = hostile_server_ca_file(server);
    enum open_result result = live_loop_open(NULL, &world->loop, error);
    assert(result == OPEN_OK);
    snprintf(url, sizeof(url), "s3://%s/%s", world->options.bucket, WORLD_PREFIX);
    result = store_open_url(url, &store, world->loop, &world->bytes, error);
    if (result != OPEN_OK)
        fprintf(stderr, "%s\n", error);
    assert(result == OPEN_OK);
    struct codec_store_options codec = {.payload = true};
    world->store = codec_store_open(world->bytes, &codec);
}

void world_open(struct world *world, const struct world_options *options)
{
    world_credentials(options->server.session_token);
    struct hostile_server *server = hostile_server_start(&options->server);
    assert(server != NULL);
    world_open_on(world, server, options);
}

static void close_drivers(struct world *world)
{
    for (uint32_t i = 0; i < WORLD_PRODUCERS_MAX; i++) {
        if (world->producers[i].driver != NULL)
            driver_close(world->producers[i].driver);
        world->producers[i].driver = NULL;
    }
}

void world_leave(struct world *world)
{
    store_close(world->bytes);
    store_close(world->store);
    close_drivers(world);
    live_loop_close(world->loop);
}

static void check_plain(const struct hostile_request *request)
{
    static const char *const never[] = {"expect",          "transfer-encoding",
                                        "x-amz-trailer",   "x-amz-sdk-checksum-algorithm",
                                        "accept-encoding", "content-encoding"};
    char value[256];
    for (size_t i = 0; i < HARNESS_COUNT(never); i++)
        CU_ASSERT_FALSE(hostile_request_header(request, never[i], value, sizeof(value)));
    bool put = request->verb == HOSTILE_PUT || request->verb == HOSTILE_CREATE;
    CU_ASSERT_EQUAL(request->signature, HOSTILE_SIGNED);
    CU_ASSERT_TRUE(!put || hostile_request_header(request, "content-length", value, sizeof(value)));
    CU_ASSERT_TRUE(hostile_request_header(request, "x-amz-content-sha256", value, sizeof(value)));
    if (strcmp(value, "UNSIGNED-PAYLOAD") != 0 && request->body_hash[0] != '\0')
        CU_ASSERT_STRING_EQUAL(value, request->body_hash);
    if (request->verb != HOSTILE_CREATE)
        return;
    CU_ASSERT_TRUE(hostile_request_header(request, "if-none-match", value, sizeof(value)));
    CU_ASSERT_STRING_EQUAL(value, "*");
}

static void check_requests(struct hostile_server *server)
{
    struct hostile_request *request = malloc(sizeof(*request));
    assert(request != NULL);
    for (size_t i = 0; hostile_server_request(server, i, request); i++)
        check_plain(request);
    free(request);
}

void world_close(struct world *world)
{
    world_leave(world);
    check_requests(world->server);
    hostile_server_stop(world->server);
}

void world_rule(struct world *world, const struct hostile_rule *rule)
{
    hostile_server_rule(world->server, rule);
}

/* ---- running ---- */

static void producer_options_fill(const struct world_options *options, uint32_t id,
                                  struct producer_options *producer)
{
    const struct policy_kind *kind =
        policy_kind_find(options->policy != NULL ? options->policy : "fixed");
    assert(kind != NULL);
    *producer = (struct producer_options){
        .commit = {.producer = id,
                   .entry_bytes = options->entry_bytes,
                   .find = options->find,
                   .active_versions = 100,
                   .retry_ns = NS_PER_MS,
                   .retry_max_ns = options->retry_max_ns},
        .random = random_stream_make(7, id),
        .mode = PRODUCER_BACKGROUND,
        .policy_kind = kind,
        .gap_max_ns = options->policy != NULL ? NS_PER_S : options->gap_ns,
        .batch_bytes = options->batch_bytes,
        .batch_ns = NS_PER_MS,
        .uploads_max = 4,
        .batches_max = options->batches,
    };
    for (size_t i = 0; i < policy_parameter_count(kind); i++)
        producer->policy_values[i] = kind->parameters[i].value_default;
}

static void start(struct world *world, uint32_t index)
{
    static uint32_t lives; /* no two producers of a process are one incarnation */
    pid_t pid = getpid();
    struct world_producer *producer = &world->producers[index];
    struct producer_options options;
    *producer = (struct world_producer){.world = world, .id = world->options.first + index};
    producer->observer = (struct producer_observer){.context = producer,
                                                    .attempt = on_attempt,
                                                    .visible = on_visible,
                                                    .request = on_request,
                                                    .ended = on_ended};
    lives++;
    memcpy(producer->incarnation.bytes, &lives, sizeof(lives));
    memcpy(producer->incarnation.bytes + sizeof(lives), &pid, sizeof(pid));
    producer_options_fill(&world->options, producer->id, &options);
    options.commit.incarnation = producer->incarnation;
    struct driver_options driver = {.store = world->store,
                                    .loop = live_loop_base(world->loop),
                                    .observer = &producer->observer,
                                    .producer = &options};
    producer->driver = driver_open(&driver);
    driver_start(producer->driver);
}

static void on_watch(struct timer *timer, void *context)
{
    struct world *world = context;
    struct loop *loop = live_loop_base(world->loop);
    if (world->watch != NULL)
        world->watch(world);
    loop_timer_set(loop, timer, loop_now(loop) + WATCH_NS);
}

static void on_limit(struct timer *timer, void *context)
{
    struct world *world = context;
    (void)timer;
    live_loop_stop(world->loop);
}

void world_run_producers(struct world *world)
{
    struct loop *loop = live_loop_base(world->loop);
    close_drivers(world);
    world->running = world->options.producers;
    timer_init(&world->watch_timer, on_watch, world);
    timer_init(&world->limit, on_limit, world);
    loop_timer_set(loop, &world->limit, loop_now(loop) + WORLD_RUN_NS);
    loop_timer_set(loop, &world->watch_timer, loop_now(loop) + WATCH_NS);
    for (uint32_t i = 0; i < world->options.producers; i++)
        start(world, i);
    loop_run(loop, TIME_NEVER);
    loop_timer_cancel(loop, &world->limit);
    loop_timer_cancel(loop, &world->watch_timer);
}

void world_run(struct world *world)
{
    world_run_producers(world);
    CU_ASSERT_EQUAL(world->running, 0);
    /* Whatever they were told. */
    CU_ASSERT_EQUAL(world_count(world, HOSTILE_DELETE, NULL, HOSTILE_WHATEVER), 0);
}

static void check_told(struct world *world, const struct audit *audit,
                       const struct world_producer *producer)
{
    const struct producer_state *state =
        audit->last != NULL ? manifest_state_find(audit->last, producer->id) : NULL;
    CU_ASSERT_PTR_NOT_NULL(state);
    if (state == NULL)
        return; /* not by a jump: the loop and the server must be closed */
    CU_ASSERT_EQUAL(memcmp(&state->incarnation, &producer->incarnation, INCARNATION_BYTES), 0);
    CU_ASSERT_EQUAL(driver_producer(producer->driver)->commit.committed_sequence,
                    state->last_sequence);
    CU_ASSERT_EQUAL(audit_versions_of(world->server, &producer->incarnation), producer->won);
}

void world_run_well(struct world *world)
{
    struct audit audit;
    world_run(world);
    audit_init(&audit, world->server);
    CU_ASSERT_STRING_EQUAL(audit.problem, "");
    for (uint32_t i = 0; i < world->options.producers; i++) {
        const struct world_producer *producer = &world->producers[i];
        CU_ASSERT_EQUAL(producer->end, PRODUCER_STOPPED);
        CU_ASSERT_EQUAL(producer->batches, world->options.batches);
        if (producer->end != PRODUCER_STOPPED)
            fprintf(stderr, "producer %u: %s\n", producer->id, producer->text);
        check_told(world, &audit, producer);
    }
    audit_deinit(&audit);
}

void world_run_to(struct world *world, enum producer_end end, const char *word)
{
    world_run(world);
    for (uint32_t i = 0; i < world->options.producers; i++) {
        const struct world_producer *producer = &world->producers[i];
        bool said = strstr(producer->text, word) != NULL;
        CU_ASSERT_EQUAL(producer->end, end);
        CU_ASSERT_TRUE(said);
        CU_ASSERT_PTR_NULL(strchr(producer->text, '\n'));
        CU_ASSERT_PTR_NULL(strstr(producer->text, HOSTILE_SECRET_KEY));
        if (producer->end != end || !said)
            fprintf(stderr, "expected \"%s\", was told: %s\n", word, producer->text);
    }
}

uint64_t world_won(const struct world *world)
{
    uint64_t won = 0;
    for (uint32_t i = 0; i < world->options.producers; i++)
        won += world->producers[i].won;
    return won;
}

uint64_t world_lost(const struct world *world)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < world->options.producers; i++)
        lost += world->producers[i].lost;
    return lost;
}

struct commit_counters world_counters(const struct world *world)
{
    struct commit_counters sum = {0};
    for (uint32_t i = 0; i < world->options.producers; i++)
        add_counters(&sum, &world->producers[i].counters);
    return sum;
}

const char *world_version(uint64_t version)
{
    static char keys[8][HOSTILE_KEY_MAX]; /* rules borrow them: one for each version in use */
    static uint64_t versions[8];
    static size_t used;
    for (size_t i = 0; i < used; i++)
        if (versions[i] == version)
            return keys[i];
    assert(used < HARNESS_COUNT(keys));
    char key[STORE_KEY_MAX];
    name_version(key, version);
    versions[used] = version;
    snprintf(keys[used], sizeof(keys[used]), WORLD_PREFIX "/%s", key);
    return keys[used++];
}

size_t world_count(struct world *world, enum hostile_verb verb, const char *key, int status)
{
    return hostile_server_count(world->server, (struct hostile_match){verb, key}, status);
}
