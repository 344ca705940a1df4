/* live_verb.c - `lakestream live`: every arm and seed of an experiment for real, one after the
 * other. Ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "experiments/cli.h"
#include "experiments/config/options.h"
#include "experiments/live/live_earlier.h"
#include "experiments/live/live_follow.h"
#include "experiments/live/live_gate.h"
#include "experiments/live/live_lead.h"
#include "experiments/live/live_place.h"
#include "experiments/live/live_run.h"
#include "experiments/trials/arm_record.h"
#include "experiments/verbs.h"

struct live_task {
    const struct arm *arm;
    uint64_t seed;
};

struct live_sweep {
    const struct cli *cli;
    const struct experiment *experiment;
    struct live_task *tasks;
    size_t task_count;
    uint64_t *runs; /* of each arm, among the tasks */
    size_t done;    /* in the database */
    struct live_signals signals;
    struct live_lead lead; /* of the other ranks, if there are any */
    struct live_cap cap;
    struct live_cost cost; /* of the runs that are over, of all ranks */
    char machine[RESULTS_MACHINE_MAX];
    struct live_place place; /* of the latest run; empty before the first */
    char store[LIVE_URL_MAX + LIVE_ENDPOINT_MAX + 8]; /* the same, for the database */
};

/* ---- checks before anything starts ---- */

static int check_arm(const struct live_sweep *sweep, const struct arm *arm)
{
    const struct config *config = &arm->config;
    char error[STORE_ERROR_MAX];
    char text[LIVE_RANKS_TEXT_MAX];
    if (config->live.store[0] == '\0' && sweep->cli->resume == NULL)
        return cli_error(CLI_USAGE,
                         "%s: live.store is not set, so where to commit is unknown; give --store "
                         "file://DIR or s3://BUCKET/PREFIX, or set it in the file",
                         sweep->cli->operands[0]);
    if (sweep->cli->resume == NULL && store_url_check(config->live.store, error) != OPEN_OK)
        return cli_error(CLI_USAGE, "arm %s: live.store: %s", arm->name, error);
    if (!live_ranks_fit(sweep->lead.ranks, config->workload.producers, text))
        return cli_error(CLI_USAGE, "arm %s: %s", arm->name, text);
    return CLI_DONE;
}

static uint64_t count_runs(const struct experiment *experiment)
{
    uint64_t count = 0;
    for (size_t i = 0; i < experiment->arm_count; i++)
        count += experiment->arms[i].config.seeds;
    return count;
}

static int check(const struct live_sweep *sweep)
{
    uint64_t count = count_runs(sweep->experiment);
    for (size_t i = 0; i < sweep->experiment->arm_count; i++) {
        int status = check_arm(sweep, &sweep->experiment->arms[i]);
        if (status != CLI_DONE)
            return status;
    }
    if (sweep->cli->resume != NULL && count != 1)
        return cli_error(CLI_USAGE,
                         "--resume goes on with one run, but this asks for %llu: choose it with "
                         "--arm NAME, --seeds 1 and --set seed=N",
                         (unsigned long long)count);
    return CLI_DONE;
}

static struct arm *find_arm(const struct experiment *experiment, const char *name)
{
    for (size_t i = 0; i < experiment->arm_count; i++)
        if (strcmp(experiment->arms[i].name, name) == 0)
            return &experiment->arms[i];
    return NULL;
}

/* --resume goes on with the very run that made the folder: its arm and seed, which must be among
 * those asked for. A marker that does not say leaves the choice to the flags. */
