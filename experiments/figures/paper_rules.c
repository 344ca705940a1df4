/* paper_rules.c - what a policy gives up and when, and whether a budget holds. The thresholds are
 * ours; the tables print them beside every verdict. */
#include "experiments/figures/paper_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_text.h"

struct rule_hours rule_hours(const struct figure_data *data)
{
    int late = figure_hours(data);
    return (struct rule_hours){late < RULE_EARLY_HOUR ? late : RULE_EARLY_HOUR, late};
}

/* ---- what is given up ---- */

enum side {
    LOST_BELOW,
    LOST_ABOVE,
};

/* What one seed of an arm had in an hour, and in the early hour; judged against a limit. */
struct loss_rule {
    const char *name;
    const char *form; /* of the measure, with one %s */
    const char *metric;
    double (*measure)(const struct figure_arm *arm, double value, double early);
    double (*limit)(const struct reported *reported);
    enum side side;
    bool later_only; /* compares with the early hour: from the next hour on */
};

static double percent(const struct figure_arm *arm, double value, double early)
{
    (void)arm;
    (void)early;
    return 100 * value;
}

static double points_down(const struct figure_arm *arm, double value, double early)
{
    (void)arm;
    return 100 * (early - value);
}

static double offered_percent(const struct figure_arm *arm, double value, double early)
{
    (void)early;
    return 100 * value / figure_offered_mb_s(arm);
}

static double times(const struct figure_arm *arm, double value, double early)
{
    (void)arm;
    return value / early;
}

static double itself(const struct figure_arm *arm, double value, double early)
{
    (void)arm;
    (void)early;
    return value;
}

static double success_limit(const struct reported *reported)
{
    return reported_number(reported, "P1", "success") - 100 * RULE_POINTS;
}

static double points_limit(const struct reported *reported)
{
    (void)reported;
    return 100 * RULE_POINTS;
}

static double throughput_limit(const struct reported *reported)
{
    (void)reported;
    return 100 * (1 - RULE_THROUGHPUT);
}

static double age_limit(const struct reported *reported)
{
    (void)reported;
    return RULE_AGE_FACTOR;
}

static double fairness_limit(const struct reported *reported)
{
    (void)reported;
    return RULE_FAIRNESS;
}

static const struct loss_rule loss_rules[] = {
    {"success", "%s %%", "success", percent, success_limit, LOST_BELOW, false},
    {"steady success", "%s points down", "success", points_down, points_limit, LOST_ABOVE, true},
    {"MB/s", "%s %% of what is offered", "committed_mb_s", offered_percent, throughput_limit,
     LOST_BELOW, false},
    {"age", "median grown %s times", "age_median_s", times, age_limit, LOST_ABOVE, true},
    {"fairness", "Jain %s", "fairness_jain", itself, fairness_limit, LOST_BELOW, false},
};

#define LOSS_RULE_COUNT (sizeof(loss_rules) / sizeof(loss_rules[0]))

/* The rule's measure in an hour, over the seeds that have it. */
static struct statistics_mean measure(const struct loss_rule *rule, const struct figure_data *data,
                                      const struct figure_arm *arm, int hour)
{
    double *values = calloc(2 * (arm->run_count + 1), sizeof(*values));
    assert(values != NULL);
    double *early = values + arm->run_count;
    figure_hour_metric(data, arm, rule->metric, hour, values);
    figure_hour_metric(data, arm, rule->metric, rule_hours(data).early, early);
    for (size_t i = 0; i < arm->run_count; i++)
        values[i] = rule->measure(arm, values[i], early[i]);
    struct statistics_mean mean = figure_mean_of(values, arm->run_count);
    free(values);
    return mean;
}

/* With its whole interval beyond the limit; by its mean where there is only one seed. */
static bool is_lost(const struct loss_rule *rule, struct statistics_mean mean, double limit)
{
    double half = isfinite(mean.half_width) ? mean.half_width : 0;
    switch (rule->side) {
    case LOST_BELOW:
        return mean.mean + half < limit;
    case LOST_ABOVE:
        return mean.mean - half > limit;
    }
    return false;
}

