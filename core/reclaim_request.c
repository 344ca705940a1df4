/* reclaim_request.c - what the reclaim machine asks for, and asks for again. Ours. */
#include "core/reclaim_request.h"

#include <stdio.h>

void reclaim_effect(struct reclaim_effects *effects, enum reclaim_effect_kind kind, uint32_t slot,
                    int64_t at_ns)
{
    assert(effects->count < RECLAIM_EFFECTS_MAX);
    effects->items[effects->count++] =
        (struct reclaim_effect){.kind = kind, .slot = slot, .at_ns = at_ns};
}

void reclaim_sleep(struct reclaim *reclaim, int64_t now_ns, uint32_t slot,
                   const struct retry *retry, struct reclaim_effects *effects)
{
    reclaim->report.retried++;
    reclaim_effect(effects, RECLAIM_SLEEP, slot,
                   retry_at_ns(retry, retry->row, &reclaim->options.random, now_ns));
}

static void submit(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    assert(reclaim->lead == RECLAIM_SLOT_FREE);
    reclaim->lead = RECLAIM_SLOT_SENT;
    reclaim->control_retry.row = 0;
    reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_CONTROL, 0);
}

void reclaim_put(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    store_op_prepare(&reclaim->control, STORE_PUT);
    reclaim->control.body.kind = BODY_BYTES; /* none */
    submit(reclaim, effects);
}

void reclaim_list(struct reclaim *reclaim, const char *prefix, struct reclaim_effects *effects)
{
    store_op_prepare(&reclaim->control, STORE_LIST);
    snprintf(reclaim->control.key, STORE_KEY_MAX, "%s", prefix);
    submit(reclaim, effects);
}

bool reclaim_list_on(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    struct store_op *op = &reclaim->control;
    enum page_next next = store_op_next_page(op);
    switch (next) {
    case PAGE_FOLLOWS:
        submit(reclaim, effects);
        break;
    case PAGE_REPEATS:
        reclaim_finish(reclaim, RECLAIM_REFUSED, op->error, effects);
        break;
    case PAGE_WAS_LAST:
        break;
    }
    store_op_release(op);
    return next != PAGE_WAS_LAST;
}

bool reclaim_unanswered(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    char error[STORE_ERROR_MAX];
    enum reclaim_end end = RECLAIM_REFUSED;
    switch (retry_judge(&reclaim->control_retry, &reclaim->control, error)) {
    case RETRY_ANSWERED:
        return false;
    case RETRY_LATER:
        store_op_release(&reclaim->control);
        reclaim->lead = RECLAIM_SLOT_WAITING;
        reclaim_sleep(reclaim, now_ns, RECLAIM_SLOT_CONTROL, &reclaim->control_retry, effects);
        return true;
    case RETRY_SILENT:
        end = RECLAIM_GIVEN_UP;
        break;
    case RETRY_REFUSED:
        break;
    }
    store_op_release(&reclaim->control);
    reclaim_finish(reclaim, end, error, effects);
    return true;
}
