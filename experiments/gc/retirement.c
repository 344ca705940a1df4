/* retirement.c - see retirement.h. The machines of core on a session, one operation at a time.
 * Ours. */
#include "experiments/gc/retirement.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/membership.h"

#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)

static void pause_until(struct live_session *session, int64_t until_ns)
{
    live_loop_hold(session->loop);
    loop_run(live_session_loop(session), until_ns);
    live_loop_unhold(session->loop);
}

/* ---- a consumer ---- */

static enum retirement conclude_consumer(const struct membership *membership,
                                         enum membership_effect_kind kind,
                                         char text[RETIREMENT_TEXT_MAX])
{
    uint32_t consumer = membership->options.consumer;
    switch (kind) {
    case MEMBERSHIP_DONE:
    case MEMBERSHIP_ENDED: /* by somebody else */
        return RETIREMENT_DONE;
    case MEMBERSHIP_REFUSED:
        snprintf(text, RETIREMENT_TEXT_MAX, "there is no consumer %u", consumer);
        return RETIREMENT_UNKNOWN;
    case MEMBERSHIP_SUPERSEDED:
        snprintf(text, RETIREMENT_TEXT_MAX,
                 "consumer %u was taken over by another process meanwhile: it is in use", consumer);
        return RETIREMENT_FAILED;
    case MEMBERSHIP_FAILED:
    case MEMBERSHIP_SUBMIT:
    case MEMBERSHIP_SLEEP:
    case MEMBERSHIP_SAVE:
    case MEMBERSHIP_ALLOWED:
        break;
    }
    snprintf(text, RETIREMENT_TEXT_MAX, "%s", membership->error);
    return RETIREMENT_FAILED;
}

enum retirement retirement_of_consumer(struct live_session *session, uint32_t consumer,
                                       char text[RETIREMENT_TEXT_MAX])
{
    struct loop *loop = live_session_loop(session);
    struct membership membership;
    struct membership_options options = {.consumer = consumer,
                                         .mode = MEMBERSHIP_RETIRE,
                                         .retry_ns = RETRY_NS,
                                         .retry_max_ns = RETRY_MAX_NS};
    const struct checkpoint_set none = {0};
    if (getrandom(&options.identity, INCARNATION_BYTES, 0) != INCARNATION_BYTES) {
        snprintf(text, RETIREMENT_TEXT_MAX, "the system gave no random bytes: %s", strerror(errno));
        return RETIREMENT_FAILED;
    }
    uint64_t seed = (uint64_t)loop_now(loop);
    membership_init(&membership, &options, &none, random_stream_make(seed, consumer));
    struct membership_effect effect = membership_start(&membership, loop_now(loop));
    while (effect.kind == MEMBERSHIP_SUBMIT || effect.kind == MEMBERSHIP_SLEEP) {
        if (effect.kind == MEMBERSHIP_SUBMIT) {
            live_session_do(session, session->store, &membership.op);
            effect = membership_answer(&membership, loop_now(loop));
        } else {
            pause_until(session, effect.until_ns);
            effect = membership_wake(&membership, loop_now(loop));
        }
    }
    enum retirement result = conclude_consumer(&membership, effect.kind, text);
    membership_deinit(&membership);
    return result;
}
