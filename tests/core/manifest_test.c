/* manifest_test.c - versions in memory: sharing, trimming, forks, long chains. */
#include "core/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "core/entry_block.h"
#include "tests/core/chains.h"
#include "tests/harness.h"

#define ENTRY_BYTES 128

static void genesis_is_fixed(void)
{
    struct manifest *a = manifest_genesis(ENTRY_BYTES);
    struct manifest *b = manifest_genesis(ENTRY_BYTES);
    uint8_t left[MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES];
    uint8_t right[sizeof(left)];
    CU_ASSERT_EQUAL(manifest_encoded_bytes(a), sizeof(left));
    CU_ASSERT_EQUAL(manifest_encode(a, left), manifest_encode(b, right));
    CU_ASSERT_EQUAL(memcmp(left, right, sizeof(left)), 0);
    CU_ASSERT_EQUAL(manifest_live_entries(a), 0);
    CU_ASSERT_EQUAL(manifest_active_producers(a, 10), 0);
    CU_ASSERT_PTR_NULL(manifest_state_find(a, 0));
    manifest_release(a);
    manifest_release(b);
    manifest_release(NULL);
}

static void append_shares_what_it_does_not_change(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    struct manifest *genesis = manifest_genesis(ENTRY_BYTES);
    struct manifest *base = chain_append(genesis, &stream, 1, 5, 0);
    struct manifest *next = chain_append(base, &stream, 1, 3, 0);
    CU_ASSERT_PTR_EQUAL(next->entries->previous, base->entries);
    CU_ASSERT_EQUAL(base->entries->references, 2);
    CU_ASSERT_EQUAL(manifest_live_entries(base), 5);
    CU_ASSERT_EQUAL(manifest_live_entries(next), 8);
    struct manifest *empty = chain_append(next, &stream, 1, 0, 0);
    CU_ASSERT_PTR_EQUAL(empty->entries, next->entries);
    manifest_release(next);
    manifest_release(base);
    manifest_release(genesis);
    CU_ASSERT_EQUAL(manifest_live_entries(empty), 8);
    manifest_release(empty);
}

static void losing_forks_do_not_disturb_each_other(void)
{
    struct random_stream stream = random_stream_make(2, 1);
    struct manifest *genesis = manifest_genesis(ENTRY_BYTES);
    struct manifest *base = chain_append(genesis, &stream, 8, 40, 0);
    struct manifest *forks[16];
    uint8_t *bytes[16];
    for (size_t i = 0; i < 16; i++) {
        forks[i] = chain_append(base, &stream, 8, i % 5, i % 3 ? 0 : 20 + i);
        bytes[i] = malloc(manifest_encoded_bytes(forks[i]));
        manifest_encode(forks[i], bytes[i]);
    }
    manifest_release(base);
    manifest_release(genesis);
    for (size_t i = 16; i-- > 0;) {
        struct manifest *decoded = NULL;
        CU_ASSERT_EQUAL(manifest_decode(bytes[i], manifest_encoded_bytes(forks[i]), &decoded),
                        MANIFEST_OK);
        CU_ASSERT_TRUE(chain_equal(forks[i], decoded));
        manifest_release(decoded);
        manifest_release(forks[i]);
        free(bytes[i]);
    }
}

static struct manifest *appended(struct manifest *base, struct random_stream *stream,
                                 size_t entries, uint64_t first_step)
{
    struct manifest *next = chain_append(base, stream, 4, entries, first_step);
    manifest_release(base);
    return next;
}

