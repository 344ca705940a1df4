/* figure_text.c - formats numbers for tables and the caption that says what was run. */
#include "experiments/figures/figure_text.h"

#include <math.h>
#include <string.h>

#include "experiments/config/options.h"

#define NONE "–"

void text_mean(struct statistics_mean mean, double scale, int decimals, char text[TEXT_MAX])
{
    if (!isfinite(mean.mean))
        snprintf(text, TEXT_MAX, NONE);
    else if (!isfinite(mean.half_width))
        snprintf(text, TEXT_MAX, "%.*f", decimals, mean.mean * scale);
    else
        snprintf(text, TEXT_MAX, "%.*f ± %.*f", decimals, mean.mean * scale, decimals,
                 mean.half_width * scale);
}

/* Digits behind the point that leave three significant ones. */
static int decimals_of(double value)
{
    double size = fabs(value);
    int decimals = size > 0 ? 2 - (int)floor(log10(size) + 1e-9) : 0;
    return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

void text_number(double value, char text[TEXT_MAX])
{
    if (isfinite(value))
        snprintf(text, TEXT_MAX, "%.*f", decimals_of(value), value);
    else
        snprintf(text, TEXT_MAX, NONE);
}

void text_mean_short(struct statistics_mean mean, double scale, char text[TEXT_MAX])
{
    text_mean(mean, scale, isfinite(mean.mean) ? decimals_of(mean.mean * scale) : 0, text);
}

void text_swept(const struct figure_arm *arm, char text[TEXT_MAX])
{
    const struct option *option = arm->sweep_key[0] ? option_find(arm->sweep_key) : NULL;
    char value[OPTION_TEXT_MAX] = NONE;
    if (option != NULL)
        option_print(&arm->config, option, value);
    snprintf(text, TEXT_MAX, "%.*s", TEXT_MAX - 1, value);
}

bool swept_is_default(const struct figure_arm *arm)
{
    const struct option *option = arm->sweep_key[0] ? option_find(arm->sweep_key) : NULL;
    if (option == NULL)
        return false;
    struct config defaults;
    config_default(&defaults);
    double ours = option_number(&arm->config, option);
    return fabs(ours - option_number(&defaults, option)) <= 1e-9 * fabs(ours);
}

/* "13.5MB/s" as "13.5 MB/s". */
static void spaced(const char *value, char text[TEXT_MAX])
{
    size_t number = strspn(value, "0123456789.");
    snprintf(text, TEXT_MAX, "%.*s %s", (int)number, value, value + number);
}

static bool same_scale(const struct config *a, const struct config *b)
{
    return a->workload.producers == b->workload.producers &&
           a->workload.tgb_bytes == b->workload.tgb_bytes && a->workload.rate == b->workload.rate;
}

/* The arm whose workload most arms share. */
static const struct figure_arm *typical_arm(const struct figure_data *data)
{
    size_t most = 0;
    const struct figure_arm *typical = data->arms;
    for (size_t i = 0; i < data->arm_count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < data->arm_count; j++)
            same += same_scale(&data->arms[i].config, &data->arms[j].config);
        if (same > most) {
            most = same;
            typical = &data->arms[i];
        }
    }
    return typical;
}

static void profile_name(const char *path, char text[TEXT_MAX])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0)
        length -= 5;
    snprintf(text, TEXT_MAX, "%.*s", (int)length, name);
}

/* "10", or "10 to 40". */
static void range_text(uint64_t least, uint64_t most, char text[TEXT_MAX])
{
    if (least == most)
        snprintf(text, TEXT_MAX, "%llu", (unsigned long long)most);
    else
        snprintf(text, TEXT_MAX, "%llu to %llu", (unsigned long long)least,
                 (unsigned long long)most);
}

/* "10 seeds", "3 of 10 seeds", "2 to 10 seeds, 8 runs missing". */
static void print_seeds(const struct figure_page *page, FILE *text)
{
    char range[TEXT_MAX];
    bool some = page->whole_seeds_max > 0;
    uint64_t most = figure_seeds_max(page->data);
    range_text(figure_seeds_min(page->data), most, range);
    fprintf(text, "%s ", range);
    if (some) {
        range_text(page->whole_seeds_min, page->whole_seeds_max, range);
        fprintf(text, "of %s ", range);
    }
    fprintf(text, some || most != 1 ? "seeds" : "seed");
    if (page->missing > 0)
        fprintf(text, ", %zu run%s missing", page->missing, page->missing == 1 ? "" : "s");
}

/* "32", or "1 to 16" where no number of producers is that of most arms. */
static void print_producers(const struct figure_data *data, const struct config *typical,
                            FILE *text)
{
    uint64_t least = typical->workload.producers;
    uint64_t most = least;
    size_t same = 0;
    char range[TEXT_MAX];
    for (size_t i = 0; i < data->arm_count; i++) {
        uint64_t producers = data->arms[i].config.workload.producers;
        least = producers < least ? producers : least;
        most = producers > most ? producers : most;
        same += producers == typical->workload.producers;
    }
    if (2 * same > data->arm_count)
        least = most = typical->workload.producers;
    range_text(least, most, range);
    fprintf(text, "%s producers", range);
}

