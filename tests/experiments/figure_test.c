/* Tests of experiments/figures/figure*.c and paper*.c on small databases whose numbers were worked
 * out by hand. Two seeds: the half width of a mean of a and b is 12.706 |a - b| / 2. */
#include "experiments/figures/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/config/options.h"
#include "experiments/figures/figure_curve.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper.h"
#include "experiments/figures/paper_rules.h"
#include "experiments/trials/arm_record.h"
#include "tests/experiments/results_fixture.h"
#include "tests/harness.h"

#define SEEDS 2

struct cell {
    const char *metric;
    double values[SEEDS];
};

/* One arm with its metrics and, of success, two bins. `set`: one key=value of its config. */
static void write_arm(struct results_db *db, const char *name, const char *key, const char *value,
                      const struct cell *cells)
{
    static struct arm arm;
    struct arm_record record;
    struct diagnostic diagnostic;
    static const struct origin origin = {.kind = ORIGIN_SET};
    char message[RESULTS_MESSAGE_MAX];
    arm = (struct arm){.sweep_key = key};
    snprintf(arm.name, sizeof(arm.name), "%s/%s", name, value);
    snprintf(arm.group, sizeof(arm.group), "%s", name);
    config_default(&arm.config);
    CU_ASSERT_TRUE(option_set(&arm.config, option_find("policy.name"),
                              strncmp(key, "policy.dac", 10) == 0 ? "dac" : "fixed", &origin,
                              &diagnostic));
    CU_ASSERT_TRUE(option_set(&arm.config, option_find(key), value, &origin, &diagnostic));
    arm_record_init(&record, &arm);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct run_results results = {0};
        struct results_run run = {
            .experiment = "p1",
            .arm = record.arm.name,
            .arm_group = record.arm.group,
            .sweep_key = record.arm.sweep_key,
            .sweep_value = record.arm.sweep_value,
            .store = record.arm.store,
            .config = record.arm.config,
            .config_hash = record.arm.config_hash,
            .seed = seed,
            .commit = "abc",
            .started = "2026-01-01T00:00:00Z",
            .machine = "test",
        };
        for (const struct cell *cell = cells; cell->metric != NULL; cell++)
            run_results_add_metric(&results, cell->metric, "1", cell->values[seed]);
        for (int bin = 0; bin < 2; bin++) {
            struct result_point point = {300.0 * bin, bin == 0 ? 3 : 1};
            run_results_add_point(&results, "won", "1", point);
            point.value = seed == 0 ? 0 : 2;
            run_results_add_point(&results, "lost", "1", point);
        }
        CU_ASSERT_EQUAL(results_write(db, &run, &results, message), RESULTS_OK);
        run_results_deinit(&results);
    }
    arm_record_deinit(&record);
}

static const struct cell dac_cells[] = {
    {"success_h2", {0.960, 0.970}},
    {"success_h5", {0.965, 0.965}},
    {"committed_mb_s_h2", {400, 400}},
    {"committed_mb_s_h5", {404, 396}},
    {"age_median_s_h2", {100, 100}},
    {"age_median_s_h5", {300, 300}},
    {"fairness_jain_h2", {1, 1}},
    {"fairness_jain_h5", {0.90, 0.90}},
    {"success", {0.96, 0.97}},
    {"committed_mb_s", {430, 430}},
    {0},
};

static const struct cell fixed_1_cells[] = {
    {"success_h5", {0.8, 0.8}}, {"age_median_s_h5", {10, 10}}, {0}};
static const struct cell apart_cells[] = {
    {"success_h5", {0.8, 0.8}}, {"age_median_s_h1", {10, 20}}, {"age_median_s_h5", {10, 25}}, {0}};
static const struct cell fixed_2_cells[] = {
    {"success_h5", {0.9, 0.9}}, {"age_median_s_h5", {1000, 1000}}, {0}};

