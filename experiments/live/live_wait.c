/* live_wait.c - see live_wait.h. Ours. */
#include "experiments/live/live_wait.h"

#define LOOK_MIN_NS (20 * NS_PER_MS)
#define LOOK_MAX_NS (500 * NS_PER_MS)

struct live_wait live_wait_begin(struct live_session *session, struct live_signals *signals,
                                 int64_t patience_ns)
{
    return (struct live_wait){
        .session = session,
        .signals = signals,
        .begun_ns = loop_now(live_session_loop(session)),
        .patience_ns = patience_ns,
    };
}

enum live_waited live_wait_more(struct live_wait *wait)
{
    struct loop *loop = live_session_loop(wait->session);
    int64_t waited_ns = loop_now(loop) - wait->begun_ns;
    int64_t pause_ns = waited_ns / 8;
    pause_ns = pause_ns < LOOK_MIN_NS ? LOOK_MIN_NS : pause_ns;
    pause_ns = pause_ns > LOOK_MAX_NS ? LOOK_MAX_NS : pause_ns;
    if (waited_ns > wait->patience_ns)
        return LIVE_WAIT_OVER;
    live_loop_hold(wait->session->loop);
    loop_run(loop, loop_now(loop) + pause_ns);
    live_loop_unhold(wait->session->loop);
    return live_signals_take(wait->signals) > 0 ? LIVE_WAIT_ASKED : LIVE_WAIT_LOOK;
}