static void first_step_is_raised_and_bounded(void)
{
    struct random_stream stream = random_stream_make(3, 1);
    struct manifest *m = appended(manifest_genesis(ENTRY_BYTES), &stream, 10, 0);
    m = appended(m, &stream, 2, 6);
    CU_ASSERT_EQUAL(m->first_step, 6);
    CU_ASSERT_EQUAL(manifest_live_entries(m), 7);
    m = appended(m, &stream, 1, 3); /* never lowered */
    CU_ASSERT_EQUAL(m->first_step, 6);
    m = appended(m, &stream, 4, 15); /* into its own entries: steps 14 to 17 */
    CU_ASSERT_EQUAL(m->first_step, 15);
    CU_ASSERT_EQUAL(manifest_live_entries(m), 3);
    CU_ASSERT_TRUE(chain_equal(m, m));
    m = appended(m, &stream, 2, 1000); /* past the end: nothing is live, steps go on */
    CU_ASSERT_EQUAL(m->first_step, 20);
    CU_ASSERT_EQUAL(m->next_step, 20);
    CU_ASSERT_EQUAL(manifest_encoded_bytes(m), MANIFEST_HEADER_BYTES +
                                                   manifest_state_count(m) * MANIFEST_STATE_BYTES +
                                                   MANIFEST_TRAILER_BYTES);
    m = appended(m, &stream, 3, 0);
    CU_ASSERT_EQUAL(manifest_live_entries(m), 3);
    CU_ASSERT_TRUE(chain_equal(m, m));
    manifest_release(m);
}

static void dead_entries_are_dropped_in_time(void)
{
    struct random_stream stream = random_stream_make(4, 1);
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    uint64_t retained_max = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t live_max = 50;
        uint64_t first = m->next_step > live_max ? m->next_step - live_max : 0;
        m = appended(m, &stream, 1 + (size_t)i % 3, first);
        if (m->entries->retained > retained_max)
            retained_max = m->entries->retained;
    }
    CU_ASSERT(retained_max < 2 * 60 + 1024 + 3);
    CU_ASSERT_TRUE(chain_equal(m, m));
    manifest_release(m);
}

static void compaction_keeps_every_entry(void)
{
    struct random_stream stream = random_stream_make(5, 1);
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    for (int i = 0; i < 300; i++)
        m = appended(m, &stream, 7, 0);
    struct manifest *before = manifest_retain(m);
    m = appended(m, &stream, 0,
                 2000); /* 2100 retained, 101 live: one block, in the middle of one */
    CU_ASSERT_EQUAL(m->entries->retained, 101);
    uint32_t differences = 0;
    for (uint64_t step = m->first_step; step < m->next_step; step++) {
        const struct entry_block *block = before->entries;
        while (block->first_step > step)
            block = block->previous;
        differences += memcmp(&block->entries[step - block->first_step],
                              &m->entries->entries[step - m->entries->first_step],
                              sizeof(struct manifest_entry)) != 0;
    }
    CU_ASSERT_EQUAL(differences, 0);
    manifest_release(before);
    manifest_release(m);
}

static void count_visit(uint64_t step, const struct manifest_entry *entry, void *context)
{
    (void)entry;
    uint64_t *state = context; /* count, next expected step */
    CU_ASSERT_EQUAL(step, state[1]);
    state[0]++;
    state[1]++;
}

static void visit_starts_anywhere_and_goes_in_order(void)
{
    struct random_stream stream = random_stream_make(6, 1);
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    for (size_t i = 0; i < 10; i++)
        m = appended(m, &stream, i, 4);
    for (uint64_t first = 0; first < m->next_step + 2; first++) {
        uint64_t from = first < m->first_step ? m->first_step : first;
        uint64_t state[2] = {0, from};
        manifest_visit_entries(m, first, count_visit, state);
        CU_ASSERT_EQUAL(state[0], from < m->next_step ? m->next_step - from : 0);
    }
    manifest_release(m);
}

struct lookup {
    const struct manifest *manifest;
    uint32_t wrong;
};

static void look_up(uint64_t step, const struct manifest_entry *entry, void *context)
{
    struct lookup *lookup = context;
    lookup->wrong += manifest_entry_find(lookup->manifest, step) != entry;
}

