/* membership.c - see membership.h. The paper has watermarks tied to checkpoints; numbers, the
 * check of the intent and the order of all writes are ours (docs/data_plane.md). */
#include "core/membership.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/membership_private.h"

void membership_init(struct membership *membership, const struct membership_options *options,
                     const struct checkpoint_set *durable, struct random_stream random)
{
    assert(durable->count <= CHECKPOINTS_MAX);
    *membership = (struct membership){.options = *options,
                                      .random = random,
                                      .checkpoints = *durable,
                                      .found = *durable,
                                      .retry = {.first_ns = options->retry_ns,
                                                .max_ns = options->retry_max_ns,
                                                .row_max = MEMBERSHIP_RETRIES_MAX}};
    store_op_init(&membership->op);
}

void membership_deinit(struct membership *membership)
{
    store_op_deinit(&membership->op);
}

/* ---- checkpoints ---- */

/* Numbers from the lowest one stamped on are never removed. */
static uint64_t lowest_stamped(const struct membership *membership)
{
    return checkpoint_lowest_number(&membership->found);
}

/* How many of the checkpoints found are at or below where this run starts. */
static uint32_t kept_at_start(const struct membership *membership)
{
    uint64_t target = membership->options.rollback_step;
    if (target == 0)
        return membership->found.count;
    return checkpoint_count_upto(&membership->found, target);
}

/* Whether somebody ended this number; *effect says how. */
static bool overtaken(struct membership *membership, struct membership_effect *effect)
{
    switch (membership_view_fate(&membership->view)) {
    case MEMBERSHIP_FATE_MINE:
        return false;
    case MEMBERSHIP_FATE_RETIRED:
        *effect = membership_end(membership, MEMBERSHIP_ENDED);
        break;
    case MEMBERSHIP_FATE_SUPERSEDED:
        *effect = membership_end(membership, MEMBERSHIP_SUPERSEDED);
        break;
    }
    return true;
}

/* ---- start ---- */

static struct membership_effect refuse_rollback(struct membership *membership)
{
    const struct checkpoint_set *found = &membership->found;
    if (found->count == 0)
        snprintf(membership->error, sizeof(membership->error),
                 "no checkpoint is kept, so none to go back to at step %" PRIu64,
                 membership->options.rollback_step);
    else
        snprintf(membership->error, sizeof(membership->error),
                 "no checkpoint at or below step %" PRIu64
                 " is kept: the oldest is at step %" PRIu64,
                 membership->options.rollback_step, found->items[0].step);
    return membership_end(membership, MEMBERSHIP_REFUSED);
}

/* On the number that is in use. */
static struct membership_effect retire(struct membership *membership)
{
    assert(membership->number != 0);
    return membership_put_empty(membership, MEMBERSHIP_REFUSING, WATERMARK_NUMBER_RETIRED, 0);
}

struct membership_effect membership_start(struct membership *membership)
{
    assert(membership->phase == MEMBERSHIP_IDLE && membership->number == 0);
    if (membership->options.mode == MEMBERSHIP_RETIRE_OWN) {
        membership->number = membership->options.number;
        return retire(membership);
    }
    if (membership->options.rollback_step != 0 && kept_at_start(membership) == 0)
        return refuse_rollback(membership);
    return membership_list_own(membership, MEMBERSHIP_FINDING, lowest_stamped(membership));
}

/* Of what was told or found, what this process would hold, and where it would begin. */
static void choose_value(struct membership *membership, uint64_t oldest, uint64_t first_step)
{
    membership->publishing = oldest;
    membership->first_step = first_step;
}

static bool may_begin_anywhere(const struct membership *membership)
{
    return membership->found.count == 0 && membership->options.start_step == 0;
}

static struct membership_effect refuse(struct membership *membership)
{
    snprintf(membership->error, sizeof(membership->error),
             "step %" PRIu64 " may already be reclaimed: steps below %" PRIu64
             " are being given up; start without these checkpoints, at step %" PRIu64 " or later",
             membership->publishing, membership->marked, membership->marked);
    return membership_end(membership, MEMBERSHIP_REFUSED);
}

/* Values and intents only rise: a start that must ask for the intent, and is below it, is refused
 * now as it would be after it had published; but nobody is superseded by it, and nothing retired.
 */
static struct membership_effect before_taking(struct membership *membership)
{
    if (membership_view_confirms(&membership->view, membership->publishing))
        return membership_send_number(membership, membership->view.mine);
    membership->intent_checked = true;
    return membership_list_marks(membership, MEMBERSHIP_ASKING, NAME_INTENT_PREFIX);
}

