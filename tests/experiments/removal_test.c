/* removal_test.c - runs that are removed: whole, interrupted at every request, killed, refused. */
#include "experiments/live/removal.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/verbs.h"
#include "tests/experiments/live_fixture.h"
#include "tests/harness.h"

struct removal_case {
    char scratch[SCRATCH_MAX];
    char folder[LIVE_PATH_MAX];
    char url[LIVE_PATH_MAX];
    struct live_process process;
};

/* Commits so many batches of 1 KiB as producer 0, slowly where `rate` says so. */
static void commit_batches(struct removal_case *removal, const char *count)
{
    struct live_process_options options = {
        .scratch = removal->scratch,
        .name = "produce",
        .arguments = {"produce", removal->url, "--bytes=1KiB", count, "--set=live.sync=off",
                      "--set=policy.dac.start=20ms"},
    };
    CU_ASSERT_EQUAL(live_process_run(&removal->process, &options), 0);
}

static void case_open(struct removal_case *removal, const char *count)
{
    live_scratch_make(removal->scratch);
    live_path(removal->folder, removal->scratch, "run");
    snprintf(removal->url, sizeof(removal->url), "file://%s", removal->folder);
    commit_batches(removal, count);
}

static void case_close(struct removal_case *removal)
{
    scratch_remove(removal->scratch);
}

static struct live_process_options options_of(const struct removal_case *removal, const char *flag,
                                              const char *more)
{
    return (struct live_process_options){
        .scratch = removal->scratch,
        .name = "remove",
        .arguments = {"remove", removal->url, flag, more},
    };
}

static int remove_by_verb(struct removal_case *removal, const char *flag, const char *more)
{
    struct live_process_options options = options_of(removal, flag, more);
    return live_process_run(&removal->process, &options);
}

/* Inspect's status: 0 means a run without a problem. */
static int inspect_status(const struct removal_case *removal)
{
    int status = -1;
    json_decref(live_inspect(removal->scratch, removal->url, NULL, &status));
    return status;
}

static void a_run_is_shown_then_removed(void)
{
    struct removal_case removal;
    case_open(&removal, "--count=5");
    CU_ASSERT_EQUAL(remove_by_verb(&removal, NULL, NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.out, "Run: produce, arm dac"), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.out, ", 5 TGBs, 1 others"), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "give --yes"), 1);
    CU_ASSERT_EQUAL(inspect_status(&removal), 0);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 0);
    CU_ASSERT_NOT_EQUAL(access(removal.folder, F_OK), 0);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "no such directory"), 1);
    case_close(&removal);
}

/* An empty file, in the folder that the directory store makes for such keys. */
static void put_stranger(const struct removal_case *removal, const char *folder, const char *file,
                         char path[LIVE_PATH_MAX])
{
    live_path(path, removal->folder, "%s", folder);
    mkdir(path, 0777);
    live_path(path, removal->folder, "%s/%s", folder, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    assert(fd >= 0);
    close(fd);
}

static void only_what_a_run_holds_is_of_it(void)
{
    static const char *const strangers[][3] = {
        {"run+", "photo", "run/photo"},
        {"run+", "formats", "run/formats"},
        {"run+/group-0123456789abcde+", "start-0", "run/group-0123456789abcde/start-0"},
        {"run+/group-0123456789abcdeg+", "start-0", "run/group-0123456789abcdeg/start-0"},
        {"run+", "consume-", "run/consume-"},
        {"run+", "consume-a.b", "run/consume-a.b"},
        {"intent+", "photo", "intent/photo"},
        {"watermark+", "photo", "watermark/photo"},
    };
    struct removal_case removal;
    char path[LIVE_PATH_MAX];
    case_open(&removal, "--count=2");
    for (size_t i = 0; i < HARNESS_COUNT(strangers); i++) {
        char said[LIVE_PATH_MAX];
        put_stranger(&removal, strangers[i][0], strangers[i][1], path);
        snprintf(said, sizeof(said), "not of a run, such as %s,", strangers[i][2]);
        CU_ASSERT_EQUAL_FATAL(remove_by_verb(&removal, "--yes", NULL), 1);
        CU_ASSERT_EQUAL(live_count_in(removal.process.err, said), 1);
        unlink(path);
    }
    put_stranger(&removal, "run+/group-0123456789abcdef+", "start-0", path);
    put_stranger(&removal, "run+", "consume-monday_1", path);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 0);
    CU_ASSERT_NOT_EQUAL(access(removal.folder, F_OK), 0);
    case_close(&removal);
}

