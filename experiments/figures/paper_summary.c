/* paper_summary.c - the table of what the paper reports and what was found. */
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper.h"
#include "experiments/figures/paper_rules.h"

#define NOT_BUILT "not built yet"

/* What the default policy of this kind found: the first arm with a budget. */
static const struct figure_arm *budget_arm(const struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (rule_has_budget(&data->arms[i]))
            return &data->arms[i];
    return NULL;
}

static void print_found(const struct figure_data *data, const struct figure_arm *arm,
                        FILE *markdown)
{
    char success[TEXT_MAX];
    char rate[TEXT_MAX];
    text_mean(figure_mean(data, arm, "success"), 100, 2, success);
    text_mean(figure_mean(data, arm, "committed_mb_s"), 1, 1, rate);
    fprintf(markdown, "%s %% success, %s MB/s (%zu seed%s)", success, rate, arm->run_count,
            arm->run_count == 1 ? "" : "s");
}

/* Every live experiment that has an arm with a budget, at its own scale. */
static bool print_live(const struct figure_data *data, FILE *markdown,
                       struct diagnostic *diagnostic)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(results_connection(data->db),
                                    "SELECT DISTINCT experiment FROM current_run"
                                    " WHERE mode = 'live' ORDER BY experiment",
                                    -1, &statement, NULL);
    size_t printed = 0;
    while (status == SQLITE_OK && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        struct figure_data live;
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!figure_data_load(data->db, name, RESULTS_LIVE, &live, diagnostic)) {
            sqlite3_finalize(statement);
            return false;
        }
        const struct figure_arm *arm = budget_arm(&live);
        if (arm != NULL) {
            fprintf(markdown, "%s%s, %llu producers: ", printed++ > 0 ? "; " : "", name,
                    (unsigned long long)arm->config.workload.producers);
            print_found(&live, arm, markdown);
        }
        figure_data_deinit(&live);
        status = SQLITE_OK;
    }
    if (printed == 0)
        fprintf(markdown, "not run");
    bool whole = status == SQLITE_DONE || figure_data_refuse(data->db, diagnostic);
    sqlite3_finalize(statement);
    return whole;
}

/* Near the reported numbers over the whole run, and held while the manifest grew. */
static void print_verdict(const struct figure_data *data, const struct figure_arm *arm,
                          const struct reported *reported, FILE *markdown)
{
    struct rule_budget budget = rule_budget(data, arm);
    double success =
        figure_mean(data, arm, "success").mean - reported_number(reported, "P1", "success") / 100;
    double rate = figure_mean(data, arm, "committed_mb_s").mean /
                      reported_number(reported, "P1", "committed_mb_s") -
                  1;
    bool near = fabs(success) <= RULE_POINTS && fabs(rate) <= RULE_THROUGHPUT;
    enum rule_answer held = rule_budget_answer(&budget);
    fprintf(markdown, "%s the reported numbers (within %.1f points and %.0f %%); steady: %s",
            near ? "as" : "off", 100 * RULE_POINTS, 100 * RULE_THROUGHPUT, rule_answer_text(held));
    fprintf(markdown,
            ". Both are imposed by kappa and the offered rate; what is found is that "
            "they %s",
            held == RULE_YES          ? "hold while the manifest grows"
            : held == RULE_ON_AVERAGE ? "hold on average, with an interval wider than the margin"
            : held == RULE_NO         ? "do not hold while the manifest grows"
                                      : "need more than one seed to be judged");
}

static void print_assumptions(const struct figure_arm *arm, FILE *markdown)
{
    static const char *const keys[] = {
        "policy.dac.estimator", "policy.dac.kappa", "policy.dac.rho", "workload.tgb",
        "manifest.entry",       "store.profile",    "commit.jitter",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char value[OPTION_TEXT_MAX];
        const struct option *option = option_find(keys[i]);
        if (option == NULL)
            continue;
        option_print(&arm->config, option, value);
        fprintf(markdown, "%s`%s` %s", i > 0 ? ", " : "", keys[i], value);
    }
}

static bool print_p1(const struct figure_data *data, const struct reported *reported,
                     FILE *markdown, struct diagnostic *diagnostic)
{
    const struct figure_arm *arm = budget_arm(data);
    if (arm == NULL) {
        fprintf(markdown, "not run | ");
        bool valid = print_live(data, markdown, diagnostic);
        fprintf(markdown, " | not known | - |\n");
        return valid;
    }
    print_found(data, arm, markdown);
    fprintf(markdown, " | ");
    bool valid = print_live(data, markdown, diagnostic);
    fprintf(markdown, " | ");
    print_verdict(data, arm, reported, markdown);
    fprintf(markdown, " | ");
    print_assumptions(arm, markdown);
    fprintf(markdown, " |\n");
    return valid;
}

static void print_reported(const struct reported *reported, size_t first, FILE *markdown)
{
    const char *id = reported->rows[first].id;
    fprintf(markdown, "| %s | ", id);
    for (size_t i = first; i < reported->count && strcmp(reported->rows[i].id, id) == 0; i++) {
        const struct reported_row *row = &reported->rows[i];
        fprintf(markdown, "%s", i > first ? "; " : "");
        if (strcmp(row->value, "-") != 0)
            fprintf(markdown, "%s%s%s: ", row->value, row->unit[0] == 'x' ? "" : " ", row->unit);
        fprintf(markdown, "%s", row->text);
    }
    fprintf(markdown, " | ");
}

static void print_cells(const struct paper_found *found, const char *id, FILE *markdown)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].id, id) == 0) {
            fprintf(markdown, "%s", found->items[i].cells);
            return;
        }
    fprintf(markdown, NOT_BUILT " | " NOT_BUILT " | " NOT_BUILT " | - |\n");
}

bool paper_summary(const struct figure_data *data, const struct reported *reported,
                   const struct paper_found *found, FILE *markdown, struct diagnostic *diagnostic)
{
    bool valid = true;
    fprintf(markdown, "| id | reported | simulated | live | verdict | assumptions |\n"
                      "|---|---|---|---|---|---|\n");
    for (size_t i = 0; valid && i < reported->count; i++) {
        const struct reported_row *row = &reported->rows[i];
        if (i > 0 && strcmp(reported->rows[i - 1].id, row->id) == 0)
            continue;
        print_reported(reported, i, markdown);
        if (strcmp(row->id, "P1") == 0)
            valid = print_p1(data, reported, markdown, diagnostic);
        else
            print_cells(found, row->id, markdown);
    }
    return valid;
}
