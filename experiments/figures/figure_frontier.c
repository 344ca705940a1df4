/* figure_frontier.c - success against freshness, each policy's constants swept, a curve for one of
 * them, in the first hour and in the last: what a budget buys, and whether it still does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_curve.h"
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

/* Returns how many points there are to be seen. */
static size_t plot_hour(const struct figure_data *data, int hour, FILE *points)
{
    size_t seen = 0;
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *arm = &data->arms[i];
        char swept[TEXT_MAX];
        text_swept(arm, swept);
        if (i == 0 || strcmp(data->arms[i - 1].group, arm->group) != 0)
            fprintf(points, "\n\n# hour %d %s\n", hour, arm->group);
        fprintf(points, "%s\t%d", swept, swept_is_default(arm));
        struct statistics_mean age = figure_hour_mean(data, arm, "age_median_s", hour);
        struct statistics_mean success = figure_hour_mean(data, arm, "success", hour);
        points_mean(points, age, 1);
        points_mean(points, success, 100);
        fprintf(points, "\n");
        seen += age.count > 0 && success.count > 0;
    }
    return seen;
}

static void write_swept(const struct figure_arm *arm, FILE *variables)
{
    char swept[TEXT_MAX];
    text_swept(arm, swept);
    fprintf(variables, "%s ", swept);
}

static void frontier_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    int late = figure_hours(data);
    size_t groups = 0;
    fprintf(points, "# swept value, is it the default, median age s (mean, low, high), success %% "
                    "(mean, low, high); one block an hour and group");
    size_t seen = late > 0 ? plot_hour(data, 1, points) + plot_hour(data, late, points) : 0;
    fprintf(points, "\n");
    fprintf(variables, "measured = %zu\ngroups = '", seen);
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i), groups++)
        fprintf(variables, "%s%s", groups > 0 ? " " : "", data->arms[i].group);
    fprintf(variables, "'\nswept = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%s%s", i > 0 ? " " : "",
                data->arms[i].sweep_key[0] ? data->arms[i].sweep_key : "-");
    fprintf(variables, "'\nstyles = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%s%d", i > 0 ? " " : "", figure_style(data, i));
    fprintf(variables, "'\ncounts = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        fprintf(variables, "%s%zu", i > 0 ? " " : "", curve_group_end(data, i) - i);
    fprintf(variables, "'\nvalue_first = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        write_swept(&data->arms[i], variables);
    fprintf(variables, "'\nvalue_last = '");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i))
        write_swept(&data->arms[curve_group_end(data, i) - 1], variables);
    fprintf(variables, "'\ngroup_count = %zu\nlate_hour = %d\nreported_success = %.9g\n", groups,
            late, reported_number(page->reported, "P1", "success"));
}

/* ---- statements ---- */

/* The group of dac with the default estimator: what the others are compared with. arm_count where
 * there is none. */
static size_t reference_group(const struct figure_data *data)
{
    struct config defaults;
    const struct option *estimator = option_find("policy.dac.estimator");
    config_default(&defaults);
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
        double choice = option_number(&data->arms[i].config, estimator);
        if (rule_has_budget(&data->arms[i]) &&
            fabs(choice - option_number(&defaults, estimator)) < 0.5)
            return i;
    }
    return data->arm_count;
}

static void print_estimate(struct curve_estimate estimate, FILE *markdown)
{
    char value[TEXT_MAX];
    char low[TEXT_MAX];
    char high[TEXT_MAX];
    text_number(estimate.value, value);
    text_number(estimate.low, low);
    text_number(estimate.high, high);
    if (!isfinite(estimate.value))
        fprintf(markdown, " not reached |");
    else if (!isfinite(estimate.low + estimate.high))
        fprintf(markdown, " %s |", value);
    else
        fprintf(markdown, " %s (%s to %s) |", value, low, high);
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

static void write_ages(const struct figure_page *page, int hour, size_t reference, FILE *markdown)
{
    double targets[TARGET_COUNT];
    struct curve against = {0};
    const struct figure_data *data = page->data;
    targets_of(page, targets);
    curve_read(data, reference, hour, &against);
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
        struct curve curve;
        curve_read(data, i, hour, &curve);
        fprintf(markdown, "\n| %d | %s |", hour, data->arms[i].group);
        for (size_t k = 0; k < TARGET_COUNT; k++) {
            print_estimate(curve_age_at(&curve, targets[k]), markdown);
            if (i == reference)
                fprintf(markdown, " - |");
            else
                fprintf(markdown, " %s |", judge(&curve, &against, targets[k]));
        }
        curve_deinit(&curve);
    }
    curve_deinit(&against);
}

