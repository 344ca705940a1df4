/* consume_place_test.c - the ranks of a job go on at one step: by the files that they keep, and as
 * real processes that are killed, stopped and started again. */
#include "experiments/consume/consume_place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/consume/checkpoint_file.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

#define RANKS 3
#define STEPS 60

/* ---- files ---- */

struct row {
    uint64_t kept[RANKS][4]; /* steps; one below 10 is where the rank began */
    uint64_t rollback;
    uint64_t step; /* 0: an error */
    uint64_t from; /* of a rank without a checkpoint; 0: it is refused */
    const char *text;
};

static void save(const struct consume_job *job, uint32_t rank, const uint64_t *steps)
{
    struct checkpoint_file file = {
        .folder = job->checkpoints, .run = job->run, .rank = rank, .slices = job->slices};
    struct checkpoint_set set = {0};
    char error[CHECKPOINT_FILE_TEXT_MAX];
    for (; steps[set.count] != 0; set.count++)
        set.items[set.count] = (struct checkpoint){
            .step = steps[set.count], .number = 1, .digest = steps[set.count] < 10 ? 0 : 77};
    if (set.count > 0)
        CU_ASSERT_EQUAL_FATAL(checkpoint_file_save(&file, &set, error), CHECKPOINT_SAVE_DONE);
}

static void check_row(const struct row *row)
{
    char scratch[SCRATCH_MAX];
    char text[CONSUME_JOB_TEXT_MAX] = "";
    struct consume_place place;
    live_scratch_make(scratch);
    struct consume_job job = {.url = "file:///run",
                              .run = "some",
                              .slices = RANKS,
                              .from = 4,
                              .rollback = row->rollback,
                              .checkpoints = scratch};
    for (uint32_t rank = 0; rank < RANKS; rank++)
        save(&job, rank, row->kept[rank]);
    enum open_result found = consume_place_find(&job, RANKS, &place, text);
    CU_ASSERT_EQUAL(found, row->text == NULL ? OPEN_OK : OPEN_FAILED);
    if (row->text != NULL) {
        CU_ASSERT_PTR_NOT_NULL(strstr(text, row->text));
        if (strstr(text, row->text) == NULL)
            printf("\n  expected %s\n  found    %s\n", row->text, text);
    } else {
        consume_place_take(&place, &job);
        CU_ASSERT_EQUAL(place.step, row->step);
        CU_ASSERT_EQUAL(job.rollback, row->step);
        CU_ASSERT_EQUAL(job.from, row->from);
    }
    scratch_remove(scratch);
}