static void strangers_are_left_alone(void)
{
    struct removal_case removal;
    char photo[LIVE_PATH_MAX];
    case_open(&removal, "--count=2");
    put_stranger(&removal, ".", "photo", photo);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "not of a run, such as photo"), 1);
    char url[LIVE_PATH_MAX];
    memcpy(url, removal.url, sizeof(url));
    snprintf(removal.url, sizeof(removal.url), "file://%s", removal.scratch);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 1); /* the folder above */
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "is no run of this program"), 1);
    memcpy(removal.url, url, sizeof(url));
    CU_ASSERT_EQUAL(inspect_status(&removal), 0);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", "--force"), 0);
    CU_ASSERT_NOT_EQUAL(access(removal.folder, F_OK), 0);
    case_close(&removal);
}

static void a_chain_that_grows_is_refused(void)
{
    struct removal_case removal;
    case_open(&removal, "--count=1");
    struct live_process producer;
    struct live_process_options options = {
        .scratch = removal.scratch,
        .name = "growing",
        .arguments = {"produce", removal.url, "--bytes=1KiB", "--count=100000000", "--json",
                      "--set=workload.rate=100kB/s", "--policy=fixed",
                      "--set=policy.fixed.gap=100ms"},
    };
    live_process_start(&producer, &options);
    CU_ASSERT_TRUE(live_wait_for(producer.out, "\"sequence\":", 3, 20));
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "is still written to"), 1);
    kill(producer.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&producer, 20), 1);
    CU_ASSERT_EQUAL(inspect_status(&removal), 0);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 0);
    case_close(&removal);
}

static struct removal survey_of(const struct removal_case *removal)
{
    struct live_session_options options = {.access = DIRECTORY_READ};
    struct live_session session;
    struct removal found;
    char error[STORE_ERROR_MAX] = "";
    enum open_result opened = live_session_open(removal->url, &options, &session, error);
    CU_ASSERT_EQUAL_FATAL(opened, OPEN_OK);
    CU_ASSERT_TRUE_FATAL(removal_survey(&session, NULL, &found, error));
    json_decref(found.marker);
    found.marker = NULL;
    live_session_close(&session);
    return found;
}

/* Between two versions a minute apart, uploads are all that shows the producer. */
static void a_run_that_is_uploaded_to_is_refused(void)
{
    struct removal_case removal;
    case_open(&removal, "--count=1");
    struct live_process producer;
    struct live_process_options options = {
        .scratch = removal.scratch,
        .name = "uploading",
        .arguments = {"produce", removal.url, "--bytes=1KiB", "--count=100000000",
                      "--set=workload.rate=20kB/s", "--policy=fixed", "--set=policy.fixed.gap=60s"},
    };
    live_process_start(&producer, &options);
    for (int i = 0; i < 400 && survey_of(&removal).tgbs < 3; i++)
        live_pause(50);
    struct removal before = survey_of(&removal);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 1);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "is still written to"), 1);
    struct removal after = survey_of(&removal);
    CU_ASSERT_EQUAL(after.newest, before.newest);
    CU_ASSERT(after.tgbs > before.tgbs);
    kill(producer.pid, SIGINT);
    CU_ASSERT_EQUAL(live_process_wait(&producer, 20), 1);
    CU_ASSERT_EQUAL(inspect_status(&removal), 0);
    CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", NULL), 0);
    case_close(&removal);
}