static void write_comparison(const struct figure_page *page, FILE *markdown)
{
    double targets[TARGET_COUNT];
    const struct figure_data *data = page->data;
    size_t reference = reference_group(data);
    int late = figure_hours(data);
    targets_of(page, targets);
    if (reference == data->arm_count)
        return;
    fprintf(markdown,
            "**The median age at which a success is had**, in seconds, by interpolation along each "
            "curve, and how it compares with %s at the same success (95 %% interval of the ratio "
            "of ages, jackknife over seeds: fresher or staler only where it excludes 1).\n\n"
            "| hour | policy |",
            data->arms[reference].group);
    for (size_t k = 0; k < TARGET_COUNT; k++)
        fprintf(markdown, " age at %.1f %% | against %s |", 100 * targets[k],
                data->arms[reference].group);
    fprintf(markdown, "\n|---|---|");
    for (size_t k = 0; k < TARGET_COUNT; k++)
        fprintf(markdown, "---|---|");
    write_ages(page, 1, reference, markdown);
    if (late > 1)
        write_ages(page, late, reference, markdown);
    fprintf(markdown, "\n\n");
}

/* Whether what the group holds this constant at says something: it is not the default, or another
 * group of its policy sweeps it or holds it elsewhere. */
static bool is_held(const struct figure_data *data, size_t group, const struct option *option)
{
    const struct figure_arm *arm = &data->arms[group];
    const char *policy = config_policy_kind(&arm->config)->name;
    struct config defaults;
    char ours[OPTION_TEXT_MAX];
    char other[OPTION_TEXT_MAX];
    if (strncmp(option->key, "policy.", 7) != 0 ||
        strncmp(option->key + 7, policy, strlen(policy)) != 0 ||
        option->key[7 + strlen(policy)] != '.' || strcmp(option->key, arm->sweep_key) == 0)
        return false;
    config_default(&defaults);
    option_print(&arm->config, option, ours);
    option_print(&defaults, option, other);
    bool held = strcmp(ours, other) != 0;
    for (size_t i = 0; i < data->arm_count; i++) {
        option_print(&data->arms[i].config, option, other);
        held = held || (strcmp(config_policy_kind(&data->arms[i].config)->name, policy) == 0 &&
                        strcmp(ours, other) != 0);
    }
    return held;
}

/* What stands behind two curves of one policy. */
static void write_held(const struct figure_data *data, FILE *markdown)
{
    const char *separator = " Held:";
    fprintf(markdown, "**A curve is of one constant**; the others of its policy are held, at "
                      "values that are choices of ours, and where they are held can move a curve "
                      "as much as another policy does.");
    for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
        bool named = false;
        for (size_t k = 0; k < option_count(); k++) {
            char value[OPTION_TEXT_MAX];
            if (!is_held(data, i, option_at(k)))
                continue;
            option_print(&data->arms[i].config, option_at(k), value);
            fprintf(markdown, "%s", named ? "," : separator);
            if (!named)
                fprintf(markdown, " %s", data->arms[i].group);
            fprintf(markdown, " `%s` %s", option_at(k)->key, value);
            named = true;
            separator = ";";
        }
    }
    fprintf(markdown, "%s\n\n", separator[0] == ';' ? "." : "");
}

static void write_budgets(const struct figure_data *data, FILE *markdown)
{
    int late = figure_hours(data);
    fprintf(markdown,
            "**What a conflict budget buys.** Asked is 1 - kappa; got is the success of the hour; "
            "where the overhead budget asks for a longer gap, more than asked is got.\n\n"
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
        if (!rule_has_budget(arm))
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
    write_comparison(page, markdown);
    write_held(page->data, markdown);
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
static void print_groups(const struct figure_data *data, int hour, double success, FILE *text)
{
    static const char *const words[] = {"fresher", "staler", "no difference shown", "not known",
                                        "not reached"};
    const size_t compared = 2; /* words that say than what */
    const char *separator = "";
    size_t reference = reference_group(data);
    struct curve against;
    curve_read(data, reference, hour, &against);
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        bool named = false;
        for (size_t i = 0; i < data->arm_count; i = curve_group_end(data, i)) {
            struct curve curve;
            curve_read(data, i, hour, &curve);
            if (i != reference && strcmp(judge(&curve, &against, success), words[k]) == 0) {
                fprintf(text, "%s", named ? ", " : separator);
                if (!named && k < compared)
                    fprintf(text, "%s than %s: ", words[k], data->arms[reference].group);
                else if (!named)
                    fprintf(text, "%s: ", words[k]);
                fprintf(text, "%s", data->arms[i].group);
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
    int late = figure_hours(page->data);
    size_t reference = reference_group(page->data);
    targets_of(page, targets);
    if (late == 0 || reference == page->data->arm_count)
        return;
    for (size_t k = TARGET_COUNT - 2; k < TARGET_COUNT; k++) {
        fprintf(text, "at %.1f %% success in hour %d: ", 100 * targets[k], late);
        print_groups(page->data, late, targets[k], text);
    }
}

const struct figure figure_frontier = {
    .name = "frontier",
    .title = "Commit success against freshness, each policy's constants swept",
    .plot = frontier_plot,
    .paper = frontier_paper,
    .detail = frontier_detail,
    .headline = frontier_headline,
};
