/* calibrate_model.c - the clients of a cell on a virtual store. Ours. */
#include "experiments/calibrate/calibrate_model.h"

#include "experiments/calibrate/calibrate_load.h"
#include "experiments/trials/simulate.h"

#define TIMES 4 /* as long as measured in one round: chance matters less */

void calibrate_model_run(const struct config *config, const struct calibrate_cell *cell,
                         uint64_t seed, struct calibrate_result *result)
{
    struct simulation_options options;
    struct virtual_loop loop;
    struct calibrate_client clients[CALIBRATE_CLIENTS_MAX];
    struct calibrate_load *loads[CALIBRATE_CLIENTS_MAX];
    struct store *stores[CALIBRATE_CLIENTS_MAX];
    char error[CALIBRATE_ERROR_MAX];
    assert(cell->clients >= 1 && cell->clients <= CALIBRATE_CLIENTS_MAX);
    struct calibrate_cell longer = *cell;
    longer.duration_ns *= TIMES;
    longer.request_max *= TIMES;
    simulate_options_of(config, seed, &options);
    virtual_loop_init(&loop, EVENT_QUEUE_HEAP);
    options.store.loop = &loop;
    options.store.seed = seed;
    struct virtual_store *store = virtual_store_open(&options.store);
    for (uint32_t i = 0; i < cell->clients; i++) {
        clients[i] = (struct calibrate_client){.number = i};
        stores[i] = virtual_store_client(store, i);
        struct calibrate_load_options load = {
            .store = stores[i], .loop = &loop.loop, .cell = &longer, .client = &clients[i]};
        loads[i] = calibrate_load_open(&load);
    }
    loop_run(&loop.loop, TIME_NEVER);
    for (uint32_t i = 0; i < cell->clients; i++) {
        bool taken = calibrate_load_take(loads[i], result, error);
        assert(taken);
        store_close(stores[i]);
        calibrate_load_close(loads[i]);
    }
    calibrate_result_sort(result);
    virtual_store_close(store);
    virtual_loop_deinit(&loop);
}
