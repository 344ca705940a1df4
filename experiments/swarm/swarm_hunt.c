/* swarm_hunt.c - see swarm_hunt.h. Each process adds to sums of its own in shared memory; where it
 * is, and in which world, is there too, so that its death tells of a seed. */
#include "experiments/swarm/swarm_hunt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/config/units.h"
#include "sim/swarm_shrink.h"

#define WAIT_MS 100
#define SHRINK_SHARE 10 /* of the limit is what a candidate has */

/* ---- one world ---- */

/* What a process tells of its worlds. It writes, the parent reads. */
struct desk {
    _Atomic bool busy; /* in the world of `seed` */
    uint64_t seed;
    bool violated; /* the last world broke a promise */
    char violation[VIOLATION_TEXT_MAX];
    struct swarm_sums sums;
};

/* Its buffer must not die with the world. */
static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
    fflush(stdout);
}

static void add_sums(struct swarm_sums *sums, const struct swarm_sums *more)
{
    sums->handled += more->handled;
    sums->lives += more->lives;
    sums->fenced += more->fenced;
    sums->versions += more->versions;
    sums->zombies += more->zombies;
    sums->steps += more->steps;
    sums->rank_lives += more->rank_lives;
    sums->given += more->given;
    sums->rounds += more->rounds;
    sums->floors += more->floors;
    sums->deleted += more->deleted;
    sums->reclaimed += more->reclaimed;
    for (uint32_t bit = 0; bit < SWARM_FAULTS; bit++)
        sums->hit[bit] += more->hit[bit];
    if (more->healed_most > sums->healed_most)
        sums->healed_most = more->healed_most;
    swarm_coverage_add(&sums->coverage, &more->coverage);
    swarm_plane_add(&sums->plane, &more->plane);
}

static void add_result(struct swarm_sums *sums, const struct swarm_result *result)
{
    struct swarm_sums more = {
        .handled = result->handled,
        .lives = result->lives,
        .fenced = result->fenced,
        .versions = result->versions,
        .zombies = result->zombies,
        .steps = result->steps,
        .rank_lives = result->rank_lives,
        .given = result->given,
        .rounds = result->rounds,
        .floors = result->floors,
        .deleted = result->deleted,
        .reclaimed = result->reclaimed,
        .healed_most = result->healed_in,
        .coverage = result->coverage,
        .plane = result->plane,
    };
    memcpy(more.hit, result->hit, sizeof(more.hit));
    add_sums(sums, &more);
}

/* In a child. */
static void run_world(struct desk *desk, const struct swarm_limits *limits, bool trace,
                      int64_t cpu_limit_ns)
{
    struct swarm_config config;
    struct swarm_result result;
    struct swarm_options options = {.config = &config, .trace = trace ? print_line : NULL};
    desk->seed = limits->seed;
    atomic_store(&desk->busy, true);
    swarm_child_limit(cpu_limit_ns);
    swarm_config_draw(&config, limits);
    swarm_run(&options, &result);
    swarm_child_limit(0);
    add_result(&desk->sums, &result);
    if (result.violations.count > 0) {
        desk->violated = true;
        snprintf(desk->violation, sizeof(desk->violation), "%s", result.violations.first);
    }
    atomic_store(&desk->busy, false);
}

/* True: the process ended because its last world failed. */
static bool is_failure(const struct desk *desk, const struct child_death *death,
                       const struct swarm_limits *limits, int64_t cpu_limit_ns,
                       struct swarm_failure *failure)
{
    *failure = (struct swarm_failure){.limits = *limits, .endless = death->end == CHILD_ENDLESS};
    failure->limits.seed = desk->seed;
    if (!atomic_load(&desk->busy) && !desk->violated)
        return false;
    if (desk->violated) {
        snprintf(failure->text, sizeof(failure->text), "breaks a promise: %s", desk->violation);
    } else if (failure->endless) {
        char limit[UNIT_TEXT_MAX];
        unit_print_duration(cpu_limit_ns, limit);
        snprintf(failure->text, sizeof(failure->text), "%s within %s of CPU time", death->text,
                 limit);
    } else {
        snprintf(failure->text, sizeof(failure->text), "%s", death->text);
    }
    return true;
}

