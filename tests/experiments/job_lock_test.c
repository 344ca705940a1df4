/* job_lock_test.c - one start of a job at a time, whoever comes when: of starts at one moment all
 * processes of one get the lock, and none of another. */
#include "experiments/consume/job_lock.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

static bool take(const char *folder, const char *word, struct job_lock *lock,
                 char error[JOB_LOCK_TEXT_MAX])
{
    struct job_lock_options options = {.folder = folder, .word = word, .wait_ns = 0};
    return job_lock_take(&options, lock, error);
}

static void expect_refused(const char *folder, const char *word)
{
    char error[JOB_LOCK_TEXT_MAX] = "";
    char process[64];
    struct job_lock lock;
    CU_ASSERT_FALSE(take(folder, word, &lock, error));
    snprintf(process, sizeof(process), "first taken by process %ld on ", (long)getpid());
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "another start of this job runs"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, process));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/job.lock"));
    CU_ASSERT_EQUAL(lock.fd, -1);
}

static void another_start_is_refused_and_told_whose_it_is(void)
{
    char scratch[SCRATCH_MAX];
    char error[JOB_LOCK_TEXT_MAX] = "";
    struct job_lock first;
    struct job_lock second;
    live_scratch_make(scratch);
    CU_ASSERT_TRUE(take(scratch, "monday", &first, error));
    expect_refused(scratch, "tuesday");
    expect_refused(scratch, "mon"); /* its beginning is another word */
    expect_refused(scratch, "monday-2");
    /* Ranks with one word share it, until the last of them has ended. */
    CU_ASSERT_TRUE(take(scratch, "monday", &second, error));
    job_lock_close(&first);
    expect_refused(scratch, "tuesday");
    job_lock_close(&second);
    CU_ASSERT_TRUE(take(scratch, "tuesday", &first, error));
    expect_refused(scratch, "monday");
    job_lock_close(&first);
    scratch_remove(scratch);
}

/* A process that has it, until it is killed. */
static pid_t start_holder(const char *folder, int told[2])
{
    char byte = 'x';
    int made = pipe(told);
    assert(made == 0);
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        char error[JOB_LOCK_TEXT_MAX];
        struct job_lock lock;
        bool taken = take(folder, "monday", &lock, error);
        ssize_t written = write(told[1], &byte, taken ? 1 : 0);
        for (;;)
            live_pause(written == 1 ? 1000 : 0);
    }
    ssize_t bytes = read(told[0], &byte, 1);
    assert(bytes == 1);
    return pid;
}

static void a_killed_start_lets_the_next_one_in(void)
{
    char scratch[SCRATCH_MAX];
    char error[JOB_LOCK_TEXT_MAX] = "";
    struct job_lock lock;
    int told[2];
    live_scratch_make(scratch);
    pid_t holder = start_holder(scratch, told);
    CU_ASSERT_FALSE(take(scratch, "tuesday", &lock, error));
    kill(holder, SIGKILL);
    CU_ASSERT_EQUAL(waitpid(holder, NULL, 0), holder);
    CU_ASSERT_TRUE(take(scratch, "tuesday", &lock, error));
    job_lock_close(&lock);
    close(told[0]);
    close(told[1]);
    scratch_remove(scratch);
}

/* What a human does about a machine that is lost. */
static void a_deleted_lock_lets_the_next_one_in(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[JOB_LOCK_TEXT_MAX] = "";
    struct job_lock lost;
    struct job_lock next;
    live_scratch_make(scratch);
    live_path(path, scratch, "job.lock");
    CU_ASSERT_TRUE(take(scratch, "monday", &lost, error));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_TRUE(take(scratch, "tuesday", &next, error));
    expect_refused(scratch, "monday");
    job_lock_close(&lost);
    expect_refused(scratch, "monday");
    job_lock_close(&next);
    scratch_remove(scratch);
}

static void what_is_no_lock_is_told(void)
{
    char scratch[SCRATCH_MAX];
    char path[LIVE_PATH_MAX];
    char error[JOB_LOCK_TEXT_MAX] = "";
    struct job_lock lock;
    live_scratch_make(scratch);
    live_path(path, scratch, "not-there");
    CU_ASSERT_FALSE(take(path, "monday", &lock, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "cannot make "));
    /* Whatever somebody wrote there is nobody's word, and harmless to show. */
    live_path(path, scratch, "job.lock");
    scratch_write(path, "\033[2Jmonday");
    CU_ASSERT_TRUE(take(scratch, "monday", &lock, error));
    scratch_write(path, "\033[2J");
    struct job_lock other;
    CU_ASSERT_FALSE(take(scratch, "monday", &other, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "first taken by an unknown process"));
    job_lock_close(&lock);
    scratch_remove(scratch);
}

/* ---- at one moment ---- */

#define STARTS 3
#define RANKS 4
#define ROUNDS 5

/* What the processes of a round share. */
struct race {
    _Atomic uint32_t go;
    _Atomic uint32_t decided;
    _Atomic uint32_t taken[STARTS]; /* ranks of each start that have it */
};

/* Holds what it took until all have decided. */
static void come(struct race *race, const char *folder, uint32_t start)
{
    char word[32];
    char error[JOB_LOCK_TEXT_MAX];
    struct job_lock lock;
    snprintf(word, sizeof(word), "start-%u", start);
    struct job_lock_options options = {.folder = folder, .word = word, .wait_ns = NS_PER_S};
    while (race->go == 0)
        ;
    if (job_lock_take(&options, &lock, error))
        race->taken[start]++;
    race->decided++;
    while (race->decided < STARTS * RANKS)
        live_pause(1);
    _exit(0);
}

static void of_starts_at_one_moment_one_gets_it_whole(void)
{
    char scratch[SCRATCH_MAX];
    struct race *race =
        mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(race != MAP_FAILED);
    live_scratch_make(scratch);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t whole = 0;
        uint32_t none = 0;
        memset(race, 0, sizeof(*race));
        fflush(NULL);
        for (uint32_t i = 0; i < STARTS * RANKS; i++) {
            pid_t pid = fork();
            assert(pid >= 0);
            if (pid == 0)
                come(race, scratch, i % STARTS);
        }
        race->go = 1;
        while (wait(NULL) > 0)
            ;
        for (uint32_t start = 0; start < STARTS; start++) {
            whole += race->taken[start] == RANKS;
            none += race->taken[start] == 0;
        }
        CU_ASSERT_EQUAL(whole, 1);
        CU_ASSERT_EQUAL(none, STARTS - 1);
    }
    munmap(race, sizeof(*race));
    scratch_remove(scratch);
}

const struct harness_test job_lock_tests[] = {
    HARNESS_TEST(another_start_is_refused_and_told_whose_it_is),
    HARNESS_TEST(a_killed_start_lets_the_next_one_in),
    HARNESS_TEST(a_deleted_lock_lets_the_next_one_in),
    HARNESS_TEST(what_is_no_lock_is_told),
    HARNESS_TEST(of_starts_at_one_moment_one_gets_it_whole),
    {0},
};
