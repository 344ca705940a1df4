/* membership_test.c - numbers, values and the rules of a start, against scripted answers. */
#include "core/membership.h"

#include <stdlib.h>
#include <string.h>

#include "tests/core/manual_loop.h"
#include "tests/core/scripted_store.h"
#include "tests/harness.h"

#define CONSUMER 7
#define STEPS_MAX 100000

/* A host: what is durable on it outlives its processes. */
struct rig {
    struct manual_loop loop;
    struct scripted_store *store;
    struct checkpoint_set durable;
    uint32_t saves;
};

/* One process of the consumer. */
struct life {
    struct rig *rig;
    struct store *port;
    struct membership membership;
    struct timer timer;
    enum membership_effect_kind end; /* valid once `ended` */
    bool ended;
};

static void rig_init(struct rig *rig)
{
    *rig = (struct rig){0};
    manual_loop_init(&rig->loop);
    rig->store = scripted_store_open(&rig->loop, 10 * NS_PER_MS);
}

static void rig_deinit(struct rig *rig)
{
    while (manual_loop_step(&rig->loop))
        continue;
    scripted_store_close(rig->store);
}

static void follow(struct life *life, struct membership_effect effect)
{
    struct rig *rig = life->rig;
    if (effect.kind == MEMBERSHIP_SAVE) {
        rig->durable = life->membership.checkpoints;
        rig->saves++;
        effect = membership_saved(&life->membership, rig->loop.now_ns);
    }
    if (effect.kind == MEMBERSHIP_SUBMIT) {
        store_submit(life->port, &life->membership.op);
        return;
    }
    if (effect.kind == MEMBERSHIP_SLEEP) {
        loop_timer_set(&rig->loop.loop, &life->timer, effect.until_ns);
        return;
    }
    life->end = effect.kind;
    life->ended = true;
}

static void answered(struct store_op *op, void *context)
{
    (void)op;
    struct life *life = context;
    follow(life, membership_answer(&life->membership, life->rig->loop.now_ns));
}

static void slept(struct timer *timer, void *context)
{
    (void)timer;
    struct life *life = context;
    follow(life, membership_wake(&life->membership, life->rig->loop.now_ns));
}

static struct membership_options options_of(uint8_t identity)
{
    return (struct membership_options){.consumer = CONSUMER,
                                       .identity = {.bytes = {identity}},
                                       .retry_ns = 5 * NS_PER_MS,
                                       .retry_max_ns = 50 * NS_PER_MS};
}

static void life_init(struct life *life, struct rig *rig, const struct membership_options *options)
{
    *life = (struct life){.rig = rig, .port = scripted_store_port(rig->store)};
    membership_init(&life->membership, options, &rig->durable,
                    random_stream_make(1, options->identity.bytes[0]));
    life->membership.op.done = answered;
    life->membership.op.context = life;
    timer_init(&life->timer, slept, life);
}

static enum membership_effect_kind until_end(struct life *life)
{
    for (uint32_t i = 0; i < STEPS_MAX && !life->ended; i++)
        if (!manual_loop_step(&life->rig->loop))
            break;
    CU_ASSERT_FATAL(life->ended);
    return life->end;
}

static enum membership_effect_kind start(struct life *life)
{
    follow(life, membership_start(&life->membership, life->rig->loop.now_ns));
    return until_end(life);
}

/* Starts a process that is given a start_step or a rollback_step. */
static enum membership_effect_kind start_at(struct life *life, struct rig *rig, uint8_t identity,
                                            uint64_t start_step, uint64_t rollback_step)
{
    struct membership_options options = options_of(identity);
    options.start_step = start_step;
    options.rollback_step = rollback_step;
    life_init(life, rig, &options);
    return start(life);
}

