/* retirer.c - performs the effects of a membership that retires. Ours. */
#include "sim/retirer.h"

#include "sim/memory.h"

struct retirer {
    struct retirer_options options;
    struct membership membership;
    struct timer timer;
};

static void perform(struct retirer *retirer, struct membership_effect effect)
{
    const struct retirer_options *options = &retirer->options;
    switch (effect.kind) {
    case MEMBERSHIP_SUBMIT:
        store_submit(options->store, &retirer->membership.op);
        return;
    case MEMBERSHIP_SLEEP:
        loop_timer_set(options->loop, &retirer->timer, effect.until_ns);
        return;
    case MEMBERSHIP_SAVE:
    case MEMBERSHIP_ALLOWED:
    case MEMBERSHIP_DONE:
    case MEMBERSHIP_REFUSED:
    case MEMBERSHIP_SUPERSEDED:
    case MEMBERSHIP_ENDED:
    case MEMBERSHIP_FAILED:
        break;
    }
    options->ended(options->context, effect.kind);
}

static void answered(struct store_op *op, void *context)
{
    (void)op;
    struct retirer *retirer = context;
    perform(retirer, membership_answer(&retirer->membership, loop_now(retirer->options.loop)));
}

static void woken(struct timer *timer, void *context)
{
    (void)timer;
    struct retirer *retirer = context;
    perform(retirer, membership_wake(&retirer->membership));
}

struct retirer *retirer_open(const struct retirer_options *options)
{
    static const struct checkpoint_set none;
    struct retirer *retirer = memory_make(1, sizeof(*retirer));
    assert(options->membership.mode == MEMBERSHIP_RETIRE);
    retirer->options = *options;
    membership_init(&retirer->membership, &options->membership, &none, options->random);
    retirer->membership.op.done = answered;
    retirer->membership.op.context = retirer;
    timer_init(&retirer->timer, woken, retirer);
    return retirer;
}

void retirer_start(struct retirer *retirer)
{
    perform(retirer, membership_start(&retirer->membership));
}

void retirer_close(struct retirer *retirer)
{
    loop_timer_cancel(retirer->options.loop, &retirer->timer);
    membership_deinit(&retirer->membership);
    free(retirer);
}
