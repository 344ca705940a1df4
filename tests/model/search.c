/* search.c - depth-first search over copies of a world. Ours. */
#include "tests/model/search.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH_MAX 4096
#define TABLE_START (UINT64_C(1) << 22)

struct table {
    uint64_t *slots; /* 0: empty */
    uint64_t capacity;
    uint64_t count;
};

struct search {
    const struct world_kind *kind;
    const void *bounds;
    struct table table;
    void *worlds[DEPTH_MAX + 1]; /* memory of the world at each level, made when first reached */
    struct choice path[DEPTH_MAX];
    uint32_t depth;
    uint64_t visits;
    time_t deadline;
    struct search_result *result;
};

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

static void *world_at(struct search *search, uint32_t level)
{
    assert(level <= DEPTH_MAX);
    if (search->worlds[level] == NULL)
        search->worlds[level] = malloc(search->kind->world_bytes);
    assert(search->worlds[level]);
    return search->worlds[level];
}

static void print_path(const struct search *search, const char *problem)
{
    const struct world_kind *kind = search->kind;
    void *world = malloc(kind->world_bytes);
    assert(world);
    printf("BROKEN: %s\n", problem);
    kind->open(world, search->bounds);
    for (uint32_t i = 0; i < search->depth; i++) {
        char text[WORLD_TEXT_MAX];
        kind->describe(world, search->path[i], text);
        printf("%4" PRIu32 "  %s\n", i + 1, text);
        if (i + 1 < search->depth) /* the last one may end in an assertion */
            kind->step(world, search->path[i]);
    }
    kind->close(world);
    free(world);
    fflush(stdout);
}

static const struct search *searching;

/* An assertion failed in a machine: how it came to that. */
static void on_abort(int number)
{
    const struct search *search = searching;
    (void)number;
    searching = NULL; /* once */
    if (search != NULL)
        print_path(search, "an assertion failed");
}

static void catch_abort(const struct search *search)
{
    struct sigaction action = {.sa_handler = on_abort};
    int failed = sigaction(SIGABRT, &action, NULL);
    assert(failed == 0);
    searching = search;
}

static void count_events(struct search *search, const void *world)
{
    uint64_t events = search->kind->events(world);
    for (uint32_t i = 0; events != 0; i++, events >>= 1)
        search->result->events[i] += events & 1;
}

static bool is_broken(const struct search *search, const void *world)
{
    return search->kind->problem(world)[0] != '\0';
}

static void step(struct search *search, void *world, struct choice choice)
{
    assert(search->depth < DEPTH_MAX);
    search->path[search->depth++] = choice;
    if (search->depth > search->result->depth)
        search->result->depth = search->depth;
    search->result->steps++;
    search->kind->step(world, choice);
    count_events(search, world);
}

/* False: the protocol is broken, and the path to it was printed. `level` counts choices that were
 * not forced. */
static bool explore(struct search *search, uint32_t level)
{
    const struct world_kind *kind = search->kind;
    const void *world = world_at(search, level);
    uint32_t depth = search->depth;
    struct choice choices[WORLD_CHOICES_MAX];
    uint32_t count = kind->choices(world, choices);
    if ((++search->visits & 4095) == 0 && time(NULL) >= search->deadline)
        search->result->exhausted = false;
    for (uint32_t i = 0; i < count && search->result->exhausted; i++) {
        bool good = true;
        void *next = world_at(search, level + 1);
        kind->copy(next, world);
        step(search, next, choices[i]);
        struct choice forced;
        while (!is_broken(search, next) && kind->forced != NULL && kind->forced(next, &forced))
            step(search, next, forced);
        if (is_broken(search, next)) {
            print_path(search, kind->problem(next));
            good = false;
        } else if (table_put(&search->table, kind->hash(next))) {
            good = explore(search, level + 1);
        }
        search->depth = depth;
        kind->close(next);
        if (!good)
            return false;
    }
    return true;
}

void search_run(const struct world_kind *kind, const void *bounds, long seconds,
                struct search_result *result)
{
    struct search *search = calloc(1, sizeof(*search));
    assert(search);
    *result = (struct search_result){.exhausted = true};
    search->kind = kind;
    search->bounds = bounds;
    search->deadline = time(NULL) + seconds;
    search->result = result;
    catch_abort(search);
    kind->open(world_at(search, 0), bounds);
    result->good = explore(search, 0);
    kind->close(search->worlds[0]);
    result->states = search->table.count;
    for (uint32_t i = 0; i <= DEPTH_MAX; i++)
        free(search->worlds[i]);
    free(search->table.slots);
    free(search);
}
