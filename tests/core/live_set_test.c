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
    bool live = live_set_has(inquiry->set, &entry->tgb);
    inquiry->found += live;
    CU_ASSERT_EQUAL(live, step >= inquiry->first_step);
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        CU_ASSERT_FALSE(live_set_has(inquiry->set, &others[i]));
}

/* How many entries are in it. */
static uint64_t expect_from(const struct live_set *set, const struct manifest *manifest,
                            uint64_t first_step)
{
    struct inquiry inquiry = {.set = set, .first_step = first_step};
    manifest_visit_entries(manifest, 0, inquire, &inquiry);
    CU_ASSERT(2 * set->count <= set->capacity);
    CU_ASSERT(inquiry.found <= set->count);
    return inquiry.found;
}

static struct manifest *grow(struct manifest *manifest, struct random_stream *stream, int versions)
{
    for (int i = 0; i < versions; i++) {
        struct manifest *next = chain_append(manifest, stream, 9, 1 + (size_t)i % 20, 0);
        manifest_release(manifest);
        manifest = next;
    }
    return manifest;
}

static void whole_names_at_needed_steps_are_in_it(void)
{
    struct random_stream stream = random_stream_make(5, 1);
    struct manifest *manifest = grow(manifest_genesis(MANIFEST_ENTRY_BYTES_MIN), &stream, 200);
    uint64_t next_step = manifest->next_step;
    const uint64_t first[] = {0, 1, 2, 700, next_step - 1, next_step, next_step + 9};
    for (size_t i = 0; i < HARNESS_COUNT(first); i++) {
        struct live_set set;
        live_set_init(&set);
        live_set_follow(&set, manifest, first[i]);
        uint64_t found = expect_from(&set, manifest, first[i]);
        CU_ASSERT_EQUAL(set.count, found); /* and nothing that was given up costs memory */
        live_set_deinit(&set);
    }
    manifest_release(manifest);
}

static void it_follows_a_chain_that_grows_and_is_given_up(void)
{
    struct random_stream stream = random_stream_make(6, 1);
    struct manifest *manifest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct live_set set;
    live_set_init(&set);
    uint64_t first_step = 1;
    for (int i = 0; i < 300; i++) {
        manifest = grow(manifest, &stream, (int)(random_next(&stream) % 8));
        first_step += random_next(&stream) % (manifest->next_step - first_step + 1) / 2;
        live_set_follow(&set, manifest, first_step);
        if (i % 10 == 0)
            expect_from(&set, manifest, first_step);
        CU_ASSERT(set.capacity <= 16 * (manifest->next_step - first_step) + 1024);
    }
    live_set_deinit(&set);
    manifest_release(manifest);
}

/* A dry run may need less today than it did a round before. */
static void needed_step_may_fall_again(void)
{
    struct random_stream stream = random_stream_make(7, 1);
    struct manifest *manifest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct live_set set;
    live_set_init(&set);
    for (int i = 0; i < 100; i++) {
        manifest = grow(manifest, &stream, 3);
        uint64_t first_step = random_next(&stream) % (manifest->next_step + 5);
        live_set_follow(&set, manifest, first_step);
        expect_from(&set, manifest, first_step);
    }
    live_set_deinit(&set);
    manifest_release(manifest);
}

const struct harness_test live_set_tests[] = {
    HARNESS_TEST(whole_names_at_needed_steps_are_in_it),
    HARNESS_TEST(it_follows_a_chain_that_grows_and_is_given_up),
    HARNESS_TEST(needed_step_may_fall_again),
    {0},
};
