/* membership_test.c - a consumer's number and its values, against scripted answers. */
#include "core/membership.h"

#include <string.h>

#include "tests/core/member_host.h"
#include "tests/harness.h"

/* ---- taking a number ---- */

static void first_start_begins_at_step_1_and_says_so(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    CU_ASSERT_EQUAL(life.membership.first_step, 1);
    CU_ASSERT_TRUE(host_has(&host, WATERMARK_NUMBER, 1, 0));
    CU_ASSERT_TRUE(host_has_value(&host, 1, 1));
    CU_ASSERT_EQUAL(host.saves, 0);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void without_a_checkpoint_the_floor_is_the_start(void)
{
    struct host host;
    host_init(&host);
    scripted_store_raise_floor(host.store, (struct floor){.version = 4, .step = 30});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.first_step, 30);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 30));
    membership_deinit(&life.membership);
    struct life agreed;
    CU_ASSERT_EQUAL(life_start_at(&agreed, &host, 2, 44, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(agreed.membership.number, 2);
    CU_ASSERT_EQUAL(agreed.membership.first_step, 44);
    CU_ASSERT_TRUE(host_has_value(&host, 2, 44));
    membership_deinit(&agreed.membership);
    host_deinit(&host);
}

static void create_without_an_answer_is_mine_if_my_identity_is_stored(void)
{
    static const enum store_outcome lost[] = {STORE_UNKNOWN, STORE_THROTTLED, STORE_BUSY};
    for (size_t i = 0; i < HARNESS_COUNT(lost); i++) {
        struct host host;
        host_init(&host);
        host_script(&host, (struct rule){.kind = TAKE_NUMBER, .times = 1, ANSWER(lost[i])});
        struct life life;
        CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
        CU_ASSERT_EQUAL(life.membership.number, 1);
        CU_ASSERT_EQUAL(scripted_store_requests(host.store, READ_NUMBER), 1);
        CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER, 2, 0));
        membership_deinit(&life.membership);
        host_deinit(&host);
    }
}