/* Of stores that differ the profiles stand in the figure. */
static void print_store(const struct figure_data *data, const struct config *typical, FILE *text)
{
    char profile[TEXT_MAX];
    size_t same = 0;
    for (size_t i = 0; i < data->arm_count; i++)
        same += strcmp(data->arms[i].config.store.profile, typical->store.profile) == 0;
    profile_name(typical->store.profile, profile);
    if (2 * same > data->arm_count)
        fprintf(text, "simulated %s store", profile);
    else
        fprintf(text, "simulated stores");
}

void text_size(uint64_t bytes, char text[TEXT_MAX])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    snprintf(text, TEXT_MAX, "%.3g %s", value, units[unit]);
}

/* "32 MiB", or "1 MiB to 1 GiB" where no workload is that of most arms. */
static void print_sizes(const struct figure_data *data, const struct config *typical, FILE *text)
{
    uint64_t least = typical->workload.tgb_bytes;
    uint64_t most = least;
    size_t same = 0;
    char size[TEXT_MAX];
    char value[UNIT_TEXT_MAX];
    for (size_t i = 0; i < data->arm_count; i++) {
        const struct config *config = &data->arms[i].config;
        uint64_t bytes = config->workload.tgb_bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
        same += same_scale(config, typical);
    }
    if (2 * same > data->arm_count || least == most) {
        unit_print_bytes(typical->workload.tgb_bytes, value);
        spaced(value, size);
        fprintf(text, "%s", size);
        return;
    }
    text_size(least, size);
    fprintf(text, "%s to ", size);
    text_size(most, size);
    fprintf(text, "%s", size);
}

/* " × 13.5 MB/s"; nothing where the producers of most arms make more or less. */
static void print_rate(const struct figure_data *data, const struct config *typical, FILE *text)
{
    size_t same = 0;
    char value[UNIT_TEXT_MAX];
    char rate[TEXT_MAX];
    for (size_t i = 0; i < data->arm_count; i++)
        same += fabs(data->arms[i].config.workload.rate - typical->workload.rate) < 1e-6;
    if (2 * same <= data->arm_count)
        return;
    unit_print_rate(typical->workload.rate, value);
    spaced(value, rate);
    fprintf(text, " × %s", rate);
}

void text_caption(const struct figure_page *page, char caption[CAPTION_MAX])
{
    const struct config *config = &typical_arm(page->data)->config;
    FILE *text = fmemopen(caption, CAPTION_MAX, "w");
    assert(text != NULL);
    print_producers(page->data, config, text);
    print_rate(page->data, config, text);
    fprintf(text, ", ");
    print_sizes(page->data, config, text);
    fprintf(text, " TGBs, ");
    print_store(page->data, config, text);
    fprintf(text, ", ");
    print_seeds(page, text);
    fclose(text);
}

void text_origin(const struct figure_arm *arm, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "%zu | `%.8s` | `%.40s`%s", arm->run_count, arm->hash, arm->commit,
             arm->commits_differ ? " and others" : "");
}

void text_duration(int64_t duration_ns, char text[TEXT_MAX])
{
    char value[UNIT_TEXT_MAX];
    unit_print_duration(duration_ns, value);
    spaced(value, text);
}

void text_window(const struct figure_arm *arm, char text[TEXT_MAX])
{
    text_duration((int64_t)(figure_window_s(arm) * 1e9 + 0.5), text);
}

void text_note(const struct figure_page *page, char note[CAPTION_MAX])
{
    char warmup[TEXT_MAX];
    int64_t warmup_ns = page->data->arms[0].config.run.warmup_ns;
    int used =
        snprintf(note, CAPTION_MAX, "Means over seeds ± half of the 95 %% interval (Student's t)");
    if (warmup_ns > 0) {
        text_duration(warmup_ns, warmup);
        used += snprintf(note + used, CAPTION_MAX - (size_t)used,
                         "; a warm-up of %s is left out of hour 1", warmup);
    }
    snprintf(note + used, CAPTION_MAX - (size_t)used, ".");
}

void variable_text(FILE *variables, const char *name, const char *text)
{
    fprintf(variables, "%s = '", name);
    for (; *text; text++)
        fprintf(variables, *text == '\'' ? "''" : "%c", *text);
    fprintf(variables, "'\n");
}

void points_mean(FILE *points, struct statistics_mean mean, double scale)
{
    if (!isfinite(mean.mean)) {
        fprintf(points, "\tNaN\tNaN\tNaN");
        return;
    }
    double half = isfinite(mean.half_width) ? mean.half_width : 0;
    fprintf(points, "\t%.9g\t%.9g\t%.9g", mean.mean * scale, (mean.mean - half) * scale,
            (mean.mean + half) * scale);
}
