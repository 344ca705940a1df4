/* runner.c - see runner.h. A shared counter hands out trials; finished ones come back through a
 * list under one mutex. Workers wait when too many results are not written yet, so that memory
 * stays bounded. */
#include "experiments/trials/runner.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/trials/progress.h"
#include "experiments/trials/runner_report.h"

#define UNWRITTEN_PER_JOB 4
#define POLL_NS (200 * NS_PER_MS)
#define SECOND_SIGNAL_NS (500 * NS_PER_MS) /* timeout(1) and shells send one signal twice */

/* When the first signal came; 0: none did. */
static _Atomic int64_t interrupted_ns;

/* One trial that the database lacks. */
struct task {
    const struct trial *trial;
    size_t arm; /* index into the estimates */
    struct run_results results;
    int status;
    int64_t started_ns;
    char started[PROGRESS_TEXT_MAX];
    double wall_s; /* 0 until it ended */
    char error[RUNNER_ERROR_MAX];
    struct task *next; /* in the list of finished ones */
};

struct runner {
    const struct runner_options *options;
    char machine[RESULTS_MACHINE_MAX];
    struct task *tasks;
    size_t task_count;
    struct runner_estimate *estimates; /* one per distinct arm */
    size_t estimate_count;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t finished;
    pthread_cond_t room;
    size_t next;      /* task to start */
    size_t unwritten; /* started, and not yet taken by the writer */
    size_t unwritten_max;
    unsigned workers;
    bool stop;
    struct task *first;
    struct task **last;
};

static void on_signal(int number)
{
    (void)number;
    int64_t now_ns = progress_now_ns();
    int64_t first_ns = 0;
    if (!atomic_compare_exchange_strong(&interrupted_ns, &first_ns, now_ns) &&
        now_ns - first_ns > SECOND_SIGNAL_NS)
        _exit(130);
}

bool runner_interrupted(void)
{
    return atomic_load(&interrupted_ns) != 0;
}

/* Cores that this process may use: at least 1. */
static unsigned usable_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > 0)
        return (unsigned)CPU_COUNT(&cores);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static struct results_run describe(const struct runner *runner, const struct trial *trial,
                                   const char *started)
{
    const struct runner_arm *arm = trial->arm;
    return (struct results_run){
        .experiment = runner->options->experiment,
        .arm = arm->name,
        .arm_group = arm->group,
        .sweep_key = arm->sweep_key,
        .sweep_value = arm->sweep_value,
        .mode = runner->options->mode,
        .store = arm->store,
        .config_hash = arm->config_hash,
        .config = arm->config,
        .seed = trial->seed,
        .commit = runner->options->commit,
        .started = started,
        .machine = runner->machine,
    };
}

/* The next task, or NULL when there is none or the run is to stop. */
static struct task *take(struct runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    while (!runner->stop && runner->next < runner->task_count &&
           runner->unwritten >= runner->unwritten_max)
        pthread_cond_wait(&runner->room, &runner->lock);
    struct task *task = NULL;
    if (!runner->stop && !runner_interrupted() && runner->next < runner->task_count) {
        task = &runner->tasks[runner->next++];
        task->started_ns = progress_now_ns();
        runner->unwritten++;
    }
    pthread_mutex_unlock(&runner->lock);
    return task;
}

static void give(struct runner *runner, struct task *task)
{
    pthread_mutex_lock(&runner->lock);
    task->wall_s = (double)(progress_now_ns() - task->started_ns) / (double)NS_PER_S;
    if (task->results.wall_s == 0)
        task->results.wall_s = task->wall_s;
    task->next = NULL;
    *runner->last = task;
    runner->last = &task->next;
    pthread_cond_signal(&runner->finished);
    pthread_mutex_unlock(&runner->lock);
}

