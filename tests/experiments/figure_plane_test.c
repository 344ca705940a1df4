/* figure_plane_test.c - the figures about ranks and reclaimers, from experiments run in small: what
 * their tables and their points say of the runs. */
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/figure_plot.h"
#include "experiments/figures/reproduce_plan.h"
#include "experiments/trials/simulate.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

struct small {
    struct fixture fixture;
    struct results_db *db;
    struct reproduce_plan plan;
    struct figure_data data;
    struct reported reported;
    struct figure_page page;
    /* What the figure wrote. */
    char *table;
    char *summary;
    char *headline;
    char *points;
    char *variables;
};

#define TEXT_BYTES (1 << 16)

/* What one of the figure's writers writes; NULL: it has none. */
static char *written(const struct small *small, void (*write)(const struct figure_page *, FILE *))
{
    if (write == NULL)
        return NULL;
    char *text = calloc(1, TEXT_BYTES);
    FILE *file = fmemopen(text, TEXT_BYTES, "w");
    write(&small->page, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
    return text;
}

static void write_all(struct small *small)
{
    const struct figure *figure = small->page.figure;
    size_t size[2];
    small->table = written(small, figure->paper);
    small->summary = written(small, figure->summary);
    small->headline = written(small, figure->headline);
    FILE *points = open_memstream(&small->points, &size[0]);
    FILE *variables = open_memstream(&small->variables, &size[1]);
    figure->plot(&small->page, points, variables);
    fclose(points);
    fclose(variables);
}

/* The figure's experiment with one override, one seed, and what the figure writes of it. */
static void small_make(struct small *small, const char *figure, const char *set)
{
    struct diagnostic diagnostic;
    struct cli cli = {.sets = {set}, .set_count = 1};
    *small = (struct small){.fixture = fixture_make()};
    small->db = fixture_open(&small->fixture, RESULTS_WRITE);
    CU_ASSERT_TRUE_FATAL(reproduce_plan_load(&cli, figure_find(figure), 1, &small->plan));
    struct simulate_options options = {
        .db = small->db, .jobs = 1, .seeds = 1, .command = "", .repeat = ""};
    CU_ASSERT_EQUAL_FATAL(simulate_experiment(&small->plan.experiment, &options), 0);
    CU_ASSERT_TRUE_FATAL(
        figure_data_select(small->db, &small->plan.selection, &small->data, &diagnostic));
    CU_ASSERT_TRUE_FATAL(reported_read("configs/reported.tsv", &small->reported, &diagnostic));
    small->page = (struct figure_page){.figure = figure_find(figure),
                                       .data = &small->data,
                                       .reported = &small->reported,
                                       .folder = small->fixture.directory,
                                       .scripts = "plots"};
    write_all(small);
}

static void free_texts(struct small *small)
{
    free(small->table);
    free(small->summary);
    free(small->headline);
    free(small->points);
    free(small->variables);
}

static void small_remove(struct small *small)
{
    free_texts(small);
    figure_data_deinit(&small->data);
    reproduce_plan_deinit(&small->plan);
    results_close(small->db);
    fixture_remove(&small->fixture);
}

static void expect(const char *text, const char *part)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    if (strstr(text, part) == NULL)
        printf("\n  found    %.400s\n  expected %s\n", text, part);
}

/* The number in the cell `cells` further on than this text, which must be there. */
static double number_behind(const char *text, const char *head, int cells)
{
    const char *at = strstr(text, head);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at += strlen(head);
    for (; cells > 0; cells--)
        at = strstr(at, " | ") + 3;
    return strtod(at, NULL);
}

static void amplification_is_that_of_headers(void)
{
    static struct small small;
    small_make(&small, "p6", "run.duration=30s");
    /* 32 bytes on 1 MiB; a rank alone needs all of a TGB, and 64 a 64th each. */
    expect(small.table, "| 64 | 1.00003 | 1.00");
    expect(small.table, "| 64.0 | 64 |");
    expect(small.table, "| 1 | 1.00003 |");
    expect(small.table, "Ceph RGW");
    /* More ranks are given nothing in so short a time: their TGBs are large. */
    expect(small.summary, "up to 512 ranks");
    expect(small.summary, "| as reported: at most 1.02 at every scale");
    expect(small.points, "\n512\t1.0000305");
    expect(small.variables, "slices = '1 MiB'\nservers = 2\n");
    expect(small.summary, "with slices of 1 MiB;");
    expect(small.variables, "asked = 1.02\nreported = 1\nreported_dense = 128\n");
    small_remove(&small);
}

