/* figure_sim_vs_live.c - what the simulator predicts for a store that was calibrated, beside live
 * runs on it: success and MB/s by policy and producers. Live runs are those of the database with
 * the same config; for arms without any, those that were kept in configs/reference/sim_vs_live.csv.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_curve.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/live_reference.h"

#define REFERENCE "configs/reference/sim_vs_live.csv"
/* The deviations that count as predicted. */
#define SUCCESS_POINTS 5.0
#define RATE_PERCENT 10.0
#define SHARE_ASKED 0.8 /* of the cells; and none deviates by more than WORST times as much */
#define WORST 2.0

enum live_source {
    LIVE_NONE,
    LIVE_DATABASE,
    LIVE_KEPT,
};

struct cell {
    const struct figure_arm *arm;
    enum live_source source;
    struct statistics_mean success; /* simulated */
    struct statistics_mean mb_s;
    double live_success; /* mean over live runs */
    double live_mb_s;
    size_t live_runs;
    double success_off; /* points */
    double mb_s_off;    /* per cent */
};

struct comparison {
    size_t count;
    struct cell *cells; /* owned; as the page's arms */
    char notes[REFERENCE_NOTES_MAX];
};

/* ---- reading ---- */

static bool take_database(const struct figure_data *live, struct cell *cell)
{
    for (size_t i = 0; i < live->arm_count; i++) {
        const struct figure_arm *arm = &live->arms[i];
        if (strcmp(arm->name, cell->arm->name) != 0 || strcmp(arm->hash, cell->arm->hash) != 0)
            continue;
        cell->live_success = figure_mean(live, arm, "success").mean;
        cell->live_mb_s = figure_mean(live, arm, "committed_mb_s").mean;
        cell->live_runs = arm->run_count;
        cell->source = LIVE_DATABASE;
        return true;
    }
    return false;
}

static void take_kept(const struct live_reference *reference, struct cell *cell)
{
    double success = 0;
    double mb_s = 0;
    size_t count = 0;
    for (size_t i = 0; i < reference->count; i++) {
        const struct live_reference_row *row = &reference->rows[i];
        if (!live_reference_matches(row, cell->arm->name, &cell->arm->config))
            continue;
        success += row->success;
        mb_s += row->committed_mb_s;
        count++;
    }
    if (count == 0)
        return;
    cell->live_success = success / (double)count;
    cell->live_mb_s = mb_s / (double)count;
    cell->live_runs = count;
    cell->source = LIVE_KEPT;
}

static void compare(const struct figure_page *page, struct comparison *comparison)
{
    const struct figure_data *data = page->data;
    struct live_reference *reference = calloc(1, sizeof(*reference));
    struct figure_data live = {0};
    struct diagnostic diagnostic;
    char path[CONFIG_PATH_MAX];
    comparison->count = data->arm_count;
    comparison->cells = calloc(data->arm_count, sizeof(*comparison->cells));
    assert(reference != NULL && comparison->cells != NULL);
    cli_data_path(REFERENCE, path);
    if (live_reference_read(path, reference, &diagnostic))
        snprintf(comparison->notes, sizeof(comparison->notes), "%s", reference->notes);
    else
        snprintf(comparison->notes, sizeof(comparison->notes), "No live runs were kept: %s.\n",
                 diagnostic.text);
    if (!figure_data_load(data->db, data->experiment, RESULTS_LIVE, &live, &diagnostic))
        snprintf(comparison->notes, sizeof(comparison->notes),
                 "Live runs of the database cannot be read: %s.\n", diagnostic.text);
    for (size_t i = 0; i < data->arm_count; i++) {
        struct cell *cell = &comparison->cells[i];
        *cell = (struct cell){.arm = &data->arms[i], .live_success = NAN, .live_mb_s = NAN};
        cell->success = figure_mean(data, cell->arm, "success");
        cell->mb_s = figure_mean(data, cell->arm, "committed_mb_s");
        if (!take_database(&live, cell))
            take_kept(reference, cell);
        cell->success_off = 100 * (cell->success.mean - cell->live_success);
        cell->mb_s_off = 100 * (cell->mb_s.mean / cell->live_mb_s - 1);
    }
    figure_data_deinit(&live);
    free(reference);
}

/* ---- judging ---- */

static bool is_within(const struct cell *cell, double times)
{
    return fabs(cell->success_off) <= times * SUCCESS_POINTS &&
           fabs(cell->mb_s_off) <= times * RATE_PERCENT;
}

struct tally {
    size_t compared;
    size_t within;
    size_t far; /* beyond WORST times the bounds */
};

static struct tally tally_of(const struct comparison *comparison, const char *profile)
{
    struct tally tally = {0};
    for (size_t i = 0; i < comparison->count; i++) {
        const struct cell *cell = &comparison->cells[i];
        if (cell->source == LIVE_NONE ||
            (profile != NULL && strcmp(cell->arm->config.store.profile, profile) != 0))
            continue;
        tally.compared++;
        tally.within += is_within(cell, 1);
        tally.far += !is_within(cell, WORST);
    }
    return tally;
}

/* The first arm of each store begins a part; arms of a store need not be neighbours. */
static bool is_first_of_store(const struct figure_data *data, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(data->arms[i].config.store.profile, data->arms[index].config.store.profile) == 0)
            return false;
    return true;
}

static void print_tally(const struct tally *tally, FILE *text)
{
    fprintf(text,
            "%zu of %zu cells within %.0f points of success and %.0f %% of MB/s (asked: %.0f %%), "
            "%zu beyond twice that (asked: none)",
            tally->within, tally->compared, SUCCESS_POINTS, RATE_PERCENT, 100 * SHARE_ASKED,
            tally->far);
}