/* A child that ends well in the midst of a world was made to by the world. */
static void settle_death(const struct desk *desk, struct child_death *death)
{
    if (death->end == CHILD_DONE && atomic_load(&desk->busy)) {
        death->end = CHILD_EXITED;
        snprintf(death->text, sizeof(death->text), "ends the program with status 0");
    }
}

struct trial_of_one {
    struct desk *desk;
    const struct swarm_limits *limits;
    int64_t cpu_limit_ns;
    bool trace;
    bool mute; /* only whether it fails is asked */
};

static void run_trial(void *context)
{
    const struct trial_of_one *trial = context;
    if (!trial->trace)
        swarm_child_leave_no_core();
    run_world(trial->desk, trial->limits, trial->trace, trial->cpu_limit_ns);
}

static bool trial_fails(struct trial_of_one *trial, struct swarm_failure *failure, bool *ran)
{
    struct swarm_child *child = calloc(1, sizeof(*child));
    struct child_death death;
    bool fails = false;
    trial->desk = swarm_shared_make(sizeof(struct desk));
    if (child != NULL)
        child->mute = trial->mute;
    *ran = trial->desk != NULL && child != NULL && swarm_child_start(child, run_trial, trial);
    if (*ran) {
        while (!swarm_child_ended(child, &death))
            swarm_child_wait(child, 1, WAIT_MS);
        settle_death(trial->desk, &death);
        fails = is_failure(trial->desk, &death, trial->limits, trial->cpu_limit_ns, failure);
        if (!fails && death.end != CHILD_DONE) { /* after the world: leaks, say */
            fails = true;
            snprintf(failure->text, sizeof(failure->text), "%s", death.text);
        }
    }
    if (trial->desk != NULL)
        swarm_shared_free(trial->desk, sizeof(struct desk));
    free(child);
    return fails;
}

bool swarm_world_fails(const struct swarm_limits *limits, bool trace, int64_t cpu_limit_ns,
                       struct swarm_failure *failure, bool *ran)
{
    struct trial_of_one trial = {.limits = limits, .trace = trace, .cpu_limit_ns = cpu_limit_ns};
    return trial_fails(&trial, failure, ran);
}

/* ---- many ---- */

struct office {
    atomic_uint_fast64_t next; /* seed to be taken, from 0 */
    atomic_uint_fast64_t done;
    _Atomic bool closed; /* no more seeds are taken */
    struct desk desks[HUNT_JOBS_MAX];
};

struct worker {
    const struct swarm_hunt *hunt;
    struct office *office;
    struct desk *desk;
};

static void work(void *context)
{
    const struct worker *worker = context;
    const struct swarm_hunt *hunt = worker->hunt;
    struct office *office = worker->office;
    swarm_child_leave_no_core();
    while (!atomic_load(&office->closed) && !worker->desk->violated) {
        struct swarm_limits limits = hunt->limits;
        uint64_t index = atomic_fetch_add(&office->next, 1);
        if (index >= hunt->seeds)
            return;
        limits.seed += index;
        run_world(worker->desk, &limits, false, hunt->cpu_limit_ns);
        atomic_fetch_add(&office->done, 1);
    }
}

static void show_progress(struct swarm_hunt *hunt)
{
    double elapsed_s = (double)(progress_now_ns() - hunt->started_ns) / (double)NS_PER_S;
    double share = (double)hunt->done / (double)hunt->seeds;
    struct progress_state state = {
        .done = hunt->done,
        .total = hunt->seeds,
        .failed = hunt->failed,
        .eta_s = hunt->done > 0 ? elapsed_s / share - elapsed_s : -1.0,
    };
    progress_show(&hunt->progress, &state);
}

static void note_failure(struct swarm_hunt *hunt, const struct swarm_failure *failure)
{
    if (hunt->failed++ >= HUNT_FAILURES_MAX)
        return;
    hunt->failures[hunt->failed - 1] = *failure;
    progress_clear(&hunt->progress);
    hunt->failed_one(hunt, failure);
}

/* A worker's process ended: because there was no more to do, or with a failure. Then its desk is
 * cleared for the next. */