static void create_that_was_lost_is_sent_again_and_may_land_twice(void)
{
    struct host host;
    host_init(&host);
    host_script(&host, (struct rule){.kind = TAKE_NUMBER,
                                     .times = 1,
                                     ANSWER(STORE_UNKNOWN),
                                     .application = APPLY_LATE,
                                     .late_requests = 3});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, TAKE_NUMBER), 2);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void number_of_another_process_is_left_to_it(void)
{
    struct host host;
    host_init(&host);
    struct life first;
    CU_ASSERT_EQUAL(life_start_at(&first, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    /* The second lists before the first took its number. */
    host_script(
        &host,
        (struct rule){.kind = LIST_NUMBERS, .times = 1, ANSWER(STORE_OK), .application = DROP});
    struct life second;
    CU_ASSERT_EQUAL(life_start_at(&second, &host, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(second.membership.number, 2);
    CU_ASSERT_EQUAL(second.membership.restarts, 1);
    CU_ASSERT_EQUAL(life_check(&first), MEMBERSHIP_SUPERSEDED);
    CU_ASSERT_EQUAL(first.membership.view.highest, 2);
    CU_ASSERT_EQUAL(life_check(&second), MEMBERSHIP_DONE);
    membership_deinit(&first.membership);
    membership_deinit(&second.membership);
    host_deinit(&host);
}

static void take_a_higher_number(struct scripted_store *store, void *context)
{
    (void)store;
    host_put(context, WATERMARK_NUMBER, 2, 0);
}

static void overtaken_before_it_was_allowed_it_does_not_run(void)
{
    struct host host;
    host_init(&host);
    host_script(&host, (struct rule){.kind = PUT_VALUE,
                                     .times = 1,
                                     .before = take_a_higher_number,
                                     .context = &host});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_SUPERSEDED);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void many_numbers_are_read_page_by_page(void)
{
    struct host host;
    host_init(&host);
    for (uint64_t number = 1; number <= STORE_LIST_KEYS_MAX + 50; number++)
        host_put(&host, WATERMARK_NUMBER, number, 0);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, STORE_LIST_KEYS_MAX + 51);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, LIST_NUMBERS), 3);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void names_that_are_not_ours_are_passed_over(void)
{
    struct host host;
    host_init(&host);
    scripted_store_put_empty(host.store, "watermark/0000000007/notes.txt");
    scripted_store_put_empty(host.store, "watermark/0000000007/18446744073709551615");
    scripted_store_put_empty(host.store, "watermark/00000000071/00000000000000000005");
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(life.membership.number, 1);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* They sort before the highest floor and the highest intent. */
static void foreign_keys_hide_neither_floor_nor_intent(void)
{
    struct host host;
    host_init(&host);
    scripted_store_put_empty(host.store, NAME_FLOOR_PREFIX "!");
    scripted_store_put_empty(host.store, NAME_INTENT_PREFIX "!");
    scripted_store_raise_floor(host.store, (struct floor){.version = 4, .step = 30});
    host_put_intent(&host, 31);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 31));
    CU_ASSERT_EQUAL(life.membership.first_step, 31);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void listing_in_circles_is_an_error(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    struct membership_options options = life_options(1);
    life_init(&life, &host, &options);
    struct membership *membership = &life.membership;
    CU_ASSERT_EQUAL(membership_start(membership).kind, MEMBERSHIP_SUBMIT);
    for (int page = 0; page < 2; page++) {
        list_page_add(&membership->op.page, "watermark/0000000007/00000000000000000001", 16);
        membership->op.page.truncated = true;
        membership->op.outcome = STORE_OK;
        CU_ASSERT_EQUAL(membership_answer(membership, 0).kind,
                        page == 0 ? MEMBERSHIP_SUBMIT : MEMBERSHIP_FAILED);
    }
    CU_ASSERT(strstr(membership->error, "in circles") != NULL);
    membership_deinit(membership);
    host_deinit(&host);
}

static void numbers_that_others_always_take_first_are_given_up(void)
{
    struct host host;
    host_init(&host);
    host_script(&host,
                (struct rule){.kind = TAKE_NUMBER, ANSWER(STORE_EXISTS), .application = DROP});
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_FAILED);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, TAKE_NUMBER), MEMBERSHIP_RESTARTS_MAX + 1);
    CU_ASSERT(strstr(life.membership.error, "no number could be taken") != NULL);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void no_answer_is_waited_for_without_end(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_FLOOR};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct host host;
        host_init(&host);
        host_script(&host,
                    (struct rule){.kind = kinds[i], ANSWER(STORE_UNKNOWN), .application = DROP});
        struct life life;
        CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_FAILED);
        CU_ASSERT_EQUAL(scripted_store_requests(host.store, kinds[i]), MEMBERSHIP_RETRIES_MAX + 1);
        CU_ASSERT(strstr(life.membership.error, "not answered 64 times") != NULL);
        membership_deinit(&life.membership);
        host_deinit(&host);
    }
}

static void refusal_of_the_store_is_final(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_INTENT};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct host host;
        host_init(&host);
        host_script(&host,
                    (struct rule){.kind = kinds[i], ANSWER(STORE_FAILED), .application = DROP});
        struct life life;
        CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_FAILED);
        CU_ASSERT_EQUAL(scripted_store_requests(host.store, kinds[i]), 1);
        CU_ASSERT(life.membership.error[0] != '\0');
        membership_deinit(&life.membership);
        host_deinit(&host);
    }
}

static void bursts_without_answers_pass(void)
{
    static const enum request_kind kinds[] = {TAKE_NUMBER, LIST_NUMBERS, PUT_VALUE, LIST_FLOOR,
                                              LIST_INTENT};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct host host;
        host_init(&host);
        host_script(&host, (struct rule){.kind = kinds[i], .times = 20, ANSWER(STORE_UNKNOWN)});
        struct life life;
        CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
        CU_ASSERT_EQUAL(life.membership.number, 1);
        membership_deinit(&life.membership);
        host_deinit(&host);
    }
}

