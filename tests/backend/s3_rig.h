/* s3_rig.h - a hostile server with an S3 store on it, and many operations at once. Failures to set
 * up end the test by assert. The store is where fixture_put and its like find it. */
#ifndef TESTS_BACKEND_S3_RIG_H
#define TESTS_BACKEND_S3_RIG_H

#include "backend/s3_store.h"
#include "tests/backend/fixture.h"
#include "tests/hostile/hostile_server.h"

#define RIG_PREFIX "run"

struct s3_rig {
    struct hostile_server *server;
    struct fixture fixture;
};

/* Credentials of the hostile server, and nothing else of AWS's, into the environment. */
void s3_rig_environment(const char *session_token);
/* Either may be NULL. The endpoint and the CA file are the server's where none is given. Waits for
 * re-sends are not shortened: what is to be tried often gets a short operation_ns. */
void s3_rig_open(struct s3_rig *rig, const struct hostile_options *server,
                 const struct s3_options *options);
void s3_rig_close(struct s3_rig *rig);
void s3_rig_rule(struct s3_rig *rig, const struct hostile_rule *rule);
struct s3_counters s3_rig_counters(const struct s3_rig *rig);
/* So many requests with the verb came, whatever was answered. */
size_t s3_rig_count(struct s3_rig *rig, enum hostile_verb verb);
/* The record of the last request; false: none. */
MUST_USE bool s3_rig_last(struct s3_rig *rig, struct hostile_request *request);

/* An operation that runs beside others. */
struct s3_rig_op {
    struct store_op op;
    int done; /* calls */
};

void s3_rig_op_init(struct s3_rig_op *op, enum store_verb verb, const char *key);
void s3_rig_submit(struct s3_rig *rig, struct s3_rig_op *op);
/* Until nothing is left to do. */
void s3_rig_run(struct s3_rig *rig);
/* One, submitted and run. */
enum store_outcome s3_rig_do(struct s3_rig *rig, struct s3_rig_op *op);

#endif