static int choose_resumed(const struct cli *cli, struct experiment *experiment)
{
    struct live_identity run;
    char error[LIVE_PLACE_TEXT_MAX];
    enum open_result result =
        live_place_identify(&experiment->arms[0].config, cli->resume, &run, error);
    if (result != OPEN_OK)
        return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    if (run.experiment[0] == '\0')
        return CLI_DONE;
    if (strcmp(run.experiment, experiment->name) != 0)
        return cli_error(CLI_USAGE,
                         "--resume: %s is a run of the experiment %s, but %s is %s; give that "
                         "experiment's config",
                         cli->resume, run.experiment, cli->operands[0], experiment->name);
    struct arm *arm = find_arm(experiment, run.arm);
    if (arm == NULL)
        return cli_error(CLI_USAGE,
                         "--resume: %s is a run of the arm %s, which is not among those asked for; "
                         "leave --arm out, or give that run's config and --set",
                         cli->resume, run.arm);
    struct config *config = &arm->config;
    bool asked = config->origins[option_index(option_find("seed"))].kind == ORIGIN_SET;
    if (asked && (run.seed < config->seed || run.seed - config->seed >= config->seeds))
        return cli_error(CLI_USAGE,
                         "--resume: %s is the run of seed %llu, which is not among those asked "
                         "for; leave --set seed out",
                         cli->resume, (unsigned long long)run.seed);
    config->seed = run.seed;
    config->seeds = 1;
    if (arm != experiment->arms)
        experiment->arms[0] = *arm;
    experiment->arm_count = 1;
    return CLI_DONE;
}

static struct results_run describe(const struct live_sweep *sweep, const struct live_task *task,
                                   const struct arm_record *record, const char *started)
{
    return (struct results_run){
        .experiment = sweep->experiment->name,
        .arm = record->arm.name,
        .arm_group = record->arm.group,
        .sweep_key = record->arm.sweep_key,
        .sweep_value = record->arm.sweep_value,
        .mode = RESULTS_LIVE,
        .store = sweep->store,
        .config_hash = record->hash,
        .config = record->config,
        .seed = task->seed,
        .commit = LAKESTREAM_COMMIT,
        .started = started,
        .machine = sweep->machine,
    };
}

/* Fills the tasks; with --missing without those that the database holds. The database is opened to
 * write, so that a read-only one is found before hours of work, and closed: no connection may pass
 * a fork. */