static void note_end(struct swarm_hunt *hunt, struct office *office, struct desk *desk,
                     struct child_death *death)
{
    struct swarm_failure failure;
    settle_death(desk, death);
    if (is_failure(desk, death, &hunt->limits, hunt->cpu_limit_ns, &failure)) {
        note_failure(hunt, &failure);
        if (hunt->failed >= HUNT_FAILURES_MAX)
            atomic_store(&office->closed, true);
        if (!desk->violated)
            atomic_fetch_add(&office->done, 1);
        atomic_store(&desk->busy, false);
        desk->violated = false;
    } else if (death->end != CHILD_DONE) {
        progress_clear(&hunt->progress);
        cli_error(CLI_FAILED, "a process of the swarm, in none of its worlds, %s", death->text);
        hunt->astray = true;
    }
}

static bool is_open(const struct swarm_hunt *hunt, struct office *office)
{
    return !atomic_load(&office->closed) && !hunt->astray &&
           atomic_load(&office->next) < hunt->seeds;
}

/* Starts a process wherever there is none, as long as there are seeds. Returns how many run. */
static size_t man_desks(struct swarm_hunt *hunt, struct office *office,
                        struct swarm_child *children)
{
    size_t running = 0;
    for (size_t i = 0; i < hunt->jobs; i++) {
        struct worker worker = {hunt, office, &office->desks[i]};
        if (children[i].pid != 0 ||
            (is_open(hunt, office) && swarm_child_start(&children[i], work, &worker)))
            running++;
    }
    if (running == 0 && is_open(hunt, office)) {
        cli_error(CLI_FAILED, "cannot start a process for worlds: %s", strerror(errno));
        hunt->astray = true;
    }
    return running;
}

static void run_office(struct swarm_hunt *hunt, struct office *office, struct swarm_child *children)
{
    while (man_desks(hunt, office, children) > 0) {
        swarm_child_wait(children, hunt->jobs, WAIT_MS);
        for (size_t i = 0; i < hunt->jobs; i++) {
            struct child_death death;
            if (children[i].pid != 0 && swarm_child_ended(&children[i], &death))
                note_end(hunt, office, &office->desks[i], &death);
        }
        hunt->done = atomic_load(&office->done);
        show_progress(hunt);
    }
    for (size_t i = 0; i < hunt->jobs; i++)
        add_sums(&hunt->sums, &office->desks[i].sums);
}

uint64_t swarm_hunt_jobs(long cores)
{
    if (cores < 1)
        return 1; /* it cannot be told */
    return cores < HUNT_JOBS_MAX ? (uint64_t)cores : HUNT_JOBS_MAX;
}

void swarm_hunt_run(struct swarm_hunt *hunt)
{
    assert(hunt->jobs > 0 && hunt->jobs <= HUNT_JOBS_MAX);
    struct office *office = swarm_shared_make(sizeof(*office));
    struct swarm_child *children = calloc(hunt->jobs, sizeof(*children));
    hunt->started_ns = progress_now_ns();
    if (office != NULL && children != NULL) {
        run_office(hunt, office, children);
    } else {
        cli_error(CLI_FAILED, "no memory for %" PRIu64 " processes", hunt->jobs);
        hunt->astray = true;
    }
    progress_clear(&hunt->progress);
    free(children);
    if (office != NULL)
        swarm_shared_free(office, sizeof(*office));
}

/* ---- shrinking ---- */

static bool candidate_fails(void *context, const struct swarm_limits *limits)
{
    const int64_t *cpu_limit_ns = context;
    struct trial_of_one trial = {.limits = limits, .cpu_limit_ns = *cpu_limit_ns, .mute = true};
    struct swarm_failure failure;
    bool ran;
    return trial_fails(&trial, &failure, &ran);
}

struct swarm_limits swarm_failure_shrink(const struct swarm_failure *failure, int64_t cpu_limit_ns,
                                         uint32_t *runs)
{
    int64_t whole_ns = cpu_limit_ns;
    int64_t share_ns = failure->endless ? cpu_limit_ns / SHRINK_SHARE : cpu_limit_ns;
    struct swarm_limits small = swarm_shrink(&failure->limits, candidate_fails, &share_ns, runs);
    /* It may have been slow only, where all is: then the hard way. */
    if (failure->endless && !candidate_fails(&whole_ns, &small)) {
        uint32_t more;
        small = swarm_shrink(&failure->limits, candidate_fails, &whole_ns, &more);
        *runs += more;
    }
    return small;
}
