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
    {"life",
     "1 consumer, 2 processes, one after the other or at once, 2 reclaimers, one write lost or "
     "late",
     LIFECYCLE(.steps = 3, .consumers = 1, .joined = 1, .lives = 2, .zombies = 1, .advances = 2,
               .kept = 2, .reclaimers = 2, .rounds = 2, .faults = FAULTS_ALL, .unknowns = 1,
               .late = 1)},
};

#define BOUNDS_COUNT (sizeof(all_bounds) / sizeof(all_bounds[0]))

static int usage(void)
{
    fprintf(stderr, "usage: model BOUNDS SECONDS\n");
    for (size_t i = 0; i < BOUNDS_COUNT; i++)
        fprintf(stderr, "  %-13s %s\n", all_bounds[i].name, all_bounds[i].text);
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
        printf(", %" PRIu64 " %s", result.events[i], chosen->kind->event_names[i]);
    printf(": %s\n", !result.good       ? "BROKEN"
                     : result.exhausted ? "exhausted, nothing found"
                                        : "nothing found, not exhausted");
    return result.good ? 0 : 1;
}