static void reductions_stand_beside_the_closed_form(void)
{
    static struct small small;
    small_make(&small, "p7", "run.duration=800s");
    expect(small.table, "| 25 |");
    expect(small.table, "By it the reported 72.0 % is had at a period of ");
    expect(small.table, "The period that is compared, 100 steps, was chosen because it comes near");
    expect(small.summary, "as the closed form");
    expect(small.summary, "they were chosen for the reported peak and reduction");
    CU_ASSERT_PTR_NULL(strstr(small.summary, "not as"));
    expect(small.variables, "labels = '25 50 100 200 400 without '");
    expect(small.variables, "chosen = '0 0 1 0 0 0 '");
    /* With 400 steps between checkpoints nothing is let go in 800 s. */
    double reduction = number_behind(small.points, "\n400\t", 0);
    CU_ASSERT(reduction > -5 && reduction < 5);
    reduction = number_behind(small.points, "\n25\t", 0);
    CU_ASSERT(reduction > 80 && reduction < 92);
    small_remove(&small);
}

/* Nothing is committed in so short a run, or that of the comparison is missing. */
static void storage_without_a_closed_form_is_drawn(void)
{
    static struct small small;
    struct diagnostic diagnostic = {""};
    small_make(&small, "p7", "run.duration=10s");
    expect(small.table, "Without reclamation nothing was committed in the whole run (10 s)");
    expect(small.table, "| 25 | 0.00 | – | – | – |");
    expect(small.headline, "nothing was committed");
    expect(small.summary, "not run | not run | not known");
    expect(small.points, "\n25\tNaN\tNaN\tNaN\t");
    if (figure_plot_ready(&diagnostic)) {
        CU_ASSERT_TRUE(figure_render(&small.page, &diagnostic));
        CU_ASSERT_STRING_EQUAL(diagnostic.text, "");
    }
    free_texts(&small);
    small.data.arm_count--; /* the last in order is the run without */
    write_all(&small);
    expect(small.table, "The run without reclamation is missing.");
    small.data.arm_count++;
    small_remove(&small);
}

static void a_timeline_has_every_process(void)
{
    static struct small small;
    small_make(&small, "p8", "run.duration=720s");
    expect(small.table, "What happens: `producer:0-1@150s+60s,");
    expect(small.summary, "0 steps skipped, ");
    expect(small.summary, "| as reported: producers, ranks");
    expect(small.headline, "0 steps skipped");
    expect(small.variables, "ranks = 8\nproducers = 8\n");
    expect(small.variables, "incident_kinds = 'producer rank rollback outage '");
    expect(small.variables, "incident_processes = '0-1 3 0-7 0 '");
    /* Time, committed, floor, 8 ranks, 8 producers. */
    size_t columns = 1;
    for (const char *at = strchr(small.points, '\n') + 1; *at != '\n'; at++)
        columns += *at == '\t';
    CU_ASSERT_EQUAL(columns, 19);
    small_remove(&small);
}

static void hours_with_and_without_are_compared(void)
{
    static struct small small;
    small_make(&small, "p1_reclaimed", "run.duration=60min");
    expect(small.table, "| policy, hour 1 | manifest MiB kept | reclaimed |");
    /* MiB of the manifest, kept and reclaimed. */
    double kept = number_behind(small.table, "\n| dac | ", 0);
    double reclaimed = number_behind(small.table, "\n| dac | ", 1);
    CU_ASSERT(kept > 2.5 && reclaimed > 0.1 && reclaimed < 1);
    expect(small.headline, "dac in hour 1: median age ");
    expect(small.variables, "reclaimed = '0 1 0 1 0 1 0 1 '");
    small_remove(&small);
}

const struct harness_test figure_plane_tests[] = {
    HARNESS_TEST(amplification_is_that_of_headers),
    HARNESS_TEST(reductions_stand_beside_the_closed_form),
    HARNESS_TEST(storage_without_a_closed_form_is_drawn),
    HARNESS_TEST(a_timeline_has_every_process),
    HARNESS_TEST(hours_with_and_without_are_compared),
    {0},
};