/* On random chains: batches of all sizes, forks, trims, compactions, decoded ones. */
static void every_live_step_is_found_and_no_other(void)
{
    struct random_stream stream = random_stream_make(8, 1);
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    struct lookup lookup = {0};
    for (int i = 0; i < 600; i++) {
        uint64_t live = manifest_live_entries(m);
        uint64_t trim = random_next(&stream) % 8 == 0 ? random_next(&stream) % (live + 1) : 0;
        struct manifest *fork = chain_append(m, &stream, 4, 3, 0);
        m = appended(m, &stream, random_next(&stream) % 30, m->first_step + trim);
        lookup.manifest = fork;
        manifest_visit_entries(fork, 0, look_up, &lookup);
        lookup.manifest = m;
        manifest_visit_entries(m, 0, look_up, &lookup);
        lookup.wrong += manifest_entry_find(m, m->first_step - 1) != NULL;
        lookup.wrong += manifest_entry_find(m, m->next_step) != NULL;
        lookup.wrong += manifest_entry_find(m, UINT64_MAX) != NULL;
        manifest_release(fork);
    }
    CU_ASSERT_EQUAL(lookup.wrong, 0);
    uint64_t bytes = manifest_encoded_bytes(m);
    uint8_t *encoded = malloc(bytes);
    manifest_encode(m, encoded);
    struct manifest *decoded = NULL;
    CU_ASSERT_EQUAL_FATAL(manifest_decode(encoded, bytes, &decoded), MANIFEST_OK);
    lookup.manifest = decoded;
    manifest_visit_entries(decoded, 0, look_up, &lookup);
    CU_ASSERT_EQUAL(lookup.wrong, 0);
    free(encoded);
    manifest_release(decoded);
    manifest_release(m);
}

static void active_means_within_the_newest_versions(void)
{
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    for (uint32_t producer = 0; producer < 10; producer++) { /* producer p commits version p + 2 */
        struct manifest_change change = {.author = {.producer = producer, .epoch = 1},
                                         .state = {.producer = producer, .epoch = 1}};
        change.state.last_commit_version = m->version + 1;
        struct manifest *next = manifest_append(m, &change);
        manifest_release(m);
        m = next;
    }
    CU_ASSERT_EQUAL(manifest_active_producers(m, 0), 0);
    CU_ASSERT_EQUAL(manifest_active_producers(m, 1), 1);
    CU_ASSERT_EQUAL(manifest_active_producers(m, 4), 4);
    CU_ASSERT_EQUAL(manifest_active_producers(m, 1000), 10);
    CU_ASSERT_EQUAL(manifest_state_find(m, 9)->last_commit_version, 11);
    manifest_release(m);
}

static void long_chain_is_freed_without_deep_recursion(void)
{
    struct random_stream stream = random_stream_make(7, 1);
    struct manifest *m = manifest_genesis(ENTRY_BYTES);
    for (int i = 0; i < 100000; i++)
        m = appended(m, &stream, 1, 0);
    CU_ASSERT_EQUAL(m->version, 100001);
    CU_ASSERT_EQUAL(manifest_live_entries(m), 100000);
    manifest_release(m); /* the leak checker of a sanitized build looks on */
}

const struct harness_test manifest_tests[] = {
    HARNESS_TEST(genesis_is_fixed),
    HARNESS_TEST(append_shares_what_it_does_not_change),
    HARNESS_TEST(losing_forks_do_not_disturb_each_other),
    HARNESS_TEST(first_step_is_raised_and_bounded),
    HARNESS_TEST(dead_entries_are_dropped_in_time),
    HARNESS_TEST(compaction_keeps_every_entry),
    HARNESS_TEST(visit_starts_anywhere_and_goes_in_order),
    HARNESS_TEST(every_live_step_is_found_and_no_other),
    HARNESS_TEST(active_means_within_the_newest_versions),
    HARNESS_TEST(long_chain_is_freed_without_deep_recursion),
    {0},
};
