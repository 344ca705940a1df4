/* membership_start_test.c - who may start from where: checkpoints, the intent, rollbacks. */
#include <string.h>

#include "core/membership.h"
#include "tests/core/member_host.h"
#include "tests/harness.h"

/* ---- starting from checkpoints ---- */

/* A first life with checkpoints at 10, 20 and 30, of which two are kept. */
static void first_life(struct host *host)
{
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    for (uint64_t step = 10; step <= 30; step += 10)
        CU_ASSERT_EQUAL(life_checkpoint(&life, step, 2), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(host->durable.count, 2);
    membership_deinit(&life.membership);
}

static void restart_goes_on_at_the_newest_and_holds_the_oldest(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 2);
    CU_ASSERT_EQUAL(life.membership.first_step, 30);
    CU_ASSERT_TRUE(host_has_value(&host, 2, 20));
    CU_ASSERT_EQUAL(host.saves, 1);
    CU_ASSERT_EQUAL(host.durable.count, 2);
    CU_ASSERT_EQUAL(host.durable.items[0].number, 2);
    CU_ASSERT_EQUAL(host.durable.items[1].number, 2);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* The intent is above what the consumer asks for, and no reclaimer can act on it: whoever read the
 * numbers saw at most its value. */
static void confirmed_start_does_not_ask_for_the_intent(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put_intent(&host, 25);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_FALSE(life.membership.intent_checked);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, LIST_INTENT), 2); /* the first life's */
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* Each case makes the start one that must ask; at intent 25 the kept step 20 is refused. */
static void higher_value_on_a_number_asks_for_the_intent(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put(&host, WATERMARK_NUMBER_VALUE, 1, 28); /* landed, and was never confirmed */
    host_put_intent(&host, 25);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(life.membership.intent_checked);
    CU_ASSERT(strstr(life.membership.error, "step 20") != NULL);
    CU_ASSERT(strstr(life.membership.error, "below 25") != NULL);
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER, 2, 0)); /* nobody is superseded */
    CU_ASSERT_FALSE(host_has_value(&host, 2, 20));
    CU_ASSERT_EQUAL(host.saves, 0);
    CU_ASSERT_EQUAL(host.durable.items[0].number, 1);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* The highest of all, not the first that is listed: a later process went on before it died. */
static void higher_value_on_a_later_number_asks_for_the_intent(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put(&host, WATERMARK_NUMBER, 2, 0);
    host_put(&host, WATERMARK_NUMBER_VALUE, 2, 28);
    host_put(&host, WATERMARK_NUMBER, 3, 0);
    host_put(&host, WATERMARK_NUMBER_VALUE, 3, 15);
    host_put_intent(&host, 25);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(life.membership.intent_checked);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void retired_number_between_asks_for_the_intent(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put(&host, WATERMARK_NUMBER, 2, 0);
    host_put(&host, WATERMARK_NUMBER_RETIRED, 2, 0);
    host_put_intent(&host, 20);
    struct life allowed;
    CU_ASSERT_EQUAL(life_start_at(&allowed, &host, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_TRUE(allowed.membership.intent_checked);
    CU_ASSERT_EQUAL(allowed.membership.number, 3);
    membership_deinit(&allowed.membership);
    host_deinit(&host);
}

static void number_that_is_gone_asks_for_the_intent(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    scripted_store_delete(host.store, "watermark/0000000007/00000000000000000001");
    host_put_intent(&host, 21);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, TAKE_NUMBER), 1); /* the first life's */
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* The oldest stamp counts, wherever it stands. */
static void stamps_of_two_processes_go_back_to_the_older(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put(&host, WATERMARK_NUMBER, 2, 0);
    host_put(&host, WATERMARK_NUMBER_VALUE, 2, 20);
    host.durable.items[0].number = 2;
    host_put(&host, WATERMARK_NUMBER_VALUE, 1, 21);
    host_put_intent(&host, 21);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 3, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(life.membership.intent_checked);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void without_a_checkpoint_the_intent_decides(void)
{
    struct host host;
    host_init(&host);
    host_put_intent(&host, 5);
    /* Key 0 is nobody's number: it must not pass for a number since the oldest stamp. */
    host_put(&host, WATERMARK_NUMBER, 0, 0);
    struct life refused;
    CU_ASSERT_EQUAL(life_start_at(&refused, &host, 1, 4, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER, 1, 0));
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER_RETIRED, 1, 0));
    CU_ASSERT_EQUAL(host.saves, 0);
    membership_deinit(&refused.membership);
    struct life at_it;
    CU_ASSERT_EQUAL(life_start_at(&at_it, &host, 2, 5, 0), MEMBERSHIP_ALLOWED);
    membership_deinit(&at_it.membership);
    host_deinit(&host);
}

static void raise_the_intent(struct scripted_store *store, void *context)
{
    (void)store;
    host_put_intent(context, 9);
}

/* Nobody else may move an intent whose reclaimer died: a newcomer begins at it, whatever it is by
 * then. */
static void newcomer_begins_where_nobody_gives_up(void)
{
    struct host host;
    host_init(&host);
    host_put_intent(&host, 5);
    host_script(&host, (struct rule){.kind = LIST_INTENT,
                                     .skip = 1, /* before the number is taken */
                                     .times = 1,
                                     .before = raise_the_intent,
                                     .context = &host});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    CU_ASSERT_EQUAL(life.membership.first_step, 9);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, LIST_INTENT), 3);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 9));
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER_RETIRED, 1, 0));
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* An intent that came after the first question refuses a start that has taken its number. */
static void intent_that_rose_meanwhile_refuses_as_well(void)
{
    struct host host;
    host_init(&host);
    host_script(&host, (struct rule){.kind = LIST_INTENT,
                                     .skip = 1,
                                     .times = 1,
                                     .before = raise_the_intent,
                                     .context = &host});
    struct life told;
    CU_ASSERT_EQUAL(life_start_at(&told, &host, 1, 4, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 4));
    CU_ASSERT_TRUE(host_has(&host, WATERMARK_NUMBER_RETIRED, 1, 0)); /* it holds nothing now */
    membership_deinit(&told.membership);
    host.durable = (struct checkpoint_set){.count = 1, .items = {{.step = 8, .number = 1}}};
    host_script(&host, (struct rule){.kind = LIST_INTENT,
                                     .times = 1,
                                     ANSWER(STORE_OK),
                                     .application = DROP}); /* asked before it was there */
    struct life kept;
    CU_ASSERT_EQUAL(life_start_at(&kept, &host, 2, 0, 0), MEMBERSHIP_REFUSED);
    CU_ASSERT_TRUE(host_has_value(&host, 2, 8)); /* it holds its oldest checkpoint */
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER_RETIRED, 2, 0));
    CU_ASSERT_EQUAL(host.saves, 0);
    membership_deinit(&kept.membership);
    host_deinit(&host);
}

