/* figure_drawing_test.c - figures as they are drawn, of a dozen arms and more, of short runs and of
 * long ones: no word lies upon another, legends stand above the data, and ranges follow them. */
#include <stdlib.h>
#include <string.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure.h"
#include "experiments/figures/figure_plot.h"
#include "experiments/figures/figure_style.h"
#include "experiments/trials/arm_record.h"
#include "tests/experiments/drawing.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

/* One arm of made-up results, of one seed. */
struct made {
    const char *name;
    const char *group; /* NULL: its name */
    const char *sweep_key;
    const char *sets[4]; /* up to NULL */
};

struct page {
    struct fixture fixture;
    struct results_db *db;
    struct figure_data data;
    struct reported reported;
    struct figure_page page;
    struct drawing drawing;
};

/* Ages in seconds that all arms have in both hours, and success. */
struct values {
    int hours;
    double age_s;
    double success;
    double mb_s;
};

static void add_series(struct run_results *results, const char *name, double value, double end_s)
{
    for (double t_s = 0; t_s < end_s; t_s += 300)
        run_results_add_point(results, name, "1", (struct result_point){t_s, value});
}

static void fill(struct run_results *results, const struct values *values, double end_s)
{
    char name[64];
    const struct {
        const char *name;
        double value;
    } series[] = {
        {"won", 9},
        {"lost", 1},
        {"committed_mb_s", values->mb_s},
        {"manifest_bytes", 5e6},
        {"attempt_time_s", 0.3},
        {"age_median_s", values->age_s},
        {"age_p99_s", 3 * values->age_s},
        {"tgb_bytes", 4e9},
        {"success", values->success},
        {"committed_steps", 100},
        {"floor_step", 50},
    };
    for (size_t i = 0; values->age_s > 0 && i < HARNESS_COUNT(series); i++)
        add_series(results, series[i].name, series[i].value, end_s);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "rank_%d_steps", i);
        add_series(results, name, 90, end_s);
        snprintf(name, sizeof(name), "producer_%d_batches", i);
        add_series(results, name, 10, end_s);
    }
    for (int hour = 1; hour <= values->hours; hour++) {
        snprintf(name, sizeof(name), "success_h%d", hour);
        run_results_add_metric(results, name, "1", values->success);
        snprintf(name, sizeof(name), "age_median_s_h%d", hour);
        run_results_add_metric(results, name, "s", values->age_s);
        snprintf(name, sizeof(name), "committed_mb_s_h%d", hour);
        run_results_add_metric(results, name, "MB/s", values->mb_s);
    }
    if (values->age_s <= 0)
        return;
    run_results_add_metric(results, "success", "1", values->success);
    run_results_add_metric(results, "committed_mb_s", "MB/s", values->mb_s);
    run_results_add_metric(results, "tgb_bytes_max", "B", 40e9);
}

static void write_made(struct results_db *db, const struct made *made, const struct values *values)
{
    static struct arm arm;
    static const struct origin origin = {.kind = ORIGIN_SET};
    struct arm_record record;
    struct diagnostic diagnostic;
    const struct option *option;
    const char *value;
    char message[RESULTS_MESSAGE_MAX];
    arm = (struct arm){.sweep_key = made->sweep_key};
    snprintf(arm.name, sizeof(arm.name), "%s", made->name);
    snprintf(arm.group, sizeof(arm.group), "%s", made->group != NULL ? made->group : made->name);
    config_default(&arm.config);
    for (size_t i = 0; i < HARNESS_COUNT(made->sets) && made->sets[i] != NULL; i++)
        CU_ASSERT_TRUE_FATAL(option_parse_override(made->sets[i], &option, &value, &diagnostic) &&
                             option_set(&arm.config, option, value, &origin, &diagnostic));
    arm_record_init(&record, &arm);
    struct run_results results = {0};
    struct results_run run = {
        .experiment = "made",
        .arm = record.arm.name,
        .arm_group = record.arm.group,
        .sweep_key = record.arm.sweep_key,
        .sweep_value = record.arm.sweep_value,
        .store = record.arm.store,
        .config = record.arm.config,
        .config_hash = record.arm.config_hash,
        .commit = "abc",
        .started = "2026-01-01T00:00:00Z",
        .machine = "test",
    };
    fill(&results, values, (double)arm.config.run.duration_ns / 1e9);
    CU_ASSERT_EQUAL(results_write(db, &run, &results, message), RESULTS_OK);
    run_results_deinit(&results);
    arm_record_deinit(&record);
}