/* ---- the question ---- */

/* `remove` on a terminal of its own, whose other end is *terminal. */
static pid_t remove_on_terminal(struct removal_case *removal, int *terminal)
{
    char verb[] = "remove";
    char *argv[] = {verb, removal->url, NULL};
    *terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert(*terminal >= 0);
    int failed = grantpt(*terminal) + unlockpt(*terminal);
    assert(failed == 0);
    int end = open(ptsname(*terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert(end >= 0);
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            dup2(end, fd);
        int status = remove_main(2, argv);
        fflush(NULL);
        _exit(status);
    }
    close(end);
    return pid;
}

/* Reads on until the text was said; false: it was not, to the end or for 20 s. */
static bool hear(int terminal, char *said, size_t capacity, const char *text)
{
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    size_t used = strlen(said);
    while (strstr(said, text) == NULL) {
        ssize_t got = -1;
        if (poll(&wait, 1, 20000) == 1)
            got = read(terminal, said + used, capacity - 1 - used);
        if (got <= 0)
            return false;
        used += (size_t)got;
        said[used] = '\0';
    }
    return true;
}

static void a_run_that_grew_until_the_answer_is_refused(void)
{
    static const char *const expected[] = {"is still written to", "Deleted: "};
    struct removal_case removal;
    case_open(&removal, "--count=1");
    for (int status, again = 0; again <= 1; again++) {
        char said[4096] = "";
        int terminal;
        pid_t pid = remove_on_terminal(&removal, &terminal);
        CU_ASSERT_TRUE(hear(terminal, said, sizeof(said), "Type yes"));
        if (again == 0)
            commit_batches(&removal, "--count=1");
        CU_ASSERT_EQUAL(write(terminal, "yes\n", 4), 4);
        CU_ASSERT_TRUE(hear(terminal, said, sizeof(said), expected[again]));
        CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1 - again);
        CU_ASSERT_EQUAL(access(removal.folder, F_OK) == 0, again == 0);
        close(terminal);
    }
    case_close(&removal);
}

/* ---- interruptions ---- */

/* Over a session's store: refuses the n-th DELETE and all that come after it. */
struct failing_store {
    struct store store;
    struct store *inner;
    struct loop *loop;
    struct timer timer;
    uint64_t deletes;
    uint64_t fails_at;
    size_t waiting_count;
    struct store_op *waiting[REMOVAL_AT_ONCE];
};

static void refuse_waiting(struct timer *timer, void *context)
{
    struct failing_store *store = context;
    (void)timer;
    while (store->waiting_count > 0) {
        struct store_op *op = store->waiting[--store->waiting_count];
        op->outcome = STORE_FAILED;
        snprintf(op->error, sizeof(op->error), "delete %.100s: refused", op->key);
        op->done(op, op->context);
    }
}

static void failing_submit(struct store *base, struct store_op *op)
{
    struct failing_store *store = (struct failing_store *)base;
    if (op->verb != STORE_DELETE || ++store->deletes < store->fails_at) {
        store_submit(store->inner, op);
        return;
    }
    store->waiting[store->waiting_count++] = op;
    loop_timer_set(store->loop, &store->timer, 0);
}

/* Removes with the n-th DELETE refused. Whether it was all. */
static bool remove_until(const struct removal_case *removal, uint64_t fails_at)
{
    static const struct store_ops ops = {.submit = failing_submit};
    struct live_session_options options = {.access = DIRECTORY_WRITE, .sync = DIRECTORY_NO_SYNC};
    struct live_session session;
    struct removal survey;
    char error[STORE_ERROR_MAX] = "";
    uint64_t deleted = 0;
    enum open_result opened = live_session_open(removal->url, &options, &session, error);
    CU_ASSERT_EQUAL_FATAL(opened, OPEN_OK);
    CU_ASSERT_TRUE_FATAL(removal_survey(&session, NULL, &survey, error));
    struct failing_store failing = {.store = {.ops = &ops},
                                    .inner = session.bytes,
                                    .loop = live_session_loop(&session),
                                    .fails_at = fails_at};
    timer_init(&failing.timer, refuse_waiting, &failing);
    session.bytes = &failing.store;
    bool done = removal_run(&session, &survey, NULL, &deleted, error);
    session.bytes = failing.inner;
    CU_ASSERT_EQUAL(done, error[0] == '\0');
    CU_ASSERT(done ? deleted == survey.objects : deleted <= survey.objects);
    removal_deinit(&survey);
    live_session_close(&session);
    return done;
}