static struct membership_effect on_asked(struct membership *membership)
{
    if (membership->publishing < membership->marked) {
        if (!may_begin_anywhere(membership))
            return refuse(membership);
        choose_value(membership, membership->marked, membership->marked);
    }
    return membership_send_number(membership, membership->view.mine);
}

static struct membership_effect on_floor(struct membership *membership)
{
    uint64_t step = membership->marked > 1 ? membership->marked : 1;
    choose_value(membership, step, step);
    return before_taking(membership);
}

static struct membership_effect nobody_to_retire(struct membership *membership)
{
    snprintf(membership->error, sizeof(membership->error),
             "there is no consumer %" PRIu32 " under this prefix: nothing to retire",
             membership->options.consumer);
    return membership_end(membership, MEMBERSHIP_REFUSED);
}

static struct membership_effect on_found(struct membership *membership)
{
    uint64_t highest = membership->view.highest;
    membership->before = membership->view.highest_retired ? 0 : highest;
    if (lowest_stamped(membership) > highest) /* its numbers were removed: do not reuse one */
        highest = lowest_stamped(membership);
    membership->view.mine = highest + 1;
    switch (membership->options.mode) {
    case MEMBERSHIP_RETIRE:
        if (highest == 0)
            return nobody_to_retire(membership);
        return membership_send_number(membership, membership->view.mine);
    case MEMBERSHIP_RETIRE_DECLARED:
        return membership_send_number(membership, membership->view.mine);
    case MEMBERSHIP_RUN:
    case MEMBERSHIP_RETIRE_OWN: /* which asks nothing */
        break;
    }
    const struct checkpoint_set *found = &membership->found;
    if (may_begin_anywhere(membership))
        return membership_list_marks(membership, MEMBERSHIP_FLOOR, NAME_FLOOR_PREFIX);
    if (found->count > 0)
        choose_value(membership, found->items[0].step,
                     found->items[kept_at_start(membership) - 1].step);
    else
        choose_value(membership, membership->options.start_step, membership->options.start_step);
    return before_taking(membership);
}

static struct membership_effect on_taken(struct membership *membership)
{
    if (membership->options.mode == MEMBERSHIP_RUN)
        return membership_put_value(membership);
    return retire(membership);
}

static struct membership_effect on_number(struct membership *membership)
{
    if (membership->op.outcome == STORE_OK)
        return on_taken(membership);
    return membership_read_number(
        membership); /* EXISTS: another's, or mine after an answer that was lost */
}

static struct membership_effect on_judged(struct membership *membership)
{
    const struct body *result = &membership->op.result;
    bool mine = membership->op.outcome == STORE_OK && result->kind == BODY_BYTES &&
                result->bytes == INCARNATION_BYTES &&
                memcmp(result->data, membership->options.identity.bytes, INCARNATION_BYTES) == 0;
    if (mine)
        return on_taken(membership);
    membership->number = 0;
    if (++membership->restarts > MEMBERSHIP_RESTARTS_MAX)
        return membership_fail(membership,
                               "no number could be taken: others took each of them first; is this "
                               "consumer started again and again?");
    return membership_list_own(membership, MEMBERSHIP_FINDING, lowest_stamped(membership));
}

static struct membership_effect allow(struct membership *membership)
{
    membership->running = true;
    return membership_end(membership, MEMBERSHIP_ALLOWED);
}

/* The value is stored and nobody was allowed to pass it: stamp what is kept. What a rollback leaves
 * behind goes only now, in the same step. */
static struct membership_effect stamp(struct membership *membership)
{
    membership->checkpoints.count = kept_at_start(membership);
    for (uint32_t i = 0; i < membership->checkpoints.count; i++)
        membership->checkpoints.items[i].number = membership->number;
    if (membership->checkpoints.count == 0)
        return allow(membership);
    membership->phase = MEMBERSHIP_SAVING;
    return (struct membership_effect){.kind = MEMBERSHIP_SAVE};
}

static struct membership_effect on_listed(struct membership *membership)
{
    struct membership_effect effect;
    if (overtaken(membership, &effect))
        return effect;
    if (membership_view_confirms(&membership->view, membership->published))
        return stamp(membership);
    membership->intent_checked = true;
    return membership_list_marks(membership, MEMBERSHIP_INTENT, NAME_INTENT_PREFIX);
}

