/* runner_report.c - see runner_report.h. */
#include "experiments/trials/runner_report.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/trials/progress.h"

#define FAILURES_SHOWN 20

size_t runner_estimate_find(struct runner_estimate *estimates, size_t *count,
                            const struct runner_arm *arm)
{
    for (size_t i = *count; i > 0; i--)
        if (estimates[i - 1].arm == arm)
            return i - 1;
    estimates[*count] = (struct runner_estimate){.arm = arm};
    return (*count)++;
}

void runner_estimate_add(struct runner_estimate *estimate, double wall_s)
{
    estimate->sum_s += wall_s;
    estimate->count++;
}

static double known_s(const struct runner_estimate *estimate)
{
    if (estimate->count > 0)
        return estimate->sum_s / (double)estimate->count;
    return estimate->past_s > 0 ? estimate->past_s : -1;
}

double runner_expected_s(const struct runner_estimate *estimates, size_t count, size_t index)
{
    assert(index < count);
    double expected_s = known_s(&estimates[index]);
    if (expected_s >= 0)
        return expected_s;
    double sum_s = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        double arm_s = known_s(&estimates[i]);
        if (arm_s >= 0) {
            sum_s += arm_s;
            known++;
        }
    }
    return known > 0 ? sum_s / (double)known : -1;
}

void runner_report_failure(struct runner_report *report, const struct trial *trial,
                           const char *text)
{
    if (report->failure_count == report->failure_capacity) {
        report->failure_capacity = 2 * report->failure_capacity + 8;
        report->failures =
            realloc(report->failures, report->failure_capacity * sizeof(*report->failures));
        assert(report->failures != NULL);
    }
    char *copy = strdup(text[0] != '\0' ? text : "failed without saying why");
    assert(copy != NULL);
    report->failures[report->failure_count++] = (struct runner_failure){trial, copy};
    report->summary.failed++;
}

static void print_failures(const struct runner_report *report, FILE *stream)
{
    size_t shown = report->failure_count < FAILURES_SHOWN ? report->failure_count : FAILURES_SHOWN;
    fprintf(stream, "%s: %zu of %zu runs failed\n", report->options->experiment,
            report->failure_count, report->total);
    for (size_t i = 0; i < shown; i++) {
        const struct runner_failure *failure = &report->failures[i];
        unsigned long long seed = failure->trial->seed;
        fprintf(stream, "  arm %s, seed %llu: %s\n    repeat: %s --arm ", failure->trial->arm->name,
                seed, failure->text, report->options->repeat);
        cli_print_quoted(stream, failure->trial->arm->name);
        fprintf(stream, " --set seed=%llu --seeds 1\n", seed);
    }
    if (shown < report->failure_count)
        fprintf(stream, "  and %zu more\n", report->failure_count - shown);
}

int runner_report_print(struct runner_report *report)
{
    const struct runner_summary *summary = &report->summary;
    FILE *progress = report->options->progress;
    FILE *trouble = progress != NULL ? progress : stderr;
    char wall[PROGRESS_TEXT_MAX];
    progress_duration_text(report->wall_s, wall);
    if (progress != NULL)
        fprintf(progress, "%s: %zu runs done in %s, %zu were there already\n",
                report->options->experiment, summary->done, wall, summary->skipped);
    if (report->failure_count > 0)
        print_failures(report, trouble);
    if (report->database[0] != '\0')
        fprintf(trouble, "%s: stopped: %s\n", report->options->experiment, report->database);
    if (summary->interrupted)
        fprintf(trouble, "%s: interrupted; %zu of %zu runs are kept; to go on: %s\n",
                report->options->experiment, summary->done + summary->skipped, report->total,
                report->options->command);
    fflush(trouble);
    bool complete = summary->done + summary->skipped == report->total;
    return complete && report->failure_count == 0 && report->database[0] == '\0' ? 0 : 1;
}

void runner_report_deinit(struct runner_report *report)
{
    for (size_t i = 0; i < report->failure_count; i++)
        free(report->failures[i].text);
    free(report->failures);
    report->failures = NULL;
    report->failure_count = 0;
}
