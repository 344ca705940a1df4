/* calibrate_plan.c - see calibrate_plan.h. Ours. */
#include "experiments/calibrate/calibrate_plan.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define BYTES_MAX (32 * MIB) /* of a cell in one round */
#define ROUNDS_FULL 4
#define ROUNDS_QUICK 1
#define DURATION_FULL (300 * NS_PER_MS) /* of a cell in one round */
#define DURATION_QUICK (200 * NS_PER_MS)
#define STREAMS 4
#define REQUESTS_MIN 6 /* of a stream: its bound is no lower, however large its bodies */
#define ALONE_MIN 5    /* of one client alone, however slow */

static const uint64_t sizes[] = {0, 4 * KIB, 64 * KIB, MIB, 8 * MIB};
static const uint32_t crowds[] = {2, 4, 8, 16};

struct shared {
    enum calibrate_work work;
    uint64_t bytes;
};

static const struct shared shared[] = {
    {CALIBRATE_GET, 4 * KIB}, {CALIBRATE_GET, MIB},        {CALIBRATE_PUT, 4 * KIB},
    {CALIBRATE_PUT, MIB},     {CALIBRATE_CREATE, 4 * KIB}, {CALIBRATE_LIST, 0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add(struct calibrate_plan *plan, enum calibrate_effort effort,
                struct calibrate_cell cell)
{
    uint64_t streams = (uint64_t)cell.clients * cell.streams;
    uint64_t requests = CALIBRATE_REQUESTS_MAX;
    if (cell.bytes > 0 && BYTES_MAX / cell.bytes < requests)
        requests = BYTES_MAX / cell.bytes;
    assert(plan->count < CALIBRATE_CELLS_MAX);
    cell.number = (uint32_t)plan->count + 1;
    cell.duration_ns = effort == CALIBRATE_FULL ? DURATION_FULL : DURATION_QUICK;
    cell.request_min = streams == 1 ? ALONE_MIN : 2;
    cell.request_max = requests / streams > REQUESTS_MIN ? requests / streams : REQUESTS_MIN;
    plan->cells[plan->count++] = cell;
}

void calibrate_plan_make(enum calibrate_effort effort, struct calibrate_plan *plan)
{
    static const enum calibrate_work sized[] = {CALIBRATE_GET, CALIBRATE_PUT, CALIBRATE_CREATE};
    *plan =
        (struct calibrate_plan){.rounds = effort == CALIBRATE_FULL ? ROUNDS_FULL : ROUNDS_QUICK};
    for (size_t w = 0; w < COUNT(sized); w++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            add(plan, effort,
                (struct calibrate_cell){
                    .work = sized[w], .clients = 1, .streams = 1, .bytes = sizes[i]});
    add(plan, effort, (struct calibrate_cell){.work = CALIBRATE_LIST, .clients = 1, .streams = 1});
    add(plan, effort,
        (struct calibrate_cell){.work = CALIBRATE_DELETE, .clients = 1, .streams = 1});
    for (size_t w = 0; w < COUNT(shared); w++)
        for (size_t i = 0; i < COUNT(crowds); i++)
            add(plan, effort,
                (struct calibrate_cell){.work = shared[w].work,
                                        .clients = crowds[i],
                                        .streams = 1,
                                        .bytes = shared[w].bytes});
    add(plan, effort,
        (struct calibrate_cell){
            .work = CALIBRATE_DELETE, .clients = crowds[COUNT(crowds) - 1], .streams = 1});
    add(plan, effort,
        (struct calibrate_cell){.work = CALIBRATE_GET,
                                .clients = 1,
                                .streams = STREAMS,
                                .bytes = sizes[COUNT(sizes) - 1]});
    add(plan, effort,
        (struct calibrate_cell){.work = CALIBRATE_PUT,
                                .clients = 1,
                                .streams = STREAMS,
                                .bytes = sizes[COUNT(sizes) - 1]});
    add(plan, effort,
        (struct calibrate_cell){.work = CALIBRATE_CONTEND, .clients = 1, .streams = 1});
    for (size_t i = 0; i < COUNT(crowds); i++)
        add(plan, effort,
            (struct calibrate_cell){.work = CALIBRATE_CONTEND, .clients = crowds[i], .streams = 1});
}

struct calibrate_cell calibrate_plan_cell(const struct calibrate_plan *plan, size_t index,
                                          uint32_t round)
{
    assert(index < plan->count);
    assert(round < plan->rounds);
    struct calibrate_cell cell = plan->cells[index];
    cell.number += round * CALIBRATE_CELLS_MAX;
    return cell;
}

static void add_bounds(const struct calibrate_cell *cell, struct calibrate_bounds *bounds)
{
    uint64_t streams = (uint64_t)cell->clients * cell->streams;
    uint64_t requests = streams * cell->request_max;
    bounds->duration_ns += cell->duration_ns;
    switch (cell->work) {
    case CALIBRATE_GET: /* each stream puts an object first */
        bounds->requests += requests + streams;
        bounds->bytes_down += requests * cell->bytes;
        bounds->bytes_up += streams * cell->bytes;
        break;
    case CALIBRATE_PUT:
    case CALIBRATE_CREATE: /* and one DELETE in the end */
        bounds->requests += 2 * requests + streams;
        bounds->bytes_up += requests * cell->bytes;
        break;
    case CALIBRATE_LIST:
        bounds->requests += requests + streams;
        break;
    case CALIBRATE_DELETE:  /* a PUT before each */
    case CALIBRATE_CONTEND: /* a LIST or a DELETE behind each */
        bounds->requests += 2 * requests + streams;
        break;
    case CALIBRATE_WORK_COUNT:
        break;
    }
}

struct calibrate_bounds calibrate_plan_bounds(const struct calibrate_plan *plan)
{
    struct calibrate_bounds bounds = {0};
    for (uint32_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->count; i++)
            add_bounds(&plan->cells[i], &bounds);
    return bounds;
}
