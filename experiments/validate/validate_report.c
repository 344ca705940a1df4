/* validate_report.c - tables, JSON and points of a validation. */
#include "experiments/validate/validate_report.h"

#include <math.h>
#include <string.h>

#include "build_info.h"
#include "experiments/config/options.h"
#include "experiments/figures/figure_text.h"
#include "experiments/validate/validate_fit.h"

static const char *const verdicts[] = {
    [VALIDATE_WITHIN] = "yes",
    [VALIDATE_ON_AVERAGE] = "on average only",
    [VALIDATE_OUTSIDE] = "**no**",
    [VALIDATE_OPEN] = "no threshold",
};

/* " %" or " points", behind a deviation in this column. */
static const char *unit_of(enum measured_column column)
{
    return column == MEASURED_FAILED ? "" : " %";
}

/* ---- Markdown ---- */

static void print_row(const struct validate_row *row, FILE *file)
{
    bool seen = validate_model_sees(row->model, row->measured.clients);
    fprintf(file, "| %s | %u%s |", row->measured.store, row->measured.clients,
            seen ? "" : " (left out)");
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++) {
        const struct validate_cell *cell = &row->cells[column];
        char mark[] = "**";
        if (cell->verdict != VALIDATE_OUTSIDE)
            mark[0] = '\0';
        fprintf(file, " %.1f | %.1f (%s%+.1f%s%s) |", row->measured.values[column],
                cell->value.mean, mark, cell->deviation.mean, unit_of(column), mark);
    }
    fprintf(file, " %s |\n", verdicts[row->verdict]);
}

static void print_table(const struct validate_report *report, enum validate_model model, FILE *file)
{
    fprintf(file, "| store | N |");
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++)
        fprintf(file, " %s | simulated |", measured_column_heading(column));
    fprintf(file, " within |\n|---|---|");
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++)
        fprintf(file, "---|---|");
    fprintf(file, "---|\n");
    for (size_t i = 0; i < report->count; i++)
        if (report->rows[i].model == model)
            print_row(&report->rows[i], file);
    fprintf(file, "\n");
}

/* The widest half of a 95 % interval among all deviations of a column. */
static double widest(const struct validate_report *report, enum measured_column column)
{
    double most = 0.0;
    for (size_t i = 0; i < report->count; i++)
        most = fmax(most, report->rows[i].cells[column].deviation.half_width);
    return most;
}

static void print_parameters(const struct validate_report *report, FILE *file)
{
    fprintf(file, "| fitted parameter |");
    for (enum validate_model model = VALIDATE_CONTENDED; model < VALIDATE_MODEL_COUNT; model++)
        for (size_t s = 0; s < report->store_count; s++)
            fprintf(file, " %s, %s |", report->stores[s], validate_model_name(model));
    fprintf(file, "\n|---|");
    for (size_t i = 0; i < (VALIDATE_MODEL_COUNT - 1) * report->store_count; i++)
        fprintf(file, "---|");
    for (size_t i = 0; i < VALIDATE_PARAMETERS; i++) {
        const struct option *option = option_find(validate_parameter_key(i));
        fprintf(file, "\n| `%s` |", option->key);
        for (enum validate_model model = VALIDATE_CONTENDED; model < VALIDATE_MODEL_COUNT; model++)
            for (size_t s = 0; s < report->store_count; s++) {
                char text[OPTION_TEXT_MAX];
                option_print(&report->configs[model][s], option, text);
                fprintf(file, " %s |", text);
            }
    }
    fprintf(file, "\n\n");
}

void validate_report_markdown(const struct validate_report *report, FILE *file)
{
    fprintf(file,
            "%zu seeds from %llu on, commit `%s`. Deviations are per cent, of failed %% points.",
            report->seeds, (unsigned long long)report->first_seed, LAKESTREAM_COMMIT);
    fprintf(file, " Half of their 95 %% interval is at most");
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++)
        fprintf(file, "%s %.1f (%s)", column > 0 ? "," : "", widest(report, column),
                measured_column_heading(column));
    fprintf(file, ".\n\n");
    for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++) {
        fprintf(file, "**Model %s**: %s. %s\n\n", validate_model_name(model),
                validate_model_text(model),
                model == VALIDATE_SIMPLE
                    ? "Within: S3 Standard 12 % in successes/s and 2.5 points in failed; S3 "
                      "Express 10 % in successes/s up to N = 4."
                    : "Within: 8 % in successes/s, 2 points in failed, 10 % in the median, 30 % "
                      "in p99.");
        print_table(report, model, file);
    }
    print_parameters(report, file);
    validate_report_headline(report, file);
}

/* ---- one line each ---- */

static void print_outside(const struct validate_row *row, FILE *file)
{
    for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++)
        if (row->cells[column].verdict == VALIDATE_OUTSIDE)
            fprintf(file, "; N = %u %s %+.1f (limit %g)", row->measured.clients,
                    measured_column_name(column), row->cells[column].deviation.mean,
                    row->cells[column].limit);
}

