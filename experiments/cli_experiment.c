/* cli_experiment.c - an experiment as the command line asks for it. Apart from cli.c because getopt
 * and the options table both have a struct option. */
#include <stdio.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/options.h"

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

bool cli_load_experiment(const struct cli *cli, const char *path, struct experiment *experiment)
{
    struct diagnostic diagnostic;
    struct overrides overrides = {.count = cli->set_count, .texts = cli->sets};
    if (!experiment_load(path, overrides, experiment, &diagnostic)) {
        cli_error(CLI_USAGE, "%s", diagnostic.text);
        return false;
    }
    if (cli->arm && !keep_arm(experiment, cli->arm)) {
        experiment_free(experiment);
        return false;
    }
    for (size_t i = 0; cli->seeds != 0 && i < experiment->arm_count; i++) {
        struct config *config = &experiment->arms[i].config;
        config->seeds = cli->seeds;
        config->origins[option_index(option_find("seeds"))] = (struct origin){.kind = ORIGIN_SET};
    }
    return true;
}