static void write_tallies(const struct figure_page *page, const struct comparison *comparison,
                          FILE *text)
{
    const struct figure_data *data = page->data;
    for (size_t i = 0; i < data->arm_count; i++) {
        const char *profile = data->arms[i].config.store.profile;
        if (!is_first_of_store(data, i))
            continue;
        struct tally tally = tally_of(comparison, profile);
        fprintf(text, "%s: ", profile);
        print_tally(&tally, text);
        fprintf(text, "\n");
    }
}

/* ---- the page ---- */

/* Returns how many points there are to be seen. */
static size_t plot_group(const struct figure_page *page, const struct comparison *comparison,
                         size_t first, FILE *points)
{
    size_t seen = 0;
    size_t end = curve_group_end(page->data, first);
    fprintf(points, "\n\n# %s\n", page->data->arms[first].group);
    for (size_t i = first; i < end; i++) {
        const struct cell *cell = &comparison->cells[i];
        fprintf(points, "%llu", (unsigned long long)cell->arm->config.workload.producers);
        points_mean(points, cell->success, 100);
        points_mean(points, cell->mb_s, 1);
        if (cell->source == LIVE_NONE)
            fprintf(points, "\tNaN\tNaN\n");
        else
            fprintf(points, "\t%.9g\t%.9g\n", 100 * cell->live_success, cell->live_mb_s);
        seen += cell->success.count > 0 && cell->mb_s.count > 0;
    }
    return seen;
}

/* One colour a policy, whatever the store: the styles of policies with one curve. */
static int style_of_policy(const struct figure_data *data, size_t index)
{
    struct figure_data one = *data;
    one.arms = data->arms + index;
    one.arm_count = 1;
    return figure_style(&one, 0);
}

static bool is_first_of_policy(const struct figure_data *data, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (config_policy_kind(&data->arms[i].config) ==
            config_policy_kind(&data->arms[index].config))
            return false;
    return true;
}

static void sim_vs_live_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    struct comparison comparison = {0};
    size_t groups = 0;
    size_t seen = 0;
    compare(page, &comparison);
    fprintf(points, "# producers, simulated success %% (mean, low, high), MB/s (mean, low, high), "
                    "live success %%, live MB/s; one block a store and policy");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i), groups++)
        seen += plot_group(page, &comparison, i, points);
    fprintf(points, "\n");
    fprintf(variables, "measured = %zu\ngroup_count = %zu\ngroups = '", seen, groups);
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%s ", config_policy_kind(&data->arms[i].config)->name);
    fprintf(variables, "'\ngroup_stores = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%s ", data->arms[i].config.store.profile);
    fprintf(variables, "'\nstyles = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%d ", style_of_policy(data, i));
    fprintf(variables, "'\npolicies = '");
    for (size_t i = 0; i < data->arm_count; i++)
        if (is_first_of_policy(data, i))
            fprintf(variables, "%s ", config_policy_kind(&data->arms[i].config)->name);
    fprintf(variables, "'\npolicy_styles = '");
    for (size_t i = 0; i < data->arm_count; i++)
        if (is_first_of_policy(data, i))
            fprintf(variables, "%d ", style_of_policy(data, i));
    fprintf(variables, "'\nstores = '");
    for (size_t i = 0; i < data->arm_count; i++)
        if (is_first_of_store(data, i))
            fprintf(variables, "%s ", data->arms[i].config.store.profile);
    fprintf(variables, "'\n");
    free(comparison.cells);
}

static const char *verdict_of(const struct cell *cell)
{
    if (is_within(cell, 1))
        return "yes";
    return is_within(cell, WORST) ? "no" : "**no, beyond twice**";
}

static void write_cell(const struct cell *cell, FILE *markdown)
{
    char success[TEXT_MAX];
    char mb_s[TEXT_MAX];
    text_mean(cell->success, 100, 1, success);
    text_mean(cell->mb_s, 1, 2, mb_s);
    fprintf(markdown, "| %s | %s | %llu | %s |", cell->arm->config.store.profile,
            config_policy_kind(&cell->arm->config)->name,
            (unsigned long long)cell->arm->config.workload.producers, success);
    if (cell->source == LIVE_NONE) {
        fprintf(markdown, " – | – | %s | – | – | no live run |\n", mb_s);
        return;
    }
    fprintf(markdown, " %.1f | %+.1f | %s | %.2f | %+.1f | %s |\n", 100 * cell->live_success,
            cell->success_off, mb_s, cell->live_mb_s, cell->mb_s_off, verdict_of(cell));
}

static void sim_vs_live_paper(const struct figure_page *page, FILE *markdown)
{
    struct comparison comparison = {0};
    size_t kept = 0;
    compare(page, &comparison);
    write_tallies(page, &comparison, markdown);
    fprintf(markdown,
            "\n| store | policy | producers | success %% simulated | live | off, points | "
            "MB/s simulated | live | off, %% | within |\n"
            "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < comparison.count; i++) {
        write_cell(&comparison.cells[i], markdown);
        kept += comparison.cells[i].source == LIVE_KEPT;
    }
    fprintf(markdown, "\nLive values of %zu cells are those kept in `" REFERENCE "`. %s\n", kept,
            comparison.notes);
    free(comparison.cells);
}

static void sim_vs_live_headline(const struct figure_page *page, FILE *text)
{
    struct comparison comparison = {0};
    compare(page, &comparison);
    write_tallies(page, &comparison, text);
    free(comparison.cells);
}

const struct figure figure_sim_vs_live = {
    .name = "sim_vs_live",
    .title = "Simulated and live, on stores that were calibrated: success and MB/s",
    .plot = sim_vs_live_plot,
    .paper = sim_vs_live_paper,
    .headline = sim_vs_live_headline,
};
