/* removal_ranks_test.c - runs that ranks read, or hold for later: their removal is refused, and the
 * refusal says what lets go. */
#include <signal.h>
#include <unistd.h>

#include "core/name.h"
#include "experiments/live/removal.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

#define BATCHES 12

/* ---- what two looks see ---- */

static struct removal survey_of(struct live_session *session)
{
    struct removal found;
    char error[STORE_ERROR_MAX] = "";
    CU_ASSERT_TRUE_FATAL(removal_survey(session, NULL, &found, error));
    json_decref(found.marker);
    found.marker = NULL;
    return found;
}

static void open_to_write(const struct plane *plane, struct live_session *session)
{
    const struct live_session_options options = {.access = DIRECTORY_WRITE,
                                                 .sync = DIRECTORY_NO_SYNC};
    char error[STORE_ERROR_MAX] = "";
    CU_ASSERT_EQUAL_FATAL(live_session_open(plane->url, &options, session, error), OPEN_OK);
}

static void put(struct live_session *session, const char *key, size_t bytes)
{
    uint8_t zeros[64] = {0};
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT;
    snprintf(op.key, sizeof(op.key), "%s", key);
    op.body = (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = zeros};
    live_session_do(session, session->bytes, &op);
    CU_ASSERT_EQUAL(op.outcome, STORE_OK);
    store_op_deinit(&op);
}

static void take_away(struct live_session *session, const char *key)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_DELETE;
    snprintf(op.key, sizeof(op.key), "%s", key);
    live_session_do(session, session->bytes, &op);
    CU_ASSERT_EQUAL(op.outcome, STORE_OK);
    store_op_deinit(&op);
}

static void tgb_key(char key[STORE_KEY_MAX], uint64_t sequence)
{
    const struct tgb_name name = {
        .bucket = 7, .producer = 1, .epoch = 1, .sequence = sequence, .end_offset = 64};
    name_tgb(key, &name);
}

static void value_key(char key[STORE_KEY_MAX], uint64_t step)
{
    const struct watermark_name name = {
        .consumer = 3, .part = WATERMARK_NUMBER_VALUE, .number = 1, .step = step};
    name_watermark(key, &name);
}

/* One object goes and another of its size comes: their number and bytes stay. */
static void what_comes_as_another_goes_is_seen(void)
{
    static const struct {
        void (*name)(char key[STORE_KEY_MAX], uint64_t number);
        size_t bytes;
        enum removal_change change;
    } cases[] = {
        {value_key, 0, REMOVAL_READ},
        {tgb_key, 64, REMOVAL_WRITTEN},
        {name_intent, 0, REMOVAL_WRITTEN},
    };
    struct plane plane;
    struct live_session session;
    char key[STORE_KEY_MAX];
    plane_open(&plane, "1x1", 1);
    open_to_write(&plane, &session);
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        cases[i].name(key, 20);
        put(&session, key, cases[i].bytes);
        const struct removal before = survey_of(&session);
        const struct removal still = survey_of(&session);
        take_away(&session, key);
        cases[i].name(key, 21);
        put(&session, key, cases[i].bytes);
        const struct removal after = survey_of(&session);
        CU_ASSERT_EQUAL(removal_changed(&before, &still), REMOVAL_AT_REST);
        CU_ASSERT_EQUAL(removal_changed(&before, &after), cases[i].change);
        CU_ASSERT_EQUAL(after.objects, before.objects);
        CU_ASSERT_EQUAL(after.bytes, before.bytes);
    }
    live_session_close(&session);
    plane_close(&plane);
}

/* Two objects that change their sizes, not their sum. */
static void sizes_that_change_places_are_seen(void)
{
    struct plane plane;
    struct live_session session;
    struct removal looks[2];
    char keys[2][STORE_KEY_MAX];
    plane_open(&plane, "1x1", 1);
    open_to_write(&plane, &session);
    for (size_t look = 0; look < 2; look++) {
        for (size_t i = 0; i < 2; i++) {
            tgb_key(keys[i], 20 + i);
            put(&session, keys[i], i == look ? 32 : 64);
        }
        looks[look] = survey_of(&session);
    }
    CU_ASSERT_EQUAL(looks[0].bytes, looks[1].bytes);
    CU_ASSERT_EQUAL(removal_changed(&looks[0], &looks[1]), REMOVAL_WRITTEN);
    live_session_close(&session);
    plane_close(&plane);
}

/* ---- the verb ---- */

static int remove_run(struct plane *plane, const char *flag)
{
    return plane_run(plane, "remove", PLANE_WORDS("--yes", flag));
}

static void expect_whole(struct plane *plane, long long tgbs)
{
    int status;
    json_t *report = live_inspect(plane->scratch, plane->url, "--deep", &status);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(live_number(report, "tgbs", "count"), tgbs);
    json_decref(report);
}

static void expect_gone(const struct plane *plane)
{
    CU_ASSERT_NOT_EQUAL(access(plane->folder, F_OK), 0);
}

