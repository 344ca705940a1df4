/* figure_p1.c - the paper's P1: every policy over time, and what it gives up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/figure.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper_rules.h"

#define QUANTITIES 7 /* success and the others */

/* ---- points ---- */

/* A window of the bins [first, end), one value a seed: the mean of what the bins have. */
static double window_mean(const struct figure_series *series, size_t first, size_t end, size_t seed)
{
    double sum = 0;
    size_t count = 0;
    for (size_t point = first; point < end && point < series->point_count; point++) {
        double value = series->values[point * series->run_count + seed];
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

struct columns {
    struct figure_series won;
    struct figure_series lost;
    struct figure_series others[6];
};

static const struct {
    const char *name;
    double scale;
} others[6] = {
    {"committed_mb_s", 1}, {"manifest_bytes", 1.0 / 1048576},
    {"attempt_time_s", 1}, {"age_median_s", 1},
    {"age_p99_s", 1},      {"fairness_jain", 1},
};

/* Bins of one series that lie in [from_s, until_s). */
static void bins_within(const struct figure_series *series, double from_s, double until_s,
                        size_t bins[2])
{
    bins[0] = 0;
    while (bins[0] < series->point_count && series->t_s[bins[0]] < from_s)
        bins[0]++;
    bins[1] = bins[0];
    while (bins[1] < series->point_count && series->t_s[bins[1]] < until_s)
        bins[1]++;
}

/* Attempts of all bins count alike: won over decided, not a mean of ratios. */
static struct statistics_mean window_success(const struct columns *columns, double from_s,
                                             double until_s, double *seeds)
{
    size_t bins[2];
    size_t count = columns->won.run_count;
    bins_within(&columns->won, from_s, until_s, bins);
    for (size_t seed = 0; seed < count; seed++) {
        double won = window_mean(&columns->won, bins[0], bins[1], seed);
        double lost = window_mean(&columns->lost, bins[0], bins[1], seed);
        seeds[seed] = won + lost > 0 ? won / (won + lost) : NAN;
    }
    return figure_mean_of(seeds, count);
}

static struct statistics_mean window_other(const struct figure_series *series, double from_s,
                                           double until_s, double *seeds)
{
    size_t bins[2];
    bins_within(series, from_s, until_s, bins);
    for (size_t seed = 0; seed < series->run_count; seed++)
        seeds[seed] = window_mean(series, bins[0], bins[1], seed);
    return figure_mean_of(seeds, series->run_count);
}

/* Raises `measured` to how many points the arm has: of success, then of the others. */
static void plot_arm(const struct figure_data *data, const struct figure_arm *arm,
                     size_t measured[QUANTITIES], FILE *points)
{
    struct statistics_mean mean;
    struct columns columns;
    size_t counts[QUANTITIES] = {0};
    double step_s = figure_window_s(arm);
    double end_s = (double)arm->config.run.duration_ns / 1e9;
    double *seeds = calloc(arm->run_count, sizeof(*seeds));
    assert(seeds != NULL);
    figure_series_read(data, arm, "won", &columns.won);
    figure_series_read(data, arm, "lost", &columns.lost);
    for (size_t i = 0; i < 6; i++)
        figure_series_read(data, arm, others[i].name, &columns.others[i]);
    for (double from_s = 0; from_s < end_s; from_s += step_s) {
        fprintf(points, "%.6g", (from_s + fmin(from_s + step_s, end_s)) / 2 / 3600);
        mean = window_success(&columns, from_s, from_s + step_s, seeds);
        counts[0] += mean.count > 0;
        points_mean(points, mean, 100);
        for (size_t i = 0; i < 6; i++) {
            mean = window_other(&columns.others[i], from_s, from_s + step_s, seeds);
            counts[i + 1] += mean.count > 0;
            points_mean(points, mean, others[i].scale);
        }
        fprintf(points, "\n");
    }
    for (size_t i = 0; i < QUANTITIES; i++)
        measured[i] = counts[i] > measured[i] ? counts[i] : measured[i];
    figure_series_deinit(&columns.won);
    figure_series_deinit(&columns.lost);
    for (size_t i = 0; i < 6; i++)
        figure_series_deinit(&columns.others[i]);
    free(seeds);
}

static double longest_hours(const struct figure_data *data)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < data->arm_count; i++)
        if (data->arms[i].config.run.duration_ns > longest_ns)
            longest_ns = data->arms[i].config.run.duration_ns;
    return (double)longest_ns / 3.6e12;
}

