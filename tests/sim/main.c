/* main.c - the tests of the simulator. */
#include "tests/harness.h"

extern const struct harness_test event_queue_tests[];
extern const struct harness_test latency_tests[];
extern const struct harness_test bandwidth_tests[];
extern const struct harness_test station_tests[];
extern const struct harness_test virtual_loop_tests[];
extern const struct harness_test virtual_store_tests[];
extern const struct harness_test checkers_tests[];
extern const struct harness_test rank_holds_tests[];
extern const struct harness_test reader_checker_tests[];
extern const struct harness_test reclaim_checker_tests[];
extern const struct harness_test trainer_tests[];
extern const struct harness_test committed_order_tests[];
extern const struct harness_test swarm_plane_tests[];
extern const struct harness_test cluster_tests[];
extern const struct harness_test simulation_tests[];
extern const struct harness_test rank_actors_tests[];
extern const struct harness_test incidents_tests[];
extern const struct harness_test fault_store_tests[];
extern const struct harness_test meter_store_tests[];
extern const struct harness_test shape_store_tests[];
extern const struct harness_test actor_loop_tests[];
extern const struct harness_test swarm_tests[];
extern const struct harness_test contention_tests[];

static const struct harness_suite suites[] = {
    {"event_queue", event_queue_tests},
    {"latency", latency_tests},
    {"bandwidth", bandwidth_tests},
    {"station", station_tests},
    {"virtual_loop", virtual_loop_tests},
    {"virtual_store", virtual_store_tests},
    {"checkers", checkers_tests},
    {"reclaim_checker", reclaim_checker_tests},
    {"reader_checker", reader_checker_tests},
    {"rank_holds", rank_holds_tests},
    {"simulation", simulation_tests},
    {"rank_actors", rank_actors_tests},
    {"incidents", incidents_tests},
    {"cluster", cluster_tests},
    {"committed_order", committed_order_tests},
    {"swarm_plane", swarm_plane_tests},
    {"trainer", trainer_tests},
    {"contention", contention_tests},
    {"fault_store", fault_store_tests},
    {"meter_store", meter_store_tests},
    {"shape_store", shape_store_tests},
    {"actor_loop", actor_loop_tests},
    {"swarm", swarm_tests},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
