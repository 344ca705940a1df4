/* live_session.h - a store opened by its address together with the loop that it runs on: what every
 * process of a live run, and every reader of its chain, holds.
 *
 * A session belongs to one thread and must not be used after fork. Opening and closing block. */
#ifndef EXPERIMENTS_LIVE_SESSION_H
#define EXPERIMENTS_LIVE_SESSION_H

#include <stdbool.h>

#include "backend/store_url.h"
#include "core/tgb.h"
#include "experiments/live/live_wrappers.h"

struct live_session_options {
    enum directory_access access;
    enum directory_sync sync;
    int64_t temp_age_ns;  /* of directories: as in directory_options */
    uint32_t workers;     /* 0: the loop's default */
    struct tgb_mesh mesh; /* of synthetic payloads */
    struct s3_options s3; /* of s3:// addresses; texts are borrowed during open only */
    const struct live_wrappers_options *wrappers; /* NULL: none */
};

struct live_session {
    struct live_loop *loop;
    struct store *bytes;            /* the store itself */
    struct live_wrappers *wrappers; /* over it; NULL: none */
    struct store *store;            /* over them: manifests and payloads are encoded and decoded */
    int64_t patience_ns;            /* of live_request.h, live_chain.h; 0: their default */
};

/* On OPEN_OK the session is to be closed; else `error` says what, where, and what to do. */
MUST_USE enum open_result live_session_open(const char *url,
                                            const struct live_session_options *options,
                                            struct live_session *session,
                                            char error[STORE_ERROR_MAX]);
/* Operations in flight are dropped; their `done` is not called. */
void live_session_close(struct live_session *session);
struct loop *live_session_loop(const struct live_session *session);
/* Slices the synthetic payloads that are put from now on. */
void live_session_slice(struct live_session *session, struct tgb_mesh mesh);
/* Performs one operation and blocks until it is answered; sets its `done`. Nothing else may be in
 * flight. */
void live_session_do(struct live_session *session, struct store *store, struct store_op *op);
/* Why an operation that was answered did not succeed: what the store said, else its outcome. */
const char *live_session_error(const struct store_op *op);

#endif
