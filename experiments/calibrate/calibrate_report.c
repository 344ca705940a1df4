/* calibrate_report.c - see calibrate_report.h. Ours. */
#include "experiments/calibrate/calibrate_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "build_info.h"
#include "experiments/config/options.h"
#include "experiments/results/results.h"

#define KEY_MAX 64
#define MIB (1024.0 * 1024.0)

static const struct {
    enum store_verb verb;
    const char *name; /* in keys */
} verb_names[] = {
    {STORE_GET, "get"},   {STORE_PUT, "put"},       {STORE_PUT_IF_ABSENT, "create"},
    {STORE_LIST, "list"}, {STORE_DELETE, "delete"},
};

void calibrate_machine_text(char text[CALIBRATE_MACHINE_MAX])
{
    char machine[RESULTS_MACHINE_MAX];
    struct utsname kernel;
    results_machine_text(machine);
    const char *after_host = strstr(machine, ", ");
    int failed = uname(&kernel);
    assert(failed == 0);
    /* Without what a builder of kernels puts behind the version. */
    snprintf(text, CALIBRATE_MACHINE_MAX, "%.150s, %.32s %.*s",
             after_host != NULL ? after_host + 2 : machine, kernel.sysname,
             (int)strcspn(kernel.release, "-"), kernel.release);
}

/* ---- what deviates ---- */

static double percent_off(double predicted, double measured)
{
    return measured > 0.0 ? 100.0 * (predicted / measured - 1.0) : 0.0;
}

struct cell_text {
    double per_s_off; /* per cent */
    double median_off;
    double lost_off; /* points */
};