static void *work(void *context)
{
    struct runner *runner = context;
    struct task *task;
    while ((task = take(runner)) != NULL) {
        progress_time_text(task->started);
        task->status = runner->options->run(task->trial, &task->results, task->error);
        give(runner, task);
    }
    pthread_mutex_lock(&runner->lock);
    runner->workers--;
    pthread_cond_signal(&runner->finished);
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

/* Waits a moment for a finished task; NULL if none came. *over: none will. */
static struct task *await(struct runner *runner, bool *over)
{
    int64_t until_ns = progress_now_ns() + POLL_NS;
    struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
    pthread_mutex_lock(&runner->lock);
    if (runner->first == NULL && runner->workers > 0)
        pthread_cond_timedwait(&runner->finished, &runner->lock, &until);
    struct task *task = runner->first;
    if (task != NULL) {
        runner->first = task->next;
        if (runner->first == NULL)
            runner->last = &runner->first;
        runner->unwritten--;
        pthread_cond_signal(&runner->room);
    }
    *over = task == NULL && runner->workers == 0;
    if (runner_interrupted())
        pthread_cond_broadcast(&runner->room);
    pthread_mutex_unlock(&runner->lock);
    return task;
}

static void stop(struct runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    runner->stop = true;
    pthread_cond_broadcast(&runner->room);
    pthread_mutex_unlock(&runner->lock);
}

/* Seconds until all is done, from how long each arm's runs took; negative if that is not known. */
static double eta_s(struct runner *runner)
{
    double now_ns = (double)progress_now_ns();
    double work_s = 0;
    double longest_s = 0;
    pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < runner->task_count; i++) {
        const struct task *task = &runner->tasks[i];
        if (task->wall_s > 0)
            continue;
        double left_s = runner_expected_s(runner->estimates, runner->estimate_count, task->arm);
        if (left_s < 0) {
            work_s = -1;
            break;
        }
        if (i < runner->next)
            left_s -= (now_ns - (double)task->started_ns) / (double)NS_PER_S;
        left_s = left_s > 0 ? left_s : 0;
        longest_s = left_s > longest_s ? left_s : longest_s;
        work_s += left_s;
    }
    double workers = runner->workers > 0 ? runner->workers : 1;
    pthread_mutex_unlock(&runner->lock);
    return work_s < 0 || work_s / workers > longest_s ? work_s / workers : longest_s;
}

/* Into the database, or among the failures. False: the database refused; `message` says why. */
static bool keep(struct runner *runner, struct task *task, struct runner_report *report,
                 char *message)
{
    runner_estimate_add(&runner->estimates[task->arm], task->wall_s);
    if (task->status != 0) {
        if (!runner_interrupted())
            runner_report_failure(report, task->trial, task->error);
        return true;
    }
    struct results_run run = describe(runner, task->trial, task->started);
    if (results_write(runner->options->db, &run, &task->results, message) != RESULTS_OK)
        return false;
    report->summary.done++;
    if (task->results.violations > 0) {
        snprintf(task->error, sizeof(task->error), "the checkers found %llu violations",
                 (unsigned long long)task->results.violations);
        runner_report_failure(report, task->trial, task->error);
    }
    return true;
}

/* Runs in progress may take a while. */
static void tell_stopping(struct progress *progress)
{
    if (progress->stream == NULL)
        return;
    progress_clear(progress);
    fprintf(progress->stream,
            "%s: stopping: runs in progress are finished; once more ends at once\n",
            progress->label);
    fflush(progress->stream);
}

/* The calling thread: writes and shows until the workers have ended. */
static void supervise(struct runner *runner, struct runner_report *report)
{
    struct progress progress =
        progress_make(runner->options->progress, runner->options->experiment);
    bool over = false;
    bool told = false;
    while (!over) {
        struct task *task = await(runner, &over);
        if (task != NULL && report->database[0] == '\0' &&
            !keep(runner, task, report, report->database))
            stop(runner);
        if (task != NULL)
            run_results_deinit(&task->results);
        if (runner_interrupted()) {
            stop(runner);
            if (!told && !over)
                tell_stopping(&progress);
            told = true;
        }
        struct progress_state state = {
            .done = report->summary.done + report->summary.skipped,
            .total = report->total,
            .failed = report->failure_count,
            .eta_s = progress.stream != NULL ? eta_s(runner) : -1,
        };
        progress_show(&progress, &state);
    }
    progress_clear(&progress);
}

