/* directory_crash_test.c - a process that ends at every step of a write, and many that are killed
 * at random: what is visible is whole, what was acknowledged is there, nothing is there twice.
 * Power loss is not tried here: that would need a block device that forgets. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/directory_store.h"
#include "core/random.h"
#include "tests/backend/fixture.h"
#include "tests/harness.h"

#define ROUNDS 40
#define KILLED_PER_ROUND 2
#define CREATES_MAX 100000
#define ENDED_AT 64 /* exit status: + the step */

/* ---- at every step ---- */

struct crash {
    const char *scratch;
    enum store_verb verb;
    enum directory_step step;
    bool overwrite;
};

static int end_here(void *context, enum directory_step step)
{
    const struct crash *crash = context;
    if (step == crash->step)
        _exit(ENDED_AT + (int)step);
    return 0;
}

static int write_and_end(void *context)
{
    struct crash *crash = context;
    const struct directory_options options = {.after_step = end_here, .context = crash};
    struct fixture fixture;
    fixture_open(&fixture, crash->scratch, &options);
    struct body body = whole_body_make(2, 10000);
    (void)fixture_put(&fixture, crash->verb, "a/b/key", body, NULL);
    return 0;
}

static void count_key(const char *key, void *context)
{
    CU_ASSERT_STRING_EQUAL(key, "a/b/key");
    ++*(int *)context;
}

static uint64_t id_of(struct fixture *fixture, const char *key)
{
    struct body body;
    enum store_outcome outcome = fixture_get(fixture, key, &body, NULL);
    CU_ASSERT(outcome == STORE_OK || outcome == STORE_NOT_FOUND);
    uint64_t id = whole_body_id(&body);
    CU_ASSERT(outcome == STORE_NOT_FOUND || id != 0);
    body_release(&body);
    return id;
}

static void check_crash(struct crash *crash)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    crash->scratch = scratch;
    struct fixture fixture;
    struct body old = whole_body_make(1, 500), new = whole_body_make(2, 10000);
    if (crash->overwrite) {
        fixture_open(&fixture, scratch, NULL);
        CU_ASSERT_EQUAL(fixture_put(&fixture, STORE_PUT, "a/b/key", old, NULL), STORE_OK);
        fixture_close(&fixture);
    }
    CU_ASSERT_EQUAL(child_wait(child_start(write_and_end, crash)), ENDED_AT + (int)crash->step);

    const struct directory_options sweep = {.temp_age_ns = -1};
    bool applied = crash->step >= DIRECTORY_STEP_NAMED;
    fixture_open(&fixture, scratch, crash->overwrite ? &sweep : NULL);
    CU_ASSERT_EQUAL(id_of(&fixture, "a/b/key"), applied ? 2 : crash->overwrite ? 1 : 0);
    int keys = 0;
    fixture_list(&fixture, "", count_key, &keys);
    CU_ASSERT_EQUAL(keys, applied || crash->overwrite ? 1 : 0);
    CU_ASSERT_EQUAL(fixture_put(&fixture, crash->verb, "a/b/key", new, NULL),
                    applied && crash->verb == STORE_PUT_IF_ABSENT ? STORE_EXISTS : STORE_OK);
    CU_ASSERT_EQUAL(id_of(&fixture, "a/b/key"), 2);
    fixture_close(&fixture);

    fixture_open(&fixture, scratch, &sweep);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
    CU_ASSERT_EQUAL(id_of(&fixture, "a/b/key"), 2);
    fixture_close(&fixture);
    body_release(&old);
    body_release(&new);
    scratch_remove(scratch);
}

static void every_step_of_a_write_may_be_the_last(void)
{
    for (int step = 0; step < DIRECTORY_STEP_COUNT; step++) {
        struct crash create = {.verb = STORE_PUT_IF_ABSENT, .step = (enum directory_step)step};
        struct crash put = {.verb = STORE_PUT, .step = (enum directory_step)step};
        struct crash overwrite = put;
        overwrite.overwrite = true;
        check_crash(&create);
        check_crash(&put);
        check_crash(&overwrite);
    }
}

/* ---- at any time ---- */

/* Written to a pipe, whole, after the store said OK. */
struct acknowledgement {
    uint64_t id;
    uint32_t create; /* 0: a PUT of the writer's own key */
    uint32_t writer;
};

struct writer {
    const char *scratch;
    int acknowledgements;
    uint32_t number;
    uint32_t first_create;
    uint64_t first_id;
};

static void create_key(char key[STORE_KEY_MAX], uint32_t number)
{
    snprintf(key, STORE_KEY_MAX, "create/%u/%08u", number % 7, number);
}

static int write_until_killed(void *context)
{
    struct writer *writer = context;
    struct fixture fixture;
    fixture_open(&fixture, writer->scratch, NULL);
    struct acknowledgement said = {.id = writer->first_id, .writer = writer->number};
    for (uint32_t n = writer->first_create;; n++) {
        char key[STORE_KEY_MAX];
        for (int create = 0; create < 2; create++) {
            said.id++;
            said.create = create ? n : 0;
            if (create)
                create_key(key, n);
            else
                snprintf(key, sizeof(key), "put/%u", writer->number);
            struct body body = whole_body_make(said.id, 24 + said.id % 40000);
            enum store_outcome outcome =
                fixture_put(&fixture, create ? STORE_PUT_IF_ABSENT : STORE_PUT, key, body, NULL);
            body_release(&body);
            if (outcome == STORE_OK)
                (void)!write(writer->acknowledgements, &said, sizeof(said));
            else if (!create || outcome != STORE_EXISTS)
                return 1;
        }
    }
}

