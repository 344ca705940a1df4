/* figure_p1_reclaimed.c - P1 with and without reclamation: what manifests that stay small do to the
 * age of a batch, policy by policy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/figure.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper_rules.h"

#define WINDOW_S 900.0 /* of one point; whole bins */
#define MIB 1048576.0

static const struct {
    const char *name; /* of the metric and the series */
    double scale;
} quantities[] = {
    {"manifest_bytes", 1 / MIB},
    {"age_median_s", 1},
    {"age_p99_s", 1},
    {"success", 100},
};

#define QUANTITIES (sizeof(quantities) / sizeof(quantities[0]))

static bool reclaims(const struct figure_arm *arm)
{
    return arm->config.reclaim.count > 0;
}

static const char *policy_of(const struct figure_arm *arm)
{
    return config_policy_kind(&arm->config)->name;
}

/* The arm of the same policy that reclaims; NULL: not run. */
static const struct figure_arm *other_of(const struct figure_data *data,
                                         const struct figure_arm *kept)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (reclaims(&data->arms[i]) && strcmp(policy_of(&data->arms[i]), policy_of(kept)) == 0)
            return &data->arms[i];
    return NULL;
}

/* ---- the drawing ---- */

/* The mean over seeds of the bins in [from_s, from_s + WINDOW_S), each seed's averaged first. */
static struct statistics_mean window_mean(const struct figure_series *series, double from_s,
                                          double *seeds)
{
    for (size_t seed = 0; seed < series->run_count; seed++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < series->point_count; i++) {
            double value = series->values[i * series->run_count + seed];
            if (series->t_s[i] >= from_s && series->t_s[i] < from_s + WINDOW_S && isfinite(value)) {
                sum += value;
                count++;
            }
        }
        seeds[seed] = count > 0 ? sum / (double)count : NAN;
    }
    return figure_mean_of(seeds, series->run_count);
}

static void plot_arm(const struct figure_data *data, const struct figure_arm *arm, FILE *points)
{
    struct figure_series series[QUANTITIES];
    double *seeds = calloc(arm->run_count, sizeof(*seeds));
    double end_s = (double)arm->config.run.duration_ns / 1e9;
    assert(seeds != NULL);
    for (size_t i = 0; i < QUANTITIES; i++)
        figure_series_read(data, arm, quantities[i].name, &series[i]);
    for (double from_s = 0; from_s < end_s; from_s += WINDOW_S) {
        fprintf(points, "%.6g", (from_s + fmin(from_s + WINDOW_S, end_s)) / 2 / 3600);
        for (size_t i = 0; i < QUANTITIES; i++)
            points_mean(points, window_mean(&series[i], from_s, seeds), quantities[i].scale);
        fprintf(points, "\n");
    }
    for (size_t i = 0; i < QUANTITIES; i++)
        figure_series_deinit(&series[i]);
    free(seeds);
}

static void p1_reclaimed_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    fprintf(points, "# hour, then mean, low and high of manifest MiB, median age s, p99 age s, "
                    "success %%; one block an arm");
    fprintf(variables, "arm_count = %zu\npolicies = '", data->arm_count);
    for (size_t i = 0; i < data->arm_count; i++) {
        fprintf(variables, "%s ", policy_of(&data->arms[i]));
        fprintf(points, "%s# %s\n", i > 0 ? "\n\n" : "\n", data->arms[i].name);
        plot_arm(data, &data->arms[i], points);
    }
    fprintf(variables, "'\nreclaimed = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%d ", reclaims(&data->arms[i]));
    fprintf(variables, "'\nstyles = '");
    for (size_t i = 0; i < data->arm_count; i++) {
        /* One colour a policy: the style of its only curve. */
        struct figure_data one = *data;
        one.arms = data->arms + i;
        one.arm_count = 1;
        fprintf(variables, "%d ", figure_style(&one, 0));
    }
    fprintf(variables, "'\nhours = %.9g\nreported_success = %.9g\n",
            (double)data->arms[0].config.run.duration_ns / 3.6e12,
            reported_number(page->reported, "P1", "success"));
}

/* ---- the tables ---- */

static void write_cell(const struct figure_data *data, const struct figure_arm *arm,
                       size_t quantity, int hour, FILE *markdown)
{
    char text[TEXT_MAX];
    struct statistics_mean mean = {.mean = NAN, .half_width = NAN};
    if (arm != NULL)
        mean = figure_hour_mean(data, arm, quantities[quantity].name, hour);
    text_mean_short(mean, quantities[quantity].scale, text);
    fprintf(markdown, " %s |", text);
}

static void p1_reclaimed_paper(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    struct rule_hours hours = rule_hours(data);
    if (hours.late == 0) {
        fprintf(markdown, "The runs are shorter than one hour: there are no hours to compare.\n\n");
        return;
    }
    fprintf(markdown,
            "| policy, hour %d | manifest MiB kept | reclaimed | median age s kept | reclaimed | "
            "p99 age s kept | reclaimed | success %% kept | reclaimed |\n"
            "|---|---|---|---|---|---|---|---|---|\n",
            hours.late);
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *kept = &data->arms[i];
        if (reclaims(kept))
            continue;
        fprintf(markdown, "| %s |", policy_of(kept));
        for (size_t k = 0; k < QUANTITIES; k++) {
            write_cell(data, kept, k, hours.late, markdown);
            write_cell(data, other_of(data, kept), k, hours.late, markdown);
        }
        fprintf(markdown, "\n");
    }
    const struct config *config = &data->arms[0].config;
    fprintf(markdown,
            "\nReclaimed: one rank that keeps up with the producers, %llu checkpoints %llu steps "
            "apart, one reclaimer. What the manifest then holds is bounded by them and not by the "
            "length of the run.\n\n",
            (unsigned long long)config->ranks.checkpoints_kept,
            (unsigned long long)config->ranks.checkpoint_every);
}

static void p1_reclaimed_detail(const struct figure_page *page, FILE *markdown)
{
    char origin[TEXT_MAX];
    fprintf(markdown, "| arm | seeds | config | commit |\n|---|---|---|---|\n");
    for (size_t i = 0; i < page->data->arm_count; i++) {
        text_origin(&page->data->arms[i], origin);
        fprintf(markdown, "| %s | %s |\n", page->data->arms[i].name, origin);
    }
    fprintf(markdown, "\n");
}

static void p1_reclaimed_headline(const struct figure_page *page, FILE *text)
{
    const struct figure_data *data = page->data;
    struct rule_hours hours = rule_hours(data);
    for (size_t i = 0; hours.late > 0 && i < data->arm_count; i++) {
        const struct figure_arm *kept = &data->arms[i];
        const struct figure_arm *reclaimed = other_of(data, kept);
        if (reclaims(kept) || reclaimed == NULL || !rule_has_budget(kept))
            continue;
        char before[TEXT_MAX];
        char after[TEXT_MAX];
        text_number(figure_hour_mean(data, kept, "age_median_s", hours.late).mean, before);
        text_number(figure_hour_mean(data, reclaimed, "age_median_s", hours.late).mean, after);
        fprintf(text, "%s in hour %d: median age %s s, with reclamation %s s\n", policy_of(kept),
                hours.late, before, after);
    }
}

const struct figure figure_p1_reclaimed = {
    .name = "p1_reclaimed",
    .title = "P1 with and without reclamation: manifests, ages and success",
    .plot = p1_reclaimed_plot,
    .paper = p1_reclaimed_paper,
    .detail = p1_reclaimed_detail,
    .headline = p1_reclaimed_headline,
};
