/* figure_p8.c - the paper's P8: a timeline of one run while processes die and the store is away,
 * and over all seeds what was lost or given twice. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/config/incident_list.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_text.h"
#include "experiments/trials/plane_recorder.h"

#define SERIES_MAX (2 * PLANE_SHOWN_MAX + 2)

static struct incident_list incidents_of(const struct figure_arm *arm)
{
    struct incident_list list;
    struct diagnostic diagnostic;
    if (!incident_list_parse(arm->config.run.incidents, &list, &diagnostic))
        list.count = 0; /* such a config was never run */
    return list;
}

/* The arm that something happens to; NULL: not run. */
static const struct figure_arm *troubled_arm(const struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (incidents_of(&data->arms[i]).count > 0)
            return &data->arms[i];
    return NULL;
}

static const struct figure_arm *undisturbed_arm(const struct figure_data *data)
{
    for (size_t i = 0; i < data->arm_count; i++)
        if (incidents_of(&data->arms[i]).count == 0)
            return &data->arms[i];
    return NULL;
}

static uint32_t shown(uint64_t count)
{
    return count <= PLANE_SHOWN_MAX ? (uint32_t)count : 0;
}

/* ---- the drawing: the first seed ---- */

struct timeline {
    uint32_t ranks;
    uint32_t producers;
    size_t count;
    struct figure_series series[SERIES_MAX]; /* committed, floor, ranks, producers */
};

static void timeline_add(struct timeline *timeline, const struct figure_data *data,
                         const struct figure_arm *arm, const char *name)
{
    assert(timeline->count < SERIES_MAX);
    figure_series_read(data, arm, name, &timeline->series[timeline->count++]);
}

static struct timeline *timeline_open(const struct figure_data *data, const struct figure_arm *arm)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    char name[RESULT_NAME_MAX];
    assert(timeline != NULL);
    timeline->ranks = shown(arm->config.ranks.count);
    timeline->producers = shown(arm->config.workload.producers);
    timeline_add(timeline, data, arm, "committed_steps");
    timeline_add(timeline, data, arm, "floor_step");
    for (uint32_t i = 0; i < timeline->ranks; i++) {
        snprintf(name, sizeof(name), "rank_%" PRIu32 "_steps", i);
        timeline_add(timeline, data, arm, name);
    }
    for (uint32_t i = 0; i < timeline->producers; i++) {
        snprintf(name, sizeof(name), "producer_%" PRIu32 "_batches", i);
        timeline_add(timeline, data, arm, name);
    }
    return timeline;
}

static void timeline_close(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        figure_series_deinit(&timeline->series[i]);
    free(timeline);
}

static void write_incidents(const struct incident_list *list, FILE *variables)
{
    fprintf(variables, "incident_count = %" PRIu32 "\nincident_kinds = '", list->count);
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(variables, "%s ", incident_kind_name(list->items[i].kind));
    fprintf(variables, "'\nincident_from = '");
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(variables, "%.9g ", (double)list->items[i].at_ns / 6e10);
    fprintf(variables, "'\nincident_until = '");
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(variables, "%.9g ", (double)(list->items[i].at_ns + list->items[i].for_ns) / 6e10);
    fprintf(variables, "'\nincident_processes = '");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct incident *item = &list->items[i];
        if (item->count > 1)
            fprintf(variables, "%" PRIu32 "-%" PRIu32 " ", item->first,
                    item->first + item->count - 1);
        else
            fprintf(variables, "%" PRIu32 " ", item->first);
    }
    fprintf(variables, "'\n");
}

/* "0 0 0 1 ": which of the first `count` processes an incident of this kind is about. */
static void write_struck(const struct incident_list *list, enum incident_kind kind, uint32_t count,
                         const char *name, FILE *variables)
{
    fprintf(variables, "%s = '", name);
    for (uint32_t process = 0; process < count; process++) {
        bool struck = false;
        for (uint32_t i = 0; i < list->count; i++) {
            const struct incident *item = &list->items[i];
            struck = struck || (item->kind == kind && process >= item->first &&
                                process - item->first < item->count);
        }
        fprintf(variables, "%d ", struck);
    }
    fprintf(variables, "'\n");
}

