/* figure_frontier.c - success against freshness, what each policy can have with its constants
 * swept, in the first hour and in the last: what a budget buys, and whether it still does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_curve.h"
#include "experiments/figures/figure_front.h"
#include "experiments/figures/figure_style.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper_rules.h"

#define TARGET_COUNT 3
#define APART_FACTOR 2 /* between the ages of two seeds */

/* Successes at which ages are compared; the last is the reported one. */
static void targets_of(const struct figure_page *page, double targets[TARGET_COUNT])
{
    targets[0] = 0.8;
    targets[1] = 0.9;
    targets[2] = reported_number(page->reported, "P1", "success") / 100;
}

static void write_point(const struct contender *contender, const struct front_point *point,
                        FILE *points)
{
    char name[FIGURE_NAME_MAX];
    contender_point(contender, point->arm, name);
    fprintf(points, "%s\t%d", name, contender_at_defaults(point->arm, ""));
    points_mean(points, point->age_s, 1);
    points_mean(points, point->success, 100);
    fprintf(points, "\n");
}

/* Two blocks: what no other of its settings beats, and the others. Returns how many there are. */
static size_t plot_contender(const struct figure_data *data, const struct contender *contender,
                             int hour, FILE *points)
{
    struct front front;
    front_read(data, contender, hour, &front);
    for (int beaten = 0; beaten < 2; beaten++) {
        fprintf(points, "\n\n# hour %d %s %s\n", hour, contender->name,
                beaten ? "beaten" : "front");
        fprintf(points, "-\t0\tNaN\tNaN\tNaN\tNaN\tNaN\tNaN\n"); /* no block is empty */
        for (size_t i = 0; i < front.count; i++)
            if (front.points[i].beaten == (beaten == 1))
                write_point(contender, &front.points[i], points);
    }
    size_t count = front.count;
    front_deinit(&front);
    return count;
}

/* "aimd: policy.aimd.factor, 3 lines". */
static void legend_of(const struct figure_data *data, const struct contender *contender,
                      char text[CAPTION_MAX])
{
    const struct figure_arm *first = &data->arms[contender->arms[0]];
    size_t used = (size_t)snprintf(text, CAPTION_MAX, "%.80s: %.80s", contender->name,
                                   first->sweep_key[0] ? first->sweep_key : "–");
    if (contender->lines > 1)
        snprintf(text + used, CAPTION_MAX - used, ", %zu lines", contender->lines);
}

static void frontier_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    struct contenders contenders;
    int late = figure_hours(data);
    contenders_read(data, &contenders);
    fprintf(points, "# setting, is it the default, median age s (mean, low, high), success %% "
                    "(mean, low, high); two blocks an hour and policy: its front, the others");
    size_t measured = 0;
    for (int k = 0; k < 2 && late > 0; k++)
        for (size_t i = 0; i < contenders.count; i++)
            measured += plot_contender(data, &contenders.items[i], k == 0 ? 1 : late, points);
    fprintf(points, "\n");
    fprintf(variables, "measured = %zu\nstyles = '", measured);
    for (size_t i = 0; i < contenders.count; i++)
        fprintf(variables, "%s%d", i > 0 ? " " : "", contender_style(data, &contenders, i));
    fprintf(variables, "'\ncontender_count = %zu\nlate_hour = %d\nreported_success = %.9g\n",
            contenders.count, late, reported_number(page->reported, "P1", "success"));
    for (size_t i = 0; i < contenders.count; i++) {
        char name[TEXT_MAX];
        char legend[CAPTION_MAX];
        snprintf(name, sizeof(name), "legend_%zu", i + 1);
        legend_of(data, &contenders.items[i], legend);
        variable_text(variables, name, legend);
    }
    contenders_deinit(&contenders);
}

/* ---- statements ---- */

/* dac with the default estimator: what the others are compared with. The count of contenders where
 * it is none of them. */
static size_t reference_of(const struct figure_data *data, const struct contenders *contenders)
{
    struct config defaults;
    const struct option *estimator = option_find("policy.dac.estimator");
    size_t index = 0;
    config_default(&defaults);
    for (; index < contenders->count; index++) {
        const struct figure_arm *arm = &data->arms[contenders->items[index].arms[0]];
        double choice = option_number(&arm->config, estimator);
        if (rule_has_budget(arm) && fabs(choice - option_number(&defaults, estimator)) < 0.5)
            break;
    }
    return index;
}