/* As the caller of the machine does it: the set durable first, then published. */
static enum membership_effect_kind checkpoint(struct life *life, uint64_t step, uint32_t kept)
{
    struct checkpoint_set *set = &life->membership.checkpoints;
    while (set->count >= kept) {
        memmove(set->items, set->items + 1, (set->count - 1) * sizeof(set->items[0]));
        set->count--;
    }
    set->items[set->count++] = (struct checkpoint){.step = step, .number = life->membership.number};
    life->rig->durable = *set;
    life->ended = false;
    follow(life, membership_publish(&life->membership, life->rig->loop.now_ns));
    return until_end(life);
}

static enum membership_effect_kind check(struct life *life)
{
    life->ended = false;
    follow(life, membership_check(&life->membership, life->rig->loop.now_ns));
    return until_end(life);
}

static void own_key(char key[STORE_KEY_MAX], enum watermark_part part, uint64_t number,
                    uint64_t step)
{
    struct watermark_name name = {
        .consumer = CONSUMER, .part = part, .number = number, .step = step};
    name_watermark(key, &name);
}

static void put(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step)
{
    char key[STORE_KEY_MAX];
    struct body empty = {.kind = BODY_BYTES};
    own_key(key, part, number, step);
    scripted_store_create(rig->store, key, &empty);
}

static bool has(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step)
{
    char key[STORE_KEY_MAX];
    own_key(key, part, number, step);
    return scripted_store_has(rig->store, key);
}

static bool has_value(struct rig *rig, uint64_t number, uint64_t step)
{
    return has(rig, WATERMARK_NUMBER_VALUE, number, step);
}

static void put_intent(struct rig *rig, uint64_t step)
{
    char key[STORE_KEY_MAX];
    struct body empty = {.kind = BODY_BYTES};
    name_intent(key, step);
    scripted_store_create(rig->store, key, &empty);
}

static void script(struct rig *rig, struct rule rule)
{
    scripted_store_script(rig->store, &rule);
}

/* ---- taking a number ---- */

