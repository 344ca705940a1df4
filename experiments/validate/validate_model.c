/* validate_model.c - which files make up a model, and what each promises. */
#include "experiments/validate/validate_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/config/profile.h"
#include "experiments/trials/simulate.h"

/* Successes that a run counts, about: the time follows from a lone client's latency. */
#define SUCCESSES_PER_RUN 12000
#define WARMUP_LATENCIES 200

static const struct {
    const char *name;
    const char *text;
    const char *profile_suffix;
} models[] = {
    {"simple",
     "one lognormal latency, decided at a fixed fraction; a constant read after a failure", ""},
    {"contended",
     "measured quantiles of one client, waits and convoys for each other create in flight; fitted "
     "to all rows",
     "-contended"},
    {"left-out", "the contended model fitted without the rows N = 4 and N = 16", "-contended"},
};

static_assert(sizeof(models) / sizeof(models[0]) == VALIDATE_MODEL_COUNT, "one row a model");

const char *validate_model_name(enum validate_model model)
{
    return models[model].name;
}

const char *validate_model_text(enum validate_model model)
{
    return models[model].text;
}

bool validate_model_sees(enum validate_model model, uint32_t clients)
{
    return model != VALIDATE_LEFT_OUT || (clients != 4 && clients != 16);
}

bool validate_model_load(enum validate_model model, const char *store, struct validate_paths *paths,
                         struct config *config, struct diagnostic *diagnostic)
{
    char relative[CONFIG_PATH_MAX];
    snprintf(relative, sizeof(relative), "configs/profiles/%s%s.yaml", store,
             models[model].profile_suffix);
    cli_data_path(relative, paths->profile);
    snprintf(relative, sizeof(relative), "configs/validate/%s-%s.yaml", store, models[model].name);
    cli_data_path(relative, paths->addition);
    config_default(config);
    return profile_load(paths->profile, config, diagnostic) &&
           profile_load(paths->addition, config, diagnostic);
}

void validate_contention_of(const struct config *config, uint32_t clients, uint64_t seed,
                            struct contention_options *options)
{
    struct simulation_options simulation;
    int64_t base_ns = config->store.latency[STORE_PUT_IF_ABSENT].base_ns;
    simulate_options_of(config, seed, &simulation);
    *options = (struct contention_options){
        .seed = seed,
        .clients = clients,
        .warmup_ns = WARMUP_LATENCIES * base_ns,
        .duration_ns = SUCCESSES_PER_RUN * base_ns,
        .store = simulation.store,
    };
    /* The clients stay far below the limits; a throttled request would be no failure. */
    options->store.puts_per_s = 0;
    options->store.gets_per_s = 0;
}

static double simple_limit(const struct measured_row *row, enum measured_column column)
{
    if (strcmp(row->store, "s3-standard") == 0)
        return column == MEASURED_SUCCESSES ? 12.0 : column == MEASURED_FAILED ? 2.5 : INFINITY;
    return column == MEASURED_SUCCESSES && row->clients <= 4 ? 10.0 : INFINITY;
}

double validate_limit(enum validate_model model, const struct measured_row *row,
                      enum measured_column column)
{
    static const double limits[] = {[MEASURED_SUCCESSES] = 8.0,
                                    [MEASURED_FAILED] = 2.0,
                                    [MEASURED_MEDIAN] = 10.0,
                                    [MEASURED_P99] = 30.0};
    assert(column < MEASURED_COLUMN_COUNT);
    return model == VALIDATE_SIMPLE ? simple_limit(row, column) : limits[column];
}
