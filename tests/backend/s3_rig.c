/* s3_rig.c - see s3_rig.h. */
#include "tests/backend/s3_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

void s3_rig_environment(const char *session_token)
{
    static const char *const others[] = {"AWS_PROFILE",         "AWS_REGION",
                                         "AWS_DEFAULT_REGION",  "AWS_ENDPOINT_URL",
                                         "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE"};
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        unsetenv(others[i]);
    setenv("AWS_ACCESS_KEY_ID", HOSTILE_ACCESS_KEY, 1);
    setenv("AWS_SECRET_ACCESS_KEY", HOSTILE_SECRET_KEY, 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    if (session_token != NULL)
        setenv("AWS_SESSION_TOKEN", session_token, 1);
    else
        unsetenv("AWS_SESSION_TOKEN");
}

void s3_rig_open(struct s3_rig *rig, const struct hostile_options *server,
                 const struct s3_options *options)
{
    static const struct hostile_options honest;
    const struct hostile_options *served = server != NULL ? server : &honest;
    char error[STORE_ERROR_MAX] = "";
    struct s3_options reached = {0};
    s3_rig_environment(served->session_token);
    rig->server = hostile_server_start(served);
    assert(rig->server != NULL);
    if (options != NULL)
        reached = *options;
    if (reached.endpoint == NULL)
        reached.endpoint = hostile_server_url(rig->server);
    if (reached.ca_file == NULL && served->transport == HOSTILE_HTTPS)
        reached.ca_file = hostile_server_ca_file(rig->server);
    if (reached.seed == 0)
        reached.seed = 1;
    enum open_result result = live_loop_open(NULL, &rig->fixture.loop, error);
    assert(result == OPEN_OK);
    result = s3_store_open(HOSTILE_BUCKET "/" RIG_PREFIX, &reached, rig->fixture.loop,
                           &rig->fixture.store, error);
    if (result != OPEN_OK)
        fprintf(stderr, "%s\n", error);
    assert(result == OPEN_OK);
}

void s3_rig_close(struct s3_rig *rig)
{
    fixture_close(&rig->fixture);
    if (rig->server != NULL)
        hostile_server_stop(rig->server);
}

void s3_rig_rule(struct s3_rig *rig, const struct hostile_rule *rule)
{
    hostile_server_rule(rig->server, rule);
}

struct s3_counters s3_rig_counters(const struct s3_rig *rig)
{
    return s3_store_counters(rig->fixture.store);
}

size_t s3_rig_count(struct s3_rig *rig, enum hostile_verb verb)
{
    return hostile_server_count(rig->server, (struct hostile_match){verb, NULL}, HOSTILE_WHATEVER);
}

bool s3_rig_last(struct s3_rig *rig, struct hostile_request *request)
{
    size_t count = hostile_server_requests(rig->server);
    return count > 0 && hostile_server_request(rig->server, count - 1, request);
}

/* ---- operations ---- */

static void on_done(struct store_op *op, void *context)
{
    struct s3_rig_op *rig_op = context;
    CU_ASSERT_PTR_EQUAL(op, &rig_op->op);
    rig_op->done++;
}

void s3_rig_op_init(struct s3_rig_op *op, enum store_verb verb, const char *key)
{
    memset(op, 0, sizeof(*op));
    store_op_init(&op->op);
    op->op.verb = verb;
    op->op.done = on_done;
    op->op.context = op;
    op->op.list_keys_max = STORE_LIST_KEYS_MAX;
    if (verb == STORE_PUT || verb == STORE_PUT_IF_ABSENT)
        op->op.body = text_body("a body");
    int written = snprintf(op->op.key, STORE_KEY_MAX, "%s", key);
    assert(written >= 0 && written < STORE_KEY_MAX);
}

void s3_rig_submit(struct s3_rig *rig, struct s3_rig_op *op)
{
    op->done = 0;
    store_submit(rig->fixture.store, &op->op);
    CU_ASSERT_EQUAL(op->done, 0);
}

void s3_rig_run(struct s3_rig *rig)
{
    loop_run(live_loop_base(rig->fixture.loop), TIME_NEVER);
}

enum store_outcome s3_rig_do(struct s3_rig *rig, struct s3_rig_op *op)
{
    s3_rig_submit(rig, op);
    s3_rig_run(rig);
    CU_ASSERT_EQUAL(op->done, 1);
    bool explained = op->op.outcome == STORE_FAILED || op->op.outcome == STORE_UNKNOWN;
    CU_ASSERT_EQUAL(op->op.error[0] != '\0', explained);
    return op->op.outcome;
}