static void first_start_begins_at_step_1_and_says_so(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    CU_ASSERT_EQUAL(life.membership.first_step, 1);
    CU_ASSERT_TRUE(has(&rig, WATERMARK_NUMBER, 1, 0));
    CU_ASSERT_TRUE(has_value(&rig, 1, 1));
    CU_ASSERT_EQUAL(rig.saves, 0);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void without_a_checkpoint_the_floor_is_the_start(void)
{
    struct rig rig;
    rig_init(&rig);
    scripted_store_raise_floor(rig.store, (struct floor){.version = 4, .step = 30});
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.first_step, 30);
    CU_ASSERT_TRUE(has_value(&rig, 1, 30));
    membership_deinit(&life.membership);
    struct life agreed;
    CU_ASSERT_EQUAL(start_at(&agreed, &rig, 2, 44, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(agreed.membership.number, 2);
    CU_ASSERT_EQUAL(agreed.membership.first_step, 44);
    CU_ASSERT_TRUE(has_value(&rig, 2, 44));
    membership_deinit(&agreed.membership);
    rig_deinit(&rig);
}

static void create_without_an_answer_is_mine_if_my_identity_is_stored(void)
{
    static const enum store_outcome lost[] = {STORE_UNKNOWN, STORE_THROTTLED, STORE_BUSY};
    for (size_t i = 0; i < HARNESS_COUNT(lost); i++) {
        struct rig rig;
        rig_init(&rig);
        script(&rig, (struct rule){.kind = TAKE_NUMBER, .times = 1, ANSWER(lost[i])});
        struct life life;
        CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
        CU_ASSERT_EQUAL(life.membership.number, 1);
        CU_ASSERT_EQUAL(scripted_store_requests(rig.store, READ_NUMBER), 1);
        CU_ASSERT_FALSE(has(&rig, WATERMARK_NUMBER, 2, 0));
        membership_deinit(&life.membership);
        rig_deinit(&rig);
    }
}

static void create_that_was_lost_is_sent_again_and_may_land_twice(void)
{
    struct rig rig;
    rig_init(&rig);
    script(&rig, (struct rule){.kind = TAKE_NUMBER,
                               .times = 1,
                               ANSWER(STORE_UNKNOWN),
                               .application = APPLY_LATE,
                               .late_requests = 3});
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, TAKE_NUMBER), 2);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void number_of_another_process_is_left_to_it(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life first;
    CU_ASSERT_EQUAL(start_at(&first, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    /* The second lists before the first took its number. */
    script(&rig,
           (struct rule){.kind = LIST_NUMBERS, .times = 1, ANSWER(STORE_OK), .application = DROP});
    struct life second;
    CU_ASSERT_EQUAL(start_at(&second, &rig, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(second.membership.number, 2);
    CU_ASSERT_EQUAL(second.membership.restarts, 1);
    CU_ASSERT_EQUAL(check(&first), MEMBERSHIP_SUPERSEDED);
    CU_ASSERT_EQUAL(first.membership.view.highest, 2);
    CU_ASSERT_EQUAL(check(&second), MEMBERSHIP_DONE);
    membership_deinit(&first.membership);
    membership_deinit(&second.membership);
    rig_deinit(&rig);
}

static void take_a_higher_number(struct scripted_store *store, void *context)
{
    (void)store;
    put(context, WATERMARK_NUMBER, 2, 0);
}

static void overtaken_before_it_was_allowed_it_does_not_run(void)
{
    struct rig rig;
    rig_init(&rig);
    script(&rig,
           (struct rule){
               .kind = PUT_VALUE, .times = 1, .before = take_a_higher_number, .context = &rig});
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_SUPERSEDED);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void many_numbers_are_read_page_by_page(void)
{
    struct rig rig;
    rig_init(&rig);
    for (uint64_t number = 1; number <= STORE_LIST_KEYS_MAX + 50; number++)
        put(&rig, WATERMARK_NUMBER, number, 0);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, STORE_LIST_KEYS_MAX + 51);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, LIST_NUMBERS), 3);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void names_that_are_not_ours_are_passed_over(void)
{
    struct rig rig;
    rig_init(&rig);
    struct body empty = {.kind = BODY_BYTES};
    scripted_store_create(rig.store, "watermark/0000000007/notes.txt", &empty);
    scripted_store_create(rig.store, "watermark/0000000007/18446744073709551615", &empty);
    scripted_store_create(rig.store, "watermark/00000000071/00000000000000000005", &empty);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void numbers_that_others_always_take_first_are_given_up(void)
{
    struct rig rig;
    rig_init(&rig);
    script(&rig, (struct rule){.kind = TAKE_NUMBER, ANSWER(STORE_EXISTS), .application = DROP});
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_FAILED);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, TAKE_NUMBER), MEMBERSHIP_RESTARTS_MAX + 1);
    CU_ASSERT(strstr(life.membership.error, "no number could be taken") != NULL);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void no_answer_is_waited_for_without_end(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_FLOOR};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct rig rig;
        rig_init(&rig);
        script(&rig, (struct rule){.kind = kinds[i], ANSWER(STORE_UNKNOWN), .application = DROP});
        struct life life;
        CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_FAILED);
        CU_ASSERT_EQUAL(scripted_store_requests(rig.store, kinds[i]), MEMBERSHIP_RETRIES_MAX + 1);
        CU_ASSERT(strstr(life.membership.error, "was not answered 64 times") != NULL);
        membership_deinit(&life.membership);
        rig_deinit(&rig);
    }
}

static void refusal_of_the_store_is_final(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_INTENT};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct rig rig;
        rig_init(&rig);
        script(&rig, (struct rule){.kind = kinds[i], ANSWER(STORE_FAILED), .application = DROP});
        struct life life;
        CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_FAILED);
        CU_ASSERT_EQUAL(scripted_store_requests(rig.store, kinds[i]), 1);
        CU_ASSERT(life.membership.error[0] != '\0');
        membership_deinit(&life.membership);
        rig_deinit(&rig);
    }
}

static void bursts_without_answers_pass(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_FLOOR,
                                              LIST_INTENT};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct rig rig;
        rig_init(&rig);
        script(&rig, (struct rule){.kind = kinds[i], .times = 20, ANSWER(STORE_UNKNOWN)});
        struct life life;
        CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
        CU_ASSERT_EQUAL(life.membership.number, 1);
        membership_deinit(&life.membership);
        rig_deinit(&rig);
    }
}

