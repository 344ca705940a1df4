/* store_url_test.c - addresses of stores. */
#include "backend/store_url.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/backend/fixture.h"
#include "tests/harness.h"

static void bad_addresses_are_named(void)
{
    static const char *const urls[] = {"",        "/tmp/x", "file:/tmp/x", "s3:/bucket",
                                       "file://", "s3://",  "ftp://x/y"};
    char error[STORE_ERROR_MAX];
    struct live_loop *loop = NULL;
    enum open_result result = live_loop_open(NULL, &loop, error);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    for (size_t i = 0; i < HARNESS_COUNT(urls); i++) {
        struct store *store = NULL;
        error[0] = '\0';
        result = store_open_url(urls[i], NULL, loop, &store, error);
        CU_ASSERT_EQUAL(result, OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NULL(store);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "file:///"));
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "ftp://"));
    live_loop_close(loop);
}

/* Before an '@' stands what may be a password. */
static void a_text_with_an_at_sign_is_never_repeated(void)
{
    static const char *const urls[] = {"https://user:word@host/bucket", "user:word@host",
                                       "word@kind://host/bucket", "s3://user:word@host/bucket"};
    char error[STORE_ERROR_MAX];
    for (size_t i = 0; i < HARNESS_COUNT(urls); i++) {
        error[0] = '\0';
        CU_ASSERT_EQUAL(store_url_check(urls[i], error), OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "not shown"));
        CU_ASSERT_PTR_NULL(strstr(error, "word@"));
        CU_ASSERT_PTR_NULL(strstr(error, "user:"));
    }
}

static void bad_buckets_are_refused_without_opening(void)
{
    static const char *const urls[] = {"s3:///prefix", "s3://a", "s3://under_score..dots/x",
                                       "s3://bucket//x"};
    char error[STORE_ERROR_MAX];
    for (size_t i = 0; i < HARNESS_COUNT(urls); i++) {
        error[0] = '\0';
        CU_ASSERT_EQUAL(store_url_check(urls[i], error), OPEN_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "s3://"));
    }
    CU_ASSERT_EQUAL(store_url_check("s3://bucket/prefix", error), OPEN_OK);
    CU_ASSERT_EQUAL(store_url_check("s3://bucket", error), OPEN_OK);
}

static void absolute_and_relative_directories_open(void)
{
    char scratch[SCRATCH_MAX], before[4096];
    scratch_make(scratch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof(before)));
    CU_ASSERT_EQUAL_FATAL(chdir(scratch), 0);
    char absolute[2 * SCRATCH_MAX], made[2 * SCRATCH_MAX];
    snprintf(absolute, sizeof(absolute), "file://%s/one/two", scratch);
    const char *const urls[] = {absolute, "file://rel/ative", "file://./dot/"};
    static const char *const paths[] = {"one/two", "rel/ative", "dot"};
    char error[STORE_ERROR_MAX];
    struct live_loop *loop = NULL;
    enum open_result result = live_loop_open(NULL, &loop, error);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    for (size_t i = 0; i < 3; i++) {
        struct store *store = NULL;
        result = store_open_url(urls[i], NULL, loop, &store, error);
        CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
        store_close(store);
        struct stat status;
        snprintf(made, sizeof(made), "%s/%s", scratch, paths[i]);
        CU_ASSERT_EQUAL(stat(made, &status), 0);
    }
    live_loop_close(loop);
    CU_ASSERT_EQUAL(chdir(before), 0);
    scratch_remove(scratch);
}

static void the_readers_option_gets_through(void)
{
    char error[STORE_ERROR_MAX];
    struct live_loop *loop = NULL;
    struct store *store = NULL;
    enum open_result result = live_loop_open(NULL, &loop, error);
    CU_ASSERT_EQUAL_FATAL(result, OPEN_OK);
    const struct store_url_options options = {.directory.access = DIRECTORY_READ};
    result = store_open_url("file:///nonexistent/here", &options, loop, &store, error);
    CU_ASSERT_EQUAL(result, OPEN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nonexistent/here"));
    live_loop_close(loop);
}

const struct harness_test store_url_tests[] = {
    HARNESS_TEST(bad_addresses_are_named),
    HARNESS_TEST(bad_buckets_are_refused_without_opening),
    HARNESS_TEST(a_text_with_an_at_sign_is_never_repeated),
    HARNESS_TEST(absolute_and_relative_directories_open),
    HARNESS_TEST(the_readers_option_gets_through),
    {0}};
