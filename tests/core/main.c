/* main.c - the tests of the core. */
#include "tests/harness.h"

extern const struct harness_test name_tests[];
extern const struct harness_test random_tests[];
extern const struct harness_test batch_queue_tests[];
extern const struct harness_test state_table_tests[];
extern const struct harness_test entry_block_tests[];
extern const struct harness_test manifest_tests[];
extern const struct harness_test manifest_codec_tests[];
extern const struct harness_test codec_store_tests[];
extern const struct harness_test store_tests[];
extern const struct harness_test object_bound_tests[];
extern const struct harness_test retry_tests[];
extern const struct harness_test tgb_object_tests[];
extern const struct harness_test tgb_payload_tests[];
extern const struct harness_test tgb_scan_tests[];
extern const struct harness_test tgb_tests[];
extern const struct harness_test estimator_tests[];
extern const struct harness_test policy_tests[];
extern const struct harness_test commit_tests[];
extern const struct harness_test commit_find_tests[];
extern const struct harness_test commit_floor_tests[];
extern const struct harness_test commit_rebase_tests[];
extern const struct harness_test producer_tests[];
extern const struct harness_test driver_tests[];
extern const struct harness_test watermark_tests[];
extern const struct harness_test chain_view_tests[];
extern const struct harness_test chain_reader_tests[];
extern const struct harness_test checkpoint_tests[];
extern const struct harness_test membership_tests[];
extern const struct harness_test membership_start_tests[];
extern const struct harness_test membership_view_tests[];
extern const struct harness_test digest_chain_tests[];
extern const struct harness_test mark_tests[];
extern const struct harness_test consumer_start_tests[];
extern const struct harness_test consumer_fetch_tests[];
extern const struct harness_test consumer_tests[];
extern const struct harness_test consumer_chain_tests[];
extern const struct harness_test consumer_checkpoint_tests[];
extern const struct harness_test consumer_driver_tests[];
extern const struct harness_test consumer_swarm_tests[];
extern const struct harness_test live_set_tests[];
extern const struct harness_test reclaim_tests[];
extern const struct harness_test reclaim_floor_tests[];
extern const struct harness_test reclaim_sweep_tests[];
extern const struct harness_test reclaim_driver_tests[];
extern const struct harness_test reclaim_swarm_tests[];
extern const struct harness_test swarm_tests[];

static const struct harness_suite suites[] = {
    {"name", name_tests},
    {"random", random_tests},
    {"batch_queue", batch_queue_tests},
    {"state_table", state_table_tests},
    {"entry_block", entry_block_tests},
    {"manifest", manifest_tests},
    {"manifest_codec", manifest_codec_tests},
    {"codec_store", codec_store_tests},
    {"store", store_tests},
    {"object_bound", object_bound_tests},
    {"retry", retry_tests},
    {"tgb", tgb_tests},
    {"tgb_object", tgb_object_tests},
    {"tgb_payload", tgb_payload_tests},
    {"tgb_scan", tgb_scan_tests},
    {"estimator", estimator_tests},
    {"policy", policy_tests},
    {"commit", commit_tests},
    {"commit_find", commit_find_tests},
    {"commit_floor", commit_floor_tests},
    {"commit_rebase", commit_rebase_tests},
    {"producer", producer_tests},
    {"driver", driver_tests},
    {"watermark", watermark_tests},
    {"chain_view", chain_view_tests},
    {"chain_reader", chain_reader_tests},
    {"checkpoint", checkpoint_tests},
    {"membership", membership_tests},
    {"membership_start", membership_start_tests},
    {"membership_view", membership_view_tests},
    {"digest_chain", digest_chain_tests},
    {"mark", mark_tests},
    {"consumer_start", consumer_start_tests},
    {"consumer_fetch", consumer_fetch_tests},
    {"consumer", consumer_tests},
    {"consumer_chain", consumer_chain_tests},
    {"consumer_checkpoint", consumer_checkpoint_tests},
    {"consumer_driver", consumer_driver_tests},
    {"consumer_swarm", consumer_swarm_tests},
    {"live_set", live_set_tests},
    {"reclaim", reclaim_tests},
    {"reclaim_floor", reclaim_floor_tests},
    {"reclaim_sweep", reclaim_sweep_tests},
    {"reclaim_driver", reclaim_driver_tests},
    {"reclaim_swarm", reclaim_swarm_tests},
    {"swarm", swarm_tests},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
