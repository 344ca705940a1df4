/* store_test.c - bodies, ranges, pages, and the names of enums. */
#include "core/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"
#include "tests/harness.h"

static void every_code_has_its_name_and_text(void)
{
    CU_ASSERT_STRING_EQUAL(store_verb_name(STORE_PUT_IF_ABSENT), "put_if_absent");
    CU_ASSERT_STRING_EQUAL(store_verb_name(STORE_DELETE), "delete");
    CU_ASSERT_STRING_EQUAL(store_outcome_name(STORE_THROTTLED), "throttled");
    for (int i = 0; i < STORE_OUTCOME_COUNT; i++)
        CU_ASSERT(strlen(store_outcome_text((enum store_outcome)i)) > 3);
}

static void ranges_of_bytes_are_cut_to_the_object(void)
{
    uint8_t data[] = "0123456789";
    struct body body = {.kind = BODY_BYTES, .bytes = 10, .data = data};
    static const struct {
        uint64_t offset;
        uint64_t bytes;
        const char *expected;
    } cases[] = {
        {0, 0, "0123456789"}, {3, 4, "3456"}, {8, 100, "89"},      {9, 0, "9"},
        {10, 0, ""},          {11, 5, ""},    {UINT64_MAX, 1, ""}, {0, UINT64_MAX, "0123456789"}};
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct body copy = body_copy_range(&body, cases[i].offset, cases[i].bytes);
        CU_ASSERT_EQUAL(copy.kind, BODY_BYTES);
        CU_ASSERT_EQUAL(copy.bytes, strlen(cases[i].expected));
        CU_ASSERT_EQUAL(memcmp(copy.data, cases[i].expected, copy.bytes), 0);
        body_release(&copy);
        CU_ASSERT_EQUAL(copy.kind, BODY_NONE);
    }
    struct body length = {.kind = BODY_LENGTH, .bytes = 10};
    CU_ASSERT_EQUAL(body_copy_range(&length, 4, 3).bytes, 3);
}

static void manifests_are_referenced_not_copied(void)
{
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct body body = {
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(genesis), .manifest = genesis};
    struct body copy = body_copy_range(&body, 0, 1);
    CU_ASSERT_PTR_EQUAL(copy.manifest, genesis);
    CU_ASSERT_EQUAL(copy.bytes, 1);
    CU_ASSERT_EQUAL(genesis->references, 2);
    body_release(&copy);
    body_release(&body);
}

static void page_holds_what_was_added_over_reuse(void)
{
    struct store_op op;
    store_op_init(&op);
    for (int round = 0; round < 3; round++) {
        char key[STORE_KEY_MAX];
        for (uint64_t i = 0; i < STORE_LIST_KEYS_MAX; i++) {
            snprintf(key, sizeof(key), "%d/%0*d", round, 1 + (int)i % 150, (int)i);
            list_page_add(&op.page, key, i);
        }
        CU_ASSERT_EQUAL(op.page.count, STORE_LIST_KEYS_MAX);
        for (uint64_t i = 0; i < STORE_LIST_KEYS_MAX; i++) {
            snprintf(key, sizeof(key), "%d/%0*d", round, 1 + (int)i % 150, (int)i);
            CU_ASSERT_STRING_EQUAL(list_page_key(&op.page, i), key);
            CU_ASSERT_EQUAL(op.page.object_bytes[i], i);
        }
        op.page.truncated = true;
        snprintf(op.error, sizeof(op.error), "something");
        store_op_release(&op);
        CU_ASSERT(op.page.count == 0 && !op.page.truncated && op.error[0] == '\0');
    }
    store_op_deinit(&op);
}

static void pages_are_followed_until_one_does_not_move_forward(void)
{
    struct store_op op;
    store_op_init(&op);
    snprintf(op.key, sizeof(op.key), "tgb/");
    CU_ASSERT_EQUAL(store_op_next_page(&op), PAGE_WAS_LAST);
    op.page.truncated = true; /* and empty */
    CU_ASSERT_EQUAL(store_op_next_page(&op), PAGE_WAS_LAST);
    list_page_add(&op.page, "tgb/a", 1);
    list_page_add(&op.page, "tgb/b", 1);
    CU_ASSERT_EQUAL(store_op_next_page(&op), PAGE_FOLLOWS);
    CU_ASSERT_STRING_EQUAL(op.after, "tgb/b");
    CU_ASSERT_EQUAL(store_op_next_page(&op), PAGE_REPEATS);
    CU_ASSERT_PTR_NOT_NULL(strstr(op.error, "tgb/ goes round in circles"));
    CU_ASSERT_STRING_EQUAL(op.after, "tgb/b");
    op.page.truncated = false;
    CU_ASSERT_EQUAL(store_op_next_page(&op), PAGE_WAS_LAST);
    store_op_deinit(&op);
}

const struct harness_test store_tests[] = {
    HARNESS_TEST(every_code_has_its_name_and_text),
    HARNESS_TEST(ranges_of_bytes_are_cut_to_the_object),
    HARNESS_TEST(manifests_are_referenced_not_copied),
    HARNESS_TEST(page_holds_what_was_added_over_reuse),
    HARNESS_TEST(pages_are_followed_until_one_does_not_move_forward),
    {0},
};
