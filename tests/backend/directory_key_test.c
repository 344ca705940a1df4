/* directory_key_test.c - which keys a directory holds, and where. */
#include "backend/directory_key.h"

#include <string.h>

#include "backend/directory_store.h"
#include "tests/harness.h"

static void keys_are_judged(void)
{
    static const struct {
        const char *key;
        enum directory_key_error error;
    } rows[] = {
        {"a", DIRECTORY_KEY_OK},
        {"manifest/00000000000000000001", DIRECTORY_KEY_OK},
        {"manifest/:", DIRECTORY_KEY_OK},
        {"a/b/c/d.e-f_g~h!i", DIRECTORY_KEY_OK},
        {".hidden/..x/...", DIRECTORY_KEY_OK},
        {"a/" DIRECTORY_TEMP_FOLDER, DIRECTORY_KEY_OK},
        {DIRECTORY_TEMP_FOLDER "-not", DIRECTORY_KEY_OK},
        {"", DIRECTORY_KEY_EMPTY},
        {"/a", DIRECTORY_KEY_COMPONENT},
        {"a/", DIRECTORY_KEY_COMPONENT},
        {"/", DIRECTORY_KEY_COMPONENT},
        {"a//b", DIRECTORY_KEY_COMPONENT},
        {".", DIRECTORY_KEY_COMPONENT},
        {"..", DIRECTORY_KEY_COMPONENT},
        {"../a", DIRECTORY_KEY_COMPONENT},
        {"a/../b", DIRECTORY_KEY_COMPONENT},
        {"a/./b", DIRECTORY_KEY_COMPONENT},
        {"a/..", DIRECTORY_KEY_COMPONENT},
        {"a/.nfs0001", DIRECTORY_KEY_COMPONENT},
        {"a+b", DIRECTORY_KEY_BYTE},
        {"a b", DIRECTORY_KEY_BYTE},
        {"a\\b", DIRECTORY_KEY_BYTE},
        {"a\nb", DIRECTORY_KEY_BYTE},
        {"a\x7f", DIRECTORY_KEY_BYTE},
        {"\xc3\xa4", DIRECTORY_KEY_BYTE},
        {DIRECTORY_TEMP_FOLDER, DIRECTORY_KEY_RESERVED},
        {DIRECTORY_TEMP_FOLDER "/a", DIRECTORY_KEY_RESERVED},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        CU_ASSERT_EQUAL(directory_key_check(rows[i].key), rows[i].error);
}

static void the_longest_key_fits(void)
{
    char key[STORE_KEY_MAX + 1];
    memset(key, 'a', sizeof(key));
    key[STORE_KEY_MAX] = '\0';
    CU_ASSERT_EQUAL(directory_key_check(key), DIRECTORY_KEY_LONG);
    key[STORE_KEY_MAX - 1] = '\0';
    CU_ASSERT_EQUAL(directory_key_check(key), DIRECTORY_KEY_OK);
    for (size_t i = 1; i < STORE_KEY_MAX - 2; i += 2)
        key[i] = '/';
    CU_ASSERT_EQUAL(directory_key_check(key), DIRECTORY_KEY_OK);
    char path[DIRECTORY_PATH_MAX];
    directory_key_path(key, path);
    CU_ASSERT_EQUAL(strlen(path), STORE_KEY_MAX - 1 + (STORE_KEY_MAX - 2) / 2);
}

static void folders_carry_the_mark(void)
{
    static const char *const rows[][2] = {
        {"a", "a"}, {"a/b", "a+/b"}, {"a/b/c", "a+/b+/c"}, {"a/b/", "a+/b+/"}, {"", "."}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char path[DIRECTORY_PATH_MAX];
        directory_key_path(rows[i][0], path);
        CU_ASSERT_STRING_EQUAL(path, rows[i][1]);
    }
}

const struct harness_test directory_key_tests[] = {HARNESS_TEST(keys_are_judged),
                                                   HARNESS_TEST(the_longest_key_fits),
                                                   HARNESS_TEST(folders_carry_the_mark),
                                                   {0}};
