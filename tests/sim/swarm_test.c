/* swarm_test.c - 200 random worlds, repeatable; a small world in which each operation fails once.
 *
 * LAKESTREAM_SWARM_SEEDS in the environment runs so many worlds, and fails more operations. */
#include "sim/swarm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/swarm_shrink.h"
#include "tests/harness.h"

#define SEEDS_DEFAULT 200
#define RARE_TURNS 2 /* that so few worlds may not have */
#define SWEEP_OPERATIONS_MAX 2000

static struct swarm_result run_limits(const struct swarm_limits *limits)
{
    struct swarm_config config;
    struct swarm_result result;
    struct swarm_options options = {.config = &config};
    swarm_config_draw(&config, limits);
    swarm_run(&options, &result);
    return result;
}

static void random_worlds_keep_every_promise(void)
{
    const char *text = getenv("LAKESTREAM_SWARM_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : SEEDS_DEFAULT;
    uint64_t zombies = 0;
    uint64_t fenced = 0;
    struct swarm_plane plane = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct swarm_limits limits = swarm_limits_none(seed);
        struct swarm_result result = run_limits(&limits);
        if (result.violations.count > 0)
            printf("\n  %s\n  lakestream swarm --seed %" PRIu64 " --trace\n",
                   result.violations.first, seed);
        CU_ASSERT_EQUAL_FATAL(result.violations.count, 0);
        zombies += result.zombies;
        fenced += result.fenced;
        swarm_plane_add(&plane, &result.plane);
    }
    CU_ASSERT(zombies > 0 && fenced > 0);
    int turns = 0;
    for (int turn = 0; turn < PLANE_TURN_COUNT; turn++)
        turns += plane.turns[turn] > 0;
    CU_ASSERT(turns >= PLANE_TURN_COUNT - RARE_TURNS);
}

static void the_seed_decides(void)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct swarm_limits limits = swarm_limits_none(seed);
        struct swarm_result first = run_limits(&limits);
        struct swarm_result second = run_limits(&limits);
        CU_ASSERT_EQUAL(first.digest, second.digest);
        CU_ASSERT_EQUAL(first.handled, second.handled);
    }
}

static void without_faults_nothing_is_hit(void)
{
    struct swarm_limits limits = swarm_limits_none(3);
    limits.faults = 0;
    struct swarm_result result = run_limits(&limits);
    CU_ASSERT_EQUAL(result.violations.count, 0);
    for (uint32_t bit = FAULT_NONE + 1; bit < SWARM_FAULTS; bit++)
        CU_ASSERT_EQUAL(result.hit[bit], 0);
}

static void limits_are_told_as_flags(void)
{
    char text[256];
    struct swarm_limits limits = swarm_limits_none(7);
    swarm_limits_text(&limits, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "--seed 7");
    limits.producers = 2;
    limits.percent = 30;
    limits.faults = UINT32_C(1) << FAULT_LATE | UINT32_C(1) << swarm_fault_find("pause", 5);
    swarm_limits_text(&limits, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "--seed 7 --producers 2 --percent 30 --faults late,pause");
    limits.faults = 0;
    swarm_limits_text(&limits, text, sizeof(text));
    CU_ASSERT_STRING_EQUAL(text, "--seed 7 --producers 2 --percent 30 --faults none");
    CU_ASSERT_EQUAL(swarm_fault_find("nothing", 7), SWARM_FAULTS);
}

/* ---- the sweep ---- */

/* Two producers, two ranks and a reclaimer, with no fault but the one that is shot. */
static struct swarm_config sweep_config(uint64_t seed)
{
    struct swarm_limits limits = swarm_limits_none(seed);
    struct swarm_config config;
    limits.faults = 0;
    limits.percent = 5;
    swarm_config_draw(&config, &limits);
    config.producers = 2;
    config.bytes = 1;
    config.ranks = 2;
    config.late_rank = UINT32_MAX;
    config.mesh = (struct tgb_mesh){2, 1};
    config.step_ns = config.unit_ns / 2;
    config.checkpoint_steps = 2;
    config.checkpoints_kept = 1;
    config.save_ns = config.unit_ns;
    config.reclaimers = 1;
    config.behind = 0;
    config.reclaim_gap_ns = 4 * config.unit_ns;
    config.phase1_ns = 20 * config.unit_ns;
    config.plan.late_max_ns = 200 * config.unit_ns;
    return config;
}

/* Shoots the 1st, 2nd, ... operation, or each stride-th, until a run is untouched. Returns how many
 * runs that took. */
static uint64_t sweep(uint64_t seed, enum fault_kind kind, uint64_t stride)
{
    struct swarm_config config = sweep_config(seed);
    for (uint64_t operation = 1; operation < SWEEP_OPERATIONS_MAX; operation += stride) {
        struct fault_shot shot = {.kind = kind, .operation = operation};
        struct swarm_options options = {.config = &config, .shot = &shot};
        struct swarm_result result;
        swarm_run(&options, &result);
        if (result.violations.count > 0)
            printf("\n  seed %" PRIu64 ", operation %" PRIu64 ", %s: %s\n", seed, operation,
                   fault_kind_name(kind), result.violations.first);
        CU_ASSERT_EQUAL_FATAL(result.violations.count, 0);
        if (shot.seen < operation)
            return operation / stride;
    }
    CU_FAIL("the sweep does not come to an end");
    return 0;
}

static void any_operation_may_fail_in_any_way(void)
{
    bool all = getenv("LAKESTREAM_SWARM_SEEDS") != NULL;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        CU_ASSERT(sweep(1, (enum fault_kind)kind, 1) > 3);
        CU_ASSERT(sweep(2, (enum fault_kind)kind, all ? 1 : 5) > 0);
    }
}

const struct harness_test swarm_tests[] = {
    HARNESS_TEST(random_worlds_keep_every_promise),  HARNESS_TEST(the_seed_decides),
    HARNESS_TEST(without_faults_nothing_is_hit),     HARNESS_TEST(limits_are_told_as_flags),
    HARNESS_TEST(any_operation_may_fail_in_any_way), {0},
};
