/* figure_p7.c - the paper's P7: what is stored over time, with reclamation and without, and how the
 * reduction follows from the period of checkpoints. */
#include <math.h>
#include <stdlib.h>

#include "experiments/config/units.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/storage_bound.h"

#define GIB 1073741824.0
#define ROUND_S 1.0 /* of one round of reclamation, from its start to its deletions */

/* One arm that reclaims, beside the one that does not. Peaks in GiB. */
struct row {
    const struct figure_arm *arm;
    struct statistics_mean peak;
    struct statistics_mean reduction; /* per cent */
    double bound_mean;                /* closed form: with the mean lags */
    double bound_worst;               /* and with the longest */
};

static bool reclaims(const struct figure_arm *arm)
{
    return arm->config.reclaim.count > 0;
}

/* NULL: not run. */
static const struct figure_arm *without_arm(const struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (!reclaims(&data->arms[i]))
            return &data->arms[i];
    return NULL;
}

/* The period that the comparison is about is the key's default. NULL: not run. */
static const struct figure_arm *chosen_arm(const struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (reclaims(&data->arms[i]) && swept_is_default(&data->arms[i]))
            return &data->arms[i];
    return NULL;
}

/* ---- the closed form ---- */

static double tgb_gib(const struct figure_arm *arm)
{
    return (double)arm->config.workload.tgb_bytes / GIB;
}

/* What the whole run makes, in GiB. NAN: not run, or nothing was committed in so short a run; there
 * is no closed form then, and no reduction. */
static double made_gib(const struct figure_data *data)
{
    const struct figure_arm *arm = without_arm(data);
    double made = arm != NULL ? figure_mean(data, arm, "tgb_bytes_max").mean / GIB : NAN;
    return made > 0 ? made : NAN;
}

static bool has_form(const struct figure_data *data)
{
    return isfinite(made_gib(data));
}

enum lag {
    LAG_MEAN,
    LAG_WORST,
};

static struct storage_bound bound_of(const struct figure_data *data, const struct figure_arm *arm,
                                     enum lag lag)
{
    const struct config *config = &arm->config;
    double save_s = (double)config->ranks.save_ns / 1e9;
    double period_s = (double)config->reclaim.period_ns / 1e9;
    double steps = made_gib(data) / tgb_gib(arm);
    struct storage_bound bound = {
        .steps = steps,
        .steps_per_s = steps / ((double)config->run.duration_ns / 1e9),
        .every = (double)config->ranks.checkpoint_every,
        .kept = (double)config->ranks.checkpoints_kept,
    };
    switch (lag) {
    case LAG_MEAN:
        bound.reclaim_lag_s = save_s / 2 + period_s / 2 + ROUND_S;
        bound.behind_steps = figure_mean(data, arm, "behind_steps_mean").mean;
        break;
    case LAG_WORST:
        bound.reclaim_lag_s = save_s + 1.5 * period_s + ROUND_S;
        bound.behind_steps = figure_mean(data, arm, "behind_steps_max").mean;
        break;
    }
    return bound;
}

/* NAN: there is no closed form. */
static double bound_gib(const struct figure_data *data, const struct figure_arm *arm, enum lag lag)
{
    if (!has_form(data))
        return NAN;
    struct storage_bound bound = bound_of(data, arm, lag);
    return storage_bound_steps(&bound) * tgb_gib(arm);
}

static double reduction_percent(double peak_gib, double without_gib)
{
    return 100 * (1 - peak_gib / without_gib);
}

static struct row row_of(const struct figure_data *data, const struct figure_arm *arm)
{
    double without = made_gib(data);
    struct row row = {.arm = arm, .peak = figure_mean(data, arm, "tgb_bytes_max")};
    row.peak.mean /= GIB;
    row.peak.half_width /= GIB;
    row.reduction = row.peak;
    row.reduction.mean = reduction_percent(row.peak.mean, without);
    row.reduction.half_width = 100 * row.peak.half_width / without;
    row.bound_mean = bound_gib(data, arm, LAG_MEAN);
    row.bound_worst = bound_gib(data, arm, LAG_WORST);
    return row;
}

/* ---- the drawing ---- */

static void plot_over_time(const struct figure_data *data, const struct figure_arm *arm,
                           FILE *points)
{
    struct figure_series series;
    figure_series_read(data, arm, "tgb_bytes", &series);
    for (size_t i = 0; i < series.point_count; i++) {
        fprintf(points, "%.9g", series.t_s[i] / 60);
        points_mean(points, figure_mean_of(series.values + i * series.run_count, series.run_count),
                    1 / GIB);
        fprintf(points, "\n");
    }
    figure_series_deinit(&series);
}

