/* model_main.c - searches every order of events of a small world for one that breaks the protocol.
 *
 *     model BOUNDS SECONDS      BOUNDS: quick, pair, ...; without arguments they are listed
 *
 * What is checked is what is shipped: the machines are core's own. Exits with 1 if something was
 * found; a search that ran out of time found nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/lifecycle.h"
#include "tests/model/world.h"

#define COMMIT_WORLD(...)                                                                          \
    &commit_world, &(const struct world_bounds)                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#define LIFECYCLE(...)                                                                             \
    &lifecycle_world, &(const struct lifecycle_bounds)                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct named_bounds {
    const char *name;
    const char *text;
    const struct world_kind *kind;
    const void *bounds;
} all_bounds[] = {
    {"quick", "2 producers to 5 versions, one create lost or late, one floor",
     COMMIT_WORLD(.producers = 2, .machines = 2, .versions = 5, .unknowns = 1, .late = 1,
                  .floors = 1)},
    {"pair", "2 producers to 5 versions, two creates lost or late, one floor",
     COMMIT_WORLD(.producers = 2, .machines = 2, .versions = 5, .unknowns = 2, .late = 2,
                  .floors = 1)},
    {"probe", "as quick, but the newest version is found by probing",
     COMMIT_WORLD(.producers = 2, .machines = 2, .versions = 5, .unknowns = 1, .late = 1,
                  .floors = 1, .find = COMMIT_FIND_PROBE)},
    {"zombies",
     "1 producer, 3 incarnations alive at once, to 5 versions, one create lost or late, one floor",
     COMMIT_WORLD(.producers = 1, .machines = 3, .versions = 5, .unknowns = 1, .late = 1,
                  .floors = 1)},
    {"incarnations",
     "2 producers and a third incarnation, to 4 versions, one create lost or late, one floor",
     COMMIT_WORLD(.producers = 2, .machines = 3, .versions = 4, .unknowns = 1, .late = 1,
                  .floors = 1)},
    {"crashes",
     "1 producer, 2 incarnations, one of which dies, to 5 versions, two creates late, two floors",
     COMMIT_WORLD(.producers = 1, .machines = 2, .versions = 5, .unknowns = 2, .late = 2,
                  .floors = 2, .crashes = 1)},
    {"floors",
     "2 producers to 4 versions, one create lost or late, two floors, also at the newest version",
     COMMIT_WORLD(.producers = 2, .machines = 2, .versions = 4, .unknowns = 1, .late = 1,
                  .floors = 2, .floors_at_newest = true)},
    {"resends",
     "2 producers to 3 versions, four creates lost, one of them late, one floor, also at the "
     "newest version",
     COMMIT_WORLD(.producers = 2, .machines = 2, .versions = 3, .unknowns = 4, .late = 1,
                  .floors = 1, .floors_at_newest = true)},
    {"successor",
     "2 producers and a third incarnation, to 4 versions, one dies and its create is late, one "
     "floor, also at the newest version",
     COMMIT_WORLD(.producers = 2, .machines = 3, .versions = 4, .late = 1, .floors = 1,
                  .floors_at_newest = true, .crashes = 1)},
    {"life", "1 consumer whose next process takes over, 1 reclaimer, one write lost or late",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 2, .zombies = 1, .advances = 2,
               .kept = 2, .reclaimers = 1, .rounds = 1, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
    {"takeover", "as life, with 2 reclaimers and 2 rounds",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 2, .zombies = 1, .advances = 2,
               .kept = 2, .reclaimers = 2, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
    {"numbers",
     "1 consumer, 3 processes one after the other, one of them goes back, 2 rounds of a reclaimer, "
     "one write lost or late",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 3, .rollbacks = 1, .advances = 3,
               .kept = 2, .reclaimers = 1, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
    {"rollback",
     "1 consumer, 3 processes that may all be alive at once, one goes back, a round of a "
     "reclaimer, "
     "one write of theirs lost or late",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 3, .zombies = 2, .rollbacks = 1,
               .advances = 2, .kept = 2, .reclaimers = 1, .rounds = 1, .faults = FAULTS_WATERMARKS,
               .unknowns = 1, .late = 1)},
    {"overlap", "as rollback, with 2 rounds",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 3, .zombies = 2, .rollbacks = 1,
               .advances = 2, .kept = 2, .reclaimers = 1, .rounds = 2, .faults = FAULTS_WATERMARKS,
               .unknowns = 1, .late = 1)},
    {"former", "as numbers, and the keys of former numbers are deleted at any moment",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 3, .rollbacks = 1, .advances = 3,
               .kept = 2, .forgets = 1, .reclaimers = 1, .rounds = 2, .faults = FAULTS_ALL,
               .unknowns = 1, .late = 1)},
    {"former_rollback", "as rollback, and the keys of former numbers are deleted at any moment",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 3, .zombies = 2, .rollbacks = 1,
               .advances = 2, .kept = 2, .forgets = 1, .reclaimers = 1, .rounds = 1,
               .faults = FAULTS_WATERMARKS, .unknowns = 1, .late = 1)},
    {"newcomer", "a consumer joins, 2 reclaimers, 2 rounds, one write lost or late",
     LIFECYCLE(.steps = 3, .consumers = 2, .joined = 1, .lives = 2, .advances = 2, .kept = 2,
               .reclaimers = 2, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1, .late = 1)},
    {"agreed", "as newcomer, but it starts at step 1, as was agreed before",
     LIFECYCLE(.steps = 3, .consumers = 2, .joined = 1, .lives = 2, .agreed = 1, .advances = 2,
               .kept = 2, .reclaimers = 2, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
    {"first", "the first consumer, 2 processes, 2 reclaimers, 2 rounds, one write lost or late",
     LIFECYCLE(.steps = 2, .consumers = 1, .lives = 2, .advances = 2, .kept = 2, .reclaimers = 2,
               .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1, .late = 1)},
    {"markers",
     "1 consumer, 2 processes, 3 rounds of 2 reclaimers that delete old floors and intents, of "
     "which "
     "one is lost or late",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 2, .advances = 2, .kept = 2,
               .reclaimers = 2, .rounds = 3, .faults = FAULTS_MARKERS, .unknowns = 1, .late = 1)},
    {"retired",
     "2 consumers, of which one is retired by hand and starts again, 2 rounds of a reclaimer, one "
     "write lost or late",
     LIFECYCLE(.steps = 2, .consumers = 2, .joined = 2, .lives = 3, .retirements = 1, .advances = 1,
               .kept = 1, .reclaimers = 1, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
    {"pages", "1 consumer whose next process takes over, 2 rounds, listings of one key a page",
     LIFECYCLE(.steps = 2, .consumers = 1, .joined = 1, .lives = 2, .zombies = 1, .advances = 1,
               .kept = 1, .reclaimers = 1, .rounds = 2, .page_keys = 1)},
    {"trim", "a producer commits a batch, 1 consumer, 2 rounds of 2 reclaimers",
     LIFECYCLE(.steps = 3, .producers = 1, .incarnations = 1, .batches = 1, .consumers = 1,
               .joined = 1, .lives = 1, .advances = 2, .kept = 1, .reclaimers = 2, .rounds = 2)},
    {"readers",
     "a producer commits 2 batches, a consumer and a reclaimer read the chain meanwhile, one "
     "version "
     "lost or late",
     LIFECYCLE(.steps = 1, .producers = 1, .incarnations = 1, .batches = 2, .consumers = 1,
               .joined = 1, .lives = 1, .advances = 2, .kept = 1, .readers = 1, .reclaimers = 1,
               .rounds = 1, .faults = FAULTS_VERSIONS, .unknowns = 1, .late = 1)},
    {"undecided", "2 producers commit 2 batches, 1 consumer, a round of a reclaimer",
     LIFECYCLE(.steps = 1, .producers = 2, .incarnations = 2, .batches = 2, .consumers = 1,
               .joined = 1, .lives = 1, .advances = 2, .kept = 1, .reclaimers = 1, .rounds = 1)},
    {"orphans",
     "1 producer and its successor commit a batch, 1 consumer, a round of a reclaimer, one version "
     "lost or late",
     LIFECYCLE(.steps = 1, .producers = 1, .incarnations = 2, .batches = 1, .consumers = 1,
               .joined = 1, .lives = 1, .advances = 1, .kept = 1, .reclaimers = 1, .rounds = 1,
               .faults = FAULTS_VERSIONS, .unknowns = 1, .late = 1)},
    {"two_floors",
     "2 producers commit 3 batches, 1 consumer, 2 rounds of 2 reclaimers, one version lost or late",
     LIFECYCLE(.steps = 1, .producers = 2, .incarnations = 2, .batches = 3, .consumers = 1,
               .joined = 1, .lives = 1, .advances = 2, .kept = 1, .reclaimers = 2, .rounds = 2,
               .faults = FAULTS_VERSIONS, .unknowns = 1, .late = 1)},
};

#define BOUNDS_COUNT (sizeof(all_bounds) / sizeof(all_bounds[0]))

static int usage(void)
{
    fprintf(stderr, "usage: model BOUNDS SECONDS\n");
    for (size_t i = 0; i < BOUNDS_COUNT; i++)
        fprintf(stderr, "  %-12s %s\n", all_bounds[i].name, all_bounds[i].text);
    return 2;
}

int main(int argc, char **argv)
{
    const struct named_bounds *chosen = NULL;
    for (size_t i = 0; argc == 3 && i < BOUNDS_COUNT; i++)
        if (strcmp(argv[1], all_bounds[i].name) == 0)
            chosen = &all_bounds[i];
    long seconds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (!chosen || seconds < 1)
        return usage();
    struct search_result result;
    search_run(chosen->kind, chosen->bounds, seconds, &result);
    printf("%s: %s: %" PRIu64 " states, %" PRIu64 " steps, depth %" PRIu32, chosen->name,
           chosen->text, result.states, result.steps, result.depth);
    for (uint32_t i = 0; i < WORLD_EVENTS_MAX && chosen->kind->event_names[i]; i++)
        if (result.events[i] > 0)
            printf(", %" PRIu64 " %s", result.events[i], chosen->kind->event_names[i]);
    printf(": %s\n", !result.good       ? "BROKEN"
                     : result.exhausted ? "exhausted, nothing found"
                                        : "nothing found, not exhausted");
    return result.good ? 0 : 1;
}