static void the_newest_step_that_all_keep_is_taken(void)
{
    static const struct row rows[] = {
        {{{0}, {0}, {0}}, 0, 0, 4, NULL},
        {{{31, 41, 51}, {31, 41, 51}, {31, 41, 51}}, 0, 51, 0, NULL},
        {{{61, 71, 81}, {51, 61, 71}, {61, 71, 73}}, 0, 71, 0, NULL},
        {{{61, 71, 81}, {51, 61, 71}, {61, 71, 73}}, 80, 71, 0, NULL},
        {{{61, 71, 81}, {51, 61, 71}, {61, 71, 73}}, 70, 61, 0, NULL},
        {{{61, 71, 81}, {51, 61, 71}, {61, 71, 73}}, 60, 0, 0, "they keep 61, 71; take one"},
        {{{81, 91, 109}, {81, 91, 111}, {81, 91, 95}}, 0, 91, 0, NULL},
        {{{81}, {51, 61}, {61, 81}},
         0,
         0,
         0,
         "rank 0 keeps 81; rank 1 keeps 51, 61; rank 2 keeps 61, 81; put"},
        {{{31, 41}, {0}, {31, 41}}, 0, 0, 0, "1 of 3 ranks keep no checkpoint"},
        {{{5, 21, 31}, {0}, {5, 21}}, 0, 5, 5, NULL},
        {{{5, 21, 31}, {0}, {5, 21}}, 4, 0, 0, "1 of 3 ranks keep no checkpoint"},
        {{{5, 21, 31}, {0}, {6, 21}}, 0, 0, 0, "1 of 3 ranks keep no checkpoint"},
        {{{5, 21, 31}, {0}, {21, 31}}, 0, 0, 0, "1 of 3 ranks keep no checkpoint"},
        {{{0}, {0}, {0}}, 9, 0, 0, "none to go back to at step 9"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++)
        check_row(&rows[i]);
}

static void a_rank_starts_where_all_do_or_not_at_all(void)
{
    static const struct {
        uint64_t from, rollback, kept; /* kept: 0 for none, below 10 where it began */
        uint64_t goes_back;
        bool right;
    } rows[] =
        {
            {4, 0, 0, 0, true},     {5, 5, 0, 0, true},     {0, 51, 0, 51, false},
            {0, 51, 51, 51, true},  {0, 51, 41, 51, false}, {5, 5, 5, 5, true},
            {51, 51, 51, 0, false}, /* it began elsewhere */
            {4, 0, 61, 0, true},    {0, 0, 0, 0, false},
        };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        char text[CONSUME_JOB_TEXT_MAX];
        struct checkpoint_set found = {0};
        uint64_t rollback = rows[i].rollback;
        struct consume_job job = {.from = rows[i].from};
        if (rows[i].kept != 0)
            found = (struct checkpoint_set){
                .count = 1,
                .items = {{.step = rows[i].kept, .digest = rows[i].kept < 10 ? 0 : 77}}};
        CU_ASSERT_EQUAL(consume_place_check(&job, 1, &found, &rollback, text), rows[i].right);
        if (rows[i].right)
            CU_ASSERT_EQUAL(rollback, rows[i].goes_back);
    }
}

/* ---- processes ---- */

#define JOB(steps, ...)                                                                            \
    PLANE_WORDS("--ranks", "3", "--steps", steps, "--checkpoints", plane.checkpoints,              \
                "--checkpoint-every", "3", "--json", __VA_ARGS__)

static const char *digest_of(const json_t *report, size_t rank)
{
    const json_t *row = json_array_get(json_object_get(report, "ranks"), rank);
    return json_string_value(json_object_get(row, "digest"));
}

static void expect_one_start(const struct plane *plane, long long step)
{
    json_t *report = plane_json(&plane->process);
    const json_t *ranks = json_object_get(report, "ranks");
    CU_ASSERT_EQUAL(json_array_size(ranks), RANKS);
    for (size_t i = 0; i < RANKS; i++)
        CU_ASSERT_EQUAL(live_number(json_array_get(ranks, i), "first_step", NULL), step);
    json_decref(report);
}

/* The step that the files are about, by which rank 0 would start, too. */
static uint64_t place_of(const struct plane *plane)
{
    char text[CONSUME_JOB_TEXT_MAX] = "";
    char path[SCRATCH_MAX + 64];
    struct consume_place place = {0};
    struct consume_job job = {
        .url = plane->url, .slices = RANKS, .checkpoints = plane->checkpoints};
    snprintf(path, sizeof(path), "%s/rank-0.json", plane->checkpoints);
    json_t *file = json_load_file(path, 0, NULL);
    const char *run = json_string_value(json_object_get(file, "run"));
    if (run != NULL)
        snprintf(job.run, sizeof(job.run), "%s", run);
    json_decref(file);
    CU_ASSERT_EQUAL(consume_place_find(&job, RANKS, &place, text), OPEN_OK);
    return place.step;
}