/* Returns how many there are. */
static size_t plot_reductions(const struct figure_data *data, FILE *points)
{
    double without = made_gib(data);
    size_t count = 0;
    fprintf(points, "\n\n# steps between checkpoints, reduction %% (mean, low, high), closed form "
                    "with mean lags, with the longest");
    for (size_t i = 0; i < data->arm_count; i++) {
        if (!reclaims(&data->arms[i]))
            continue;
        struct row row = row_of(data, &data->arms[i]);
        fprintf(points, "\n%llu", (unsigned long long)row.arm->config.ranks.checkpoint_every);
        points_mean(points, row.reduction, 1);
        count += isfinite(row.reduction.mean) ? 1 : 0;
        fprintf(points, "\t%.9g\t%.9g", reduction_percent(row.bound_mean, without),
                reduction_percent(row.bound_worst, without));
    }
    fprintf(points, "\n");
    return count;
}

static void p7_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    const struct reported *reported = page->reported;
    fprintf(points, "# minutes, TGBs stored in GiB (mean, low, high); one block an arm");
    fprintf(variables, "arm_count = %zu\nlabels = '", data->arm_count);
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *arm = &data->arms[i];
        char swept[TEXT_MAX];
        text_swept(arm, swept);
        fprintf(variables, "%s ", reclaims(arm) ? swept : "without");
        fprintf(points, "%s# %s\n", i > 0 ? "\n\n" : "\n", arm->name);
        plot_over_time(data, arm, points);
    }
    fprintf(variables, "'\nchosen = '");
    for (size_t i = 0; i < data->arm_count; i++)
        fprintf(variables, "%d ", &data->arms[i] == chosen_arm(data));
    size_t reductions = plot_reductions(data, points);
    fprintf(variables,
            "'\nreductions = %zu\nreported_without = %.9g\nreported_with = %.9g\nreported_percent "
            "= %.9g\n",
            reductions, reported_number(reported, "P7", "peak_without"),
            reported_number(reported, "P7", "peak_with"),
            -reported_number(reported, "P7", "storage"));
}

/* ---- the tables ---- */

/* "9.10 to 9.85", or that there is none. */
static void text_range(double from, double to, int decimals, char text[TEXT_MAX])
{
    if (isfinite(from) && isfinite(to))
        snprintf(text, TEXT_MAX, "%.*f to %.*f", decimals, from, decimals, to);
    else
        snprintf(text, TEXT_MAX, "–");
}

static void write_row(const struct figure_data *data, const struct row *row, FILE *markdown)
{
    char bound[TEXT_MAX];
    char bound_reduction[TEXT_MAX];
    char peak[TEXT_MAX];
    char reduction[TEXT_MAX];
    char behind_mean[TEXT_MAX];
    char behind_max[TEXT_MAX];
    char origin[TEXT_MAX];
    double without = made_gib(data);
    text_mean(row->peak, 1, 2, peak);
    text_mean(row->reduction, 1, 1, reduction);
    text_mean_short(figure_mean(data, row->arm, "behind_steps_mean"), 1, behind_mean);
    text_mean_short(figure_mean(data, row->arm, "behind_steps_max"), 1, behind_max);
    text_range(row->bound_mean, row->bound_worst, 2, bound);
    text_range(reduction_percent(row->bound_worst, without),
               reduction_percent(row->bound_mean, without), 1, bound_reduction);
    text_origin(row->arm, origin);
    fprintf(markdown, "| %llu | %s | %s | %s | %s | %s | %s | %s |\n",
            (unsigned long long)row->arm->config.ranks.checkpoint_every, peak, reduction, bound,
            bound_reduction, behind_mean, behind_max, origin);
}

static void write_sizes(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    const struct config *config = &data->arms[0].config;
    char duration[TEXT_MAX];
    char period[TEXT_MAX];
    text_duration(config->run.duration_ns, duration);
    text_duration(config->reclaim.period_ns, period);
    if (!has_form(data)) {
        fprintf(markdown,
                "Without reclamation nothing was committed in the whole run (%s): there "
                "is no reduction, and no closed form of it.\n\n",
                duration);
        return;
    }
    fprintf(markdown,
            "Without reclamation %.2f GiB are stored at the end (reported: %.2f): the rate, the "
            "size of a TGB and the length of the run (%s) were chosen for that. %llu ranks, %llu "
            "checkpoints kept, one reclaimer, a round about every %s.\n\n",
            made_gib(data), reported_number(page->reported, "P7", "peak_without"), duration,
            (unsigned long long)config->ranks.count,
            (unsigned long long)config->ranks.checkpoints_kept, period);
}