/* Draws the figure of these arms and reads the drawing. */
static struct page *page_make(const char *figure, const struct made *made, size_t count,
                              struct values values)
{
    char path[300];
    struct diagnostic diagnostic = {""};
    struct page *page = calloc(1, sizeof(*page));
    page->fixture = fixture_make();
    page->db = fixture_open(&page->fixture, RESULTS_WRITE);
    for (size_t i = 0; i < count; i++)
        write_made(page->db, &made[i], &values);
    CU_ASSERT_TRUE_FATAL(figure_data_load(page->db, "made", RESULTS_SIM, &page->data, &diagnostic));
    CU_ASSERT_TRUE_FATAL(reported_read("configs/reported.tsv", &page->reported, &diagnostic));
    page->page = (struct figure_page){.figure = figure_find(figure),
                                      .data = &page->data,
                                      .reported = &page->reported,
                                      .folder = page->fixture.directory,
                                      .scripts = "plots"};
    if (!figure_render(&page->page, &diagnostic))
        printf("\n  %s: %s\n", figure, diagnostic.text);
    CU_ASSERT_STRING_EQUAL_FATAL(diagnostic.text, "");
    snprintf(path, sizeof(path), "%s/%s.svg", page->fixture.directory, figure);
    drawing_read(path, &page->drawing);
    return page;
}

static void page_remove(struct page *page)
{
    figure_data_deinit(&page->data);
    results_close(page->db);
    fixture_remove(&page->fixture);
    free(page);
}

static bool can_draw(void)
{
    struct diagnostic diagnostic;
    return figure_plot_ready(&diagnostic);
}

#define CAN_DRAW_OR_SKIP()                                                                         \
    if (!can_draw())                                                                               \
    HARNESS_SKIP("gnuplot or its font is missing")

