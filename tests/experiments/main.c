/* The tests of experiments/: one row per suite. */
#include "tests/harness.h"

extern const struct harness_test histogram_tests[];
extern const struct harness_test recorder_tests[];
extern const struct harness_test statistics_tests[];

static const struct harness_suite suites[] = {
    {"histogram", histogram_tests},
    {"recorder", recorder_tests},
    {"statistics", statistics_tests},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