static int plan(struct live_sweep *sweep)
{
    char message[RESULTS_MESSAGE_MAX];
    struct results_db *db = NULL;
    if (!cli_make_parent(sweep->cli->db))
        return CLI_FAILED;
    if (results_open(sweep->cli->db, RESULTS_WRITE, &db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    enum results_error error = RESULTS_OK;
    struct live_earlier earlier = {0};
    sweep->tasks = calloc(count_runs(sweep->experiment), sizeof(*sweep->tasks));
    sweep->runs = calloc(sweep->experiment->arm_count, sizeof(*sweep->runs));
    assert(sweep->tasks != NULL && sweep->runs != NULL);
    for (size_t i = 0; i < sweep->experiment->arm_count && error == RESULTS_OK; i++) {
        const struct arm *arm = &sweep->experiment->arms[i];
        struct arm_record record;
        arm_record_init(&record, arm);
        for (uint64_t j = 0; j < arm->config.seeds && error == RESULTS_OK; j++) {
            struct live_task task = {.arm = arm, .seed = arm->config.seed + j};
            struct results_run run = describe(sweep, &task, &record, "");
            bool has = false;
            error = results_has(db, &run, &has, message);
            if (has && sweep->cli->missing)
                continue;
            sweep->tasks[sweep->task_count++] = task;
            sweep->runs[i]++;
            if (error == RESULTS_OK)
                error = live_earlier_add(db, &run, &earlier, message);
        }
        arm_record_deinit(&record);
    }
    results_close(db);
    if (error != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    live_earlier_warn(&earlier, sweep->cli, sweep->task_count);
    return CLI_DONE;
}

/* ---- whether to start ---- */

static int pass_gate(const struct live_sweep *sweep)
{
    const struct live_gate_options options = {
        .experiment = sweep->experiment,
        .runs = sweep->runs,
        .cap = sweep->cap,
        .resume = sweep->cli->resume,
    };
    char error[LIVE_GATE_TEXT_MAX];
    enum open_result result = live_gate_pass(&options, stderr, error);
    if (result == OPEN_OK)
        return CLI_DONE;
    return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "not started: %s", error);
}

/* ---- one run ---- */

static int keep(struct live_sweep *sweep, const struct live_task *task, const char *started,
                const struct run_results *results)
{
    char message[RESULTS_MESSAGE_MAX];
    struct results_db *db = NULL;
    struct arm_record record;
    struct live_earlier earlier = {0};
    enum results_error error = results_open(sweep->cli->db, RESULTS_WRITE, &db, message);
    arm_record_init(&record, task->arm);
    struct results_run run = describe(sweep, task, &record, started);
    if (error == RESULTS_OK)
        error = live_earlier_add(db, &run, &earlier, message);
    if (error == RESULTS_OK)
        error = results_write(db, &run, results, message);
    if (error == RESULTS_OK)
        live_earlier_tell(&earlier, sweep->cli, &run);
    results_close(db);
    arm_record_deinit(&record);
    if (error == RESULTS_OK) {
        sweep->done++;
        return CLI_DONE;
    }
    return cli_error(CLI_FAILED,
                     "%s; the run is complete, but not in the database: its chain is %s", message,
                     sweep->place.url);
}

/* The command that was given, for this sweep's other runs. The caller frees it. */
static char *others_command(const struct live_sweep *sweep)
{
    return cli_command(sweep->cli, CLI_RESUME | CLI_MISSING | CLI_TOKEN);
}

/* What was reached, and how to go on. One line each. */
static void say_unfinished(const struct live_sweep *sweep, const struct live_report *report,
                           const char *what)
{
    cli_error(CLI_FAILED,
              "%s after %.1f s: %llu batches (%.1f MB) by %llu commits are in the chain %s, which "
              "is valid; this run is not in the database",
              what, report->wall_s, (unsigned long long)report->batches,
              (double)report->bytes / 1e6, (unsigned long long)report->won, sweep->place.url);
    char *same = cli_command(sweep->cli, CLI_STORE | CLI_RESUME | CLI_MISSING | CLI_TOKEN);
    fprintf(stderr, "to go on with it: %s --resume ", same);
    cli_print_quoted(stderr, sweep->place.url);
    fprintf(stderr, "\n");
    free(same);
    if (sweep->task_count > 1) {
        char *others = others_command(sweep);
        fprintf(stderr, "%zu of %zu runs are in %s; for the others: %s --missing\n", sweep->done,
                sweep->task_count, sweep->cli->db, others);
        free(others);
    }
}

static int64_t later_ns(const struct live_sweep *sweep, size_t index)
{
    int64_t sum_ns = 0;
    for (size_t i = index + 1; i < sweep->task_count; i++)
        sum_ns += sweep->tasks[i].arm->config.run.duration_ns;
    return sum_ns;
}

/* With the usual effect of signals: nothing is lost by one. */
static int find_place(struct live_sweep *sweep, const struct live_task *task)
{
    struct live_place_options options = {
        .experiment = sweep->experiment, .arm = task->arm, .seed = task->seed};
    char error[LIVE_PLACE_TEXT_MAX];
    enum open_result result;
    live_signals_close(&sweep->signals);
    if (sweep->cli->resume != NULL)
        result = live_place_resume(&options, sweep->cli->resume, &sweep->place, error);
    else
        result = live_place_claim(&options, &sweep->place, error);
    live_signals_open(&sweep->signals);
    if (result != OPEN_OK)
        return cli_error(result == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "%s", error);
    snprintf(sweep->store, sizeof(sweep->store), "%s%s%s", sweep->place.url,
             sweep->place.endpoint[0] != '\0' ? " at " : "", sweep->place.endpoint);
    return CLI_DONE;
}

static int run_task(struct live_sweep *sweep, size_t index)
{
    const struct live_task *task = &sweep->tasks[index];
    char name[192];
    char started[PROGRESS_TEXT_MAX];
    char duration[PROGRESS_TEXT_MAX];
    struct live_group *group = NULL;
    int status = find_place(sweep, task);
    if (status == CLI_DONE)
        status = live_lead_call(&sweep->lead, task->arm, task->seed, sweep->place.url, &group);
    if (status != CLI_DONE)
        return status;
    const struct config *config = &task->arm->config;
    snprintf(name, sizeof(name), "%.60s/%.80s seed %llu", sweep->experiment->name, task->arm->name,
             (unsigned long long)task->seed);
    progress_duration_text((double)config->run.duration_ns / 1e9, duration);
    fprintf(stderr, "%s: %llu producer%s for %s on %s\n", name,
            (unsigned long long)config->workload.producers,
            config->workload.producers == 1 ? "" : "s", duration, sweep->store);
    struct live_run_options options = {
        .config = config,
        .name = name,
        .url = sweep->place.url,
        .seed = task->seed,
        .resumed = sweep->cli->resume != NULL,
        .signals = &sweep->signals,
        .cap = sweep->cap,
        .before = sweep->cost,
        .group = group,
        .messages = stderr,
        .runs_done = index,
        .runs_total = sweep->task_count,
        .later_ns = later_ns(sweep, index),
    };
    struct run_results results = {0};
    struct live_report report;
    progress_time_text(started);
    enum live_outcome outcome = live_run(&options, &results, &report);
    switch (outcome) {
    case LIVE_COMPLETE:
        status = keep(sweep, task, started, &results);
        break;
    case LIVE_FAILED:
        cli_error(CLI_FAILED, "%s", report.text);
        say_unfinished(sweep, &report, "failed");
        status = CLI_FAILED;
        break;
    case LIVE_CAPPED:
        cli_error(CLI_FAILED, "%s", report.text);
        say_unfinished(sweep, &report, "stopped at a cap");
        status = CLI_FAILED;
        break;
    case LIVE_INTERRUPTED:
        say_unfinished(sweep, &report, "stopped as asked");
        status = CLI_FAILED;
        break;
    case LIVE_KILLED:
        say_unfinished(sweep, &report, "killed");
        status = 130;
        break;
    }
    live_cost_add(&sweep->cost, &report.cost, 1);
    run_results_deinit(&results);
    return status;
}

/* ---- all runs ---- */

static void print_flag(const char *flag, const char *value)
{
    if (value[0] == '\0')
        return;
    fprintf(stderr, " --%s ", flag);
    cli_print_quoted(stderr, value);
}

/* The command reaches the store as the run did, wherever the config says how. */
static void say_chain(const struct live_sweep *sweep, const struct config *config)
{
    fprintf(stderr, "its chain: ");
    cli_print_quoted(stderr, cli_program());
    fprintf(stderr, " inspect ");
    cli_print_quoted(stderr, sweep->place.url);
    if (sweep->place.endpoint[0] != '\0') {
        print_flag("endpoint", config->live.endpoint);
        print_flag("region", config->live.region);
        print_flag("profile", config->live.profile);
        print_flag("ca-file", config->live.ca_file);
        print_flag("style", config->live.style == S3_STYLE_AUTO   ? ""
                            : config->live.style == S3_STYLE_PATH ? "path"
                                                                  : "virtual");
    }
    fprintf(stderr, "\n");
}

static int say_stopped(const struct live_sweep *sweep)
{
    char *others = others_command(sweep);
    cli_error(CLI_FAILED,
              "stopped as asked: %zu of %zu runs are in %s; for the others: %s --missing",
              sweep->done, sweep->task_count, sweep->cli->db, others);
    free(others);
    return CLI_FAILED;
}

static int run_all(struct live_sweep *sweep)
{
    int status = CLI_DONE;
    results_machine_text(sweep->machine);
    live_signals_open(&sweep->signals);
    for (size_t i = 0; i < sweep->task_count && status == CLI_DONE; i++) {
        status = run_task(sweep, i);
        if (status == CLI_DONE)
            say_chain(sweep, &sweep->tasks[i].arm->config);
        if (status == CLI_DONE && i + 1 < sweep->task_count &&
            live_signals_take(&sweep->signals) > 0)
            status = say_stopped(sweep);
    }
    live_signals_close(&sweep->signals);
    return status;
}

static int run_live(const struct cli *cli, struct experiment *experiment,
                    const struct live_ranks *ranks)
{
    struct live_sweep sweep = {
        .cli = cli, .experiment = experiment, .cap = live_cap_of(experiment)};
    sweep.lead = live_lead_make(experiment, ranks, &sweep.signals);
    int status = cli->resume != NULL ? choose_resumed(cli, experiment) : CLI_DONE;
    if (status == CLI_DONE)
        status = check(&sweep);
    if (status == CLI_DONE)
        status = plan(&sweep);
    if (status == CLI_DONE && sweep.task_count == 0)
        fprintf(stderr, "all runs are in %s already\n", cli->db);
    else if (status == CLI_DONE)
        status = pass_gate(&sweep);
    if (status == CLI_DONE)
        status = run_all(&sweep);
    if (status != CLI_USAGE)
        live_lead_end(&sweep.lead, status);
    free(sweep.tasks);
    free(sweep.runs);
    return status == CLI_DONE ? cli_show_arms(cli, experiment) : status;
}

/* Rank 0 leads, the others follow. */
static int run_rank(const struct cli *cli, struct experiment *experiment)
{
    struct live_ranks_flags flags = {.rank = cli->rank, .ranks = cli->ranks, .token = cli->token};
    struct live_ranks ranks;
    char text[LIVE_RANKS_TEXT_MAX];
    if (!live_ranks_find(&flags, &ranks, text))
        return cli_error(CLI_USAGE, "%s", text);
    return ranks.rank == 0 ? run_live(cli, experiment, &ranks)
                           : live_follow(cli, experiment, &ranks);
}

int live_main(int argc, char **argv)
{
    struct cli cli = {
        .usage =
            "usage: lakestream live CONFIG [FLAGS]\n\n"
            "Runs every arm and seed of the experiment in CONFIG for real, one after the other:\n"
            "each producer is a process that makes bytes, uploads them and commits to the store\n"
            "live.store, for run.duration of real time. Every run gets a prefix of its own there.\n"
            "What it is expected to ask of the store, and to cost, is said first; above the caps\n"
            "(live.cap_dollars, live.cap_bytes, live.cap_requests) it does not start, or stops.\n"
            "Nor does it start on a store where two writers can create one key (see probe).\n"
            "The results go into the same database as simulated ones. Ctrl-C ends a run cleanly;\n"
            "its chain stays valid and can be gone on with by --resume, which takes the arm and\n"
            "the seed from that run.\n\n"
            "On several machines start the same command on each, by srun, by mpirun with --token, "
            "or\nby hand with --rank, --ranks and --token: they share workload.producers, start "
            "together\nand tell their results through the store; rank 0 writes the database. Their "
            "clocks must\nagree to within live.lead (NTP).",
        .flags = CLI_SET | CLI_SEEDS | CLI_DB | CLI_JSON | CLI_PRINT_CONFIG | CLI_ARM | CLI_STORE |
                 CLI_RESUME | CLI_MISSING | CLI_S3 | CLI_RANK | CLI_RANKS | CLI_TOKEN,
        .operand = "CONFIG",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.resume != NULL && cli.store != NULL)
        return cli_error(CLI_USAGE, "--resume names the folder already: leave --store out");
    if (cli.resume != NULL && strlen(cli.resume) >= LIVE_URL_MAX)
        return cli_error(CLI_USAGE, "--resume: longer than %d bytes", LIVE_URL_MAX - 1);
    struct experiment experiment;
    if (!cli_load_experiment(&cli, cli.operands[0], &experiment))
        return CLI_USAGE;
    int status =
        cli.print_config ? cli_print_configs(&cli, &experiment) : run_rank(&cli, &experiment);
    experiment_deinit(&experiment);
    return status;
}