/* Somebody else's empty folder must not end the process that runs, nor what it holds. */
static void refused_start_leaves_the_running_process_alone(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life_checkpoint(&life, 20, 1), MEMBERSHIP_DONE);
    host_put_intent(&host, 20);
    host.durable.count = 0;
    struct life typo;
    CU_ASSERT_EQUAL(life_start_at(&typo, &host, 2, 5, 0), MEMBERSHIP_REFUSED);
    membership_deinit(&typo.membership);
    CU_ASSERT_EQUAL(life_check(&life), MEMBERSHIP_DONE);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 20));
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void number_of_a_checkpoint_is_never_taken_again(void)
{
    struct host host;
    host_init(&host);
    host.durable = (struct checkpoint_set){.count = 1, .items = {{.step = 8, .number = 5}}};
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 6);
    CU_ASSERT_TRUE(life.membership.intent_checked);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* ---- rollback ---- */

struct order {
    struct host *host;
    uint32_t durable_count;
    uint32_t saves;
    bool seen;
};

static void note_durable(struct scripted_store *store, void *context)
{
    (void)store;
    struct order *order = context;
    order->seen = true;
    order->durable_count = order->host->durable.count;
    order->saves = order->host->saves;
}

static void rollback_stamps_and_discards_only_when_allowed(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    struct order order = {.host = &host};
    /* At the last request before the start is allowed everything is still there. */
    host_script(&host, (struct rule){.kind = LIST_NUMBERS,
                                     .skip = 1,
                                     .times = 1,
                                     .before = note_durable,
                                     .context = &order});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 25), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.first_step, 20);
    CU_ASSERT_TRUE(order.seen);
    CU_ASSERT_EQUAL(order.durable_count, 2);
    CU_ASSERT_EQUAL(order.saves, 0);
    CU_ASSERT_EQUAL(host.durable.count, 1);
    CU_ASSERT_EQUAL(host.durable.items[0].step, 20);
    CU_ASSERT_EQUAL(host.durable.items[0].number, 2);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void refused_rollback_discards_nothing(void)
{
    struct host host;
    host_init(&host);
    first_life(&host);
    host_put(&host, WATERMARK_NUMBER_VALUE, 1, 30);
    host_put_intent(&host, 30);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 2, 0, 20), MEMBERSHIP_REFUSED);
    CU_ASSERT_EQUAL(host.durable.count, 2);
    CU_ASSERT_EQUAL(host.saves, 0);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void rollback_to_nothing_kept_is_refused_before_a_number_is_taken(void)
{
    struct host host;
    host_init(&host);
    struct life none;
    CU_ASSERT_EQUAL(life_start_at(&none, &host, 1, 0, 15), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(none.membership.error, "no checkpoint is kept") != NULL);
    membership_deinit(&none.membership);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, ANY_REQUEST), 0);
    first_life(&host);
    struct life older;
    CU_ASSERT_EQUAL(life_start_at(&older, &host, 2, 0, 15), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(older.membership.error, "the oldest is at step 20") != NULL);
    membership_deinit(&older.membership);
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER, 2, 0));
    host_deinit(&host);
}

const struct harness_test membership_start_tests[] = {
    HARNESS_TEST(restart_goes_on_at_the_newest_and_holds_the_oldest),
    HARNESS_TEST(confirmed_start_does_not_ask_for_the_intent),
    HARNESS_TEST(higher_value_on_a_number_asks_for_the_intent),
    HARNESS_TEST(higher_value_on_a_later_number_asks_for_the_intent),
    HARNESS_TEST(retired_number_between_asks_for_the_intent),
    HARNESS_TEST(number_that_is_gone_asks_for_the_intent),
    HARNESS_TEST(stamps_of_two_processes_go_back_to_the_older),
    HARNESS_TEST(without_a_checkpoint_the_intent_decides),
    HARNESS_TEST(newcomer_begins_where_nobody_gives_up),
    HARNESS_TEST(intent_that_rose_meanwhile_refuses_as_well),
    HARNESS_TEST(refused_start_leaves_the_running_process_alone),
    HARNESS_TEST(number_of_a_checkpoint_is_never_taken_again),
    HARNESS_TEST(rollback_stamps_and_discards_only_when_allowed),
    HARNESS_TEST(refused_rollback_discards_nothing),
    HARNESS_TEST(rollback_to_nothing_kept_is_refused_before_a_number_is_taken),
    {0},
};
