/* main.c - tests on all stores there are, among them real servers (tests/s3/run.sh starts them). */
#include "tests/harness.h"

extern const struct harness_test battery_tests[];

int main(int argc, char **argv)
{
    static const struct harness_suite suites[] = {
        {"battery", battery_tests},
    };
    return harness_main(argc, argv, suites, HARNESS_COUNT(suites));
}
