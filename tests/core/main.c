/* main.c - the tests of the core. */
#include "tests/harness.h"

extern const struct harness_test commit_tests[];
extern const struct harness_test commit_rebase_tests[];
extern const struct harness_test swarm_tests[];

static const struct harness_suite suites[] = {
    {"commit", commit_tests},
    {"commit_rebase", commit_rebase_tests},
    {"swarm", swarm_tests},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