/* "success from hour 1 (25.4 %; hour 5: 13.3 %)". Nothing if the rule is kept in every hour. */
static void describe_loss(const struct loss_rule *rule, const struct figure_data *data,
                          const struct figure_arm *arm, const struct reported *reported, FILE *text)
{
    struct rule_hours hours = rule_hours(data);
    double limit = rule->limit(reported);
    struct statistics_mean mean = {0};
    char number[TEXT_MAX];
    int hour = rule->later_only ? hours.early + 1 : 1;
    while (hour <= hours.late) {
        mean = measure(rule, data, arm, hour);
        if (is_lost(rule, mean, limit))
            break;
        hour++;
    }
    if (hour > hours.late)
        return;
    text_number(mean.mean, number);
    fprintf(text, "%s%s from hour %d (", ftell(text) > 0 ? "; " : "", rule->name, hour);
    fprintf(text, rule->form, number);
    if (hour < hours.late) {
        mean = measure(rule, data, arm, hours.late);
        bool still = is_lost(rule, mean, limit);
        text_number(mean.mean, number);
        fprintf(text, still ? "; hour %d: " : "; no longer shown in hour %d: ", hours.late);
        fprintf(text, rule->form, number);
    }
    fprintf(text, ")");
}

/* The freshest arm that has at least as much success in this hour, and whose median age this arm's
 * is beyond the factor of, with their whole intervals. NULL: there is none. */
static const struct figure_arm *fresher_arm(const struct figure_data *data,
                                            const struct figure_arm *arm, int hour)
{
    const struct figure_arm *freshest = NULL;
    double least_s = INFINITY;
    struct statistics_mean age = figure_hour_mean(data, arm, "age_median_s", hour);
    double success = figure_hour_mean(data, arm, "success", hour).mean;
    double low_s = age.mean - (isfinite(age.half_width) ? age.half_width : 0);
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *other = &data->arms[i];
        struct statistics_mean theirs = figure_hour_mean(data, other, "age_median_s", hour);
        double high_s = theirs.mean + (isfinite(theirs.half_width) ? theirs.half_width : 0);
        if (other != arm && low_s > RULE_AGE_FACTOR * high_s && theirs.mean < least_s &&
            figure_hour_mean(data, other, "success", hour).mean >= success) {
            freshest = other;
            least_s = theirs.mean;
        }
    }
    return freshest;
}

/* "377 s, 10.8 times that of fixed-60s". */
static void print_staler(const struct figure_data *data, const struct figure_arm *arm,
                         const struct figure_arm *fresher, int hour, FILE *text)
{
    char age[TEXT_MAX];
    char ratio[TEXT_MAX];
    double age_s = figure_hour_mean(data, arm, "age_median_s", hour).mean;
    text_number(age_s, age);
    text_number(age_s / figure_hour_mean(data, fresher, "age_median_s", hour).mean, ratio);
    fprintf(text, "median %s s, %s times that of %s", age, ratio, fresher->name);
}

/* "age at its success from hour 1 (median 377 s, 10.8 times that of fixed-60s; hour 5: ...)". */
static void describe_staler(const struct figure_data *data, const struct figure_arm *arm,
                            FILE *text)
{
    struct rule_hours hours = rule_hours(data);
    const struct figure_arm *fresher = NULL;
    int hour = 1;
    while (hour <= hours.late && (fresher = fresher_arm(data, arm, hour)) == NULL)
        hour++;
    if (fresher == NULL)
        return;
    fprintf(text, "%sage at its success from hour %d (", ftell(text) > 0 ? "; " : "", hour);
    print_staler(data, arm, fresher, hour, text);
    if (hour < hours.late) {
        fresher = fresher_arm(data, arm, hours.late);
        fprintf(text, fresher != NULL ? "; hour %d: " : "; no longer shown in hour %d", hours.late);
        if (fresher != NULL)
            print_staler(data, arm, fresher, hours.late, text);
    }
    fprintf(text, ")");
}

void rule_losses(const struct figure_data *data, const struct figure_arm *arm,
                 const struct reported *reported, char sentence[RULE_SENTENCE_MAX])
{
    FILE *text = fmemopen(sentence, RULE_SENTENCE_MAX, "w");
    assert(text != NULL);
    sentence[0] = '\0';
    for (size_t i = 0; i < LOSS_RULE_COUNT; i++)
        describe_loss(&loss_rules[i], data, arm, reported, text);
    describe_staler(data, arm, text);
    bool nothing = ftell(text) == 0;
    fclose(text);
    if (nothing)
        snprintf(sentence, RULE_SENTENCE_MAX, "nothing by these rules");
}

