/* reclaim_request.c - what the reclaim machine asks for, and asks for again. Ours. */
#include "core/reclaim_request.h"

#include <stdio.h>

#include "core/backoff.h"

void reclaim_effect(struct reclaim_effects *effects, enum reclaim_effect_kind kind, uint32_t slot,
                    int64_t at_ns)
{
    assert(effects->count < RECLAIM_EFFECTS_MAX);
    effects->items[effects->count++] =
        (struct reclaim_effect){.kind = kind, .slot = slot, .at_ns = at_ns};
}

int64_t reclaim_backoff_ns(struct reclaim *reclaim, uint32_t failures)
{
    const struct reclaim_options *options = &reclaim->options;
    int64_t bound_ns = backoff_bound_ns(options->retry_ns, options->retry_max_ns, failures);
    return (int64_t)((double)bound_ns * random_unit(&reclaim->options.random));
}

void reclaim_submit(struct reclaim *reclaim, enum store_verb verb, struct reclaim_effects *effects)
{
    struct store_op *op = &reclaim->control;
    assert(reclaim->lead == RECLAIM_SLOT_FREE);
    op->verb = verb;
    op->body = (struct body){.kind = BODY_NONE};
    if (verb == STORE_PUT)
        op->body.kind = BODY_BYTES; /* empty */
    op->range_offset = 0;
    op->range_bytes = 0;
    reclaim->lead = RECLAIM_SLOT_SENT;
    reclaim->control_retries = 0;
    reclaim_effect(effects, RECLAIM_SUBMIT, RECLAIM_SLOT_CONTROL, 0);
}

void reclaim_list(struct reclaim *reclaim, const char *prefix, const char *after,
                  struct reclaim_effects *effects)
{
    struct store_op *op = &reclaim->control;
    snprintf(op->key, STORE_KEY_MAX, "%s", prefix);
    snprintf(op->after, STORE_KEY_MAX, "%s", after);
    op->list_keys_max = STORE_LIST_KEYS_MAX;
    reclaim_submit(reclaim, STORE_LIST, effects);
}

bool reclaim_list_on(struct reclaim *reclaim, struct reclaim_effects *effects)
{
    struct store_op *op = &reclaim->control;
    enum page_next next = store_op_next_page(op);
    switch (next) {
    case PAGE_FOLLOWS:
        reclaim_submit(reclaim, STORE_LIST, effects);
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

/* Markers and listings are asked for again until they are surely done, or the round is given up. */
void reclaim_ask_again(struct reclaim *reclaim, int64_t now_ns, struct reclaim_effects *effects)
{
    struct store_op *op = &reclaim->control;
    assert(op->outcome != STORE_OK);
    char error[STORE_ERROR_MAX];
    if (op->outcome == STORE_FAILED || op->outcome == STORE_NOT_FOUND) {
        snprintf(error, sizeof(error), "%s %.100s was refused: %.120s", store_verb_name(op->verb),
                 op->key, op->error);
        store_op_release(op);
        reclaim_finish(reclaim, RECLAIM_REFUSED, error, effects);
        return;
    }
    if (++reclaim->control_retries > RECLAIM_RETRIES_MAX) {
        snprintf(error, sizeof(error), "%s %.100s was not answered %d times in a row: %.80s",
                 store_verb_name(op->verb), op->key, RECLAIM_RETRIES_MAX, op->error);
        store_op_release(op);
        reclaim_finish(reclaim, RECLAIM_GIVEN_UP, error, effects);
        return;
    }
    store_op_release(op);
    reclaim->report.retried++;
    reclaim->lead = RECLAIM_SLOT_WAITING;
    reclaim_effect(effects, RECLAIM_SLEEP, RECLAIM_SLOT_CONTROL,
                   now_ns + reclaim_backoff_ns(reclaim, reclaim->control_retries));
}
