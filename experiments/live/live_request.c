/* live_request.c - see live_request.h. Ours. */
#include "experiments/live/live_request.h"

#include <stdio.h>
#include <string.h>

#include "core/backoff.h"
#include "core/random.h"

#define BACKOFF_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (5 * NS_PER_S)

static bool says_something(enum store_outcome outcome)
{
    return outcome != STORE_UNKNOWN && outcome != STORE_BUSY && outcome != STORE_THROTTLED;
}

void live_request(struct live_session *session, struct store_op *op)
{
    struct loop *loop = live_session_loop(session);
    int64_t patience_ns = session->patience_ns != 0 ? session->patience_ns : LIVE_REQUEST_NS;
    int64_t end_ns = loop_now(loop) + patience_ns;
    struct random_stream random = random_stream_make((uint64_t)end_ns, 0);
    for (uint32_t failures = 1;; failures++) {
        live_session_do(session, session->bytes, op);
        int64_t bound_ns = backoff_bound_ns(BACKOFF_NS, BACKOFF_MAX_NS, failures);
        int64_t at_ns = loop_now(loop) + (int64_t)((double)bound_ns * random_unit(&random));
        if (says_something(op->outcome) || at_ns >= end_ns)
            return;
        store_op_release(op);
        live_loop_hold(session->loop);
        loop_run(loop, at_ns);
        live_loop_unhold(session->loop);
    }
}

bool live_list(struct live_session *session, const char *prefix,
               void (*visit)(void *context, const char *key), void *context,
               char error[STORE_ERROR_MAX])
{
    struct store_op op;
    enum page_next next;
    store_op_init(&op);
    store_op_prepare(&op, STORE_LIST);
    snprintf(op.key, sizeof(op.key), "%s", prefix);
    do {
        store_op_release(&op);
        live_request(session, &op);
        next = op.outcome == STORE_OK ? store_op_next_page(&op) : PAGE_REPEATS;
        for (size_t i = 0; next != PAGE_REPEATS && i < op.page.count; i++)
            visit(context, list_page_key(&op.page, i));
    } while (next == PAGE_FOLLOWS);
    if (next == PAGE_REPEATS)
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    store_op_deinit(&op);
    return next == PAGE_WAS_LAST;
}

enum open_result live_reach(const char *url, const struct live_session_options *options,
                            char error[STORE_ERROR_MAX])
{
    struct live_session_options brief = *options;
    struct live_session session;
    struct store_op op;
    if (strncmp(url, "s3://", strlen("s3://")) != 0)
        return OPEN_OK;
    brief.workers = 1;
    brief.wrappers = NULL;
    brief.s3.operation_ns = LIVE_REACH_NS;
    if (brief.s3.attempt_ns != 0 && brief.s3.attempt_ns < LIVE_REACH_NS)
        brief.s3.operation_ns = brief.s3.attempt_ns;
    enum open_result result = live_session_open(url, &brief, &session, error);
    if (result != OPEN_OK)
        return result;
    store_op_init(&op);
    op.verb = STORE_LIST;
    op.list_keys_max = 1;
    live_session_do(&session, session.bytes, &op);
    if (op.outcome != STORE_OK && op.outcome != STORE_THROTTLED) { /* 503 is an answer, too */
        result = OPEN_FAILED;
        snprintf(error, STORE_ERROR_MAX, "%s", live_session_error(&op));
    }
    store_op_deinit(&op);
    live_session_close(&session);
    return result;
}