void validate_report_headline(const struct validate_report *report, FILE *file)
{
    for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++)
        for (size_t s = 0; s < report->store_count; s++) {
            size_t judged = 0;
            size_t outside = 0;
            for (size_t i = 0; i < report->count; i++) {
                const struct validate_row *row = &report->rows[i];
                if (row->model != model || strcmp(row->measured.store, report->stores[s]) != 0)
                    continue;
                judged += row->verdict != VALIDATE_OPEN ? 1 : 0;
                outside += row->verdict == VALIDATE_OUTSIDE ? 1 : 0;
            }
            fprintf(file, "- %s, %s: %zu of %zu rows within their thresholds",
                    validate_model_name(model), report->stores[s], judged - outside, judged);
            for (size_t i = 0; i < report->count; i++)
                if (report->rows[i].model == model &&
                    strcmp(report->rows[i].measured.store, report->stores[s]) == 0)
                    print_outside(&report->rows[i], file);
            fprintf(file, "\n");
        }
}

/* ---- JSON ---- */

static json_t *mean_json(struct statistics_mean mean)
{
    json_t *json = json_object();
    json_object_set_new(json, "mean", json_real(mean.mean));
    json_object_set_new(json, "half_width",
                        isfinite(mean.half_width) ? json_real(mean.half_width) : json_null());
    return json;
}

json_t *validate_report_json(const struct validate_report *report)
{
    static const char *const names[] = {"within", "on_average", "outside", "none"};
    json_t *array = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const struct validate_row *row = &report->rows[i];
        json_t *json = json_object();
        json_object_set_new(json, "model", json_string(validate_model_name(row->model)));
        json_object_set_new(json, "store", json_string(row->measured.store));
        json_object_set_new(json, "clients", json_integer(row->measured.clients));
        json_object_set_new(json, "fitted",
                            json_boolean(validate_model_sees(row->model, row->measured.clients)));
        json_object_set_new(json, "seeds", json_integer((json_int_t)report->seeds));
        json_object_set_new(json, "request_median_ms", mean_json(row->request_median_ms));
        for (enum measured_column column = 0; column < MEASURED_COLUMN_COUNT; column++) {
            const struct validate_cell *cell = &row->cells[column];
            json_t *part = json_object();
            json_object_set_new(part, "measured", json_real(row->measured.values[column]));
            json_object_set_new(part, "simulated", mean_json(cell->value));
            json_object_set_new(part, "deviation", mean_json(cell->deviation));
            json_object_set_new(part, "limit",
                                isfinite(cell->limit) ? json_real(cell->limit) : json_null());
            json_object_set_new(part, "verdict", json_string(names[cell->verdict]));
            json_object_set_new(json, measured_column_name(column), part);
        }
        json_array_append_new(array, json);
    }
    return array;
}

/* ---- points ---- */

static void plot_measured(const struct validate_report *report, const char *store, FILE *points)
{
    for (size_t i = 0; i < report->measured.count; i++) {
        const struct measured_row *row = &report->measured.rows[i];
        if (strcmp(row->store, store) != 0)
            continue;
        fprintf(points, "%u\t0", row->clients);
        for (size_t c = 0; c < MEASURED_COLUMN_COUNT; c++)
            fprintf(points, "\t%g\t%g\t%g", row->values[c], row->values[c], row->values[c]);
        fprintf(points, "\n");
    }
    fprintf(points, "\n\n");
}

void validate_report_plot(const struct validate_report *report, FILE *points, FILE *variables)
{
    char caption[CAPTION_MAX];
    for (size_t s = 0; s < report->store_count; s++) {
        plot_measured(report, report->stores[s], points);
        for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++) {
            for (size_t i = 0; i < report->count; i++) {
                const struct validate_row *row = &report->rows[i];
                if (row->model != model || strcmp(row->measured.store, report->stores[s]) != 0)
                    continue;
                fprintf(points, "%u\t%d", row->measured.clients,
                        validate_model_sees(model, row->measured.clients) ? 0 : 1);
                for (size_t c = 0; c < MEASURED_COLUMN_COUNT; c++)
                    points_mean(points, row->cells[c].value, 1.0);
                fprintf(points, "\n");
            }
            fprintf(points, "\n\n");
        }
    }
    snprintf(caption, sizeof(caption),
             "N clients update one key in a closed loop: public measurement of June 2025 and "
             "simulation, %zu seeds. Bars: 95 %% intervals.",
             report->seeds);
    variable_text(variables, "title_text", "Contention on one key: measured and simulated");
    variable_text(variables, "caption", caption);
    fprintf(variables, "stores = '");
    for (size_t s = 0; s < report->store_count; s++)
        fprintf(variables, "%s%s", s > 0 ? " " : "", report->stores[s]);
    fprintf(variables, "'\nmodels = '");
    for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++)
        fprintf(variables, "%s%s", model > 0 ? " " : "", validate_model_name(model));
    fprintf(variables, "'\n");
}
