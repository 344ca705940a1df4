/* checkpoint_file_test.c - a rank's checkpoints on disk: as they were, or an error that says why.
 */
#include "experiments/consume/checkpoint_file.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static void what_was_saved_is_loaded(void)
{
    char scratch[SCRATCH_MAX];
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
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
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
    scratch_remove(scratch);
}

static void what_is_not_this_jobs_is_refused(void)
{
    static const char head[] =
        "{\"format\": 1, \"run\": \"abc\", \"rank\": 7, \"slices\": 4, \"checkpoints\": ";
    static const char *const damaged[] = {
        "",
        "{",
        "{}",
        "[{\"step\": 0, \"number\": 1, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 0, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 9223372036854775807, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 9223372036854775807, \"number\": 1, \"digest\": \"0000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 1, \"digest\": \"000000000000000\"}]}",
        "[{\"step\": 1, \"number\": 1, \"digest\": \"000000000000000g\"}]}",
        ("[{\"step\": 2, \"number\": 1, \"digest\": \"0000000000000000\"},"
         " {\"step\": 2, \"number\": 1, \"digest\": \"0000000000000000\"}]}"),
    };
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX] = "";
    struct checkpoint_set set;
    live_scratch_make(scratch);
    live_path(path, scratch, "rank-7.json");
    struct checkpoint_file file = file_in(scratch);
    for (size_t i = 0; i < HARNESS_COUNT(damaged); i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s", damaged[i][0] == '[' ? head : "", damaged[i]);
        scratch_write(path, text);
        CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "is damaged"));
    }
    /* What cannot be judged is not replaced either. */
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is damaged"));
    unlink(path);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
    file.run = "another";
    CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "checkpoints of another run"));
    file.run = "abc";
    file.slices = 2;
    CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is of 4 slices a batch, and this run has 2"));
    char renamed[LIVE_PATH_MAX];
    live_path(renamed, scratch, "rank-8.json");
    CU_ASSERT_EQUAL(rename(path, renamed), 0);
    file = file_in(scratch);
    file.rank = 8;
    CU_ASSERT_FALSE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "checkpoints of another rank than 8"));
    scratch_remove(scratch);
}

/* What a crash in the middle of a save leaves does not count, and is written over. */
static void half_a_save_is_none(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_set set;
    live_scratch_make(scratch);
    live_path(path, scratch, "rank-7.json.new");
    struct checkpoint_file file = file_in(scratch);
    scratch_write(path, "{\"format\": 1, \"ru");
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 0);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.count, 3);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    scratch_remove(scratch);
}

static int count_files(const char *folder)
{
    int count = 0;
    DIR *stream = opendir(folder);
    assert(stream != NULL);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

/* Dies where the first byte of its set is written. */
static void save_and_die(const struct checkpoint_file *file)
{
    static const struct rlimit none = {0, 0};
    char error[CHECKPOINT_FILE_TEXT_MAX];
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int limited = setrlimit(RLIMIT_CORE, &none) | setrlimit(RLIMIT_FSIZE, &none);
        enum checkpoint_save saved = checkpoint_file_save(file, &three, error);
        _exit(limited == 0 ? (int)saved : -1);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
}

static void many_killed_saves_leave_one_file_at_most(void)
{
    char scratch[SCRATCH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    live_scratch_make(scratch);
    struct checkpoint_file file = file_in(scratch);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
    int files = count_files(scratch);
    for (int i = 0; i < 3; i++)
        save_and_die(&file);
    CU_ASSERT_EQUAL(count_files(scratch), files + 1);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
    CU_ASSERT_EQUAL(count_files(scratch), files);
    scratch_remove(scratch);
}

/* ---- two processes of one rank ---- */

static struct checkpoint_set set_of(uint64_t number, uint64_t step)
{
    return (struct checkpoint_set){.count = 2,
                                   .items = {{.step = step, .number = number, .digest = step},
                                             {.step = step + 1, .number = number, .digest = step}}};
}

static void an_older_processs_late_save_is_refused(void)
{
    char scratch[SCRATCH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_set set;
    live_scratch_make(scratch);
    struct checkpoint_file file = file_in(scratch);
    struct checkpoint_set older = set_of(3, 50);
    struct checkpoint_set newer = set_of(4, 40);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &older, error), CHECKPOINT_SAVE_DONE);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &newer, error), CHECKPOINT_SAVE_DONE);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &older, error), CHECKPOINT_SAVE_REFUSED);
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.items[0].step, 40);
    newer = set_of(4, 60); /* its own place goes on */
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &newer, error), CHECKPOINT_SAVE_DONE);
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(set.items[0].step, 60);
    scratch_remove(scratch);
}