static unsigned start_workers(struct runner *runner, pthread_t *threads, unsigned jobs)
{
    unsigned started = 0;
    pthread_mutex_lock(&runner->lock);
    while (started < jobs && pthread_create(&threads[started], NULL, work, runner) == 0)
        started++;
    runner->workers = started;
    pthread_mutex_unlock(&runner->lock);
    return started;
}

static void run_tasks(struct runner *runner, struct runner_report *report)
{
    unsigned jobs = runner->options->jobs > 0 ? runner->options->jobs : usable_cores();
    if (jobs > runner->task_count)
        jobs = (unsigned)runner->task_count;
    if (jobs > RUNNER_JOBS_MAX)
        jobs = RUNNER_JOBS_MAX;
    pthread_t threads[RUNNER_JOBS_MAX];
    runner->unwritten_max = (size_t)jobs * UNWRITTEN_PER_JOB;
    unsigned started = start_workers(runner, threads, jobs);
    if (started == 0)
        snprintf(report->database, sizeof(report->database),
                 "no thread could be started; allow more processes (ulimit -u), and start again");
    else
        supervise(runner, report);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Leaves out what the database has. */
static enum results_error plan(struct runner *runner, const struct trial *trials, size_t count,
                               struct runner_report *report)
{
    struct results_run *runs = calloc(count, sizeof(*runs));
    runner->tasks = calloc(count, sizeof(*runner->tasks));
    runner->estimates = calloc(count, sizeof(*runner->estimates));
    assert(runs != NULL && runner->tasks != NULL && runner->estimates != NULL);
    enum results_error error = RESULTS_OK;
    for (size_t i = 0; i < count && error == RESULTS_OK; i++) {
        bool has = false;
        runs[i] = describe(runner, &trials[i], "");
        error = results_has(runner->options->db, &runs[i], &has, report->database);
        report->summary.skipped += has;
        if (has || error != RESULTS_OK)
            continue;
        size_t arm =
            runner_estimate_find(runner->estimates, &runner->estimate_count, trials[i].arm);
        runner->tasks[runner->task_count++] = (struct task){.trial = &trials[i], .arm = arm};
        struct runner_estimate *estimate = &runner->estimates[arm];
        if (!estimate->asked) {
            estimate->asked = true;
            error = results_past_wall_s(runner->options->db, &runs[i], &estimate->past_s,
                                        report->database);
        }
    }
    if (error == RESULTS_OK)
        error = results_select(runner->options->db, runs, count, report->database);
    free(runs);
    return error;
}

static void init(struct runner *runner, const struct runner_options *options)
{
    *runner = (struct runner){.options = options};
    runner->last = &runner->first;
    results_machine_text(runner->machine);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&runner->finished, &monotonic);
    pthread_cond_init(&runner->room, NULL);
    pthread_mutex_init(&runner->lock, NULL);
    pthread_condattr_destroy(&monotonic);
}

static void deinit(struct runner *runner)
{
    pthread_mutex_destroy(&runner->lock);
    pthread_cond_destroy(&runner->room);
    pthread_cond_destroy(&runner->finished);
    free(runner->estimates);
    free(runner->tasks);
}

int runner_run(const struct runner_options *options, const struct trial *trials, size_t count,
               struct runner_summary *summary)
{
    assert(count > 0);
    struct sigaction caught = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before[2];
    atomic_store(&interrupted_ns, 0);
    sigaction(SIGINT, &caught, &before[0]);
    sigaction(SIGTERM, &caught, &before[1]);
    struct runner runner;
    init(&runner, options);
    struct runner_report report = {.total = count, .options = options};
    int64_t started_ns = progress_now_ns();
    if (plan(&runner, trials, count, &report) == RESULTS_OK && runner.task_count > 0)
        run_tasks(&runner, &report);
    report.wall_s = (double)(progress_now_ns() - started_ns) / (double)NS_PER_S;
    report.summary.interrupted = runner_interrupted();
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    deinit(&runner);
    int status = runner_report_print(&report);
    if (summary != NULL)
        *summary = report.summary;
    runner_report_deinit(&report);
    return status;
}