/* Their producer has ended long ago: nothing but their watermarks shows them. */
static void ranks_that_only_keep_checkpoints_are_seen(void)
{
    struct plane plane;
    struct live_process ranks;
    char log[LIVE_PATH_MAX], lines[LIVE_PATH_MAX];
    plane_open(&plane, "2x1", 400);
    live_path(log, plane.scratch, "log");
    live_path(lines, plane.scratch, "log/rank-1.log");
    plane_start(&plane, &ranks, "ranks", "consume",
                PLANE_WORDS("--ranks", "2", "--checkpoints", plane.checkpoints,
                            "--checkpoint-every", "5", "--step-time", "60ms", "--log", log));
    CU_ASSERT_TRUE(live_wait_for(lines, "\n", 6, 20));
    CU_ASSERT_EQUAL(remove_run(&plane, NULL), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "is still read"));
    kill(ranks.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&ranks, 20), 0); /* they lacked nothing */
    expect_whole(&plane, 400);
    plane_close(&plane);
}

static void consume(struct plane *plane)
{
    int status = plane_run(plane, "consume",
                           PLANE_WORDS("--ranks", "2", "--steps", "9", "--checkpoints",
                                       plane->checkpoints, "--checkpoint-every", "2"));
    CU_ASSERT_EQUAL_FATAL(status, 0);
}

/* Until each was let go of, as advised. */
static void what_stopped_ranks_hold_is_refused(void)
{
    static const char *const holders[] = {"2 consumers hold steps, from step 7 on",
                                          "1 consumer holds steps, from step 7 on"};
    static const char *const names[] = {"0", "1"};
    struct plane plane;
    char advice[LIVE_PATH_MAX + 64];
    plane_open(&plane, "2x1", BATCHES);
    consume(&plane);
    for (size_t i = 0; i < HARNESS_COUNT(names); i++) {
        snprintf(advice, sizeof(advice), " gc %s --retire-consumer %s\n", plane.url, names[i]);
        CU_ASSERT_EQUAL(remove_run(&plane, NULL), 1);
        CU_ASSERT_TRUE(plane_said(&plane.process, holders[i]));
        CU_ASSERT_TRUE(plane_said(&plane.process, advice));
        expect_whole(&plane, BATCHES);
        CU_ASSERT_EQUAL(plane_run(&plane, "gc", PLANE_WORDS("--retire-consumer", names[i])), 0);
    }
    CU_ASSERT_EQUAL(remove_run(&plane, NULL), 0);
    expect_gone(&plane);
    plane_close(&plane);
}

static void what_is_held_goes_by_force(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", BATCHES);
    consume(&plane);
    CU_ASSERT_EQUAL(remove_run(&plane, "--force"), 0);
    CU_ASSERT_EQUAL(live_count_in(plane.process.out, "Consumers that hold steps: 2, the lowest"),
                    1);
    expect_gone(&plane);
    plane_close(&plane);
}

/* As a job is to end whose checkpoints are not gone on from. */
static void a_job_that_ended_for_good_leaves_a_run_that_goes(void)
{
    struct plane plane;
    plane_open(&plane, "2x1", BATCHES);
    CU_ASSERT_EQUAL(plane_run(&plane, "consume",
                              PLANE_WORDS("--ranks", "2", "--steps", "9", "--retire",
                                          "--checkpoints", plane.checkpoints)),
                    0);
    CU_ASSERT_EQUAL(remove_run(&plane, NULL), 0);
    expect_gone(&plane);
    plane_close(&plane);
}

static void a_rank_that_has_not_said_what_it_holds_is_refused(void)
{
    const struct watermark_name number = {.consumer = 5, .part = WATERMARK_NUMBER, .number = 1};
    struct plane plane;
    struct live_session session;
    char key[STORE_KEY_MAX];
    plane_open(&plane, "2x1", BATCHES);
    open_to_write(&plane, &session);
    name_watermark(key, &number);
    put(&session, key, 16);
    live_session_close(&session);
    CU_ASSERT_EQUAL(remove_run(&plane, NULL), 1);
    CU_ASSERT_TRUE(plane_said(&plane.process, "1 consumer has not said yet what it holds"));
    CU_ASSERT_TRUE(plane_said(&plane.process, "--retire-consumer 5\n"));
    plane_close(&plane);
}

/* What its ranks hold cannot be gone on from any more. */
static void a_removal_that_was_begun_goes_on_though_ranks_hold(void)
{
    struct plane plane;
    struct live_session session;
    plane_open(&plane, "2x1", BATCHES);
    consume(&plane);
    open_to_write(&plane, &session);
    put(&session, LIVE_REMOVING_KEY, 0);
    take_away(&session, LIVE_MARKER_KEY);
    live_session_close(&session);
    CU_ASSERT_EQUAL(remove_run(&plane, NULL), 0);
    expect_gone(&plane);
    plane_close(&plane);
}

const struct harness_test removal_ranks_tests[] = {
    HARNESS_TEST(what_comes_as_another_goes_is_seen),
    HARNESS_TEST(sizes_that_change_places_are_seen),
    HARNESS_TEST(ranks_that_only_keep_checkpoints_are_seen),
    HARNESS_TEST(what_stopped_ranks_hold_is_refused),
    HARNESS_TEST(what_is_held_goes_by_force),
    HARNESS_TEST(a_job_that_ended_for_good_leaves_a_run_that_goes),
    HARNESS_TEST(a_rank_that_has_not_said_what_it_holds_is_refused),
    HARNESS_TEST(a_removal_that_was_begun_goes_on_though_ranks_hold),
    {0},
};