static const struct made dozen[] = {
    {"fixed-1s", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=1s"}},
    {"fixed-10s", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=10s"}},
    {"fixed-60s", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=60s"}},
    {"random-exponential", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=2s"}},
    {"random-exponential-10s", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=20s"}},
    {"aimd", NULL, NULL, {"policy.name=aimd"}},
    {"aimd_slow", NULL, NULL, {"policy.name=aimd", "policy.aimd.factor=4"}},
    {"incr", NULL, NULL, {"policy.name=incr"}},
    {"incr-2s", NULL, NULL, {"policy.name=incr", "policy.incr.up=2s"}},
    {"dac", NULL, NULL, {"policy.name=dac"}},
    {"dac-loose", NULL, NULL, {"policy.name=dac", "policy.dac.kappa=0.1"}},
    {"dac-rate", NULL, NULL, {"policy.name=dac", "policy.dac.estimator=rate"}},
};

static const struct values nothing = {.hours = 0};
static const struct values usual = {.hours = 5, .age_s = 50, .success = 0.9, .mb_s = 400};

/* Above the first panel, whose heading this is, and free of each other. */
static void expect_legend(const struct drawing *drawing, const char *heading)
{
    const struct drawing_text *panel = drawing_find(drawing, heading);
    CU_ASSERT_PTR_NOT_NULL_FATAL(panel);
    for (size_t i = 0; i < HARNESS_COUNT(dozen); i++) {
        const struct drawing_text *entry = drawing_find(drawing, dozen[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
        CU_ASSERT(entry->bottom < panel->top);
    }
    CU_ASSERT_EQUAL(drawing_faults(drawing), 0);
}

static void a_dozen_arms_are_told_apart(void)
{
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("p1", dozen, HARNESS_COUNT(dozen), usual);
    expect_legend(&page->drawing, "Commit success (reported: 96.3 %)");
    bool used[13] = {false};
    for (size_t i = 0; i < page->data.arm_count; i++) {
        int style = figure_style(&page->data, i);
        CU_ASSERT(style >= 1 && style <= 12 && !used[style]);
        used[style] = true;
    }
    page_remove(page);
}

static void pairs_of_one_policy_are_told_apart(void)
{
    static const struct made pairs[] = {
        {"fixed-1s-kept", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=1s"}},
        {"fixed-1s-reclaimed",
         NULL,
         NULL,
         {"policy.name=fixed", "policy.fixed.gap=1s", "ranks.count=1", "reclaim.count=1"}},
        {"fixed-9s-kept", NULL, NULL, {"policy.name=fixed", "policy.fixed.gap=9s"}},
        {"fixed-9s-reclaimed",
         NULL,
         NULL,
         {"policy.name=fixed", "policy.fixed.gap=9s", "ranks.count=1", "reclaim.count=1"}},
        {"dac-kept", NULL, NULL, {"policy.name=dac"}},
    };
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("p1_reclaimed", pairs, HARNESS_COUNT(pairs), usual);
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "fixed-1s"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "fixed-9s"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "dac"));
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void frontier_of_many_policies_is_legible(void)
{
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("frontier", dozen, HARNESS_COUNT(dozen), usual);
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "Hour 5 (reported: 96.3 %)"));
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void short_runs_say_what_is_not_measured(void)
{
    static const struct made one[] = {
        {"dac/8",
         "producers",
         "workload.producers",
         {"policy.name=dac", "workload.producers=8", "run.duration=20min"}},
    };
    static const struct made p1[] = {
        {"dac", NULL, NULL, {"policy.name=dac", "run.duration=20min"}},
    };
    static const char *const whole_hours[] = {"frontier", "sensitivity"};
    struct values values = usual;
    CAN_DRAW_OR_SKIP();
    values.hours = 0;
    for (size_t i = 0; i < HARNESS_COUNT(whole_hours); i++) {
        struct page *page = page_make(whole_hours[i], one, 1, values);
        CU_ASSERT_PTR_NOT_NULL(drawing_find(
            &page->drawing, "Not measured: the runs are shorter than the hour that is compared."));
        CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
        page_remove(page);
    }
    struct page *page = page_make("p1", p1, 1, values);
    CU_ASSERT_PTR_NOT_NULL(
        drawing_find(&page->drawing, "not measured in so short or so slow a run"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "0.1")); /* a tick of the hours */
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void runs_without_a_commit_are_drawn(void)
{
    static const char *const figures[] = {"p1",          "p1_reclaimed", "frontier",
                                          "sensitivity", "sim_vs_live",  "p6"};
    static const char *const said[] = {"not measured in so short or so slow a run",
                                       "not measured in so short or so slow a run",
                                       "Not measured: nothing was committed in these hours.",
                                       "Not measured: nothing was committed in these hours.",
                                       "Not measured: nothing was committed."};
    CAN_DRAW_OR_SKIP();
    for (size_t i = 0; i < HARNESS_COUNT(figures); i++) {
        struct page *page = page_make(figures[i], dozen, HARNESS_COUNT(dozen), nothing);
        if (i < HARNESS_COUNT(said))
            CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, said[i]));
        CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
        page_remove(page);
    }
}

/* Ages below 10 s, all of what is offered and more, few successes: all within the panels. */
static void ranges_follow_the_data(void)
{
    static const struct made swept[] = {
        {"n/8", "n", "workload.producers", {"policy.name=dac", "workload.producers=8"}},
        {"n/16", "n", "workload.producers", {"policy.name=dac", "workload.producers=16"}},
    };
    static const struct made store[] = {
        {"dac/8",
         "dac",
         "workload.producers",
         {"policy.name=dac", "workload.producers=8", "store.profile=rgw-loopback"}},
        {"dac/64",
         "dac",
         "workload.producers",
         {"policy.name=dac", "workload.producers=64", "store.profile=rgw-loopback"}},
    };
    struct values values = {.hours = 5, .age_s = 0.5, .success = 0.9, .mb_s = 130};
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("sensitivity", swept, HARNESS_COUNT(swept), values);
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "0.1"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "1"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "120")); /* % of what is offered */
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
    values.success = 0.2;
    page = page_make("sim_vs_live", store, HARNESS_COUNT(store), values);
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "20"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "64"));
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void periods_of_checkpoints_have_a_legend(void)
{
    static const struct made periods[] = {
        {"without", NULL, NULL, {"policy.name=dac"}},
        {"r/10",
         "r",
         "ranks.checkpoint_every",
         {"policy.name=dac", "ranks.count=8", "reclaim.count=1", "ranks.checkpoint_every=10"}},
        {"r/100",
         "r",
         "ranks.checkpoint_every",
         {"policy.name=dac", "ranks.count=8", "reclaim.count=1", "ranks.checkpoint_every=100"}},
        {"r/123456789",
         "r",
         "ranks.checkpoint_every",
         {"policy.name=dac", "ranks.count=8", "reclaim.count=1",
          "ranks.checkpoint_every=123456789"}},
    };
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("p7", periods, HARNESS_COUNT(periods), usual);
    const struct drawing_text *panel = drawing_find(&page->drawing, "Stored over time");
    CU_ASSERT_PTR_NOT_NULL_FATAL(panel);
    CU_ASSERT(drawing_find(&page->drawing, "123456789")->bottom < panel->top);
    CU_ASSERT(drawing_find(&page->drawing, "without")->bottom < panel->top);
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void reads_have_their_legends_above(void)
{
    static const struct made worlds[] = {
        {"slices/4", "slices", "ranks.count", {"policy.name=dac", "ranks.count=4", "tgb.mesh=4x1"}},
        {"slices/4096",
         "slices",
         "ranks.count",
         {"policy.name=dac", "ranks.count=4096", "tgb.mesh=4096x1"}},
    };
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("p6", worlds, HARNESS_COUNT(worlds), usual);
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "reported: dense reads 128x, 128 ranks"));
    CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, "4096"));
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

