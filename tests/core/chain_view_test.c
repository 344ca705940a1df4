/* chain_view_test.c - what pages of manifest/ show, and versions that are none. */
#include "core/chain_view.h"

#include <stdio.h>
#include <string.h>

#include "core/manifest.h"
#include "tests/harness.h"

static void add_version(struct store_op *op, uint64_t version)
{
    char key[STORE_KEY_MAX];
    name_version(key, version);
    list_page_add(&op->page, key, 1);
}

static void add_floor(struct store_op *op, uint64_t version, uint64_t step)
{
    char key[STORE_KEY_MAX];
    name_floor(key, (struct floor){.version = version, .step = step});
    list_page_add(&op->page, key, 0);
}

static void numbers_of_floors_are_taken_each_by_itself(void)
{
    struct chain_view view = {.newest = 4};
    struct store_op op;
    store_op_init(&op);
    chain_view_ask_newest(&op, 4);
    add_version(&op, 5);
    add_version(&op, 6);
    list_page_add(&op.page, NAME_MANIFEST_PREFIX "a", 1);
    add_floor(&op, 5, 7);
    add_floor(&op, 5, 6);
    add_floor(&op, 3, 9);
    op.page.truncated = true; /* lower floors follow, no version */
    CU_ASSERT_EQUAL(chain_view_read(&view, &op), PAGE_WAS_LAST);
    CU_ASSERT_EQUAL(view.newest, 6);
    CU_ASSERT(view.floor.version == 5 && view.floor.step == 9);
    CU_ASSERT(view.top.version == 5 && view.top.step == 7);
    store_op_release(&op);
    add_floor(&op, 5, 8); /* of a late listing: neither number falls */
    CU_ASSERT_EQUAL(chain_view_read(&view, &op), PAGE_WAS_LAST);
    CU_ASSERT(view.newest == 6 && view.floor.version == 5 && view.floor.step == 9);
    CU_ASSERT(view.top.version == 5 && view.top.step == 8);
    store_op_deinit(&op);
}

static void page_without_a_floor_is_followed_by_another(void)
{
    struct chain_view view = {0};
    struct store_op op;
    store_op_init(&op);
    chain_view_ask_newest(&op, 0);
    add_version(&op, 1);
    add_version(&op, 2);
    op.page.truncated = true;
    CU_ASSERT_EQUAL(chain_view_read(&view, &op), PAGE_FOLLOWS);
    CU_ASSERT_STRING_EQUAL(op.after, NAME_MANIFEST_PREFIX "00000000000000000002");
    CU_ASSERT_EQUAL(chain_view_read(&view, &op), PAGE_REPEATS);
    op.page.truncated = false;
    CU_ASSERT_EQUAL(chain_view_read(&view, &op), PAGE_WAS_LAST);
    CU_ASSERT(view.newest == 2 && view.floor.version == 0 && view.top.version == 0);
    store_op_deinit(&op);
}

/* The same op has asked for a part before. */
static void what_was_asked_before_is_not_asked_again(void)
{
    struct store_op op;
    store_op_init(&op);
    op.range_bytes = 1;
    op.entries_next = 9;
    chain_view_ask_version(&op, 3);
    CU_ASSERT(op.verb == STORE_GET && op.range_bytes == 0 && op.entries_next == 0);
    CU_ASSERT(op.bound.bytes_max == MANIFEST_BYTES_MAX && op.bound.claimed != NULL);
    CU_ASSERT_STRING_EQUAL(op.key, NAME_MANIFEST_PREFIX "00000000000000000003");
    chain_view_ask_newest(&op, 3);
    CU_ASSERT(op.verb == STORE_LIST && op.list_keys_max == STORE_LIST_KEYS_MAX);
    CU_ASSERT(op.bound.bytes_max == 0 && op.bound.claimed == NULL);
    CU_ASSERT_STRING_EQUAL(op.after, NAME_MANIFEST_PREFIX "00000000000000000003");
    chain_view_ask_floor(&op);
    CU_ASSERT(op.list_keys_max < STORE_LIST_KEYS_MAX && op.after[0] == '\0');
    CU_ASSERT_STRING_EQUAL(op.key, NAME_FLOOR_PREFIX);
    store_op_deinit(&op);
}

static void version_under_another_name_is_none(void)
{
    char error[STORE_ERROR_MAX] = "";
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct store_op op;
    store_op_init(&op);
    op.result = (struct body){.kind = BODY_MANIFEST, .manifest = genesis};
    chain_view_ask_version(&op, 2);
    CU_ASSERT_PTR_NULL(chain_view_take_version(&op, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, op.key));
    CU_ASSERT_EQUAL(op.result.kind, BODY_MANIFEST);
    chain_view_ask_version(&op, 1);
    CU_ASSERT_PTR_EQUAL(chain_view_take_version(&op, error), genesis);
    store_op_release(&op);
    CU_ASSERT_EQUAL(genesis->references, 1);
    manifest_release(genesis);
    CU_ASSERT_PTR_NULL(chain_view_take_version(&op, error)); /* no body at all */
    store_op_deinit(&op);
}

const struct harness_test chain_view_tests[] = {
    HARNESS_TEST(numbers_of_floors_are_taken_each_by_itself),
    HARNESS_TEST(page_without_a_floor_is_followed_by_another),
    HARNESS_TEST(what_was_asked_before_is_not_asked_again),
    HARNESS_TEST(version_under_another_name_is_none),
    {0},
};