/* The intent may have risen since it was asked for the first time. */
static struct membership_effect on_intent(struct membership *membership)
{
    uint64_t intent = membership->marked;
    if (membership->published >= intent)
        return stamp(membership);
    if (may_begin_anywhere(membership) && ++membership->restarts <= MEMBERSHIP_RESTARTS_MAX) {
        choose_value(membership, intent, intent);
        return membership_put_value(membership);
    }
    struct membership_effect refused = refuse(membership);
    if (membership->found.count > 0) /* its oldest step is published already */
        return refused;
    return retire(membership);
}

static struct membership_effect on_refused(struct membership *membership)
{
    bool run = membership->options.mode == MEMBERSHIP_RUN;
    return membership_end(membership, run ? MEMBERSHIP_REFUSED : MEMBERSHIP_DONE);
}

/* ---- while it runs ---- */

static struct membership_effect check(struct membership *membership)
{
    return membership_list_own(membership, MEMBERSHIP_CHECKING, membership->number);
}

static struct membership_effect on_valued(struct membership *membership)
{
    membership->outdated = membership->published;
    membership->published = membership->publishing;
    if (membership->running)
        return check(membership);
    uint64_t lowest = lowest_stamped(membership);
    return membership_list_own(membership, MEMBERSHIP_LISTING,
                               lowest > 0 ? lowest : membership->number);
}

static struct membership_effect on_checked(struct membership *membership)
{
    struct membership_effect effect;
    if (overtaken(membership, &effect))
        return effect;
    if (membership->outdated == 0)
        return membership_end(membership, MEMBERSHIP_DONE);
    return membership_send_sweep(membership);
}

struct membership_effect membership_publish(struct membership *membership)
{
    assert(membership->phase == MEMBERSHIP_IDLE && membership->running);
    assert(membership->checkpoints.count > 0);
    membership->publishing = membership->checkpoints.items[0].step;
    if (membership->publishing > membership->published)
        return membership_put_value(membership);
    return membership_end(membership, MEMBERSHIP_DONE);
}

struct membership_effect membership_check(struct membership *membership)
{
    assert(membership->phase == MEMBERSHIP_IDLE && membership->running);
    return check(membership);
}

struct membership_effect membership_saved(struct membership *membership)
{
    assert(membership->phase == MEMBERSHIP_SAVING);
    return allow(membership);
}

/* ---- the machine ---- */

static struct membership_effect dispatch(struct membership *membership)
{
    struct membership_effect effect;
    switch (membership->phase) {
    case MEMBERSHIP_FINDING:
        return membership_numbers_read(membership, &effect) ? on_found(membership) : effect;
    case MEMBERSHIP_TAKING:
        return on_number(membership);
    case MEMBERSHIP_JUDGING:
        return on_judged(membership);
    case MEMBERSHIP_FLOOR:
        return membership_marks_read(membership, &effect) ? on_floor(membership) : effect;
    case MEMBERSHIP_ASKING:
        return membership_marks_read(membership, &effect) ? on_asked(membership) : effect;
    case MEMBERSHIP_VALUING:
        return on_valued(membership);
    case MEMBERSHIP_LISTING:
        return membership_numbers_read(membership, &effect) ? on_listed(membership) : effect;
    case MEMBERSHIP_INTENT:
        return membership_marks_read(membership, &effect) ? on_intent(membership) : effect;
    case MEMBERSHIP_REFUSING:
        return on_refused(membership);
    case MEMBERSHIP_CHECKING:
        return membership_numbers_read(membership, &effect) ? on_checked(membership) : effect;
    case MEMBERSHIP_SWEEPING:
        return membership_end(membership, MEMBERSHIP_DONE);
    case MEMBERSHIP_IDLE:
    case MEMBERSHIP_SAVING:
        break;
    }
    return (struct membership_effect){.kind = MEMBERSHIP_FAILED};
}

struct membership_effect membership_answer(struct membership *membership, int64_t now_ns)
{
    struct membership_effect effect;
    assert(membership->phase != MEMBERSHIP_IDLE && membership->phase != MEMBERSHIP_SAVING);
    if (!membership_unanswered(membership, now_ns, &effect))
        effect = dispatch(membership);
    store_op_release(&membership->op);
    return effect;
}

/* The same request again: nothing of it has changed. */
struct membership_effect membership_wake(struct membership *membership)
{
    assert(membership->phase != MEMBERSHIP_IDLE && membership->phase != MEMBERSHIP_SAVING);
    return (struct membership_effect){.kind = MEMBERSHIP_SUBMIT};
}
