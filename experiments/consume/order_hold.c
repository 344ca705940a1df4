/* order_hold.c - see order_hold.h. Ours. */
#include "experiments/consume/order_hold.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)

/* Until the machine ends what it began. There is nothing to be saved: the order is. */
static enum membership_effect_kind finish(struct order_hold *hold, struct membership_effect effect)
{
    struct live_session *session = hold->session;
    struct loop *loop = live_session_loop(session);
    for (;;) {
        switch (effect.kind) {
        case MEMBERSHIP_SUBMIT:
            live_session_do(session, session->store, &hold->membership.op);
            effect = membership_answer(&hold->membership, loop_now(loop));
            break;
        case MEMBERSHIP_SLEEP:
            live_loop_hold(session->loop);
            loop_run(loop, effect.until_ns);
            live_loop_unhold(session->loop);
            effect = membership_wake(&hold->membership);
            break;
        case MEMBERSHIP_SAVE:
            effect = membership_saved(&hold->membership);
            break;
        case MEMBERSHIP_ALLOWED:
        case MEMBERSHIP_DONE:
        case MEMBERSHIP_REFUSED:
        case MEMBERSHIP_SUPERSEDED:
        case MEMBERSHIP_ENDED:
        case MEMBERSHIP_FAILED:
            return effect.kind;
        }
    }
}

static bool judge(const struct order_hold *hold, enum membership_effect_kind kind,
                  char error[ORDER_FILE_TEXT_MAX])
{
    uint32_t consumer = hold->membership.options.consumer;
    switch (kind) {
    case MEMBERSHIP_ALLOWED:
    case MEMBERSHIP_DONE:
        return true;
    case MEMBERSHIP_SUPERSEDED:
        snprintf(error, ORDER_FILE_TEXT_MAX, "another process took over consumer %u", consumer);
        return false;
    case MEMBERSHIP_ENDED:
        snprintf(error, ORDER_FILE_TEXT_MAX, "consumer %u was retired by hand", consumer);
        return false;
    case MEMBERSHIP_REFUSED:
    case MEMBERSHIP_FAILED:
    case MEMBERSHIP_SUBMIT:
    case MEMBERSHIP_SLEEP:
    case MEMBERSHIP_SAVE:
        break;
    }
    snprintf(error, ORDER_FILE_TEXT_MAX, "consumer %u: %s", consumer, hold->membership.error);
    return false;
}

bool order_hold_begin(struct order_hold *hold, struct live_session *session, uint32_t consumer,
                      uint64_t *step, char error[ORDER_FILE_TEXT_MAX])
{
    const struct checkpoint_set none = {0};
    int64_t now_ns = loop_now(live_session_loop(session));
    struct membership_options options = {.consumer = consumer,
                                         .retry_ns = RETRY_NS,
                                         .retry_max_ns = RETRY_MAX_NS,
                                         .start_step = *step};
    bool drawn = getrandom(&options.identity, INCARNATION_BYTES, 0) == INCARNATION_BYTES;
    hold->session = session;
    membership_init(&hold->membership, &options, &none,
                    random_stream_make((uint64_t)now_ns, consumer));
    if (!drawn) {
        snprintf(error, ORDER_FILE_TEXT_MAX, "the system gave no random bytes: %s",
                 strerror(errno));
        return false;
    }
    if (!judge(hold, finish(hold, membership_start(&hold->membership)), error))
        return false;
    *step = hold->membership.first_step;
    return true;
}

bool order_hold_raise(struct order_hold *hold, uint64_t step, char error[ORDER_FILE_TEXT_MAX])
{
    struct membership *membership = &hold->membership;
    membership->checkpoints = (struct checkpoint_set){
        .count = 1, .items = {{.step = step, .number = membership->number}}};
    return judge(hold, finish(hold, membership_publish(membership)), error);
}

void order_hold_deinit(struct order_hold *hold)
{
    membership_deinit(&hold->membership);
}