static struct figure_data load(struct results_db *db)
{
    struct figure_data data = {0};
    struct diagnostic diagnostic = {""};
    CU_ASSERT_TRUE_FATAL(figure_data_load(db, "p1", RESULTS_SIM, &data, &diagnostic));
    return data;
}

static struct reported read_reported(void)
{
    struct reported reported;
    struct diagnostic diagnostic = {""};
    CU_ASSERT_TRUE_FATAL(reported_read("configs/reported.tsv", &reported, &diagnostic));
    return reported;
}

struct sample {
    struct fixture fixture;
    struct results_db *db;
    struct figure_data data;
    struct reported reported;
};

/* Arms in the order in which they must come out: fixed before dac, 2s before 10s. */
static struct sample sample_make(void)
{
    struct sample sample = {.fixture = fixture_make()};
    sample.db = fixture_open(&sample.fixture, RESULTS_WRITE);
    write_arm(sample.db, "dac", "policy.dac.kappa", "0.037", dac_cells);
    write_arm(sample.db, "fixed", "policy.fixed.gap", "10s", fixed_2_cells);
    write_arm(sample.db, "fixed", "policy.fixed.gap", "2s", fixed_1_cells);
    sample.data = load(sample.db);
    sample.reported = read_reported();
    return sample;
}

static void sample_remove(struct sample *sample)
{
    figure_data_deinit(&sample->data);
    results_close(sample->db);
    fixture_remove(&sample->fixture);
}

static struct figure_page page_of(const struct sample *sample, const char *figure)
{
    return (struct figure_page){
        .figure = figure_find(figure),
        .data = &sample->data,
        .reported = &sample->reported,
        .folder = sample->fixture.directory,
        .scripts = "plots",
    };
}

/* What one of a figure's writers wrote; the caller frees it. */
static char *written(void (*write)(const struct figure_page *, FILE *),
                     const struct figure_page *page)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    write(page, file);
    fclose(file);
    return text;
}