/* Whatever the DELETE that fails: what is left is known for a removal that did not end, nobody adds
 * to it, and the next removal ends it. */
static void a_removal_that_fails_goes_on(void)
{
    struct removal_case removal;
    char format[LIVE_PATH_MAX];
    char removing[LIVE_PATH_MAX];
    bool done = false;
    uint64_t fails_at = 0;
    while (!done) {
        case_open(&removal, "--count=3");
        live_path(format, removal.folder, "run+/format");
        live_path(removing, removal.folder, "run+/removing");
        done = remove_until(&removal, ++fails_at);
        CU_ASSERT_EQUAL(access(removing, F_OK) != 0, done);
        CU_ASSERT_EQUAL(access(format, F_OK) == 0, fails_at == 1);
        if (!done) {
            CU_ASSERT_EQUAL(inspect_status(&removal), 1);
            CU_ASSERT_EQUAL(remove_by_verb(&removal, "--yes", "--force"), 0); /* without a look */
            CU_ASSERT_EQUAL(live_count_in(removal.process.out, "was begun before"), 1);
            CU_ASSERT_NOT_EQUAL(access(removal.folder, F_OK), 0);
        }
        case_close(&removal);
    }
    CU_ASSERT(fails_at > 6); /* marker, versions, TGBs and run/removing were each refused once */
}

static void nobody_adds_to_a_run_that_is_being_removed(void)
{
    struct removal_case removal;
    case_open(&removal, "--count=3");
    CU_ASSERT_FALSE(remove_until(&removal, 4));
    struct live_process_options options = {
        .scratch = removal.scratch,
        .name = "late",
        .arguments = {"produce", removal.url, "--bytes=1KiB"},
    };
    CU_ASSERT_EQUAL(live_process_run(&removal.process, &options), 2);
    CU_ASSERT_EQUAL(live_count_in(removal.process.err, "no run to add to"), 1);
    case_close(&removal);
}

static void a_killed_removal_goes_on(void)
{
    struct removal_case removal;
    case_open(&removal, "--count=400");
    struct live_process_options options = options_of(&removal, "--yes", "--force");
    for (int i = 0; i < 4; i++) {
        live_process_start(&removal.process, &options);
        live_pause(3 * (i + 1));
        kill(removal.process.pid, SIGKILL);
        (void)live_process_wait(&removal.process, 10);
    }
    int status = remove_by_verb(&removal, "--yes", "--force");
    CU_ASSERT(status == 0 || live_count_in(removal.process.err, "no such directory") == 1 ||
              live_count_in(removal.process.err, "there is nothing") == 1);
    CU_ASSERT_FALSE(live_find_file(removal.folder, "", removal.url));
    case_close(&removal);
}

const struct harness_test removal_tests[] = {
    HARNESS_TEST(a_run_is_shown_then_removed),
    HARNESS_TEST(strangers_are_left_alone),
    HARNESS_TEST(only_what_a_run_holds_is_of_it),
    HARNESS_TEST(a_chain_that_grows_is_refused),
    HARNESS_TEST(a_run_that_is_uploaded_to_is_refused),
    HARNESS_TEST(a_run_that_grew_until_the_answer_is_refused),
    HARNESS_TEST(a_removal_that_fails_goes_on),
    HARNESS_TEST(nobody_adds_to_a_run_that_is_being_removed),
    HARNESS_TEST(a_killed_removal_goes_on),
    {0},
};
