/* live_set_test.c - which names a manifest still needs. */
#include "core/live_set.h"

#include "tests/core/chains.h"
#include "tests/harness.h"

/* Every entry is asked for, and names that differ from it in one field each. */
struct inquiry {
    const struct live_set *set;
    uint64_t first_step;
    uint64_t found;
};

static void inquire(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct inquiry *inquiry = context;
    struct tgb_name others[6];
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        others[i] = entry->tgb;
    others[0].bucket ^= 1;
    others[1].producer ^= 1;
    others[2].epoch ^= 1;
    others[3].sequence += 1000000;
    others[4].end_offset ^= 1;
    others[5].incarnation.bytes[15] ^= 1;
    if (entry->tgb.bucket > inquiry->set->bucket_max)
        return;
    bool live = live_set_has(inquiry->set, &entry->tgb);
    inquiry->found += live;
    CU_ASSERT_EQUAL(live, step >= inquiry->first_step);
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        if (others[i].bucket <= inquiry->set->bucket_max)
            CU_ASSERT_FALSE(live_set_has(inquiry->set, &others[i]));
}

static struct manifest *long_chain(struct random_stream *stream)
{
    struct manifest *manifest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    for (int i = 0; i < 200; i++) {
        struct manifest *next = chain_append(manifest, stream, 9, 1 + (size_t)i % 20, 0);
        manifest_release(manifest);
        manifest = next;
    }
    return manifest;
}

static void whole_names_at_needed_steps_are_in_it(void)
{
    struct random_stream stream = random_stream_make(5, 1);
    struct manifest *manifest = long_chain(&stream);
    struct live_set set;
    live_set_init(&set);
    uint64_t next_step = manifest->next_step;
    const uint64_t first[] = {0, 1, 2, 700, next_step - 1, next_step, next_step + 9, 3};
    for (size_t i = 0; i < HARNESS_COUNT(first); i++) {
        live_set_build(&set, manifest, first[i], LIVE_ALL);
        struct inquiry inquiry = {.set = &set, .first_step = first[i]};
        manifest_visit_entries(manifest, 0, inquire, &inquiry);
        CU_ASSERT_EQUAL(inquiry.found, set.count);
        CU_ASSERT(2 * set.count <= set.capacity);
    }
    live_set_deinit(&set);
    manifest_release(manifest);
}

static void first_buckets_end_at_the_first_steps(void)
{
    struct random_stream stream = random_stream_make(6, 1);
    struct manifest *manifest = long_chain(&stream);
    struct live_set set;
    live_set_init(&set);
    live_set_build(&set, manifest, 500, LIVE_FIRST_BUCKETS);
    CU_ASSERT(set.count > 0 && set.count < manifest->next_step - 500);
    CU_ASSERT(set.bucket_max < UINT64_MAX);
    struct inquiry inquiry = {.set = &set, .first_step = 500};
    manifest_visit_entries(manifest, 0, inquire, &inquiry);
    CU_ASSERT_EQUAL(inquiry.found, set.count);
    live_set_build(&set, manifest, manifest->next_step, LIVE_FIRST_BUCKETS);
    CU_ASSERT(set.count == 0 && set.bucket_max == UINT64_MAX);
    live_set_deinit(&set);
    manifest_release(manifest);
}

const struct harness_test live_set_tests[] = {
    HARNESS_TEST(whole_names_at_needed_steps_are_in_it),
    HARNESS_TEST(first_buckets_end_at_the_first_steps),
    {0},
};