/* With the line that it is had on, where there are several. */
static void print_estimate(const struct figure_data *data, const struct contender *contender,
                           struct curve_estimate estimate, FILE *markdown)
{
    char value[TEXT_MAX];
    char low[TEXT_MAX];
    char high[TEXT_MAX];
    text_number(estimate.value, value);
    text_number(estimate.low, low);
    text_number(estimate.high, high);
    if (!isfinite(estimate.value)) {
        fprintf(markdown, " not reached |");
        return;
    }
    fprintf(markdown, " %s", value);
    if (isfinite(estimate.low + estimate.high))
        fprintf(markdown, " (%s to %s)", low, high);
    if (contender->lines > 1)
        fprintf(markdown, " %s", data->arms[contender->arms[estimate.point]].group);
    fprintf(markdown, " |");
}

/* How a curve's age compares with the reference's at the same success. */
static const char *judge(const struct curve *curve, const struct curve *against, double success)
{
    struct curve_estimate ratio = curve_age_ratio(curve, against, success);
    if (!isfinite(curve_age_at(curve, success).value))
        return "not reached";
    if (!isfinite(ratio.low + ratio.high))
        return "not known";
    return ratio.high < 1 ? "fresher" : ratio.low > 1 ? "staler" : "no difference shown";
}

static void write_ages(const struct figure_page *page, const struct contenders *contenders,
                       int hour, FILE *markdown)
{
    double targets[TARGET_COUNT];
    struct curve against;
    const struct figure_data *data = page->data;
    size_t reference = reference_of(data, contenders);
    targets_of(page, targets);
    curve_read(data, &contenders->items[reference], hour, &against);
    for (size_t i = 0; i < contenders->count; i++) {
        const struct contender *contender = &contenders->items[i];
        struct curve curve;
        curve_read(data, contender, hour, &curve);
        fprintf(markdown, "\n| %d | %s |", hour, contender->name);
        for (size_t k = 0; k < TARGET_COUNT; k++) {
            print_estimate(data, contender, curve_age_at(&curve, targets[k]), markdown);
            fprintf(markdown, " %s |", i == reference ? "-" : judge(&curve, &against, targets[k]));
        }
        curve_deinit(&curve);
    }
    curve_deinit(&against);
}

static void write_comparison(const struct figure_page *page, const struct contenders *contenders,
                             FILE *markdown)
{
    double targets[TARGET_COUNT];
    size_t reference = reference_of(page->data, contenders);
    int late = figure_hours(page->data);
    targets_of(page, targets);
    if (reference == contenders->count)
        return;
    const char *name = contenders->items[reference].name;
    fprintf(markdown,
            "**The median age at which a success is had**, in seconds, by interpolation along the "
            "line of settings on which it is freshest, and how it compares with %s at the same "
            "success (95 %% interval of the ratio of ages, jackknife over seeds: fresher or staler "
            "only where it excludes 1). A line is a group of arms: one constant swept, the others "
            "held. Choosing the "
            "best of several lines flatters a policy: its side of the interval is widened for it "
            "(Bonferroni).\n\n| hour | "
            "policy |",
            name);
    for (size_t k = 0; k < TARGET_COUNT; k++)
        fprintf(markdown, " age at %.1f %% | against %s |", 100 * targets[k], name);
    fprintf(markdown, "\n|---|---|");
    for (size_t k = 0; k < TARGET_COUNT; k++)
        fprintf(markdown, "---|---|");
    write_ages(page, contenders, 1, markdown);
    if (late > 1)
        write_ages(page, contenders, late, markdown);
    fprintf(markdown, "\n\n");
}

