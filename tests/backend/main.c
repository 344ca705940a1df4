/* main.c - the tests of the backend. */
#include "tests/harness.h"

extern const struct harness_test live_loop_tests[];
extern const struct harness_test directory_key_tests[];
extern const struct harness_test directory_store_tests[];
extern const struct harness_test directory_temp_tests[];
extern const struct harness_test directory_fault_tests[];
extern const struct harness_test directory_crash_tests[];
extern const struct harness_test store_url_tests[];
extern const struct harness_test sigv4_tests[];
extern const struct harness_test s3_address_tests[];
extern const struct harness_test s3_credentials_tests[];
extern const struct harness_test s3_text_tests[];
extern const struct harness_test s3_xml_tests[];
extern const struct harness_test s3_answer_tests[];
extern const struct harness_test s3_answer_headers_tests[];
extern const struct harness_test hostile_server_tests[];
extern const struct harness_test s3_pace_tests[];
extern const struct harness_test s3_client_tests[];
extern const struct harness_test s3_listing_tests[];
extern const struct harness_test s3_store_tests[];
extern const struct harness_test s3_outcome_tests[];
extern const struct harness_test store_bounds_tests[];
extern const struct harness_test s3_cases_chain_tests[];
extern const struct harness_test s3_cases_creates_tests[];
extern const struct harness_test s3_cases_requests_tests[];
extern const struct harness_test s3_cases_answers_tests[];
extern const struct harness_test s3_cases_connections_tests[];

int main(int argc, char **argv)
{
    static const struct harness_suite suites[] = {
        {"live_loop", live_loop_tests},
        {"directory_key", directory_key_tests},
        {"directory_store", directory_store_tests},
        {"directory_temp", directory_temp_tests},
        {"directory_fault", directory_fault_tests},
        {"directory_crash", directory_crash_tests},
        {"store_url", store_url_tests},
        {"sigv4", sigv4_tests},
        {"s3_address", s3_address_tests},
        {"s3_credentials", s3_credentials_tests},
        {"s3_text", s3_text_tests},
        {"s3_xml", s3_xml_tests},
        {"s3_answer", s3_answer_tests},
        {"s3_answer_headers", s3_answer_headers_tests},
        {"hostile_server", hostile_server_tests},
        {"s3_pace", s3_pace_tests},
        {"s3_client", s3_client_tests},
        {"s3_listing", s3_listing_tests},
        {"s3_store", s3_store_tests},
        {"s3_outcome", s3_outcome_tests},
        {"store_bounds", store_bounds_tests},
        {"s3_cases_chain", s3_cases_chain_tests},
        {"s3_cases_creates", s3_cases_creates_tests},
        {"s3_cases_requests", s3_cases_requests_tests},
        {"s3_cases_answers", s3_cases_answers_tests},
        {"s3_cases_connections", s3_cases_connections_tests},
    };
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
