/* cli_experiment.c - an experiment as the command line asks for it. Apart from cli.c because getopt
 * and the options table both have a struct option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/config/options.h"
#include "experiments/results/query.h"

/* Keeps the arms of that name or group. */
static bool keep_arm(struct experiment *experiment, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < experiment->arm_count; i++) {
        struct arm *arm = &experiment->arms[i];
        if (strcmp(arm->name, name) == 0 || strcmp(arm->group, name) == 0)
            experiment->arms[kept++] = *arm;
    }
    if (kept > 0) {
        experiment->arm_count = kept;
        return true;
    }
    fprintf(stderr, "lakestream: no arm or group '%s'; there are:", name);
    for (size_t i = 0; i < experiment->arm_count; i++)
        fprintf(stderr, " %s", experiment->arms[i].name);
    fprintf(stderr, "\n");
    return false;
}

/* Flags that are config keys by another name. */
struct flag_key {
    const char *flag;
    const char *key;
    const char *value; /* NULL: not given */
};

/* A key that --set gives twice has no value: which was meant? Returns whether all differ. */
static bool sets_differ(const struct cli *cli)
{
    for (size_t i = 1; i < cli->set_count; i++) {
        size_t bytes = strcspn(cli->sets[i], "=");
        for (size_t k = 0; k < i; k++)
            if (strcspn(cli->sets[k], "=") == bytes &&
                strncmp(cli->sets[i], cli->sets[k], bytes) == 0) {
                cli_error(CLI_USAGE, "--set %.*s is given twice; give it once", (int)bytes,
                          cli->sets[i]);
                return false;
            }
    }
    return true;
}

bool cli_overrides(const struct cli *cli, struct cli_overrides *overrides)
{
    const struct flag_key keys[] = {
        {"store", "live.store", cli->store},
        {"endpoint", "live.endpoint", cli->endpoint_count > 0 ? cli->endpoints[0] : NULL},
        {"region", "live.region", cli->region},
        {"profile", "live.profile", cli->profile},
        {"ca-file", "live.ca_file", cli->ca_file},
        {"style", "live.style", cli->style},
        {"unsigned-payload", "live.payload", cli->unsigned_payload ? "unsigned" : NULL},
    };
    static_assert(sizeof(keys) / sizeof(keys[0]) == CLI_FLAG_KEYS, "one text each");
    if (cli->endpoint_count > 1) {
        cli_error(CLI_USAGE, "--endpoint is given twice; give it once");
        return false;
    }
    if (!sets_differ(cli))
        return false;
    overrides->count = cli->set_count;
    memcpy(overrides->texts, cli->sets, cli->set_count * sizeof(overrides->texts[0]));
    for (size_t i = 0; i < CLI_FLAG_KEYS; i++) {
        char *text = overrides->flags[i];
        if (keys[i].value == NULL)
            continue;
        if (snprintf(text, CLI_FLAG_KEY_BYTES, "%s=%s", keys[i].key, keys[i].value) >=
            CLI_FLAG_KEY_BYTES) {
            cli_error(CLI_USAGE, "--%s: longer than %d bytes", keys[i].flag, CONFIG_PATH_MAX);
            return false;
        }
        overrides->texts[overrides->count++] = text;
    }
    return true;
}

bool cli_load_experiment(const struct cli *cli, const char *path, struct experiment *experiment)
{
    struct diagnostic diagnostic;
    struct cli_overrides overrides;
    char found[CONFIG_PATH_MAX];
    if (!cli_overrides(cli, &overrides))
        return false;
    if (cli_shipped_config(path, found))
        path = found;
    struct overrides all = {.count = overrides.count, .texts = overrides.texts};
    if (!experiment_load(path, all, experiment, &diagnostic)) {
        cli_error(CLI_USAGE, "%s", diagnostic.text);
        return false;
    }
    if (cli->arm != NULL && !keep_arm(experiment, cli->arm)) {
        experiment_deinit(experiment);
        return false;
    }
    for (size_t i = 0; cli->seeds != 0 && i < experiment->arm_count; i++) {
        struct config *config = &experiment->arms[i].config;
        config->seeds = cli->seeds;
        config->origins[option_index(option_find("seeds"))] = (struct origin){.kind = ORIGIN_SET};
    }
    return true;
}

int cli_print_configs(const struct cli *cli, const struct experiment *experiment)
{
    json_t *all = json_object();
    for (size_t i = 0; i < experiment->arm_count; i++) {
        const struct arm *arm = &experiment->arms[i];
        if (cli->json) {
            json_object_set_new(all, arm->name, options_json(&arm->config));
            continue;
        }
        printf("%s# arm %s\n", i > 0 ? "\n" : "", arm->name);
        options_print(&arm->config, stdout);
    }
    if (cli->json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(all);
    return CLI_DONE;
}

int cli_show_arms(const struct cli *cli, const struct experiment *experiment)
{
    json_t *names = json_array();
    for (size_t i = 0; i < experiment->arm_count; i++)
        json_array_append_new(names, json_string(experiment->arms[i].name));
    char *arms = json_dumps(names, 0);
    assert(arms != NULL);
    struct query_shown shown = {
        .db = cli->db, .experiment = experiment->name, .arms = arms, .json = cli->json};
    int status = query_show(&shown);
    free(arms);
    json_decref(names);
    return status;
}