/* What sets policies apart once each is set well: what becomes of the setting. */
static void write_drift(const struct figure_page *page, const struct contenders *contenders,
                        FILE *markdown)
{
    double targets[TARGET_COUNT];
    const struct figure_data *data = page->data;
    int late = figure_hours(data);
    targets_of(page, targets);
    if (late <= 1)
        return;
    fprintf(markdown,
            "**What becomes of one setting.** Of each policy the setting whose success in hour 1 "
            "is nearest to %.1f %%, of those that no other of its settings beats in both success "
            "and age.\n\n| policy | setting | success %% h1 | h%d | median age s h1 | h%d | MB/s "
            "h%d | Jain h%d |\n|---|---|---|---|---|---|---|---|\n",
            100 * targets[TARGET_COUNT - 1], late, late, late, late);
    for (size_t i = 0; i < contenders->count; i++) {
        const struct contender *contender = &contenders->items[i];
        struct front front;
        front_read(data, contender, 1, &front);
        const struct figure_arm *arm = front_nearest(&front, targets[TARGET_COUNT - 1]);
        front_deinit(&front);
        char cells[6][TEXT_MAX];
        char setting[FIGURE_NAME_MAX];
        if (arm == NULL)
            continue;
        contender_point(contender, arm, setting);
        text_mean(figure_hour_mean(data, arm, "success", 1), 100, 2, cells[0]);
        text_mean(figure_hour_mean(data, arm, "success", late), 100, 2, cells[1]);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", 1), 1, cells[2]);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", late), 1, cells[3]);
        text_mean(figure_hour_mean(data, arm, "committed_mb_s", late), 1, 1, cells[4]);
        text_mean(figure_hour_mean(data, arm, "fairness_jain", late), 1, 3, cells[5]);
        fprintf(markdown, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", contender->name, setting,
                cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]);
    }
    fprintf(markdown, "\n");
}

static void write_budgets(const struct figure_data *data, FILE *markdown)
{
    int late = figure_hours(data);
    fprintf(markdown,
            "**What a conflict budget buys.** Asked is 1 - kappa; got is the success of the hour; "
            "where the overhead budget asks for a longer gap, more than asked is got. The other "
            "constants are at their defaults.\n\n"
            "| dac | kappa | asked %% | got h1 %% | got h%d %% | h%d less asked, points | median "
            "age s h1 | h%d |\n|---|---|---|---|---|---|---|---|\n",
            late, late, late);
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *arm = &data->arms[i];
        char first[TEXT_MAX];
        char last[TEXT_MAX];
        char distance[TEXT_MAX];
        char age[TEXT_MAX];
        char late_age[TEXT_MAX];
        if (!rule_has_budget(arm) || !contender_at_defaults(arm, "policy.dac.kappa"))
            continue;
        double asked = rule_asked(arm);
        struct statistics_mean success = figure_hour_mean(data, arm, "success", late);
        text_mean(figure_hour_mean(data, arm, "success", 1), 100, 2, first);
        text_mean(success, 100, 2, last);
        success.mean -= asked;
        text_mean(success, 100, 2, distance);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", 1), 1, age);
        text_mean_short(figure_hour_mean(data, arm, "age_median_s", late), 1, late_age);
        fprintf(markdown, "| %s | %.3g | %.1f | %s | %s | %s | %s | %s |\n", arm->group, 1 - asked,
                100 * asked, first, last, distance, age, late_age);
    }
    fprintf(markdown, "\n");
}

/* The least and the most that a seed has; false where they do not differ by the factor. */
static bool falls_apart(const struct figure_data *data, const struct figure_arm *arm, int hour,
                        double ages_s[2])
{
    double *values = calloc(arm->run_count + 1, sizeof(*values));
    assert(values != NULL);
    figure_hour_metric(data, arm, "age_median_s", hour, values);
    ages_s[0] = INFINITY;
    ages_s[1] = 0;
    for (size_t i = 0; i < arm->run_count; i++) {
        ages_s[0] = fmin(ages_s[0], values[i]);
        ages_s[1] = fmax(ages_s[1], values[i]);
    }
    free(values);
    return ages_s[1] > APART_FACTOR * ages_s[0];
}

/* A mean and its interval say little of runs that end in two ways. */
static void write_apart(const struct figure_data *data, FILE *markdown)
{
    bool any = false;
    int late = figure_hours(data);
    for (size_t i = 0; i < data->arm_count; i++)
        for (int hour = 1; hour <= late; hour += late > 1 ? late - 1 : 1) {
            double ages_s[2];
            char swept[TEXT_MAX];
            char least[TEXT_MAX];
            char most[TEXT_MAX];
            if (!falls_apart(data, &data->arms[i], hour, ages_s))
                continue;
            text_swept(&data->arms[i], swept);
            text_number(ages_s[0], least);
            text_number(ages_s[1], most);
            fprintf(markdown, "%s%s %s in hour %d (%s to %s s)",
                    any ? "; "
                        : "**Seeds that fall apart.** One seed's median age is more than twice "
                          "another's, and a mean with its interval says little: ",
                    data->arms[i].group, swept, hour, least, most);
            any = true;
        }
    if (any)
        fprintf(markdown, ".\n\n");
}