static void reported_numbers_are_read(void)
{
    struct reported reported = read_reported();
    CU_ASSERT_DOUBLE_EQUAL(reported_number(&reported, "P1", "success"), 96.3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(reported_number(&reported, "P1", "committed_mb_s"), 431.9, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(reported_number(&reported, "P3", "read_p95"), 367, 1e-12);
    CU_ASSERT_TRUE(isnan(reported_number(&reported, "P2", "throughput")));
    CU_ASSERT_PTR_NULL(reported_find(&reported, "P10", NULL));
    CU_ASSERT_PTR_NOT_NULL(reported_find(&reported, "P9", NULL));
}

static void data_are_ordered_and_averaged(void)
{
    struct sample sample = sample_make();
    const struct figure_arm *arms = sample.data.arms;
    CU_ASSERT_EQUAL_FATAL(sample.data.arm_count, 3);
    CU_ASSERT_STRING_EQUAL(arms[0].name, "fixed/2s");
    CU_ASSERT_STRING_EQUAL(arms[1].name, "fixed/10s");
    CU_ASSERT_STRING_EQUAL(arms[2].name, "dac/0.037");
    CU_ASSERT_DOUBLE_EQUAL(rule_asked(&arms[2]), 0.963, 1e-12);
    CU_ASSERT_TRUE(swept_is_default(&arms[2]));
    CU_ASSERT_FALSE(swept_is_default(&arms[0]));
    CU_ASSERT_DOUBLE_EQUAL(figure_offered_mb_s(&arms[0]), 432, 1e-9);
    struct statistics_mean mean = figure_hour_mean(&sample.data, &arms[2], "success", 2);
    CU_ASSERT_DOUBLE_EQUAL(mean.mean, 0.965, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(mean.half_width, 0.06353, 1e-5);
    CU_ASSERT_EQUAL(figure_mean(&sample.data, &arms[0], "unheard_of").count, 0);
    sample_remove(&sample);
}

static void budget_is_judged_by_its_interval(void)
{
    struct sample sample = sample_make();
    struct rule_budget budget = rule_budget(&sample.data, &sample.data.arms[2]);
    CU_ASSERT_DOUBLE_EQUAL(budget.drift.difference.mean, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(budget.drift.difference.half_width, 0.06353, 1e-5);
    CU_ASSERT_EQUAL(budget.drift_answer, RULE_ON_AVERAGE);
    CU_ASSERT_DOUBLE_EQUAL(budget.distance.mean, 0.002, 1e-12);
    CU_ASSERT_EQUAL(budget.distance_answer, RULE_YES);
    CU_ASSERT_DOUBLE_EQUAL(budget.throughput.half_width, 0.12706, 1e-5);
    CU_ASSERT_EQUAL(rule_budget_answer(&budget), RULE_ON_AVERAGE);
    sample_remove(&sample);
}

static void losses_name_rule_hour_and_size(void)
{
    char sentence[RULE_SENTENCE_MAX];
    struct sample sample = sample_make();
    rule_losses(&sample.data, &sample.data.arms[2], &sample.reported, sentence);
    CU_ASSERT_STRING_EQUAL(sentence,
                           "MB/s from hour 2 (92.6 % of what is offered; no longer shown "
                           "in hour 5: 92.6 % of what is offered); age from hour 5 "
                           "(median grown 3.00 times); fairness from hour 5 (Jain 0.900)");
    rule_losses(&sample.data, &sample.data.arms[0], &sample.reported, sentence);
    CU_ASSERT_STRING_EQUAL(sentence, "success from hour 5 (80.0 %)");
    /* Stale beside a policy that has no less success; never beside one that has less. */
    rule_losses(&sample.data, &sample.data.arms[1], &sample.reported, sentence);
    CU_ASSERT_STRING_EQUAL(sentence, "success from hour 5 (90.0 %); age at its success from hour 5 "
                                     "(median 1000 s, 3.33 times that of dac/0.037)");
    rule_losses_describe(&sample.reported, rule_hours(&sample.data), sentence);
    CU_ASSERT_PTR_NOT_NULL(strstr(sentence, "choices of ours; what others do is under \"what a "
                                            "budget buys\"."));
    sample_remove(&sample);
}

static void tables_hold_the_numbers(void)
{
    struct sample sample = sample_make();
    struct figure_page page = page_of(&sample, "p1");
    char *text = written(page.figure->paper, &page);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| dac/0.037 | 96.50 ± 6.35 | 96.50 ± 0.00 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 400.0 ± 0.0 | 400.0 ± 50.8 | 100 ± 0 | 300 ± 0 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "points | 0.20 ± 0.00 | ± 1.5 | yes |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "times that of dac/0.037) | 2 | `"));
    free(text);
    page = page_of(&sample, "frontier");
    text = written(page.figure->paper, &page);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| dac | 0.037 | 96.3 | – | 96.50 ± 0.00 | 0.20"));
    free(text);
    sample_remove(&sample);
}

/* A mean of two ways to end is no finding: the page names the rows. */
static void seeds_that_fall_apart_are_named(void)
{
    struct sample sample = sample_make();
    struct figure_page page = page_of(&sample, "frontier");
    char *text = written(page.figure->paper, &page);
    CU_ASSERT_PTR_NULL(strstr(text, "fall apart"));
    free(text);
    write_arm(sample.db, "fixed", "policy.fixed.gap", "30s", apart_cells);
    figure_data_deinit(&sample.data);
    sample.data = load(sample.db);
    text = written(page.figure->paper, &page);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "says little: fixed 30s in hour 5 (10.0 to 25.0 s).\n"));
    free(text);
    sample_remove(&sample);
}

static void ages_are_interpolated(void)
{
    struct curve curve;
    struct contenders contenders;
    struct sample sample = sample_make();
    contenders_read(&sample.data, &contenders);
    CU_ASSERT_EQUAL_FATAL(contenders.count, 2);
    CU_ASSERT_STRING_EQUAL(contenders.items[0].name, "fixed");
    CU_ASSERT_STRING_EQUAL(contenders.items[1].name, "dac-model");
    curve_read(&sample.data, &contenders.items[0], 5, &curve);
    CU_ASSERT_EQUAL(curve.point_count, 2);
    struct curve_estimate estimate = curve_age_at(&curve, 0.85);
    CU_ASSERT_DOUBLE_EQUAL(estimate.value, 100, 1e-9); /* halfway between 10 and 1000, in logs */
    CU_ASSERT_DOUBLE_EQUAL(estimate.low, 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(estimate.high, 100, 1e-9);
    CU_ASSERT_TRUE(isnan(curve_age_at(&curve, 0.95).value));
    CU_ASSERT_DOUBLE_EQUAL(curve_age_ratio(&curve, &curve, 0.85).value, 1, 1e-12);
    /* Seeds at 10 and 40 instead: the mean is 25; without one seed 40 or 10. */
    curve.age_s[0] = 10;
    curve.age_s[1] = 40;
    estimate = curve_age_at(&curve, 0.8);
    CU_ASSERT_DOUBLE_EQUAL(estimate.value, 25, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(log(estimate.high / 25), 12.7062 * log(4.0) / 2, 1e-3);
    curve_deinit(&curve);
    contenders_deinit(&contenders);
    sample_remove(&sample);
}

static void a_policy_is_as_fresh_as_its_best_line(void)
{
    static const struct cell other[] = {
        {"success_h5", {0.95, 0.95}}, {"age_median_s_h5", {500, 500}}, {0}};
    struct curve curve;
    struct contenders contenders;
    struct sample sample = sample_make();
    write_arm(sample.db, "fixed-other", "policy.fixed.gap", "30s", other);
    figure_data_deinit(&sample.data);
    sample.data = load(sample.db);
    contenders_read(&sample.data, &contenders);
    CU_ASSERT_EQUAL_FATAL(contenders.count, 2);
    const struct contender *fixed = &contenders.items[0];
    CU_ASSERT_EQUAL(fixed->lines, 2);
    curve_read(&sample.data, fixed, 5, &curve);
    CU_ASSERT_DOUBLE_EQUAL(curve_age_at(&curve, 0.85).value, 100, 1e-9); /* on the first line */
    /* More success at less age counts too; and nothing lies between two lines. */
    CU_ASSERT_DOUBLE_EQUAL(curve_age_at(&curve, 0.9).value, 500, 1e-9);
    struct curve_estimate estimate = curve_age_at(&curve, 0.93);
    char point[FIGURE_NAME_MAX];
    contender_point(fixed, &sample.data.arms[fixed->arms[estimate.point]], point);
    CU_ASSERT_STRING_EQUAL(point, "other/30s");
    /* Two lines to choose from: each side of the ratio's interval is Student's t at 1 - 0.0125. */
    struct curve against;
    curve_read(&sample.data, fixed, 5, &against);
    curve.age_s[0] = 10;
    curve.age_s[1] = 40;
    estimate = curve_age_ratio(&curve, &against, 0.8);
    CU_ASSERT_DOUBLE_EQUAL(log(estimate.high / 2.5), 25.4517 * log(4.0) / 2, 1e-3);
    curve_deinit(&against);
    curve_deinit(&curve);
    contenders_deinit(&contenders);
    sample_remove(&sample);
}

static void points_pool_attempts_over_a_window(void)
{
    struct sample sample = sample_make();
    struct figure_page page = page_of(&sample, "p1");
    char *points = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&points, &size);
    FILE *variables = fopen("/dev/null", "w");
    page.figure->plot(&page, file, variables);
    fclose(file);
    fclose(variables);
    /* Seed 0 won 4 of 4, seed 1 4 of 8: 75 % -+ 12.706 * 25 points; the first 15 minutes. */
    CU_ASSERT_PTR_NOT_NULL(strstr(points, "\n0.125\t75\t-242.655118\t392.655118\tNaN\tNaN\tNaN"));
    free(points);
    sample_remove(&sample);
}

static void marked_parts_are_rewritten(void)
{
    char path[600];
    char text[200] = "";
    struct stat before;
    struct stat after;
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    snprintf(path, sizeof(path), "%s/page.md", fixture.directory);
    scratch_write(path, "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n");
    CU_ASSERT_TRUE(paper_rewrite(path, "x", "new\n", &diagnostic));
    CU_ASSERT_EQUAL(stat(path, &before), 0);
    CU_ASSERT_TRUE(paper_rewrite(path, "x", "new\n", &diagnostic));
    CU_ASSERT_EQUAL(stat(path, &after), 0);
    CU_ASSERT_EQUAL(before.st_ino, after.st_ino);
    FILE *file = fopen(path, "r");
    CU_ASSERT_TRUE(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    CU_ASSERT_STRING_EQUAL(text, "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n");
    CU_ASSERT_FALSE(paper_rewrite(path, "y", "new\n", &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "<!-- y:begin -->"));
    unlink(path);
    fixture_remove(&fixture);
}

static void linked_page_is_rewritten_where_it_is(void)
{
    char page[600];
    char link[600];
    char text[200] = "";
    struct stat status;
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    snprintf(page, sizeof(page), "%s/page.md", fixture.directory);
    snprintf(link, sizeof(link), "%s/link.md", fixture.directory);
    scratch_write(page, "<!-- x:begin -->\n<!-- x:end -->\n");
    CU_ASSERT_EQUAL(chmod(page, 0640), 0);
    CU_ASSERT_EQUAL(symlink("page.md", link), 0);
    CU_ASSERT_TRUE(paper_rewrite(link, "x", "new\n", &diagnostic));
    CU_ASSERT_EQUAL(lstat(link, &status), 0);
    CU_ASSERT_TRUE(S_ISLNK(status.st_mode));
    CU_ASSERT_EQUAL(lstat(page, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 07777, 0640);
    FILE *file = fopen(page, "r");
    CU_ASSERT_TRUE(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    CU_ASSERT_STRING_EQUAL(text, "<!-- x:begin -->\nnew\n<!-- x:end -->\n");
    fixture_remove(&fixture);
}

/* As a user who may not write in the folder: root lays its rights down for this. */
static void page_that_cannot_be_rewritten_is_known_before(void)
{
    char path[600];
    static const char *const names[] = {"x", "y"};
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    snprintf(path, sizeof(path), "%s/page.md", fixture.directory);
    CU_ASSERT_FALSE(paper_ready(path, names, 1, &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "a copy of PAPER_REPRO.md"));
    scratch_write(path, "<!-- x:begin -->\n<!-- x:end -->\n");
    CU_ASSERT_FALSE(paper_ready(path, names, 2, &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "<!-- y:begin -->"));
    CU_ASSERT_TRUE(paper_ready(path, names, 1, &diagnostic));
    scratch_cut(path, 4 << 20); /* with a hole in it */
    CU_ASSERT_FALSE(paper_ready(path, names, 1, &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "NUL"));
    scratch_cut(path, (4 << 20) + 1);
    CU_ASSERT_FALSE(paper_ready(path, names, 1, &diagnostic));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "larger than 4 MiB"));
    scratch_write(path, "<!-- x:begin -->\n<!-- x:end -->\n");
    uid_t user = geteuid();
    CU_ASSERT_EQUAL(chmod(path, 0644), 0);
    CU_ASSERT_EQUAL(chmod(fixture.directory, 0555), 0);
    CU_ASSERT_EQUAL(user == 0 ? seteuid(65534) : 0, 0);
    CU_ASSERT_FALSE(paper_ready(path, names, 1, &diagnostic));
    CU_ASSERT_EQUAL(user == 0 ? seteuid(user) : 0, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "Permission denied; make the folder"));
    CU_ASSERT_PTR_NOT_NULL(strstr(diagnostic.text, "--paper"));
    CU_ASSERT_EQUAL(chmod(fixture.directory, 0755), 0);
    fixture_remove(&fixture);
}

static void summary_has_a_row_for_every_number(void)
{
    struct sample sample = sample_make();
    struct diagnostic diagnostic = {""};
    struct paper_found found = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    paper_found_add(&found, "P7", strdup("a | b | c | d |\n"));
    CU_ASSERT_TRUE(paper_summary(&sample.data, &sample.reported, &found, file, &diagnostic));
    fclose(file);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| 96.50 ± 6.35 % success, 430.0 ± 0.0 MB/s (2 seeds) |"
                                        " not run | as the reported numbers"));
    for (size_t i = 0; i < sample.reported.count; i++) {
        char head[16];
        snprintf(head, sizeof(head), "\n| %s |", sample.reported.rows[i].id);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, head));
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "GiB: peak storage with reclamation | a | b | c | d |\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "exact replay from a checkpoint | not built yet | "));
    paper_found_deinit(&found);
    free(text);
    sample_remove(&sample);
}

static void cells_are_read_from_the_page(void)
{
    struct fixture fixture = fixture_make();
    char path[160];
    snprintf(path, sizeof(path), "%s/page.md", fixture.directory);
    scratch_write(path, "| id | reported |\n| P1 | x | y |\n"
                        "| P7 | 1 %: more; 2 | sim | live | - | - |\n| P8 | one cell |\n");
    char *cells = paper_cells(path, "P7");
    CU_ASSERT_STRING_EQUAL_FATAL(cells, "sim | live | - | - |\n");
    free(cells);
    CU_ASSERT_PTR_NULL(paper_cells(path, "P8"));
    CU_ASSERT_PTR_NULL(paper_cells(path, "P9"));
    unlink(path);
    CU_ASSERT_PTR_NULL(paper_cells(path, "P7"));
    fixture_remove(&fixture);
}

static void live_runs_stand_beside_simulated_ones(void)
{
    struct diagnostic diagnostic = {""};
    struct fixture fixture = fixture_make();
    struct results_db *db = fixture_open(&fixture, RESULTS_WRITE);
    struct reported reported = read_reported();
    char *text = NULL;
    size_t size = 0;
    write_arm(db, "dac", "policy.dac.kappa", "0.037", dac_cells);
    CU_ASSERT_EQUAL(fixture_execute(db, "UPDATE run SET mode = 'live', experiment = 'local';"
                                        "UPDATE selected SET mode = 'live', experiment = 'local'"),
                    0);
    write_arm(db, "dac", "policy.dac.kappa", "0.037", dac_cells);
    struct figure_data data = load(db);
    const struct paper_found found = {0};
    FILE *file = open_memstream(&text, &size);
    CU_ASSERT_TRUE(paper_summary(&data, &reported, &found, file, &diagnostic));
    fclose(file);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "MB/s (2 seeds) | local, 32 producers: 96.50 ± 6.35 % "
                                        "success, 430.0 ± 0.0 MB/s (2 seeds) |"));
    free(text);
    figure_data_deinit(&data);
    results_close(db);
    fixture_remove(&fixture);
}

const struct harness_test figure_tests[] = {
    HARNESS_TEST(reported_numbers_are_read),
    HARNESS_TEST(data_are_ordered_and_averaged),
    HARNESS_TEST(budget_is_judged_by_its_interval),
    HARNESS_TEST(losses_name_rule_hour_and_size),
    HARNESS_TEST(tables_hold_the_numbers),
    HARNESS_TEST(seeds_that_fall_apart_are_named),
    HARNESS_TEST(ages_are_interpolated),
    HARNESS_TEST(a_policy_is_as_fresh_as_its_best_line),
    HARNESS_TEST(points_pool_attempts_over_a_window),
    HARNESS_TEST(marked_parts_are_rewritten),
    HARNESS_TEST(linked_page_is_rewritten_where_it_is),
    HARNESS_TEST(page_that_cannot_be_rewritten_is_known_before),
    HARNESS_TEST(summary_has_a_row_for_every_number),
    HARNESS_TEST(cells_are_read_from_the_page),
    HARNESS_TEST(live_runs_stand_beside_simulated_ones),
    {0},
};