static void p1_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    char window[TEXT_MAX];
    size_t measured[QUANTITIES] = {0};
    fprintf(points, "# hour, then mean, low and high of success_%%");
    for (size_t i = 0; i < 6; i++)
        fprintf(points, " %s", others[i].name);
    fprintf(points, "; one block an arm\n");
    fprintf(variables, "arms = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%s%s", i > 0 ? " " : "", data->arms[i].name);
    fprintf(variables, "'\nstyles = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%s%d", i > 0 ? " " : "", figure_style(data, i));
    text_window(&data->arms[0], window);
    fprintf(variables, "'\nreported_success = %.9g\nreported_mb_s = %.9g\noffered_mb_s = %.9g\n",
            reported_number(page->reported, "P1", "success"),
            reported_number(page->reported, "P1", "committed_mb_s"),
            figure_offered_mb_s(&data->arms[0]));
    fprintf(variables, "hours = %.9g\nwindow = '%s'\n", longest_hours(data), window);
    for (size_t i = 0; i < data->arm_count; i++) {
        fprintf(points, "%s# %s\n", i > 0 ? "\n\n" : "", data->arms[i].name);
        plot_arm(data, &data->arms[i], measured, points);
    }
    fprintf(variables, "measured = '");
    for (size_t i = 0; i < QUANTITIES; i++)
        fprintf(variables, "%s%zu", i > 0 ? " " : "", measured[i]);
    fprintf(variables, "'\n");
}

/* ---- tables ---- */

static void hour_cell(const struct figure_data *data, const struct figure_arm *arm,
                      const char *name, int hour, FILE *markdown)
{
    char text[TEXT_MAX];
    struct statistics_mean mean = figure_hour_mean(data, arm, name, hour);
    if (strcmp(name, "success") == 0)
        text_mean(mean, 100, 2, text);
    else if (strcmp(name, "committed_mb_s") == 0)
        text_mean(mean, 1, 1, text);
    else if (strcmp(name, "fairness_jain") == 0)
        text_mean(mean, 1, 3, text);
    else
        text_mean_short(mean, strcmp(name, "manifest_bytes") == 0 ? 1.0 / 1048576 : 1, text);
    fprintf(markdown, " %s |", text);
}

static void write_hours(const struct figure_page *page, struct rule_hours hours, FILE *markdown)
{
    static const char *const pairs[] = {"success", "committed_mb_s", "age_median_s", "age_p99_s",
                                        "fairness_jain"};
    static const char *const heads[] = {"success %", "MB/s", "median age s", "p99 age s",
                                        "fairness"};
    fprintf(markdown, "| policy |");
    for (size_t i = 0; i < 5; i++)
        fprintf(markdown, " %s h%d | h%d |", heads[i], hours.early, hours.late);
    fprintf(markdown, " attempt s h%d | manifest MiB h%d |\n|---|", hours.late, hours.late);
    for (size_t i = 0; i < 12; i++)
        fprintf(markdown, "---|");
    for (size_t i = 0; i < page->data->arm_count; i++) {
        const struct figure_arm *arm = &page->data->arms[i];
        fprintf(markdown, "\n| %s |", arm->name);
        for (size_t k = 0; k < 5; k++) {
            hour_cell(page->data, arm, pairs[k], hours.early, markdown);
            hour_cell(page->data, arm, pairs[k], hours.late, markdown);
        }
        hour_cell(page->data, arm, "attempt_time_s", hours.late, markdown);
        hour_cell(page->data, arm, "manifest_bytes", hours.late, markdown);
    }
    fprintf(markdown, "\n\n");
}

