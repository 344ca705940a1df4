/* checkpoint_file_test.c - a rank's checkpoints on disk: as they were, or an error that says why.
 */
#include "experiments/consume/checkpoint_file.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

static const struct checkpoint_set three = {
    .count = 3,
    .items = {{.step = 1, .number = 1, .digest = 0},
              {.step = 26, .number = 2, .digest = UINT64_MAX},
              {.step = 51, .number = 2, .digest = UINT64_C(0x0123456789abcdef)}},
};

static struct checkpoint_file file_in(const char *folder)
{
    return (struct checkpoint_file){.folder = folder, .run = "abc", .rank = 7, .slices = 4};
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void what_was_saved_is_loaded(void)
{
    char scratch[LIVE_SCRATCH_MAX];
    char folder[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_set set;
    live_scratch_make(scratch);
    live_path(folder, scratch, "a/b");
    struct checkpoint_file file = file_in(folder);
    CU_ASSERT_TRUE(checkpoint_file_prepare(folder, error));
    CU_ASSERT_TRUE(checkpoint_file_prepare(folder, error));
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 0);
    CU_ASSERT_TRUE(checkpoint_file_save(&file, &three, error));
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(set.items[i].step, three.items[i].step);
        CU_ASSERT_EQUAL(set.items[i].number, three.items[i].number);
        CU_ASSERT_EQUAL(set.items[i].digest, three.items[i].digest);
    }
    file.rank = 8;
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 0);
    live_scratch_remove(scratch);
}

static void what_is_not_this_jobs_is_refused(void)
{
    static const char head[] = "{\"format\": 1, \"run\": \"abc\", \"slices\": 4, \"checkpoints\": ";
    static const char *const damaged[] = {
        "",
        "{",
        "{}",
        "[{\"step\": 0, \"number\": 1, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 0, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 1, \"digest\": \"000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 1, \"digest\": \"000000000000000g\"}]}",
        "[{\"step\": 2, \"number\": 1, \"digest\": \"0000000000000000\"},"
        " {\"step\": 2, \"number\": 1, \"digest\": \"0000000000000000\"}]}",
    };
    char scratch[LIVE_SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX] = "";
    struct checkpoint_set set;
    live_scratch_make(scratch);
    live_path(path, scratch, "rank-7.json");
    struct checkpoint_file file = file_in(scratch);
    for (size_t i = 0; i < HARNESS_COUNT(damaged); i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s", damaged[i][0] == '[' ? head : "", damaged[i]);
        write_text(path, text);
        CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "is damaged"));
    }
    CU_ASSERT_TRUE(checkpoint_file_save(&file, &three, error));
    file.run = "another";
    CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "checkpoints of another run"));
    file.run = "abc";
    file.slices = 2;
    CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is of 4 slices a batch, and this run has 2"));
    live_scratch_remove(scratch);
}

/* What a crash in the middle of a save leaves does not count, and is written over. */
static void half_a_save_is_none(void)
{
    char scratch[LIVE_SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_set set;
    live_scratch_make(scratch);
    live_path(path, scratch, "rank-7.json.new");
    struct checkpoint_file file = file_in(scratch);
    write_text(path, "{\"format\": 1, \"ru");
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 0);
    CU_ASSERT_TRUE(checkpoint_file_save(&file, &three, error));
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 3);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    live_scratch_remove(scratch);
}

static void what_cannot_be_written_is_told(void)
{
    char scratch[LIVE_SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    live_scratch_make(scratch);
    live_path(path, scratch, "file");
    write_text(path, "x");
    CU_ASSERT_FALSE(checkpoint_file_prepare(path, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
    CU_ASSERT_FALSE(checkpoint_file_prepare("", error));
    struct checkpoint_file file = file_in(path);
    CU_ASSERT_FALSE(checkpoint_file_save(&file, &three, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "rank-7.json"));
    live_scratch_remove(scratch);
}

const struct harness_test checkpoint_file_tests[] = {
    HARNESS_TEST(what_was_saved_is_loaded),
    HARNESS_TEST(what_is_not_this_jobs_is_refused),
    HARNESS_TEST(half_a_save_is_none),
    HARNESS_TEST(what_cannot_be_written_is_told),
    {0},
};