static struct cell_text deviation_of(const struct calibrate_report *report, size_t index)
{
    const struct calibrate_result *measured = &report->measured[index];
    const struct calibrate_result *predicted = &report->fit.predicted[index];
    return (struct cell_text){
        .per_s_off = percent_off(predicted->per_s, measured->per_s),
        .median_off =
            percent_off(calibrate_quantile(predicted, 0.5), calibrate_quantile(measured, 0.5)),
        .lost_off = 100.0 * (calibrate_lost_share(predicted) - calibrate_lost_share(measured)),
    };
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

void calibrate_report_headline(const struct calibrate_report *report, FILE *file)
{
    double rates[CALIBRATE_CELLS_MAX];
    double medians[CALIBRATE_CELLS_MAX];
    size_t count = report->plan.count;
    for (size_t i = 0; i < count; i++) {
        struct cell_text off = deviation_of(report, i);
        rates[i] = fabs(off.per_s_off);
        medians[i] = fabs(off.median_off);
    }
    qsort(rates, count, sizeof(rates[0]), compare);
    qsort(medians, count, sizeof(medians[0]), compare);
    fprintf(file,
            "predicted against measured, %zu cells: requests/s off by %.1f %% in the median and "
            "%.1f %% at most, median latencies by %.1f %% and %.1f %%\n",
            count, rates[count / 2], rates[count - 1], medians[count / 2], medians[count - 1]);
}

/* ---- YAML ---- */

static void print_value(const struct calibrate_report *report, const char *verb, const char *name,
                        FILE *file)
{
    char key[KEY_MAX];
    char text[OPTION_TEXT_MAX];
    snprintf(key, sizeof(key), "store.%s%s%s", verb, *verb ? "." : "", name);
    const struct option *option = option_find(key);
    assert(option != NULL);
    option_print(&report->config, option, text);
    if (*text != '\0')
        fprintf(file, "%s%s: %s\n", *verb ? "    " : "  ", name, text);
}

static void print_shape(const struct calibrate_report *report, enum store_verb verb, FILE *file)
{
    const struct calibrate_shape *shape = &report->fit.shapes[verb];
    fprintf(file, "    # %llu requests of one client alone.", (unsigned long long)shape->samples);
    if (report->config.store.latency[verb].sigma > 0)
        fprintf(file, " Against the lognormal, p95 is %+.0f %%, p99 %+.0f %%%s.",
                100 * shape->p95_off, 100 * shape->p99_off,
                shape->table ? ": the table stands in its place" : "");
    fprintf(file, "\n");
}

static void print_alone(const struct calibrate_report *report, enum store_verb verb, FILE *file)
{
    for (size_t i = 0; i < report->plan.count; i++) {
        const struct calibrate_cell *cell = &report->plan.cells[i];
        const struct calibrate_result *result = &report->measured[i];
        char text[CALIBRATE_CELL_TEXT_MAX];
        if (cell->work == CALIBRATE_CONTEND || cell->clients != 1 || cell->streams != 1 ||
            calibrate_work_verb(cell->work) != verb)
            continue;
        calibrate_cell_text(cell, text);
        fprintf(file, "    # %s: n %zu, p50 %.3f, p95 %.3f, p99 %.3f ms\n", text, result->count,
                calibrate_quantile(result, 0.5) / 1e6, calibrate_quantile(result, 0.95) / 1e6,
                calibrate_quantile(result, 0.99) / 1e6);
    }
}

static void print_verb(const struct calibrate_report *report, size_t index, FILE *file)
{
    enum store_verb verb = verb_names[index].verb;
    const char *name = verb_names[index].name;
    bool bytes = verb != STORE_LIST && verb != STORE_DELETE;
    fprintf(file, "  %s:\n", name);
    print_alone(report, verb, file);
    print_shape(report, verb, file);
    print_value(report, name, "base", file);
    if (bytes)
        print_value(report, name, "slope", file);
    print_value(report, name, "sigma", file);
    print_value(report, name, "quantiles", file);
    if (report->fit.saturated) {
        fprintf(file, "    # Of the processors that all requests share, store.cores.\n");
        print_value(report, name, "work", file);
        if (bytes)
            print_value(report, name, "work_rate", file);
    }
    if (verb != STORE_PUT_IF_ABSENT)
        return;
    fprintf(file, "    # Creates that contend for one chain; docs/calibration.md tells what these "
                  "four mean.\n");
    print_value(report, name, "wait", file);
    print_value(report, name, "collision", file);
    print_value(report, name, "collision_time", file);
    print_value(report, name, "refused_early", file);
}

static void print_whole(const struct calibrate_report *report, FILE *file)
{
    const struct calibrate_fit *fit = &report->fit;
    if (fit->saturated)
        fprintf(file,
                "  # Clients side by side got less than alone: the processors that server and "
                "clients share.\n");
    else
        fprintf(file,
                "  # %d clients side by side got as much each as one alone: no limit of "
                "processors was met.\n",
                CALIBRATE_CLIENTS_MAX);
    print_value(report, "", "cores", file);
    fprintf(file, "  # Fitted with the creates that contend.\n");
    print_value(report, "", "apply_fraction", file);
    fprintf(file, "  # Not measured: a read sees the state at its middle.\n");
    print_value(report, "", "read_fraction", file);
    fprintf(file, "  # The most that one client, and all together, were seen to move.\n");
    print_value(report, "", "client_bandwidth", file);
    print_value(report, "", "bandwidth", file);
    if (fit->throttled > 0)
        fprintf(file,
                "  # %llu requests were answered 503 or 429: what went through is the limit.\n",
                (unsigned long long)fit->throttled);
    else
        fprintf(file,
                "  # No 503 or 429 up to %.0f PUTs, creates and DELETEs, and %.0f GETs and LISTs a "
                "second.\n",
                fit->most_per_s, fit->most_get_per_s);
    print_value(report, "", "put_limit", file);
    print_value(report, "", "get_limit", file);
}

static void print_table(const struct calibrate_report *report, FILE *file)
{
    fprintf(file,
            "# What the simulator says of this profile, beside what was measured; per cent, "
            "of lost creates points.\n"
            "# %-28s %10s %10s %7s %10s %10s %7s %8s %7s %8s %8s\n",
            "cell", "req/s", "simulated", "off", "p50 ms", "simulated", "off", "lost %", "off",
            "mean ms", "simul.");
    for (size_t i = 0; i < report->plan.count; i++) {
        char text[CALIBRATE_CELL_TEXT_MAX];
        const struct calibrate_result *measured = &report->measured[i];
        const struct calibrate_result *predicted = &report->fit.predicted[i];
        struct cell_text off = deviation_of(report, i);
        calibrate_cell_text(&report->plan.cells[i], text);
        fprintf(file, "# %-28s %10.1f %10.1f %+7.1f %10.3f %10.3f %+7.1f", text, measured->per_s,
                predicted->per_s, off.per_s_off, calibrate_quantile(measured, 0.5) / 1e6,
                calibrate_quantile(predicted, 0.5) / 1e6, off.median_off);
        if (report->plan.cells[i].work == CALIBRATE_CONTEND)
            fprintf(file, " %8.1f %+7.1f %8.3f %8.3f", 100 * calibrate_lost_share(measured),
                    off.lost_off, calibrate_lost_time(measured) / 1e6,
                    calibrate_lost_time(predicted) / 1e6);
        fprintf(file, "\n");
    }
}

void calibrate_report_yaml(const struct calibrate_report *report, FILE *file)
{
    struct calibrate_bounds bounds = calibrate_plan_bounds(&report->plan);
    uint64_t requests = 0;
    for (size_t i = 0; i < report->plan.count; i++)
        requests += report->measured[i].requests;
    fprintf(file, "# Measured by lakestream calibrate%s at %s, commit %s.\n",
            report->effort == CALIBRATE_QUICK ? " --quick" : "", report->started,
            LAKESTREAM_COMMIT);
    fprintf(file, "# Store: %s\n# Clients: %d processes at most, on: %s\n", report->store,
            CALIBRATE_CLIENTS_MAX, report->machine);
    fprintf(file,
            "# %zu cells, in %u rounds, took %.0f s and %llu requests, at most %.0f MiB up and "
            "%.0f MiB down.\n"
            "# Latency of one operation = (base + bytes / slope) * factor, when it is alone.\n"
            "store:\n",
            report->plan.count, report->plan.rounds, report->wall_s, (unsigned long long)requests,
            (double)bounds.bytes_up / MIB, (double)bounds.bytes_down / MIB);
    for (size_t i = 0; i < sizeof(verb_names) / sizeof(verb_names[0]); i++)
        print_verb(report, i, file);
    print_whole(report, file);
    fprintf(file, "# Not measured: what requests cost. Fill in your store's prices, dollars per "
                  "1,000.\nprice:\n  put: 0\n  get: 0\n  list: 0\n  delete: 0\n");
    print_table(report, file);
    fprintf(file, "# ");
    calibrate_report_headline(report, file);
}

/* ---- JSON ---- */

static json_t *result_json(const struct calibrate_result *result)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:I}", "per_s", result->per_s, "p50_ms",
                     calibrate_quantile(result, 0.5) / 1e6, "p95_ms",
                     calibrate_quantile(result, 0.95) / 1e6, "p99_ms",
                     calibrate_quantile(result, 0.99) / 1e6, "lost_share",
                     calibrate_lost_share(result), "samples", (json_int_t)result->count);
}