static void write_losses(const struct figure_page *page, struct rule_hours hours, FILE *markdown)
{
    char sentence[RULE_SENTENCE_MAX];
    rule_losses_describe(page->reported, hours, sentence);
    fprintf(markdown, "**What each policy gives up, and when.** Rules: %s\n\n", sentence);
    fprintf(markdown, "| policy | gives up | seeds | config | commit |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < page->data->arm_count; i++) {
        const struct figure_arm *arm = &page->data->arms[i];
        char origin[TEXT_MAX];
        text_origin(arm, origin);
        rule_losses(page->data, arm, page->reported, sentence);
        fprintf(markdown, "| %s | %s | %s |\n", arm->name, sentence, origin);
    }
    fprintf(markdown, "\n");
}

static void write_budget(const struct figure_data *data, const struct figure_arm *arm,
                         FILE *markdown)
{
    struct rule_hours hours = rule_hours(data);
    struct rule_budget budget = rule_budget(data, arm);
    char drift[TEXT_MAX];
    char distance[TEXT_MAX];
    char throughput[TEXT_MAX];
    text_mean(budget.drift.difference, 100, 2, drift);
    text_mean(budget.distance, 100, 2, distance);
    text_mean(budget.throughput, 100, 2, throughput);
    fprintf(markdown,
            "**Does the budget of %s hold while the manifest grows?** Paired over %zu seeds; an "
            "answer is yes if the whole 95 %% interval lies within the margin.\n\n"
            "| question | found | margin | answer |\n|---|---|---|---|\n"
            "| success in hour %d less hour %d, points | %s | ± %.1f | %s (TOST p = %.2g) |\n"
            "| success in hour %d less 1 - kappa (%.1f %%), points | %s | ± %.1f | %s |\n"
            "| MB/s in hour %d against hour %d, %% | %s | ± %.0f | %s |\n\n",
            arm->name, budget.distance.count, hours.late, hours.early, drift, 100 * RULE_POINTS,
            rule_answer_text(budget.drift_answer), budget.drift.p, hours.late, 100 * budget.asked,
            distance, 100 * RULE_POINTS, rule_answer_text(budget.distance_answer), hours.late,
            hours.early, throughput, 100 * RULE_THROUGHPUT,
            rule_answer_text(budget.throughput_answer));
}

static void p1_paper(const struct figure_page *page, FILE *markdown)
{
    struct rule_hours hours = rule_hours(page->data);
    if (hours.late == 0) {
        fprintf(markdown, "The runs are shorter than one hour: there are no hours to compare.\n\n");
        return;
    }
    write_hours(page, hours, markdown);
    for (size_t i = 0; i < page->data->arm_count; i++)
        if (rule_has_budget(&page->data->arms[i]))
            write_budget(page->data, &page->data->arms[i], markdown);
    write_losses(page, hours, markdown);
}

static void p1_headline(const struct figure_page *page, FILE *text)
{
    struct rule_hours hours = rule_hours(page->data);
    for (size_t i = 0; hours.late > 0 && i < page->data->arm_count; i++) {
        const struct figure_arm *arm = &page->data->arms[i];
        if (!rule_has_budget(arm))
            continue;
        char success[TEXT_MAX];
        char rate[TEXT_MAX];
        char early[TEXT_MAX];
        char late[TEXT_MAX];
        struct rule_budget budget = rule_budget(page->data, arm);
        text_mean(figure_hour_mean(page->data, arm, "success", hours.late), 100, 1, success);
        text_mean(figure_hour_mean(page->data, arm, "committed_mb_s", hours.late), 1, 1, rate);
        text_number(figure_hour_mean(page->data, arm, "age_median_s", hours.early).mean, early);
        text_number(figure_hour_mean(page->data, arm, "age_median_s", hours.late).mean, late);
        fprintf(text,
                "%s in hour %d: %s %% success, %s MB/s (reported %s %%, %s MB/s); budget holds: "
                "%s;\nits price is freshness: median age %s s in hour %d, %s s in hour %d\n",
                arm->name, hours.late, success, rate,
                reported_find(page->reported, "P1", "success")->value,
                reported_find(page->reported, "P1", "committed_mb_s")->value,
                rule_answer_text(rule_budget_answer(&budget)), early, hours.early, late,
                hours.late);
    }
}

const struct figure figure_p1 = {
    .name = "p1",
    .title = "Committing to one growing manifest, policy by policy",
    .plot = p1_plot,
    .paper = p1_paper,
    .headline = p1_headline,
};
