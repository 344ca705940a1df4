/*
 * What every test program shares: a thin layer on CUnit that runs suites by name, counts skips and
 * ends with one line, "N passed, N failed, N skipped".
 *
 * A test file ends with one table, and main.c of its layer names the tables:
 *
 *     static void appends_share_structure(void) { CU_ASSERT_EQUAL(...); }
 *     const struct harness_test manifest_tests[] = {HARNESS_TEST(appends_share_structure), {0}};
 *
 *     extern const struct harness_test manifest_tests[];
 *     static const struct harness_suite suites[] = {{"manifest", manifest_tests}};
 *     int main(int argc, char **argv) { return harness_main(argc, argv, suites, 1); }
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <CUnit/CUnit.h>
#include <stddef.h>

#ifdef NDEBUG
#error "the asserts are part of the program: build without NDEBUG"
#endif

/* Whether the memory of a process is mostly a sanitizer's: a bound on it then says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARNESS_MEMORY_IS_SANITIZED 1
#else
#define HARNESS_MEMORY_IS_SANITIZED 0
#endif

struct harness_test {
    const char *name;
    void (*run)(void);
};

/* Borrows its name and its table; the table ends with {0}. */
struct harness_suite {
    const char *name;
    const struct harness_test *tests;
};

#define HARNESS_TEST(function)                                                                     \
    {                                                                                              \
#function, function                                                                        \
    }
#define HARNESS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Runs all tests, or those that the arguments name: "suite", "suite/test" or "test". "-v" prints
 * every test, "--list" only the names. Returns the exit status: 0 only if all that ran passed.
 */
int harness_main(int argc, char **argv, const struct harness_suite *suites, size_t count);

/* Leaves the test and counts it as skipped; a failure when CI=true is in the environment. */
#define HARNESS_SKIP(why)                                                                          \
    do {                                                                                           \
        harness_skip(why);                                                                         \
        return;                                                                                    \
    } while (0)

/* Counts the running test as skipped without leaving it; HARNESS_SKIP is the usual way. */
void harness_skip(const char *why);

#endif
