/* inspect_chain_test.c - inspect on chains, made by hand, that break one rule each. */
#include <stdio.h>
#include <string.h>

#include "experiments/live/inspect_chain.h"
#include "tests/harness.h"

#define BATCH_BYTES 1000

/* What a commit of producer 0 says. */
struct planted {
    uint64_t sequence;
    uint64_t end_offset;
    uint32_t epoch;
    uint32_t entry_epoch;
    uint8_t incarnation;
    uint64_t state_sequence;
    int64_t commit_ns;
};

static const struct planted right = {
    .sequence = 1,
    .end_offset = BATCH_BYTES,
    .epoch = 1,
    .entry_epoch = 1,
    .incarnation = 1,
    .state_sequence = 1,
    .commit_ns = 200,
};

static struct manifest *fencing(struct manifest *base, uint32_t producer)
{
    struct incarnation incarnation = {{(uint8_t)(producer + 1)}};
    struct manifest_change change = {
        .author = {.producer = producer, .epoch = 1, .incarnation = incarnation},
        .state = {.producer = producer,
                  .epoch = 1,
                  .incarnation = incarnation,
                  .last_commit_ns = 100,
                  .last_commit_version = base->version + 1},
    };
    return manifest_append(base, &change);
}

static struct manifest *commit_of(struct manifest *base, const struct planted *planted)
{
    struct incarnation incarnation = {{planted->incarnation}};
    struct manifest_entry entry = {
        .tgb = {.sequence = planted->sequence,
                .end_offset = planted->end_offset,
                .incarnation = incarnation,
                .epoch = planted->entry_epoch},
        .tgb_bytes = BATCH_BYTES,
    };
    struct manifest_change change = {
        .author = {.epoch = planted->epoch, .incarnation = incarnation},
        .state = {.epoch = planted->epoch,
                  .incarnation = incarnation,
                  .next_offset = planted->end_offset,
                  .last_sequence = planted->state_sequence,
                  .last_commit_ns = planted->commit_ns,
                  .last_commit_version = base->version + 1},
        .entry_count = 1,
        .entries = &entry,
    };
    return manifest_append(base, &change);
}

static void follow(struct inspection *inspection, const struct manifest *manifest)
{
    struct inspect_version *version = inspection_add_version(inspection, manifest->version, 0);
    inspect_chain_follow(inspection, version, manifest);
}

/* Genesis, two fencing versions, one commit of producer 0, then `planted` as its next. */
static void follow_planted(struct inspection *inspection, const struct planted *planted)
{
    struct manifest *chain[5];
    chain[0] = manifest_genesis(64);
    chain[1] = fencing(chain[0], 0);
    chain[2] = fencing(chain[1], 1);
    chain[3] = commit_of(chain[2], &right);
    chain[4] = commit_of(chain[3], planted);
    for (int i = 0; i < 5; i++)
        follow(inspection, chain[i]);
    for (int i = 0; i < 5; i++)
        manifest_release(chain[i]);
}

struct planted_case {
    struct planted planted;
    const char *problem; /* NULL: none */
};

static void planted_problems_are_found(void)
{
    const struct planted good = {2, 2 * BATCH_BYTES, 1, 1, 1, 2, 300};
    struct planted_case cases[] = {
        {good, NULL},
        {good, "comes after 1: a gap"},
        {good, "sequence 1 of producer 0 again"},
        {good, "starts at offset 1500, not at 1000"},
        {good, "its entries 2 and 2000"},
        {good, "two incarnations of producer 0 share epoch 1"},
        {good, "epoch 2 of producer 0 begins with a batch"},
        {good, "the commit time of producer 0 went back"},
        {good, "the epoch of producer 0 went back from 1 to 0"},
    };
    cases[1].planted.sequence = cases[1].planted.state_sequence = 3;
    cases[2].planted.sequence = cases[2].planted.state_sequence = 1;
    cases[3].planted.end_offset += BATCH_BYTES / 2;
    cases[4].planted.state_sequence = 7;
    cases[5].planted.incarnation = 9;
    cases[6].planted.epoch = cases[6].planted.entry_epoch = 2;
    cases[7].planted.commit_ns = 150;
    cases[8].planted.entry_epoch = 0;
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct inspection inspection = {0};
        follow_planted(&inspection, &cases[i].planted);
        if (cases[i].problem == NULL) {
            CU_ASSERT_EQUAL(inspection.problem_total, 0);
        } else {
            CU_ASSERT_FATAL(inspection.problem_total > 0);
            CU_ASSERT_PTR_NOT_NULL(strstr(inspection.problems[0].text, cases[i].problem));
            if (strstr(inspection.problems[0].text, cases[i].problem) == NULL)
                fprintf(stderr, "case %zu: %s\n", i, inspection.problems[0].text);
        }
        inspection_deinit(&inspection);
    }
}

static void another_base_is_found(void)
{
    struct inspection inspection = {0};
    struct manifest *genesis = manifest_genesis(64);
    struct manifest *mine = fencing(genesis, 0);
    struct manifest *next = fencing(mine, 1);
    genesis->checksum = 5; /* as if it was stored otherwise */
    follow(&inspection, genesis);
    follow(&inspection, mine);
    follow(&inspection, next);
    CU_ASSERT_EQUAL_FATAL(inspection.problem_total, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(inspection.problems[0].text, "the base's checksum differs"));
    inspection_deinit(&inspection);
    manifest_release(genesis);
    manifest_release(mine);
    manifest_release(next);
}

static void a_chain_is_followed_from_its_floor(void)
{
    struct inspection inspection = {0};
    struct manifest *genesis = manifest_genesis(64);
    struct manifest *fence = fencing(genesis, 0);
    struct manifest *commit = commit_of(fence, &right);
    struct planted next = {2, 2 * BATCH_BYTES, 1, 1, 1, 2, 300};
    struct manifest *last = commit_of(commit, &next);
    follow(&inspection, commit);
    follow(&inspection, last);
    CU_ASSERT_EQUAL(inspection.problem_total, 0);
    CU_ASSERT_EQUAL(inspection.streams[0].batches, 2);
    inspection_deinit(&inspection);
    manifest_release(genesis);
    manifest_release(fence);
    manifest_release(commit);
    manifest_release(last);
}

const struct harness_test inspect_chain_tests[] = {
    HARNESS_TEST(planted_problems_are_found),
    HARNESS_TEST(another_base_is_found),
    HARNESS_TEST(a_chain_is_followed_from_its_floor),
    {0},
};
