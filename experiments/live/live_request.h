/* live_request.h - one operation on a session's store, sent again while it gives no answer that
 * says anything: for what stands outside of the commit protocol (markers, listings, removals). */
#ifndef EXPERIMENTS_LIVE_REQUEST_H
#define EXPERIMENTS_LIVE_REQUEST_H

#include "experiments/live/live_session.h"

/* How long it is sent again, unless the session's patience_ns says otherwise; what is in flight by
 * then still gets the store's own deadline. */
#define LIVE_REQUEST_NS (10 * NS_PER_S)

/* Blocks, and sets the op's `done`; nothing else may be in flight. After UNKNOWN, BUSY or THROTTLED
 * it backs off and sends the same again, so that a create may be answered EXISTS though it is its
 * own: the caller looks. The outcome is the last answer's. */
void live_request(struct live_session *session, struct store_op *op);

/* Calls `visit` for each key below a prefix, in their order; blocks. False: not all were seen, and
 * `error` says why. */
MUST_USE bool live_list(struct live_session *session, const char *prefix,
                        void (*visit)(void *context, const char *key), void *context,
                        char error[STORE_ERROR_MAX]);

/* How long a store that was never reached is tried. */
#define LIVE_REACH_NS (5 * NS_PER_S)

/* Whether the store at an s3:// address answers: lists one key, and says soon if not, where a store
 * in use is given a minute. Of other addresses nothing is asked. */
MUST_USE enum open_result live_reach(const char *url, const struct live_session_options *options,
                                     char error[STORE_ERROR_MAX]);

#endif