void rule_losses_describe(const struct reported *reported, struct rule_hours hours,
                          char sentence[RULE_SENTENCE_MAX])
{
    snprintf(sentence, RULE_SENTENCE_MAX,
             "success: below %.1f %% in an hour (reported less %.1f points); steady success: more "
             "than %.1f points below hour %d; MB/s: below %.0f %% of the offered rate in an hour; "
             "age: median above %.1f times that of hour %d; fairness: Jain's index of an hour's "
             "committed bytes below %.2f; age at its success: median above %.1f times that of a "
             "policy with as much success in that hour. Something is given up from the first hour "
             "whose whole 95 %% interval is beyond the limit. The constants of every policy are "
             "choices of ours; what others do is under \"what a budget buys\".",
             success_limit(reported), points_limit(reported), points_limit(reported), hours.early,
             throughput_limit(reported), RULE_AGE_FACTOR, hours.early, RULE_FAIRNESS,
             RULE_AGE_FACTOR);
}

/* ---- whether a budget holds ---- */

const char *rule_answer_text(enum rule_answer answer)
{
    static const char *const texts[] = {
#define X(code, text) text,
        RULE_ANSWERS(X)
#undef X
    };
    assert(answer <= RULE_UNKNOWN);
    return texts[answer];
}

static enum rule_answer within(struct statistics_mean mean, double margin)
{
    if (!isfinite(mean.half_width))
        return RULE_UNKNOWN;
    if (fabs(mean.mean) + mean.half_width < margin)
        return RULE_YES;
    return fabs(mean.mean) <= margin ? RULE_ON_AVERAGE : RULE_NO;
}

bool rule_has_budget(const struct figure_arm *arm)
{
    return strcmp(config_policy_kind(&arm->config)->name, "dac") == 0;
}

double rule_asked(const struct figure_arm *arm)
{
    return 1 - option_number(&arm->config, option_find("policy.dac.kappa"));
}

/* Keeps the seeds that have all four values. */
static size_t keep_whole(double *columns[4], size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool whole = true;
        for (size_t k = 0; k < 4; k++)
            whole = whole && isfinite(columns[k][i]);
        for (size_t k = 0; whole && k < 4; k++)
            columns[k][kept] = columns[k][i];
        kept += whole;
    }
    return kept;
}

struct rule_budget rule_budget(const struct figure_data *data, const struct figure_arm *arm)
{
    assert(rule_has_budget(arm));
    struct rule_hours hours = rule_hours(data);
    double *memory = calloc(4 * (arm->run_count + 1), sizeof(*memory));
    assert(memory != NULL);
    double *columns[4];
    for (size_t k = 0; k < 4; k++)
        columns[k] = memory + k * arm->run_count;
    figure_hour_metric(data, arm, "success", hours.early, columns[0]);
    figure_hour_metric(data, arm, "success", hours.late, columns[1]);
    figure_hour_metric(data, arm, "committed_mb_s", hours.early, columns[2]);
    figure_hour_metric(data, arm, "committed_mb_s", hours.late, columns[3]);
    size_t count = keep_whole(columns, arm->run_count);
    struct rule_budget budget = {.asked = rule_asked(arm)};
    budget.drift = statistics_equivalence(columns[1], columns[0], count, RULE_POINTS);
    for (size_t i = 0; i < count; i++) {
        columns[1][i] -= budget.asked;
        columns[3][i] = columns[3][i] / columns[2][i] - 1;
    }
    budget.distance = statistics_mean(columns[1], count);
    budget.throughput = statistics_mean(columns[3], count);
    budget.drift_answer = within(budget.drift.difference, RULE_POINTS);
    budget.distance_answer = within(budget.distance, RULE_POINTS);
    budget.throughput_answer = within(budget.throughput, RULE_THROUGHPUT);
    free(memory);
    return budget;
}

enum rule_answer rule_budget_answer(const struct rule_budget *budget)
{
    enum rule_answer answers[] = {budget->drift_answer, budget->distance_answer,
                                  budget->throughput_answer};
    enum rule_answer weakest = RULE_YES;
    for (size_t i = 0; i < 3; i++)
        if (answers[i] > weakest)
            weakest = answers[i];
    return weakest;
}
