/*
 * The test harness: registers the chosen tests with CUnit, runs them and sums up. CUnit knows no
 * skips, so they are counted here and taken out of what it calls passed.
 */
#include "tests/harness.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned skipped;

static bool ci(void)
{
    const char *value = getenv("CI");
    return value != NULL && strcmp(value, "true") == 0;
}

void harness_skip(const char *why)
{
    printf("\n  SKIPPED %s/%s: %s\n", CU_get_current_suite()->pName, CU_get_current_test()->pName,
           why);
    if (!ci()) {
        skipped++;
        return;
    }
    CU_FAIL("skipped, and CI=true allows no skip");
}

static bool names_test(const char *pattern, const char *suite, const char *test)
{
    const char *slash = strchr(pattern, '/');
    if (slash == NULL)
        return strcmp(pattern, suite) == 0 || strcmp(pattern, test) == 0;
    size_t length = (size_t)(slash - pattern);
    return strlen(suite) == length && strncmp(pattern, suite, length) == 0 &&
           strcmp(slash + 1, test) == 0;
}

static bool chosen(int argc, char **argv, const char *suite, const char *test)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        if (names_test(argv[i], suite, test))
            return true;
        any = true;
    }
    return !any;
}

static bool has_option(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return true;
    return false;
}

static void list(const struct harness_suite *suites, size_t count)
{
    for (size_t s = 0; s < count; s++)
        for (const struct harness_test *test = suites[s].tests; test->name != NULL; test++)
            printf("%s/%s\n", suites[s].name, test->name);
}

static unsigned add_suite(int argc, char **argv, const struct harness_suite *suite)
{
    unsigned added = 0;
    CU_pSuite target = NULL;
    for (const struct harness_test *test = suite->tests; test->name != NULL; test++) {
        if (!chosen(argc, argv, suite->name, test->name))
            continue;
        if (target == NULL)
            target = CU_add_suite(suite->name, NULL, NULL);
        if (target == NULL || CU_add_test(target, test->name, test->run) == NULL) {
            fprintf(stderr, "%s/%s: %s\n", suite->name, test->name, CU_get_error_msg());
            exit(EXIT_FAILURE);
        }
        added++;
    }
    return added;
}

int harness_main(int argc, char **argv, const struct harness_suite *suites, size_t count)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (has_option(argc, argv, "--list")) {
        list(suites, count);
        return EXIT_SUCCESS;
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return EXIT_FAILURE;
    }
    unsigned added = 0;
    for (size_t s = 0; s < count; s++)
        added += add_suite(argc, argv, &suites[s]);
    if (added == 0) {
        fprintf(stderr, "%s: no test has that name; --list prints all names\n", argv[0]);
        CU_cleanup_registry();
        return 2;
    }
    CU_basic_set_mode(has_option(argc, argv, "-v") ? CU_BRM_VERBOSE : CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned ran = CU_get_number_of_tests_run();
    unsigned failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
    CU_cleanup_registry();
    printf("%u passed, %u failed, %u skipped\n", ran - failed - skipped, failed, skipped);
    return failed == 0 && ran == added ? EXIT_SUCCESS : EXIT_FAILURE;
}
