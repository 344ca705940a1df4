/* calibrate_verb.c - `lakestream calibrate`: measures a store, fits a profile, writes it. Ours. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/calibrate/calibrate_place.h"
#include "experiments/calibrate/calibrate_report.h"
#include "experiments/calibrate/calibrate_workers.h"
#include "experiments/cli.h"
#include "experiments/cli_store.h"
#include "experiments/live/live_request.h"
#include "experiments/verbs.h"

#define MIB (1024.0 * 1024.0)
/* Starting and ending a cell, seen on loopback; for the time that is said to be left. */
#define CELL_OVERHEAD_NS (CALIBRATE_START_NS + 30 * NS_PER_MS)

struct calibration {
    const struct cli *cli;
    struct live_session_options session;
    struct live_signals signals;
    struct calibrate_workers workers;
    struct calibrate_report report;
    char url[LIVE_URL_MAX];
    size_t measured;
};

static void say_load(const struct calibration *calibration)
{
    struct calibrate_bounds bounds = calibrate_plan_bounds(&calibration->report.plan);
    fprintf(stderr,
            "calibrate: below %s, which is emptied at the end: at most %llu requests by up to %d "
            "processes, %.0f MiB up, %.0f MiB down, in about %.0f s\n",
            calibration->url, (unsigned long long)bounds.requests, CALIBRATE_CLIENTS_MAX,
            (double)bounds.bytes_up / MIB, (double)bounds.bytes_down / MIB,
            (double)bounds.duration_ns / 1e9);
}

/* ---- measuring ---- */

/* By the time that was taken so far, once there is some. */
static double left_s(const struct calibrate_plan *plan, size_t done, int64_t begun_ns)
{
    size_t left = plan->count * plan->rounds - done;
    if (done < plan->count / 2)
        return (double)left * (double)(plan->cells[0].duration_ns + CELL_OVERHEAD_NS) / 1e9;
    return (double)left * (double)(progress_now_ns() - begun_ns) / (double)done / 1e9;
}

static enum calibrate_outcome measure_all(struct calibration *calibration,
                                          char error[CALIBRATE_ERROR_MAX])
{
    const struct calibrate_plan *plan = &calibration->report.plan;
    struct progress progress = progress_make(stderr, "calibrate");
    enum calibrate_outcome outcome = CALIBRATE_MEASURED;
    size_t total = plan->count * plan->rounds;
    int64_t begun_ns = progress_now_ns();
    progress.unit = "cells";
    for (size_t i = 0; i < total && outcome == CALIBRATE_MEASURED; i++) {
        struct progress_state state = {
            .done = i, .total = total, .eta_s = left_s(plan, i, begun_ns)};
        struct calibrate_cell cell =
            calibrate_plan_cell(plan, i % plan->count, (uint32_t)(i / plan->count));
        progress_show(&progress, &state);
        outcome = calibrate_workers_measure(&calibration->workers, &cell, &calibration->signals,
                                            &calibration->report.measured[i % plan->count], error);
        calibration->measured += outcome == CALIBRATE_MEASURED;
    }
    if (outcome == CALIBRATE_MEASURED)
        for (size_t i = 0; i < plan->count; i++)
            calibration->report.measured[i].per_s /= plan->rounds;
    progress_clear(&progress);
    return outcome;
}

/* Empties the prefix. Where nothing was measured and nobody interrupted that, the store could not
 * be written to: this was said, and nothing is to be emptied. */
static int clean(struct calibration *calibration)
{
    char error[CALIBRATE_ERROR_MAX];
    uint64_t deleted = 0;
    if (calibrate_place_clean(calibration->url, &calibration->session, &calibration->signals,
                              &deleted, error)) {
        fprintf(stderr, "calibrate: %llu objects deleted, nothing is left of %s\n",
                (unsigned long long)deleted, calibration->url);
        return CLI_DONE;
    }
    if (calibration->measured == 0 && calibration->signals.count == 0)
        return CLI_FAILED;
    return cli_error(CLI_FAILED,
                     "calibrate: objects may be left below %s: %s; delete them by lakestream "
                     "remove --force",
                     calibration->url, error);
}

static int measure(struct calibration *calibration)
{
    char error[CALIBRATE_ERROR_MAX] = "";
    int64_t begun_ns = progress_now_ns();
    progress_time_text(calibration->report.started);
    if (!calibrate_workers_start(&calibration->workers, error))
        return cli_error(CLI_FAILED, "calibrate: %s", error);
    enum calibrate_outcome outcome = measure_all(calibration, error);
    calibrate_workers_stop(&calibration->workers);
    calibration->report.wall_s = (double)(progress_now_ns() - begun_ns) / 1e9;
    if (outcome == CALIBRATE_FAILED)
        cli_error(CLI_FAILED, "calibrate: %s", error);
    if (outcome == CALIBRATE_INTERRUPTED)
        cli_error(CLI_FAILED, "calibrate: stopped as asked, nothing was written; cleaning up; once "
                              "more ends at once");
    int status = clean(calibration);
    if (outcome == CALIBRATE_MEASURED && live_signals_take(&calibration->signals) > 0)
        return cli_error(CLI_FAILED, "calibrate: stopped as asked, nothing was written");
    return outcome == CALIBRATE_MEASURED ? status : CLI_FAILED;
}