/* ---- starting from checkpoints ---- */

/* A first life with checkpoints at 10, 20 and 30, of which two are kept. */
static void first_life(struct rig *rig)
{
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    for (uint64_t step = 10; step <= 30; step += 10)
        CU_ASSERT_EQUAL(checkpoint(&life, step, 2), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(rig->durable.count, 2);
    membership_deinit(&life.membership);
}

static void restart_goes_on_at_the_newest_and_holds_the_oldest(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 2);
    CU_ASSERT_EQUAL(life.membership.first_step, 30);
    CU_ASSERT_TRUE(has_value(&rig, 2, 20));
    CU_ASSERT_EQUAL(rig.saves, 1);
    CU_ASSERT_EQUAL(rig.durable.count, 2);
    CU_ASSERT_EQUAL(rig.durable.items[0].number, 2);
    CU_ASSERT_EQUAL(rig.durable.items[1].number, 2);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

/* The intent is above what the consumer asks for, and no reclaimer can act on it: whoever read the
 * numbers saw at most its value. */
static void confirmed_start_does_not_ask_for_the_intent(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    put_intent(&rig, 25);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_FALSE(life.membership.intent_checked);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, LIST_INTENT), 1); /* the first life's */
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

/* Each case makes the start one that must ask; at intent 25 the kept step 20 is refused. */
static void higher_value_on_a_number_asks_for_the_intent(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    put(&rig, WATERMARK_NUMBER_VALUE, 1, 28); /* landed, and was never confirmed */
    put_intent(&rig, 25);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(life.membership.intent_checked);
    CU_ASSERT(strstr(life.membership.error, "step 20") != NULL);
    CU_ASSERT(strstr(life.membership.error, "below 25") != NULL);
    CU_ASSERT_TRUE(has_value(&rig, 2, 20));
    CU_ASSERT_FALSE(has(&rig, WATERMARK_NUMBER_RETIRED, 2, 0));
    CU_ASSERT_EQUAL(rig.saves, 0);
    CU_ASSERT_EQUAL(rig.durable.items[0].number, 1);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void retired_number_between_asks_for_the_intent(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    put(&rig, WATERMARK_NUMBER, 2, 0);
    put(&rig, WATERMARK_NUMBER_RETIRED, 2, 0);
    put_intent(&rig, 20);
    struct life allowed;
    CU_ASSERT_EQUAL(start_at(&allowed, &rig, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_TRUE(allowed.membership.intent_checked);
    CU_ASSERT_EQUAL(allowed.membership.number, 3);
    membership_deinit(&allowed.membership);
    rig_deinit(&rig);
}

static void number_that_is_gone_asks_for_the_intent(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    char key[STORE_KEY_MAX];
    own_key(key, WATERMARK_NUMBER, 1, 0);
    scripted_store_delete(rig.store, key);
    put_intent(&rig, 21);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_EQUAL(life.membership.number, 2);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void without_a_checkpoint_the_intent_decides(void)
{
    struct rig rig;
    rig_init(&rig);
    put_intent(&rig, 5);
    struct life refused;
    CU_ASSERT_EQUAL(start_at(&refused, &rig, 1, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(has(&rig, WATERMARK_NUMBER_RETIRED, 1, 0));
    CU_ASSERT_EQUAL(rig.saves, 0);
    membership_deinit(&refused.membership);
    struct life at_it;
    CU_ASSERT_EQUAL(start_at(&at_it, &rig, 2, 5, 0), MEMBERSHIP_ALLOWED);
    membership_deinit(&at_it.membership);
    rig_deinit(&rig);
}

/* ---- rollback ---- */

struct order {
    struct rig *rig;
    uint32_t durable_count;
    uint32_t saves;
    bool seen;
};

static void note_durable(struct scripted_store *store, void *context)
{
    (void)store;
    struct order *order = context;
    order->seen = true;
    order->durable_count = order->rig->durable.count;
    order->saves = order->rig->saves;
}

static void rollback_stamps_and_discards_only_when_allowed(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    struct order order = {.rig = &rig};
    /* At the last request before the start is allowed everything is still there. */
    script(&rig, (struct rule){.kind = LIST_NUMBERS,
                               .skip = 1,
                               .times = 1,
                               .before = note_durable,
                               .context = &order});
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 25), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.first_step, 20);
    CU_ASSERT_TRUE(order.seen);
    CU_ASSERT_EQUAL(order.durable_count, 2);
    CU_ASSERT_EQUAL(order.saves, 0);
    CU_ASSERT_EQUAL(rig.durable.count, 1);
    CU_ASSERT_EQUAL(rig.durable.items[0].step, 20);
    CU_ASSERT_EQUAL(rig.durable.items[0].number, 2);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void refused_rollback_discards_nothing(void)
{
    struct rig rig;
    rig_init(&rig);
    first_life(&rig);
    put(&rig, WATERMARK_NUMBER_VALUE, 1, 30);
    put_intent(&rig, 30);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 2, 0, 20), MEMBERSHIP_REFUSED);
    CU_ASSERT_EQUAL(rig.durable.count, 2);
    CU_ASSERT_EQUAL(rig.saves, 0);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void rollback_to_nothing_kept_is_refused_before_a_number_is_taken(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life none;
    CU_ASSERT_EQUAL(start_at(&none, &rig, 1, 0, 15), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(none.membership.error, "no checkpoint is kept") != NULL);
    membership_deinit(&none.membership);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, ANY_REQUEST), 0);
    first_life(&rig);
    struct life older;
    CU_ASSERT_EQUAL(start_at(&older, &rig, 2, 0, 15), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(older.membership.error, "the oldest is at step 20") != NULL);
    membership_deinit(&older.membership);
    CU_ASSERT_FALSE(has(&rig, WATERMARK_NUMBER, 2, 0));
    rig_deinit(&rig);
}

/* ---- while it runs ---- */

static void value_is_surely_stored_before_the_lower_one_goes(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    script(&rig, (struct rule){
                     .kind = PUT_VALUE, .times = 5, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(checkpoint(&life, 10, 1), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(life.membership.published, 10);
    CU_ASSERT_TRUE(has_value(&rig, 1, 10));
    CU_ASSERT_FALSE(has_value(&rig, 1, 1));
    uint64_t requests = scripted_store_requests(rig.store, ANY_REQUEST);
    CU_ASSERT_EQUAL(checkpoint(&life, 20, 2), MEMBERSHIP_DONE); /* the oldest did not move */
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, ANY_REQUEST), requests);
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void value_that_cannot_be_stored_leaves_the_lower_one(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    script(&rig, (struct rule){.kind = PUT_VALUE, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(checkpoint(&life, 10, 1), MEMBERSHIP_FAILED);
    CU_ASSERT_EQUAL(life.membership.published, 1);
    CU_ASSERT_TRUE(has_value(&rig, 1, 1));
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

static void lower_value_that_stays_does_not_matter(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    script(&rig, (struct rule){
                     .kind = DELETE_VALUE, .times = 1, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(checkpoint(&life, 10, 1), MEMBERSHIP_DONE);
    CU_ASSERT_TRUE(has_value(&rig, 1, 1));
    CU_ASSERT_EQUAL(checkpoint(&life, 20, 1), MEMBERSHIP_DONE);
    membership_deinit(&life.membership);
    struct life next;
    CU_ASSERT_EQUAL(start_at(&next, &rig, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_FALSE(next.membership.intent_checked);
    membership_deinit(&next.membership);
    rig_deinit(&rig);
}

static void checkpoint_notices_a_newer_process(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    put(&rig, WATERMARK_NUMBER, 2, 0);
    CU_ASSERT_EQUAL(checkpoint(&life, 10, 1), MEMBERSHIP_SUPERSEDED);
    CU_ASSERT_TRUE(has_value(&rig, 1, 1)); /* the newer one may have no value yet */
    membership_deinit(&life.membership);
    rig_deinit(&rig);
}

/* ---- retiring ---- */

static void retired_by_hand_a_consumer_ends_and_may_start_again(void)
{
    struct rig rig;
    rig_init(&rig);
    struct life life;
    CU_ASSERT_EQUAL(start_at(&life, &rig, 1, 0, 0), MEMBERSHIP_ALLOWED);
    struct membership_options options = options_of(9);
    options.mode = MEMBERSHIP_RETIRE;
    struct checkpoint_set none = {0};
    rig.durable = none;
    struct life human;
    life_init(&human, &rig, &options);
    script(&rig, (struct rule){
                     .kind = PUT_VALUE, .times = 2, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(start(&human), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(human.membership.number, 2);
    CU_ASSERT_TRUE(has(&rig, WATERMARK_NUMBER_RETIRED, 2, 0));
    CU_ASSERT_EQUAL(check(&life), MEMBERSHIP_ENDED);
    struct life again;
    CU_ASSERT_EQUAL(start_at(&again, &rig, 3, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(again.membership.number, 3);
    CU_ASSERT_EQUAL(check(&life), MEMBERSHIP_SUPERSEDED);
    membership_deinit(&life.membership);
    membership_deinit(&human.membership);
    membership_deinit(&again.membership);
    rig_deinit(&rig);
}

static void nobody_can_be_retired_who_never_was(void)
{
    struct rig rig;
    rig_init(&rig);
    struct membership_options options = options_of(9);
    options.mode = MEMBERSHIP_RETIRE;
    struct life human;
    life_init(&human, &rig, &options);
    CU_ASSERT_EQUAL(start(&human), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(human.membership.error, "no consumer 7") != NULL);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, TAKE_NUMBER), 0);
    membership_deinit(&human.membership);
    rig_deinit(&rig);
}

const struct harness_test membership_tests[] = {
    HARNESS_TEST(first_start_begins_at_step_1_and_says_so),
    HARNESS_TEST(without_a_checkpoint_the_floor_is_the_start),
    HARNESS_TEST(create_without_an_answer_is_mine_if_my_identity_is_stored),
    HARNESS_TEST(create_that_was_lost_is_sent_again_and_may_land_twice),
    HARNESS_TEST(number_of_another_process_is_left_to_it),
    HARNESS_TEST(overtaken_before_it_was_allowed_it_does_not_run),
    HARNESS_TEST(many_numbers_are_read_page_by_page),
    HARNESS_TEST(names_that_are_not_ours_are_passed_over),
    HARNESS_TEST(numbers_that_others_always_take_first_are_given_up),
    HARNESS_TEST(no_answer_is_waited_for_without_end),
    HARNESS_TEST(refusal_of_the_store_is_final),
    HARNESS_TEST(bursts_without_answers_pass),
    HARNESS_TEST(restart_goes_on_at_the_newest_and_holds_the_oldest),
    HARNESS_TEST(confirmed_start_does_not_ask_for_the_intent),
    HARNESS_TEST(higher_value_on_a_number_asks_for_the_intent),
    HARNESS_TEST(retired_number_between_asks_for_the_intent),
    HARNESS_TEST(number_that_is_gone_asks_for_the_intent),
    HARNESS_TEST(without_a_checkpoint_the_intent_decides),
    HARNESS_TEST(rollback_stamps_and_discards_only_when_allowed),
    HARNESS_TEST(refused_rollback_discards_nothing),
    HARNESS_TEST(rollback_to_nothing_kept_is_refused_before_a_number_is_taken),
    HARNESS_TEST(value_is_surely_stored_before_the_lower_one_goes),
    HARNESS_TEST(value_that_cannot_be_stored_leaves_the_lower_one),
    HARNESS_TEST(lower_value_that_stays_does_not_matter),
    HARNESS_TEST(checkpoint_notices_a_newer_process),
    HARNESS_TEST(retired_by_hand_a_consumer_ends_and_may_start_again),
    HARNESS_TEST(nobody_can_be_retired_who_never_was),
    {0},
};
