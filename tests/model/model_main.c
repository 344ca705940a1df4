/* model_main.c - searches every order of events of a small world for one that breaks the protocol.
 *
 *     model BOUNDS SECONDS      BOUNDS: quick, pair, ...; without arguments they are listed
 *
 * Method: depth-first search over copies of the world with a table of visited states (64-bit
 * hashes; with n states a collision hides one with probability about n^2 / 2^65). What is checked
 * is what is shipped: the machines are core/commit.c itself. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/model/world.h"

#define DEPTH_MAX 4096
#define TABLE_START (UINT64_C(1) << 22)

struct table {
    uint64_t *slots; /* 0: empty */
    uint64_t capacity;
    uint64_t count;
};

struct search {
    struct table table;
    struct choice path[DEPTH_MAX];
    uint32_t depth;
    uint32_t depth_max;
    uint64_t steps;
    uint64_t zombies;
    uint64_t fenced;
    time_t deadline;
    bool out_of_time;
    const struct world_bounds *bounds;
};

static const struct named_bounds {
    const char *name;
    const char *text;
    struct world_bounds bounds;
} all_bounds[] = {
    {"quick",
     "2 producers to 5 versions, one create lost or late, one floor",
     {.producers = 2, .machines = 2, .versions = 5, .unknowns = 1, .late = 1, .floors = 1}},
    {"pair",
     "2 producers to 5 versions, two creates lost or late, one floor",
     {.producers = 2, .machines = 2, .versions = 5, .unknowns = 2, .late = 2, .floors = 1}},
    {"probe",
     "as quick, but the newest version is found by probing",
     {.producers = 2,
      .machines = 2,
      .versions = 5,
      .unknowns = 1,
      .late = 1,
      .floors = 1,
      .find = COMMIT_FIND_PROBE}},
    {"zombies",
     "1 producer, 3 incarnations alive at once, to 5 versions, one create lost or late, one floor",
     {.producers = 1, .machines = 3, .versions = 5, .unknowns = 1, .late = 1, .floors = 1}},
    {"incarnations",
     "2 producers and a third incarnation, to 4 versions, one create lost or late, one floor",
     {.producers = 2, .machines = 3, .versions = 4, .unknowns = 1, .late = 1, .floors = 1}},
    {"crashes",
     "1 producer, 2 incarnations, one of which dies, to 5 versions, two creates late, two floors",
     {.producers = 1,
      .machines = 2,
      .versions = 5,
      .unknowns = 2,
      .late = 2,
      .floors = 2,
      .crashes = 1}},
};

#define BOUNDS_COUNT (sizeof(all_bounds) / sizeof(all_bounds[0]))

static bool table_put(struct table *table, uint64_t hash);

static void table_grow(struct table *table)
{
    struct table bigger = {.capacity = table->capacity ? 2 * table->capacity : TABLE_START};
    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    assert(bigger.slots);
    for (uint64_t i = 0; i < table->capacity; i++)
        if (table->slots[i] != 0)
            table_put(&bigger, table->slots[i]);
    free(table->slots);
    *table = bigger;
}

/* False: it was there. */
static bool table_put(struct table *table, uint64_t hash)
{
    if (2 * table->count >= table->capacity)
        table_grow(table);
    hash = hash == 0 ? 1 : hash;
    uint64_t slot = hash & (table->capacity - 1);
    while (table->slots[slot] != 0) {
        if (table->slots[slot] == hash)
            return false;
        slot = (slot + 1) & (table->capacity - 1);
    }
    table->slots[slot] = hash;
    table->count++;
    return true;
}

static void print_path(const struct search *search, const char *problem)
{
    struct world world;
    printf("BROKEN: %s\n", problem);
    world_open(&world, search->bounds);
    for (uint32_t i = 0; i < search->depth; i++) {
        char text[160];
        world_describe(&world, search->path[i], text);
        printf("%4" PRIu32 "  %s\n", i + 1, text);
        world_step(&world, search->path[i]);
    }
    world_close(&world);
}

/* False: the protocol is broken, and the path to it was printed. */
static bool explore(struct search *search, const struct world *world)
{
    struct choice choices[WORLD_CHOICES_MAX];
    uint32_t count = world_choices(world, choices);
    if ((search->steps & 4095) == 0 && time(NULL) >= search->deadline)
        search->out_of_time = true;
    for (uint32_t i = 0; i < count && !search->out_of_time; i++) {
        struct world next;
        bool good = true;
        world_copy(&next, world);
        assert(search->depth < DEPTH_MAX);
        search->path[search->depth++] = choices[i];
        search->depth_max = search->depth > search->depth_max ? search->depth : search->depth_max;
        search->steps++;
        world_step(&next, choices[i]);
        search->zombies += next.zombies > world->zombies;
        if (next.problem[0] != '\0') {
            print_path(search, next.problem);
            good = false;
        } else if (table_put(&search->table, world_hash(&next))) {
            good = explore(search, &next);
        }
        search->depth--;
        world_close(&next);
        if (!good)
            return false;
    }
    return true;
}

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
    struct search search = {.deadline = time(NULL) + seconds, .bounds = &chosen->bounds};
    struct world world;
    world_open(&world, &chosen->bounds);
    bool good = explore(&search, &world);
    world_close(&world);
    printf("%s: %s: %" PRIu64 " states, %" PRIu64 " steps, depth %" PRIu32 ", %" PRIu64
           " landings below the floor: %s\n",
           chosen->name, chosen->text, search.table.count, search.steps, search.depth_max,
           search.zombies,
           !good                ? "BROKEN"
           : search.out_of_time ? "nothing found, not exhausted"
                                : "exhausted, nothing found");
    free(search.table.slots);
    return good ? 0 : 1;
}