/* ---- writing ---- */

static int write_profile(const struct calibration *calibration)
{
    const char *path = calibration->cli->out;
    if (path == NULL) {
        if (!calibration->cli->json)
            calibrate_report_yaml(&calibration->report, stdout);
        return CLI_DONE;
    }
    if (!cli_make_parent(path))
        return CLI_FAILED;
    FILE *file = fopen(path, "we");
    bool written = file != NULL;
    if (written) {
        calibrate_report_yaml(&calibration->report, file);
        written = fflush(file) == 0 && !ferror(file);
        written = fclose(file) == 0 && written;
    }
    if (!written)
        return cli_error(CLI_FAILED, "cannot write %s: %s; choose another file by --out", path,
                         strerror(errno));
    fprintf(stderr, "calibrate: the profile is %s; use it by --set store.profile=PATH\n", path);
    return CLI_DONE;
}

static int say(const struct calibration *calibration)
{
    calibrate_report_headline(&calibration->report, stderr);
    if (calibration->cli->json) {
        json_t *json = calibrate_report_json(&calibration->report);
        json_dumpf(json, stdout, JSON_INDENT(2));
        json_decref(json);
        printf("\n");
    }
    if (fflush(stdout) == 0)
        return CLI_DONE;
    return cli_error(CLI_FAILED, "cannot write the output; is the disk full?");
}

/* ---- the verb ---- */

static int calibrate(struct calibration *calibration)
{
    struct calibrate_report *report = &calibration->report;
    const struct cli *cli = calibration->cli;
    char error[STORE_ERROR_MAX];
    report->store = cli->operands[0];
    report->effort = cli->quick ? CALIBRATE_QUICK : CALIBRATE_FULL;
    calibrate_plan_make(report->effort, &report->plan);
    calibrate_machine_text(report->machine);
    calibration->session.access = DIRECTORY_WRITE;
    calibration->workers.url = calibration->url;
    calibration->workers.options = &calibration->session;
    enum open_result reached = live_reach(calibration->url, &calibration->session, error);
    if (reached != OPEN_OK)
        return cli_error(reached == OPEN_BAD_INPUT ? CLI_USAGE : CLI_FAILED, "calibrate: %s",
                         error);
    say_load(calibration);
    live_signals_open(&calibration->signals);
    int status = measure(calibration);
    live_signals_close(&calibration->signals);
    if (status != CLI_DONE)
        return status;
    fprintf(stderr, "calibrate: fitting\n");
    config_default(&report->config);
    calibrate_fit_run(&report->plan, report->measured, &report->config, &report->fit);
    status = write_profile(calibration);
    return status == CLI_DONE ? say(calibration) : status;
}

int calibrate_main(int argc, char **argv)
{
    char error[STORE_ERROR_MAX];
    static const struct cli_help helps[] = {
        {CLI_OUT, "FILE", "where the profile goes (default: printed)"},
        {CLI_QUICK, NULL, "a smaller load, about 15 s"},
        {0},
    };
    struct cli cli = {
        .usage =
            "usage: lakestream calibrate STORE [FLAGS]\n\n"
            "Measures the latencies of a store - by verb, size and clients at once, and what "
            "creates\n"
            "that want one name do to each other - and writes them as a profile that the "
            "simulator\n"
            "reads (store.profile), with what it predicts beside what was measured. The load is "
            "said\n"
            "first and bounded: about a minute, with --quick about 15 s. Works below a prefix of "
            "its\n"
            "own, which is emptied at the end, on Ctrl-C too; a second one ends that. The clients\n"
            "are processes of this machine: where the store runs on it as well, they share its\n"
            "processors, as producers of a live run would.\n\n"
            "  lakestream calibrate s3://bucket --endpoint http://127.0.0.1:7480 --out rgw.yaml",
        .flags = CLI_OUT | CLI_JSON | CLI_QUICK | CLI_S3,
        .helps = helps,
        .operand = "STORE",
        .operands_min = 1,
        .operands_max = 1,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    struct calibration *calibration = calloc(1, sizeof(*calibration));
    assert(calibration != NULL);
    calibration->cli = &cli;
    int status = CLI_USAGE;
    if (store_url_check(cli.operands[0], error) != OPEN_OK)
        cli_error(CLI_USAGE, "calibrate: %s", error);
    else if (!calibrate_place_choose(cli.operands[0], calibration->url))
        cli_error(CLI_USAGE, "calibrate: the store's address is too long");
    else if (cli_s3_options(&cli, 0, &calibration->session.s3))
        status = calibrate(calibration);
    calibrate_report_deinit(&calibration->report);
    free(calibration);
    return status;
}