/* To the end of the chain; every rank must have been given what one that was never disturbed is. */
static void expect_same_digests(struct plane *plane_at, uint64_t from)
{
    struct plane plane = *plane_at;
    char steps[16];
    snprintf(steps, sizeof(steps), "%d", STEPS + 1 - (int)from);
    CU_ASSERT_EQUAL_FATAL(plane_run(&plane, "consume", JOB(steps, "--retire")), 0);
    expect_one_start(&plane, (long long)from);
    json_t *report = plane_json(&plane.process);
    CU_ASSERT_EQUAL_FATAL(
        plane_run(&plane, "consume",
                  PLANE_WORDS("--ranks", "3", "--from", "1", "--steps", "60", "--json")),
        0);
    json_t *whole = plane_json(&plane.process);
    for (size_t i = 0; i < RANKS; i++)
        CU_ASSERT_STRING_EQUAL(digest_of(report, i), digest_of(whole, i));
    json_decref(report);
    json_decref(whole);
}

/* The parent first, or it would start them again. */
static void kill_all(struct live_process *process)
{
    pid_t ranks[RANKS + 1];
    kill(process->pid, SIGSTOP);
    int count = live_children_of(process->pid, ranks, RANKS + 1);
    for (int i = 0; i < count; i++)
        kill(ranks[i], SIGKILL);
    kill(process->pid, SIGKILL);
    (void)live_process_wait(process, 60);
}

static void ranks_that_are_all_killed_go_on_at_one_step(void)
{
    struct plane plane;
    pid_t ranks[RANKS + 1];
    plane_open(&plane, "3x1", STEPS);
    for (int life = 0; life < 4; life++) {
        plane_start(&plane, &plane.process, "consume", "consume",
                    JOB("1000", "--step-time", "20ms"));
        CU_ASSERT_TRUE(live_wait_for(plane.process.err, "ranks 0-2: pids", 1, 10));
        live_pause(20 + 70 * life);
        /* One that hangs for a while is behind the others, who must not leave it alone. */
        if (live_children_of(plane.process.pid, ranks, RANKS + 1) == RANKS)
            kill(ranks[life % RANKS], SIGSTOP);
        live_pause(150);
        kill_all(&plane.process);
    }
    expect_same_digests(&plane, place_of(&plane) > 0 ? place_of(&plane) : 1);
    scratch_remove(plane.scratch);
}

static void stops_leave_a_step_that_all_keep(void)
{
    struct plane plane;
    pid_t ranks[RANKS + 1];
    plane_open(&plane, "3x1", STEPS);
    for (int life = 0; life < 3; life++) {
        plane_start(&plane, &plane.process, "consume", "consume",
                    JOB("1000", "--step-time", "25ms"));
        CU_ASSERT_TRUE(live_wait_for(plane.process.err, "ranks 0-2: pids", 1, 10));
        live_pause(100);
        if (live_children_of(plane.process.pid, ranks, RANKS + 1) == RANKS)
            kill(ranks[life % RANKS], SIGSTOP);
        live_pause(100);
        if (live_children_of(plane.process.pid, ranks, RANKS + 1) == RANKS)
            kill(ranks[life % RANKS], SIGCONT);
        kill(plane.process.pid, SIGINT);
        CU_ASSERT_EQUAL(live_process_wait(&plane.process, 60), 1);
        CU_ASSERT_TRUE(plane_said(&plane.process, "stopped as asked"));
    }
    uint64_t place = place_of(&plane);
    expect_same_digests(&plane, place > 0 ? place : 1); /* 0: none had begun in three lives */
    scratch_remove(plane.scratch);
}

static void a_rank_without_its_file_starts_nobody(void)
{
    struct plane plane;
    char path[LIVE_PATH_MAX];
    char kept[LIVE_PATH_MAX];
    plane_open(&plane, "3x1", STEPS);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", JOB("20", "--step-time", "0s")), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", JOB("20", "--from", "5")), 2);
    CU_ASSERT_TRUE(plane_said(&plane.process, "--from is for ranks that keep no checkpoints"));
    live_path(path, plane.scratch, "checkpoints/rank-2.json");
    live_path(kept, plane.scratch, "rank-2.json");
    CU_ASSERT_EQUAL(rename(path, kept), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", JOB("20", "--step-time", "0s")), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "1 of 3 ranks keep no checkpoint in "));
    CU_ASSERT_TRUE(plane_said(&plane.process, "(2), and all are to start at one step: "));
    live_path(path, plane.folder, "watermark+/0000000000+/00000000000000000002");
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    /* Nor do ranks that come one by one. */
    const char *const *alone =
        PLANE_WORDS("--rank", "0", "--ranks", "3", "--token", "once", "--steps", "4", "--json",
                    "--checkpoints", plane.checkpoints);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", alone), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "1 of 3 ranks keep no checkpoint in "));
    live_path(path, plane.scratch, "checkpoints/rank-2.json");
    CU_ASSERT_EQUAL(rename(kept, path), 0);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", JOB("4", "--step-time", "0s")), 0);
    expect_one_start(&plane, 21);
    scratch_remove(plane.scratch);
}