static void frontier_paper(const struct figure_page *page, FILE *markdown)
{
    if (figure_hours(page->data) == 0) {
        fprintf(markdown, "The runs are shorter than one hour: there are no hours to compare.\n\n");
        return;
    }
    struct contenders contenders;
    contenders_read(page->data, &contenders);
    write_comparison(page, &contenders, markdown);
    write_drift(page, &contenders, markdown);
    contenders_deinit(&contenders);
    write_budgets(page->data, markdown);
    write_apart(page->data, markdown);
}

static void frontier_detail(const struct figure_page *page, FILE *markdown)
{
    int late = figure_hours(page->data);
    fprintf(markdown,
            "**Every point.**\n\n| policy | constant | value | success %% h1 | h%d | median age s "
            "h1 | h%d | MB/s h%d | seeds | config | commit |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n",
            late, late, late);
    for (size_t i = 0; i < page->data->arm_count; i++) {
        const struct figure_arm *arm = &page->data->arms[i];
        char cells[5][TEXT_MAX];
        char swept[TEXT_MAX];
        char origin[TEXT_MAX];
        text_origin(arm, origin);
        text_swept(arm, swept);
        text_mean(figure_hour_mean(page->data, arm, "success", 1), 100, 2, cells[0]);
        text_mean(figure_hour_mean(page->data, arm, "success", late), 100, 2, cells[1]);
        text_mean_short(figure_hour_mean(page->data, arm, "age_median_s", 1), 1, cells[2]);
        text_mean_short(figure_hour_mean(page->data, arm, "age_median_s", late), 1, cells[3]);
        text_mean(figure_hour_mean(page->data, arm, "committed_mb_s", late), 1, 1, cells[4]);
        fprintf(markdown, "| %s | %s | %s%s | %s | %s | %s | %s | %s | %s |\n", arm->group,
                arm->sweep_key, swept, swept_is_default(arm) ? " (default)" : "", cells[0],
                cells[1], cells[2], cells[3], cells[4], origin);
    }
}

/* "staler than dac-model: aimd, dac-rate; no difference shown: fixed" at this success, in the order
 * of the words. */
static void print_verdicts(const struct figure_data *data, const struct contenders *contenders,
                           int hour, double success, FILE *text)
{
    static const char *const words[] = {"fresher", "staler", "no difference shown", "not known",
                                        "not reached"};
    const size_t compared = 2; /* words that say than what */
    const char *separator = "";
    size_t reference = reference_of(data, contenders);
    struct curve against;
    curve_read(data, &contenders->items[reference], hour, &against);
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        bool named = false;
        for (size_t i = 0; i < contenders->count; i++) {
            struct curve curve;
            curve_read(data, &contenders->items[i], hour, &curve);
            if (i != reference && strcmp(judge(&curve, &against, success), words[k]) == 0) {
                fprintf(text, "%s", named ? ", " : separator);
                if (!named && k < compared)
                    fprintf(text, "%s than %s: ", words[k], contenders->items[reference].name);
                else if (!named)
                    fprintf(text, "%s: ", words[k]);
                fprintf(text, "%s", contenders->items[i].name);
                named = true;
                separator = "; ";
            }
            curve_deinit(&curve);
        }
    }
    fprintf(text, "\n");
    curve_deinit(&against);
}

static void frontier_headline(const struct figure_page *page, FILE *text)
{
    double targets[TARGET_COUNT];
    struct contenders contenders;
    int late = figure_hours(page->data);
    targets_of(page, targets);
    contenders_read(page->data, &contenders);
    bool comparable = late > 0 && reference_of(page->data, &contenders) < contenders.count;
    for (size_t k = TARGET_COUNT - 2; comparable && k < TARGET_COUNT; k++) {
        fprintf(text, "at %.1f %% success in hour %d, each policy at its best setting: ",
                100 * targets[k], late);
        print_verdicts(page->data, &contenders, late, targets[k], text);
    }
    contenders_deinit(&contenders);
}

const struct figure figure_frontier = {
    .name = "frontier",
    .title = "Commit success against freshness: what each policy can have, its constants swept",
    .plot = frontier_plot,
    .paper = frontier_paper,
    .detail = frontier_detail,
    .headline = frontier_headline,
};
