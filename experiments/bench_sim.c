/* bench_sim.c - the benchmarks of `lakestream bench sim`. */
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/bench.h"
#include "experiments/cli.h"
#include "experiments/trials/progress.h"
#include "experiments/trials/recorder.h"
#include "experiments/trials/runner.h"
#include "experiments/trials/simulate.h"
#include "sim/mm1.h"
#include "sim/yardstick.h"

#define FROZEN "configs/bench/p1.yaml"
#define LARGE "configs/bench/scale.yaml"
#define REPEATS 5
#define TARGET_SPEED 45000.0  /* simulated seconds per second */
#define TARGET_EVENTS 10e6    /* events/s at 1,024 producers */
#define TARGET_RESIDENT 512.0 /* MB */
#define TARGET_LARGE_CPU 300.0
#define TARGET_LARGE_RESIDENT 2000.0
#define LARGE_LIVE 1000000.0 /* steps in its newest version from its half on, at least */

/* One timed run of the frozen configuration. */
struct timing {
    double wall_s; /* best of all repeats */
    uint64_t handled;
    uint64_t digest;
    uint64_t violations;
};

static bool load_file(const char *file, struct overrides overrides, struct experiment *experiment)
{
    char path[CONFIG_PATH_MAX];
    struct diagnostic diagnostic;
    if (!cli_data_find(file, path))
        return false;
    if (experiment_load(path, overrides, experiment, &diagnostic))
        return true;
    cli_error(CLI_FAILED, "%s", diagnostic.text);
    return false;
}

static bool load(struct overrides overrides, struct experiment *experiment)
{
    return load_file(FROZEN, overrides, experiment);
}

static struct timing measure(const struct config *config, unsigned reference, int repeats)
{
    struct simulation_options options;
    simulate_options_of(config, config->seed, &options);
    options.reference = reference;
    struct timing timing = {.wall_s = INFINITY};
    for (int i = 0; i < repeats; i++) {
        struct simulation_result result;
        int64_t start_ns = progress_now_ns();
        simulation_run(&options, &result);
        double wall_s = (double)(progress_now_ns() - start_ns) / 1e9;
        timing.wall_s = fmin(timing.wall_s, wall_s);
        timing.handled = result.handled;
        timing.digest = result.digest;
        timing.violations += result.violations.count + result.ended;
    }
    return timing;
}

static enum bench_verdict at_least(double value, double target)
{
    return value >= target ? BENCH_MEETS : BENCH_MISSES;
}

static void report_events(struct bench *bench, const char *name, const struct timing *timing,
                          double target)
{
    double per_s = (double)timing->handled / timing->wall_s;
    bench_report(bench,
                 &(struct bench_row){name, "events/s", per_s, target,
                                     isnan(target) ? BENCH_INFORMS : at_least(per_s, target), ""});
    bench_report(bench, &(struct bench_row){"", "ns/event", 1e9 / per_s, NAN, BENCH_INFORMS, ""});
}

static void report_yardstick(struct bench *bench, const char *name, uint32_t timers,
                             const char *note)
{
    struct yardstick_options options = {.timers = timers, .events = 4000000, .seed = 1};
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        struct yardstick_result result;
        yardstick_run(&options, progress_now_ns, &result);
        best = fmin(best, result.ns_per_event);
    }
    bench_report(bench, &(struct bench_row){name, "ns/event", best, NAN, BENCH_INFORMS, note});
}

bool bench_yardstick(struct bench *bench)
{
    report_yardstick(bench, "yardstick", 128, "a bare heap + lognormal + hash loop");
    return true;
}

bool bench_mm1(struct bench *bench)
{
    struct mm1_options options = {
        .arrivals_per_s = 0.8, .services_per_s = 1, .seed = 1, .customers = 2000000};
    struct mm1_result result;
    mm1_run(&options, &result);
    /* Three half widths: a right program is called wrong less than once in 10^8 seeds. */
    bool right = fabs(result.wait_s - result.wait_exact_s) <= 3 * result.wait_half_width;
    char note[96];
    snprintf(note, sizeof(note), "closed form %.4f, 95 %% half width %.4f", result.wait_exact_s,
             result.wait_half_width);
    bench_report(bench, &(struct bench_row){"M/M/1 mean wait", "s", result.wait_s, NAN,
                                            right ? BENCH_MEETS : BENCH_WRONG, note});
    return true;
}

bool bench_p1(struct bench *bench)
{
    struct experiment experiment;
    if (!load((struct overrides){0}, &experiment))
        return false;
    const struct config *config = &experiment.arms[0].config;
    struct timing timing = measure(config, 0, REPEATS);
    double speed = (double)config->run.duration_ns / 1e9 / timing.wall_s;
    enum bench_verdict verdict =
        timing.violations > 0 ? BENCH_WRONG : at_least(speed, TARGET_SPEED);
    bench_report(bench,
                 &(struct bench_row){"P1, 32 producers, 5 h", "simulated s/s", speed, TARGET_SPEED,
                                     verdict, "one core, best of five, links and checkers on"});
    report_events(bench, "", &timing, NAN);
    experiment_deinit(&experiment);
    return true;
}

bool bench_reference(struct bench *bench)
{
    static const char *const texts[] = {"run.duration=30min", "run.warmup=1min"};
    struct experiment experiment;
    if (!load((struct overrides){2, texts}, &experiment))
        return false;
    const struct config *config = &experiment.arms[0].config;
    struct timing fast = measure(config, 0, 1);
    struct timing slow = measure(config, REFERENCE_ALL, 1);
    char note[96];
    bool same = fast.digest == slow.digest && fast.violations + slow.violations == 0;
    snprintf(note, sizeof(note), "digest %016llx, reference mode %016llx, 30 min",
             (unsigned long long)fast.digest, (unsigned long long)slow.digest);
    bench_report(bench,
                 &(struct bench_row){"reference mode", "times slower", slow.wall_s / fast.wall_s,
                                     NAN, same ? BENCH_MEETS : BENCH_WRONG, note});
    experiment_deinit(&experiment);
    return true;
}

