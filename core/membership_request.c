/* membership_request.c - a membership's requests, and what their answers show. Ours. */
#include <stdio.h>

#include "core/membership_private.h"

/* ---- effects ---- */

struct membership_effect membership_end(struct membership *membership,
                                        enum membership_effect_kind kind)
{
    membership->phase = MEMBERSHIP_IDLE;
    return (struct membership_effect){.kind = kind};
}

struct membership_effect membership_fail(struct membership *membership, const char *text)
{
    snprintf(membership->error, sizeof(membership->error), "%s", text);
    return membership_end(membership, MEMBERSHIP_FAILED);
}

static struct membership_effect submit(struct membership *membership, enum membership_phase phase)
{
    membership->phase = phase;
    return (struct membership_effect){.kind = MEMBERSHIP_SUBMIT};
}

static void own_key(const struct membership *membership, enum watermark_part part, uint64_t number,
                    uint64_t step, char key[STORE_KEY_MAX])
{
    struct watermark_name name = {
        .consumer = membership->options.consumer, .part = part, .number = number, .step = step};
    name_watermark(key, &name);
}

/* ---- requests ---- */

struct membership_effect membership_list_own(struct membership *membership,
                                             enum membership_phase phase, uint64_t number)
{
    store_op_prepare(&membership->op, STORE_LIST);
    name_consumer(membership->op.key, membership->options.consumer);
    if (number > 1)
        own_key(membership, WATERMARK_NUMBER_RETIRED, number - 1, 0, membership->op.after);
    /* Before a number is taken all numbers are before mine. */
    uint64_t mine = membership->number != 0 ? membership->number : NAME_COUNT_MAX + 1;
    membership_view_init(&membership->view, mine, checkpoint_lowest_number(&membership->found));
    return submit(membership, phase);
}

struct membership_effect membership_send_number(struct membership *membership, uint64_t number)
{
    membership->number = number;
    store_op_prepare(&membership->op, STORE_PUT_IF_ABSENT);
    own_key(membership, WATERMARK_NUMBER, number, 0, membership->op.key);
    membership->op.body = (struct body){
        .kind = BODY_BYTES, .bytes = INCARNATION_BYTES, .data = membership->options.identity.bytes};
    return submit(membership, MEMBERSHIP_TAKING);
}

struct membership_effect membership_read_number(struct membership *membership)
{
    store_op_prepare(&membership->op, STORE_GET);
    own_key(membership, WATERMARK_NUMBER, membership->number, 0, membership->op.key);
    return submit(membership, MEMBERSHIP_JUDGING);
}

struct membership_effect membership_list_marks(struct membership *membership,
                                               enum membership_phase phase, const char *prefix)
{
    store_op_prepare(&membership->op, STORE_LIST);
    snprintf(membership->op.key, STORE_KEY_MAX, "%s", prefix);
    membership->marked = 0;
    return submit(membership, phase);
}

struct membership_effect membership_put_empty(struct membership *membership,
                                              enum membership_phase phase, enum watermark_part part,
                                              uint64_t step)
{
    store_op_prepare(&membership->op, STORE_PUT);
    own_key(membership, part, membership->number, step, membership->op.key);
    membership->op.body = (struct body){.kind = BODY_BYTES};
    return submit(membership, phase);
}

struct membership_effect membership_put_value(struct membership *membership)
{
    assert(membership->publishing > membership->published);
    return membership_put_empty(membership, MEMBERSHIP_VALUING, WATERMARK_NUMBER_VALUE,
                                membership->publishing);
}

struct membership_effect membership_send_sweep(struct membership *membership)
{
    store_op_prepare(&membership->op, STORE_DELETE);
    own_key(membership, WATERMARK_NUMBER_VALUE, membership->number, membership->outdated,
            membership->op.key);
    membership->outdated = 0;
    return submit(membership, MEMBERSHIP_SWEEPING);
}

/* ---- answers: listings ---- */

/* True: the page was the last one; otherwise *effect follows. */
static bool last_page(struct membership *membership, struct membership_effect *effect)
{
    switch (store_op_next_page(&membership->op)) {
    case PAGE_FOLLOWS:
        *effect = submit(membership, membership->phase);
        return false;
    case PAGE_REPEATS:
        *effect = membership_fail(membership, membership->op.error);
        return false;
    case PAGE_WAS_LAST:
        break;
    }
    return true;
}

bool membership_numbers_read(struct membership *membership, struct membership_effect *effect)
{
    const struct list_page *page = &membership->op.page;
    for (size_t i = 0; i < page->count; i++) {
        struct watermark_name name;
        if (name_parse_watermark(list_page_key(page, i), &name) &&
            name.consumer == membership->options.consumer)
            membership_view_add(&membership->view, &name);
    }
    return last_page(membership, effect);
}

bool membership_marks_read(struct membership *membership, struct membership_effect *effect)
{
    const struct list_page *page = &membership->op.page;
    for (size_t i = 0; i < page->count; i++) {
        const char *key = list_page_key(page, i);
        struct floor floor = {0};
        uint64_t step = 0;
        if (membership->phase == MEMBERSHIP_FLOOR && name_parse_floor(key, &floor))
            step = floor.step;
        if (membership->phase != MEMBERSHIP_FLOOR && !name_parse_intent(key, &step))
            step = 0;
        if (step > membership->marked)
            membership->marked = step;
    }
    return membership->marked > 0 || last_page(membership, effect);
}

/* ---- answers that say nothing ---- */

bool membership_unanswered(struct membership *membership, int64_t now_ns,
                           struct membership_effect *effect)
{
    struct retry *retry = &membership->retry;
    if (membership->phase == MEMBERSHIP_SWEEPING)
        return false; /* a lower value that stays is harmless */
    switch (retry_judge(retry, &membership->op, membership->error)) {
    case RETRY_ANSWERED:
        return false;
    case RETRY_LATER:
        *effect = (struct membership_effect){
            .kind = MEMBERSHIP_SLEEP,
            .until_ns = retry_at_ns(retry, retry->row, &membership->random, now_ns)};
        return true;
    case RETRY_REFUSED:
    case RETRY_SILENT:
        break;
    }
    *effect = membership_end(membership, MEMBERSHIP_FAILED);
    return true;
}
