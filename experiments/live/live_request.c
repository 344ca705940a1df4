/* live_request.c - see live_request.h. Ours. */
#include "experiments/live/live_request.h"

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