struct ledger {
    uint64_t *created; /* by number: the acknowledged id, or 0 */
    uint32_t last_create;
    uint64_t put[KILLED_PER_ROUND]; /* by writer: the last acknowledged id */
    uint32_t acknowledged;
};

static bool read_acknowledgement(struct ledger *ledger, int fd)
{
    struct acknowledgement said;
    if (read(fd, &said, sizeof(said)) != (ssize_t)sizeof(said))
        return false;
    ledger->acknowledged++;
    if (said.create == 0) {
        ledger->put[said.writer] = said.id;
        return true;
    }
    CU_ASSERT_FATAL(said.create < CREATES_MAX);
    CU_ASSERT_EQUAL(ledger->created[said.create], 0); /* one winner */
    ledger->created[said.create] = said.id;
    if (said.create > ledger->last_create)
        ledger->last_create = said.create;
    return true;
}

static void run_and_kill(const char *scratch, struct ledger *ledger, uint64_t round,
                         struct random_stream *random)
{
    int pipe_fds[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t pids[KILLED_PER_ROUND];
    for (uint32_t i = 0; i < KILLED_PER_ROUND; i++) {
        struct writer writer = {.scratch = scratch,
                                .acknowledgements = pipe_fds[1],
                                .number = i,
                                .first_create = ledger->last_create + 1,
                                .first_id = (round << 32) + ((uint64_t)i << 24)};
        pids[i] = child_start(write_until_killed, &writer);
    }
    close(pipe_fds[1]);
    /* Every other round kills writers that may still be opening the store. */
    if (round % 2 == 0)
        CU_ASSERT_TRUE(read_acknowledgement(ledger, pipe_fds[0]));
    for (uint32_t i = 0; i < KILLED_PER_ROUND; i++) {
        const struct timespec pause = {.tv_nsec = (long)(random_next(random) % 30000000)};
        nanosleep(&pause, NULL);
        CU_ASSERT_EQUAL(kill(pids[i], SIGKILL), 0);
        CU_ASSERT_EQUAL(child_wait(pids[i]), 128 + SIGKILL);
    }
    while (read_acknowledgement(ledger, pipe_fds[0]))
        ;
    close(pipe_fds[0]);
}

struct check {
    struct fixture *fixture;
    uint32_t objects;
};

static void check_whole(const char *key, void *context)
{
    struct check *check = context;
    check->objects++;
    CU_ASSERT_NOT_EQUAL(id_of(check->fixture, key), 0);
}

static void check_round(struct fixture *fixture, const struct ledger *ledger, uint32_t from)
{
    for (uint32_t n = from; n <= ledger->last_create; n++) {
        char key[STORE_KEY_MAX];
        create_key(key, n);
        if (ledger->created[n] != 0)
            CU_ASSERT_EQUAL(id_of(fixture, key), ledger->created[n]);
    }
    for (uint32_t i = 0; i < KILLED_PER_ROUND; i++) {
        char key[STORE_KEY_MAX];
        snprintf(key, sizeof(key), "put/%u", i);
        CU_ASSERT(id_of(fixture, key) >= ledger->put[i]); /* or a later one, without answer */
    }
}

static void killed_writers_leave_whole_objects(void)
{
    char scratch[SCRATCH_MAX];
    scratch_make(scratch);
    struct ledger ledger = {.created = calloc(CREATES_MAX, sizeof(uint64_t))};
    CU_ASSERT_PTR_NOT_NULL_FATAL(ledger.created);
    struct random_stream random = random_stream_make(3, 1);
    struct fixture fixture;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint32_t from = ledger.last_create + 1;
        run_and_kill(scratch, &ledger, round, &random);
        fixture_open(&fixture, scratch, NULL);
        check_round(&fixture, &ledger, from);
        fixture_close(&fixture);
    }
    const struct directory_options sweep = {.temp_age_ns = -1};
    fixture_open(&fixture, scratch, &sweep);
    CU_ASSERT_EQUAL(scratch_count(scratch, DIRECTORY_TEMP_FOLDER), 0);
    struct check check = {.fixture = &fixture};
    fixture_list(&fixture, "", check_whole, &check);
    check_round(&fixture, &ledger, 1);
    fixture_close(&fixture);
    CU_ASSERT(ledger.acknowledged >= ROUNDS / 2);
    CU_ASSERT(check.objects >= ledger.last_create / 2);
    free(ledger.created);
    scratch_remove(scratch);
}

const struct harness_test directory_crash_tests[] = {
    HARNESS_TEST(every_step_of_a_write_may_be_the_last),
    HARNESS_TEST(killed_writers_leave_whole_objects),
    {0}};