static void ranks_with_one_token_go_on_at_one_step(void)
{
    struct plane plane;
    plane_open(&plane, "3x1", STEPS);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", JOB("10", "--step-time", "0s")), 0);
    /* Files that tell of the start before are not waited by: two keep 11 to 17, rank 1 7 to 11. */
    static const char *const ahead[] = {"0", "2"};
    for (size_t i = 0; i < HARNESS_COUNT(ahead); i++)
        CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                                  PLANE_WORDS("--rank", ahead[i], "--ranks", "3", "--rollback",
                                              "11", "--steps", "6", "--checkpoints",
                                              plane.checkpoints, "--checkpoint-every", "16")),
                        0);
    static const char *const numbers[RANKS] = {"0", "1", "2"};
    struct live_process ranks[RANKS];
    char path[LIVE_PATH_MAX];
    const char *words[] = {"--rank",
                           NULL,
                           "--ranks",
                           "3",
                           "--token",
                           "again",
                           "--steps",
                           "9",
                           "--json",
                           "--checkpoint-every",
                           "2",
                           "--checkpoints",
                           plane.checkpoints,
                           NULL};
    for (size_t i = 0; i < RANKS; i++) {
        words[1] = numbers[i];
        plane_start(&plane, &ranks[i], numbers[i], "consume", words);
        if (i > 0)
            continue;
        /* It does not drop where all begin before the others are here. Rank 1 then drops older
         * ones than that, though this one, which waits for it, changes nothing meanwhile. */
        live_path(path, plane.scratch, "checkpoints/rank-0.json");
        CU_ASSERT_TRUE(live_wait_for(path, "\"number\": 3", 3, 30));
        live_pause(300);
        CU_ASSERT_EQUAL(live_count_in(path, "\"step\": 11"), 1);
        CU_ASSERT_EQUAL(live_count_in(path, "\"step\": 15"), 1);
    }
    for (size_t i = 0; i < RANKS; i++) {
        CU_ASSERT_EQUAL(live_process_wait(&ranks[i], 60), 0);
        json_t *report = plane_json(&ranks[i]);
        const json_t *row = json_array_get(json_object_get(report, "ranks"), 0);
        CU_ASSERT_EQUAL(live_number(row, "first_step", NULL), 11);
        json_decref(report);
        if (i != 1) /* it keeps none behind 11 */
            CU_ASSERT_TRUE(plane_said(&ranks[i], "goes back from step 17 to step 11, where all "
                                                 "with --token again start"));
    }
    /* By an old word no rank starts apart from the others. */
    CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "has no checkpoint at step 11, where all"));
    expect_same_digests(&plane, 20);
    scratch_remove(plane.scratch);
}

const struct harness_test consume_place_tests[] = {
    HARNESS_TEST(the_newest_step_that_all_keep_is_taken),
    HARNESS_TEST(a_rank_starts_where_all_do_or_not_at_all),
    HARNESS_TEST(ranks_that_are_all_killed_go_on_at_one_step),
    HARNESS_TEST(stops_leave_a_step_that_all_keep),
    HARNESS_TEST(a_rank_without_its_file_starts_nobody),
    HARNESS_TEST(ranks_with_one_token_go_on_at_one_step),
    {0},
};
