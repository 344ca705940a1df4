/* The tests of experiments/: one row per suite. */
#include "tests/harness.h"

extern const struct harness_test cli_tests[];
extern const struct harness_test units_tests[];
extern const struct harness_test text_line_tests[];
extern const struct harness_test options_tests[];
extern const struct harness_test yaml_reader_tests[];
extern const struct harness_test config_tests[];
extern const struct harness_test experiment_tests[];
extern const struct harness_test histogram_tests[];
extern const struct harness_test recorder_tests[];
extern const struct harness_test statistics_tests[];
extern const struct harness_test swarm_child_tests[];
extern const struct harness_test swarm_hunt_tests[];
extern const struct harness_test swarm_verb_tests[];
extern const struct harness_test results_tests[];
extern const struct harness_test s3_secrets_tests[];
extern const struct harness_test results_faults_tests[];
extern const struct harness_test runner_tests[];
extern const struct harness_test simulate_tests[];
extern const struct harness_test table_tests[];
extern const struct harness_test query_tests[];
extern const struct harness_test progress_tests[];
extern const struct harness_test figure_tests[];
extern const struct harness_test figure_plane_tests[];
extern const struct harness_test figure_drawing_tests[];
extern const struct harness_test storage_bound_tests[];
extern const struct harness_test read_reference_tests[];
extern const struct harness_test live_reference_tests[];
extern const struct harness_test reproduce_tests[];
extern const struct harness_test validate_tests[];
extern const struct harness_test live_cost_tests[];
extern const struct harness_test live_request_tests[];
extern const struct harness_test live_run_tests[];
extern const struct harness_test calibrate_tests[];
extern const struct harness_test live_tests[];
extern const struct harness_test live_record_tests[];
extern const struct harness_test live_wrappers_tests[];
extern const struct harness_test live_ranks_tests[];
extern const struct harness_test live_group_tests[];
extern const struct harness_test live_s3_tests[];
extern const struct harness_test given_files_tests[];
extern const struct harness_test produce_tests[];
extern const struct harness_test checkpoint_file_tests[];
extern const struct harness_test job_lock_tests[];
extern const struct harness_test former_numbers_tests[];
extern const struct harness_test order_digest_tests[];
extern const struct harness_test consume_memory_tests[];
extern const struct harness_test consume_wire_tests[];
extern const struct harness_test consume_place_tests[];
extern const struct harness_test consume_start_tests[];
extern const struct harness_test consume_tests[];
extern const struct harness_test order_witness_tests[];
extern const struct harness_test gc_report_tests[];
extern const struct harness_test gc_tests[];
extern const struct harness_test removal_ranks_tests[];
extern const struct harness_test removal_tests[];
extern const struct harness_test inspect_chain_tests[];
extern const struct harness_test inspect_tests[];
extern const struct harness_test probe_tests[];
extern const struct harness_test probe_verb_tests[];
extern const struct harness_test bench_s3_tests[];

static const struct harness_suite suites[] = {
    {"cli", cli_tests},
    {"units", units_tests},
    {"text_line", text_line_tests},
    {"options", options_tests},
    {"yaml_reader", yaml_reader_tests},
    {"config", config_tests},
    {"experiment", experiment_tests},
    {"histogram", histogram_tests},
    {"recorder", recorder_tests},
    {"statistics", statistics_tests},
    {"s3_secrets", s3_secrets_tests},
    {"results", results_tests},
    {"results_faults", results_faults_tests},
    {"runner", runner_tests},
    {"simulate", simulate_tests},
    {"table", table_tests},
    {"query", query_tests},
    {"progress", progress_tests},
    {"figure", figure_tests},
    {"figure_plane", figure_plane_tests},
    {"figure_drawing", figure_drawing_tests},
    {"storage_bound", storage_bound_tests},
    {"swarm_child", swarm_child_tests},
    {"swarm_hunt", swarm_hunt_tests},
    {"swarm_verb", swarm_verb_tests},
    {"read_reference", read_reference_tests},
    {"live_reference", live_reference_tests},
    {"reproduce", reproduce_tests},
    {"validate", validate_tests},
    {"live_cost", live_cost_tests},
    {"live_request", live_request_tests},
    {"live_run", live_run_tests},
    {"calibrate", calibrate_tests},
    {"live", live_tests},
    {"live_record", live_record_tests},
    {"live_wrappers", live_wrappers_tests},
    {"live_ranks", live_ranks_tests},
    {"live_group", live_group_tests},
    {"live_s3", live_s3_tests},
    {"given_files", given_files_tests},
    {"produce", produce_tests},
    {"checkpoint_file", checkpoint_file_tests},
    {"job_lock", job_lock_tests},
    {"former_numbers", former_numbers_tests},
    {"order_digest", order_digest_tests},
    {"consume_wire", consume_wire_tests},
    {"consume_place", consume_place_tests},
    {"consume_start", consume_start_tests},
    {"consume", consume_tests},
    {"order_witness", order_witness_tests},
    {"consume_memory", consume_memory_tests},
    {"gc_report", gc_report_tests},
    {"gc", gc_tests},
    {"removal", removal_tests},
    {"removal_ranks", removal_ranks_tests},
    {"inspect_chain", inspect_chain_tests},
    {"inspect", inspect_tests},
    {"probe", probe_tests},
    {"probe_verb", probe_verb_tests},
    {"bench_s3", bench_s3_tests},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
