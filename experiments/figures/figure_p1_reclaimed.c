/* figure_p1_reclaimed.c - P1 with and without reclamation: what manifests that stay small do to the
 * age of a batch, policy by policy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/figure.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper_rules.h"

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

/* Bytes of an arm's name without "-kept" or "-reclaimed": a pair has the same. */
static int stem_bytes(const struct figure_arm *arm)
{
    const char *ending = reclaims(arm) ? "-reclaimed" : "-kept";
    size_t length = strlen(arm->name);
    bool ends = length > strlen(ending) && strcmp(arm->name + length - strlen(ending), ending) == 0;
    return (int)(ends ? length - strlen(ending) : length);
}

static bool is_pair(const struct figure_arm *one, const struct figure_arm *other)
{
    return stem_bytes(one) == stem_bytes(other) &&
           strncmp(one->name, other->name, (size_t)stem_bytes(one)) == 0;
}

/* The arm of its pair that reclaims; NULL: not run. */
static const struct figure_arm *other_of(const struct figure_data *data,
                                         const struct figure_arm *kept)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (reclaims(&data->arms[i]) && is_pair(kept, &data->arms[i]))
            return &data->arms[i];
    return NULL;
}

/* What a pair is called: its policy; where several have the same, what its names begin with. */
static void text_pair(const struct figure_data *data, const struct figure_arm *arm,
                      char text[TEXT_MAX])
{
    bool alone = true;
    for (size_t i = 0; i < data->arm_count; i++)
        alone = alone && (strcmp(policy_of(&data->arms[i]), policy_of(arm)) != 0 ||
                          is_pair(arm, &data->arms[i]));
    if (alone)
        snprintf(text, TEXT_MAX, "%s", policy_of(arm));
    else
        snprintf(text, TEXT_MAX, "%.*s", stem_bytes(arm), arm->name);
}

/* ---- the drawing ---- */

/* The mean over seeds of the bins in [from_s, until_s), each seed's averaged first. */
static struct statistics_mean window_mean(const struct figure_series *series, double from_s,
                                          double until_s, double *seeds)
{
    for (size_t seed = 0; seed < series->run_count; seed++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < series->point_count; i++) {
            double value = series->values[i * series->run_count + seed];
            if (series->t_s[i] >= from_s && series->t_s[i] < until_s && isfinite(value)) {
                sum += value;
                count++;
            }
        }
        seeds[seed] = count > 0 ? sum / (double)count : NAN;
    }
    return figure_mean_of(seeds, series->run_count);
}

/* Adds what was measured at all. */
static void plot_arm(const struct figure_data *data, const struct figure_arm *arm,
                     bool measured[QUANTITIES], FILE *points)
{
    struct figure_series series[QUANTITIES];
    double *seeds = calloc(arm->run_count, sizeof(*seeds));
    double end_s = (double)arm->config.run.duration_ns / 1e9;
    double step_s = figure_window_s(arm);
    assert(seeds != NULL);
    for (size_t i = 0; i < QUANTITIES; i++)
        figure_series_read(data, arm, quantities[i].name, &series[i]);
    for (double from_s = 0; from_s < end_s; from_s += step_s) {
        fprintf(points, "%.6g", (from_s + fmin(from_s + step_s, end_s)) / 2 / 3600);
        for (size_t i = 0; i < QUANTITIES; i++) {
            struct statistics_mean mean = window_mean(&series[i], from_s, from_s + step_s, seeds);
            measured[i] = measured[i] || mean.count > 0;
            points_mean(points, mean, quantities[i].scale);
        }
        fprintf(points, "\n");
    }
    for (size_t i = 0; i < QUANTITIES; i++)
        figure_series_deinit(&series[i]);
    free(seeds);
}

/* One colour a pair: that of its first arm among the first arms of all pairs. */
static int style_of_pair(const struct figure_data *data, const struct figure_arm *arm)
{
    struct figure_data pairs = *data;
    size_t mine = 0;
    pairs.arms = calloc(data->arm_count, sizeof(*pairs.arms));
    assert(pairs.arms != NULL);
    pairs.arm_count = 0;
    for (size_t i = 0; i < data->arm_count; i++) {
        size_t pair = 0;
        while (pair < pairs.arm_count && !is_pair(&pairs.arms[pair], &data->arms[i]))
            pair++;
        if (pair == pairs.arm_count)
            pairs.arms[pairs.arm_count++] = data->arms[i];
        mine = is_pair(&data->arms[i], arm) ? pair : mine;
    }
    int style = figure_style(&pairs, mine);
    free(pairs.arms);
    return style;
}

static void p1_reclaimed_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    fprintf(points, "# hour, then mean, low and high of manifest MiB, median age s, p99 age s, "
                    "success %%; one block an arm");
    char window[TEXT_MAX];
    bool measured[QUANTITIES] = {false};
    text_window(&data->arms[0], window);
    variable_text(variables, "window", window);
    fprintf(variables, "arm_count = %zu\npolicies = '", data->arm_count);
    for (size_t i = 0; i < data->arm_count; i++) {
        char pair[TEXT_MAX];
        text_pair(data, &data->arms[i], pair);
        fprintf(variables, "%s ", pair);
        fprintf(points, "%s# %s\n", i > 0 ? "\n\n" : "\n", data->arms[i].name);
        plot_arm(data, &data->arms[i], measured, points);
    }
    fprintf(variables, "'\nmeasured = '");
    for (size_t i = 0; i < QUANTITIES; i++)
        fprintf(variables, "%d ", measured[i]);
    fprintf(variables, "'\nreclaimed = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%d ", reclaims(&data->arms[i]));
    fprintf(variables, "'\nstyles = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%d ", style_of_pair(data, &data->arms[i]));
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
        char pair[TEXT_MAX];
        text_pair(data, kept, pair);
        fprintf(markdown, "| %s |", pair);
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
        char pair[TEXT_MAX];
        text_number(figure_hour_mean(data, kept, "age_median_s", hours.late).mean, before);
        text_number(figure_hour_mean(data, reclaimed, "age_median_s", hours.late).mean, after);
        text_pair(data, kept, pair);
        fprintf(text, "%s in hour %d: median age %s s, with reclamation %s s\n", pair, hours.late,
                before, after);
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