bool bench_scale(struct bench *bench)
{
    static const char *const texts[] = {"run.duration=1h", "run.warmup=1min",
                                        "workload.producers=1024", "store.bandwidth=40GB/s",
                                        "commit.active_versions=8192"};
    struct experiment experiment;
    if (!load((struct overrides){5, texts}, &experiment))
        return false;
    const struct config *config = &experiment.arms[0].config;
    report_yardstick(bench, "yardstick, 2,048 timers", 2048, "about as many as below");
    struct timing timing = measure(config, 0, REPEATS);
    report_events(bench, "1,024 producers, 1 h", &timing, TARGET_EVENTS);
    double speed = (double)config->run.duration_ns / 1e9 / timing.wall_s;
    bench_report(bench, &(struct bench_row){"", "simulated s/s", speed, NAN, BENCH_INFORMS, ""});
    if (timing.violations > 0)
        bench_report(bench, &(struct bench_row){"1,024 producers, 1 h", "violations",
                                                (double)timing.violations, 0, BENCH_WRONG, ""});
    experiment_deinit(&experiment);
    return true;
}

/* Peak of a child that does one run: this process's own peak would include the runs before. */
static double resident_mb(const struct config *config)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return NAN;
    if (child == 0) {
        struct run_results results = {0};
        char error[RUNNER_ERROR_MAX];
        _exit(simulate_once(config, config->seed, &results, error) == 0 ? 0 : 1);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        return NAN;
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* What one run in a child of its own takes. */
struct child_run {
    struct simulation_result result;
    uint64_t live; /* steps in the newest version, the fewest of all samples */
    double cpu_s;
    double resident_mb;
};

static void take_live(void *context, const struct simulation_sample *sample)
{
    struct child_run *run = context;
    if (sample->live < run->live)
        run->live = sample->live;
}

static void run_in_child(const struct config *config, struct child_run *run, int file)
{
    struct simulation_options options;
    simulate_options_of(config, config->seed, &options);
    options.sampled = take_live;
    options.sample_ns = options.duration_ns / 2;
    options.context = run;
    run->live = UINT64_MAX;
    simulation_run(&options, &run->result);
    _exit(write(file, run, sizeof(*run)) == (ssize_t)sizeof(*run) ? 0 : 1);
}

/* False: the child did not come to its end. */
static bool run_child(const struct config *config, struct child_run *run)
{
    int ends[2];
    *run = (struct child_run){0};
    fflush(NULL);
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        run_in_child(config, run, ends[1]);
    close(ends[1]);
    bool whole = child > 0 && read(ends[0], run, sizeof(*run)) == (ssize_t)sizeof(*run);
    close(ends[0]);
    int status = 0;
    struct rusage usage = {0};
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    run->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    run->resident_mb = (double)usage.ru_maxrss * 1024 / 1e6;
    return whole && status == 0;
}

static enum bench_verdict at_most(double value, double target)
{
    return value <= target ? BENCH_MEETS : BENCH_MISSES;
}

/* The large run: 1,024 producers, as many ranks, and in its second half a million live steps. */
static bool bench_large(struct bench *bench)
{
    struct experiment experiment;
    struct child_run run;
    if (!load_file(LARGE, (struct overrides){0}, &experiment))
        return false;
    bool whole = run_child(&experiment.arms[0].config, &run);
    bool right = whole && run.result.violations.count + run.result.ended == 0 &&
                 run.result.ranks_ended == 0 && (double)run.live >= LARGE_LIVE;
    char note[VIOLATION_TEXT_MAX + 96];
    snprintf(note, sizeof(note), "%.2f M steps live after 1 h, %.2f M given, %.1f M events, %s",
             (double)run.live / 1e6, (double)run.result.given / 1e6,
             (double)run.result.handled / 1e6,
             run.result.violations.count > 0 ? run.result.violations.first : "no violation");
    bench_report(bench,
                 &(struct bench_row){
                     "1,024 producers and ranks", "CPU s for 2 h", run.cpu_s, TARGET_LARGE_CPU,
                     right ? at_most(run.cpu_s, TARGET_LARGE_CPU) : BENCH_WRONG, note});
    bench_report(bench,
                 &(struct bench_row){"", "MB at most", run.resident_mb, TARGET_LARGE_RESIDENT,
                                     at_most(run.resident_mb, TARGET_LARGE_RESIDENT), ""});
    experiment_deinit(&experiment);
    return true;
}

bool bench_memory(struct bench *bench)
{
    static const char *const texts[] = {"policy.name=fixed", "policy.fixed.gap=1s"};
    struct experiment experiment;
    if (!load((struct overrides){2, texts}, &experiment))
        return false;
    double peak = resident_mb(&experiment.arms[0].config);
    enum bench_verdict verdict = isnan(peak)               ? BENCH_WRONG
                                 : peak <= TARGET_RESIDENT ? BENCH_MEETS
                                                           : BENCH_MISSES;
    bench_report(bench, &(struct bench_row){"peak memory, fixed 1 s", "MB", peak, TARGET_RESIDENT,
                                            verdict, "P1 with the policy that commits most often"});
    experiment_deinit(&experiment);
    return bench_large(bench);
}