static void write_answer(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *arm = chosen_arm(data);
    if (arm == NULL || !has_form(data))
        return;
    double asked = -reported_number(page->reported, "P7", "storage");
    struct storage_bound bound = bound_of(data, arm, LAG_MEAN);
    double stored = (1 - asked / 100) * bound.steps;
    fprintf(markdown,
            "**Closed form** (`experiments/figures/storage_bound.h`): kept x period, and what is "
            "made while the slowest rank is behind and the reclaimer is late; with the mean lags "
            "and with the longest. By it the reported %.1f %% is had at a period of %.0f steps "
            "(mean lags). The paper states neither its period nor its sizes. The period that is "
            "compared, %llu steps, was chosen because it comes near the reported reduction: the "
            "reduction can be chosen, and what is found is that nothing else is stored.\n\n",
            asked, storage_bound_period(&bound, stored),
            (unsigned long long)arm->config.ranks.checkpoint_every);
}

static void p7_paper(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    if (without_arm(data) == NULL) {
        fprintf(markdown, "The run without reclamation is missing.\n\n");
        return;
    }
    write_sizes(page, markdown);
    fprintf(markdown, "| steps between checkpoints | peak, GiB | reduction %% | closed form, GiB | "
                      "reduction %% | behind, steps: mean | most | seeds | config | commit |\n"
                      "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < data->arm_count; i++) {
        if (!reclaims(&data->arms[i]))
            continue;
        struct row row = row_of(data, &data->arms[i]);
        write_row(data, &row, markdown);
    }
    fprintf(markdown, "\n");
    write_answer(page, markdown);
}

static void p7_headline(const struct figure_page *page, FILE *text)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *arm = chosen_arm(data);
    if (arm == NULL || without_arm(data) == NULL)
        return;
    if (!has_form(data)) {
        fprintf(text, "nothing was committed without reclamation: there is no reduction\n");
        return;
    }
    struct row row = row_of(data, arm);
    fprintf(
        text,
        "peak storage %.2f GiB without reclamation, %.2f GiB with checkpoints every %llu steps: "
        "%.1f %% less (reported %.1f);\nclosed form: %.2f to %.2f GiB\n",
        made_gib(data), row.peak.mean, (unsigned long long)arm->config.ranks.checkpoint_every,
        row.reduction.mean, -reported_number(page->reported, "P7", "storage"), row.bound_mean,
        row.bound_worst);
}

static void p7_summary(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *arm = chosen_arm(data);
    if (arm == NULL || without_arm(data) == NULL || !has_form(data)) {
        fprintf(markdown, "not run | not run | not known | - |\n");
        return;
    }
    char peak[TEXT_MAX];
    char reduction[TEXT_MAX];
    char tgb[UNIT_TEXT_MAX];
    struct row row = row_of(data, arm);
    /* To a TGB. */
    double slack = tgb_gib(arm) + (isfinite(row.peak.half_width) ? row.peak.half_width : 0);
    bool within =
        row.peak.mean >= row.bound_mean - slack && row.peak.mean <= row.bound_worst + slack;
    text_mean(row.peak, 1, 2, peak);
    text_mean(row.reduction, 1, 1, reduction);
    unit_print_bytes(arm->config.workload.tgb_bytes, tgb);
    fprintf(markdown,
            "%.2f to %s GiB, -%s %%, with checkpoints every %llu steps (%zu seeds) | not run | "
            "%s the closed form (%.2f to %.2f GiB): kept x period, and the lags. The sizes and "
            "the period are ours: they were chosen for the reported peak and reduction, and "
            "another period gives another | `ranks.checkpoint_every` %llu, "
            "`ranks.checkpoints_kept` %llu, "
            "`workload.tgb` %s, `run.duration` %.0f s |\n",
            made_gib(data), peak, reduction, (unsigned long long)arm->config.ranks.checkpoint_every,
            arm->run_count, within ? "as" : "**not as**", row.bound_mean, row.bound_worst,
            (unsigned long long)arm->config.ranks.checkpoint_every,
            (unsigned long long)arm->config.ranks.checkpoints_kept, tgb,
            (double)arm->config.run.duration_ns / 1e9);
}

const struct figure figure_p7 = {
    .name = "p7",
    .title = "Storage over time, with reclamation driven by checkpoints and without",
    .plot = p7_plot,
    .paper = p7_paper,
    .headline = p7_headline,
    .reported = "P7",
    .summary = p7_summary,
};