static json_t *cell_json(const struct calibrate_report *report, size_t index)
{
    const struct calibrate_cell *cell = &report->plan.cells[index];
    const struct calibrate_result *measured = &report->measured[index];
    struct cell_text off = deviation_of(report, index);
    return json_pack("{s:s, s:I, s:i, s:i, s:o, s:o, s:f, s:f, s:f, s:I, s:I}", "work",
                     calibrate_work_name(cell->work), "bytes", (json_int_t)cell->bytes, "clients",
                     (int)cell->clients, "streams", (int)cell->streams, "measured",
                     result_json(measured), "predicted", result_json(&report->fit.predicted[index]),
                     "per_s_off_percent", off.per_s_off, "p50_off_percent", off.median_off,
                     "lost_off_points", off.lost_off, "throttled", (json_int_t)measured->throttled,
                     "unknown", (json_int_t)measured->unknown);
}

json_t *calibrate_report_json(const struct calibrate_report *report)
{
    json_t *profile = json_object();
    json_t *cells = json_array();
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_at(i);
        char text[OPTION_TEXT_MAX];
        if (strncmp(option->key, "store.", 6) != 0 || strcmp(option->key, "store.profile") == 0)
            continue;
        option_print(&report->config, option, text);
        if (*text != '\0')
            json_object_set_new(profile, option->key, json_string(text));
    }
    for (size_t i = 0; i < report->plan.count; i++)
        json_array_append_new(cells, cell_json(report, i));
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:o}", "store", report->store, "started",
                     report->started, "commit", LAKESTREAM_COMMIT, "machine", report->machine,
                     "wall_s", report->wall_s, "profile", profile, "cells", cells);
}

void calibrate_report_deinit(struct calibrate_report *report)
{
    for (size_t i = 0; i < CALIBRATE_CELLS_MAX; i++)
        calibrate_result_deinit(&report->measured[i]);
    calibrate_fit_deinit(&report->fit);
}