static void a_timeline_names_its_lines(void)
{
    static const struct made troubled[] = {
        {"troubled",
         NULL,
         NULL,
         {"policy.name=dac", "ranks.count=8", "workload.producers=8",
          "run.incidents=producer:5@1h+10min,rank:2-3@61min+10min,outage@62min+10min,"
          "outage@290min+10min"}},
    };
    CAN_DRAW_OR_SKIP();
    struct page *page = page_make("p8", troubled, 1, usual);
    static const char *const named[] = {
        "committed",        "floor of what is kept", "of a rank",       "of a producer",
        "of one that dies", "ranks 2-3 dead",        "producers 5 dead"};
    for (size_t i = 0; i < HARNESS_COUNT(named); i++)
        CU_ASSERT_PTR_NOT_NULL(drawing_find(&page->drawing, named[i]));
    CU_ASSERT_EQUAL(drawing_faults(&page->drawing), 0);
    page_remove(page);
}

const struct harness_test figure_drawing_tests[] = {
    HARNESS_TEST(a_dozen_arms_are_told_apart),
    HARNESS_TEST(pairs_of_one_policy_are_told_apart),
    HARNESS_TEST(frontier_of_many_policies_is_legible),
    HARNESS_TEST(short_runs_say_what_is_not_measured),
    HARNESS_TEST(runs_without_a_commit_are_drawn),
    HARNESS_TEST(ranges_follow_the_data),
    HARNESS_TEST(periods_of_checkpoints_have_a_legend),
    HARNESS_TEST(reads_have_their_legends_above),
    HARNESS_TEST(a_timeline_names_its_lines),
    {0},
};
