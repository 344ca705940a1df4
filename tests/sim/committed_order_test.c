/* committed_order_test.c - steps, and where each TGB stands as the chain grows. */
#include "sim/committed_order.h"

#include <string.h>

#include "tests/harness.h"

static struct tgb_name name_of(uint32_t epoch, uint8_t incarnation, uint64_t sequence)
{
    struct tgb_name name = {.bucket = 5, .sequence = sequence, .end_offset = 10 * sequence};
    name.epoch = epoch;
    memset(name.incarnation.bytes, incarnation, INCARNATION_BYTES);
    return name;
}

/* The next version, by that incarnation, with `count` batches after `sequence`. */
static struct manifest *append(struct manifest *base, uint32_t epoch, uint8_t incarnation,
                               uint64_t sequence, size_t count)
{
    struct manifest_entry entries[4];
    struct tgb_name last = name_of(epoch, incarnation, sequence + count);
    assert(count <= HARNESS_COUNT(entries));
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct manifest_entry){.tgb = name_of(epoch, incarnation, sequence + i + 1),
                                             .tgb_bytes = 10};
    struct manifest_change change = {.author = {.epoch = epoch, .incarnation = last.incarnation},
                                     .state = {.epoch = epoch,
                                               .incarnation = last.incarnation,
                                               .next_offset = last.end_offset,
                                               .last_sequence = last.sequence,
                                               .last_commit_version = base->version + 1},
                                     .entry_count = count,
                                     .entries = entries};
    struct manifest *next = manifest_append(base, &change);
    manifest_release(base);
    return next;
}

static enum tgb_standing standing(const struct committed_order *order, struct tgb_name name)
{
    uint64_t step;
    enum tgb_standing found = committed_order_standing(order, &name, &step);
    CU_ASSERT_EQUAL(found == TGB_COMMITTED, step != 0);
    return found;
}

static void tgbs_stand_where_the_chain_puts_them(void)
{
    struct committed_order order = {0};
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 1, 1)), TGB_UNDECIDED);
    struct manifest *newest = append(manifest_genesis(MANIFEST_ENTRY_BYTES_MIN), 1, 1, 0, 2);
    committed_order_version(&order, newest);
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 1, 2)), TGB_COMMITTED);
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 1, 3)), TGB_UNDECIDED);
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 2, 3)), TGB_ORPHAN);
    CU_ASSERT_EQUAL(standing(&order, name_of(2, 2, 3)), TGB_UNDECIDED);
    struct tgb_name other_key = name_of(1, 1, 2);
    other_key.bucket++;
    CU_ASSERT_EQUAL(standing(&order, other_key), TGB_ORPHAN);
    newest = append(newest, 2, 2, 2, 1);
    committed_order_version(&order, newest);
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 1, 2)), TGB_COMMITTED);
    CU_ASSERT_EQUAL(standing(&order, name_of(1, 1, 3)), TGB_ORPHAN);
    CU_ASSERT_EQUAL(standing(&order, name_of(2, 2, 3)), TGB_COMMITTED);
    CU_ASSERT_EQUAL(standing(&order, name_of(2, 2, 4)), TGB_UNDECIDED);
    manifest_release(newest);
    committed_order_deinit(&order);
}

static void steps_are_kept_for_good(void)
{
    struct committed_order order = {0};
    struct manifest *newest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    for (uint64_t i = 0; i < 1000; i++) {
        newest = append(newest, 1, 1, 3 * i, 3);
        committed_order_version(&order, newest);
    }
    CU_ASSERT_EQUAL(order.count, 3000);
    CU_ASSERT_PTR_NULL(committed_order_entry(&order, 0));
    CU_ASSERT_PTR_NULL(committed_order_entry(&order, 3001));
    for (uint64_t step = 1; step <= 3000; step++)
        CU_ASSERT_EQUAL(committed_order_entry(&order, step)->tgb.sequence, step);
    manifest_release(newest);
    committed_order_deinit(&order);
}

const struct harness_test committed_order_tests[] = {
    HARNESS_TEST(tgbs_stand_where_the_chain_puts_them),
    HARNESS_TEST(steps_are_kept_for_good),
    {0},
};