static void p8_plot(const struct figure_page *page, FILE *points, FILE *variables)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *arm = troubled_arm(data);
    if (arm == NULL)
        arm = data->arms;
    struct incident_list list = incidents_of(arm);
    struct timeline *timeline = timeline_open(data, arm);
    const struct figure_series *first = &timeline->series[0];
    fprintf(points,
            "# minutes, steps committed, floor, where each rank is, batches of each "
            "producer; seed %lld\n",
            (long long)arm->seeds[0]);
    for (size_t i = 0; i < first->point_count; i++) {
        fprintf(points, "%.9g", first->t_s[i] / 60);
        for (size_t k = 0; k < timeline->count; k++)
            fprintf(points, "\t%.9g",
                    timeline->series[k].values[i * timeline->series[k].run_count]);
        fprintf(points, "\n");
    }
    fprintf(variables, "ranks = %" PRIu32 "\nproducers = %" PRIu32 "\nminutes = %.9g\n",
            timeline->ranks, timeline->producers, (double)arm->config.run.duration_ns / 6e10);
    write_incidents(&list, variables);
    write_struck(&list, INCIDENT_RANK, timeline->ranks, "rank_dies", variables);
    write_struck(&list, INCIDENT_PRODUCER, timeline->producers, "producer_dies", variables);
    timeline_close(timeline);
}

/* ---- the tables ---- */

static void write_count(const struct figure_data *data, const struct figure_arm *arm,
                        const char *name, FILE *markdown)
{
    char text[TEXT_MAX];
    text_mean(figure_mean(data, arm, name), 1, 1, text);
    fprintf(markdown, " %s |", text);
}

static void p8_paper(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    fprintf(markdown,
            "| run | steps committed | steps given to all ranks together | of them again | "
            "skipped | unread at most | p99 age s | MB/s | seeds | config | commit |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct figure_arm *arm = &data->arms[i];
        char origin[TEXT_MAX];
        text_origin(arm, origin);
        fprintf(markdown, "| %s |", arm->name);
        write_count(data, arm, "committed_steps", markdown);
        write_count(data, arm, "ranks_given", markdown);
        write_count(data, arm, "replayed_steps", markdown);
        write_count(data, arm, "skipped_steps", markdown);
        write_count(data, arm, "unread_steps_max", markdown);
        write_count(data, arm, "age_p99_s", markdown);
        write_count(data, arm, "committed_mb_s", markdown);
        fprintf(markdown, " %s |\n", origin);
    }
    const struct figure_arm *arm = troubled_arm(data);
    fprintf(
        markdown,
        "\nWhat happens: `%s`.\n\nNothing is lost and nothing is committed twice, and a rank that "
        "went back is given the same TGBs again: the checkers watch every version, every "
        "deletion and every step given, and a run in which they find anything is not in the "
        "database. Ranks are simulated as processes of their own; in a job that steps together "
        "the others wait for the one that died.\n\n",
        arm != NULL ? arm->config.run.incidents : "nothing");
}

static void p8_headline(const struct figure_page *page, FILE *text)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *troubled = troubled_arm(data);
    const struct figure_arm *undisturbed = undisturbed_arm(data);
    if (troubled == NULL || undisturbed == NULL)
        return;
    fprintf(text,
            "with deaths, a rollback and an outage %.0f steps committed, %.0f without; %.0f steps "
            "skipped,\n%.0f given again to ranks that went back\n",
            figure_mean(data, troubled, "committed_steps").mean,
            figure_mean(data, undisturbed, "committed_steps").mean,
            figure_mean(data, troubled, "skipped_steps").mean,
            figure_mean(data, troubled, "replayed_steps").mean);
}

static void p8_summary(const struct figure_page *page, FILE *markdown)
{
    const struct figure_data *data = page->data;
    const struct figure_arm *arm = troubled_arm(data);
    if (arm == NULL) {
        fprintf(markdown, "not run | not run | not known | - |\n");
        return;
    }
    double skipped = figure_mean(data, arm, "skipped_steps").mean;
    fprintf(markdown,
            "%.0f steps skipped, %.0f given again, of the same TGBs, no violation (%zu seeds) | "
            "`tests/live/exactly_once.sh` | %s: producers, ranks and the store fail, the others go "
            "on, and every step is given in its turn | `run.incidents` %s |\n",
            skipped, figure_mean(data, arm, "replayed_steps").mean, arm->run_count,
            skipped < 0.5 ? "as reported" : "**not as reported**", arm->config.run.incidents);
}

const struct figure figure_p8 = {
    .name = "p8",
    .title = "A run while producers and ranks die, ranks go back, and the store is away",
    .plot = p8_plot,
    .paper = p8_paper,
    .headline = p8_headline,
    .reported = "P8",
    .summary = p8_summary,
};
