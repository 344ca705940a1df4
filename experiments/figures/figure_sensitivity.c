/* figure_sensitivity.c - one assumption changed at a time: how much the findings depend on it. */
#include <math.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_curve.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper_rules.h"

static const struct {
    const char *key;
    const char *label;
} labels[] = {
    {"workload.tgb", "TGB size"},
    {"workload.producers", "producers"},
    {"workload.rate", "rate of a producer"},
    {"manifest.entry", "bytes of an entry"},
    {"policy.dac.kappa", "conflict budget kappa"},
    {"policy.dac.rho", "overhead budget rho"},
};

/* The key itself where it has no better name. */
static const char *label_of(const char *key)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].label;
    return key;
}

static struct statistics_mean offered_share(const struct figure_data *data,
                                            const struct figure_arm *arm, int hour)
{
    struct statistics_mean mean = figure_hour_mean(data, arm, "committed_mb_s", hour);
    mean.mean /= figure_offered_mb_s(arm);
    mean.half_width /= figure_offered_mb_s(arm);
    return mean;
}

static void plot_group(const struct figure_data *data, size_t first, int hour, FILE *points)
{
    size_t end = curve_group_end(data, first);
    fprintf(points, "\n\n# %s hour %d\n", data->arms[first].group, hour);
    for (size_t i = first; i < end; i++) {
        const struct figure_arm *arm = &data->arms[i];
        char swept[TEXT_MAX];
        text_swept(arm, swept);
        fprintf(points, "%zu\t%s\t%d", i - first, swept, swept_is_default(arm));
        points_mean(points, figure_hour_mean(data, arm, "success", hour), 100);
        points_mean(points, offered_share(data, arm, hour), 100);
        points_mean(points, figure_hour_mean(data, arm, "age_median_s", hour), 1);
        fprintf(points, "\n");
    }
}

/* The lowest and highest means of both hours, in percent and seconds: what all panels of a row
 * span.
 */
static void write_ranges(const struct figure_data *data, struct rule_hours hours, FILE *variables)
{
    double success = 1;
    double share = 1;
    double share_most = 1;
    double age[2] = {NAN, NAN};
    for (size_t i = 0; i < data->arm_count; i++) {
        for (int k = 0; hours.late > 0 && k < 2; k++) {
            const struct figure_arm *arm = &data->arms[i];
            int hour = k == 0 ? hours.early : hours.late;
            success = fmin(success, figure_hour_mean(data, arm, "success", hour).mean);
            share = fmin(share, offered_share(data, arm, hour).mean);
            share_most = fmax(share_most, offered_share(data, arm, hour).mean);
            double age_s = figure_hour_mean(data, arm, "age_median_s", hour).mean;
            age[0] = fmin(age[0], age_s);
            age[1] = fmax(age[1], age_s);
        }
    }
    fprintf(variables, "measured = %d\n", isfinite(age[0]));
    if (!isfinite(age[0]))
        return;
    fprintf(variables,
            "lowest_success = %.9g\nlowest_share = %.9g\nhighest_share = %.9g\n"
            "lowest_age = %.9g\nhighest_age = %.9g\n",
            100 * success, 100 * share, 100 * share_most, age[0], age[1]);
}

static void sensitivity_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    struct rule_hours hours = rule_hours(data);
    size_t groups = 0;
    fprintf(points, "# position, swept value, is it the default, success %% (mean, low, high), "
                    "MB/s as %% of what is offered (..), median age s (..); blocks: group, hour");
    for (size_t i = 0; hours.late > 0 && i < data->arm_count; i = curve_group_end(data, i)) {
        char name[16];
        plot_group(data, i, hours.early, points);
        plot_group(data, i, hours.late, points);
        fprintf(variables, "count_%zu = %zu\n", ++groups, curve_group_end(data, i) - i);
        snprintf(name, sizeof(name), "label_%zu", groups);
        variable_text(variables, name, label_of(data->arms[i].sweep_key));
    }
    fprintf(points, "\n");
    write_ranges(data, hours, variables);
    fprintf(variables, "group_count = %zu\nearly_hour = %d\nlate_hour = %d\n", groups, hours.early,
            hours.late);
}

static void sensitivity_paper(const struct figure_page *page, FILE *markdown)
{
    struct rule_hours hours = rule_hours(page->data);
    fprintf(markdown,
            "| changed | value | success %% h%d | h%d | MB/s h%d | of offered %% | median age s "
            "h%d | h%d | manifest MiB h%d | seeds | config | commit |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            hours.early, hours.late, hours.late, hours.early, hours.late, hours.late);
    for (size_t i = 0; i < page->data->arm_count; i++) {
        const struct figure_data *data = page->data;
        const struct figure_arm *arm = &data->arms[i];
        char cells[7][TEXT_MAX];
        char swept[TEXT_MAX];
        char origin[TEXT_MAX];
        text_origin(arm, origin);
        text_swept(arm, swept);
        text_mean(figure_hour_mean(data, arm, "success", hours.early), 100, 2, cells[0]);
        text_mean(figure_hour_mean(data, arm, "success", hours.late), 100, 2, cells[1]);
        text_mean(figure_hour_mean(data, arm, "committed_mb_s", hours.late), 1, 1, cells[2]);
        text_mean(offered_share(data, arm, hours.late), 100, 1, cells[3]);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", hours.early), 1, cells[4]);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", hours.late), 1, cells[5]);
        text_mean_short(figure_hour_mean(data, arm, "manifest_bytes", hours.late), 1.0 / 1048576,
                        cells[6]);
        fprintf(markdown, "| %s | %s%s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                label_of(arm->sweep_key), swept, swept_is_default(arm) ? " (default)" : "",
                cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], origin);
    }
    fprintf(markdown, "\n");
}

static void sensitivity_headline(const struct figure_page *page, FILE *text)
{
    const struct figure_data *data = page->data;
    int late = rule_hours(data).late;
    for (size_t i = 0; late > 0 && i < data->arm_count; i = curve_group_end(data, i)) {
        size_t last = curve_group_end(data, i) - 1;
        char low[TEXT_MAX];
        char high[TEXT_MAX];
        char age_low[TEXT_MAX];
        char age_high[TEXT_MAX];
        char from[TEXT_MAX];
        char to[TEXT_MAX];
        text_swept(&data->arms[i], from);
        text_swept(&data->arms[last], to);
        text_mean(figure_hour_mean(data, &data->arms[i], "success", late), 100, 1, low);
        text_mean(figure_hour_mean(data, &data->arms[last], "success", late), 100, 1, high);
        text_number(figure_hour_mean(data, &data->arms[i], "age_median_s", late).mean, age_low);
        text_number(figure_hour_mean(data, &data->arms[last], "age_median_s", late).mean, age_high);
        fprintf(text, "%s %s to %s: success %s to %s %%, median age %s to %s s (hour %d)\n",
                label_of(data->arms[i].sweep_key), from, to, low, high, age_low, age_high, late);
    }
}

const struct figure figure_sensitivity = {
    .name = "sensitivity",
    .title = "How much the findings depend on what the paper leaves open",
    .plot = sensitivity_plot,
    .paper = sensitivity_paper,
    .headline = sensitivity_headline,
};