#define RACING_SAVES 40

/* Right where every save was answered as the numbers say; the status of a process. */
static int save_many(const struct checkpoint_file *file, uint64_t number, bool newest)
{
    char error[CHECKPOINT_FILE_TEXT_MAX];
    bool refused = false;
    for (uint64_t step = 1; step <= RACING_SAVES; step++) {
        struct checkpoint_set set = set_of(number, step);
        enum checkpoint_save saved = checkpoint_file_save(file, &set, error);
        bool right =
            saved == CHECKPOINT_SAVE_REFUSED ? !newest : saved == CHECKPOINT_SAVE_DONE && !refused;
        if (!right)
            return 1;
        refused = saved == CHECKPOINT_SAVE_REFUSED;
    }
    return 0;
}

/* Whole at every moment, never back from the newer one's set to the older one's. */
static void two_processes_that_save_at_once_leave_the_newers_set(void)
{
    char scratch[SCRATCH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    struct checkpoint_set set;
    pid_t pids[2];
    uint64_t highest = 0;
    live_scratch_make(scratch);
    struct checkpoint_file file = file_in(scratch);
    fflush(NULL);
    for (uint64_t i = 0; i < HARNESS_COUNT(pids); i++) {
        pids[i] = fork();
        assert(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(save_many(&file, i + 1, i + 1 == HARNESS_COUNT(pids)));
    }
    for (int looks = 0; looks < 1000 && highest < 2; looks++) {
        CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
        CU_ASSERT(checkpoint_highest_number(&set) >= highest);
        highest = checkpoint_highest_number(&set);
        live_pause(1);
    }
    for (size_t i = 0; i < HARNESS_COUNT(pids); i++) {
        int status = -1;
        CU_ASSERT_EQUAL(waitpid(pids[i], &status, 0), pids[i]);
        CU_ASSERT_EQUAL(status, 0);
    }
    CU_ASSERT_TRUE(checkpoint_file_load(&file, &set, error));
    CU_ASSERT_EQUAL(checkpoint_highest_number(&set), 2);
    CU_ASSERT_EQUAL(set.items[0].step, RACING_SAVES);
    scratch_remove(scratch);
}

/* What one holds for a moment is waited for. */
static void a_save_waits_for_another_process(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char saved[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    int told[2];
    char byte = 0;
    live_scratch_make(scratch);
    live_path(path, scratch, "rank-7.json.lock");
    live_path(saved, scratch, "rank-7.json");
    struct checkpoint_file file = file_in(scratch);
    int failed = pipe(told);
    assert(failed == 0);
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int fd = open(path, O_RDWR | O_CREAT, 0666);
        bool right = fd >= 0 && flock(fd, LOCK_EX) == 0 && write(told[1], &byte, 1) == 1;
        live_pause(200);
        _exit(right && access(saved, F_OK) != 0 ? 0 : 1);
    }
    CU_ASSERT_EQUAL(read(told[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_DONE);
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
    close(told[0]);
    close(told[1]);
    scratch_remove(scratch);
}

static void what_cannot_be_written_is_told(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[CHECKPOINT_FILE_TEXT_MAX];
    live_scratch_make(scratch);
    live_path(path, scratch, "file");
    scratch_write(path, "x");
    CU_ASSERT_FALSE(checkpoint_file_prepare(path, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
    CU_ASSERT_FALSE(checkpoint_file_prepare("", error));
    struct checkpoint_file file = file_in(path);
    CU_ASSERT_EQUAL(checkpoint_file_save(&file, &three, error), CHECKPOINT_SAVE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "rank-7.json"));
    scratch_remove(scratch);
}

const struct harness_test checkpoint_file_tests[] = {
    HARNESS_TEST(what_was_saved_is_loaded),
    HARNESS_TEST(what_is_not_this_jobs_is_refused),
    HARNESS_TEST(half_a_save_is_none),
    HARNESS_TEST(many_killed_saves_leave_one_file_at_most),
    HARNESS_TEST(an_older_processs_late_save_is_refused),
    HARNESS_TEST(two_processes_that_save_at_once_leave_the_newers_set),
    HARNESS_TEST(a_save_waits_for_another_process),
    HARNESS_TEST(what_cannot_be_written_is_told),
    {0},
};