/* ---- while it runs ---- */

static void value_is_surely_stored_before_the_lower_one_goes(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    host_script(
        &host,
        (struct rule){.kind = PUT_VALUE, .times = 5, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(life_checkpoint(&life, 10, 1), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(life.membership.published, 10);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 10));
    CU_ASSERT_FALSE(host_has_value(&host, 1, 1));
    uint64_t requests = scripted_store_requests(host.store, ANY_REQUEST);
    CU_ASSERT_EQUAL(life_checkpoint(&life, 20, 2), MEMBERSHIP_DONE); /* the oldest did not move */
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, ANY_REQUEST), requests);
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void value_that_cannot_be_stored_leaves_the_lower_one(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    host_script(&host,
                (struct rule){.kind = PUT_VALUE, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(life_checkpoint(&life, 10, 1), MEMBERSHIP_FAILED);
    CU_ASSERT_EQUAL(life.membership.published, 1);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 1));
    membership_deinit(&life.membership);
    host_deinit(&host);
}

static void lower_value_that_stays_does_not_matter(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    host_script(&host,
                (struct rule){
                    .kind = DELETE_VALUE, .times = 1, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(life_checkpoint(&life, 10, 1), MEMBERSHIP_DONE);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 1));
    CU_ASSERT_EQUAL(life_checkpoint(&life, 20, 1), MEMBERSHIP_DONE);
    membership_deinit(&life.membership);
    struct life next;
    CU_ASSERT_EQUAL(life_start_at(&next, &host, 2, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_FALSE(next.membership.intent_checked);
    membership_deinit(&next.membership);
    host_deinit(&host);
}

static void checkpoint_notices_a_newer_process(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    host_put(&host, WATERMARK_NUMBER, 2, 0);
    CU_ASSERT_EQUAL(life_checkpoint(&life, 10, 1), MEMBERSHIP_SUPERSEDED);
    CU_ASSERT_TRUE(host_has_value(&host, 1, 1)); /* the newer one may have no value yet */
    membership_deinit(&life.membership);
    host_deinit(&host);
}

/* ---- retiring ---- */

static void retired_by_hand_a_consumer_ends_and_may_start_again(void)
{
    struct host host;
    host_init(&host);
    struct life life;
    CU_ASSERT_EQUAL(life_start_at(&life, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    struct membership_options options = life_options(9);
    options.mode = MEMBERSHIP_RETIRE;
    struct checkpoint_set none = {0};
    host.durable = none;
    struct life human;
    life_init(&human, &host, &options);
    host_script(
        &host,
        (struct rule){.kind = PUT_VALUE, .times = 2, ANSWER(STORE_UNKNOWN), .application = DROP});
    CU_ASSERT_EQUAL(life_start(&human), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(human.membership.number, 2);
    CU_ASSERT_TRUE(host_has(&host, WATERMARK_NUMBER_RETIRED, 2, 0));
    CU_ASSERT_EQUAL(life_check(&life), MEMBERSHIP_ENDED);
    struct life again;
    CU_ASSERT_EQUAL(life_start_at(&again, &host, 3, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(again.membership.number, 3);
    CU_ASSERT_EQUAL(again.membership.before, 0);
    CU_ASSERT_EQUAL(life_check(&life), MEMBERSHIP_SUPERSEDED);
    membership_deinit(&life.membership);
    membership_deinit(&human.membership);
    membership_deinit(&again.membership);
    host_deinit(&host);
}

/* At its end a process that keeps no checkpoints lets go of its own number, whoever came since. */
static void process_that_ended_retires_no_younger_one(void)
{
    struct host host;
    host_init(&host);
    struct life older;
    struct life younger;
    CU_ASSERT_EQUAL(life_start_at(&older, &host, 1, 0, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(older.membership.before, 0);
    CU_ASSERT_EQUAL(life_start_at(&younger, &host, 2, 5, 0), MEMBERSHIP_ALLOWED);
    CU_ASSERT_EQUAL(younger.membership.before, 1);
    struct membership_options options = life_options(9);
    options.mode = MEMBERSHIP_RETIRE_OWN;
    options.number = older.membership.number;
    struct life ended;
    host_script(
        &host,
        (struct rule){.kind = PUT_VALUE, .times = 2, ANSWER(STORE_UNKNOWN), .application = DROP});
    for (int times = 0; times < 2; times++) { /* once more does no harm */
        life_init(&ended, &host, &options);
        CU_ASSERT_EQUAL(life_start(&ended), MEMBERSHIP_DONE);
        membership_deinit(&ended.membership);
    }
    CU_ASSERT_TRUE(host_has(&host, WATERMARK_NUMBER_RETIRED, 1, 0));
    CU_ASSERT_FALSE(host_has(&host, WATERMARK_NUMBER, 3, 0));
    CU_ASSERT_EQUAL(life_checkpoint(&younger, 9, 1), MEMBERSHIP_DONE);
    CU_ASSERT_EQUAL(life_check(&older), MEMBERSHIP_ENDED);
    host_script(
        &host,
        (struct rule){.kind = PUT_VALUE, .times = 1, ANSWER(STORE_FAILED), .application = DROP});
    life_init(&ended, &host, &options);
    CU_ASSERT_EQUAL(life_start(&ended), MEMBERSHIP_FAILED);
    membership_deinit(&ended.membership);
    membership_deinit(&older.membership);
    membership_deinit(&younger.membership);
    host_deinit(&host);
}

static void declared_rank_can_be_retired_before_it_came(void)
{
    struct host host;
    host_init(&host);
    struct membership_options options = life_options(9);
    options.mode = MEMBERSHIP_RETIRE_DECLARED;
    struct life human;
    life_init(&human, &host, &options);
    CU_ASSERT_EQUAL(life_start(&human), MEMBERSHIP_DONE);
    CU_ASSERT_TRUE(host_has(&host, WATERMARK_NUMBER_RETIRED, 1, 0));
    membership_deinit(&human.membership);
    host_deinit(&host);
}

static void nobody_can_be_retired_who_never_was(void)
{
    struct host host;
    host_init(&host);
    struct membership_options options = life_options(9);
    options.mode = MEMBERSHIP_RETIRE;
    struct life human;
    life_init(&human, &host, &options);
    CU_ASSERT_EQUAL(life_start(&human), MEMBERSHIP_REFUSED);
    CU_ASSERT(strstr(human.membership.error, "no consumer 7") != NULL);
    CU_ASSERT_EQUAL(scripted_store_requests(host.store, TAKE_NUMBER), 0);
    membership_deinit(&human.membership);
    host_deinit(&host);
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
    HARNESS_TEST(foreign_keys_hide_neither_floor_nor_intent),
    HARNESS_TEST(listing_in_circles_is_an_error),
    HARNESS_TEST(numbers_that_others_always_take_first_are_given_up),
    HARNESS_TEST(no_answer_is_waited_for_without_end),
    HARNESS_TEST(refusal_of_the_store_is_final),
    HARNESS_TEST(bursts_without_answers_pass),
    HARNESS_TEST(value_is_surely_stored_before_the_lower_one_goes),
    HARNESS_TEST(value_that_cannot_be_stored_leaves_the_lower_one),
    HARNESS_TEST(lower_value_that_stays_does_not_matter),
    HARNESS_TEST(checkpoint_notices_a_newer_process),
    HARNESS_TEST(retired_by_hand_a_consumer_ends_and_may_start_again),
    HARNESS_TEST(process_that_ended_retires_no_younger_one),
    HARNESS_TEST(declared_rank_can_be_retired_before_it_came),
    HARNESS_TEST(nobody_can_be_retired_who_never_was),
    {0},
};
